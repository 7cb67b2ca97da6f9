"""Doing changes again, and undoing them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import Bag, Pinned, Text, edits, entries_up_to, exactly_equal, sizes

from argentum.errors import InputError, LimitError
from argentum.tree import apply, diff, freeze, invert


@given(edits, sizes)
def test_apply_leads_to_the_state_after(states, size):
    """`apply(diff(a, b), a)` is b, and `apply(invert(diff(a, b)), b)` is a."""
    with entries_up_to(size):
        old = freeze(states[0])
        new = freeze(states[1], old)
        changes = diff(old, new)
        forth, back = apply(changes, old), apply(invert(changes), new)

    assert [] == diff(new, forth)
    assert [] == diff(old, back)
    assert exactly_equal(states[1], forth.thaw(), zeros=True, order=False)
    assert exactly_equal(states[0], back.thaw(), zeros=True, order=False)


bags = st.builds(
    lambda members, attributes: (members, attributes),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 1) | st.just([1]), max_size=3),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 1), max_size=2),
)


@given(bags, bags, sizes)
def test_attributes_and_members_of_one_name(one, other, size):
    """In a dict subclass a key and an attribute of one name stay two things."""
    with entries_up_to(size):
        old, new = freeze(bag(*one)), freeze(bag(*other))
        changes = diff(old, new)
        forth, back = apply(changes, old), apply(invert(changes), new)

    assert [] == diff(new, forth)
    assert [] == diff(old, back)
    assert exactly_equal(bag(*other), forth.thaw(), order=False)


def bag(members, attributes):
    """Make a dict with attributes."""
    made = Bag(members)
    vars(made).update(attributes)
    return made


@given(st.lists(st.integers(0, 9), max_size=12), st.sets(st.integers(0, 11)))
def test_any_removals_are_undone_in_place(items, dropped):
    """Items that were removed come back at their places."""
    after = [item for at, item in enumerate(items) if at not in dropped]
    old, new = freeze(items), freeze(after)

    assert items == apply(invert(diff(old, new)), new).thaw()


def test_no_changes_give_the_tree_itself():
    """Nothing to do gives the very tree."""
    tree = freeze({"a": 1})

    assert tree is apply([], tree)


def test_a_change_of_the_whole_keeps_its_class():
    """The state itself may be of a subclass."""
    old, new = freeze(Text("a")), freeze(Text("b"))
    done = apply(diff(old, new), old).thaw()

    assert (Text, "b") == (type(done), done)


def test_frozen_objects_are_made_anew():
    """A frozen dataclass with slots is changed although its instances cannot be."""
    old, new = freeze([Pinned("a", 1)]), freeze([Pinned("a", 2)])

    assert [Pinned("a", 2)] == apply(diff(old, new), old).thaw()


@pytest.mark.parametrize(
    "before, after, other",
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {}),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, {"a": 5}),
        ({"a": [1, [2]]}, {"a": [1, [3, 2]]}, {"a": []}),
        ([1, 2, 3], [1, 2, 4], 5),
    ],
)
def test_changes_that_do_not_fit(before, after, other):
    """Changes on another state are an `InputError` that names the place."""
    changes = diff(freeze(before), freeze(after))

    with pytest.raises(InputError, match="do not fit this state: there is nothing to change at"):
        apply(changes, freeze(other))


def test_changes_too_deep_for_the_thread():
    """A change that lies deeper than this thread may recurse is a `LimitError`."""

    def nested(leaf: int) -> dict:
        value: dict = {"leaf": leaf}
        for _ in range(950):
            value = {"next": value}
        return value

    old = freeze(nested(1))
    changes = diff(old, freeze(nested(2)))

    with pytest.raises(LimitError, match="deeper than this thread"):
        apply(changes, old)
