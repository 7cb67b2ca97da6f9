"""Whether a handoff may be accepted, by whom and when, and which deadline has passed."""

from __future__ import annotations

from collections.abc import Sequence

from argentum import clock
from argentum.errors import VerificationError, shown
from argentum.handoff.document import Handoff
from argentum.handoff.fields import as_moment, at_ns
from argentum.handoff.receipts import FINAL, Receipt


def check_terms(handoff: Handoff, audience: str | None, now_ns: int) -> None:
    """
    Refuse a handoff that is for another agent, too early or too late.

    Raises:
        VerificationError: `part` is `audience`, `not_before` or `expires_at`.
    """
    fault = None if audience is None else audience_fault(handoff, audience)
    if fault is not None:
        raise VerificationError(fault, "audience")
    check_times(handoff, now_ns)


def audience_fault(handoff: Handoff, agent: str) -> str | None:
    """Say why an agent may not accept a handoff; None if it may."""
    meant = handoff.audience or handoff.to_agent
    if agent == meant:
        return None
    field = "audience" if handoff.audience else "to_agent"
    return f"{field} is {shown(meant)}: the handoff is not for {shown(agent)}."


def check_times(handoff: Handoff, now_ns: int) -> None:
    """
    Refuse a handoff that comes too early or too late.

    Raises:
        VerificationError: `part` is `not_before` or `expires_at`.
    """
    if handoff.not_before and now_ns < at_ns(handoff.not_before):
        raise VerificationError(
            f"not_before is {handoff.not_before}; it is {as_moment(now_ns)} now. Try again later.",
            "not_before",
        )
    if handoff.expires_at and now_ns >= at_ns(handoff.expires_at):
        raise VerificationError(
            f"expires_at is {handoff.expires_at}; it is {as_moment(now_ns)} now. "
            "Ask the sender for a new handoff.",
            "expires_at",
        )


def overdue(handoff: Handoff, receipts: Sequence[Receipt], now_ns: int | None = None) -> str | None:
    """
    Name the deadline that has passed without its receipt, or None.

    That is `ack_by` or `expires_at` before acceptance, and `complete_by` until the end.

    Args:
        now_ns: nanoseconds since 1970; by default now.
    """
    now_ns = clock.now_ns() if now_ns is None else now_ns
    last = receipts[-1].status if receipts else None
    if last in FINAL:
        return None
    deadlines = ("complete_by",) if last == "accepted" else ("ack_by", "expires_at", "complete_by")
    for deadline in deadlines:
        when = getattr(handoff, deadline)
        if when and now_ns > at_ns(when):
            return deadline
    return None
