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
from argentum.tree.kinds import NOT_A_LEAF, Kind, Opaque, Parts, build, leaf, take_apart

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


def may_hold_binary(data: bytes) -> bool:
    """Tell whether MessagePack's `bin` codes occur in `data` (in text they may, too)."""
    return b"\xc4" in data or b"\xc5" in data or b"\xc6" in data


def holds_binary(value: object) -> bool:
    """
    Tell whether a value that ormsgpack wrote by itself holds anything bytes-like.

    orjson answers ten times quicker than a walk in Python: of all that ormsgpack writes by itself,
    it refuses just the bytes-like types.
    """
    try:
        orjson.dumps(value)
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
    if may_hold_binary(data) and holds_binary(value):
        return pack_exactly(value, ancestors=ancestors, limit=limit)
    return data


class _Frame:
    """A container whose members are being encoded."""

    __slots__ = ("identity", "kinds", "members", "parts", "todo")

    def __init__(self, parts: Parts, identity: int, kinds: int) -> None:
        self.parts = parts
        self.identity = identity
        self.kinds = kinds
        self.members: list[object] = []
        self.todo: Iterator[object] = iter(parts.flat())


def pack_exactly(
    value: object, *, ancestors: Sequence[int] = (), limit: int | None = None
) -> bytes:
    """Encode a value by a walk in Python without recursion (see `pack`)."""
    around = list(ancestors)
    root = _Frame(Parts(Kind.LIST, None, None, [value]), 0, 0)
    stack = [root]
    size = 0
    while stack:
        frame = stack[-1]
        child = next(frame.todo, _END)
        if child is _END:
            stack.pop()
            if stack:
                around.pop()
                stack[-1].members.append(_close(frame, len(stack)))
            continue
        plain = leaf(child)
        if plain is NOT_A_LEAF:
            plain = _open(child, frame, stack, around)
            if type(plain) is _Frame:
                stack.append(plain)
                around.append(plain.identity)
                continue
        frame.members.append(plain)
        size += _weight(plain)
        if limit is not None and size > limit:
            raise TooLargeError
    return packb(root.members[0], None, OPTIONS)


_END = object()


def _weight(plain: object) -> int:
    """Give a lower bound of the encoded size."""
    return len(plain) + 1 if type(plain) is str else 1


def _open(child: object, parent: _Frame, stack: list[_Frame], around: list[int]) -> object:
    """Start on a container, or give the mark that stands for it."""
    identity = id(child)
    if identity in around:
        up = len(around) - around.index(identity)
        return Ext(Kind.CYCLE, packb(up))
    if len(stack) > MAX_DEPTH or parent.kinds > MAX_KINDS:
        return Opaque(type(child).__qualname__, "nested too deep to be kept").packed()
    parts = take_apart(child, depth=parent.kinds)
    if isinstance(parts, Ext):
        return parts
    plain = parts.kind in (Kind.LIST, Kind.DICT)
    return _Frame(parts, identity, parent.kinds + (0 if plain else 1))


def _close(frame: _Frame, depth: int) -> object:
    """Put the encoded members of a container together."""
    packed = frame.parts.packed(frame.members)
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
