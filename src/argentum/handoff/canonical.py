"""
One form of bytes for each JSON value (RFC 8785, JCS), so that equal documents have equal digests.

Numbers are floats, as for most readers of JSON: `1.0` is written `1`, and an integer beyond 2^53 is
refused because another reader would round it. Such numbers travel as text. A float beyond 2^53 is
written as an integer and read as a float again.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import orjson
import rfc8785

from argentum.errors import FormatError, InputError, shown
from argentum.security.documents import DocumentLimits, read_json

MAX_DEPTH = 100
LIMITS = DocumentLimits(max_bytes=8 << 20, max_depth=MAX_DEPTH + 10, max_values=200_000)
"""A value in a document may have `MAX_DEPTH` levels; the document has a few around it."""
QUICK_BYTES = 8_000
"""Fewer than any limit on a part of a document."""
QUICK_LEVELS = MAX_DEPTH
_AS_WRITTEN = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
LARGEST_INTEGER = 2**53 - 1


def canonical(value: Any) -> bytes:
    """
    Write a JSON value in its canonical form.

    Raises:
        InputError: it holds what JSON does not carry exactly; the message says where.
        LimitError: it is larger than `read` would take.
    """
    try:
        written = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError):
        plain(value, "The value")
        raise
    if len(written) > QUICK_BYTES:
        read_json(written, limits=LIMITS)
    return written


def read(data: str | bytes, limits: DocumentLimits = LIMITS) -> Any:
    """
    Read a JSON value, with large integers as the floats that `canonical` wrote.

    Raises:
        FormatError, LimitError: as `read_json`, or an integer is not one that a float holds.
        InputError: `data` is neither text nor bytes.
    """
    if not isinstance(data, (str, bytes)):
        raise InputError(f"{shown(data)} is no document; give bytes or text.")
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise FormatError(f"The document is not UTF-8: {error.reason}.") from error
    value = _read_as_written(raw)
    return _with_floats(read_json(raw, limits=limits)) if value is None else value


def _read_as_written(raw: bytes) -> Any:
    """
    Read what orjson writes alike; None for anything else.

    That is most of what `canonical` wrote, ten times quicker than `read_json`. What is written
    alike has no key twice; so short a text is within every limit but that of levels.
    """
    if len(raw) > QUICK_BYTES or raw.count(b"[") + raw.count(b"{") > QUICK_LEVELS:
        return None
    try:
        value = orjson.loads(raw)
        return value if orjson.dumps(value, option=_AS_WRITTEN) == raw else None
    except (ValueError, TypeError):  # no JSON; an integer of more than 53 bits
        return None


def digest(data: bytes) -> str:
    """Give `sha256:` and the hexadecimal digest of the bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """
    Copy a value, of which JSON must carry every part exactly; tuples become lists.

    Raises:
        InputError: a part of it would not arrive as it was sent; the message says where.
    """
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str:
        return text(value, where)
    if kind is int:
        return _integer(value, where)
    if kind is float:
        return _finite(value, where)
    if kind in (list, tuple, dict):
        if depth == MAX_DEPTH:
            raise refused(where, value, f"at most {MAX_DEPTH} levels")
        return _container(value, where, depth + 1)
    raise refused(where, value, "text, a number, a boolean, None, a list or a dict")


def text(value: Any, where: str) -> str:
    """Give a text that UTF-8 can write."""
    if type(value) is not str:
        raise refused(where, value, "text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise refused(where, value, "text without lone surrogates") from None
    return value


def refused(where: str, value: object, would: str) -> InputError:
    """Build the error that names the field, its value and what would do."""
    return InputError(f"{where} is {shown(value)}; {would} would work.")


def _with_floats(value: Any) -> Any:
    if type(value) is dict:
        return {key: _with_floats(item) for key, item in value.items()}
    if type(value) is list:
        return [_with_floats(item) for item in value]
    if type(value) is int and abs(value) > LARGEST_INTEGER:
        return _as_float(value)
    return value


def _as_float(value: int) -> float:
    try:
        if rfc8785.dumps(float(value)) == str(value).encode():
            return float(value)
    except OverflowError:
        pass
    raise FormatError(
        f"The number {shown(value)} is more than readers of JSON keep exactly; write it as text."
    )


def _container(value: Any, where: str, depth: int) -> Any:
    if type(value) is dict:
        return {
            text(key, f"A key of {where}"): plain(item, f"{where}.{key}", depth)
            for key, item in value.items()
        }
    return [plain(item, f"{where}[{index}]", depth) for index, item in enumerate(value)]


def _integer(value: int, where: str) -> int:
    if abs(value) > LARGEST_INTEGER:
        hint = "an integer within ±(2^53 - 1), which every reader of JSON keeps, or text"
        raise refused(where, value, hint)
    return value


def _finite(value: float, where: str) -> float:
    if not math.isfinite(value):
        raise refused(where, value, "a finite number, or text")
    return value
