"""Trees whose entries were replaced: right everywhere, and only what is new is looked at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import entries_up_to, sizes

from argentum.tree import diff, freeze
from argentum.tree.encoding import pack, unpack
from argentum.tree.paths import Key, Step
from argentum.tree.rewriting import rewrite

texts = st.sampled_from(["a", "secret", "b" * 40, "my secret key", ""])
states = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=40,
)


def without(value: Any) -> Any:
    """Replace the word in all texts, keys included: the plain way."""
    if isinstance(value, str):
        return value.replace("secret", "******")
    if isinstance(value, list):
        return [without(item) for item in value]
    if isinstance(value, dict):
        return {without(key): without(item) for key, item in value.items()}
    return value


def change(data: bytes, at: tuple[Step, ...] = ()) -> bytes | None:
    """Do the same to encoded bytes."""
    return pack(without(unpack(data))) if b"secret" in data else None


@given(st.lists(states, min_size=1, max_size=5), sizes)
def test_every_text_is_replaced(history, size):
    """Whatever was rewritten before, all texts and keys of each state are replaced."""
    with entries_up_to(size):
        before, tree = None, None
        for state in history:
            tree = freeze(state, tree)
            made = rewrite(tree, change, before)
            before = (tree, made)

            assert [] == diff(freeze(without(state)), made)
            assert [] == diff(freeze(without(state)), rewrite(tree, change))


def test_nothing_to_replace_gives_the_same_tree():
    """A tree that has nothing to replace is itself."""
    tree = freeze({"messages": [{"content": "x" * 500} for _ in range(500)]})

    assert tree is rewrite(tree, change)


@pytest.mark.parametrize("word", ["secret", "harmless"])
def test_only_what_is_new_is_looked_at(word):
    """Of a large state that changed in a few places only the new entries are looked at again."""
    state = {"messages": [{"n": n, "content": f"{word} {n} " * 50} for n in range(2000)], "n": 1}
    seen: list[bytes] = []

    def noting(data: bytes, at: tuple[Step, ...]) -> bytes | None:
        seen.append(data)
        return change(data)

    tree = freeze(state)
    made = rewrite(tree, noting)
    seen.clear()
    state["messages"][700]["n"] = -1
    state["messages"].append({"n": 2000, "content": f"one more {word}"})
    state["n"] = 2
    later = freeze(state, tree)
    again = rewrite(later, noting, (tree, made))

    assert [] == diff(freeze(without(state)), again)
    entries = [data for data in seen if len(data) > 20]
    assert 2 == len(entries)
    assert len(seen) <= 6  # the root's three keys and number, too


def test_a_large_item_of_a_list_is_followed():
    """An item that is a branch itself is looked at where it is new, not whole."""
    state = [{"log": [f"line {n} secret" * 20 for n in range(1000)]} for _ in range(3)]
    seen: list[bytes] = []

    def noting(data: bytes, at: tuple[Step, ...]) -> bytes | None:
        seen.append(data)
        return change(data)

    tree = freeze(state)
    made = rewrite(tree, noting)
    seen.clear()
    state[1]["log"].append("the secret end")
    later = freeze(state, tree)

    assert [] == diff(freeze(without(state)), rewrite(later, noting, (tree, made)))
    assert [pack("the secret end")] == [data for data in seen if b"line" not in data][-1:]
    assert len(seen) <= 8


def test_a_change_knows_where_it_is():
    """The steps that lead to an entry come with it; those to items of lists do not count."""
    long = "x" * 5000
    state = {"user": {"name": long, "keys": [{1: long}] * 20}, "n": 1}
    seen: dict[tuple[Step, ...], bytes] = {}

    def noting(data: bytes, at: tuple[Step, ...]) -> None:
        seen[at] = data

    rewrite(freeze(state), noting)

    assert {"name", "keys"} == {at[1] for at in seen if at[:1] == ("user",)}
    assert pack(long) == seen["user", "name"]
    assert pack({1: long}) == seen["user", "keys", 0]
    assert pack(1) == seen["n",]
    with entries_up_to(16):
        rewrite(freeze(state), noting)
    assert pack(long) == seen["user", "keys", 0, Key(1)]


def test_what_moves_to_another_key_is_looked_at_again():
    """The same value under another key may have to become something else."""
    value = "v" * 5000

    def by_name(data: bytes, at: tuple[Step, ...]) -> bytes | None:
        return pack("gone") if at == ("secret",) else None

    tree = freeze({"plain": value, "secret": None, "more": value})
    made = rewrite(tree, by_name)
    later = freeze({"plain": None, "secret": value, "more": value}, tree)

    assert {"plain": None, "secret": "gone", "more": value} == rewrite(
        later, by_name, (tree, made)
    ).thaw()
