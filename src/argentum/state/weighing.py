"""How much it says that a value was found somewhere, and how sure it makes an answer."""

from __future__ import annotations

from collections.abc import Iterable

from argentum.errors import shown
from argentum.matching import (
    COMMON,
    ORDINARY,
    RARE,
    Content,
    Match,
    Sought,
    is_everywhere,
    name_in,
)
from argentum.matching.contents import INSIDE, LESS, PART, ROUNDED, WRITTEN
from argentum.matching.texts import name_of

SURE, LIKELY, GUESS = "sure", "likely", "guess"
CERTAINTIES = (SURE, LIKELY, GUESS)
"""The surest first."""
_NAMES_FOR_ANYTHING = frozenset(
    {"answer", "content", "data", "item", "items", "message", "output", "result", "results"}
    | {"text", "value", "values"}
)
WORST = 2
"""The tier of what is no more than a rounded number, or a part of an identifier."""


def least_sure(certainties: Iterable[str]) -> str:
    """Give the least sure of several certainties."""
    return max(certainties, key=CERTAINTIES.index, default=SURE)


def is_telling(sought: Sought, match: Match, *, near: bool) -> bool:
    """
    Tell whether a match is more than chance.

    Args:
        near: whether the event lies between the two states that differ.
    """
    if match.loss == LESS:
        return False  # nobody gets digits that were not there
    if sought.distinctness == COMMON:
        return match.is_named and match.loss <= (PART if near else WRITTEN)
    if match.loss == ROUNDED or (match.loss == INSIDE and not near):
        return match.is_named
    if sought.distinctness == RARE or near or match.is_named or sought.dates:
        return True
    return match.loss <= WRITTEN and name_of(name_in(match.where)) in _NAMES_FOR_ANYTHING


CROWDED = 40
"""Values in one output from which a common one is found among them by chance, more often than not:
there are about as many two-digit numbers and short words that programs use."""


def tells_by_place(sought: Sought, match: Match, content: Content) -> bool:
    """
    Tell whether a common value under another name counts, in the only output of its kind.

    It does not if the output says something else under the name of the value.
    """
    if match.where[:1] != ("output",):
        return False
    return not sought.name or all(leaf.name != sought.name for leaf in content.leaves)


def doubt_of_place(sought: Sought, content: Content) -> tuple[str, str]:
    """Tell how far a common value is believed that only its place between two states ties."""
    if is_everywhere(sought.value):
        return GUESS, f"{shown(sought.value)} is found nearly everywhere"
    if len(content.leaves) > CROWDED:
        return GUESS, "it holds so much that such a value may be there by chance"
    return LIKELY, "such a value is found in many places, and its name there is another"


def tier(sought: Sought, match: Match) -> int:
    """Order matches in one stretch of a run before their nearness counts; 0 is best."""
    if match.loss > PART:
        return WORST
    return int(sought.distinctness < RARE and not match.is_named)


def doubts_of(sought: Sought, match: Match) -> list[tuple[str, str]]:
    """Tell what lowers the certainty of a match: how far at most, and why."""
    if sought.distinctness == COMMON:
        return [(LIKELY, "such a value is found in many places")]
    if match.loss == ROUNDED:
        return [(LIKELY if match.is_named else GUESS, "it is rounded")]
    if match.loss == INSIDE:
        return [(LIKELY if match.is_named else GUESS, "digits of an identifier are no number")]
    if sought.distinctness == ORDINARY and not (match.is_named and match.loss < PART):
        return [(LIKELY, "such a value may be found in other places, too")]
    return []
