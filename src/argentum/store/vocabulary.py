"""The words that every store takes for what an event is."""

from __future__ import annotations

from argentum.errors import InputError, shown
from argentum.events import KINDS, PHASES

_KINDS, _PHASES = frozenset(KINDS), frozenset(PHASES)


def check_words(kind: str, phase: str) -> None:
    """
    Check that kind and phase are in the vocabulary.

    Raises:
        InputError: one is not; the message tells those that are.
    """
    if kind in _KINDS and phase in _PHASES:
        return
    what, given, known = ("kind", kind, KINDS) if kind not in _KINDS else ("phase", phase, PHASES)
    message = f"No event has the {what} {shown(given)}. There are: {', '.join(known)}."
    raise InputError(message)
