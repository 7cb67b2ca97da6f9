"""Receipts: what may follow what, what each needs, and which deadline has passed."""

from __future__ import annotations

import dataclasses
import itertools
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.handoff.makers import COUNTS, EXTRA, SIGNERS, TEXTS, full_handoff

from argentum import HandoffProtocol, InputError, VerificationError
from argentum.handoff import ArtifactRef, overdue
from argentum.handoff.canonical import digest
from argentum.handoff.fields import at_ns
from argentum.handoff.receipts import STATUSES

PROTOCOL = HandoffProtocol()
HANDOFF = full_handoff(PROTOCOL)
NEEDS = {
    "rejected": {"reason": "no"},
    "failed": {"reason_code": "crashed"},
    "completed": {"no_output": True},
}
ALLOWED = {
    ("received",), ("accepted",), ("rejected",), ("expired",),
    ("received", "accepted"), ("received", "rejected"), ("received", "expired"),
    ("accepted", "completed"), ("accepted", "failed"), ("accepted", "canceled"),
    ("received", "accepted", "completed"), ("received", "accepted", "failed"),
    ("received", "accepted", "canceled"),
}  # fmt: skip


def receipt(status: str, after=None, protocol=PROTOCOL, **details):
    """Answer the handoff."""
    return protocol.generate_receipt(
        HANDOFF, status, after=after, **(NEEDS.get(status, {}) | details)
    )


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_what_may_follow(length: int):
    """Of all sequences of statuses, exactly the allowed ones can be made."""
    made = set()
    for statuses in itertools.product(STATUSES, repeat=length):
        last = None
        try:
            for status in statuses:
                last = receipt(status, last)
        except InputError:
            continue
        made.add(statuses)

    assert {one for one in ALLOWED if len(one) == length} == made


@pytest.mark.parametrize(
    "status, before, details, said",
    [
        ("acepted", None, {}, "status is 'acepted'; 'received', 'accepted', 'rejected',"),
        (["accepted"], None, {}, "status is ['accepted']; 'received',"),
        ("completed", None, {}, "but no receipt is before it; after=, with the receipt 'accepted'"),
        ("completed", "received", {}, "followed by 'accepted' or 'rejected' or 'expired'."),
        ("accepted", "rejected", {}, "status is 'accepted' after 'rejected', which is followed by"),
        ("rejected", None, {"reason": None}, "reason is missing; a receipt 'rejected' has to say"),
        ("completed", "accepted", {"no_output": False}, "no_output is False with 0 result_refs;"),
        ("accepted", None, {"coverage": 0.9}, "coverage is 0.9; a decimal number as text"),
    ],
)
def test_faults(status, before: str | None, details: dict, said: str):
    """A receipt that cannot be is refused with what could."""
    last = receipt(before) if before else None
    with pytest.raises(InputError) as caught:
        PROTOCOL.generate_receipt(
            HANDOFF, status, after=last, **(NEEDS.get(str(status), {}) | details)
        )

    assert said in str(caught.value)


def test_completed_with_results():
    """Results stand for output; both at once, or neither, is refused."""
    ref = ArtifactRef("x", digest(b"1"), 1)
    accepted = receipt("accepted")

    done = receipt("completed", accepted, no_output=False, result_refs=[ref])

    assert (ref,) == done.result_refs
    with pytest.raises(InputError, match="no_output is True with 1 result_refs"):
        receipt("completed", accepted, result_refs=[ref])


def test_what_a_receipt_says():
    """A receipt is bound to the handoff's bytes, to what was seen, and to the receipt before."""
    first = receipt("received", observed=b"bytes")
    second = receipt("accepted", first)

    assert digest(HANDOFF.canonical()) == first.handoff_digest
    assert (digest(b"bytes"), None) == (first.observed_digest, second.observed_digest)
    assert (None, digest(PROTOCOL.receipt_to_json(first).encode())) == (
        first.prev_receipt_digest,
        second.prev_receipt_digest,
    )
    assert ("bob", HANDOFF.handoff_id) == (first.agent, first.handoff_id)


def test_chain_covers_signatures():
    """The digest of the receipt before covers its signature."""
    protocol = HandoffProtocol(sign_with=SIGNERS["hmac"][0])
    first = receipt("received", protocol=protocol)

    second = receipt("accepted", first, protocol=protocol)

    assert digest(protocol.receipt_to_json(first).encode()) == second.prev_receipt_digest


def test_receipt_of_another_handoff():
    """A receipt follows one of the same handoff's bytes only."""
    with pytest.raises(InputError, match="before is of handoff"):
        PROTOCOL.generate_receipt(full_handoff(PROTOCOL), "accepted", after=receipt("received"))


@pytest.mark.parametrize("how", ["plain", *SIGNERS])
@given(
    st.sampled_from(["received", "accepted", "rejected"]),
    TEXTS,
    EXTRA,
    st.decimals(0, 1, places=3),
    COUNTS,
)
def test_round_trip(how: str, status: str, reason: str, extra: dict, coverage: Decimal, size: int):
    """What is written reads as it was, and is written alike again."""
    signer, verifier = SIGNERS.get(how, (None, None))
    protocol = HandoffProtocol(sign_with=signer)
    refs = [ArtifactRef("x", digest(b""), size)]
    made = receipt(
        status, None, protocol, reason=reason, reason_code="c", extra=extra,
        coverage=coverage, result_refs=refs,
    )  # fmt: skip
    reader = HandoffProtocol(verify_with=[verifier] if verifier else [])

    written = protocol.receipt_to_json(made)

    assert made == reader.receipt_from_json(written)
    assert written == reader.receipt_to_json(reader.receipt_from_json(written))


def test_a_receipt_is_no_handoff():
    """A signed receipt does not pass for a handoff, nor the other way round."""
    protocol = HandoffProtocol(sign_with=SIGNERS["hmac"][0])
    signed_handoff = full_handoff(protocol).signed
    signed_receipt = receipt("accepted", protocol=protocol).signed

    for read, signed in [
        (protocol.from_json, signed_receipt),
        (protocol.receipt_from_json, signed_handoff),
    ]:
        with pytest.raises(VerificationError) as caught:
            read(signed.to_json())
        assert "typ" == caught.value.part


def test_unsigned_receipts_in_a_signed_chain():
    """A receipt that lost its signature is refused where keys are asked for."""
    protocol = HandoffProtocol(sign_with=SIGNERS["hmac"][0])
    bare = json.dumps(json.loads(receipt("accepted").canonical()))

    with pytest.raises(VerificationError) as caught:
        protocol.verify_receipts(HANDOFF, [bare])
    assert "receipts[0].signature" == caught.value.part


@pytest.mark.parametrize(
    "statuses, at, expected",
    [
        ([], "2125-12-31T23:59:59Z", None),
        ([], "2126-01-01T00:00:00.000001Z", "ack_by"),
        (["received"], "2126-01-01T00:00:01Z", "ack_by"),
        (["accepted"], "2126-01-01T00:00:01Z", None),
        (["accepted"], "2126-01-02T00:00:00Z", "complete_by"),
        (["accepted", "completed"], "2200-01-01T00:00:00Z", None),
        (["rejected"], "2200-01-01T00:00:00Z", None),
    ],
)
def test_overdue(statuses: list[str], at: str, expected: str | None):
    """The deadline that has passed without its receipt is named."""
    chain = []
    for status in statuses:
        chain.append(receipt(status, chain[-1] if chain else None))

    assert expected == overdue(HANDOFF, chain, at_ns(at))


def test_overdue_by_now():
    """By default it is asked for now, and expiry is a deadline for acceptance."""
    late = PROTOCOL.create_handoff("a", "b", "s", expires_at="2020-01-01T00:00:00Z")

    assert "expires_at" == overdue(late, [])
    assert None is overdue(PROTOCOL.create_handoff("a", "b", "s"), [])


def test_chains_that_an_agent_made_up():
    """A chain whose digests fit, but whose statuses or ids cannot be, is refused by name."""
    accepted = receipt("accepted")
    early = dataclasses.replace(receipt("completed", accepted), prev_receipt_digest=None)
    again = dataclasses.replace(receipt("canceled", accepted), receipt_id=accepted.receipt_id)

    for chain, part, said in [
        ([early], "receipts[0].status", "In receipt 0, status is 'completed', but no receipt is"),
        ([accepted, again], "receipts[1].receipt_id", "receipt_id of receipt 1 is"),
        (["{}"], "receipts[0]", "receipt_id is missing; the document has nothing."),
        (["["], "receipts[0]", "The document is no JSON"),
    ]:
        with pytest.raises(VerificationError) as caught:
            PROTOCOL.verify_receipts(HANDOFF, chain)
        assert part == caught.value.part
        assert said in str(caught.value)
