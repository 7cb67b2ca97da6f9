"""`HandoffProtocol`: make handoffs, write and read them, and answer with receipts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, Unpack

from argentum import clock
from argentum.errors import FormatError, InputError, VerificationError, shown
from argentum.handoff import canonical, document, receipts, signing
from argentum.handoff import fields as of
from argentum.handoff.artifacts import Source, check_artifacts
from argentum.handoff.chaining import following
from argentum.handoff.details import HandoffDetails, ReceiptDetails
from argentum.handoff.document import Handoff
from argentum.handoff.keys import ALGORITHMS, Key
from argentum.handoff.reading import Data, as_handoff, as_receipt, opened, with_signature
from argentum.handoff.receipts import Receipt
from argentum.handoff.signing import Signed
from argentum.handoff.terms import check_terms

HANDOFF_TYPE = "argentum-handoff+jws"
RECEIPT_TYPE = "argentum-receipt+jws"
_Document = TypeVar("_Document", Handoff, Receipt)


class HandoffProtocol:
    """
    Hand work from one agent to another so that both can check what arrived.

        protocol = HandoffProtocol()
        handoff = protocol.create_handoff("researcher", "writer", "Found 3 sources", ["notes.json"])
        received = protocol.from_json(protocol.to_json(handoff))
        receipt = protocol.generate_receipt(received, "accepted")

    With keys, what is made is signed, and what is read must be.

    Args:
        sign_with: the key to sign handoffs and receipts with; it verifies, too.
        verify_with: the keys of those from whom handoffs and receipts may come. With any key here,
            a document without a valid signature of one of them is refused.
        algorithms: those that are allowed, of `HS256` and `EdDSA`.

    Raises:
        InputError: two keys have one name, or an algorithm is not known.
    """

    def __init__(
        self,
        *,
        sign_with: Key | None = None,
        verify_with: Iterable[Key] = (),
        algorithms: Sequence[str] = ALGORITHMS,
    ) -> None:
        self._key = sign_with
        self._keys = _by_name([*([sign_with] if sign_with else []), *verify_with])
        self._algorithms = tuple(of.list_of(of.one_of(*ALGORITHMS))(algorithms, "algorithms"))

    # ------------------------------------------------------------ handoffs

    def create_handoff(  # noqa: PLR0913 - the fields that every handoff has
        self,
        from_agent: str,
        to_agent: str,
        context_summary: str,
        artifacts: Sequence[str] = (),
        confidence: float = 1.0,
        suggested_next_action: str | None = None,
        metadata: dict[str, Any] | None = None,
        *,
        parent: Handoff | None = None,
        **details: Unpack[HandoffDetails],
    ) -> Handoff:
        """
        Make a handoff; it is signed if this protocol has a key.

        Args:
            artifacts: names of what was made; those of `artifact_refs` are added.
            confidence: from 0 to 1.
            metadata: anything that JSON carries exactly.
            parent: the handoff by which the sender got the work. The new one goes on with its
                chain and has one hop less in its budget.
            details: further fields of `Handoff`.

        Raises:
            InputError: a field cannot be used; the message says which, its value and what would do.
            LimitError: the parent's budget has no hop left.
        """
        given: dict[str, Any] = {"schema": document.SCHEMA, **details}
        given.setdefault("handoff_id", f"hf_{clock.random_hex(32)}")
        given.setdefault("timestamp", of.as_moment(clock.now_ns()))
        handoff = Handoff(
            from_agent=from_agent,
            to_agent=to_agent,
            context_summary=context_summary,
            artifacts=artifacts,  # type: ignore[arg-type]  # checked and copied there
            confidence=confidence,
            suggested_next_action=suggested_next_action,
            metadata={} if metadata is None else metadata,
            **given,
        )
        handoff = _with_all_named(handoff)
        return self.sign(handoff if parent is None else following(parent, handoff))

    def sign(self, handoff: Handoff) -> Handoff:
        """Sign a handoff, if this protocol has a key; one that is signed stays as it is."""
        return handoff if handoff.signed else self._signed(handoff, HANDOFF_TYPE)

    def to_json(self, handoff: Handoff) -> str:
        """
        Write a handoff: as it was signed, or in its canonical form.

        Raises:
            InputError: its artifacts or metadata were changed after it was signed.
        """
        if handoff.signed is None:
            return handoff.canonical().decode()
        if as_handoff(canonical.read(handoff.signed.payload)) != handoff:
            raise InputError(
                f"The handoff {shown(handoff.handoff_id)} was changed after it was signed; "
                "make a new one with create_handoff."
            )
        return handoff.signed.to_json()

    def from_json(self, data: Data) -> Handoff:
        """
        Read a handoff: a text, its bytes, or `Signed.detached` with a signature that came beside.

        This checks form and signature; that it has not expired and is for you is checked by
        `verify`.

        Raises:
            FormatError: it is no handoff; the message names the field.
            LimitError: it is larger than 8 MiB (16 MiB if signed), or nests too deep.
            VerificationError: this protocol has keys and the signature does not hold, or it is
                signed and this protocol has no keys.
        """
        return self._read(data, as_handoff, HANDOFF_TYPE)

    def verify(
        self,
        data: Data,
        *,
        audience: str | None = None,
        artifacts_in: Source | None = None,
        at_ns: int | None = None,
    ) -> Handoff:
        """
        Read a handoff and check that it may be accepted: signed, in time, and for this agent.

        Args:
            audience: the agent that wants to accept it; None does not ask.
            artifacts_in: the folder of the artifacts, or their contents by name; None does not ask.
            at_ns: when, in nanoseconds since 1970; by default now.

        Raises:
            FormatError: it is no handoff.
            VerificationError: something does not hold; `part` says what.
        """
        handoff = self.from_json(data)
        check_terms(handoff, audience, clock.now_ns() if at_ns is None else at_ns)
        if artifacts_in is not None:
            check_artifacts(handoff, artifacts_in)
        return handoff

    # ------------------------------------------------------------ receipts

    def generate_receipt(
        self,
        handoff: Handoff,
        status: str,
        *,
        after: Receipt | None = None,
        observed: bytes | None = None,
        **details: Unpack[ReceiptDetails],
    ) -> Receipt:
        """
        Answer a handoff; the receipt is signed if this protocol has a key.

        Args:
            status: `received`, `accepted`, `rejected`, `expired`, and after `accepted` one of
                `completed`, `failed`, `canceled`.
            after: the receipt before, if there is one.
            observed: what the agent saw, of which the receipt keeps the digest.
            details: `reason_code` and `reason` (for `rejected` and `failed`), `result_refs` or
                `no_output=True` (for `completed`), `agent` (by default the receiver), `coverage`,
                `cost_usd`.

        Raises:
            InputError: the status cannot follow, or needs something that is missing.
        """
        receipts.refuse_status(status, after)
        digest_of_handoff = canonical.digest(handoff.canonical())
        if after and (after.handoff_id, after.handoff_digest) != (
            handoff.handoff_id,
            digest_of_handoff,
        ):
            raise InputError(
                f"The receipt {shown(after.receipt_id)} before is of handoff "
                f"{shown(after.handoff_id)}, not of these bytes of {shown(handoff.handoff_id)}."
            )
        given: dict[str, Any] = {"agent": handoff.audience or handoff.to_agent, **details}
        receipt = Receipt(
            receipt_id=f"rc_{clock.random_hex(32)}",
            handoff_id=handoff.handoff_id,
            handoff_digest=digest_of_handoff,
            status=status,
            at=of.as_moment(clock.now_ns()),
            prev_receipt_digest=after.digest if after else None,
            observed_digest=None if observed is None else canonical.digest(observed),
            **given,
        )
        return self._signed(receipt, RECEIPT_TYPE)

    def receipt_to_json(self, receipt: Receipt) -> str:
        """Write a receipt: as it was signed, or in its canonical form."""
        return receipt.signed.to_json() if receipt.signed else receipt.canonical().decode()

    def receipt_from_json(self, data: Data) -> Receipt:
        """Read a receipt; raises as `from_json` does."""
        return self._read(data, as_receipt, RECEIPT_TYPE)

    def verify_receipts(
        self, handoff: Handoff, written: Sequence[str | bytes | Receipt]
    ) -> list[Receipt]:
        """
        Check that receipts belong to a handoff and to each other; give them.

        Args:
            written: the first one first, as they arrived or as they were read.

        Raises:
            VerificationError: `part` names the receipt and what of it does not hold, such as
                `receipts[1].signature` or `receipts[0].handoff_digest`.
        """
        read = [self._receipt_at(index, one) for index, one in enumerate(written)]
        receipts.check_chain(read, handoff.handoff_id, canonical.digest(handoff.canonical()))
        meant = handoff.audience or handoff.to_agent
        if read and read[0].agent != meant:
            raise VerificationError(
                f"agent of receipt 0 is {shown(read[0].agent)}; the handoff went to "
                f"{shown(meant)}.",
                "receipts[0].agent",
            )
        return read

    def _receipt_at(self, index: int, written: str | bytes | Receipt) -> Receipt:
        as_text = self.receipt_to_json(written) if isinstance(written, Receipt) else written
        try:
            return self.receipt_from_json(as_text)
        except VerificationError as error:
            raise VerificationError(str(error), f"receipts[{index}].{error.part}") from error
        except FormatError as error:
            raise VerificationError(str(error), f"receipts[{index}]") from error

    # ------------------------------------------------------------ signatures

    def _signed(self, made: _Document, typ: str) -> _Document:
        if self._key is not None:
            _refuse_foreign(made, self._key)
            with_signature(made, signing.sign(made.canonical(), self._key, typ))
        return made

    def _read(self, data: Data, build: Callable[[Any], _Document], typ: str) -> _Document:
        try:
            found = opened(data)
        except FormatError as error:
            if not self._keys:
                raise
            raise VerificationError(f"It cannot be read: {error}", "envelope") from error
        if isinstance(found, Signed):
            return self._verified(found, build, typ)
        if self._keys:
            raise VerificationError(
                "It is not signed, and this protocol has keys; let the sender sign it, "
                "or read it with a HandoffProtocol that has none.",
                "signature",
            )
        return build(found)

    def _verified(self, signed: Signed, build: Callable[[Any], _Document], typ: str) -> _Document:
        key = signing.verify(signed, self._keys, typ, self._algorithms)
        made = build(canonical.read(signed.payload))
        _refuse_foreign(made, key)
        return with_signature(made, signed)


def _by_name(keys: Iterable[Key]) -> dict[str, Key]:
    named: dict[str, Key] = {}
    for key in keys:
        if named.setdefault(key.kid, key) is not key:
            raise InputError(f"Two keys are named {shown(key.kid)}; give each its own kid.")
    return named


def _with_all_named(handoff: Handoff) -> Handoff:
    """Name the hashed artifacts among the artifacts, for readers who know only names."""
    unnamed = [ref.name for ref in handoff.artifact_refs if ref.name not in handoff.artifacts]
    return replace(handoff, artifacts=handoff.artifacts + unnamed) if unnamed else handoff


def _refuse_foreign(made: Handoff | Receipt, key: Key) -> None:
    """Refuse a signature in another agent's name."""
    field = "from_agent" if isinstance(made, Handoff) else "agent"
    agent = getattr(made, field)
    if key.agents is not None and agent not in key.agents:
        allowed = ", ".join(map(repr, sorted(key.agents))) or "nobody"
        raise VerificationError(
            f"{field} is {shown(agent)}, but the key {shown(key.kid)} signs for {allowed} only.",
            field,
        )
