"""Tests of what a list takes over from the list before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from argentum.tree import Tree, diff, freeze
from argentum.tree.nodes import Branch, Page, pages_of

Items = list[Any]


def message(number: int) -> dict[str, Any]:
    """Make an item."""
    return {"id": number, "text": f"message {number} " * 20}


def pages(tree: Tree) -> list[Page]:
    """List the pages."""
    assert type(tree.root) is Branch
    return pages_of(tree.root)


def entries(tree: Tree) -> list[object]:
    """List the entries."""
    return [entry for page in pages(tree) for entry in page.entries]


def first_dropped(items: Items) -> None:
    """As a context that is trimmed."""
    del items[:40]


def one_changed(items: Items) -> None:
    """In place."""
    items[150]["text"] = "other"


def one_in_front(items: Items) -> None:
    """Everything moves."""
    items.insert(0, message(-1))


def one_at_the_end(items: Items) -> None:
    """As messages do."""
    items.append(message(-1))


def one_in_the_middle(items: Items) -> None:
    """What follows moves."""
    items.insert(150, message(-1))


def a_page_dropped(items: Items) -> None:
    """Whole pages go."""
    del items[100:200]


def two_swapped(items: Items) -> None:
    """In two pages."""
    items[10], items[290] = items[290], items[10]


def bytes_put_in(items: Items) -> None:
    """What MessagePack writes as it writes a bytearray."""
    items[150]["text"] = b"other"


def not_plain_put_in(items: Items) -> None:
    """What one call of the encoder refuses."""
    items[150]["text"] = (1, 2)


CHANGES = [first_dropped, one_changed, one_in_front, one_at_the_end, one_in_the_middle,
           a_page_dropped, two_swapped, bytes_put_in, not_plain_put_in]  # fmt: skip

DROPS = (first_dropped, a_page_dropped)
"""After these the first page is a part of an old one, which is not looked for."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("again", [1, 2])
def test_only_what_changed_is_new(change: Callable[[Items], None], again: int) -> None:
    """Entries and pages that are there again are the same objects; the rest is as if made anew."""
    items = [message(number) for number in range(300)]
    tree = freeze(items)
    for _ in range(again):
        before = tree
        change(items)
        tree = freeze(items, before)

    fresh = freeze(items)
    assert tree.reference() == fresh.reference()
    assert [page.count for page in pages(tree)] == [page.count for page in pages(fresh)]
    assert diff(tree, fresh) == []
    known = set(map(id, entries(before)))
    most = 32 if change in DROPS else 2
    assert sum(id(entry) not in known for entry in entries(tree)) <= most
    kept = set(map(id, pages(before)))
    assert sum(id(page) not in kept for page in pages(tree)) <= 3


def test_an_equal_list_is_the_same_tree() -> None:
    """Whether the host built it anew or not."""
    tree = freeze([message(number) for number in range(300)])

    assert freeze([message(number) for number in range(300)], tree) is tree


def test_items_that_moved_forward_and_back_again() -> None:
    """Two items from one page in another order, with as many as before, are another list."""
    first = ["a" * 2000, "b" * 2000, "c" * 2000, "d" * 2000]
    second = [first[2], first[1], first[2], first[3]]

    assert freeze(second, freeze(first)).thaw() == second


def test_a_list_written_anew_shares_what_stayed() -> None:
    """More changes in a page than are looked for elsewhere."""
    items = [message(number) for number in range(60)]
    tree = freeze(items)
    for number in range(0, 60, 2):
        items[number]["text"] = "other"

    later = freeze(items, tree)

    assert later.reference() == freeze(items).reference()
    assert sum(one is other for one, other in zip(entries(tree), entries(later), strict=True)) == 30
