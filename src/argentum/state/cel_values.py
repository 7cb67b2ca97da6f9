"""Any value of a state as one that CEL has."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import orjson
from ormsgpack import packb

from argentum.errors import InputError
from argentum.tree import Member, Record
from argentum.tree.encoding import OPTIONS

LARGEST = 2**63
DEEPEST = 200
_JSON_DEEPEST = 254
"""Levels that orjson writes."""
_NUMBERS = frozenset({"Decimal", "Fraction"})


def as_cel(value: Any, *, floats: bool = False) -> Any:
    """
    Give a value as CEL has it (see `argentum.state.conditions`).

    Args:
        floats: give integers as floats, too.

    Raises:
        InputError: the value nests too deep.
    """
    if not floats and type(value) in (dict, list) and _is_cel(value):
        return value
    return _as_cel(value, floats, 0)


def _is_cel(value: Any) -> bool:
    """Tell whether a container holds nothing but what CEL has: two passes in C, for large ones."""
    deeper = value
    for _ in range(_JSON_DEEPEST - DEEPEST):
        deeper = [deeper]
    try:
        packb(value, None, OPTIONS)  # exact types, and text that is UTF-8
        orjson.dumps(deeper, None, orjson.OPT_STRICT_INTEGER)  # no bytes, nothing large or deep
    except TypeError:
        return False
    return True


def _as_cel(value: Any, floats: bool, depth: int) -> Any:  # noqa: FBT001 - called for every value
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _text(value)
    if kind is bool or kind is float or value is None or kind is bytes:
        return value
    if kind is int:
        return _number(value) if floats or not -LARGEST <= value < LARGEST else value
    if depth > DEEPEST:
        message = f"A value nests more than {DEEPEST} levels deep, too deep for a condition."
        raise InputError(message)
    if kind is list:
        return [_as_cel(item, floats, depth + 1) for item in value]
    if kind is dict:
        return {_key(key): _as_cel(item, floats, depth + 1) for key, item in value.items()}
    return _of_other(value, floats, depth + 1)


def _of_other(value: Any, floats: bool, depth: int) -> Any:  # noqa: FBT001 - as above
    if isinstance(value, Record):
        return _as_cel(value.fields.get("", value.fields), floats, depth)
    if isinstance(value, Member):
        return _as_cel(value.name if value.value is None else value.value, floats, depth)
    if isinstance(value, tuple | set | frozenset | deque | range):
        return [_as_cel(item, floats, depth) for item in value]
    if hasattr(value, "tolist"):  # an array, or one number of an array
        return _as_cel(value.tolist(), floats, depth)
    if type(value).__name__ in _NUMBERS:
        return _number(value)
    return _SCALARS.get(type(value), _shown)(value)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # beyond what a float holds, or a signalling NaN
        return float("inf") if value > 0 else float("-inf")


def _key(key: object) -> object:
    """CEL's maps have keys of text, truth and whole numbers."""
    if type(key) is str:
        return key if key.isascii() else _text(key)
    if type(key) is bool or (type(key) is int and -LARGEST <= key < LARGEST):
        return key
    return _shown(key)


def _text(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 has."""
    return text.encode("utf-8", "replace").decode()


def _shown(value: object) -> str:
    try:
        return _text(str(value))
    except Exception:  # noqa: BLE001 - a value that was read back may be of a foreign type
        return type(value).__name__


_SCALARS: Mapping[type, Callable[[Any], Any]] = {
    bytearray: bytes,
    memoryview: bytes,
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: timedelta.total_seconds,
}
