"""Which pages of two containers differ."""

from __future__ import annotations

from collections.abc import Iterator

from argentum.tree.chunks import page_digest
from argentum.tree.nodes import Branch, Page, fill_all, pages_of
from argentum.tree.sequence import align

_Gap = tuple[list[Page], list[Page], int, int]
_WINDOW = 16


def page_gaps(old: Branch, new: Branch) -> Iterator[_Gap]:
    """Give the runs of pages that differ, read, with the place of the first item of each."""
    for gap in unread_gaps(old, new):
        fill_all(gap[0])
        fill_all(gap[1])
        yield gap


def unread_gaps(old: Branch, new: Branch) -> Iterator[_Gap]:
    """
    Give the runs of pages that differ, without reading what is in them.

    Which pages are skipped depends on contents alone (identity and digests only make it quick), so
    the result is the same wherever the trees came from.
    """
    left, right = pages_of(old), pages_of(new)
    at = other = old_at = new_at = 0
    while at < len(left) or other < len(right):
        end, stop = _next_same(left, right, at, other)
        olds, news = left[at:end], right[other:stop]
        if olds or news:
            yield olds, news, old_at, new_at
        old_at += sum(page.count for page in olds)
        new_at += sum(page.count for page in news)
        at, other = end, stop
        for mine, theirs in zip(left[at:], right[other:], strict=False):
            if mine is not theirs and not _same_page(mine, theirs):
                break
            old_at += mine.count
            new_at += mine.count
            at, other = at + 1, other + 1


def _next_same(left: list[Page], right: list[Page], at: int, other: int) -> tuple[int, int]:
    """Find the nearest two pages that are the same, or the ends."""
    rest, remaining = len(left) - at, len(right) - other
    for steps in range(min(_WINDOW, rest + remaining)):
        for ahead in range(max(0, steps - remaining + 1), min(steps + 1, rest)):
            beside = steps - ahead
            if _same_page(left[at + ahead], right[other + beside]):
                return at + ahead, other + beside
    if rest and remaining and rest + remaining > _WINDOW:
        matches = align(list(map(page_digest, left[at:])), list(map(page_digest, right[other:])))
        if matches:
            return at + matches[0][0], other + matches[0][1]
    return len(left), len(right)


def _same_page(old: Page, new: Page) -> bool:
    if old is new:
        return True
    if old.count != new.count or old.size != new.size:
        return False
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest
    if old.branches or new.branches:
        return page_digest(old) == page_digest(new)
    return old.entries == new.entries and old.keys == new.keys
