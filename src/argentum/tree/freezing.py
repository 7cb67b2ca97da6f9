"""
Make a tree of a live value, sharing all that a previous tree has.

The value is encoded entry by entry; entries whose bytes are the previous tree's are the previous
tree's objects, and whole pages of them are compared by one list comparison in C. Nothing is
hashed here. Whether the host changed its state in place or built it anew makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat
from operator import attrgetter, eq
from typing import Any

from ormsgpack import packb

from argentum.tree.encoding import (
    OPTIONS,
    TooLargeError,
    is_ambiguous,
    is_in_cycle,
    pack,
    pack_exactly,
)
from argentum.tree.kinds import Kind, Parts
from argentum.tree.nodes import (
    NO_CUT,
    PAGE_ENTRIES,
    Branch,
    Entry,
    Group,
    Page,
    group_pages,
    mark_of,
    pages_of,
)
from argentum.tree.taking import is_leaf, take_apart

SMALL_BYTES = 4096
"""A state, dict value or object field up to this size is one entry."""
SMALL_ITEM_BYTES = 65536
"""The same for items of lists, which cannot be found again by a key when they move."""
MAX_BRANCHES = 60
"""Levels of branches; what lies deeper is one entry whatever its size."""
MANY_MISSES = 4
"""Entries that are not where they were, after which no more are looked for."""
_SPLITTABLE = frozenset({Kind.LIST, Kind.DICT, Kind.PAIRS, Kind.TUPLE, Kind.SET, Kind.FROZENSET,
                         Kind.DEQUE, Kind.OBJECT, Kind.SUBCLASS})  # fmt: skip
_LIST, _DICT, _OBJECT = Kind.LIST, Kind.DICT, Kind.OBJECT
_SETS = frozenset({Kind.SET, Kind.FROZENSET})
_HAS_BRANCHES = attrgetter("branches")
_NO_DEFAULT, _OPTIONS = repeat(None), repeat(OPTIONS)
_SIZED = frozenset({dict, list})
_STRING_ONLY = {str}


class Freezer:
    """One pass over one value."""

    __slots__ = ("around",)

    def __init__(self) -> None:
        self.around: list[int] = []
        """`id` of each container around the one at hand, to find cycles."""

    def entry(self, value: object, guess: Entry | None, limit: int) -> Entry:
        """
        Encode a value, or split it if it is larger than `limit` bytes.

        Args:
            guess: what was at this place in the previous tree; it is returned if it is equal.
        """
        if type(guess) is not Branch or is_leaf(value):
            data = self._whole(value, guess, limit)
            if data is not None:
                return guess if data == guess else data
            guess = None
        if len(self.around) < MAX_BRANCHES:
            split = self._split(value, guess, limit)
            if split is not None:
                return split
        return pack(value, ancestors=self.around)

    def _whole(self, value: object, guess: Entry | None, limit: int) -> Entry | None:
        """Encode a value in one piece, or give None if it should be split."""
        if guess is None and _looks_large(value):
            return None
        try:
            data = packb(value, None, OPTIONS)
        except TypeError:
            try:
                data = pack_exactly(value, ancestors=self.around, limit=limit)
            except TooLargeError:
                return None
        else:
            if data == guess:
                return guess
            if len(data) <= limit and is_ambiguous(value):
                data = pack_exactly(value, ancestors=self.around)
        return data if len(data) <= limit else self._whole_leaf(value, data)

    def _whole_leaf(self, value: object, data: bytes) -> bytes | None:
        """Give the bytes of a large value that has no parts, exact for what is bytes-like."""
        if not is_leaf(value):
            return None
        return pack_exactly(value) if is_ambiguous(value) else data

    def _split(self, value: object, old: Branch | None, limit: int) -> Entry | None:
        """Freeze each part on its own; None if it has no parts or is small after all."""
        self.around.append(id(value))
        try:
            if type(value) is dict and old is not None and old.names is not None:
                now = value.copy()  # at once, so that keys and values belong together
                names = list(now)
                if names == old.names and set(map(type, names)) == _STRING_ONLY:
                    return self._same_dict(list(now.values()), old, limit)
            if type(value) is list:
                return self._lay_out(Parts(_LIST, None, None, value[:]), old, limit)
            parts = take_apart(value, depth=len(self.around))
            if not isinstance(parts, Parts) or parts.kind not in _SPLITTABLE:
                return None
            if parts.kind is _OBJECT and old is None and is_in_cycle(value, self.around[:-1]):
                return None  # objects that know each other would be split without end
            return self._lay_out(parts, old, limit)
        finally:
            self.around.pop()

    def _same_dict(self, values: list[object], old: Branch, limit: int) -> Entry | None:
        """Freeze a dict whose keys are the old ones, hence lie in pages cut alike."""
        at = 0
        changed = False
        old_pages = pages_of(old)
        pages = []
        for page in old_pages:
            end = at + page.count
            entries = list(map(self.entry, values[at:end], page.entries, repeat(SMALL_BYTES)))
            if entries != page.entries:
                changed = True
                closed, mark = page.closed, page.mark
                pages.append(Page(page.keys, entries, closed=closed, mark=mark, like=page))
            else:
                pages.append(page)
            at = end
        if len(values) != at:
            return None  # another thread changes the dict right now
        if not changed:
            return old
        return _branch(old.kind, old.head, group_pages(pages, old.top), limit, old.names)

    def _lay_out(self, parts: Parts, old: Branch | None, limit: int) -> Entry | None:
        if old is not None and old.kind is not parts.kind:
            old = None
        paging = _Paging(self, parts, old)
        pages = paging.pages()
        if old is not None and pages == paging.old and old.head == parts.head:
            return old
        names = parts.keys if parts.kind is _DICT else None
        top = group_pages(pages, None if old is None else old.top)
        return _branch(parts.kind, parts.head, top, limit, names)


def _branch(
    kind: Kind, head: object, top: Page | Group, limit: int, names: list[str] | None
) -> Branch | None:
    return None if top.size <= limit else Branch(kind, head, top, names=names)


def _looks_large(value: Any) -> bool:
    """Guess cheaply that encoding a value in one piece would be in vain."""
    if type(value) is dict:
        return any(
            type(item) in _SIZED and len(item) > PAGE_ENTRIES for item in list(value.values())
        )
    return type(value) is list and len(value) > 512  # noqa: PLR2004 - a guess that decides nothing


def _encode_like(values: list[object], before: list[Entry]) -> list[Entry]:
    """
    Encode values in one call, and give the entries of `before` where the bytes are theirs.

    This is quicker than a call for each where what is encoded leaves the cache, in long lists.
    No encoding is the beginning of another one, so what starts with an entry's bytes is that entry.
    """
    data = packb(values, None, OPTIONS)
    starts = data.startswith
    at = 1 if len(values) < 16 else 3  # noqa: PLR2004 - how MessagePack counts up to 65,535 items
    found: list[Entry] = []
    place = 0
    misses = -1
    while True:
        for known in before[place:]:
            if not starts(known, at):  # type: ignore[arg-type]
                break
            found.append(known)
            at += len(known)  # type: ignore[arg-type]
            place += 1
        if len(found) == len(values):
            return found
        misses += 1
        if misses > MANY_MISSES:
            return found + [packb(value, None, OPTIONS) for value in values[len(found) :]]
        entry = packb(values[len(found)], None, OPTIONS)
        if not starts(entry, at):
            message = "a value changed while it was read"
            raise RuntimeError(message)  # `freeze` tries again
        found.append(entry)
        at += len(entry)
        place += 1
        agrees = place < len(before) and starts(before[place], at)  # type: ignore[arg-type]
        if not agrees and entry in before:
            place = before.index(entry) + 1


class _Paging:
    """Lay out the parts of one container in pages, taking over the old pages that fit."""

    __slots__ = ("count", "encoded", "final", "freezer", "keys", "limit", "old", "old_at", "values")

    def __init__(self, freezer: Freezer, parts: Parts, old: Branch | None) -> None:
        self.freezer = freezer
        self.values = parts.values
        if parts.kind in _SETS:
            self.values = sorted(parts.values, key=pack)
        self.count = len(self.values)
        self.keys = None if parts.keys is None else list(map(pack, parts.keys))
        self.limit = SMALL_ITEM_BYTES if parts.keys is None else SMALL_BYTES
        self.old = [] if old is None else pages_of(old)
        self.old_at = 0
        """The old page that probably has the next entries."""
        self.final = any(map(_HAS_BRANCHES, self.old))
        """Whether `encoded` holds entries; else their plain bytes, which may need more work."""
        self.encoded: list[Entry] = []
        """What is encoded so far; page by page, so that it is compared while in the cache."""
        if self.final:
            guesses = self._guesses()
            self.encoded = list(map(freezer.entry, self.values, guesses, repeat(self.limit)))

    def _guesses(self) -> Iterable[Entry | None]:
        """Say for each value what was probably at its place before."""
        before = [entry for page in self.old for entry in page.entries]
        if self.keys is not None:
            old_keys = [key for page in self.old for key in page.keys or ()]
            return map(dict(zip(old_keys, before, strict=True)).get, self.keys)
        return chain(before[self._shift(before) :], repeat(None))

    def _shift(self, before: list[Entry]) -> int:
        """Find how far a list moved to the front, by its first item."""
        if not self.values:
            return 0
        first = self.freezer.entry(self.values[0], before[0], self.limit)
        return before.index(first) if first in before else 0

    def _encode_to(self, end: int, before: list[Entry] | None = None) -> None:
        """Encode more values, of which `before` was probably there in the previous tree."""
        start = len(self.encoded)
        if start >= end:
            return
        values = self.values[start:end]
        try:
            if before is None:
                self.encoded += list(map(packb, values, _NO_DEFAULT, _OPTIONS))
            else:
                self.encoded += _encode_like(values, before)
        except TypeError:
            entry, limit = self.freezer.entry, self.limit
            self.encoded += [entry(value, None, limit) for value in values]

    def pages(self) -> list[Page]:
        """Give the pages in order."""
        pages: list[Page] = []
        at = 0
        while at < self.count:
            if self.old_at + 1 < len(self.old):
                likely = self.old[self.old_at]
                self._encode_to(min(at + likely.count, self.count), likely.entries)
            else:
                self._encode_to(min(at + PAGE_ENTRIES, self.count))
            page = self._next_page(at)
            pages.append(page)
            end = at + page.count
            self.encoded[at:end] = page.entries  # frees what was only compared
            at = end
        return pages

    def _next_page(self, at: int) -> Page:
        """Give the page that begins here: an old one if it fits, else a new one."""
        if self.old_at >= len(self.old):
            return self._new_page(at, None, [])
        like = self.old[self.old_at]
        if like.entries[0] != self.encoded[at]:
            like = self._old_page_like(at)
        same = self._same_places(at, at + like.count, like.entries, 0)
        fits = same.index(False) == like.count and self._fits(at, like)
        page = like if fits else self._new_page(at, like, same)
        if fits or page.count == like.count:
            self.old_at += 1
        return page

    def _old_page_like(self, at: int) -> Page:
        """Find the old page that starts with the next entry, near where it was."""
        next_entry = self.encoded[at]
        for page in self.old[self.old_at : self.old_at + PAGE_ENTRIES]:
            if page.entries[0] == next_entry:
                self.old_at = self.old.index(page, self.old_at)
                return page
        return self.old[self.old_at]

    def _same_places(self, at: int, end: int, before: list[Entry], place: int) -> list[bool]:
        """
        Tell of each place of an old page, from `place` on, whether its entry is there again.

        One more place at the end stands for what comes after the page: it is not there.
        """
        if end > len(self.encoded):
            self._encode_to(min(end, self.count))
        same = [False] * place
        same += map(eq, self.encoded[at:end], before[place:])
        same += [False] * (len(before) + 1 - len(same))
        return same

    def _fits(self, at: int, page: Page) -> bool:
        """Tell whether an old page whose entries are all there again is the next page."""
        end = at + page.count
        if not (page.closed or end == self.count):
            return False
        return self.keys is None or self.keys[at:end] == page.keys

    def _new_page(self, start: int, old: Page | None, same: list[bool]) -> Page:
        """
        Make the page that begins here, taking over what is equal in an old page.

        Args:
            same: of each place of the old page, whether its entry is there again.
        """
        end = min(start + PAGE_ENTRIES, self.count)
        if end > len(self.encoded):
            self._encode_to(end)
        if self.keys is not None:
            return self._new_keyed_page(self.keys, start, end, old)
        before: list[Entry] = [] if old is None else old.entries
        entries: list[Entry] = []
        at, place, mark = start, 0, NO_CUT
        while at < end and mark == NO_CUT:
            stop = same.index(False, place) if place < len(before) else place
            if stop > place:
                entries += before[place:stop]
                at, place = at + stop - place, stop
                if old is not None and place == len(before):
                    mark = old.mark
                continue
            entry = self._finished(at)
            self.encoded[at] = entry
            # Where the next place agrees, the item changed in place; else the list moved.
            # `index` alone would write the whole entry into its error message.
            if place < len(before) and not same[place + 1] and entry in before:
                place = before.index(entry)
                same = self._same_places(at, end, before, place)
                continue
            entries.append(entry)
            at, place, mark = at + 1, place + 1, mark_of(None, entry)
        return self._page(None, entries, mark, old)

    def _new_keyed_page(self, keys: list[bytes], start: int, end: int, old: Page | None) -> Page:
        before: dict[bytes, Entry] = {}
        if old is not None:
            before = dict(zip(old.keys or (), old.entries, strict=True))
        entries: list[Entry] = []
        for at in range(start, end):
            entry = self._finished(at)
            known = before.get(keys[at])
            entries.append(entry if known is None or known != entry else known)
            mark = mark_of(keys[at], entry)
            if mark != NO_CUT:
                break
        return self._page(keys[start : start + len(entries)], entries, mark, old)

    def _page(
        self, keys: list[bytes] | None, entries: list[Entry], mark: int, old: Page | None
    ) -> Page:
        closed = len(entries) == PAGE_ENTRIES or mark != NO_CUT
        if old is not None and old.closed is closed and old.entries == entries and old.keys == keys:
            return old
        return Page(keys, entries, closed=closed, mark=mark, like=old)

    def _finished(self, at: int) -> Entry:
        """Make the plain encoding of an item exact, and split the item if it is large."""
        data = self.encoded[at]
        if self.final or type(data) is not bytes:
            return data
        value = self.values[at]
        large = len(data) > self.limit and not is_leaf(value)
        if large or is_ambiguous(value):
            return self.freezer.entry(value, None, self.limit)
        return data
