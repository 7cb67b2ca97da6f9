"""Laws of changes: done again they lead to the state after, undone to the state before."""

from __future__ import annotations

import math
import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import (
    Bag,
    Pair,
    Plain,
    Point,
    Text,
    edited,
    edits,
    entries_up_to,
    exactly_equal,
    messages,
    sizes,
    values,
)

from argentum.tree import Record, apply, diff, freeze, invert
from argentum.tree.encoding import pack


def told(before: object, after: object) -> list[tuple]:
    """List the changes as (path, kind, before, after)."""
    changes = diff(freeze(before), freeze(after))
    return [(one.path, one.kind, one.before, one.after) for one in changes]


@given(values, sizes)
def test_nothing_changes_by_itself(value, size):
    """`diff(a, a)` is empty, for the tree itself and for one that was made anew."""
    with entries_up_to(size):
        tree, again = freeze(value), freeze(value)

    assert [] == diff(tree, tree)
    assert [] == diff(tree, again)


@given(edits, sizes)
def test_no_change_means_equal(states, size):
    """`diff` is empty exactly when the states are equal by exact types, but for -0.0 and order."""
    with entries_up_to(size):
        changes = diff(freeze(states[0]), freeze(states[1]))

    if exactly_equal(*states):
        assert [] == changes
    if not changes:
        assert exactly_equal(*states, zeros=True, order=False)


@given(edits)
def test_changes_tell_the_truth(states):
    """`before` and `after` are the values at `source` and `path` in the two states."""
    old, new = map(freeze, states)
    for change in diff(old, new):
        if change.kind != "added":
            assert pack(old.get(change.source)) == pack(change.before)
        if change.kind != "removed":
            assert pack(new.get(change.path)) == pack(change.after)


@given(edits)
def test_inverting_twice_changes_nothing(states):
    """The inverse of the inverse is the change itself."""
    changes = diff(*map(freeze, states))

    assert list(map(repr, changes)) == list(map(repr, invert(invert(changes))))


@given(st.permutations(range(12)))
def test_reordered_items_are_moves_only(order):
    """The same items in another order are moves, as few as leave the longest run in place."""
    changes = told([f"item {at}" for at in range(12)], [f"item {at}" for at in order])

    assert {"moved"} >= {kind for _, kind, *_ in changes}
    assert 12 - _longest_run(order) == len(changes)


def _longest_run(order: list[int]) -> int:
    best: list[int] = []
    for at, number in enumerate(order):
        best.append(1 + max((best[i] for i in range(at) if order[i] < number), default=0))
    return max(best)


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_duplicates_are_counted(before, after):
    """As many equal items come and go as the counts say."""
    changes = diff(freeze(before), freeze(after))
    gone = Counter(one.before for one in changes if one.kind in ("removed", "changed"))
    come = Counter(one.after for one in changes if one.kind in ("added", "changed"))

    assert Counter(after) - Counter(before) == come - gone
    assert Counter(before) - Counter(after) == gone - come


@given(edited(messages))
def test_diff_of_messages_is_no_longer_than_both_lists(states):
    """Aligned items are never reported twice."""
    changes = diff(*map(freeze, states))
    whole = [one for one in changes if len(one.path.parts) == 1]

    assert len(whole) <= sum(map(len, states))


def test_change_inside_an_item_is_told_at_the_leaf():
    """A message that changed is no message dropped and another one added."""
    before = [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
    after = [{"id": 0, "text": "new"}, {"id": 1, "text": "a"}, {"id": 2, "text": "B"}]

    assert [
        ("[0]", "added", None, {"id": 0, "text": "new"}),
        ("[2].text", "changed", "b", "B"),
    ] == told(before, after)


def test_changes_come_in_the_order_of_the_state_after():
    """Keys are told in their order, and those that went last."""
    assert [
        ("c", "added", None, 3),
        ("b", "changed", 2, 0),
        ("a", "removed", 1, None),
    ] == told({"a": 1, "b": 2}, {"c": 3, "b": 0})


@pytest.mark.parametrize(
    "before, after",
    [
        (Text("a"), Text("b")),
        (Bag(x=1), Bag(x=2)),
        (Pair(1, 2), Pair(1, 3)),
        (Point(1), Point(2)),
        (Plain(x=1), Plain(x=1, y=2)),
    ],
    ids=["str", "dict", "named tuple", "dataclass", "plain"],
)
def test_the_class_stays(before, after):
    """A change inside an object never turns it into another type when it is done again."""
    old, new = freeze([before]), freeze([after])
    done = apply(diff(old, new), old)

    assert type(new.thaw()[0]) is type(done.thaw()[0])
    assert pack([after]) == pack(done.thaw())


def test_class_and_value_are_told_apart():
    """Another class is a change although the fields are equal."""
    changes = told(Record("a:One", {"x": 1}), Record("a:Two", {"x": 1}))

    assert [("", "changed", Record("a:One", {"x": 1}), Record("a:Two", {"x": 1}))] == changes


@pytest.mark.parametrize("size", [16, 4096])
def test_a_class_that_became_a_subclass(size):
    """A class that came to be one of a built-in type is one change of the whole object."""
    before, after = Record("a:One", {"x": "y" * 40}), Record("a:One", {"": {}, "x": "y" * 40})
    with entries_up_to(size):
        [change] = diff(freeze(before), freeze(after))

    assert ("", "changed") == (change.path, change.kind)
    assert (before, after) == (change.before, change.after)


def test_changes_are_new_values():
    """Changing a value that a change holds changes no tree."""
    old, new = freeze({"a": [1]}), freeze({"a": {"b": [2]}})
    [change] = diff(old, new)
    change.before.append(3)
    change.after["b"].append(4)

    assert {"a": [1]} == old.thaw()
    assert {"a": {"b": [2]}} == new.thaw()


OTHER_NAN = struct.unpack(">d", bytes.fromhex("7ffe002c63625cad"))[0]
"""A NaN with another payload than `math.nan` has."""


@pytest.mark.parametrize(
    "before, after",
    [
        (Bag(a=math.nan), Bag(a=OTHER_NAN)),
        ({math.nan}, {OTHER_NAN}),
        (frozenset({(1, 0.0)}), frozenset({(1, -0.0)})),
        (complex(math.nan, 0.0), complex(OTHER_NAN, -0.0)),
    ],
)
def test_equal_values_with_other_bytes_in_containers_compared_whole(before, after):
    """A NaN's payload, a zero's sign and the order of keys are no change there either."""
    assert [] == diff(freeze(before), freeze(after))


def test_containers_compared_whole_still_differ_by_type():
    """`True`, `1` and `1.0` differ in a set, too."""
    assert 1 == len(diff(freeze({(1, 2)}), freeze({(1.0, 2)})))


ONE, OTHER = {"content": None, "role": "user"}, {"role": "user", "content": None}


@pytest.mark.parametrize(
    "before, after",
    [
        ([ONE, OTHER], [OTHER, ONE]),
        ([ONE, 1, OTHER, 2, ONE], [OTHER, 1, ONE, 2, ONE]),
        ([[ONE], [OTHER]], [[OTHER], [ONE]]),
        ([{"a": 0.0}, {"a": -0.0}], [{"a": -0.0}, {"a": 0.0}]),
        ([ONE, *range(3000), OTHER], [OTHER, *range(3000), ONE]),
    ],
)
def test_items_that_differ_in_no_change_have_not_moved(before, after):
    """Items that are equal but for the order of their keys may stand in each other's place."""
    assert [] == diff(freeze(before), freeze(after))


def test_a_real_move_among_equal_items_is_one():
    """Where others are equal but for the order of keys, what moved is still told."""
    assert [("[2]", "moved", 7, 7)] == told([7, ONE, OTHER], [OTHER, ONE, 7])
