"""
Lay the members of a large container out in pages, taking over the pages that a previous tree has.

Where a page ends depends on its last entry alone (see `argentum.tree.nodes`). So among entries
that were one page before, only the last can end a page, and only new ones are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import eq

from ormsgpack import packb

from argentum.tree.encoding import OPTIONS, is_ambiguous
from argentum.tree.nodes import NO_CUT, PAGE_ENTRIES, Branch, Entry, Page, cut, mark_of
from argentum.tree.taking import is_leaf

Encode = Callable[[object, Entry | None, int], Entry]
"""Encodes a value, given the entry that was probably there and the bytes up to which it is one."""

SMALL_BYTES = 4096
"""A state, dict value or object field up to this size is one entry."""
SMALL_ITEM_BYTES = 65536
"""The same for items of lists, which cannot be found again by a key when they move."""
MANY_MISSES = 4
"""Entries of a page that are not where they were, after which no more are looked for."""
_NO_DEFAULT, _OPTIONS = repeat(None), repeat(OPTIONS)


class ItemPages:
    """Lays out values without keys: the items of a list, of a tuple, of a sorted set."""

    __slots__ = ("encode", "entries", "pages")

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self.pages: list[Page] = []
        self.entries: list[Entry] = []
        """Those after the last page that has ended."""

    def lay_out(
        self, values: list[object], old: Sequence[Page], joined: Mapping[Page, bytes]
    ) -> list[Page]:
        """
        Give the pages in order.

        Args:
            old: the pages of the previous list; what is equal is taken over, also where it moved.
            joined: the entries of old pages, put together; of none, some or all of them.
        """
        at = number = 0
        count = len(values)
        while at < count and number < len(old):
            like = old[number]
            end = at + like.count
            may_fit = not self.entries and (like.closed or end == count)
            if may_fit and like in joined and _are_together(values[at:end], joined[like]):
                self.pages.append(like)
                at = end
                number += 1
                continue
            left = like.entries
            compare = self._compared_singly if like.branches else self._compared
            while left and at < count:
                found, used, mark = compare(values[at : at + len(left)], left)
                if not self.entries and found[0] not in left:
                    moved = _begins_with(found[0], old[number + 1 : number + PAGE_ENTRIES])
                    if moved:
                        number += moved - 1
                        break
                at += len(found)
                if may_fit and found == like.entries:
                    self.pages.append(like)
                else:
                    self._add(found, like.mark if found[-1] is like.entries[-1] else mark, like)
                left = left[used:]
            number += 1
        while at < count:
            at += self._add_new(values[at : at + PAGE_ENTRIES])
        if self.entries:
            last = old[-1] if old else None
            self.pages.append(Page(None, self.entries, closed=False, mark=NO_CUT, like=last))
        return self.pages

    def few(self, values: list[object], before: list[Entry]) -> list[Entry]:
        """Give the entries of few values alone, those of `before` where they are equal."""
        compare = self._compared_singly if Branch in map(type, before) else self._compared
        found: list[Entry] = []
        left = before
        while left and len(found) < len(values):
            part, used, _ = compare(values[len(found) : len(found) + len(left)], left)
            found += part
            left = left[used:]
        return found + self._new(values[len(found) :]) if len(found) < len(values) else found

    def _new(self, values: list[object]) -> list[Entry]:
        """Encode values of which nothing is known."""
        try:
            plain = map(packb, values, _NO_DEFAULT, _OPTIONS)
            return list(map(self._exact, values, plain))
        except TypeError:
            return [self.encode(value, None, SMALL_ITEM_BYTES) for value in values]

    def _add_new(self, values: list[object]) -> int:
        """Add values of which nothing is known, and tell how many."""
        entries = self._new(values)
        start = 0
        for end, entry in enumerate(entries, 1):
            mark = mark_of(None, entry)
            if mark != NO_CUT or end == len(entries):
                self._add(entries[start:end], mark, None)
                start = end
        return len(entries)

    def _add(self, run: list[Entry], mark: int, like: Page | None) -> None:
        """Add entries of which only the last may have a mark."""
        entries = self.entries + run if self.entries else run
        while len(entries) > PAGE_ENTRIES:
            self.pages.append(
                Page(None, entries[:PAGE_ENTRIES], closed=True, mark=NO_CUT, like=like)
            )
            entries = entries[PAGE_ENTRIES:]
        if mark != NO_CUT or len(entries) == PAGE_ENTRIES:
            self.pages.append(Page(None, entries, closed=True, mark=mark, like=like))
            entries = []
        self.entries = entries

    def _exact(self, value: object, data: bytes) -> Entry:
        """Make the plain encoding of an item exact, and split the item if it is large."""
        if is_ambiguous(value) or (len(data) > SMALL_ITEM_BYTES and not is_leaf(value)):
            return self.encode(value, None, SMALL_ITEM_BYTES)
        return data

    def _compared(self, values: list[object], before: list[Entry]) -> tuple[list[Entry], int, int]:
        """
        Encode values until they or the entries before are used up, or a new one ends the page.

        Returns:
            The entries, those of `before` where they are equal; how many of `before` are used up;
            the mark of the last entry if it is new.
        """
        try:
            encoded: list[Entry] = list(map(packb, values, _NO_DEFAULT, _OPTIONS))
        except TypeError:
            return self._compared_singly(values, before)
        place = [*map(eq, encoded, before), False].index(False)
        found = before[:place]
        mark = NO_CUT
        misses = 0
        for entry in encoded[place:]:
            if place == len(before) or mark != NO_CUT:
                break
            known = before[place]
            if entry != known:
                if misses < MANY_MISSES and entry in before:
                    place = before.index(entry)
                    known = before[place]
                else:
                    exact = self._exact(values[len(found)], entry)  # type: ignore[arg-type]
                    if exact != known:
                        misses += 1
                        mark = mark_of(None, exact)
                        known = exact
            found.append(known)
            place += 1
        return found, place, mark

    def _compared_singly(
        self, values: list[object], before: list[Entry]
    ) -> tuple[list[Entry], int, int]:
        """Do the same for values that have to be taken apart, or were so large that they were."""
        first = self.encode(values[0], before[0], SMALL_ITEM_BYTES)
        shift = before.index(first) if first in before else 0
        found: list[Entry] = []
        mark = NO_CUT
        for value, guess in zip(values, before[shift:], strict=False):
            entry = self.encode(value, guess, SMALL_ITEM_BYTES) if found else first
            found.append(entry)
            if entry is not guess:
                mark = mark_of(None, entry)
                if mark != NO_CUT:
                    break
        return found, shift + len(found), mark


def _are_together(values: list[object], joined: bytes) -> bool:
    """Tell whether values are encoded as entries that were put together; in one call, for speed."""
    try:
        data = packb(values, None, OPTIONS)
    except TypeError:
        return False
    header = 1 if len(values) < 16 else 3  # noqa: PLR2004 - MessagePack's count of up to 65,535
    return len(data) == header + len(joined) and data.endswith(joined)


def _begins_with(entry: Entry, pages: Sequence[Page]) -> int:
    """Tell the number, from 1, of the first page that begins with an entry; 0 if none does."""
    for number, page in enumerate(pages, 1):
        if page.entries[0] == entry:
            return number
    return 0


def join(pages: Sequence[Page], known: Mapping[Page, bytes]) -> dict[Page, bytes]:
    """Put the entries of each page together, of those that are without a `Branch`."""
    return {
        page: known.get(page) or b"".join(page.entries)  # type: ignore[arg-type]
        for page in pages
        if not page.branches
    }


def keyed_pages(
    encode: Encode, keys: list[bytes], values: list[object], old: Sequence[Page]
) -> list[Page]:
    """Lay out the values of a dict or object, in order, taking over the old pages that fit."""
    before: dict[bytes, Entry] = {}
    for page in old:
        before.update(zip(page.keys or (), page.entries, strict=True))
    entries = list(map(encode, values, map(before.get, keys), repeat(SMALL_BYTES)))
    return cut(keys, entries, old)
