"""
Conditions of numbers, answered from the live state right after it was recorded.

To decode what was recorded costs more than to record a small state. So the numbers are read from
the host's own dicts, and each is then looked for in the recorded bytes, under its key: another
thread may have changed the state meanwhile. Whatever is not surely as recorded, or does not hold,
is not answered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ormsgpack import packb

from argentum.state.expression import PREVIOUS, SIZE, STATE, VALUE, Read
from argentum.state.quick import SMALL, Quick
from argentum.state.snapshots import Snapshot
from argentum.tree.encoding import pack
from argentum.tree.nodes import Page

_FIXED, _ARRAY_16, _ARRAY_32 = 0x90, 16, 65_536
"""How MessagePack writes an array of fewer than 16, and from how many on it takes more bytes."""


class _Place(NamedTuple):
    """A path of names, and how its last one is written."""

    steps: tuple[str, ...]
    key: bytes
    first_key: bytes
    is_size: bool


class Live:
    """Answers one condition for one state after the other."""

    def __init__(
        self, condition: Quick, order: Sequence[tuple[bool, int]], places: Sequence[_Place]
    ) -> None:
        self._condition = condition
        self._order = order
        """Of each variable, whether it is of the state before, and the number of its place."""
        self._places = places
        self._compares = any(is_old for is_old, _ in order)
        self._last: tuple[Snapshot | None, list[Any]] = (None, [])
        self._at: dict[bytes, int] = {}
        """Where the keys were in the first page of a large state."""

    @classmethod
    def of(
        cls, condition: Quick | None, reads: Sequence[Read], above: tuple[Any, ...]
    ) -> Live | None:
        """Give what answers a condition of such reads, None if it takes more than this."""
        if condition is None:
            return None
        places: list[_Place] = []
        order = []
        for read in reads:
            steps = (*above, *read.path.parts)
            fits = read.source in (STATE, PREVIOUS) and read.how in (VALUE, SIZE)
            if not fits or not steps or not all(type(step) is str for step in steps):
                return None
            place = _Place(steps, pack(steps[-1]), pack(steps[0]), read.how == SIZE)
            if place not in places:
                places.append(place)
            order.append((read.source == PREVIOUS, places.index(place)))
        return cls(condition, order, places)

    def holds(  # noqa: C901 - in one piece, for a call more is a tenth of what it costs
        self, live: Any, snapshot: Snapshot, before: Snapshot | None
    ) -> bool:
        """
        Tell whether the condition surely holds.

        Args:
            live: the state that was just recorded as `snapshot`.
        """
        root = snapshot.tree.root
        numbers: list[Any] = []
        for place in self._places:
            value = live
            for step in place.steps:
                if type(value) is not dict:
                    return False
                value = value.get(step)
            if place.is_size:
                if type(value) is not list:
                    return False
                value = len(value)
                encoded = _array_header(value)
            elif type(value) is float or (type(value) is int and -SMALL <= value <= SMALL):
                encoded = packb(value)
            else:
                return False
            if type(root) is bytes:
                if place.key + encoded not in root:
                    return False
            elif not self._is_recorded(root.top, place, value, encoded):  # type: ignore[union-attr]
                return False
            numbers.append(value)
        last, old = self._last
        self._last = (snapshot, numbers)
        if self._compares and (before is None or last is not before):
            return False
        items = [old[at] if is_old else numbers[at] for is_old, at in self._order]
        return bool(self._condition.holds(items))

    def _is_recorded(self, top: object, place: _Place, number: Any, encoded: bytes) -> bool:
        """Tell whether a large dict has a number at a place."""
        if type(top) is not Page or top.keys is None:
            return False
        at = self._at.get(place.first_key, 0)
        if at >= top.count or top.keys[at] != place.first_key:
            if place.first_key not in top.keys:
                return False
            self._at[place.first_key] = at = top.keys.index(place.first_key)
        entry = top.entries[at]
        if type(entry) is not bytes:
            return place.is_size and len(place.steps) == 1 and entry.count == number
        if len(place.steps) > 1:
            return place.key + encoded in entry
        return entry.startswith(encoded) if place.is_size else entry == encoded


def _array_header(count: int) -> bytes:
    """Give the bytes with which MessagePack begins an array."""
    if count < _ARRAY_16:
        return bytes([_FIXED + count])
    if count < _ARRAY_32:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")
