"""
Tell in a few microseconds that a text or an encoded entry holds no secret: `may_hold_secret`.

Each way to find a secret needs something to start from: a long drawn run, a word for a password
with an operator or the end of a key behind it, a login in a URL, the head of a private key, an
escape. These are looked for by C-level searches in the bytes as they lie, also in MessagePack: what
follows a key or a text there is the head of the next thing, which is never an ASCII character. The
screen may send too much on to the scan, and never too little.
"""

from __future__ import annotations

import re
from typing import Final

from argentum.security.hits import WORD

LEAST_RUN: Final = 16
RUN_MASK: Final = bytes(97 if code in WORD + b"+/" else 32 for code in range(256))
LONG: Final = b"a" * LEAST_RUN

DRAWN: Final = re.compile(rb"[A-Za-z][0-9]|[0-9][A-Za-z]|[A-Z][a-z][A-Z]|[a-z][A-Z][A-Z]")
"""What is in every drawn token, and in hardly any word, path, number, or name in camel case."""

PASSWORD_WORDS: Final = (b"pass", b"pwd", b"secret")
# What `passwords` could go on from behind such a word, before it looks at a value.
_NAMES_VALUE = re.compile(
    rb"""
    [A-Za-z0-9_.\-]{0,40}+
    (?:\\{0,3}+["'`\])]){0,3}+
    \s{0,8}
    (?: [\x01=:>(|!\x80-\xff] | (?<=[ ])is[: ] | str )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOGIN = re.compile(rb"""://[^\s/"'<>\\\x00\x01]{4,1300}@""")
"""A login of 100 and 200 characters, of up to four bytes each."""
_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")


def may_hold_secret(data: bytes) -> bool:
    """Tell quickly that a text, or an encoded value, holds nothing to look at."""
    return (
        _holds_drawn_run(data)
        or _may_name_password(data)
        or (b"://" in data and _LOGIN.search(data) is not None)
        or (b"%" in data and _ESCAPE.search(data) is not None)
        or (b"\\" in data and (b"\\u00" in data or b"\\/" in data))
        or b"-----BEGIN" in data
    )


def _holds_drawn_run(data: bytes) -> bool:
    mask = data.translate(RUN_MASK)
    start = mask.find(LONG)
    while start >= 0:
        end = mask.find(b" ", start + LEAST_RUN)
        if DRAWN.search(data, start, end if end >= 0 else len(data)) is not None:
            return True
        start = mask.find(LONG, end) if end >= 0 else -1
    return False


def _may_name_password(data: bytes) -> bool:
    lower = data.lower()
    for word in PASSWORD_WORDS:
        at = lower.find(word)
        while at >= 0:
            if _NAMES_VALUE.match(data, at) is not None or data[at - 2 : at] == b"--":
                return True
            at = lower.find(word, at + len(word))
    return False
