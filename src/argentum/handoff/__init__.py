"""Handing work from one agent to another, so that both sides can check what arrived."""

from argentum.handoff.artifacts import (
    ArtifactFault,
    artifact_faults,
    check_artifacts,
    hash_artifact,
)
from argentum.handoff.chaining import facts_digest
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
from argentum.handoff.inbox import Acceptance, Inbox
from argentum.handoff.keys import Ed25519Key, HmacKey, Key
from argentum.handoff.ledger import Ledger, MemoryLedger
from argentum.handoff.loops import Hop, Loop, Trail, find_loop, hops_of, loop_of
from argentum.handoff.protocol import HandoffProtocol
from argentum.handoff.reading import unverified_handoff, unverified_receipt
from argentum.handoff.receipts import Receipt
from argentum.handoff.signing import Signed
from argentum.handoff.terms import overdue

__all__ = [
    "Acceptance",
    "ArtifactFault",
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
    "Hop",
    "Inbox",
    "Key",
    "Ledger",
    "Loop",
    "MemoryLedger",
    "Privacy",
    "Receipt",
    "Signed",
    "StateRef",
    "Trace",
    "Trail",
    "artifact_faults",
    "check_artifacts",
    "facts_digest",
    "find_loop",
    "hash_artifact",
    "hops_of",
    "loop_of",
    "overdue",
    "unverified_handoff",
    "unverified_receipt",
]
