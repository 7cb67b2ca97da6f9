"""
Look through encodings: base64, hexadecimal, URL and JSON escapes.

Each decoded piece is bounded in size, and how often one lies in another is bounded by the caller,
so that decoding costs in proportion to the text whatever the text is.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_DECODED_BYTES: Final = 65_536
LEAST_ENCODED_BYTES: Final = 20
_PROBE_BYTES: Final = 32
_TEXT: Final = bytes(range(32, 127)) + b"\t\r\n"
_MOSTLY: Final = 0.9


@dataclass(frozen=True, slots=True)
class DecodedRun:
    """The text that a run of base64 or hex stands for."""

    start: int
    end: int
    text: bytes
    encoding: str


@dataclass(frozen=True, slots=True)
class DecodedPart:
    """A word of a text with its escapes undone."""

    start: int
    word: bytes
    text: bytes
    encoding: str

    def places(self) -> Callable[[int], int]:
        """Give what takes a place in the decoded text back to the text as written."""
        written: list[int] = []
        shifts: list[int] = [0]
        for found in _ESCAPES[self.encoding].finditer(self.word):
            written.append(found.start() - shifts[-1] + 1)
            shifts.append(shifts[-1] + len(found[0]) - 1)
        return lambda at: self.start + at + shifts[bisect_right(written, at)]


def decoded_run(data: bytes, start: int, end: int) -> DecodedRun | None:
    """Decode a run of base64 or hex, or give None if no text comes out."""
    if not LEAST_ENCODED_BYTES <= end - start <= MAX_DECODED_BYTES:
        return None
    run = data[start:end]
    if len(run) % 2 == 0 and _is_text(_from_hex(run[:_PROBE_BYTES])):
        text = _from_hex(run)
        return DecodedRun(start, end, text, "hex") if _is_text(text) else None
    if not _is_text(_from_base64(run[:_PROBE_BYTES])):
        return None
    while data[end : end + 1] == b"=" and end - start - len(run) < 2:  # noqa: PLR2004
        end += 1
    text = _from_base64(run)
    return DecodedRun(start, end, text, "base64") if _is_text(text) else None


_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def _from_base64(run: bytes) -> bytes:
    try:
        return binascii.a2b_base64(run[: len(run) // 4 * 4].translate(_URL_SAFE)) + _rest(run)
    except binascii.Error:
        return b""


def _rest(run: bytes) -> bytes:
    """Decode the last one or two bytes of unpadded base64."""
    over = len(run) % 4
    if over < 2:  # noqa: PLR2004
        return b""
    return binascii.a2b_base64(run[-over:].translate(_URL_SAFE) + b"=" * (4 - over))


def _from_hex(run: bytes) -> bytes:
    try:
        return binascii.a2b_hex(run)
    except binascii.Error:
        return b""


def _is_text(decoded: bytes) -> bool:
    if len(decoded) < 8:  # noqa: PLR2004
        return False
    return len(decoded.translate(None, _TEXT)) <= len(decoded) * (1 - _MOSTLY)


def is_json_web_token(header: bytes) -> bool:
    """Tell whether the first part of a JWT decodes to a header with an algorithm."""
    text = _from_base64(header[:1024])
    return text.startswith(b"{") and (b'"alg"' in text or b'"typ"' in text or b'"enc"' in text)


# ---------------------------------------------------------------- escapes

_SEPARATORS: Final = b" \t\r\n\x00\x01\"'<>`"
_ESCAPES: Final = {
    "url": re.compile(rb"%([0-9A-Fa-f]{2})"),
    "json": re.compile(rb"\\u00([0-7][0-9A-Fa-f])|\\(/)"),
}
_MARKS: Final = ((b"%", "url"), (b"\\u00", "json"), (b"\\/", "json"))
_AROUND_ESCAPE_BYTES: Final = 1024
"""How far from an escape a text without a space is looked at."""
_LEAST_WORD_BYTES: Final = 20
_WORD_MASK: Final = bytes(32 if code in _SEPARATORS else 97 for code in range(256))


def decoded_parts(data: bytes) -> Iterator[DecodedPart]:
    """Give each word of a text that holds URL or JSON escapes, without them."""
    mask = b""
    for mark, encoding in _MARKS:
        at, seen = data.find(mark), 0
        while at >= 0:
            mask = mask or data.translate(_WORD_MASK)
            start, seen = _word_around(mask, at, seen)
            word = data[start:seen]
            if len(word) >= _LEAST_WORD_BYTES:
                text = _ESCAPES[encoding].sub(_character, word)
                if len(text) < len(word):
                    yield DecodedPart(start, word, text, encoding)
            at = data.find(mark, seen)


def _word_around(mask: bytes, at: int, seen: int) -> tuple[int, int]:
    least = max(seen, at - _AROUND_ESCAPE_BYTES)
    most = min(len(mask), at + _AROUND_ESCAPE_BYTES)
    start, end = mask.rfind(b" ", least, at), mask.find(b" ", at, most)
    return (least if start < 0 else start + 1), (most if end < 0 else end)


def _character(found: re.Match[bytes]) -> bytes:
    if found.lastindex == 2:  # noqa: PLR2004 - an escaped slash
        return b"/"
    return _CHARACTERS[int(found[1], 16)]


_CHARACTERS: Final = [bytes((code,)) if 32 <= code < 127 else b" " for code in range(256)]  # noqa: PLR2004
