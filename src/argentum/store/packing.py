"""
How bytes lie in the columns of the store: a first byte, then plain or deflated content.

Deflate (RFC 1951) of level 6, the median step of a large state: levels 1, 3, 6, 9 gave 5.54, 5.52,
5.48, 5.48 KB in 262, 258, 276, 276 microseconds. Without zlib's header and checksum: they are six
bytes a chunk, and a chunk's own digest is checked when it is read.
"""

from __future__ import annotations

import zlib

from argentum.errors import FormatError

LEVEL = 6
RAW_DEFLATE = -15
CHUNK_FROM_BYTES = 128
REFERENCE_FROM_BYTES = 512
"""Deflating takes 15 to 40 microseconds; a small event should not wait for it."""
_PLAIN, _DEFLATED = b"\x00", b"\x01"


def packed(content: bytes, from_bytes: int) -> bytes:
    """Give the column's value, deflated if it has so many bytes and gets smaller by it."""
    if len(content) >= from_bytes:
        deflated = zlib.compress(content, LEVEL, RAW_DEFLATE)
        if len(deflated) < len(content):
            return _DEFLATED + deflated
    return _PLAIN + content


def unpacked(column: bytes) -> bytes:
    """
    Give the content back.

    Raises:
        FormatError: the column was not written by `packed`, or is damaged.
    """
    if column[:1] == _PLAIN:
        return column[1:]
    if column[:1] != _DEFLATED:
        message = f"A stored column starts with {column[:1]!r}; this version knows 0 and 1."
        raise FormatError(message)
    try:
        return zlib.decompress(column[1:], RAW_DEFLATE)
    except zlib.error as error:
        message = f"A stored column is damaged ({error}). Run: argentum doctor"
        raise FormatError(message) from error
