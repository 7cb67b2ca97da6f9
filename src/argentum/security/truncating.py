"""
Cut a state that is over a limit, and say so where it was cut: `truncated`.

A text keeps its beginning, a list its first and last items, a dict its first keys; the room that
the size limit leaves is shared so that what is small stays whole. Every cut has a marker with the
true number, `[truncated: 1,200,000 characters]`, and the top of the state one with its true size.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any, Final

from argentum.security.settings import SecuritySettings
from argentum.tree import Record, Tree, freeze
from argentum.tree.encoding import pack

if TYPE_CHECKING:
    from argentum.security.limits import Limits

MARK: Final = "[truncated]"
"""The key that says what was left out of a dict."""
_LEAST: Final = 64
"""Bytes that any one thing may have, so that there is room for a marker."""
_HEADER: Final = 5
_DEEPEST: Final = 150
"""Levels that are kept of what is cut."""
_MANY: Final = 64
"""Items of a list from which on some are left out, where before each is cut."""
_ATTEMPTS: Final = 4
BYTES_LIKE: Final = frozenset({bytes, bytearray, memoryview})
_CUT: Final = frozenset({bytes, bytearray})


def truncated(tree: Tree, limits: Limits) -> Tree:
    """Give a form of a tree that is within the limits."""
    value = tree.thaw(live=False)
    room = limits.max_bytes
    for attempt in range(_ATTEMPTS):
        cutter = _Cutter(limits, room >> attempt)
        made = freeze(_marked(cutter.cut(value, room >> attempt, 1), tree.size_bytes))
        if limits.broken(made) is None:
            return made
    return freeze(f"[truncated: {tree.size_bytes:,} bytes]"[: limits.settings.max_string_chars])


def _marked(value: Any, size_bytes: int) -> Any:
    """Say at the top what the true size is."""
    if type(value) is dict:
        return {MARK: f"[truncated: {size_bytes:,} bytes]"} | value
    return value


class _Cutter:
    """One pass over one value."""

    def __init__(self, limits: Limits, room: int) -> None:
        self.limits = limits
        self.settings: SecuritySettings = limits.settings
        self.items = self.settings.max_items or room
        self.levels = min(self.settings.max_depth or _DEEPEST, _DEEPEST)
        self._sizes: dict[int, int] = {}

    def cut(self, value: Any, room: int, level: int) -> Any:
        """Give what there is room for."""
        size = self._size(value)
        if size <= min(room, self.limits.smallest - 1) and level + size < self.levels:
            return value
        kind = type(value)
        if kind is str:
            return self._text(value, room)
        if kind in _CUT:
            return self._bytes(value, room)
        if kind in (dict, Record, list, tuple):
            return self._container(value, room, level)
        is_over = size > room or next(self.limits.broken_parts(value), None) is not None
        return f"[truncated: {_described(value, size)}]" if is_over else value

    def _text(self, text: str, room: int) -> str:
        most = min(room - _LEAST, self.settings.max_string_chars or len(text))
        if len(text) <= most and self._size(text) <= room:
            return text
        mark = f"… [truncated: {len(text):,} characters]"
        begin = text[: max(most - len(mark), 0)].encode("utf-8", "surrogatepass")
        begin = begin[: max(room - _LEAST, 0)]
        return (begin.decode("utf-8", "ignore") + mark)[: self.settings.max_string_chars]

    def _bytes(self, data: bytes | bytearray, room: int) -> bytes | bytearray:
        most = min(room, self.settings.max_string_chars or room)
        if len(data) <= most:
            return data
        mark = f"[truncated: {len(data):,} bytes]".encode()
        return type(data)(data[: max(most - _LEAST, 0)] + mark)[: self.settings.max_string_chars]

    def _container(self, value: Any, room: int, level: int) -> Any:
        if level > self.levels:
            return f"[truncated: {_described(value, self._size(value))}]"
        if isinstance(value, Record):
            return Record(value.type_name, self._dict(value.fields, room, level))
        if type(value) is dict:
            return self._dict(value, room, level)
        return type(value)(self._list(list(value), room, level))

    def _dict(self, value: dict[Any, Any], room: int, level: int) -> dict[Any, Any]:
        left_out = f"[truncated: {len(value):,} members]"
        names = list(value)[: self._fitting(len(value), room)]
        keys = [self._key(name) for name in names]
        room -= sum(map(self._size, keys)) + _HEADER
        shares = _shares([self._size(value[name]) for name in names], room)
        made = {
            key: self.cut(value[name], share, level + 1)
            for key, name, share in zip(keys, names, shares, strict=True)
        }
        return made if len(made) == len(value) else {MARK: left_out} | made

    def _fitting(self, count: int, room: int) -> int:
        """Tell how many members there is room for, one of which may have to be a marker."""
        most = min(self.items, max(room // _LEAST, 1))
        return count if count <= most else most - 1

    def _key(self, key: Any) -> Any:
        most = self.settings.max_key_chars
        if type(key) is not str or most is None or len(key) <= most:
            return key
        mark = f"…[truncated: {len(key):,} characters]"
        return (key[: max(most - len(mark), 0)] + mark)[:most]

    def _list(self, items: list[Any], room: int, level: int) -> list[Any]:
        room -= _HEADER
        sizes = list(map(self._size, items))
        if len(items) <= min(_MANY, self.items) or (
            sum(sizes) <= room and len(items) <= self.items
        ):
            shares = _shares(sizes, room)
            return [self.cut(*pair, level + 1) for pair in zip(items, shares, strict=True)]
        head, tail = self._ends(sizes, room - _LEAST)
        most = max(room // 8, _LEAST)
        first = [self.cut(item, most, level + 1) for item in items[:head]]
        last = [self.cut(item, most, level + 1) for item in items[len(items) - tail :]]
        return [*first, f"[truncated: {len(items):,} items]", *last]

    def _ends(self, sizes: list[int], room: int) -> tuple[int, int]:
        """Tell how many items from the beginning and from the end there is room for."""
        most, head, tail = max(room // 8, _LEAST), 0, 0
        while head + tail < min(len(sizes), self.items) - 1:
            at = head if head <= tail else len(sizes) - 1 - tail
            room -= min(sizes[at], most)
            if room < 0:
                break
            head, tail = (head + 1, tail) if head <= tail else (head, tail + 1)
        return head, tail

    def _size(self, value: Any) -> int:
        """Give about the encoded size; of a container, that of its parts once they are known."""
        kind = type(value)
        if kind is str:
            return len(value.encode("utf-8", "surrogatepass")) + _HEADER
        if kind in _CUT:
            return len(value) + 2 * _HEADER
        if kind not in (dict, Record, list, tuple):
            return len(pack(value))
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = len(pack(value))
        return known


def _shares(sizes: list[int], room: int) -> list[int]:
    """Share room so that the small have all that they need and the large the same each."""
    if sum(sizes) <= room:
        return sizes
    shares = [0] * len(sizes)
    left = room
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, place in enumerate(order):
        shares[place] = max(min(sizes[place], left // (len(sizes) - done)), _LEAST)
        left -= shares[place]
    return shares


def digits_of(number: int) -> int:
    """Count the decimal digits of an integer without writing it."""
    digits = int((max(number.bit_length(), 1) - 1) * log10(2)) + 1
    return digits + 1 if abs(number) >= 10**digits else digits


def _described(value: Any, size_bytes: int) -> str:
    if type(value) is int:
        return f"an integer of {digits_of(value):,} digits"
    name = value.type_name if isinstance(value, Record) else type(value).__name__
    return f"{name}, {size_bytes:,} bytes"
