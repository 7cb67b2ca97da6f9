"""Where a value came from: what an agent could see, searched from the newest back."""

from __future__ import annotations

from dataclasses import dataclass

from argentum.events import Event
from argentum.tree import Path


@dataclass(frozen=True, slots=True)
class Step:
    """One event on the way of a value."""

    event: Event
    how: str
    """How it holds the value: `same value`, `same number written differently`, …"""
    where: Path
    """The place in the event's body."""
