"""
Receipts: what became of a handoff, each bound to the one before.

    received ──► accepted ──► completed | failed | canceled
        └──────► rejected | expired

A chain may also begin with `accepted`, `rejected` or `expired`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argentum.errors import InputError, VerificationError, shown
from argentum.handoff import fields as of
from argentum.handoff.canonical import canonical, digest, text
from argentum.handoff.document import ARTIFACT_REF, ArtifactRef

if TYPE_CHECKING:
    from argentum.handoff.signing import Signed

SCHEMA = "argentum.receipt/1"
FOLLOWING: dict[str | None, tuple[str, ...]] = {
    None: ("received", "accepted", "rejected", "expired"),
    "received": ("accepted", "rejected", "expired"),
    "accepted": ("completed", "failed", "canceled"),
    "rejected": (),
    "expired": (),
    "completed": (),
    "failed": (),
    "canceled": (),
}
STATUSES = tuple(status for status in FOLLOWING if status)
FINAL = tuple(status for status in STATUSES if not FOLLOWING[status])


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """
    What an agent says about a handoff; make one with `HandoffProtocol.generate_receipt`.

    Raises:
        InputError: a field cannot be used, or the status needs another one.
    """

    receipt_id: str
    handoff_id: str
    handoff_digest: str
    """Of the handoff's canonical bytes, without the signature."""
    agent: str
    """Who says it."""
    status: str
    at: str
    """When, RFC 3339."""
    schema: str = SCHEMA
    reason_code: str | None = None
    """One word that programs understand, such as `expired` or `id_conflict`."""
    reason: str | None = None
    """Why, for people."""
    prev_receipt_digest: str | None = None
    """Of the receipt before, with its signature; None in the first."""
    observed_digest: str | None = None
    """Of what the agent saw: the bytes that arrived, its model's input, its result."""
    result_refs: tuple[ArtifactRef, ...] = ()
    no_output: bool = False
    """Whether the work ended without anything to hand back."""
    coverage: str | None = None
    """The share of facts that arrived, decimal text."""
    cost_usd: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)
    signed: Signed | None = field(init=False, default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        of.settle(self, CHECKS)
        if self.status in ("rejected", "failed") and not (self.reason_code or self.reason):
            raise InputError(
                f"reason is missing; a receipt {self.status!r} has to say why, by reason= "
                "or reason_code=."
            )
        if self.status == "completed" and bool(self.result_refs) == self.no_output:
            raise InputError(
                f"no_output is {self.no_output} with {len(self.result_refs)} result_refs; "
                "'completed' needs result_refs, or no_output=True and none."
            )

    def canonical(self) -> bytes:
        """Give its canonical bytes (RFC 8785), or exactly those that were signed."""
        return self.signed.payload if self.signed else canonical(of.write(self))

    @property
    def digest(self) -> str:
        """The digest by which the next receipt names it, over its signature too."""
        return self.signed.digest if self.signed else digest(self.canonical())


CHECKS: of.Checks = {
    "receipt_id": of.name,
    "handoff_id": of.name,
    "handoff_digest": of.sha256,
    "agent": of.name,
    "status": of.one_of(*STATUSES),
    "at": of.moment,
    "schema": of.one_of(SCHEMA),
    "reason_code": of.optional(of.name),
    "reason": of.optional(text),
    "prev_receipt_digest": of.optional(of.sha256),
    "observed_digest": of.optional(of.sha256),
    "result_refs": of.tuple_of(of.object_of(ArtifactRef, ARTIFACT_REF)),
    "no_output": of.boolean,
    "coverage": of.optional(of.amount),
    "cost_usd": of.optional(of.amount),
}


def refuse_status(status: object, last: Receipt | None) -> None:
    """
    Refuse a status that cannot follow.

    Raises:
        InputError: the message says what could follow.
    """
    if status not in STATUSES:
        of.one_of(*STATUSES)(status, "status")
    before = last.status if last else None
    if status in FOLLOWING[before]:
        return
    if last is None:
        raise InputError(
            f"status is {shown(status)}, but no receipt is before it; "
            "after=, with the receipt 'accepted', would work."
        )
    could = " or ".join(map(repr, FOLLOWING[before])) or "nothing: it is final"
    raise InputError(f"status is {shown(status)} after {before!r}, which is followed by {could}.")


def check_chain(receipts: Sequence[Receipt], handoff_id: str, handoff_digest: str) -> None:
    """
    Check that receipts are of one handoff, in their order, with none left out before the last.

    That the last ones are missing cannot be seen from a chain.

    Raises:
        VerificationError: `part` names the receipt and its field, such as
            `receipts[1].prev_receipt_digest`.
    """
    last = None
    ids: set[str] = set()
    for index, receipt in enumerate(receipts):
        wanted = {
            "handoff_id": handoff_id,
            "handoff_digest": handoff_digest,
            "prev_receipt_digest": last.digest if last else None,
            "agent": last.agent if last else receipt.agent,
        }
        for name, value in wanted.items():
            if getattr(receipt, name) != value:
                raise VerificationError(
                    f"{name} of receipt {index} is {shown(getattr(receipt, name))}; "
                    f"{shown(value)} would follow.",
                    f"receipts[{index}].{name}",
                )
        try:
            refuse_status(receipt.status, last)
        except InputError as error:
            raise VerificationError(
                f"In receipt {index}, {error}", f"receipts[{index}].status"
            ) from error
        if receipt.receipt_id in ids:
            raise VerificationError(
                f"receipt_id of receipt {index} is {shown(receipt.receipt_id)}, as before.",
                f"receipts[{index}].receipt_id",
            )
        ids.add(receipt.receipt_id)
        last = receipt
