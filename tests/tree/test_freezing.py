"""Freezing large, deep, cyclic and restless states."""

from __future__ import annotations

import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import entries_up_to, exactly_equal

from argentum.errors import InputError
from argentum.tree import Cycle, Opaque, diff, freeze
from argentum.tree.encoding import pack
from argentum.tree.nodes import Branch, pages_of


def thawed(value: object) -> Any:
    """Freeze and thaw."""
    return freeze(value).thaw()


@pytest.mark.parametrize(
    "value",
    [
        list(range(200_000)),
        {f"key {at}": at for at in range(50_000)},
        {at: str(at) for at in range(20_000)},
        tuple(range(20_000)),
        set(range(20_000)),
        frozenset(map(str, range(20_000))),
        deque(range(20_000), 30_000),
        [b"\xc4" * 3000, bytearray(b"\xc5" * 3000), *(b"%d" % at for at in range(5_000))],
        ["\u0105" * 40_000, b"x" * 200_000, bytearray(b"y" * 200_000)],
        [2**70] * 5_000,
        [{"content": ["\ud800", (1, {2})]}] * 2_000,
        "x" * 1_000_000,
        b"x" * 1_000_000,
    ],
    ids=lambda value: f"{type(value).__name__} of {len(value)}",
)
def test_large_values(value):
    """Large values of every kind come back as they were, and equal themselves."""
    tree = freeze(value)

    assert exactly_equal(value, tree.thaw())
    assert tree is freeze(value, tree)
    assert [] == diff(tree, freeze(value))


def test_a_list_100_000_levels_deep():
    """What nests beyond the bound is marked there, and the rest is kept."""
    value: list = []
    for _ in range(100_000):
        value = [value]
    depth, inner = 0, thawed(value)
    while type(inner) is list:
        [inner] = inner
        depth += 1

    assert 1000 == depth
    assert Opaque("list", "nested too deep to be kept") == inner


def test_large_and_deep():
    """Branches in branches stop at a bound of their own, without loss."""
    value: dict = {"innermost": 1}
    for at in range(200):
        value = {"padding": "x" * 5_000, "next": value, "at": at}

    assert pack(value) == pack(thawed(value))


@pytest.mark.parametrize("padding", [0, 10_000])
def test_cycles(padding):
    """A container in itself is a reference up, in small states and in large ones."""
    ring: dict = {"padding": "x" * padding, "list": [1]}
    ring["self"] = ring
    ring["list"].append(ring)
    ring["list"].append(ring["list"])
    tree = freeze(ring)

    assert Cycle(1) == tree.get("self")
    assert [1, Cycle(2), Cycle(1)] == tree.get("list")
    assert [] == diff(tree, freeze(ring))
    assert tree is freeze(ring, tree)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 30))
def test_a_sliding_window_shares_its_pages(items, gone):
    """Dropping items at the front leaves the pages of the rest as they were."""
    texts = [f"item {at} {item}" for at, item in enumerate(items * 10)]
    with entries_up_to(16):
        old = freeze(texts)
        new = freeze(texts[gone:], old)
        shared = set(map(id, _pages(old.root))) & set(map(id, _pages(new.root)))

        assert texts[gone:] == new.thaw()
        assert len(shared) >= len(_pages(old.root)) - gone - 2


def _pages(root: object) -> list:
    return pages_of(root) if type(root) is Branch else []


def test_one_more_item_shares_all_pages_but_one():
    """Appending to a list of 10,000 makes one page anew."""
    items = [f"item {at}" for at in range(10_000)]
    old = freeze(items)
    new = freeze([*items, "one more"], old)
    shared = set(map(id, _pages(old.root))) & set(map(id, _pages(new.root)))

    assert len(_pages(new.root)) - 2 <= len(shared)


def test_unchanged_parts_are_the_same_objects():
    """A change in one message leaves the other large parts shared."""
    state: dict[str, Any] = {"a": ["x" * 100] * 1000, "b": {"c": ["y" * 100] * 1000}}
    old = freeze(state)
    state["a"][500] = "changed"
    new = freeze(state, old)
    [before], [after] = ([page.entries for page in _pages(one.root)] for one in (old, new))

    assert before[0] is not after[0]
    assert before[1] is after[1]


def restless(change) -> threading.Event:
    """Change something in another thread until the event is set."""
    stop = threading.Event()

    def run() -> None:
        turn = 0
        while not stop.is_set():
            change(turn)
            turn += 1

    threading.Thread(target=run, daemon=True).start()
    return stop


@pytest.fixture
def quick_switches():
    """Make threads take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("padding", [0, 10_000], ids=["small", "large"])
def test_other_threads_change_the_state(quick_switches, padding):
    """Keys and values stay together however another thread changes the dict meanwhile."""
    state = {"padding": "x" * padding, **{f"k{at}": f"k{at}" for at in range(200)}}

    def change(turn: int) -> None:
        state.pop(f"k{turn}", None)
        state[f"k{turn + 200}"] = f"k{turn + 200}"

    stop = restless(change)
    tree, seen = None, set()
    try:
        for _ in range(500):
            tree = freeze(state, tree)
            value = tree.thaw()
            value.pop("padding")
            seen.add(tuple(value)[:1])

            assert list(value) == list(value.values())
    finally:
        stop.set()
    assert len(seen) > 1


def test_other_threads_change_objects_and_sets(quick_switches):
    """Objects, sets, deques and ordered containers may change while they are read."""
    state: dict[str, Any] = {"set": set(range(50)), "deque": deque(range(50)), "inner": {(1,): [1]}}

    def change(turn: int) -> None:
        state["set"].symmetric_difference_update({turn % 100})
        state["deque"].append(turn)
        if len(state["deque"]) > 100:
            state["deque"].clear()
        state["inner"][(turn % 50,)] = [turn]

    stop = restless(change)
    kept = 0
    try:
        for _ in range(300):
            try:
                value = freeze(state).thaw()
            except InputError as error:
                assert "another thread" in str(error)
            else:
                kept += 1
                assert [set, deque, dict] == list(map(type, value.values()))
    finally:
        stop.set()
    assert kept > 0


@given(
    st.dictionaries(st.text(max_size=3), st.text(max_size=40), min_size=2, max_size=40), st.data()
)
def test_dicts_with_the_same_keys_share_what_is_equal(state, data):
    """A value that changed under the same keys is found, whatever page it lies in."""
    with entries_up_to(16):
        old = freeze(state)
        key = data.draw(st.sampled_from(list(state)))
        changed = {**state, key: "changed " * 3}
        new = freeze(changed, old)

        assert changed == new.thaw()
        assert [key] == [one.path.parts[0] for one in diff(old, new)]
        assert pack(changed) == pack(new.thaw())


@dataclass(eq=False)
class Colleague:
    name: str
    peers: list = field(default_factory=list)


def test_objects_that_know_each_other_are_walked_once():
    """Agents that refer to one another cost what there is of them, not every way between them."""
    team = [Colleague(f"agent {number}") for number in range(12)]
    for one in team:
        one.peers = [other for other in team if other is not one]
    tree = freeze(team)

    assert ["agent 0", "agent 11"] == [tree.get("[0].name"), tree.get("[11].name")]
    assert tree.size_bytes < 200_000


def test_foreign_extension_values_are_marked():
    """An `ormsgpack.Ext` in a state is not taken for one of ours."""
    tree = freeze({"x": ormsgpack.Ext(2, b"\x90"), "y": 1})

    assert "ormsgpack:Ext" == tree.get("x").type_name
