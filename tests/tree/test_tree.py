"""Laws of trees: exact, immutable, canonical, and the same from memory and from a store."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import (
    Bag,
    Pair,
    Plain,
    Point,
    edits,
    entries_up_to,
    exactly_equal,
    json_values,
    sizes,
    values,
)

from argentum.clock import now_ns
from argentum.errors import FormatError, InputError, LimitError, NotFoundError
from argentum.events import RunInfo
from argentum.store import open_store
from argentum.tree import Loader, Tree, diff, digest_of, freeze, load
from argentum.tree.encoding import pack


def stored(*trees: Tree) -> dict[bytes, bytes]:
    """Keep trees in a dict, as a store would."""
    kept: dict[bytes, bytes] = {}
    for tree in trees:
        for digest, payload in tree.chunks(kept):
            kept[digest] = payload
    return kept


def loader_of(kept: dict[bytes, bytes]) -> Loader:
    """Read from a dict; a digest that is not there is left out."""
    return Loader(lambda digests: {one: kept[one] for one in digests if one in kept})


def as_bytes(changes: Any) -> list[bytes]:
    """Make changes comparable by exact types."""
    return [pack([one.path, one.kind, one.before, one.after, one.source]) for one in changes]


def scramble(value: Any, rng: random.Random) -> None:
    """Change everything in a live value that can be changed in place."""
    if isinstance(value, dict):
        inner = list(value.values())
        value["changed"] = rng.random()
        value.pop(rng.choice(list(value)))
    elif isinstance(value, list):
        inner = list(value)
        value.insert(rng.randrange(len(value) + 1), object())
        value.reverse()
    elif isinstance(value, set):
        inner = []
        value.add(rng.random())
    elif isinstance(value, bytearray):
        inner = []
        value.append(7)
    elif isinstance(value, Point):
        inner = [value.x, value.y]
        value.x = rng.random()
    else:
        inner = list(value) if isinstance(value, tuple) else []
    if isinstance(value, Bag):
        vars(value)["more"] = 1
    for one in inner:
        scramble(one, rng)


@given(values, sizes)
def test_thaw_gives_the_value_back(value, size):
    """`thaw(freeze(x))` equals x by exact types, in content and in encoded bytes."""
    with entries_up_to(size):
        thawed = freeze(value).thaw()

    assert exactly_equal(value, thawed)
    assert pack(value) == pack(thawed)


@given(edits, sizes)
def test_what_came_before_leaves_no_trace(states, size):
    """Equal content has one reference, whatever tree it was frozen after."""
    before, after = states
    with entries_up_to(size):
        alone = freeze(after)
        old = freeze(before)
        following = freeze(after, old)
        kept = stored(old)
        reloaded = freeze(after, load(old.reference(), loader_of(kept)))

    assert alone.reference() == following.reference()
    assert alone.reference() == reloaded.reference()
    assert stored(alone) == stored(following) == stored(reloaded)


@given(json_values, sizes)
def test_an_equal_state_is_the_same_tree(value, size):
    """A state that was built anew but equals the last one gives the previous tree itself."""
    with entries_up_to(size):
        tree = freeze(value)
        again = freeze(tree.thaw(), tree)

    assert tree is again


@given(values, sizes, st.randoms(use_true_random=False))
def test_a_later_mutation_never_shows(value, size, rng):
    """Whatever happens to the live value after `freeze`, the tree gives what was frozen."""
    with entries_up_to(size):
        tree = freeze(value)
        encoded = pack(value)
        reference = tree.reference()
        scramble(value, rng)

    assert encoded == pack(tree.thaw())
    assert reference == tree.reference()


@given(values, sizes, st.randoms(use_true_random=False))
def test_a_thawed_value_is_new(value, size, rng):
    """Changing what `thaw` gave changes nothing that is kept."""
    with entries_up_to(size):
        tree = freeze(value)
        encoded = pack(value)
        scramble(tree.thaw(), rng)

    assert encoded == pack(tree.thaw())


@given(edits, sizes)
def test_diff_is_the_same_from_memory_and_from_chunks(states, size):
    """Two states differ alike whether they are in memory or were read back from chunks."""
    with entries_up_to(size):
        old = freeze(states[0])
        new = freeze(states[1], old)
        in_memory = as_bytes(diff(old, new))
        loader = loader_of(stored(old, new))
        one, other = load(old.reference(), loader), load(new.reference(), loader)
        mixed = diff(old, load(new.reference(), loader_of(stored(new))))

    assert in_memory == as_bytes(diff(one, other))
    assert in_memory == as_bytes(mixed)
    assert pack(states[1]) == pack(other.thaw())


@pytest.fixture(scope="module")
def run_of_store(tmp_path_factory):
    """Give a SQLite store in a file, and a run in it."""
    store = open_store(tmp_path_factory.mktemp("law") / "runs.db")
    store.start_run(RunInfo(run_id="law", name="law", started_at_ns=now_ns()))
    yield store, "law"
    store.close()


@given(edits, sizes)
def test_diff_is_the_same_from_memory_and_from_sqlite(run_of_store, states, size):
    """Two states differ alike whether they are in memory or were read back from SQLite."""
    store, run_id = run_of_store
    with entries_up_to(size):
        old = freeze({"state": states[0]})
        new = freeze({"state": states[1]}, old)
        seqs = [
            store.append(run_id, kind="note", name="law", at_ns=now_ns(), body=tree)
            for tree in (old, new)
        ]
        one, other = (store.event(run_id, seq).body for seq in seqs)
        in_memory, from_sqlite = as_bytes(diff(old, new)), as_bytes(diff(one, other))

    assert in_memory == from_sqlite
    assert pack({"state": states[1]}) == pack(other.thaw())


@pytest.mark.parametrize("size", [16, 4096])
def test_get_reads_one_path(size):
    """`get` gives the value at a path, negative places and odd keys included."""
    state = {"messages": [{"content": f"m{at}"} for at in range(300)], 1: {"a.b": (7, 8)}}
    with entries_up_to(size):
        tree = freeze(state)

    assert "m299" == tree.get("messages[299].content")
    assert "m298" == tree.get("messages[-2].content")
    assert 8 == tree.get('{1}["a.b"][1]')
    assert exactly_equal(state, tree.get(""))
    assert 300 == tree.count("messages")


def test_get_reads_only_what_is_on_the_way():
    """Reading one item of a stored list of 20,000 fetches a few chunks, not all."""
    tree = freeze({"items": [f"item number {at}" for at in range(20_000)]})
    kept = stored(tree)
    fetched: list[bytes] = []

    def fetch(digests):
        fetched.extend(digests)
        return {one: kept[one] for one in digests}

    assert "item number 12345" == load(tree.reference(), fetch).get("items[12345]")
    assert len(fetched) < len(kept) / 4


@pytest.mark.parametrize(
    "path, near",
    [("mesages", "messages"), ("messages[9]", "which has 2"), ("messages.x", "x"), ("n.deep", "n")],
)
@pytest.mark.parametrize("size", [16, 4096])
def test_get_names_what_is_near(path, near, size):
    """A path that leads nowhere is a `NotFoundError` that helps."""
    with entries_up_to(size):
        tree = freeze({"messages": ["a" * 30, "b" * 30], "n": 1})

    with pytest.raises(NotFoundError) as caught:
        tree.get(path)
    assert near in str(caught.value)


@pytest.mark.parametrize("size", [16, 4096])
def test_count_of_a_subclass_is_that_of_its_value(size):
    """A named tuple counts its items and a dict subclass its keys."""
    with entries_up_to(size):
        tree = freeze({"pair": Pair("a" * 40, "b" * 40), "bag": Bag(a="x" * 40)})

    assert 2 == tree.count("pair")
    assert 1 == tree.count("bag")


@pytest.mark.parametrize("size", [16, 4096])
def test_get_goes_into_objects(size):
    """A path leads into objects, and through a subclass into its built-in value."""
    bag = Bag({"inner": [1, "y" * 40], "": 6})
    with entries_up_to(size):
        tree = freeze({"plain": Plain(name="n" * 40, more=[5]), "bag": bag})

    assert 5 == tree.get("plain.more[0]")
    assert 6 == tree.get('bag[""]')
    assert "y" * 40 == tree.get("bag.inner[1]")


def test_small_states_are_wholly_in_their_reference():
    """A small state needs no chunk at all."""
    tree = freeze({"a": 1})

    assert [] == list(tree.chunks(()))
    assert {"a": 1} == load(tree.reference(), lambda _: {}).thaw()


def test_too_deep_for_the_thread(monkeypatch):
    """A thread that cannot recurse any deeper gets a `LimitError` of ours."""

    def no_room(*_):
        raise RecursionError

    monkeypatch.setattr("argentum.tree.freezing.Freezer.entry", no_room)
    with pytest.raises(LimitError, match="recursion limit"):
        freeze([])


def test_a_state_that_never_holds_still(monkeypatch):
    """Other threads that change the state during every attempt are named as the reason."""

    def changed(*_):
        message = "dictionary changed size during iteration"
        raise RuntimeError(message)

    monkeypatch.setattr("argentum.tree.freezing.Freezer.entry", changed)
    with pytest.raises(InputError, match="another thread"):
        freeze({})


def test_damage_is_found_out():
    """A chunk that is missing or was altered is an error, never a wrong value."""
    tree = freeze({"text": "x" * 10_000})
    kept = stored(tree)
    digest = digest_of(b"\xda\x27\x10" + b"x" * 10_000)
    assert digest in kept

    with pytest.raises(FormatError, match="altered"):
        load(tree.reference(), loader_of({**kept, digest: b"other"})).thaw()
    del kept[digest]
    with pytest.raises(FormatError, match="missing"):
        load(tree.reference(), loader_of(kept)).thaw()


def test_repr_tells_the_size():
    """A tree shows how large it is, not what is in it."""
    assert "<Tree of 4 bytes>" == repr(freeze({"a": 1}))
