"""One path through many trees: the same as `Tree.get` in each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.histories import found_in, frozen, paths_into, reloaded, states
from tests.tree.values import Bag, Plain, entries_up_to, sizes

from argentum.errors import InputError
from argentum.tree import Loader, freeze, load
from argentum.tree.encoding import pack
from argentum.tree.following import Follower


def packed(tree):
    """Make what was found comparable by exact types."""
    return None if tree is None else pack(tree.thaw(live=False))


@given(st.data(), states(), sizes)
def test_it_finds_what_get_finds(data, taken, size):
    """In memory and from a store, a follower agrees with `Tree.get` in every tree."""
    path = data.draw(paths_into(taken))
    with entries_up_to(size):
        kept = frozen(taken)
        expected = [packed(found_in(one.tree, path)) for one in kept]
        for snapshots in (kept, reloaded(kept), [*kept, *reversed(kept)][: len(kept)]):
            follower = Follower(path)
            assert expected == [packed(follower.at(one.tree)) for one in snapshots]


@pytest.mark.parametrize(
    "path,expected",
    [
        ("plain.more[0]", 5),
        ("plain.nothing", None),
        ('bag[""]', 6),
        ("bag.inner[-2]", 1),
        ("bag.inner[2]", None),
        ("bag.nothing", None),
        ("pairs{3}", "three"),
        ("pairs[3]", "three"),
        ("pairs{4}", None),
        ("tuple[-1]", 2),
        ("tuple.x", None),
        ("set[0]", None),
        ("array[1]", 2),
        ("point[0]", None),
    ],
)
@pytest.mark.parametrize("size", [16, 4096])
def test_every_kind_of_container(size, path, expected):
    """A path leads into objects, subclasses, pairs, tuples and arrays, and into nothing else."""
    state = {
        "plain": Plain(name="n" * 40, more=[5]),
        "bag": Bag({"inner": [1, "y" * 40], "": 6}),
        "pairs": {3: "three", "x": "x" * 40},
        "tuple": ("z" * 40, 2),
        "set": {1, "s" * 40},
        "array": np.array([1, 2]),
        "point": np.array(3),
    }
    with entries_up_to(size):
        tree = freeze(state)
        found = Follower(path).at(tree)

        assert packed(found_in(tree, path)) == packed(found)
        assert expected == (None if found is None else found.thaw())


def test_a_key_is_found_wherever_its_page_is():
    """In a large dict a key that comes, stays while others come and go, and leaves is followed."""
    state: dict[str, int] = {f"k{n}": n for n in range(3000)}
    trees = [freeze(state)]
    for change in ({"new": 1}, {"k1": -1}, {f"z{n}": n for n in range(2000)}, {"new": 2}):
        state = {**state, **change}
        trees.append(freeze(state, trees[-1]))
    del state["new"]
    trees.append(freeze(state, trees[-1]))
    follower = Follower("new")

    found = [follower.at(tree) for tree in trees]
    assert [None, 1, 1, 1, 2, None] == [one and one.thaw() for one in found]
    assert found[1] is found[2]


def test_only_what_is_new_is_read():
    """What a second stored state shares on the way to the path is not read again."""
    messages = [{"n": n, "text": "x" * 200} for n in range(3000)]
    one = freeze({"messages": messages, "step": 1})
    two = freeze({"messages": [*messages, {"n": 3000, "text": "y" * 200}], "step": 2}, one)
    kept = dict([*one.chunks(()), *two.chunks(())])
    asked: list[int] = []

    def fetch(digests):
        asked.append(len(digests))
        return {digest: kept[digest] for digest in digests}

    loader = Loader(fetch)
    first, second = load(one.reference(), loader), load(two.reference(), loader)
    follower = Follower("messages[7].n")
    assert 7 == follower.at(first).thaw()
    before = sum(asked)
    assert follower.at(first) is follower.at(second)

    assert before < 100
    assert sum(asked) - before <= 3


def test_a_text_that_is_no_path():
    """What cannot be read as a path is refused at once."""
    with pytest.raises(InputError, match="not a path"):
        Follower("a..b")
