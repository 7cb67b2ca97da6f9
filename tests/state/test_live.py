"""Tests of conditions that are answered from the live state."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from argentum import create_agent_session
from argentum.state import Snapshot
from argentum.state.conditions import parse
from argentum.state.live import Live
from argentum.state.watch import Watch, Watcher
from argentum.tree import Path, freeze

pytest.importorskip("cel_expr_python", reason="pip install 'argentum-agent[conditions]'")

CONDITIONS = [
    "confidence >= 0.5",
    "confidence >= previous.confidence - 0.2",
    "size(messages) >= size(previous.messages) && confidence < 2",
    "budget.usd >= 0 && budget.usd <= previous.budget.usd",
    "previous.confidence < 1 || confidence + confidence > 0.5",
    "text != 'x' && !has(messages)",
    "messages == previous.messages || confidence > 0.5",
    "budget.usd == previous.budget.usd",
    "note != previous.note",
    "budget == previous.budget && !(note == confidence)",
    "note == null || has(budget.usd)",
    "confidence || previous.confidence == 'a'",
    "budget.usd != null && budget.usd <= 'x'",
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
        "text": st.sampled_from(["", "x", "x" * 5000]),
        "note": NUMBERS,
    },
)


def snapshot(state: Any, seq: int) -> Snapshot:
    """Take a snapshot."""
    return Snapshot("s", freeze(state), 1, seq, "a")


def is_number(value: object) -> bool:
    """Tell whether a value is one that is answered here."""
    return type(value) is float or (type(value) is int and abs(value) < 2**31)


def live_of(text: str) -> Live:
    """Give what answers a condition."""
    live = Watcher(Watch(text)).live()
    assert live is not None
    return live


@given(st.lists(STATES, min_size=1, max_size=5), st.sampled_from(CONDITIONS))
def test_what_holds_live_holds_recorded(states: list[Any], text: str) -> None:
    """What is answered is what the recorded states say."""
    live = live_of(text)
    before = None
    for seq, state in enumerate(states):
        now = snapshot(state, seq)
        if live.holds(state, now, before):
            assert parse(text).check(now, before).held is True
        before = now


@given(st.lists(STATES, min_size=2, max_size=2), STATES, st.sampled_from(CONDITIONS))
def test_the_verdict_is_of_what_was_recorded(taken: list[Any], later: Any, text: str) -> None:
    """Whatever another thread made of the state meanwhile, as long as it adds no such path."""
    first, second = (snapshot(state, seq) for seq, state in enumerate(taken))
    paths = [read.path for read in parse(text).reads]
    assume(all(has(taken[1], path) or not has(later, path) for path in paths))
    live = live_of(text)

    live.holds(taken[0], first, None)

    if live.holds(later, second, first):
        assert parse(text).check(second, first).held is True


def has(state: Any, path: Path) -> bool:
    """Tell whether there is something at a path of names."""
    for step in path.parts:
        if not isinstance(state, dict) or step not in state:
            return False
        state = state[step]
    return True


@given(st.lists(NUMBERS, min_size=2, max_size=2))
def test_numbers_are_answered(values: list[Any]) -> None:
    """In small and in large states; else nothing would be gained."""
    for text in ("", "x" * 5000):
        states = [{"confidence": value, "text": text} for value in values]
        first, second = snapshot(states[0], 1), snapshot(states[1], 2)
        condition = "confidence >= previous.confidence - 0.2"
        live = live_of(condition)
        live.holds(states[0], first, None)
        found = live.holds(states[1], second, first)
        if all(map(is_number, values)):
            assert found is parse(condition).check(second, first).held
        else:
            assert found is False


@pytest.mark.parametrize(
    "number",
    [0, 127, 128, 255, 256, 65_535, 65_536, 2**31, -1, -32, -33, -128, -129, -32_768, -32_769,
     -(2**31), 0.5, inf, -inf],
)  # fmt: skip
@pytest.mark.parametrize("text", ["", "x" * 5000])
def test_each_form_of_a_number_is_read(number: float, text: str) -> None:
    """MessagePack writes a number in as few bytes as it can."""
    state = {"a": number, "text": text}
    assert live_of("a >= 0").holds(state, snapshot(state, 1), None) is (number >= 0)
    assert live_of("a < 0").holds(state, snapshot(state, 1), None) is (number < 0)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 300, 3000])
@pytest.mark.parametrize("text", ["", "x" * 5000])
def test_each_form_of_a_list_is_counted(count: int, text: str) -> None:
    """Short or long, one entry or many."""
    state = {"a": [1] * count, "text": text, "b": {"a": [1]}}
    for test, held in ((f"size(a) == {count}", True), (f"size(a) != {count}", False)):
        assert live_of(test).holds(state, snapshot(state, 1), None) is held


@pytest.mark.parametrize("text", ["", "x" * 5000])
@pytest.mark.parametrize(
    "condition", ["confidence >= 0.5", "size(messages) > 1", "budget.usd > 0.5"]
)
def test_what_changed_since_it_was_recorded_is_not_answered(text: str, condition: str) -> None:
    """Another thread may be quicker than the watch."""
    state = {"confidence": 0.1, "messages": [1], "budget": {"usd": 0.1}, "text": text}
    taken = snapshot(state, 1)
    state.update(confidence=0.9, messages=[1, 2], budget={"usd": 0.9})

    live = live_of(condition)
    assert live.holds(state, taken, None) is False
    assert live.holds(state, snapshot(state, 2), None) is True


@pytest.mark.parametrize(
    "state",
    [
        {"note": "\N{POUND SIGN}usd", "budget": {"usd": 0.0}},
        {"spent": {"usd": 0.9}, "budget": {"usd": 0.0}},
        {"usd": 0.9, "budget": {"usd": 0.0}},
        {"budget": {"usd": 0.0, "total": {"usd": 0.9}}},
    ],
)
def test_a_key_that_is_there_twice_is_decoded(state: Any) -> None:
    """A text or another dict may have the bytes of the key, too."""
    live = live_of("budget.usd > 0.5")
    assert live.holds(state, snapshot(state, 1), None) is False
    state["budget"]["usd"] = 0.8
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


@pytest.mark.parametrize("text", ["", "x" * 5000])
@pytest.mark.parametrize("value", [1, "a", [1, {"b": (2,)}], {"c": list(range(3000))}, None])
def test_an_unchanged_value_is_equal(value: Any, text: str) -> None:
    """Told from its bytes, whatever else changes."""
    states = [{"n": n, "box": {"a": value}, "text": text} for n in range(4)]
    snapshots = [snapshot(states[0], 0)]
    for seq, state in enumerate(states[1:], 1):
        snapshots.append(Snapshot("s", freeze(state, snapshots[-1].tree), 1, seq, "a"))
    live = live_of("box.a == previous.box.a")
    found = [
        live.holds(state, now, before)
        for state, now, before in zip(states, snapshots, [None, *snapshots], strict=False)
    ]
    assert [False, True, True, True] == found
