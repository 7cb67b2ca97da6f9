"""
How bytes lie in the columns of the store: a first byte, then plain or deflated content.

zlib (RFC 1950) of level 6 was chosen over level 1 (a fifth larger) and over an optional zstd
(another dependency): only new chunks are ever compressed, at about 40 microseconds each.
"""

from __future__ import annotations

import zlib

from argentum.errors import FormatError

DEFLATE_FROM_BYTES = 512
_PLAIN, _DEFLATED = b"\x00", b"\x01"


def packed(content: bytes) -> bytes:
    """Give the column's value, deflated where that makes it clearly smaller."""
    if len(content) >= DEFLATE_FROM_BYTES:
        deflated = zlib.compress(content, 6)
        if len(deflated) < len(content) * 0.95:
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
        return zlib.decompress(column[1:])
    except zlib.error as error:
        message = f"A stored column is damaged ({error}). Run: argentum doctor"
        raise FormatError(message) from error
