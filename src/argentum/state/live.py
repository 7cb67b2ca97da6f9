"""
Plain conditions, answered at each snapshot from the bytes that were just recorded.

A watch has to cost a fraction of a snapshot, and a small state is encoded in less time than it is
decoded. So for each condition one function is written that looks for the keys in the bytes and
decodes nothing but the values after them. A key tells nothing where it is there twice, or where
the live state, which another thread may have changed meanwhile, does not have it at its path. Then,
and in large states, what is around the value is decoded. What cannot be read surely, or does not
hold, is not answered here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from struct import Struct
from typing import Any, NamedTuple, Protocol

from argentum.state.expression import PREVIOUS, STATE, Read
from argentum.state.quick import (
    ANY,
    EXISTENCE,
    LENGTH,
    NUMBER,
    SMALL,
    TEXT,
    TRUTH,
    WHOLE,
    Quick,
    Sort,
    fits,
    holds_of,
)  # fmt: skip
from argentum.state.snapshots import Snapshot
from argentum.tree.encoding import pack, unpack
from argentum.tree.following import is_live_dict, live_member
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry
from argentum.tree.taking import FOREIGN_FAULTS
from argentum.tree.tree import NOTHING

Holds = Callable[[Any, Snapshot, Snapshot | None], bool]
"""Tells of a live state, its snapshot and the one before whether a condition surely holds."""

# How MessagePack writes: https://github.com/msgpack/msgpack/blob/master/spec.md
_INTEGERS = {
    code: Struct(form).unpack_from
    for code, form in (
        (0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"),
    )
}  # fmt: skip
_double, _count_16 = Struct(">d").unpack_from, Struct(">H").unpack_from
_TEXT_8 = 0xD9
_TEXT_CODES = {_TEXT_8: 0xCC, 0xDA: 0xCD}
"""The codes of texts, and those of integers that are written as their lengths are."""
_NULL, _FALSE, _TRUE = 0xC0, 0xC2, 0xC3
_NULL_ENTRY = bytes([_NULL])
_FLOAT, _FIXED_END, _NEGATIVE = 0xCB, 0x80, 0xE0
_FIXED_TEXT, _FIXED_TEXT_END = 0xA0, 0xC0
_FIXED_DICT, _FIXED_DICT_END = 0x80, 0x90
_LIST, _FIXED_LIST, _FIXED_LIST_END = 0xDC, 0x90, 0xA0
_COUNTED = frozenset({Kind.LIST, Kind.DICT})


class Kept(Protocol):
    """What is told of a condition."""

    is_broken: bool
    last_kept: Snapshot | None


class _Place(NamedTuple):
    """A path of names, and what is wanted of the value."""

    steps: tuple[str, ...]
    sort: Sort


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
        """The snapshot that was seen last, and what was read of it."""
        names = {
            "live_of": self, "kept": kept, "decoded": self._decoded, "integer": _integer,
            "double": _double, "count_16": _count_16, "text": _text, "FAULTS": FOREIGN_FAULTS,
            "NOTHING": NOTHING, "same": _same,
        }  # fmt: skip
        test = quick.written([f"{'old' if is_old else 'new'}{at}" for is_old, at in order])
        source = _source(places, test, compares=any(is_old for is_old, _ in order))
        arguments = [f"{age}{at}" for age in ("new", "old") for at in range(len(places))]
        self._test: Callable[..., bool] = holds_of(
            f"def holds({', '.join(arguments)}): return {test}", dict(names)
        )
        self.holds: Holds = holds_of("\n".join(source), names)
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
        for read, sort in zip(reads, quick.sorts, strict=True):
            if read.sides is not None:  # it is the sides that are read
                order.append((False, 0))
                continue
            steps = (*above, *read.path.parts)
            asks_for_all = sort == EXISTENCE and not read.path.parts
            is_fit = read.source in (STATE, PREVIOUS) and steps and not asks_for_all
            if not is_fit or not all(type(step) is str for step in steps):
                return None
            place = _Place(steps, sort)
            if place not in places:
                places.append(place)
            order.append((read.source == PREVIOUS, places.index(place)))
        return cls(quick, order, places, kept) if places else None

    def _decoded(self, snapshot: Snapshot, before: Snapshot | None) -> bool:
        """Do as `holds` does, without the live state and in states of any size."""
        try:
            root = snapshot.tree.root
            whole = unpack(root) if type(root) is bytes else NOTHING
            new = [_read(root, whole, place) for place in self._places]
        except FOREIGN_FAULTS:  # there is nothing, or a value that is not plain
            return False
        last, *old = self.last
        self.last = (snapshot, *new)
        if last is not before:
            if any(is_old for is_old, _ in self._order):
                return False
            old = new
        try:
            held = self._test(*new, *old)
        except LookupError:
            return False
        if held:
            self._kept.last_kept = snapshot
        return held


def _source(places: Sequence[_Place], test: str, *, compares: bool) -> Iterator[str]:
    """Write the function that answers from the bytes of a small state."""
    yield "def holds(live, snapshot, before):"
    yield " if kept.is_broken: return False"
    yield " root = snapshot.tree.root"
    yield " if type(root) is not bytes: return decoded(snapshot, before)"
    yield " try:"
    for number, place in enumerate(places):
        yield from _reading(place, number)
    yield " except FAULTS: return decoded(snapshot, before)"
    news = ", ".join(f"new{number}" for number in range(len(places)))
    if compares:
        olds = ", ".join(f"old{number}" for number in range(len(places)))
        yield " last = live_of.last"
        yield f" live_of.last = (snapshot, {news})"
        yield " if last[0] is not before: return False"
        yield f" _, {olds} = last"
    yield " try:"
    yield f"  if not ({test}): return False"
    yield " except LookupError: return False"
    yield " kept.last_kept = snapshot"
    yield " return True"


def _reading(place: _Place, number: int) -> Iterator[str]:
    """Write what reads the value at one place."""
    name = f"new{number}"
    *above, last = place.steps
    key = pack(last)
    indent = "  "
    if place.sort == EXISTENCE and not above:
        yield f"  if {key!r} not in root and {_FIXED_DICT} <= root[0] < {_FIXED_DICT_END}:"
        yield f"   {name} = NOTHING"
        yield "  else:"
        indent = "   "
    yield f"{indent}at = live"
    for step in above:
        yield f"{indent}if type(at) is not dict: return decoded(snapshot, before)"
        yield f"{indent}at = at[{step!r}]"
    yield f"{indent}if type(at) is not dict or {last!r} not in at:"
    yield f"{indent} return decoded(snapshot, before)"
    # From the right, for a written key begins with a byte that is rare in a state.
    yield f"{indent}_, tail = root.rsplit({key!r})"
    yield f"{indent}code = tail[0]"
    lines = _FORMS[place.sort].format(name, number + 1).splitlines()
    yield from (indent + line for line in lines)


_FORMS: dict[Sort, str] = {
    NUMBER: f"""\
if code == {_FLOAT}: {{0}}, = double(tail, 1)
elif code < {_FIXED_END}: {{0}} = code
else: {{0}} = integer(code, tail)""",
    LENGTH: f"""\
if {_FIXED_LIST} <= code < {_FIXED_LIST_END}: {{0}} = code - {_FIXED_LIST}
elif code == {_LIST}: {{0}}, = count_16(tail, 1)
else: return decoded(snapshot, before)""",
    TEXT: f"""\
if {_FIXED_TEXT} <= code < {_FIXED_TEXT_END}: {{0}} = tail[1 : code - {_FIXED_TEXT - 1}].decode()
else: {{0}} = text(code, tail)""",
    TRUTH: f"""\
if code == {_TRUE}: {{0}} = True
elif code == {_FALSE}: {{0}} = False
else: return decoded(snapshot, before)""",
    ANY: f"""\
{{0}} = None if code == {_NULL} else True""",
    WHOLE: """\
{0} = live_of.last[{1}]
if not tail.startswith({0}): return decoded(snapshot, before)""",
    EXISTENCE: """\
{0} = True""",
}
"""How the value that begins with `code` is read from the bytes `tail`."""


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


def _text(code: int, data: bytes) -> str:
    """
    Read a text of more than 31 bytes.

    Raises:
        KeyError: there is none, or it is very long.
    """
    size: int = _INTEGERS[_TEXT_CODES[code]](data, 1)[0]
    begin = 2 if code == _TEXT_8 else 3
    return data[begin : begin + size].decode()


def _read(entry: Entry, value: Any, place: _Place) -> Any:
    """
    Read what is wanted at a place.

    Args:
        value: the entry's value, `NOTHING` where it was not decoded yet.

    Raises:
        LookupError: there is nothing, or not what is wanted, or that is not to be seen quickly.
    """
    for step in place.steps:
        if type(entry) is Branch and value is NOTHING:
            if not is_live_dict(entry):
                raise LookupError
            below = live_member(entry, step)
            if below is None:
                return _missing(place)
            entry = below
            continue
        if value is NOTHING:
            value = unpack(entry)  # type: ignore[arg-type]
        if type(value) is not dict:
            raise LookupError
        if step not in value:
            return _missing(place)
        value = value[step]
    return _wanted(entry, value, place.sort)


def _missing(place: _Place) -> object:
    if place.sort != EXISTENCE:
        raise LookupError
    return NOTHING


def _wanted(entry: Entry, value: Any, sort: Sort) -> Any:
    if sort == EXISTENCE:
        return True
    if sort == LENGTH:
        return _count(entry, value)
    if sort == WHOLE:
        return _whole(entry, value)
    if value is NOTHING and sort == ANY:
        return None if entry == _NULL_ENTRY else True
    if value is NOTHING and type(entry) is bytes:
        value = unpack(entry)
    if not fits(sort, value):
        raise LookupError
    return value


def _whole(entry: Entry, value: Any) -> Entry:
    """Give a value as it is recorded."""
    data = entry if value is NOTHING else pack(value)
    if type(data) is bytes and data[0] == _FLOAT and isnan(unpack(data)):
        raise LookupError  # it is not equal to itself
    return data


def _same(one: Entry, other: Entry) -> bool:
    """
    Tell that two values are equal, as they are if they are recorded alike.

    Raises:
        LookupError: they may be equal all the same, as with keys in another order.
    """
    if one == other:
        return True
    raise LookupError


def _count(entry: Entry, value: Any) -> int:
    if value is NOTHING and type(entry) is Branch and entry.kind in _COUNTED:
        return entry.count
    if value is NOTHING and type(entry) is bytes:
        code = entry[0]
        if _FIXED_LIST <= code < _FIXED_LIST_END:
            return code - _FIXED_LIST
        if code == _LIST:
            return int(_count_16(entry, 1)[0])
    if type(value) is list:
        return len(value)
    raise LookupError
