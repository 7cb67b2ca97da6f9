"""References and chunks: content-addressed, complete, and lazily read."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.tree.values import edits, entries_up_to, sizes, values

from argentum.errors import FormatError
from argentum.tree import Loader, digest_of, freeze, load
from argentum.tree.chunks import INLINE_ROOT_BYTES
from argentum.tree.encoding import pack


@given(values, sizes)
def test_chunks_are_named_by_content_and_complete(value, size):
    """Every chunk's name is its digest, none comes twice, and together they give the value."""
    with entries_up_to(size):
        tree = freeze(value)
        chunks = list(tree.chunks(()))
        kept = dict(chunks)
        asked: set[bytes] = set()

        def fetch(digests):
            asked.update(digests)
            return {one: kept[one] for one in digests}

        again = load(tree.reference(), fetch).thaw()

    assert all(digest == digest_of(payload) for digest, payload in chunks)
    assert pack(value) == pack(again)
    assert asked == set(kept)


@given(edits, sizes)
def test_known_chunks_are_not_given_again(states, size):
    """A store that has one state is given only what the other one adds."""
    with entries_up_to(size):
        old = freeze(states[0])
        new = freeze(states[1], old)
        kept = dict(old.chunks(()))
        added = dict(new.chunks(kept))
        whole = dict(new.chunks(()))
        again = load(
            new.reference(), lambda digests: {one: {**kept, **added}[one] for one in digests}
        )

    assert set() == set(added) & set(kept)
    assert set(whole) == set(added) | (set(whole) & set(kept))
    assert pack(states[1]) == pack(again.thaw())


def test_children_come_before_parents():
    """A store that stops in the middle never has a chunk whose children it lacks."""
    tree = freeze({"items": [f"item {at} {'x' * 200}" for at in range(3_000)]})
    seen: dict[bytes, bytes] = {}
    for digest, payload in tree.chunks(()):
        seen[digest] = payload
    names = list(seen)
    for at, payload in enumerate(seen.values()):
        assert not any(name in payload for name in names[at + 1 :][:50])

    assert names[-1] in tree.reference()


def test_small_and_large_roots():
    """A state lies in its reference up to a kilobyte, and in one chunk above."""
    small, large = freeze("x" * 1000), freeze("x" * (INLINE_ROOT_BYTES + 1))

    assert (b"i", 0) == (small.reference()[:1], len(list(small.chunks(()))))
    assert (b"c", 1) == (large.reference()[:1], len(list(large.chunks(()))))


def test_an_unknown_reference():
    """A reference of a later version is refused."""
    with pytest.raises(FormatError, match="starts with b'z'"):
        load(b"zzz", lambda _: {}).thaw()


def test_parts_read_once_are_one_object():
    """Two trees of one loader share what they have in common, so a comparison skips it."""
    items = [f"item {at}" for at in range(5_000)]
    old = freeze(items)
    new = freeze([*items, "more"], old)
    kept = {**dict(old.chunks(())), **dict(new.chunks(()))}
    fetched: list[bytes] = []

    def fetch(digests):
        fetched.extend(digests)
        return {one: kept[one] for one in digests}

    loader = Loader(fetch)
    one, other = load(old.reference(), loader), load(new.reference(), loader)
    one.thaw()
    read = len(fetched)
    other.thaw()

    assert len(fetched) - read <= 5
    assert len(set(fetched)) == len(fetched)


def test_entries_of_a_page_are_read_once_for_all_its_versions():
    """Of each version of a page only what is new is asked for, and what is shared is one object."""
    state = [f"item {number} " * 20 for number in range(40)]
    known: dict[bytes, bytes] = {}
    references = []
    tree = None
    for number in range(5):
        state[number] = f"changed {number} " * 20
        tree = freeze(state, tree)
        references.append(tree.reference())
        known |= dict(tree.chunks(()))
    asked: list[int] = []

    def fetch(digests):
        asked.append(len(digests))
        return {digest: known[digest] for digest in digests}

    loader = Loader(fetch)
    values = [load(reference, loader).thaw() for reference in references]

    assert state == values[-1]
    assert sum(asked) <= 40 + 5 * 8
