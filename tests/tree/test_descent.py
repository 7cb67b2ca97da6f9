"""One path down many trees at once: the same as `Tree.get` in each, with little read."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.histories import found_in, frozen, paths_into, reloaded, states
from tests.tree.values import entries_up_to, sizes

from argentum.errors import FormatError
from argentum.tree import Loader, freeze, load
from argentum.tree.descent import AT_FIRST, follow
from argentum.tree.encoding import pack


def packed(tree):
    """Make what was found comparable by exact types."""
    return None if tree is None else pack(tree.thaw(live=False))


class Kept:
    """Trees in a store that counts what it is asked for."""

    def __init__(self, trees):
        self.chunks = dict(chunk for tree in trees for chunk in tree.chunks(()))
        self.asked: list[list[bytes]] = []
        loader = Loader(self.fetch)
        self.trees = [load(tree.reference(), loader) for tree in trees]

    def fetch(self, digests):
        """Give chunks."""
        self.asked.append(list(digests))
        return {digest: self.chunks[digest] for digest in digests}


@given(st.data(), states(), sizes)
def test_it_finds_what_get_finds(data, taken, size):
    """In memory and from a store, in any order, it agrees with `Tree.get` in every tree."""
    path = data.draw(paths_into(taken))
    with entries_up_to(size):
        kept = frozen(taken)
        for snapshots in (kept, reloaded(kept), [*kept, *reversed(reloaded(kept))]):
            trees = [one.tree for one in snapshots]
            expected = [packed(found_in(tree, path)) for tree in trees]
            assert expected == [packed(found) for found in follow(path, trees)]


def test_the_same_contents_are_told_apart_by_what_holds_them():
    """A list, a tuple and a set of the same items have one page in common, and not one answer."""
    items = [f"item {number} {'x' * 100}" for number in range(100)]
    with entries_up_to(64):
        trees = [freeze({"a": kind(items)}) for kind in (list, tuple)]
        trees.append(freeze({"a": dict(zip(items, items, strict=True))}))

    found = [packed(one) for one in follow("a[3]", Kept(trees).trees)]
    assert [pack(items[3]), pack(items[3]), None] == found


def test_many_trees_are_read_in_few_questions():
    """The tops of many stored trees are read together, and trees in memory lie between them."""
    trees = [freeze({"step": step, "rest": ["x" * 100] * 200}) for step in range(300)]
    kept = dict(chunk for tree in trees for chunk in tree.chunks(()))
    asked: list[int] = []

    def fetch(digests):
        asked.append(len(digests))
        return {digest: kept[digest] for digest in digests}

    loader = Loader(fetch)
    stored = [load(tree.reference(), loader) for tree in trees]
    mixed = [stored[at] if at % 3 else trees[at] for at in range(300)]

    assert list(range(300)) == [found.thaw() for found in follow("step", mixed)]
    assert len(asked) <= 4


def test_of_a_page_that_changes_only_one_entry_is_read():
    """Of 40 entries that all differ in each of 40 trees, those on the way are read."""
    rng = random.Random(1)
    trees = [
        freeze({"list": [f"{rng.random()} {'x' * 200}" for _ in range(40)]}) for _ in range(40)
    ]
    store = Kept(trees)
    with entries_up_to(64):
        expected = [tree.get("list[7]") for tree in trees]

    assert expected == [found.thaw() for found in follow("list[7]", store.trees)]
    assert sum(map(len, store.asked)) <= 3 * len(trees) + 40


def test_what_was_on_the_way_is_not_read_again():
    """A second question about the same trees asks the store for what is new to it."""
    state = {"messages": [f"message {number} {'x' * 200}" for number in range(3000)], "n": 0}
    trees = [freeze(state)]
    for number in range(60):
        state = {"messages": [*state["messages"], f"more {number} {'y' * 200}"], "n": number}
        trees.append(freeze(state, trees[-1]))
    store = Kept(trees)
    list(follow("messages[7]", store.trees))
    read = sum(map(len, store.asked))
    list(follow("messages[7]", store.trees))
    again = sum(map(len, store.asked)) - read
    whole = [tree.thaw() for tree in store.trees]

    assert 0 == again
    assert [tree.thaw() for tree in trees] == whole


def test_who_stops_early_reads_little():
    """The first few trees are followed by themselves."""
    trees = [freeze({"step": step, "rest": ["x" * 100] * 200}) for step in range(300)]
    store = Kept(trees)

    assert 0 == next(follow("step", store.trees)).thaw()
    assert sum(map(len, store.asked)) <= AT_FIRST


def test_a_part_that_was_altered_is_found():
    """A chunk that does not have its digest is refused, however it is read."""
    tree = freeze({"list": [f"{number} {'x' * 200}" for number in range(3000)], "step": 1})
    store = Kept([tree])
    list(follow("list[7]", store.trees))
    on_the_way = [digest for some in store.asked for digest in some]
    assert len(on_the_way) > 3
    for digest in on_the_way:
        store = Kept([tree])
        store.chunks[digest] = store.chunks[digest][:-1] + b"!"
        with pytest.raises(FormatError, match="altered"):
            list(follow("list[7]", store.trees))
