"""
Make a tree of a live value, sharing all that a previous tree has.

The value is encoded entry by entry; entries whose bytes are the previous tree's are the previous
tree's objects, and whole pages of them are compared in C (see `argentum.tree.paging`). Nothing
is hashed here. Whether the host changed its state in place or built it anew makes no difference.
"""

from __future__ import annotations

from typing import Any

from ormsgpack import packb

from argentum.tree.encoding import (
    OPTIONS,
    UNAMBIGUOUS,
    TooLargeError,
    is_ambiguous,
    is_in_cycle,
    pack,
    pack_exactly,
)
from argentum.tree.kinds import Kind, Parts
from argentum.tree.nodes import PAGE_ENTRIES, Branch, Entry, Group, Page, group_pages, pages_of
from argentum.tree.paging import SMALL_BYTES, ItemPages, join, keyed_pages
from argentum.tree.taking import is_leaf, take_apart

MAX_BRANCHES = 60
"""Levels of branches; what lies deeper is one entry whatever its size."""
FEW = 128
"""Members up to which a container is laid out in pages when they are asked for."""
MANY_PAGES = 4
"""Pages from which a list is compared by whole pages first."""
_SPLITTABLE = frozenset({Kind.LIST, Kind.DICT, Kind.PAIRS, Kind.TUPLE, Kind.SET, Kind.FROZENSET,
                         Kind.DEQUE, Kind.OBJECT, Kind.SUBCLASS})  # fmt: skip
_LIST, _DICT, _OBJECT = Kind.LIST, Kind.DICT, Kind.OBJECT
_SETS = frozenset({Kind.SET, Kind.FROZENSET})
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
            if type(value) is list:
                return self._items(_LIST, None, value[:], old, limit)
            if type(value) is dict and old is not None and old.names is not None:
                now = value.copy()  # at once, so that keys and values belong together
                names = list(now)
                if names == old.names and set(map(type, names)) == _STRING_ONLY:
                    return self._same_dict(list(now.values()), old, limit)
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
        if old.count <= FEW:
            before = old.few()
            if len(values) != len(before):
                return None  # another thread changes the dict right now
            return _with_few(old, before, list(map(self._value, values, before)), limit)
        at = 0
        changed = False
        pages = []
        for page in pages_of(old):
            end = at + page.count
            entries = list(map(self._value, values[at:end], page.entries))
            if entries == page.entries:
                pages.append(page)
            else:
                changed = True
                pages.append(
                    Page(page.keys, entries, closed=page.closed, mark=page.mark, like=page)
                )
            at = end
        if len(values) != at:
            return None  # another thread changes the dict right now
        if not changed:
            return old
        return _branch(old.kind, old.head, group_pages(pages, old.top), limit, old.names)

    def _value(self, value: object, guess: Entry) -> Entry:
        """Encode the value of a dict: what `entry` does, quicker for what is small and plain."""
        if type(guess) is bytes:
            try:
                data = packb(value, None, OPTIONS)
            except TypeError:
                return self.entry(value, guess, SMALL_BYTES)
            if data == guess:
                return guess
            if type(value) in UNAMBIGUOUS and len(data) <= SMALL_BYTES:
                return data
        return self.entry(value, guess, SMALL_BYTES)

    def _lay_out(self, parts: Parts, old: Branch | None, limit: int) -> Entry | None:
        if parts.keys is None:
            values = sorted(parts.values, key=pack) if parts.kind in _SETS else parts.values
            return self._items(parts.kind, parts.head, values, old, limit)
        if old is not None and old.kind is not parts.kind:
            old = None
        old_pages = [] if old is None else pages_of(old)
        pages = keyed_pages(self.entry, list(map(pack, parts.keys)), parts.values, old_pages)
        if old is not None and pages == old_pages and old.head == parts.head:
            return old
        names = parts.keys if parts.kind is _DICT else None
        top = group_pages(pages, None if old is None else old.top)
        return _branch(parts.kind, parts.head, top, limit, names)

    def _items(
        self, kind: Kind, head: object, values: list[object], old: Branch | None, limit: int
    ) -> Entry | None:
        """Freeze what has no keys."""
        paging = ItemPages(self.entry)
        if old is None or old.kind is not kind:
            return _branch(kind, head, group_pages(paging.lay_out(values, [], {}), None), limit)
        if 0 < len(values) <= FEW and old.count <= FEW and head == old.head:
            before = old.few()
            entries = paging.few(values, before)
            return _with_few(old, before, entries, limit)
        old_pages = pages_of(old)
        pages = paging.lay_out(values, old_pages, old.joined)
        if pages == old_pages and head == old.head:
            return old
        made = _branch(kind, head, group_pages(pages, old.top), limit)
        if made is not None and len(pages) >= MANY_PAGES:
            made.joined = join(pages, old.joined)
            old.joined = {}  # only the last of a row of lists is likely to come again
        return made


def _with_few(old: Branch, before: list[Entry], entries: list[Entry], limit: int) -> Branch | None:
    if entries == before:
        return old
    made = old.with_few(entries)
    return None if made.size <= limit else made


def _branch(
    kind: Kind, head: object, top: Page | Group, limit: int, names: list[str] | None = None
) -> Branch | None:
    return None if top.size <= limit else Branch(kind, head, top, names=names)


def _looks_large(value: Any) -> bool:
    """Guess cheaply that encoding a value in one piece would be in vain."""
    if type(value) is dict:
        return any(
            type(item) in _SIZED and len(item) > PAGE_ENTRIES for item in list(value.values())
        )
    return type(value) is list and len(value) > 512  # noqa: PLR2004 - a guess that decides nothing
