"""Tests of conditions that are answered from the live state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum import create_agent_session
from argentum.state import Snapshot
from argentum.state.conditions import parse
from argentum.tree import freeze

pytest.importorskip("cel_expr_python", reason="pip install 'argentum-agent[conditions]'")

CONDITIONS = [
    "confidence >= 0.5",
    "confidence >= previous.confidence - 0.2",
    "size(messages) >= size(previous.messages) && confidence < 2",
    "budget.usd >= 0 && budget.usd <= previous.budget.usd",
    "previous.confidence < 1 || confidence + confidence > 0.5",
]
NUMBERS = st.one_of(
    st.floats(), st.integers(), st.sampled_from([0, 1, 0.0, -0.0, 0.5, 0.7, 1.0]), st.none(),
    st.booleans(), st.text(max_size=3),
)  # fmt: skip
STATES = st.fixed_dictionaries(
    {},
    optional={
        "confidence": NUMBERS,
        "messages": st.one_of(st.lists(NUMBERS, max_size=40), NUMBERS),
        "budget": st.one_of(st.fixed_dictionaries({"usd": NUMBERS}), NUMBERS),
        "sub": st.fixed_dictionaries({"confidence": NUMBERS}),
        "text": st.sampled_from(["", "x" * 5000]),
    },
)


def snapshot(state: Any, seq: int) -> Snapshot:
    """Take a snapshot."""
    return Snapshot("s", freeze(state), 1, seq, "a")


def is_number(value: object) -> bool:
    """Tell whether a value is one that is answered here."""
    return type(value) is float or (type(value) is int and abs(value) < 2**31)


@given(st.lists(STATES, min_size=1, max_size=5), st.sampled_from(CONDITIONS))
def test_what_holds_live_holds_recorded(states: list[Any], text: str) -> None:
    """What is answered is what the recorded states say."""
    checker = parse(text).checker()
    assert checker.live is not None
    before = None
    for seq, state in enumerate(states):
        now = snapshot(state, seq)
        if checker.live.holds(state, now, before):
            assert parse(text).check(now, before).held is True
        before = now


@given(st.lists(NUMBERS, min_size=2, max_size=2))
def test_numbers_are_answered(values: list[Any]) -> None:
    """In small and in large states; else nothing would be gained."""
    for text in ("", "x" * 5000):
        states = [{"confidence": value, "text": text} for value in values]
        first, second = snapshot(states[0], 1), snapshot(states[1], 2)
        checker = parse("confidence >= previous.confidence - 0.2").checker()
        assert checker.live is not None
        checker.live.holds(states[0], first, None)
        found = checker.live.holds(states[1], second, first)
        if all(map(is_number, values)):
            assert found is checker.check(second, first).held
        else:
            assert found is False


@pytest.mark.parametrize("text", ["", "x" * 5000])
@pytest.mark.parametrize(
    "condition", ["confidence >= 0.5", "size(messages) > 1", "budget.usd > 0.5"]
)
def test_what_changed_since_it_was_recorded_is_not_answered(text: str, condition: str) -> None:
    """Another thread may be quicker than the watch."""
    state = {"confidence": 0.1, "messages": [1], "budget": {"usd": 0.1}, "text": text}
    taken = snapshot(state, 1)
    state.update(confidence=0.9, messages=[1, 2], budget={"usd": 0.9})

    live = parse(condition).checker().live
    assert live is not None
    assert live.holds(state, taken, None) is False
    assert live.holds(state, snapshot(state, 2), None) is True


def test_a_watch_tells_of_each_break_once() -> None:
    """What kept it last is known, however it was found to keep it."""
    session = create_agent_session("a")
    breaks: list[Any] = []
    session.watch("confidence >= 0.5", on_break=breaks.append)
    for number, confidence in enumerate([0.9, 0.8, 0.1, 0.2, 0.9, 0.3]):
        session.snapshot(f"s{number}", {"confidence": confidence})

    assert [("s2", "s1"), ("s5", "s4")] == [
        (one.snapshot.label, one.last_kept.label) for one in breaks
    ]
