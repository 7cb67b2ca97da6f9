"""
Look through encodings: base64, hexadecimal, URL and JSON escapes.

Each decoded piece is bounded in size, and how often one lies in another is bounded by the caller,
so that decoding costs in proportion to the text whatever the text is.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
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
    """A part of a text with its escapes undone."""

    start: int
    text: bytes
    encoding: str
    written: tuple[int, ...]
    """Places after each escape, in the decoded text."""
    shifts: tuple[int, ...]
    """How much longer the written text is up to there."""

    def place(self, at: int) -> int:
        """Give the place in the written text of a place in the decoded text."""
        behind = bisect_right(self.written, at)
        return self.start + at + (self.shifts[behind - 1] if behind else 0)


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


def is_json_web_token(header: bytes, payload: bytes) -> bool:
    """Tell whether the first part of a JWT decodes to a header with an algorithm."""
    del payload
    text = _from_base64(header[:1024])
    return text.startswith(b"{") and (b'"alg"' in text or b'"typ"' in text or b'"enc"' in text)


# ---------------------------------------------------------------- escapes

_SEPARATORS: Final = b" \t\r\n\x00\x01\"'<>`"
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_JSON = re.compile(rb"\\u00([0-9A-Fa-f]{2})|\\(/)")
_MAX_PART_BYTES: Final = 8192
_PART_MASK: Final = bytes(32 if code in _SEPARATORS else 97 for code in range(256))


def decoded_parts(data: bytes) -> Iterator[DecodedPart]:
    """Give each word of a text that holds URL or JSON escapes, without them."""
    for mark, escape, encoding in (
        (b"%", _PERCENT, "url"),
        (b"\\u00", _JSON, "json"),
        (b"\\/", _JSON, "json"),
    ):
        at = data.find(mark)
        if at < 0:
            continue
        mask = data.translate(_PART_MASK)
        while at >= 0:
            start = mask.rfind(b" ", max(0, at - _MAX_PART_BYTES), at) + 1 or max(
                0, at - _MAX_PART_BYTES
            )
            end = mask.find(b" ", at, at + _MAX_PART_BYTES)
            end = min(len(data), at + _MAX_PART_BYTES) if end < 0 else end
            part = _undone(data[start:end], start, escape, encoding)
            if part is not None:
                yield part
            at = data.find(mark, end)


def _undone(
    word: bytes, start: int, escape: re.Pattern[bytes], encoding: str
) -> DecodedPart | None:
    pieces: list[bytes] = []
    at = 0
    for found in escape.finditer(word):
        pieces += (word[at : found.start()], _character(found))
        at = found.end()
    if not pieces:
        return None
    pieces.append(word[at:])
    written = tuple(accumulate(len(one) + 1 for one in pieces[:-1:2]))
    lengths = [len(found[0]) - 1 for found in escape.finditer(word)]
    return DecodedPart(start, b"".join(pieces), encoding, written, tuple(accumulate(lengths)))


def _character(found: re.Match[bytes]) -> bytes:
    if found.lastindex == 2:  # noqa: PLR2004
        return found[2]
    code = int(found[1], 16)
    return bytes((code,)) if 32 <= code < 127 else b" "  # noqa: PLR2004
