"""
Turn any Python value into bytes that differ exactly when the values differ, and back.

The bytes are MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) with one
extension code per Python type that MessagePack lacks; the codes are the members of
`argentum.tree.kinds.Kind` and are never reused. Three rules make the bytes exact:

* What ormsgpack writes by itself is plain: `None`, `bool`, `float`, 64-bit `int`, `str`, and
  exact `list` and `dict` with `str` keys. Everything else raises there, so one C call without a
  Python callback (another thread could change the value under a callback) either writes the
  whole value or says that it needs the slow way, `pack_exactly`.
* ormsgpack writes `bytes`, `bytearray` and `memoryview` alike. So MessagePack's `bin` is never
  kept: bytes that might hold one are made again the slow way, where each type has its own code.
* Sets are written in the order of their members' bytes. Dicts keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson
import ormsgpack
from ormsgpack import Ext, packb

from argentum.errors import FormatError, shown
from argentum.tree.building import build
from argentum.tree.kinds import Kind, Opaque, Parts
from argentum.tree.taking import NOT_A_LEAF, leaf, take_apart

OPTIONS: int = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
MAX_DEPTH = 1000
"""Levels of nesting that are kept; what lies deeper becomes an `Opaque`."""
MAX_KINDS = 150
"""Levels of nested extension codes that are kept: each costs a Python frame when read back."""
WRAP_EVERY = 100
"""ormsgpack stops at 255 levels, so every so many levels are packed on their own."""


class TooLargeError(Exception):
    """The slow way met more than the given number of bytes; the caller splits the value."""


_PLAIN_ONLY = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
"""orjson would walk dataclasses itself, in old versions without end where they form a cycle."""


UNAMBIGUOUS = frozenset({str, int, float, bool, type(None)})


def is_ambiguous(value: object) -> bool:
    """
    Tell whether a value that ormsgpack wrote by itself holds what its bytes do not tell apart.

    Those are the bytes-like types, which it writes alike, and its own `Ext` and `Fragment`. orjson
    answers ten times quicker than a walk in Python: of all that ormsgpack writes by itself, it
    refuses just these.
    """
    if type(value) in UNAMBIGUOUS:
        return False
    try:
        orjson.dumps(value, None, _PLAIN_ONLY)
    except TypeError:
        return True
    return False


def pack(value: object, *, ancestors: Sequence[int] = (), limit: int | None = None) -> bytes:
    """
    Encode a value of any type and shape.

    Args:
        ancestors: `id` of each container around `value`, outermost first; a reference to one of
            them is written as a `Cycle`.
        limit: bytes; raise `TooLargeError` once a value that needs the slow way is larger.
    """
    try:
        data = packb(value, None, OPTIONS)
    except TypeError:
        return pack_exactly(value, ancestors=ancestors, limit=limit)
    if is_ambiguous(value):
        return pack_exactly(value, ancestors=ancestors, limit=limit)
    return data


class _Frame:
    """A container whose members are being encoded."""

    __slots__ = ("in_cycle", "kinds", "members", "parts", "todo", "value")

    def __init__(self, parts: Parts, value: object, kinds: int) -> None:
        self.parts = parts
        self.value = value
        self.in_cycle = False
        """Whether what is inside depends on what is around it."""
        self.kinds = kinds
        self.members: list[object] = []
        self.todo: Iterator[object] = iter(parts.flat())


def pack_exactly(
    value: object, *, ancestors: Sequence[int] = (), limit: int | None = None
) -> bytes:
    """Encode a value by a walk in Python without recursion (see `pack`)."""
    return packb(_walked(value, ancestors, limit).members[0], None, OPTIONS)


def is_in_cycle(value: object, ancestors: Sequence[int]) -> bool:
    """Tell whether anything inside leads back to a container around it."""
    return _walked(value, ancestors, None).in_cycle


def _walked(value: object, ancestors: Sequence[int], limit: int | None) -> _Frame:
    around = dict(zip(ancestors, range(len(ancestors)), strict=True))
    root = _Frame(Parts(Kind.LIST, None, None, [value]), None, 0)
    stack = [root]
    met: dict[int, tuple[object, object]] = {}
    size = 0
    while stack:
        frame = stack[-1]
        child = next(frame.todo, _END)
        if child is _END:
            stack.pop()
            if stack:
                around.popitem()
                stack[-1].members.append(_close(frame, len(stack), met))
                stack[-1].in_cycle |= frame.in_cycle
            continue
        plain = leaf(child)
        if plain is NOT_A_LEAF:
            known = met.get(id(child))
            plain = _open(child, stack, around) if known is None else known[1]
            if type(plain) is _Frame:
                stack.append(plain)
                around[id(child)] = len(around)
                continue
        frame.members.append(plain)
        size += _weight(plain)
        if limit is not None and size > limit:
            raise TooLargeError
    return root


_END = object()


def _weight(plain: object) -> int:
    """Give a lower bound of the encoded size."""
    return len(plain) + 1 if type(plain) is str else 1


def _open(child: object, stack: list[_Frame], around: dict[int, int]) -> object:
    """Start on a container, or give the mark that stands for it."""
    parent = stack[-1]
    if id(child) in around:
        up = len(around) - around[id(child)]
        parent.in_cycle = True
        return Ext(Kind.CYCLE, packb(up))
    if len(stack) > MAX_DEPTH or parent.kinds > MAX_KINDS:
        return Opaque(type(child).__qualname__, "nested too deep to be kept").packed()
    parts = take_apart(child, depth=parent.kinds)
    if isinstance(parts, Ext):
        return parts
    plain = parts.kind in (Kind.LIST, Kind.DICT)
    return _Frame(parts, child, parent.kinds + (0 if plain else 1))


def _close(frame: _Frame, depth: int, met: dict[int, tuple[object, object]]) -> object:
    """
    Put the encoded members of a container together.

    An object met again is not walked again, or objects that know each other would take factorial
    time: its bytes serve once more, or a mark if they depend on the way that led to it.
    """
    packed = frame.parts.packed(frame.members)
    if frame.parts.kind is Kind.OBJECT:
        again: object = packed
        if frame.in_cycle:
            again = Opaque(str(frame.parts.head), "shown before, in a cycle of objects").packed()
        met[id(frame.value)] = (frame.value, again)
    if depth % WRAP_EVERY == 0 and not isinstance(packed, Ext):
        return Ext(Kind.DEEP, packb(packed, None, OPTIONS))
    return packed


def unpack(data: bytes, *, live: bool = False) -> Any:
    """
    Give back the value that `pack` encoded.

    Args:
        live: make instances of the classes that the value had, where those classes are loaded in
            this process and are plain data (dataclass, pydantic model, Enum, subclass of a
            built-in type); no constructor runs. Else, and by default, a `Record` stands for them.

    Raises:
        FormatError: the bytes were not written by `pack`.
    """
    try:
        return ormsgpack.unpackb(data, ext_hook=_live_hook if live else _hook)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        message = (
            f"{len(data)} bytes starting {shown(data[:16])} are not an encoded value: {error}."
        )
        raise FormatError(message) from error


def _hook_for(*, live: bool) -> Callable[[int, bytes], object]:
    def hook(code: int, data: bytes) -> object:
        return build(Kind(code), ormsgpack.unpackb(data, ext_hook=hook), live=live)

    return hook


_hook = _hook_for(live=False)
_live_hook = _hook_for(live=True)
