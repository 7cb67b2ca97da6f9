"""
Reading JSON and MessagePack from outside: within limits, and with one answer for each odd case.

| in the document | answer |
|---|---|
| more bytes, levels, values, or longer strings, keys or integers than allowed | `LimitError` |
| the same key twice in an object | `FormatError`: readers disagree on which one counts |
| `NaN`, `Infinity`, a number too large for a float | `FormatError`: JSON has none |
| lone surrogates | `FormatError`, or kept with `keep_surrogates` |
| a key that is no text, extension types (MessagePack) | `FormatError` |
| a byte order mark | skipped |
| anything after the value | `FormatError` |
| keys such as `$type`, `__class__`, `__proto__` | data, like any other |

What is read is made of dict, list, str, int, float, bool and None, and of bytes in MessagePack:
never an object, whatever the document says. Limits are checked before anything is built.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, BinaryIO, NoReturn

import ormsgpack

from argentum.errors import FormatError, InputError, LimitError, shown

_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A string in JSON; without its end if there is none, so that it is looked at once only."""
_BRACKET = re.compile(r"[\[\]{}]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How large a document may be."""

    max_bytes: int = 64 << 20
    max_depth: int = 200
    max_values: int = 5_000_000
    """Values of all kinds together, keys not counted."""
    max_string_characters: int = 16 << 20
    max_key_characters: int = 10_000
    max_integer_digits: int = 4_000

    def __post_init__(self) -> None:
        for name, highest in _HIGHEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 0 < value <= highest:
                message = f"{name} is {shown(value)}; an integer from 1 to {highest} would work."
                raise InputError(message)


_HIGHEST = {
    "max_bytes": 1 << 40,
    "max_depth": 250,  # what Python's and ormsgpack's readers can do
    "max_values": 1 << 40,
    "max_string_characters": 1 << 40,
    "max_key_characters": 1 << 40,
    "max_integer_digits": 4_300,  # beyond, Python refuses
}
LIMITS = DocumentLimits()


def read_limited(stream: BinaryIO, max_bytes: int) -> bytes:
    """
    Read a stream to its end, but no more than it may have.

    Raises:
        LimitError: it has more bytes.
    """
    parts: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (part := stream.read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    if left <= 0:
        raise _over("bytes", f"more than {max_bytes:,}", max_bytes)
    return b"".join(parts)


def _over(what: str, found: int | str, limit: int) -> LimitError:
    number = f"{found:,}" if isinstance(found, int) else found
    return LimitError(f"The document has {number} {what}; {limit:,} are allowed.")


# ---------------------------------------------------------------- JSON


def read_json(
    source: bytes | str, *, limits: DocumentLimits = LIMITS, keep_surrogates: bool = False
) -> Any:
    """
    Read one JSON value (RFC 8259, UTF-8).

    Args:
        keep_surrogates: whether strings may hold lone surrogates, which UTF-8 cannot write.

    Raises:
        LimitError: it is larger than allowed; the message says in what, with both numbers.
        FormatError: it is no JSON, or has what the table above refuses.
        InputError: `source` is neither bytes nor text.
    """
    text = _decoded(source, limits, keep_surrogates=keep_surrogates)
    _survey(text, limits)
    try:
        value = _reader(limits).decode(text)
    except json.JSONDecodeError as error:
        message = f"The document is no JSON: {error}."
        raise FormatError(message) from error
    except RecursionError as error:
        message = "The document nests too deep for this thread's stack; allow fewer levels."
        raise LimitError(message) from error
    if not keep_surrogates and _ESCAPED_SURROGATE.search(text):
        _refuse_surrogates(value)
    return value


def _decoded(source: bytes | str, limits: DocumentLimits, *, keep_surrogates: bool) -> str:
    if not isinstance(source, (bytes, str)):
        message = f"{shown(source)} is no document; give bytes or text."
        raise InputError(message)
    if len(source) > limits.max_bytes:
        raise _over("bytes", len(source), limits.max_bytes)
    try:
        errors = "surrogatepass" if keep_surrogates and isinstance(source, str) else "strict"
        data = source.encode("utf-8", errors) if isinstance(source, str) else source
        text = source if isinstance(source, str) else source.decode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        message = f"The document is not UTF-8: {error.reason} at {error.start}."
        raise FormatError(message) from error
    if len(data) > limits.max_bytes:
        raise _over("bytes", len(data), limits.max_bytes)
    return text.removeprefix("\ufeff")


def _survey(text: str, limits: DocumentLimits) -> None:
    """Look at the shape of a document without building any of it."""
    if len(text) > limits.max_string_characters:  # keys are measured when they are read
        _refuse_long_strings(text, limits)
    bare = _STRING.sub("", text)
    opened = bare.count("[") + bare.count("{")
    values = bare.count(",") + opened + 1
    if values > limits.max_values:
        raise _over("values", values, limits.max_values)
    if opened > limits.max_depth:
        steps = (1 if found in "[{" else -1 for found in _BRACKET.findall(bare))
        depth = max(accumulate(steps))
        if depth > limits.max_depth:
            raise _over("levels", depth, limits.max_depth)
    long = rf"\d{{{min(20, limits.max_integer_digits)},}}"  # most numbers are not worth a look
    digits = max(map(len, re.findall(long, bare)), default=0)
    if digits > limits.max_integer_digits:
        raise _over("digits in a number", digits, limits.max_integer_digits)


def _refuse_long_strings(text: str, limits: DocumentLimits) -> None:
    longest = max(map(len, _STRING.findall(text)), default=0)
    if longest - 2 <= limits.max_string_characters:
        return
    for found in _STRING.finditer(text):
        if len(found[0]) - 2 > limits.max_string_characters:
            _refuse_long_string(found[0], limits)


def _refuse_long_string(quoted: str, limits: DocumentLimits) -> None:
    """Refuse a string that is too long once its escapes are read."""
    try:
        size = len(json.loads(quoted, strict=False))
    except json.JSONDecodeError:  # what is wrong with it is told when the document is read
        return
    if size > limits.max_string_characters:
        raise _over("characters in a string", size, limits.max_string_characters)


def _reader(limits: DocumentLimits) -> json.JSONDecoder:
    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise _duplicate(key for key, _ in pairs)
        for key in made:
            if len(key) > limits.max_key_characters:
                raise _over("characters in a key", len(key), limits.max_key_characters)
        return made

    return json.JSONDecoder(
        object_pairs_hook=as_dict, parse_float=_finite, parse_constant=_refuse_constant
    )


def _duplicate(keys: Iterable[str]) -> FormatError:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            break
        seen.add(key)
    return FormatError(f"The key {shown(key)} is twice in one object; keep one of the two.")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        message = f"The number {shown(text)} is too large for a float; write it as text."
        raise FormatError(message)
    return number


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is no JSON number; write null, or the word as text."
    raise FormatError(message)


def _refuse_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        lone = error.object[error.start]
        message = f"A string has the lone surrogate {lone!a}, which is no character."
        raise FormatError(message) from error


# ---------------------------------------------------------------- MessagePack


def read_msgpack(data: bytes, *, limits: DocumentLimits = LIMITS) -> Any:
    """
    Read one value of MessagePack that JSON could hold, or bytes.

    Its heads are walked in Python first, at about a million values a second.

    Raises:
        LimitError: it is larger than allowed; the message says in what, with both numbers.
        FormatError: it is no MessagePack, or has what the table above refuses.
        InputError: `data` is not bytes.
    """
    if not isinstance(data, bytes):
        message = f"{shown(data)} is no MessagePack; give bytes."
        raise InputError(message)
    if len(data) > limits.max_bytes:
        raise _over("bytes", len(data), limits.max_bytes)
    _Walk(data, limits).to_end()
    try:
        return ormsgpack.unpackb(data)
    except ValueError as error:
        message = f"The document is no MessagePack: {error}."
        raise FormatError(message) from error


_SCALAR, _TEXT, _BYTES, _FLOAT, _LIST, _DICT = range(6)
_SIZED = {
    0xC4: (_BYTES, 1), 0xC5: (_BYTES, 2), 0xC6: (_BYTES, 4),
    0xD9: (_TEXT, 1), 0xDA: (_TEXT, 2), 0xDB: (_TEXT, 4),
    0xDC: (_LIST, 2), 0xDD: (_LIST, 4), 0xDE: (_DICT, 2), 0xDF: (_DICT, 4),
}  # fmt: skip
"""Heads that are followed by a size, and how many bytes that takes."""
_FIXED = {
    0xC0: (_SCALAR, 0), 0xC2: (_SCALAR, 0), 0xC3: (_SCALAR, 0),
    0xCA: (_FLOAT, 4), 0xCB: (_FLOAT, 8),
    0xCC: (_SCALAR, 1), 0xCD: (_SCALAR, 2), 0xCE: (_SCALAR, 4), 0xCF: (_SCALAR, 8),
    0xD0: (_SCALAR, 1), 0xD1: (_SCALAR, 2), 0xD2: (_SCALAR, 4), 0xD3: (_SCALAR, 8),
}  # fmt: skip
_FLOAT_FORMATS = {4: ">f", 8: ">d"}


class _Open:
    """A container whose members are being walked."""

    __slots__ = ("keys", "left")

    def __init__(self, left: int, keys: set[bytes] | None) -> None:
        self.left = left
        self.keys = keys


class _Walk:
    """Goes from head to head of a MessagePack value and looks at each."""

    __slots__ = ("_at", "_data", "_limits", "_open", "_values")

    def __init__(self, data: bytes, limits: DocumentLimits) -> None:
        self._data = data
        self._limits = limits
        self._at = 0
        self._values = 0
        self._open: list[_Open] = []

    def to_end(self) -> None:
        """Walk it all, or raise what is wrong."""
        self._value()
        while self._open:
            inner = self._open[-1]
            if not inner.left:
                self._open.pop()
                continue
            inner.left -= 1
            if inner.keys is not None:
                self._key(inner.keys)
            self._value()
        if self._at != len(self._data):
            raise self._broken("has something after its value")

    def _broken(self, reason: str) -> FormatError:
        return FormatError(f"The MessagePack document {reason} (at byte {self._at}).")

    def _value(self) -> None:
        self._values += 1
        if self._values > self._limits.max_values:
            raise _over("values", self._values, self._limits.max_values)
        kind, size = self._head()
        if kind in (_LIST, _DICT):
            self._enter(kind, size)
            return
        content = self._take(size)
        if kind == _FLOAT and not math.isfinite(struct.unpack(_FLOAT_FORMATS[size], content)[0]):
            raise self._broken("has NaN or an infinity, which JSON has not")
        if kind in (_TEXT, _BYTES) and size > self._limits.max_string_characters:
            self._refuse_long(content, "string", self._limits.max_string_characters)

    def _key(self, seen: set[bytes]) -> None:
        kind, size = self._head()
        if kind != _TEXT:
            raise self._broken("has a key that is no text")
        key = self._take(size)
        if size > self._limits.max_key_characters:
            self._refuse_long(key, "key", self._limits.max_key_characters)
        if key in seen:
            raise _duplicate([key.decode("utf-8", "replace")] * 2)
        seen.add(key)

    def _refuse_long(self, content: bytes, what: str, limit: int) -> None:
        size = len(content.decode("utf-8", "replace"))
        if size > limit:
            raise _over(f"characters in a {what}", size, limit)

    def _enter(self, kind: int, size: int) -> None:
        if size > len(self._data) - self._at:
            raise self._broken(f"says that {size:,} values follow, but it ends before")
        self._open.append(_Open(size, set() if kind == _DICT else None))
        if len(self._open) > self._limits.max_depth:
            raise _over("levels", len(self._open), self._limits.max_depth)

    def _head(self) -> tuple[int, int]:
        """Read what kind of value follows, and how many bytes or members it has."""
        head = self._take(1)[0]
        if head < 0x80 or head >= 0xE0:  # noqa: PLR2004 - small integers
            return _SCALAR, 0
        if head < 0xC0:  # noqa: PLR2004 - the size is in the head
            kind = _TEXT if head >= 0xA0 else _LIST if head >= 0x90 else _DICT  # noqa: PLR2004
            return kind, head & (0x1F if kind == _TEXT else 0x0F)
        if head in _FIXED:
            return _FIXED[head]
        if head in _SIZED:
            kind, width = _SIZED[head]
            return kind, int.from_bytes(self._take(width))
        raise self._broken("has an extension type, or a byte that MessagePack does not know")

    def _take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise self._broken("ends too early")
        return self._data[start : self._at]
