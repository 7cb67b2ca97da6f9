"""Where pages and groups end, and what they share."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import entries_up_to

from argentum.tree import freeze
from argentum.tree.nodes import NO_CUT, PAGE_ENTRIES, Branch, Group, mark_of, pages_of, size_of

items = st.lists(st.text(max_size=8), min_size=1, max_size=300)


def branch_of(texts: list[str]) -> Branch:
    """Freeze a list to pages, however small it is."""
    with entries_up_to(0):
        root = freeze(texts).root
    assert type(root) is Branch
    return root


@given(items)
def test_pages_hold_all_entries_in_order(texts):
    """Pages have 1 to 64 entries, and together all of them."""
    branch = branch_of(texts)
    pages = pages_of(branch)

    assert all(1 <= page.count <= PAGE_ENTRIES for page in pages)
    assert len(texts) == branch.count == sum(page.count for page in pages)
    assert branch.size == sum(size_of(entry) for page in pages for entry in page.entries)


@given(items)
def test_pages_end_by_content_alone(texts):
    """A page ends where its last entry says so, or when it is full."""
    for page in pages_of(branch_of(texts))[:-1]:
        ends = [mark_of(None, entry) != NO_CUT for entry in page.entries]
        assert page.closed
        assert not any(ends[:-1])
        assert ends[-1] or page.count == PAGE_ENTRIES


@given(items, items)
def test_an_insert_at_the_front_keeps_the_pages_at_the_end(texts, more):
    """Whatever comes first, lists that end alike end in like pages, unless none ends by itself."""
    pages, others = pages_of(branch_of(texts)), pages_of(branch_of(more + texts))
    ends = [at for at, text in enumerate(texts) if mark_of(None, branch_entry(text)) != NO_CUT]
    rest = len(texts) - ends[0] - 1 if ends else 0
    expected: list[Any] = []
    found: list[Any] = []
    for kept, source in ((expected, pages), (found, others)):
        left = rest
        for page in reversed(source):
            if page.count > left:
                break
            left -= page.count
            kept.append(page.entries)

    assert expected == found


def branch_entry(text: str) -> bytes:
    """Encode one item."""
    root = freeze(text).root
    assert type(root) is bytes
    return root


def test_many_pages_lie_in_groups():
    """A list of 100,000 has levels of groups of at most 64, and reads in order."""
    branch = freeze([f"item {at}" for at in range(100_000)]).root
    assert type(branch) is Branch
    level: list = [branch.top]
    depth = 0
    while type(level[0]) is Group:
        assert all(1 <= len(group.children) <= 64 for group in level)
        level = [child for group in level for child in group.children]
        depth += 1

    assert depth >= 2
    assert level == pages_of(branch)
