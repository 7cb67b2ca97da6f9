"""A value that is looked for, and how much it says when it is found."""

from __future__ import annotations

from collections import deque
from datetime import date
from pathlib import PurePath
from typing import Any
from uuid import UUID

from argentum.matching.dates import dates_of
from argentum.matching.numbers import Reading, numbers_of, significant_digits
from argentum.matching.texts import name_of, name_words, words_of
from argentum.tree import Member, Record

COMMON, ORDINARY, RARE = 0, 1, 2
"""How much a value says: `1` and `"ok"` are everywhere, `"HAT136-204"` comes from one place."""

COMMON_WORDS = frozenset(
    """
    a active agent all an and any are assistant available blocked by cancelled closed complete
    completed confirmed critical current default disabled done draft empty enabled error fail
    failed fair false final first for from good great hello high in in_progress inactive info
    is it item items last low main medium model new next no none normal not note null of off ok
    okay old on open other pending ready rejected result run running start started status step
    stop success successful system text that the this to tool true type unknown user valid value
    waiting warning with yes
    """.split()  # noqa: SIM905 - a list of words is read more easily
)
_YEARS = range(1900, 2101)
"""Four digits, but in every date: no more than ordinary."""
_RARE_DIGITS = 4
"""One of 9,000: a run seldom holds as many numbers."""
_SOME_DIGITS = 3
"""One of 900: met twice in a long run. A container of as many parts says as much."""
_FEW_DIGITS, _LARGE = 2, 1000
"""`12000` and `1.5` have two digits, but their size or point makes them one of hundreds, too."""
_RARE_CHARACTERS = 10
"""Two words or more of so many characters are a phrase, such as a full name."""
_LONG_WORD = 12
"""Single words are met again as words of a language; the longest seldom are."""
_IDENTIFIER = 5
"""Letters and digits together are made by a program, and five of them one of millions."""
_TINY = 3
"""Codes such as `EUR` and `NYC` stand in many places of what deals with them."""
_COUNTED = 10
"""Numbers below are counts, places and flags, of which every program is full."""
_BETWEEN = ("", "is ", "of ", "to ", "are ", "was ", "now ")
_NEAR = 40
"""Characters around a value in a text in which its name is looked for."""
_MANY = (dict, list, tuple, set, frozenset, deque)
CONTAINERS = (*_MANY, Record)


def plain_value(value: Any) -> Any:
    """Give the simple value that an enum's member, a UUID, a file's path or a `str` stands for."""
    if isinstance(value, Member):
        return plain_value(value.value)
    if isinstance(value, Record) and "" in value.fields and not isinstance(value.fields[""], _MANY):
        return plain_value(value.fields[""])
    return str(value) if isinstance(value, UUID | PurePath) else value


class Sought:
    """A value prepared to be looked for in many places."""

    __slots__ = (
        "dates", "distinctness", "key", "name", "name_words", "numbers", "packed", "value", "words"
    )  # fmt: skip

    def __init__(self, value: Any, name: str = "") -> None:
        """
        Prepare a value.

        Args:
            name: the key under which it stands, by which common values are told.
        """
        self.value = plain_value(value)
        self.key = name
        self.name = name_of(name)
        self.numbers = numbers_of(self.value)
        self.dates = dates_of(self.value)
        self.words = words_of(self.value) if isinstance(self.value, str) else ""
        self.distinctness = distinctness(self.value)
        self.name_words = name_words(name)
        self.packed: bytes | None = None
        """Of a container: how it is encoded, once that was needed."""

    def is_structural(self) -> bool:
        """Tell whether the value means something only under its name."""
        return self.value is None or isinstance(self.value, bool)

    def is_named_in(self, text: str, spelled: str) -> bool:
        """
        Tell whether a text names the value: ` nights 3 `, ` nights is 3 `, ` 3 nights `.

        The name of a word may stand further away; that of a common number has to touch it.

        Args:
            text: its words, each with a space before and after.
            spelled: the words of the value as they are in it.
        """
        text, value = text.replace("_", " "), f" {spelled.strip()} ".replace("_", " ")
        name = f" {self.name_words} "
        wide = self.distinctness > COMMON or bool(self.words and not self.numbers)
        at = text.find(value) if self.name_words and spelled else -1
        while at >= 0:
            before, after = text[: at + 1], text[at + len(value) - 1 :]
            if wide and (name in before[-_NEAR:] or name in after[:_NEAR]):
                return True
            if after.startswith(name) or before.endswith(tuple(name + one for one in _BETWEEN)):
                return True
            at = text.find(value, at + 1)
        return False


def distinctness(value: Any) -> int:
    """Tell how much a value says when it is found: `COMMON`, `ORDINARY` or `RARE`."""
    if value is None or isinstance(value, bool):
        return COMMON
    numbers = numbers_of(value)
    if numbers:
        return _of_number(numbers[0])
    dates = dates_of(value)
    if dates:
        return ORDINARY if dates[0][1] is None else RARE
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, CONTAINERS):
        return _of_container(value)
    return ORDINARY if isinstance(value, bytes | date) and len(str(value)) > _TINY else COMMON


def is_everywhere(value: Any) -> bool:
    """Tell whether nearly every event holds a value: True, None, 0, `"ok"`, an empty list."""
    if isinstance(value, str):
        return all(word in COMMON_WORDS for word in words_of(value).split())
    if isinstance(value, int | float):
        return abs(value) < _COUNTED
    return not value if isinstance(value, CONTAINERS) else value is None


def _of_number(reading: Reading) -> int:
    number = abs(reading.number)
    digits = significant_digits(number)
    whole = number == number.to_integral_value()
    if whole and number in _YEARS:
        return ORDINARY
    if digits >= _RARE_DIGITS:
        return RARE
    if digits == _SOME_DIGITS or (digits == _FEW_DIGITS and (number >= _LARGE or not whole)):
        return ORDINARY
    return COMMON


def _of_text(text: str) -> int:
    words = words_of(text).split()
    length = sum(map(len, words)) + len(words) - 1
    if all(word in COMMON_WORDS for word in words):
        return COMMON
    joined = "".join(words)
    if any(map(str.isdigit, joined)) and any(map(str.isalpha, joined)):
        return RARE if length >= _IDENTIFIER else ORDINARY if length >= _TINY else COMMON
    if len(words) > 1:
        return RARE if length >= _RARE_CHARACTERS else ORDINARY
    if length <= _TINY:
        return COMMON
    return RARE if length >= _LONG_WORD else ORDINARY


def _of_container(value: Any) -> int:
    """Add up the parts: one rare part is rare, three common ones say something together."""
    if isinstance(value, Record):
        value = value.fields
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    found = [ORDINARY if isinstance(one, CONTAINERS) else distinctness(one) for one in parts[:100]]
    if RARE in found or found.count(ORDINARY) > 1:
        return RARE
    return ORDINARY if ORDINARY in found or len(found) >= _SOME_DIGITS else COMMON
