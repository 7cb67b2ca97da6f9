"""Where an agent's handoffs arrive: each is checked, and accepted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Unpack

from argentum import clock
from argentum.errors import InputError, VerificationError, shown
from argentum.handoff import fields as of
from argentum.handoff.artifacts import Source, artifact_faults
from argentum.handoff.canonical import digest
from argentum.handoff.details import ReceiptDetails
from argentum.handoff.document import Handoff
from argentum.handoff.ledger import Ledger, MemoryLedger
from argentum.handoff.loops import loop_of
from argentum.handoff.protocol import HandoffProtocol
from argentum.handoff.reading import Data
from argentum.handoff.receipts import Receipt
from argentum.handoff.signing import Signed
from argentum.handoff.terms import audience_fault, check_times

MAX_HOPS = 50


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What came of a handoff that arrived."""

    handoff: Handoff
    receipt: Receipt
    """The answer: `accepted`, `rejected`, `expired`, or what had become of it before."""
    is_new: bool
    """Whether this call accepted it, so that its caller, and nobody else, does the work."""


class Verdict(NamedTuple):
    """What an inbox makes of a handoff, before there is a receipt."""

    status: str
    code: str = ""
    reason: str = ""


class Inbox:
    """
    Where the handoffs to one agent arrive.

        inbox = Inbox("writer", protocol=HandoffProtocol(verify_with=[key]))
        accepted = inbox.accept(data)
        if accepted.is_new:
            …  # the work
            inbox.finish(accepted.handoff, "completed", result_refs=[…])

    Args:
        agent: who accepts.
        protocol: with the keys of those who may send, and the one to sign receipts with.
        ledger: where receipts are kept; shared by all who may accept for this agent.
        artifacts_in: where artifacts are, to be hashed again; None leaves them unread.
        max_hops: a handoff further from the root of its chain is rejected.
    """

    def __init__(
        self,
        agent: str,
        *,
        protocol: HandoffProtocol | None = None,
        ledger: Ledger | None = None,
        artifacts_in: Source | None = None,
        max_hops: int = MAX_HOPS,
    ) -> None:
        self.agent = of.name(agent, "agent")
        self._protocol = HandoffProtocol() if protocol is None else protocol
        self._ledger: Ledger = MemoryLedger() if ledger is None else ledger
        self._artifacts_in = artifacts_in
        self._max_hops = of.count(max_hops, "max_hops")

    def accept(self, data: Data) -> Acceptance:
        """
        Check a handoff that arrived, and accept it unless that was done before.

        The same bytes give the receipt that is kept; nothing is done twice. A handoff for another
        agent (`audience`), one that comes too early (`not_before`) and other bytes under a known
        id (`id_conflict`) are answered by a rejection that is not kept: it says nothing about the
        handoff that may rightly come under that id. What else is wrong is kept as the end of it:
        `expired`, `loop`, `hops`, `artifact_missing`, `artifact_changed`, `artifact_unhashed`.

        Raises:
            FormatError: it is no handoff.
            LimitError: it is larger than allowed.
            VerificationError: its signature does not hold. Nothing is kept, since nothing that it
                says is known to be true.
        """
        handoff = self._protocol.from_json(data)
        seen = data.payload if isinstance(data, Signed) else data
        if isinstance(seen, str):
            seen = seen.encode()
        if (refusal := audience_fault(handoff, self.agent)) is not None:
            return self._refused(handoff, Verdict("rejected", "audience", refusal), seen)
        return self._settled(handoff, seen)

    def finish(self, handoff: Handoff, status: str, **details: Unpack[ReceiptDetails]) -> Receipt:
        """
        End accepted work: `completed`, `failed` or `canceled`.

        Raises:
            InputError: it was not accepted, has ended before, or the receipt needs more.
        """
        kept = self._ledger.receipts(handoff.handoff_id)
        last = kept[-1] if kept else None
        given: ReceiptDetails = {"agent": self.agent}
        given.update(details)
        receipt = self._protocol.generate_receipt(handoff, status, after=last, **given)
        now = self._ledger.append(handoff.handoff_id, len(kept), [receipt])
        if receipt not in now:
            raise InputError(
                f"status is {status!r}, but another caller was quicker: the handoff "
                f"{shown(handoff.handoff_id)} is {now[-1].status!r}."
            )
        return receipt

    def _settled(self, handoff: Handoff, seen: bytes) -> Acceptance:
        """Give the answer that is kept, or keep one; who loses a race gives the winner's."""
        while True:
            kept = self._ledger.receipts(handoff.handoff_id)
            if kept and kept[0].handoff_digest != digest(handoff.canonical()):
                return self._refused(handoff, _conflict(kept[0]), seen)
            if kept and kept[-1].status != "received":
                return Acceptance(handoff, kept[-1], is_new=False)
            verdict = self._judged(handoff)
            if verdict.code == "not_before":
                return self._refused(handoff, verdict, seen)
            receipt = self._receipt(handoff, verdict, seen, kept)
            if receipt in self._ledger.append(handoff.handoff_id, len(kept), [receipt]):
                return Acceptance(handoff, receipt, is_new=verdict.status == "accepted")

    def _judged(self, handoff: Handoff) -> Verdict:
        try:
            check_times(handoff, clock.now_ns())
        except VerificationError as error:
            if error.part == "not_before":
                return Verdict("rejected", "not_before", str(error))
            return Verdict("expired", "expired", str(error))
        if (loop := loop_of(handoff)) is not None:
            return Verdict("rejected", "loop", loop.reason)
        hop = handoff.chain.hop if handoff.chain else 1
        if hop > self._max_hops:
            reason = f"It is hop {hop} of its chain; this inbox accepts {self._max_hops}."
            return Verdict("rejected", "hops", reason)
        if self._artifacts_in is not None:
            faults = artifact_faults(handoff, self._artifacts_in)
            if faults:
                reason = " ".join(fault.message for fault in faults)
                return Verdict("rejected", faults[0].code, reason)
        return Verdict("accepted")

    def _refused(self, handoff: Handoff, verdict: Verdict, seen: bytes) -> Acceptance:
        """Reject without keeping that."""
        return Acceptance(handoff, self._receipt(handoff, verdict, seen), is_new=False)

    def _receipt(
        self, handoff: Handoff, verdict: Verdict, seen: bytes, kept: tuple[Receipt, ...] = ()
    ) -> Receipt:
        details: ReceiptDetails = {"agent": self.agent}
        if verdict.code:
            details |= {"reason_code": verdict.code, "reason": verdict.reason}
        return self._protocol.generate_receipt(
            handoff, verdict.status, after=kept[-1] if kept else None, observed=seen, **details
        )


def _conflict(first: Receipt) -> Verdict:
    reason = (
        f"The id {shown(first.handoff_id)} was used before for other contents, "
        f"of digest {first.handoff_digest}; give each handoff an id of its own."
    )
    return Verdict("rejected", "id_conflict", reason)
