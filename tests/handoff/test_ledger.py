"""What every ledger must do; one for each kind of ledger."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.handoff.makers import full_handoff

from argentum import HandoffProtocol
from argentum.handoff import Ledger, MemoryLedger
from argentum.store.ledger import StoreLedger
from argentum.store.memory import MemoryStore
from argentum.store.sqlite import SqliteStore

PROTOCOL = HandoffProtocol()
LEDGERS: dict[str, Callable[[], Ledger]] = {
    "memory": MemoryLedger,
    "store in memory": lambda: StoreLedger(MemoryStore()),
    "store in a file": lambda: StoreLedger(SqliteStore("runs.db")),
}


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest) -> Ledger:
    """Make an empty ledger."""
    return LEDGERS[request.param]()


def test_receipts_in_order(ledger: Ledger):
    """What was appended comes back in order, each handoff's on its own."""
    one, other = full_handoff(PROTOCOL), full_handoff(PROTOCOL)
    received = PROTOCOL.generate_receipt(one, "received")
    accepted = PROTOCOL.generate_receipt(one, "accepted", after=received)
    expired = PROTOCOL.generate_receipt(other, "expired")

    assert () == ledger.receipts(one.handoff_id)
    assert (received,) == ledger.append(one.handoff_id, 0, [received])
    assert (expired,) == ledger.append(other.handoff_id, 0, [expired])
    assert (received, accepted) == ledger.append(one.handoff_id, 1, [accepted])
    assert (received, accepted) == ledger.receipts(one.handoff_id)
    assert (expired,) == ledger.receipts(other.handoff_id)


@pytest.mark.parametrize("known", [0, 2])
def test_append_to_what_is_known_only(ledger: Ledger, known: int):
    """Who knows fewer receipts than there are, or more, adds nothing and learns what there is."""
    handoff = full_handoff(PROTOCOL)
    first, late = (PROTOCOL.generate_receipt(handoff, "accepted") for _ in range(2))
    ledger.append(handoff.handoff_id, 0, [first])

    assert (first,) == ledger.append(handoff.handoff_id, known, [late])
    assert (first,) == ledger.receipts(handoff.handoff_id)


def test_several_at_once(ledger: Ledger):
    """Several receipts are added together or not at all."""
    handoff = full_handoff(PROTOCOL)
    received = PROTOCOL.generate_receipt(handoff, "received")
    pair = [received, PROTOCOL.generate_receipt(handoff, "accepted", after=received)]

    assert tuple(pair) == ledger.append(handoff.handoff_id, 0, pair)
    assert tuple(pair) == ledger.append(handoff.handoff_id, 0, pair[:1])
