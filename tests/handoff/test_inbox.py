"""Acceptance: each handoff once, whoever asks and however often."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from tests.handoff.makers import HMAC, full_handoff, walked

from argentum import HandoffProtocol, InputError, LimitError, VerificationError, clock
from argentum.handoff import (
    Budget,
    Chain,
    Fact,
    Inbox,
    MemoryLedger,
    Signed,
    facts_digest,
    hash_artifact,
)
from argentum.handoff.canonical import digest
from argentum.handoff.fields import at_ns

PROTOCOL = HandoffProtocol(sign_with=HMAC)


def inbox(ledger: MemoryLedger | None = None, agent: str = "bob", **options) -> Inbox:
    """Make an inbox."""
    return Inbox(agent, protocol=PROTOCOL, ledger=ledger or MemoryLedger(), **options)


def text_of(**changes: object) -> str:
    """Write a signed handoff to bob."""
    return PROTOCOL.to_json(full_handoff(PROTOCOL, **changes))


def answered(accepted) -> tuple[str, str | None, bool]:
    """Tell status, reason and whether it is new."""
    return accepted.receipt.status, accepted.receipt.reason_code, accepted.is_new


def test_accepted_once():
    """The same bytes again give the stored receipt; the work is new once only."""
    box, text = inbox(), text_of()

    first = box.accept(text)
    again = box.accept(text.encode())

    assert ("accepted", None, True) == answered(first)
    assert ("accepted", None, False) == answered(again)
    assert first.receipt == again.receipt
    assert digest(text.encode()) == first.receipt.observed_digest
    assert [first.receipt] == PROTOCOL.verify_receipts(first.handoff, [first.receipt])


def test_after_the_work():
    """Once the work has ended, the same bytes give its end."""
    box, text = inbox(), text_of()
    first = box.accept(text)

    done = box.finish(first.handoff, "completed", no_output=True)

    assert done == box.accept(text).receipt
    PROTOCOL.verify_receipts(first.handoff, [first.receipt, done])
    with pytest.raises(InputError, match="status is 'failed' after 'completed'"):
        box.finish(first.handoff, "failed", reason="no")


def test_other_bytes_under_a_known_id():
    """Other contents under a known id are refused, and leave the first ones as they were."""
    ledger = MemoryLedger()
    box, text = inbox(ledger), text_of(handoff_id="hf_1")
    first = box.accept(text)

    other = box.accept(text_of(handoff_id="hf_1", nonce="n-2"))

    assert ("rejected", "id_conflict", False) == answered(other)
    assert "was used before for other contents, of digest sha256:" in other.receipt.reason
    assert (first.receipt,) == ledger.receipts("hf_1")
    assert ("accepted", None, False) == answered(box.accept(text))


def test_what_is_not_kept():
    """Who may not accept, or not yet, spoils nothing for who may, later."""
    ledger = MemoryLedger()
    text = text_of(not_before="2026-01-01T00:00:00Z")

    assert ("rejected", "audience", False) == answered(inbox(ledger, "carol").accept(text))
    early = text_of(handoff_id="hf_2", not_before="2125-01-01T00:00:00Z")
    assert ("rejected", "not_before", False) == answered(inbox(ledger).accept(early))
    assert () == ledger.receipts("hf_2")
    assert ("accepted", None, True) == answered(inbox(ledger).accept(text))


def test_not_before_has_come(monkeypatch: pytest.MonkeyPatch):
    """What came too early is accepted in its time."""
    box, text = inbox(), text_of(not_before="2125-01-01T00:00:00Z")
    box.accept(text)
    monkeypatch.setattr(clock, "now_ns", lambda: at_ns("2125-01-01T00:00:00Z"))

    assert ("accepted", None, True) == answered(box.accept(text))


def test_expired(monkeypatch: pytest.MonkeyPatch):
    """What arrives too late has expired for good; what was accepted in time stays accepted."""
    box, in_time, late = inbox(), text_of(), text_of()
    box.accept(in_time)
    monkeypatch.setattr(clock, "now_ns", lambda: at_ns("2126-01-03T00:00:00Z"))

    assert ("expired", "expired", False) == answered(box.accept(late))
    assert ("accepted", None, False) == answered(box.accept(in_time))
    monkeypatch.undo()
    assert ("expired", "expired", False) == answered(box.accept(late))


def test_an_altered_handoff_leaves_no_trace():
    """What cannot be verified raises and is not kept, so nobody can spoil another's id."""
    ledger = MemoryLedger()
    box, text = inbox(ledger), text_of(handoff_id="hf_1")

    with pytest.raises(VerificationError) as caught:
        box.accept(text.replace("12450", "92450"))
    assert "digest" == caught.value.part
    assert () == ledger.receipts("hf_1")
    assert box.accept(text).is_new


def test_artifacts_are_looked_at(tmp_path: Path):
    """A missing artifact is the end of a handoff; the reason says which."""
    (tmp_path / "report.md").write_bytes(b"1")
    ref = hash_artifact(tmp_path, "report.md")
    fine, broken = text_of(artifact_refs=[ref]), text_of(artifact_refs=[ref])
    box = inbox(artifacts_in=tmp_path)

    assert ("accepted", None, True) == answered(box.accept(fine))
    (tmp_path / "report.md").unlink()
    refused = box.accept(broken)
    assert ("rejected", "artifact_missing", False) == answered(refused)
    assert "The artifact 'report.md' is missing" in refused.receipt.reason


def test_detached():
    """A payload whose signature came beside it is accepted as the same handoff."""
    handoff = full_handoff(PROTOCOL)
    box = inbox()

    first = box.accept(Signed.detached(handoff.canonical(), handoff.signed.jws))

    assert ("accepted", None, True) == answered(first)
    assert digest(handoff.canonical()) == first.receipt.observed_digest
    assert ("accepted", None, False) == answered(box.accept(PROTOCOL.to_json(handoff)))


def test_a_receipt_received_before():
    """A handoff that was only received so far is accepted behind that receipt."""
    ledger, handoff = MemoryLedger(), full_handoff(PROTOCOL)
    received = PROTOCOL.generate_receipt(handoff, "received")
    ledger.append(handoff.handoff_id, 0, [received])

    accepted = inbox(ledger).accept(PROTOCOL.to_json(handoff))

    assert ("accepted", None, True) == answered(accepted)
    PROTOCOL.verify_receipts(handoff, ledger.receipts(handoff.handoff_id))


def handed_round(way: str, facts: str, **first: object):
    """Hand work along agents, one letter each; one letter of facts for each hop."""
    handoff = None
    for sender, receiver, carried in walked(way, facts):
        parent = {"parent": handoff} if handoff else first
        handoff = PROTOCOL.create_handoff(
            sender,
            receiver,
            f"Take it {carried}",
            facts=[Fact("1", "/", "text", carried)],
            **parent,
        )
    return handoff


def test_a_loop_is_stopped():
    """A ping-pong is refused at its sixth hop, with a receipt that says why."""
    fifth, sixth = handed_round("ababab", "xxxxx"), handed_round("abababa", "xxxxxx")

    assert inbox(agent="b").accept(PROTOCOL.to_json(fifth)).is_new
    refused = inbox(agent="a").accept(PROTOCOL.to_json(sixth))
    assert ("rejected", "loop", False) == answered(refused)
    assert refused.receipt.reason.startswith("The work goes round a → b → a: up to hop 6")
    assert inbox(agent="a").accept(PROTOCOL.to_json(handed_round("abababa", "xxxxyx"))).is_new


def test_too_many_hops():
    """A chain that is too long is refused, and a spent budget stops the sender."""
    fourth = PROTOCOL.to_json(handed_round("abcde", "wxyz"))
    refused = inbox(agent="e", max_hops=3).accept(fourth)
    assert ("rejected", "hops", False) == answered(refused)
    assert "It is hop 4 of its chain; this inbox accepts 3." == refused.receipt.reason

    third = handed_round("abcd", "xyz", budget=Budget(tokens_left=10, hops_left=2))
    assert Budget(hops_left=0) == third.budget
    second = handed_round("abc", "xy", budget=Budget(tokens_left=10, hops_left=2))
    poorer = PROTOCOL.create_handoff("c", "d", "s", parent=second, budget=Budget(tokens_left=5))
    assert Budget(tokens_left=5, hops_left=0) == poorer.budget
    with pytest.raises(LimitError, match="The budget of hops is spent after a → b → c → d"):
        PROTOCOL.create_handoff("d", "e", "s", parent=third)


def test_chain():
    """Each handoff names its root, its parent by id and digest, and the way so far."""
    first = handed_round("ab", "x")
    third = handed_round("abcd", "xyz")

    second = PROTOCOL.create_handoff("b", "c", "s", parent=first, budget=Budget(hops_left=9))
    assert (
        Chain(
            first.handoff_id,
            first.handoff_id,
            digest(first.canonical()),
            2,
            ("a", "b", "c"),
            (facts_digest(first), facts_digest(second)),
        ),
        9,
    ) == (second.chain, second.budget.hops_left)
    assert (3, ("a", "b", "c", "d")) == (third.chain.hop, third.chain.path)
    with pytest.raises(InputError, match="from_agent is 'x', but the parent went to 'b'"):
        PROTOCOL.create_handoff("x", "c", "s", parent=first)


@pytest.mark.parametrize("round_", range(20))
def test_one_of_many_threads_accepts(round_: int):
    """Of threads that accept at once, one does; all have its receipt, and one ends the work."""
    ledger, text = MemoryLedger(), text_of()
    start, found, ends = threading.Barrier(8), [], []

    def work() -> None:
        box = inbox(ledger)
        start.wait()
        accepted = box.accept(text)
        found.append(accepted)
        try:
            ends.append(box.finish(accepted.handoff, "completed", no_output=True))
        except InputError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 1 == sum(accepted.is_new for accepted in found)
    chain = ledger.receipts(found[0].handoff.handoff_id)
    assert ["accepted", "completed"] == [receipt.status for receipt in chain]
    assert 1 == sum(not isinstance(end, str) for end in ends)
    assert {accepted.receipt for accepted in found} <= set(chain)


@pytest.mark.parametrize(
    "asked, part",
    [
        ({"audience": "carol"}, "audience"),
        ({"at_ns": at_ns("2025-12-31T23:59:59Z")}, "not_before"),
        ({"at_ns": at_ns("2126-01-03T00:00:00Z")}, "expires_at"),
    ],
)
def test_terms(asked: dict, part: str):
    """`verify` names the term that does not hold; within all of them it gives the handoff."""
    text = text_of()

    assert PROTOCOL.from_json(text) == PROTOCOL.verify(text, audience="bob")
    with pytest.raises(VerificationError) as caught:
        PROTOCOL.verify(text, **asked)
    assert part == caught.value.part


def test_plain_documents():
    """Without keys a document with the first fields alone is accepted, once."""
    box = Inbox("b")
    text = json.dumps({"from_agent": "a", "to_agent": "b", "context_summary": "s"})

    assert [True, False] == [box.accept(text).is_new for _ in range(2)]
    assert not box.accept(json.dumps(json.loads(text), indent=1)).is_new
