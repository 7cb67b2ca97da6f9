"""Find private keys in PEM frames, whole or cut short."""

from __future__ import annotations

import re

from argentum.security.hits import ENDS_LEAF, LETTERS_AND_DIGITS, Hit
from argentum.security.judging import spread

_BEGIN = b"-----BEGIN"
_KEY_HEADER = re.compile(rb"-----BEGIN(?: [A-Z0-9]{2,12}){0,4} PRIVATE KEY(?: BLOCK)?-----")
_MAX_KEY_BYTES = 16_384
_LEAST_KEY_BYTES = 60
_LEAST_SPREAD = 0.12
_NOT_BASE64 = bytes(code for code in range(256) if code not in LETTERS_AND_DIGITS + b"+/=")


def private_keys(data: bytes) -> list[Hit]:
    """Give each private key from its first line to its last."""
    hits = []
    at = data.find(_BEGIN)
    while at >= 0:
        header = _KEY_HEADER.match(data, at)
        if header is not None:
            end = _end_of_key(data, header.end())
            body = data[header.end() : end].translate(None, _NOT_BASE64)
            if len(body) >= _LEAST_KEY_BYTES and spread(body) > _LEAST_SPREAD:
                hits.append(Hit(at, end, "private-key", 0.98))
                at = end - 1
        at = data.find(_BEGIN, at + 1)
    return hits


_LINES = re.compile(rb"[A-Za-z0-9+/=\s\\:,.\-]*")


def _end_of_key(data: bytes, start: int) -> int:
    """Give where a key ends: at its last line, or where its lines stop if that is missing."""
    limit = min(len(data), start + _MAX_KEY_BYTES)
    leaf = data.find(ENDS_LEAF, start, limit)
    limit = leaf if leaf >= 0 else limit
    again = data.find(_BEGIN, start, limit)
    limit = again if again >= 0 else limit
    end = data.find(b"-----END", start, limit)
    if end >= 0:
        close = data.find(b"-----", end + 8, end + 80)
        return close + 5 if close >= 0 else end + 8
    body = _LINES.match(data, start, limit)
    return body.end() if body else start
