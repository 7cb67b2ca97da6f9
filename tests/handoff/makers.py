"""Handoffs, keys and receipts for tests."""

from __future__ import annotations

import random
from datetime import datetime

from hypothesis import strategies as st

from argentum.handoff import (
    ArtifactRef,
    Budget,
    Constraint,
    Ed25519Key,
    Fact,
    Handoff,
    HandoffProtocol,
    HistoryRef,
    HmacKey,
    Privacy,
    StateRef,
    Trace,
)

HMAC = HmacKey("shared", b"a secret of thirty-two bytes, no less")
ED25519 = Ed25519Key("alice-1", private=bytes(range(32)))
PUBLIC = Ed25519Key("alice-1", public=ED25519.public_bytes())
SIGNERS = {"hmac": (HMAC, HMAC), "ed25519": (ED25519, PUBLIC)}
DIGEST = "sha256:" + "0a1b2c3d" * 8


def full_handoff(protocol: HandoffProtocol, **changes: object) -> Handoff:
    """Make a handoff with something in every field."""
    given = {
        "facts": [
            Fact("f1", "/order/amount", "decimal", "12450.00", source_seq=39),
            Fact("f2", "/order/id", "text", "O-77 “Zürich”", must_carry=False),
        ],
        "constraints": [Constraint("c1", "must_not", "do not e-mail the customer")],
        "open_items": ["refund not yet issued"],
        "artifact_refs": [ArtifactRef("report.md", DIGEST, 700, "text/markdown", "output")],
        "state_ref": StateRef("20261201-093000-4f2a", 41, "start"),
        "history_ref": HistoryRef(DIGEST, 17, ("p1",)),
        "budget": Budget(40_000, "1.23", 6),
        "mode": "transfer",
        "audience": "bob",
        "not_before": "2026-01-01T00:00:00Z",
        "ack_by": "2126-01-01T00:00:00Z",
        "complete_by": "2126-01-02T00:00:00.5+01:00",
        "expires_at": "2126-01-03T00:00:00Z",
        "nonce": "n-1",
        "trace": Trace(f"00-{'1' * 32}-{'2' * 16}-01", "a=b"),
        "privacy": Privacy(("/customer/email",)),
        "extra": {"loss": {"coverage": "0.909"}},
    }
    return protocol.create_handoff(
        "alice",
        "bob",
        "The customer wants 12450.00 back",
        ["report.md"],
        0.87,
        "issue_refund",
        {"sample": 50, "rate": 0.25, "none": None, "nested": [{"ok": True}]},
        **(given | changes),
    )


def walked(agents: str, carried: str) -> list[tuple[str, str, str]]:
    """Pair each step along agents, one letter each, with what it carried."""
    return [(a, b, c) for a, b, c in zip(agents[:-1], agents[1:], carried, strict=True)]


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
DIGESTS = st.binary(min_size=32, max_size=32).map(lambda data: f"sha256:{data.hex()}")
COUNTS = st.integers(0, 2**53 - 1)
EXTRA = st.dictionaries(NAMES.map(lambda name: f"x-{name}"), JSON, max_size=2)
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.timezones()) | st.just(
    "2026-10-18T10:00:00.123456789Z"
)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["transfer", "delegate", "return", "escalate"]),
        "facts": st.lists(
            st.builds(
                Fact, NAMES, TEXTS, NAMES, TEXTS, st.booleans(), st.none() | COUNTS, extra=EXTRA
            ),
            max_size=3,
            unique_by=lambda fact: fact.id,
        ),
        "artifact_refs": st.lists(
            st.builds(ArtifactRef, NAMES, DIGESTS, COUNTS, st.none() | NAMES, extra=EXTRA),
            max_size=3,
            unique_by=lambda ref: ref.name,
        ),
        "constraints": st.lists(
            st.builds(Constraint, NAMES, st.sampled_from(["must", "budget"]), NAMES),
            max_size=3,
            unique_by=lambda one: one.id,
        ),
        "open_items": st.lists(NAMES, max_size=3),
        "budget": st.builds(
            Budget,
            st.none() | COUNTS,
            st.none() | st.decimals(-1000, 1000, places=3),
            st.none() | COUNTS,
        ),
        "history_ref": st.builds(HistoryRef, DIGESTS, COUNTS, st.lists(NAMES).map(tuple)),
        "expires_at": MOMENTS,
        "ack_by": MOMENTS,
        "nonce": NAMES,
        "extra": EXTRA,
    },
)


def alterations_of(chance: random.Random, data: bytes) -> bytes:
    """Flip one bit."""
    at = chance.randrange(len(data) * 8)
    flipped = bytearray(data)
    flipped[at // 8] ^= 1 << at % 8
    return bytes(flipped)
