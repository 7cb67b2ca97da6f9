"""Where receipts are kept, so that each handoff is accepted once."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from argentum.handoff.receipts import Receipt


class Ledger(Protocol):
    """
    The receipts of each handoff, in order; nothing is ever taken out or replaced.

    `append` must be atomic between all threads and processes that use one ledger: everything else
    that is promised about acceptance follows from that.
    """

    def receipts(self, handoff_id: str) -> tuple[Receipt, ...]:
        """Give a handoff's receipts, the first one first; none for one that is not known."""

    def append(
        self, handoff_id: str, known: int, receipts: Sequence[Receipt]
    ) -> tuple[Receipt, ...]:
        """
        Add receipts if the handoff still has `known` of them, else add nothing.

        Either way, give all that it has then.
        """


class MemoryLedger:
    """A ledger for the threads of one process, gone when that ends."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Receipt, ...]] = {}
        self._lock = Lock()

    def receipts(self, handoff_id: str) -> tuple[Receipt, ...]:
        """Give a handoff's receipts, the first one first."""
        return self._kept.get(handoff_id, ())

    def append(
        self, handoff_id: str, known: int, receipts: Sequence[Receipt]
    ) -> tuple[Receipt, ...]:
        """Add receipts if the handoff still has `known` of them; give all that it has then."""
        with self._lock:
            kept = self._kept.get(handoff_id, ())
            if len(kept) == known:
                kept = self._kept[handoff_id] = (*kept, *receipts)
            return kept
