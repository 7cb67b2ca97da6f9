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
from collections.abc import Iterator
from typing import Final

from argentum.security.hits import CLASSES, WORD

LEAST_RUN: Final = 16
RUN_MASK: Final = bytes(97 if code in WORD + b"+/" else 32 for code in range(256))
LONG: Final = b"a" * LEAST_RUN

PASSWORD_WORDS: Final = (b"pass", b"pwd", b"secret")
_NAME: Final = WORD + b"."
_CLOSES_NAME: Final = b"\\\"'`])"
_LEADS_ON: Final = frozenset(bytes((one,)) for one in (*b"\x01=:>(|!", *range(128, 256)))
_REACH_BYTES: Final = 72
"""How far behind such a word `passwords` looks for what leads on to a value, and more."""
_LOGIN = re.compile(rb"""://[^\s/"'<>\\\x00\x01]{4,1300}@""")
"""A login of 100 and 200 characters, of up to four bytes each."""
_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")


_LEAST_BYTES: Final = 9
"""The least that anything is found in: `://:abc@x`."""


def may_hold_secret(data: bytes) -> bool:
    """Tell quickly that a text, or an encoded value, holds nothing to look at."""
    return len(data) >= _LEAST_BYTES and (
        _holds_drawn_run(data)
        or _may_name_password(data)
        or (data.find(b"@") >= 0 and _LOGIN.search(data) is not None)
        or (data.find(b"%") >= 0 and _ESCAPE.search(data) is not None)
        or (data.find(b"\\") >= 0 and (b"\\u00" in data or b"\\/" in data))
        or data.find(b"-----BEGIN") >= 0
    )


def _holds_drawn_run(data: bytes) -> bool:
    mask = data.translate(RUN_MASK)
    at = mask.rfind(LONG)
    while at >= 0:  # as `long_runs` does, which costs more than most entries take
        start = mask.rfind(b" ", 0, at) + 1
        if is_drawn(data[start : at + LEAST_RUN]):
            return True
        at = mask.rfind(LONG, 0, start)
    return False


def long_runs(data: bytes) -> Iterator[tuple[int, int, int]]:
    """
    Give where each long run starts and ends, from right to left, and where the one before it ended.

    Looking from the right is half as dear: there, each run is met at its border.
    """
    mask = data.translate(RUN_MASK)
    at = mask.rfind(LONG)
    while at >= 0:
        end = at + LEAST_RUN
        start = mask.rfind(b" ", 0, at) + 1
        at = mask.rfind(LONG, 0, start)
        yield (at + LEAST_RUN if at >= 0 else 0), start, end


_PLAIN: Final = b"abcdefghijklmnopqrstuvwxyz_-+/"


def is_drawn(run: bytes) -> bool:
    """Tell what every drawn token has, and hardly any word, path, number, or camel-cased name."""
    if run.isdigit() or not run.translate(None, _PLAIN):
        return False
    classes = run.translate(CLASSES).decode()  # looks in `str` cost a tenth of those in `bytes`
    return (
        "a0" in classes
        or "0a" in classes
        or "A0" in classes
        or "0A" in classes
        or "AaA" in classes
        or "aAA" in classes
    )


def _may_name_password(data: bytes) -> bool:
    lower = data.lower()
    for word in PASSWORD_WORDS:
        at = lower.rfind(word)
        while at >= 0:
            behind = lower[at : at + _REACH_BYTES].lstrip(_NAME).lstrip(_CLOSES_NAME).lstrip()
            if behind[:1] in _LEADS_ON or behind.startswith((b"is", b"str")):
                return True
            if lower[at - 2 : at] == b"--":
                return True
            at = lower.rfind(word, 0, at)
    return False
