"""
How bytes lie in the columns of the store: a first byte, then plain or deflated content.

Deflate (RFC 1951) with its fixed codes: of content of one to four kilobytes, which most chunks are,
the codes made for each cost a reader as much time as all the rest, and are a sixth of the size.
Less than a kilobyte is not deflated: it would save a fifth. Together a large state is read in
three quarters of the time for an eighth more on disk, 8.8 MB of 1,000 steps. Levels 1 to 9 differ
by a hundredth in size. Without zlib's header and checksum: they are six bytes a chunk, and a
chunk's own digest is checked when it is read.
"""

from __future__ import annotations

import zlib

from argentum.errors import FormatError

LEVEL = 6
RAW_DEFLATE = -15
CHUNK_FROM_BYTES = 1024
REFERENCE_FROM_BYTES = 512
"""Deflating takes 15 to 40 microseconds; a small event should not wait for it."""
_PLAIN, _DEFLATED = b"\x00", b"\x01"


def packed(content: bytes, from_bytes: int) -> bytes:
    """Give the column's value, deflated if it has so many bytes and gets smaller by it."""
    if len(content) >= from_bytes:
        deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW_DEFLATE, strategy=zlib.Z_FIXED)
        deflated = deflate.compress(content) + deflate.flush()
        if len(deflated) < len(content):
            return _DEFLATED + deflated
    return _PLAIN + content


def unpacked(column: bytes) -> bytes:
    """
    Give the content back.

    Raises:
        FormatError: the column was not written by `packed`, or is damaged.
    """
    mark = column[:1]
    if mark == _PLAIN:
        return column[1:]
    if mark != _DEFLATED:
        message = f"A stored column starts with {mark!r}; this version knows 0 and 1."
        raise FormatError(message)
    try:
        return zlib.decompress(column[1:], RAW_DEFLATE)
    except zlib.error as error:
        message = f"A stored column is damaged ({error}). Run: argentum doctor"
        raise FormatError(message) from error
