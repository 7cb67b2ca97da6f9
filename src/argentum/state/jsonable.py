"""
Any value as JSON, without loss: what JSON lacks is written as `{"$type": …, "value": …}`.

Plain JSON values stand for themselves. A dict with a key `$type`, or with keys that are no `str`,
is written as `{"$type": "pairs", "value": [keys…, values…]}`, so data never looks like a type.
Integers beyond 2**53, which other readers of JSON round, are written as text, and so are NaN and
the infinities, which JSON (RFC 8259) does not have.
"""

from __future__ import annotations

import binascii
import math
from collections.abc import Callable
from typing import Any

import ormsgpack
from ormsgpack import Ext, packb

from argentum.errors import FormatError, LimitError, shown
from argentum.tree.encoding import OPTIONS, WRAP_EVERY, pack, unpack
from argentum.tree.kinds import Kind
from argentum.tree.taking import leaf

TYPE, VALUE = "$type", "value"
EXACT_INT = 2**53
_NAMES = {kind.name.lower(): kind for kind in Kind}


class _Typed:
    """An extension value that is not decoded further."""

    __slots__ = ("kind", "payload")

    def __init__(self, code: int, data: bytes) -> None:
        self.kind = Kind(code)
        self.payload = ormsgpack.unpackb(data, ext_hook=_Typed)


def to_jsonable(value: object) -> Any:
    """
    Turn any value into what `json.dumps` writes and `from_jsonable` turns back.

    Raises:
        LimitError: the value nests too deep for JSON readers.
    """
    try:
        return _down(ormsgpack.unpackb(pack(value), ext_hook=_Typed))
    except RecursionError as error:
        message = "The value nests too deep to be written as JSON."
        raise LimitError(message) from error


def _down(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return [_down(item) for item in value]
    if kind is dict and TYPE not in value:
        return {key: _down(item) for key, item in value.items()}
    if kind is _Typed and value.kind is Kind.DEEP:
        return _down(value.payload)
    name = _name_of(value)
    if name is None:
        return value
    down: Callable[[Any], Any] = _TO_TEXT.get(name, _down_payload)
    return {TYPE: name, VALUE: down(value)}


def _name_of(value: Any) -> str | None:
    """Name the type of what JSON lacks; None for what it has."""
    kind = type(value)
    if kind is _Typed:
        return str(value.kind.name.lower())
    if kind is dict:
        return "pairs"
    if kind is bytes:
        return "base64"
    if kind is float and not math.isfinite(value):
        return "float"
    return "int" if kind is int and abs(value) > EXACT_INT else None


def _down_payload(value: Any) -> Any:
    payload = [*value, *value.values()] if type(value) is dict else value.payload
    return _down(payload)


_TO_TEXT: dict[str, Callable[[Any], str]] = {
    "base64": lambda value: binascii.b2a_base64(value, newline=False).decode(),
    "float": repr,
    "int": str,
}


def has_types(data: Any) -> bool:
    """Tell whether any part of a JSON value is written with its type, so has to be decoded."""
    stack = [data]
    while stack:
        part = stack.pop()
        if type(part) is dict:
            if TYPE in part:
                return True
            stack += part.values()
        elif type(part) is list:
            stack += part
    return False


def from_jsonable(data: Any, *, live: bool = False) -> Any:
    """
    Turn what `to_jsonable` gave back into the value.

    Args:
        live: see `argentum.tree.encoding.unpack`.

    Raises:
        LimitError: the JSON nests too deep.
        FormatError: a `$type` that this version does not know, or a value that does not fit it.
    """
    try:
        return unpack(packb(_up(data), None, OPTIONS), live=live)
    except RecursionError as error:
        message = "The JSON nests too deep to be read as a value."
        raise LimitError(message) from error


def _up(data: Any, depth: int = 1) -> Any:
    if depth % WRAP_EVERY == 0 and type(data) in (list, dict):
        return Ext(Kind.DEEP, packb(_up(data), None, OPTIONS))
    if type(data) is list:
        return [_up(item, depth + 1) for item in data]
    if type(data) is int and not -(2**63) <= data < 2**64:
        return Ext(Kind.BIG_INT, packb(hex(data)))
    if type(data) is str:
        return _text(data)
    if type(data) is not dict:
        return data
    if TYPE not in data:
        return {_name(key): _up(item, depth + 1) for key, item in data.items()}
    return _typed(data[TYPE], data.get(VALUE))


def _text(text: str) -> object:
    """Let a text pass that has lone surrogates, which JSON can write as escapes."""
    return text if text.isascii() else leaf(text)


def _name(key: str) -> str:
    if _text(key) is not key:
        message = f"The key {shown(key)} has a lone surrogate; write such dicts as `pairs`."
        raise FormatError(message)
    return key


def _typed(name: Any, value: Any) -> Any:
    try:
        if name == "base64":
            return binascii.a2b_base64(value, strict_mode=True)
        if name == "float":
            return float(value)
        if name == "int":
            return _up(int(value))
        return Ext(_NAMES[name], packb(_up(value), None, OPTIONS))
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        known = ", ".join(sorted({"base64", "float", "int", *_NAMES}))
        message = (
            f"{{{TYPE!r}: {shown(name)}}} with {shown(value)} is no value; known types: {known}."
        )
        raise FormatError(message) from error
