"""An item of a large list is found where it stood, from few of the list's parts."""

from __future__ import annotations

import random

import pytest
from tests.state.histories import reloaded

from argentum.state import Snapshot
from argentum.state.lifetimes import since
from argentum.state.placing import on_the_way
from argentum.tree import Path, freeze
from argentum.tree.nodes import Page, pages_of

COUNT = 6000


def edited(rng, items, kind):
    """Make the next version of a list, whose items are all different."""
    made = list(items)
    for number in range(rng.randint(1, 4)):
        at, new = rng.randrange(len(made)), f"new {kind} {number} {rng.random()}"
        if kind in ("replace", "all"):
            made[at] = new
        if kind in ("insert", "all"):
            made.insert(rng.randrange(len(made)), new + " more")
        if kind in ("remove", "all"):
            del made[rng.randrange(len(made))]
        if kind in ("append", "all"):
            made.append(new + " last")
    return made


@pytest.mark.parametrize("kind", ["replace", "insert", "remove", "append", "all"])
def test_each_item_is_found_where_it_stood(kind):
    """In memory and from a store, whichever items came and went."""
    rng = random.Random(kind)
    old = [f"item {number}" for number in range(COUNT)]
    new = edited(rng, old, kind)
    first = freeze(old)
    kept = [Snapshot("a", first, 1, 1), Snapshot("b", freeze(new, first), 2, 2)]
    changed = [at for at, item in enumerate(new) if item.startswith("new")]
    near = [at + by for at in changed for by in (-1, 0, 1) if 0 <= at + by < len(new)]
    for snapshots in (kept, reloaded(kept)):
        for place in (0, len(new) - 1, *near, *rng.sample(range(len(new)), 20)):
            found = since(snapshots, Path(f"[{place}]"))
            item = new[place]
            expected = (1, (place,)) if item.startswith("new") else (0, (old.index(item),))
            assert expected == (found.number, found.steps), place


def test_only_the_way_is_compared():
    """Of lists of which one item differs, the parts that hold it are two pages; others are same."""
    old = [f"item {number}" for number in range(COUNT)]
    first = freeze(old)
    second = freeze([*old[:3000], "another", *old[3001:]], first)
    there = on_the_way(first.root.top, second.root.top, 3000)
    elsewhere = on_the_way(first.root.top, second.root.top, 10)

    assert len(pages_of(first.root)) > 64
    assert (Page, Page) == (type(there.old), type(there.new))
    assert there.at <= 3000 < there.at + there.new.count
    assert elsewhere.is_same
    assert on_the_way(first.root.top, second.root.top, 5999).is_same
