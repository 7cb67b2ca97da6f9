"""Handing work from one agent to another, so that both sides can check what arrived."""

from argentum.handoff.document import (
    ArtifactRef,
    Budget,
    Chain,
    Constraint,
    Handoff,
    HistoryRef,
    Privacy,
    StateRef,
    Trace,
)
from argentum.handoff.facts import Fact
from argentum.handoff.keys import Ed25519Key, HmacKey, Key
from argentum.handoff.protocol import HandoffProtocol
from argentum.handoff.receipts import Receipt
from argentum.handoff.signing import Signed

__all__ = [
    "ArtifactRef",
    "Budget",
    "Chain",
    "Constraint",
    "Ed25519Key",
    "Fact",
    "Handoff",
    "HandoffProtocol",
    "HistoryRef",
    "HmacKey",
    "Key",
    "Privacy",
    "Receipt",
    "Signed",
    "StateRef",
    "Trace",
]
