"""Changes as one flat dict."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.tree.values import Bag, Pair, Plain, Point, edits, entries_up_to, sizes

from argentum.state import flat_changes
from argentum.tree import Record, diff, freeze


def flat(before: object, after: object) -> dict:
    """Give the flat changes between two live values."""
    return flat_changes(freeze(before), freeze(after))


@given(edits, sizes)
def test_every_change_is_in_a_row(states, size):
    """No two states make it raise, it is empty only if nothing changed, and no row is empty."""
    with entries_up_to(size):
        old, new = map(freeze, states)
        rows = flat_changes(old, new)
        changes = diff(old, new)

    assert bool(changes) == bool(rows)
    assert all(
        row and (set(row) <= {"added", "removed", "moved"} or set(row) == {"from", "to"})
        for row in rows.values()
    )


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": {"from": 1, "to": 2}}),
        ({}, {"a": {"b": 1}}, {"a": {"added": {"b": 1}}}),
        ({"a": None}, {}, {"a": {"removed": None}}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, {"a.b.c": {"from": 1, "to": 2}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": {"added": [2]}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": {"removed": [2]}}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a": {"added": [3], "removed": [2]}}),
        ({"a": [1, 2]}, {"a": [3, 4]}, {"a": {"from": [1, 2], "to": [3, 4]}}),
        ({"a": []}, {"a": [1]}, {"a": {"added": [1]}}),
        ({"a": [1, 2, 3]}, {"a": [3, 1, 2]}, {"a": {"moved": [3]}}),
        ({"a": ["x", "x"]}, {"a": ["x"]}, {"a": {"removed": ["x"]}}),
        ({"a": {1, 2}}, {"a": {2, 3}}, {"a": {"added": [3], "removed": [1]}}),
        ({"a": [{"x": 1, "y": 1}]}, {"a": [{"x": 1, "y": 2}]}, {"a[0].y": {"from": 1, "to": 2}}),
        ([1], [1, 2], {"": {"added": [2]}}),
        (1, "1", {"": {"from": 1, "to": "1"}}),
        (Pair(1, 2), Pair(1, 3), {"": {"added": [3], "removed": [2]}}),
        ({"p": Pair(1, 2)}, {"p": Pair(3, 4)}, {"p": {"from": Pair(1, 2), "to": Pair(3, 4)}}),
        ({"p": Point(1)}, {"p": Point(2)}, {"p.x": {"from": 1, "to": 2}}),
        ({"p": Plain(a=[1])}, {"p": Plain(a=[2])}, {"p.a": {"from": [1], "to": [2]}}),
        ({"b": Bag(a=1)}, {"b": Bag(a=1, c=2)}, {"b.c": {"added": 2}}),
    ],
)
def test_rows(before, after, expected):
    """Dicts and objects are flattened; a list has one row for what happened to its items."""
    assert expected == flat(before, after)


def test_members_of_sets_are_told_apart_by_type():
    """`1` and `True` are different members."""
    assert {"": {"added": [True], "removed": [1]}} == flat({1}, {True})
    assert bool is type(flat({1}, {True})[""]["added"][0])


def test_rows_come_in_the_order_of_the_state_after():
    """A list's row stands where the list does."""
    rows = flat({"a": 1, "b": [1], "c": 1}, {"a": 2, "b": [1, 2], "c": 2})

    assert ["a", "b", "c"] == list(rows)


def test_a_class_that_became_a_subclass_is_one_row():
    """A state whose class came to be one of a built-in type has one row for the whole."""
    before, after = Record("a:One", {"x": 1}), Record("a:One", {"": {}, "x": 1})

    assert {"": {"from": before, "to": after}} == flat(before, after)
