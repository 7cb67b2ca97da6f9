"""Facts: typed pieces of what a sender knows, that a receiver should get."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """
    A typed piece of a sender's state.

    `value` is text, so that a number of any size or precision travels as it is; `type` says how
    to read it.
    """

    id: str
    path: str
    """Where in the sender's state it is."""
    type: str
    value: str
    must_carry: bool = True
    """Whether the handoff is incomplete without it."""
    source_seq: int | None = None
    """The event of the sender's run that gave it."""
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)
    """Fields of a later version, kept as they came."""
