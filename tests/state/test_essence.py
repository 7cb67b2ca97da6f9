"""Digests of values without what makes no difference."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pytest
from hypothesis import given
from tests.tree.values import values

from argentum.state.essence import Essences, digest, essence_of, fields_of, read_whole
from argentum.tree import Loader, Tree, freeze, load

ONE, OTHER = (str(uuid.UUID(int=number)) for number in (1, 2))
LONG = "word " * 2000


@pytest.mark.parametrize(
    "a,b",
    [
        (f"id {ONE}", f"id {OTHER}"),
        (uuid.UUID(ONE), uuid.UUID(OTHER)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "x", 2: "y"}, {2: "y", 1: "x"}),
        (0.0, -0.0),
        ([float("nan")], [-float("nan")]),
    ],
)
def test_what_makes_no_difference(a, b):
    """Made-up names, the order of keys, the signs of zero and NaN make no difference."""
    assert essence_of(a) == essence_of(b)


@pytest.mark.parametrize(
    "a,b", [(1, 1.0), (1, True), ([1], (1,)), ({"a": None}, {}), ("id 1", "id 2"), ([1, 2], [2, 1])]
)
def test_what_makes_a_difference(a, b):
    """Types, items and their order, and any other text make one."""
    assert essence_of(a) != essence_of(b)


@given(values)
def test_any_value(value):
    """Each value has one essence, however often it is taken and wherever it was kept."""
    assert essence_of(freeze(value).thaw(live=False)) == essence_of(
        kept([value], [])[0].thaw(live=False)
    )


def test_no_two_lists_of_parts_have_one_digest():
    """Where one part ends and the next begins makes a difference."""
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("abc", None), (None, "abc")]

    assert len(parts) == len({digest(*some) for some in parts})


def test_made_up_names_are_given_in_order():
    """The names that a placeholder stands for come in the order in which they are met."""
    ids: list[str] = []
    Essences().of({"b": [uuid.UUID(OTHER)], "a": f"see {ONE}"}, frozenset(), ids)

    assert [ONE, OTHER] == ids


def kept(bodies: Sequence[object], asked: list[int]) -> list[Tree]:
    """Give bodies as a store would, and note of each question how much it asks for."""
    trees = [freeze(body) for body in bodies]
    chunks = {digest: chunk for tree in trees for digest, chunk in tree.chunks(())}

    def fetch(digests: Sequence[bytes]) -> dict[bytes, bytes]:
        asked.append(len(digests))
        return {one: chunks[one] for one in digests}

    loader = Loader(fetch)
    return [load(tree.reference(), loader) for tree in trees]


def test_many_bodies_are_read_in_few_questions():
    """A store is asked once for each level of all bodies and once for its large entries."""
    asked: list[int] = []
    bodies = kept([{"n": n, "messages": [LONG, {"n": n, "text": LONG}]} for n in range(50)], asked)
    read_whole(bodies)

    assert len(asked) <= 8
    before = len(asked)
    for body in bodies:
        Essences().of(fields_of(body)["messages"], frozenset(), [])
    assert before == len(asked)


def test_bodies_of_two_stores():
    """Each store is asked for its own."""
    trees = [*kept([{"text": [LONG]}], []), freeze(1), *kept([{"text": [LONG, LONG]}], [])]
    read_whole(trees)

    assert [1, 2] == [len(trees[at].thaw()["text"]) for at in (0, 2)]
