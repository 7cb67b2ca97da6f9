"""Receipts of handoffs in a store, so that of many processes one accepts each handoff."""

from __future__ import annotations

from collections.abc import Sequence

from argentum.handoff import HandoffProtocol, Receipt, unverified_receipt
from argentum.store.protocol import Store

_WRITER = HandoffProtocol()


class StoreLedger:
    """
    The receipts of each handoff in a store (see `argentum.handoff.Ledger`).

    They are kept as they were signed, and are on disk when a call returns.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def receipts(self, handoff_id: str) -> tuple[Receipt, ...]:
        """Give a handoff's receipts, the first one first."""
        return tuple(map(unverified_receipt, self._store.receipts(handoff_id)))

    def append(
        self, handoff_id: str, known: int, receipts: Sequence[Receipt]
    ) -> tuple[Receipt, ...]:
        """Add receipts if the handoff still has `known` of them; give all that it has then."""
        written = [_WRITER.receipt_to_json(receipt) for receipt in receipts]
        return tuple(map(unverified_receipt, self._store.add_receipts(handoff_id, known, written)))
