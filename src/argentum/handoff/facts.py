"""Facts: typed pieces of what a sender knows, that a receiver should get."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """
    A typed piece of a sender's state.

    `value` is text, so that a number of any size or precision travels as it is; `type` says how to
    read it. `path` is where in the sender's state it was found, `source_seq` the event that gave it.
    """

    id: str
    path: str
    type: str
    value: str
    must_carry: bool = True
    source_seq: int | None = None
