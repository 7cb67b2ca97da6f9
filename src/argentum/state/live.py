"""
Conditions of numbers, answered at each snapshot from the bytes that were just recorded.

A watch has to cost a fraction of a snapshot, and a small state is encoded in less time than it is
decoded. So for each condition one function is written that looks for the keys in the bytes and
decodes nothing but the numbers after them. A key tells nothing where it is there twice, or where
the live state, which another thread may have changed meanwhile, does not have it at its path. Then,
and in large states, what is around the number is decoded. What cannot be read surely, or does not
hold, is not answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, NamedTuple, Protocol

from argentum.state.expression import PREVIOUS, SIZE, STATE, VALUE, Read
from argentum.state.quick import SMALL, Quick, holds_of
from argentum.state.snapshots import Snapshot
from argentum.tree.encoding import pack, unpack
from argentum.tree.following import is_live_dict, live_member
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry
from argentum.tree.taking import FOREIGN_FAULTS
from argentum.tree.tree import NOTHING

Holds = Callable[[Any, Snapshot, Snapshot | None], bool]
"""Tells of a live state, its snapshot and the one before whether a condition surely holds."""

# How MessagePack writes numbers: https://github.com/msgpack/msgpack/blob/master/spec.md
_INTEGERS = {
    code: Struct(form).unpack_from
    for code, form in (
        (0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"),
    )
}  # fmt: skip
_double, _count_16 = Struct(">d").unpack_from, Struct(">H").unpack_from
_FLOAT, _FIXED_END, _NEGATIVE = 0xCB, 0x80, 0xE0
_LIST, _FIXED_LIST, _FIXED_LIST_END = 0xDC, 0x90, 0xA0
NUMBER_BYTES = 9
_COUNTED = frozenset({Kind.LIST, Kind.DICT})


class Kept(Protocol):
    """What is told of a condition."""

    is_broken: bool
    last_kept: Snapshot | None


class _Place(NamedTuple):
    """A path of names, to a number or to what has a length."""

    steps: tuple[str, ...]
    is_size: bool


class Live:
    """Answers one condition for one state after the other."""

    def __init__(
        self, quick: Quick, order: Sequence[tuple[bool, int]], places: Sequence[_Place], kept: Kept
    ) -> None:
        self._quick = quick
        self._order = order
        """Of each variable, whether it is of the state before, and the number of its place."""
        self._places = places
        self._kept = kept
        self.last: tuple[Any, ...] = (self,)
        """The snapshot that was seen last, and its numbers."""
        names = {
            "live_of": self, "kept": kept, "decoded": self._decoded, "integer": _integer,
            "double": _double, "count_16": _count_16, "FAULTS": FOREIGN_FAULTS,
        }  # fmt: skip
        test = quick.written([f"{'old' if is_old else 'new'}{at}" for is_old, at in order])
        self.holds: Holds = holds_of("\n".join(_source(places, test)), names)
        """Tells of the next snapshot whether the condition surely holds, and notes that it does."""

    @classmethod
    def of(
        cls, quick: Quick | None, reads: Sequence[Read], above: tuple[Any, ...], kept: Kept
    ) -> Live | None:
        """Give what answers a condition of such reads, None if it takes more than this."""
        if quick is None:
            return None
        places: list[_Place] = []
        order = []
        for read in reads:
            steps = (*above, *read.path.parts)
            fits = read.source in (STATE, PREVIOUS) and read.how in (VALUE, SIZE)
            if not fits or not steps or not all(type(step) is str for step in steps):
                return None
            place = _Place(steps, read.how == SIZE)
            if place not in places:
                places.append(place)
            order.append((read.source == PREVIOUS, places.index(place)))
        return cls(quick, order, places, kept) if places else None

    def _decoded(self, snapshot: Snapshot, before: Snapshot | None) -> bool:
        """Do as `holds` does, without the live state and in states of any size."""
        try:
            root = snapshot.tree.root
            whole = unpack(root) if type(root) is bytes else NOTHING
            new = [_number(root, whole, place) for place in self._places]
        except FOREIGN_FAULTS:  # the tree is one of a damaged store
            return False
        if None in new:
            return False
        last, *old = self.last
        self.last = (snapshot, *new)
        if last is not before:
            if any(is_old for is_old, _ in self._order):
                return False
            old = new
        held = self._quick.holds(*[(old if is_old else new)[at] for is_old, at in self._order])
        if held:
            self._kept.last_kept = snapshot
        return held


def _source(places: Sequence[_Place], test: str) -> Iterator[str]:
    """Write the function that answers from the bytes of a small state."""
    yield "def holds(live, snapshot, before):"
    yield " if kept.is_broken: return False"
    yield " root = snapshot.tree.root"
    yield " if type(root) is not bytes: return decoded(snapshot, before)"
    yield " try:"
    for number, place in enumerate(places):
        yield "  at = live"
        for step in place.steps[:-1]:
            yield "  if type(at) is not dict: return decoded(snapshot, before)"
            yield f"  at = at[{step!r}]"
        key = place.steps[-1]
        yield f"  if type(at) is not dict or {key!r} not in at: return decoded(snapshot, before)"
        # From the right, for a written key begins with a byte that is rare in a state.
        yield f"  _, tail = root.rsplit({pack(key)!r})"
        yield "  code = tail[0]"
        if place.is_size:
            yield f"  if {_FIXED_LIST} <= code < {_FIXED_LIST_END}:"
            yield f"   new{number} = code - {_FIXED_LIST}"
            yield f"  elif code == {_LIST}: new{number}, = count_16(tail, 1)"
            yield "  else: return decoded(snapshot, before)"
        else:
            yield f"  if code == {_FLOAT}: new{number}, = double(tail, 1)"
            yield f"  elif code < {_FIXED_END}: new{number} = code"
            yield f"  else: new{number} = integer(code, tail)"
    yield " except FAULTS: return decoded(snapshot, before)"
    news = ", ".join(f"new{number}" for number in range(len(places)))
    if "old" in test:
        olds = ", ".join(f"old{number}" for number in range(len(places)))
        yield " last = live_of.last"
        yield f" live_of.last = (snapshot, {news})"
        yield " if last[0] is not before: return False"
        yield f" _, {olds} = last"
    yield f" if {test}:"
    yield "  kept.last_kept = snapshot"
    yield "  return True"
    yield " return False"


def _integer(code: int, data: bytes) -> int:
    """
    Read an integer that is written in more than one byte, or is below 0.

    Raises:
        KeyError: there is none, or it takes 64 bits.
        ValueError: it is not small.
    """
    if code >= _NEGATIVE:
        return code - 256
    value: int = _INTEGERS[code](data, 1)[0]
    if value > SMALL:
        raise ValueError
    return value


def _number(entry: Entry, value: Any, place: _Place) -> float | None:
    """
    Give the number at a place, None if there is none or it is not small.

    Args:
        value: the entry's value, `NOTHING` where it was not decoded yet.
    """
    for step in place.steps:
        if type(entry) is Branch:
            below = live_member(entry, step) if is_live_dict(entry) else None
            if below is None:
                return None
            entry, value = below, NOTHING
            continue
        if value is NOTHING:
            value = unpack(entry)  # type: ignore[arg-type]
        if type(value) is not dict or step not in value:
            return None
        value = value[step]
    if place.is_size:
        return _count(entry, value)
    if value is NOTHING:
        value = unpack(entry) if type(entry) is bytes and len(entry) <= NUMBER_BYTES else None
    is_small = type(value) is int and -SMALL <= value <= SMALL
    return value if is_small or type(value) is float else None


def _count(entry: Entry, value: Any) -> int | None:
    if type(entry) is Branch:
        return entry.count if entry.kind in _COUNTED else None
    if value is NOTHING:
        code = entry[0]  # type: ignore[index]
        if _FIXED_LIST <= code < _FIXED_LIST_END:
            return code - _FIXED_LIST
        return _count_16(entry, 1)[0] if code == _LIST else None  # type: ignore[arg-type]
    return len(value) if type(value) is list else None
