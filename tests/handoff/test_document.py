"""Handoffs as documents: what may be in them, and what comes back."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.handoff.makers import DETAILS, DIGEST, EXTRA, JSON, NAMES, SIGNERS, TEXTS, full_handoff

from argentum import FormatError, Handoff, HandoffProtocol, InputError, LimitError
from argentum.handoff import ArtifactRef, Budget, Constraint, Fact
from argentum.handoff.canonical import read
from argentum.handoff.fields import as_moment, at_ns

PLAIN = HandoffProtocol()
LEAST = {"from_agent": "a", "to_agent": "b", "context_summary": "s"}
SEED = LEAST | {
    "artifacts": ["notes.json"],
    "confidence": 0.85,
    "suggested_next_action": None,
    "metadata": {"n": 50},
}


@pytest.mark.parametrize("how", ["plain", *SIGNERS])
@given(NAMES, NAMES, TEXTS, JSON, DETAILS)
def test_round_trip(how: str, sender: str, receiver: str, summary: str, value: object, details):
    """What is written reads as it was, and is written alike again, signed or not."""
    signer, verifier = SIGNERS.get(how, (None, None))
    protocol = HandoffProtocol(sign_with=signer)
    handoff = protocol.create_handoff(
        sender, receiver, summary, ["x"], 0.5, None, {"value": value}, **details
    )

    written = protocol.to_json(handoff)
    reader = HandoffProtocol(verify_with=[verifier] if verifier else [])
    received = reader.from_json(written)

    assert handoff == received
    assert written == reader.to_json(received)
    assert handoff == reader.from_json(written.encode())


@given(EXTRA, EXTRA)
def test_unknown_fields_are_kept(outer: dict, inner: dict):
    """Fields of a later version come through, in the document and in its parts."""
    fact = {"id": "1", "path": "/a", "type": "int", "value": "3", "must_carry": True} | inner
    document = SEED | {"schema": "argentum.handoff/3", "facts": [fact]} | outer

    received = PLAIN.from_json(json.dumps(document))
    again = read(PLAIN.to_json(received))

    assert document == {key: again[key] for key in document}
    assert outer == received.extra
    assert inner == received.facts[0].extra


@pytest.mark.parametrize("document", [LEAST, SEED])
def test_the_first_fields_alone(document: dict):
    """A document with the first fields alone is valid, with one id for the same contents."""
    received = PLAIN.from_json(json.dumps(document))

    assert received == PLAIN.from_json(json.dumps(document, indent=2))
    assert received == PLAIN.from_json(PLAIN.to_json(received))
    assert received.handoff_id.startswith("hf_")
    assert (
        received.handoff_id != PLAIN.from_json(json.dumps(document | {"to_agent": "c"})).handoff_id
    )


def test_null_counts_as_absent():
    """An optional field that is null, in the document or a part of it, has its default."""
    nulls = {"facts": None, "expires_at": None, "metadata": None, "confidence": None}
    ref = {"name": "x", "digest": DIGEST, "size": 1, "uri": None}
    fact = {"id": "1", "path": "/", "type": "int", "value": "3", "must_carry": None}
    received = PLAIN.from_json(
        json.dumps(LEAST | nulls | {"artifact_refs": [ref], "facts": [fact]})
    )

    assert (ArtifactRef("x", DIGEST, 1),) == received.artifact_refs
    assert (Fact("1", "/", "int", "3"),) == received.facts
    assert (1.0, {}, None) == (received.confidence, received.metadata, received.expires_at)


def test_positional_as_in_the_specification():
    """The first seven can be given in order; what is left out has its default."""
    handoff = PLAIN.create_handoff("a", "b", "s", ["x"], 0.5, "go", {"k": 1})

    assert ("a", "b", "s", ["x"], 0.5, "go", {"k": 1}) == dataclasses.astuple(handoff)[:7]
    assert (1.0, None, {}) == dataclasses.astuple(PLAIN.create_handoff("a", "b", "s", []))[4:7]


def test_values_are_taken_in_the_forms_people_have():
    """Dicts stand for parts; times, amounts and paths are written as text."""
    handoff = PLAIN.create_handoff(
        "a",
        "b",
        "s",
        [PurePath("out") / "x.md"],
        1,
        facts=[{"id": "1", "path": "/a", "type": "int", "value": "3"}],
        budget=Budget(cost_left_usd=Decimal("1.50")),
        expires_at=datetime(2026, 1, 1, 12, tzinfo=UTC),
    )

    assert ["out/x.md"] == handoff.artifacts
    assert (Fact("1", "/a", "int", "3"),) == handoff.facts
    assert "1.50" == handoff.budget.cost_left_usd
    assert "2026-01-01T12:00:00Z" == handoff.expires_at


def test_later_changes_do_not_show():
    """What is changed in the caller's lists and dicts later is not in the handoff."""
    artifacts, metadata = ["x"], {"k": [1]}
    handoff = PLAIN.create_handoff("a", "b", "s", artifacts, 1.0, None, metadata)
    artifacts.append("y")
    metadata["k"].append(2)

    assert (["x"], {"k": [1]}) == (handoff.artifacts, handoff.metadata)
    handoff.as_document()["metadata"]["k"].append(3)
    assert {"k": [1]} == handoff.metadata


FAULTS = [
    ({"from_agent": ""}, "from_agent is ''; text that is not empty would work."),
    ({"to_agent": 3}, "to_agent is 3; text that is not empty would work."),
    ({"context_summary": None}, "context_summary is None; text would work."),
    ({"context_summary": "\ud800"}, "context_summary is '\\ud800'; text without lone surrogates"),
    ({"artifacts": "x.md"}, "artifacts is 'x.md'; a list of names, such as ['x.md'], would work."),
    ({"artifacts": ["x", ""]}, "artifacts[1] is ''; text that is not empty would work."),
    ({"confidence": 1.5}, "confidence is 1.5; a number from 0 to 1 would work."),
    ({"confidence": True}, "confidence is True; a number from 0 to 1 would work."),
    ({"confidence": float("nan")}, "confidence is nan; a number from 0 to 1 would work."),
    ({"metadata": [1]}, "metadata is [1]; a dict would work."),
    ({"metadata": {"a": 2**60}}, "metadata.a is 1152921504606846976; an integer within"),
    (
        {"mode": "give"},
        "mode is 'give'; 'transfer', 'delegate', 'return' or 'escalate' would work.",
    ),
    ({"schema": "other/1"}, "schema is 'other/1'; 'argentum.handoff/2' would work."),
    ({"facts": [{"id": "1"}]}, "facts[0].path is missing; the document has 'id'."),
    ({"facts": [Fact("1", "", "int", 3)]}, "facts[0].value is 3; text would work."),
    ({"facts": [Fact("1", "", "i", "")] * 2}, "facts[1].id is '1', as of one before; another id"),
    ({"facts": {"id": "1"}}, "facts is {'id': '1'}; a list would work."),
    ({"facts": ["1"]}, "facts[0] is '1'; a Fact or a dict would work."),
    (
        {"artifact_refs": [ArtifactRef("x", "sha1:00", 1)]},
        "artifact_refs[0].digest is 'sha1:00'; 'sha256:' and 64 hexadecimal digits would work.",
    ),
    ({"artifact_refs": [ArtifactRef("x", DIGEST, -1)]}, "artifact_refs[0].size is -1; an integer"),
    ({"constraints": [Constraint("1", "may", "x")]}, "constraints[0].kind is 'may'; 'must',"),
    ({"budget": {"cost_left_usd": 1.5}}, "budget.cost_left_usd is 1.5; a decimal number as text"),
    ({"budget": {"hops_left": True}}, "budget.hops_left is True; an integer from 0"),
    ({"expires_at": "tomorrow"}, "expires_at is 'tomorrow'; a time with its zone"),
    ({"expires_at": "2026-13-01T00:00:00Z"}, "expires_at is '2026-13-01T00:00:00Z'; a time"),
    ({"expires_at": "2026-01-01T00:00:00"}, "expires_at is '2026-01-01T00:00:00'; a time"),
    ({"expires_at": "2026-01-01T00:00:00+24:00"}, "expires_at is '2026-01-01T00:00:00+24:00'; a"),
    ({"expires_at": "2026-02-30T00:00:00Z"}, "expires_at is '2026-02-30T00:00:00Z'; a time"),
    (
        {"expires_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=3)))},
        "expires_at is datetime.datetime(1, 1, 1, 0, 0, tzinfo=",
    ),
    ({"expires_at": datetime(2026, 1, 1)}, "expires_at is datetime.datetime(2026, 1, 1, 0, 0); a"),
    ({"trace": {"traceparent": "00-1"}}, "trace.traceparent is '00-1'; a traceparent of W3C"),
    ({"open_items": ["x", 1]}, "open_items[1] is 1; text that is not empty would work."),
    (
        {"chain": {"root": "r", "hop": 1, "path": ["c", "b"]}},
        "chain.path is ('c', 'b'); the agents from the first to 'a' and 'b', one more than 1 hops,",
    ),
    (
        {"chain": {"root": "r", "hop": 2, "facts_digests": [DIGEST]}},
        "chain.facts_digests has 1 of 2 hops; one for each hop would work.",
    ),
    ({"extra": {"confidence": 2}}, "extra has the key 'confidence'; give it as the field"),
]


@pytest.mark.parametrize("change, said", FAULTS, ids=[said[:60] for _, said in FAULTS])
def test_faults(change: dict, said: str):
    """What cannot be used is named with its field, its value and what would do."""
    with pytest.raises(InputError) as caught:
        Handoff(**(LEAST | change))

    assert said in str(caught.value)


def test_faults_of_a_document():
    """In a document the same is a fault of format; what is no handoff is told apart."""
    with pytest.raises(FormatError, match="The handoff cannot be used: confidence is 7; a number"):
        PLAIN.from_json(json.dumps(LEAST | {"confidence": 7}))
    with pytest.raises(FormatError, match="to_agent is missing; the document has 'from_agent'"):
        PLAIN.from_json('{"from_agent": "a"}')
    with pytest.raises(FormatError, match="3 is no handoff; a JSON object would work"):
        PLAIN.from_json("3")
    with pytest.raises(FormatError, match="is twice in one object"):
        PLAIN.from_json('{"from_agent": "a", "from_agent": "b"}')
    with pytest.raises(LimitError, match="levels"):
        PLAIN.from_json("[" * 111 + "]" * 111)


def nested(levels: int) -> dict:
    """Make a dict of so many levels."""
    value: dict = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


LARGE = {
    "levels": nested(100),
    "text": {"a": "x" * 7_000_000, "quotes": '"' * 100_000},
    "values": {"a": [0] * 150_000},
}
TOO_LARGE = {
    "bytes": {"a": "x" * 9_000_000},
    "values": {"a": [0] * 250_000},
    "characters in a key": {"k" * 10_001: 1},
}


@pytest.mark.parametrize("what", LARGE)
@pytest.mark.parametrize("how", SIGNERS)
def test_what_can_be_written_can_be_read(what: str, how: str):
    """A handoff just within the limits comes through, signed too."""
    for protocol in (PLAIN, HandoffProtocol(sign_with=SIGNERS[how][0])):
        handoff = protocol.create_handoff("a", "b", "s", metadata=LARGE[what])
        assert handoff == protocol.from_json(protocol.to_json(handoff))


@pytest.mark.parametrize("what", TOO_LARGE)
def test_what_cannot_be_read_is_not_written(what: str):
    """The sender learns that a handoff is too large, not the receiver."""
    handoff = PLAIN.create_handoff("a", "b", "s", metadata=TOO_LARGE[what])

    with pytest.raises(LimitError, match=what):
        PLAIN.to_json(handoff)
    with pytest.raises(InputError, match="at most 100 levels would work"):
        PLAIN.create_handoff("a", "b", "s", metadata=nested(101))


@given(st.sampled_from(dataclasses.fields(Handoff)), JSON)
def test_no_document_breaks_the_reader(field: dataclasses.Field, value: object):
    """Whatever a field holds, it is read or refused."""
    try:
        received = PLAIN.from_json(json.dumps(LEAST | {field.name: value}))
    except FormatError:
        return
    assert received == PLAIN.from_json(PLAIN.to_json(received))


def test_times_to_the_nanosecond():
    """Times keep what they say, whatever zone they are in."""
    assert 1_792_317_600_123_456_789 == at_ns("2026-10-18T10:00:00.123456789Z")
    assert at_ns("2026-10-18T10:00:00Z") == at_ns("2026-10-18t12:00:00+02:00")
    assert "2026-10-18T10:00:00.123456Z" == as_moment(1_792_317_600_123_456_789)


def test_every_field_comes_through():
    """A document with something in every field is written and read whole."""
    handoff = full_handoff(PLAIN)
    empty = [
        field.name
        for field in dataclasses.fields(handoff)
        if getattr(handoff, field.name) in (None, (), [], {}, "")
    ]

    assert ["chain", "signed"] == empty
    assert handoff == PLAIN.from_json(PLAIN.to_json(handoff))
