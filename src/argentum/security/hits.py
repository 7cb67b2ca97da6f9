"""A place in a text where a secret stands, and the marks in texts that were joined for one scan."""

from __future__ import annotations

from typing import Final, NamedTuple

NAMES_VALUE: Final = b"\x01"
"""Between a key and its value, where leaves of a JSON-like value are joined to one text."""
ENDS_LEAF: Final = b"\x00"
"""After each leaf; nothing that is found crosses it."""

WORD: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
LETTERS_AND_DIGITS: Final = WORD[:-2]
CLASSES: Final = bytes(
    ord("0" if one.isdigit() else "A" if one.isupper() else "a") if one.isalnum() else ord(" ")
    for one in map(chr, range(128))
).ljust(256)
"""Makes each digit a `0`, each capital an `A`, each small letter an `a`, all else a space."""


class Hit(NamedTuple):
    """A place in a text where a secret stands."""

    start: int
    end: int
    rule: str
    confidence: float
    encoding: str = ""


def places_of(word: bytes, data: bytes) -> list[int]:
    """Give each place where a word stands, looked for leftwards: its first byte is rare."""
    places = []
    at = data.rfind(word)
    while at >= 0:
        places.append(at)
        at = data.rfind(word, 0, at)
    return places[::-1]


def merged(hits: list[Hit]) -> list[Hit]:
    """Make one hit of those that overlap: all they cover, under the name of the surest."""
    hits.sort(key=lambda hit: (hit.start, -hit.end))
    kept = hits[:1]
    for hit in hits[1:]:
        last = kept[-1]
        if hit.start >= last.end:
            kept.append(hit)
            continue
        surest = hit if hit.confidence > last.confidence else last
        kept[-1] = surest._replace(start=last.start, end=max(last.end, hit.end))
    return kept
