"""Whether a handoff may be accepted: by whom, and when."""

from __future__ import annotations

from argentum.errors import VerificationError, shown
from argentum.handoff.document import Handoff
from argentum.handoff.fields import as_moment, at_ns


def check_terms(handoff: Handoff, audience: str | None, now_ns: int) -> None:
    """
    Refuse a handoff that is for another agent, too early or too late.

    Raises:
        VerificationError: `part` is `audience`, `not_before` or `expires_at`.
    """
    meant = handoff.audience or handoff.to_agent
    if audience is not None and audience != meant:
        field = "audience" if handoff.audience else "to_agent"
        raise VerificationError(
            f"{field} is {shown(meant)}: the handoff is not for {shown(audience)}.", "audience"
        )
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
