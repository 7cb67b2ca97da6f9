"""The history of one agent's states."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import edits, exactly_equal, values

import argentum
from argentum.errors import InputError, NotFoundError
from argentum.state import Snapshot, StateDiff, diff, json_patch
from argentum.tree import diff as tree_diff
from argentum.tree import freeze


@given(st.lists(values, min_size=1, max_size=5))
def test_every_snapshot_is_restored(states):
    """Each of several snapshots gives its own state back, whatever came after."""
    history = StateDiff()
    for number, state in enumerate(states):
        history.snapshot(str(number), state)

    assert [str(number) for number in range(len(states))] == history.labels
    assert all(
        exactly_equal(state, history.restore(str(number))) for number, state in enumerate(states)
    )


@given(edits)
def test_diff_applies_and_inverts(states):
    """A `Diff` is true if anything changed, applies to a live value, and leads back."""
    before, after = states
    found = diff(before, after)

    assert bool(found) == bool(len(found)) == bool(list(found))
    assert exactly_equal(after, found.apply(before), zeros=True, order=False)
    assert exactly_equal(before, found.inverted().apply(after), zeros=True, order=False)
    assert [] == tree_diff(freeze(after), found.after)


def test_the_first_page():
    """The example of the first page."""
    history = StateDiff()
    history.snapshot("start", {"knowledge": [], "confidence": 0.0, "steps": 0})
    history.snapshot("searched", {"knowledge": ["ML"], "confidence": 0.7, "steps": 1})

    assert {
        "knowledge": {"added": ["ML"]},
        "confidence": {"from": 0.0, "to": 0.7},
        "steps": {"from": 0, "to": 1},
    } == history.get_changes("start", "searched")
    [step] = history.get_sequence_changes()
    assert ("start", "searched", 3) == (step["from"], step["to"], len(step["changes"]))


def test_both_forms_of_one_diff():
    """A `Diff` is also flat, and a JSON Patch."""
    history = StateDiff()
    history.snapshot("a", {"x": 1})
    history.snapshot("b", {"x": 2})
    found = history.diff("a", "b")

    assert history.get_changes("a", "b") == found.flat()
    assert json_patch(history.tree("a"), history.tree("b")) == found.json_patch()
    assert found.changes == argentum.diff({"x": 1}, {"x": 2}).changes
    assert found.changes == argentum.diff(freeze({"x": 1}), freeze({"x": 2})).changes


def test_a_label_finds_its_last_snapshot():
    """A label that is used again finds the later state; the steps between keep both."""
    history = StateDiff()
    for number in range(3):
        history.snapshot("same", {"n": number})

    assert {"n": 2} == history.restore("same")
    assert 2 == len(history.get_sequence_changes())
    assert 3 == len(history)


def test_old_snapshots_are_forgotten():
    """With a bound, the oldest go first, and may be looked up elsewhere."""
    looked_up = []

    def look_up(label):
        looked_up.append(label)
        return freeze("found") if label == "0" else None

    history = StateDiff(max_snapshots=2, look_up=look_up)
    for number in range(4):
        history.snapshot(str(number), number)

    assert ["2", "3"] == history.labels
    assert "found" == history.restore("0")
    with pytest.raises(NotFoundError):
        history.restore("1")
    assert ["0", "1"] == looked_up


def test_forgetting_keeps_a_label_that_was_used_again():
    """Forgetting the first of two snapshots of one label keeps the second."""
    history = StateDiff(max_snapshots=2)
    for number in range(3):
        history.snapshot("same" if number != 1 else "other", number)

    assert 2 == history.restore("same")


@pytest.mark.parametrize("label", ["strat", 5, None, []])
def test_unknown_labels(label):
    """A label that is not there is a `KeyError` that names the nearest."""
    history = StateDiff()
    history.snapshot("start", {})

    with pytest.raises(KeyError, match="start"):
        history.restore(label)


@pytest.mark.parametrize("count", [0, -1])
def test_a_bound_below_one(count):
    """A history of no snapshots is refused."""
    with pytest.raises(InputError, match="max_snapshots"):
        StateDiff(max_snapshots=count)


def test_errors_are_raised_or_handed_over():
    """A snapshot that cannot be taken raises, or is given to `on_error`."""
    errors: list[Exception] = []
    no_label: Any = 5
    StateDiff(on_error=errors.append).snapshot(no_label, {})

    with pytest.raises(InputError, match="label 5 is a int"):
        StateDiff().snapshot(no_label, {})
    assert ["InputError"] == [type(error).__name__ for error in errors]


def test_taken_snapshots_are_handed_over():
    """`on_snapshot` gets each snapshot with its label, tree and time, and the live state."""
    taken: list[Snapshot] = []
    live: list[object] = []

    def hand_over(snapshot: Snapshot, state: object) -> None:
        taken.append(snapshot)
        live.append(state)

    history = StateDiff(on_snapshot=hand_over)
    history.snapshot("a", 1)
    history.snapshot("b", 2)

    assert [("a", 1), ("b", 2)] == [(one.label, one.tree.thaw()) for one in taken]
    assert taken[0].at_ns <= taken[1].at_ns
    assert live == [1, 2]


def test_snapshots_from_many_threads():
    """Snapshots from several threads are all kept."""
    history = StateDiff()

    def record(name: int) -> None:
        for number in range(50):
            history.snapshot(f"{name}.{number}", {"n": number, "by": name})

    threads = [threading.Thread(target=record, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 200 == len(history) == len(set(history.labels))
    assert {"n": 49, "by": 3} == history.restore("3.49")


def test_repr_names_the_labels():
    """A history shows how many snapshots it has, and their labels."""
    history = StateDiff()
    history.snapshot("a", 1)

    assert "<StateDiff of 1 snapshots: ['a']>" == repr(history)
