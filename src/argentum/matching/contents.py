"""Where values are looked for: any value, its parts, and what its texts hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from argentum.matching.dates import Moment, dates_in, dates_of, is_day_only, same_moment
from argentum.matching.leaves import MOST_LEAVES, Leaf, json_in, leaves, name_in, parts_of
from argentum.matching.numbers import Reading, is_rounded, numbers_in, numbers_of
from argentum.matching.sought import COMMON, CONTAINERS, Sought, plain_value
from argentum.matching.texts import name_of, words_of
from argentum.tree import Record
from argentum.tree.encoding import pack
from argentum.tree.paths import Step

SAME, WRITTEN, PART, INSIDE, ROUNDED, LESS = range(6)
"""
What the value that is looked for lacks of what was found: nothing, the spelling, what stood around
it, the rest of an identifier, digits or the time of day. `LESS`: the other way, what was found has
fewer digits or no time.
"""

SAME_VALUE, SAME_NUMBER = "same value", "same number written differently"
SAME_TEXT, SAME_DATE = "same text but for case and punctuation", "same date written differently"
ROUNDED_NUMBER, SAME_DAY = "same number rounded", "same day"
TEXT_PART, NUMBER_PART = "part of the text", "number in the text"
SAME_WORD, DATE_PART, WORD_PART = "same value as a word", "date in the text", "said in the text"
PERCENTAGE, IDENTIFIER_PART = "same number as a percentage", "digits of an identifier"


class Match(NamedTuple):
    """A place that says the same as the value that was looked for."""

    how: str
    """In words: `same value`, `number in the text`, …"""
    loss: int
    """`SAME`, `WRITTEN`, `PART`, `INSIDE`, `ROUNDED` or `LESS`."""
    is_named: bool
    """Whether it stands under the same name."""
    where: tuple[Step, ...]
    """The place; into JSON in a text it goes on."""

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Order matches of one value, the best first."""
        return self.loss > PART, not self.is_named, self.loss


class Content:
    """A value in which others are looked for; what its texts hold is read once, when needed."""

    __slots__ = ("_containers", "_dates", "_numbers", "_text", "leaves", "value")

    def __init__(self, value: Any) -> None:
        self._take(value, list(leaves(value)))

    @classmethod
    def of(cls, found: list[Leaf]) -> Content:
        """Look in some leaves of a value, not in all of it."""
        made = cls.__new__(cls)
        made._take(None, found)  # noqa: SLF001 - our own
        return made

    def _take(self, value: Any, found: list[Leaf]) -> None:
        self.value = value
        self.leaves = found
        self._text: str | None = None
        self._numbers: dict[Decimal, list[tuple[Reading, Leaf, bool]]] | None = None
        self._dates: list[tuple[Moment, Leaf, str]] | None = None
        self._containers: dict[bytes, list[tuple[Step, ...]]] | None = None

    def find(self, sought: Sought) -> Match | None:
        """Find the best place that says the same; None if there is none."""
        if isinstance(sought.value, CONTAINERS):
            return self._container(sought)
        return min(self._matches(sought), key=lambda match: match.rank, default=None)

    def find_same(self, sought: Sought) -> Match | None:
        """Find the value itself, not as a part of anything, under whatever name it stands."""
        if isinstance(sought.value, CONTAINERS):
            return self._container(sought)
        found = self._constants(sought) if sought.is_structural() else self._matches(sought)
        whole = (match for match in found if match.loss <= WRITTEN)
        return min(whole, key=lambda match: match.rank, default=None)

    def _constants(self, sought: Sought) -> Iterator[Match]:
        for leaf in self.leaves:
            if leaf.value is sought.value:
                yield Match(SAME_VALUE, SAME, leaf.name == sought.name, leaf.steps)

    def _matches(self, sought: Sought) -> Iterator[Match]:
        if sought.is_structural():
            yield from self._structural(sought)
            return
        if sought.words:
            yield from self._texts(sought)
        if sought.numbers:
            yield from self._same_numbers(sought)
        if sought.dates:
            yield from self._same_dates(sought)
        if not sought.words and not sought.numbers and not sought.dates:
            yield from self._exact(sought)

    def _structural(self, sought: Sought) -> Iterator[Match]:
        for leaf in self.leaves:
            if leaf.value is sought.value and leaf.name == sought.name:
                yield Match(SAME_VALUE, SAME, is_named=True, where=leaf.steps)
            elif leaf.words == f" {str(sought.value).lower()} " and leaf.name == sought.name:
                yield Match(SAME_WORD, WRITTEN, is_named=True, where=leaf.steps)
            elif leaf.words and sought.is_named_in(leaf.words, str(sought.value).lower()):
                yield Match(WORD_PART, PART, is_named=True, where=leaf.steps)

    def _exact(self, sought: Sought) -> Iterator[Match]:
        kind = type(sought.value)
        for leaf in self.leaves:
            if type(leaf.value) is kind and pack(leaf.value) == pack(sought.value):
                yield Match(SAME_VALUE, SAME, leaf.name == sought.name, leaf.steps)

    def _texts(self, sought: Sought) -> Iterator[Match]:
        if self._text is None:
            self._text = "\n".join(leaf.words for leaf in self.leaves if leaf.words)
        if sought.words not in self._text:
            return
        for leaf in self.leaves:
            if sought.words not in leaf.words:
                continue
            named = leaf.name == sought.name
            if leaf.value == sought.value:
                yield Match(SAME_VALUE, SAME, named, leaf.steps)
            elif leaf.words == sought.words:
                yield Match(SAME_TEXT, WRITTEN, named, leaf.steps)
            else:
                told = named or sought.is_named_in(leaf.words, sought.words)
                how = (IDENTIFIER_PART, INSIDE) if sought.numbers else (TEXT_PART, PART)
                yield Match(*how, told, leaf.steps)

    @property
    def numbers(self) -> dict[Decimal, list[tuple[Reading, Leaf, bool]]]:
        """The numbers by their sizes, and whether each is all of its leaf."""
        if self._numbers is None:
            self._numbers = _numbers_by_size(self.leaves)
        return self._numbers

    @property
    def dates(self) -> list[tuple[Moment, Leaf, str]]:
        """The dates, with the text of one that stands in a longer text."""
        if self._dates is None:
            self._dates = _dates_among(self.leaves)
        return self._dates

    def _same_numbers(self, sought: Sought) -> Iterator[Match]:
        for wanted in sought.numbers:
            yield from self._near_numbers(sought, wanted, _number_match)
        for wanted in as_percentages(sought):
            yield from self._near_numbers(sought, wanted, _percentage_match)

    def _near_numbers(
        self, sought: Sought, wanted: Reading, compare: Callable[..., Match | None]
    ) -> Iterator[Match]:
        for key in sizes(wanted.number):
            for reading, leaf, is_whole in self.numbers.get(key, ()):
                match = compare(sought, wanted, reading, leaf, is_whole=is_whole)
                if match is not None:
                    yield match

    def _same_dates(self, sought: Sought) -> Iterator[Match]:
        for wanted in sought.dates:
            for moment, leaf, text in self.dates:
                if same_moment(wanted, moment):
                    yield _date_match(sought, leaf, text, wanted, moment)

    def _container(self, sought: Sought) -> Match | None:
        if self._containers is None:
            self._containers = _containers_in(self.value)
        if sought.packed is None:
            sought.packed = _packed(sought.value)
        places = self._containers.get(sought.packed, ())
        found = [
            Match(SAME_VALUE, SAME, name_of(name_in(steps)) == sought.name, steps)
            for steps in places
        ]
        return min(found, key=lambda match: match.rank, default=None)


def _is_named(sought: Sought, leaf: Leaf, text: str) -> bool:
    """
    Tell whether a value stands under the name, or a text around it names it.

    Args:
        text: how it is written in a text around it; empty if the leaf is nothing but the value.
            The name of a whole text says nothing about one of the numbers in it.
    """
    if not text:
        return leaf.name == sought.name
    return sought.is_named_in(leaf.words, words_of(text))


def _date_match(sought: Sought, leaf: Leaf, text: str, wanted: Moment, found: Moment) -> Match:
    named = _is_named(sought, leaf, text)
    if is_day_only(wanted, found):
        return Match(SAME_DAY, ROUNDED if wanted[1] is None else LESS, named, leaf.steps)
    if text:
        return Match(DATE_PART, PART, named, leaf.steps)
    if leaf.value == sought.value:
        return Match(SAME_VALUE, SAME, named, leaf.steps)
    return Match(SAME_DATE, WRITTEN, named, leaf.steps)


def _number_match(
    sought: Sought, wanted: Reading, found: Reading, leaf: Leaf, *, is_whole: bool
) -> Match | None:
    if found.number == wanted.number:
        exact = type(leaf.value) is type(sought.value) and leaf.value == sought.value
        if is_whole:
            how, loss = (SAME_VALUE, SAME) if exact else (SAME_NUMBER, WRITTEN)
        elif found.is_in_identifier:
            how, loss = IDENTIFIER_PART, INSIDE
        else:
            how, loss = NUMBER_PART, PART
    elif is_rounded(wanted, found) and not found.is_in_identifier:
        how, loss = ROUNDED_NUMBER, ROUNDED if wanted.unit > found.unit else LESS
    else:
        return None
    named = _is_named(sought, leaf, "" if is_whole or loss == INSIDE else found.text)
    return Match(how, loss, named, leaf.steps)


def as_percentages(sought: Sought) -> list[Reading]:
    """Give a number times 100 and by 100: `0.15` is 15 under the name of a percentage."""
    if not sought.numbers or sought.distinctness == COMMON:
        return []
    number, unit = sought.numbers[0][:2]
    return [Reading(number.scaleb(by), unit.scaleb(by)) for by in (2, -2)]


def _percentage_match(
    sought: Sought, wanted: Reading, found: Reading, leaf: Leaf, *, is_whole: bool
) -> Match | None:
    named = _is_named(sought, leaf, "" if is_whole else found.text)
    if found.number != wanted.number or not named:
        return None
    return Match(PERCENTAGE, WRITTEN if is_whole else PART, named, leaf.steps)


def _numbers_by_size(
    found: list[Leaf],
) -> dict[Decimal, list[tuple[Reading, Leaf, bool]]]:
    by_size: dict[Decimal, list[tuple[Reading, Leaf, bool]]] = {}
    for leaf in found:
        whole = numbers_of(leaf.value)
        readings = whole or (numbers_in(leaf.value) if isinstance(leaf.value, str) else ())
        for reading in readings:
            for key in sizes(reading.number):
                by_size.setdefault(key, []).append((reading, leaf, bool(whole)))
    return by_size


def sizes(number: Decimal) -> set[Decimal]:
    """Give the number with one digit, cut and rounded up: what rounds to it shares one of them."""
    if not number:
        return {Decimal(0)}
    unit = Decimal(1).scaleb(number.adjusted())
    down = number // unit * unit
    up = down if down == number else down + unit.copy_sign(number)
    return {down.normalize(), up.normalize()}


def _dates_among(found: list[Leaf]) -> list[tuple[Moment, Leaf, str]]:
    dates: list[tuple[Moment, Leaf, str]] = []
    for leaf in found:
        whole = dates_of(leaf.value)
        dates += [(moment, leaf, "") for moment in whole]
        if not whole and isinstance(leaf.value, str):
            dates += [(moment, leaf, text) for moment, text in dates_in(leaf.value)]
    return dates


def _containers_in(value: Any) -> dict[bytes, list[tuple[Step, ...]]]:
    found: dict[bytes, list[tuple[Step, ...]]] = {}
    stack: list[tuple[tuple[Step, ...], Any]] = [((), value)]
    while stack and len(found) < MOST_LEAVES:
        steps, part = stack.pop()
        below = parts_of(part)
        if below is None:
            inside = json_in(part)
            if inside is not None:
                stack.append((steps, inside))
            continue
        found.setdefault(_packed(part), []).append(steps)
        stack += [((*steps, step), one) for step, one in reversed(below)]
    return found


def _packed(value: Any) -> bytes:
    """Encode a container; a tuple says the same as a list, an object the same as its fields."""
    return pack(_loosely(value, 0))


_DEEPEST = 60


def _loosely(value: Any, depth: int) -> Any:
    below = parts_of(value)
    if below is None or depth > _DEEPEST:
        return plain_value(value)
    if isinstance(value, dict | Record):
        return {str(step): _loosely(one, depth + 1) for step, one in sorted(below, key=_by_text)}
    return [_loosely(one, depth + 1) for _, one in below]


def _by_text(pair: tuple[Step, Any]) -> str:
    return str(pair[0])


def says_same(value: Any, other: Any, name: str = "") -> Match | None:
    """
    Tell whether a value says the same as another one, or as a part of it, and how.

    Args:
        name: the key under which the value stands; booleans and None need one.
    """
    return Content({name: other} if name else other).find(Sought(value, name))
