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
_HEX: Final = b"0123456789abcdefABCDEF"
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
        for found in _ESCAPE.finditer(self.word):
            written.append(found.start() - shifts[-1] + 1)
            shifts.append(shifts[-1] + len(found[0]) - 1)
        return lambda at: self.start + at + shifts[bisect_right(written, at)]


def decoded_run(data: bytes, start: int, end: int) -> DecodedRun | None:
    """Decode a run of base64 or hex, or give None if no text comes out."""
    if not LEAST_ENCODED_BYTES <= end - start <= MAX_DECODED_BYTES:
        return None
    run = data[start:end]
    probe = run[:_PROBE_BYTES]
    if len(run) % 2 == 0 and not probe.translate(None, _HEX) and _is_text(_from_hex(probe)):
        text = _from_hex(run)
        return DecodedRun(start, end, text, "hex") if _is_text(text) else None
    if not _is_text(_from_base64(probe)):
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
_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})|\\u00([0-7][0-9A-Fa-f])|\\(/)")
_URL_ESCAPE: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_JSON_ESCAPE: Final = re.compile(rb"\\(?:u00[0-7][0-9A-Fa-f]|/)")
_AROUND_ESCAPE_BYTES: Final = 1024
"""How far from an escape a text without a space is looked at."""
_LEAST_WORD_BYTES: Final = 20
_WORD_MASK: Final = bytes(32 if code in _SEPARATORS else 97 for code in range(256))
_WORD: Final = re.compile(rb"[^" + re.escape(_SEPARATORS) + rb"]{0,%d}" % _AROUND_ESCAPE_BYTES)


def decoded_parts(data: bytes) -> Iterator[DecodedPart]:
    """Give each word of a text that holds URL or JSON escapes, without them."""
    seen = 0
    url, json = _next_url_escape(data, 0), _next_json_escape(data, 0)
    while (at := min(url, json)) < len(data):
        start, seen = _word_around(data, at, seen)
        if seen - start >= _LEAST_WORD_BYTES:
            word, encoding = data[start:seen], "url" if at == url else "json"
            yield DecodedPart(start, word, _ESCAPE.sub(_character, word), encoding)
        if url < seen:
            url = _next_url_escape(data, seen)
        if json < seen:
            json = _next_json_escape(data, seen)


def _next_url_escape(data: bytes, start: int) -> int:
    at = data.find(b"%", start)
    while at >= 0 and _URL_ESCAPE.match(data, at) is None:
        at = data.find(b"%", at + 1)
    return at if at >= 0 else len(data)


def _next_json_escape(data: bytes, start: int) -> int:
    found = _JSON_ESCAPE.search(data, start)
    return len(data) if found is None else found.start()


def _word_around(data: bytes, at: int, seen: int) -> tuple[int, int]:
    least = max(seen, at - _AROUND_ESCAPE_BYTES)
    before = data[least:at].translate(_WORD_MASK)
    end = _WORD.match(data, at)
    return least + before.rfind(b" ") + 1, end.end() if end else at


def _character(found: re.Match[bytes]) -> bytes:
    if found.lastindex == 3:  # noqa: PLR2004 - an escaped slash
        return b"/"
    return _CHARACTERS[int(found[found.lastindex or 0], 16)]


_CHARACTERS: Final = [bytes((code,)) if 32 <= code < 127 else b" " for code in range(256)]  # noqa: PLR2004
