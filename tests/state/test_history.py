"""Each value that a path had, and since when."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.histories import found_in, frozen, paths_into, reloaded, states
from tests.tree.values import Point, entries_up_to, sizes

from argentum.errors import InputError, NotFoundError
from argentum.state import StateDiff
from argentum.state.history import history
from argentum.tree import diff
from argentum.tree.encoding import pack


def seen(values):
    """Make a history comparable: since and until by number, and the value's exact bytes."""
    return [
        (one.since.seq, one.until and one.until.seq, one.present and pack(one.thaw(live=False)))
        for one in values
    ]


def naive(snapshots, path):
    """Thaw every state and compare each with the one before."""
    rows = []
    last = None
    for number, snapshot in enumerate(snapshots):
        found = found_in(snapshot.tree, path)
        changed = (last is None) != (found is None) or (found is not None and diff(last, found))
        if number == 0 or changed:
            if rows:
                rows[-1][1] = snapshot.seq
            rows.append([snapshot.seq, None, found is not None and pack(found.thaw(live=False))])
        last = found
    return list(map(tuple, rows))


@given(st.data(), states(), sizes)
def test_history_agrees_with_thawing_every_state(data, taken, size):
    """In memory and from a store, a history is what a scan of whole states finds."""
    path = data.draw(paths_into(taken))
    with entries_up_to(size):
        kept = frozen(taken)
        expected = naive(kept, path)
        for snapshots in (kept, reloaded(kept)):
            if any(present is not False for *_, present in expected):
                assert expected == seen(history(snapshots, path))
            else:
                with pytest.raises(NotFoundError):
                    history(snapshots, path)


def values_of(taken, path):
    """Give a history in short: where each value begins, and the value."""
    return [
        (one.since.label, one.thaw() if one.present else None)
        for one in history(frozen(taken), path)
    ]


def test_each_value_in_turn():
    """A value that comes back is there twice, and where there is nothing is a stretch too."""
    taken = [{"a": 1}, {"a": 1}, {"a": 2}, {}, {}, {"a": 1}]

    values = history(frozen(taken), "a")

    assert [("s1", "s3"), ("s3", "s4"), ("s4", "s6"), ("s6", None)] == [
        (one.since.label, one.until and one.until.label) for one in values
    ]
    assert [True, True, False, True] == [one.present for one in values]
    assert [1, 2, 1] == [one.thaw() for one in values if one.present]


@pytest.mark.parametrize(
    "taken,path,expected",
    [
        ([{"a": 1}, {"a": 1.0}, {"a": True}], "a", [("s1", 1), ("s2", 1.0), ("s3", True)]),
        ([{"a": 0.0}, {"a": -0.0}], "a", [("s1", 0.0)]),
        ([{"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}], "a", [("s1", {"x": 1, "y": 2})]),
        ([{"a": None}, {}], "a", [("s1", None), ("s2", None)]),
        ([[1, 2], [0, 1, 2]], "[0]", [("s1", 1), ("s2", 0)]),
        ([[1, 2], [0, 1, 2]], "[-1]", [("s1", 2)]),
        ([{"a": 1}, {"a": 2}], "", [("s1", {"a": 1}), ("s2", {"a": 2})]),
        ([{"p": Point(1)}, {"p": Point(1, 2)}], "p.y", [("s1", 0), ("s2", 2)]),
        ([{"a": {1: "x"}}, {"a": {True: "y"}}], "a{1}", [("s1", "x"), ("s2", None)]),
    ],
)
def test_what_is_another_value(taken, path, expected):
    """Types are exact, zeros and the order of keys are nothing, and places are literal."""
    found = values_of(taken, path)

    assert expected == found
    assert list(map(type, expected[-1])) == list(map(type, found[-1]))


def test_nan_stays_nan():
    """NaN does not change into itself."""
    [(label, value)] = values_of([{"a": math.nan}, {"a": float("-nan")}], "a")

    assert "s1" == label
    assert math.isnan(value)


@pytest.mark.parametrize(
    "path,hint",
    [
        ("confidense", "Did you mean 'confidence'"),
        ("plan.stp", "Did you mean 'plan.step'"),
        ("goals[5]", r"Did you mean 'goals\[[01]\]'"),
        ("confidence.x", "No value in any of 3 snapshots at 'confidence.x'"),
    ],
)
def test_a_path_that_is_nowhere(path, hint):
    """The error names paths that are near in any of the snapshots, not in the last alone."""
    taken = [{"plan": {"step": 1}, "confidence": 0.5}, {"goals": [1, 2]}, {"confidence": 0.5}]

    with pytest.raises(NotFoundError, match=hint):
        history(frozen(taken), path)


def test_a_path_of_very_many_steps_is_nowhere():
    """However long a path is, the error comes, and names what is near where it ends."""
    with pytest.raises(NotFoundError, match=r"'a\[0\]\[0\]\[0\]'"):
        history(frozen([{"a": [[["x"]]]}]), "a[0][0]" + "[5]" * 3000)


def test_no_snapshots():
    """With no snapshot at all the error says so."""
    with pytest.raises(NotFoundError, match="no snapshots"):
        history([], "a")


def test_several_agents_are_refused():
    """The states of two agents do not follow from each other."""
    one, two = frozen([{"a": 1}, {"a": 2}])

    with pytest.raises(InputError, match="2 agents: 'a', 'b'"):
        history([one, two._replace(agent="b")], "a")


def test_nothing_cannot_be_thawed():
    """To ask for the value where there is none is an error that names the snapshot."""
    nothing = history(frozen([{"a": 1}, {}]), "a")[1]

    with pytest.raises(NotFoundError, match="nothing at the path since snapshot 's2'"):
        nothing.thaw()


def test_history_of_a_session():
    """`StateDiff.history` looks through its own snapshots."""
    kept = StateDiff()
    kept.snapshot("one", {"a": 1})
    kept.snapshot("two", {"a": 2})

    assert [("one", 1), ("two", 2)] == [(v.since.label, v.thaw()) for v in kept.history("a")]
