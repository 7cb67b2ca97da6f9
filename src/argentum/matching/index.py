"""Which of many contents may hold a value, by marks that have to stand in one that does."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from argentum.matching.contents import Content, as_percentages, sizes
from argentum.matching.sought import CONTAINERS, Sought

_DATE = object()


class Index:
    """
    The marks of many contents: their words, the sizes of their numbers, the types of the rest.

    It names every content in which `Content.find` finds a value, and few others.
    """

    def __init__(self, contents: Iterable[Content]) -> None:
        self._places: dict[Hashable, list[int]] = {}
        self._count = 0
        for place, content in enumerate(contents):
            self._count += 1
            for mark in _marks_of(content):
                self._places.setdefault(mark, []).append(place)

    def places(self, sought: Sought, *, unnamed: bool = False) -> Sequence[int]:
        """
        Give the places of the contents that may hold a value, in order.

        Args:
            unnamed: those in which `Content.find_same` may find it, also under another name.
        """
        if isinstance(sought.value, CONTAINERS):
            return range(self._count)
        if unnamed and sought.is_structural():
            return self._places.get((sought.value,), [])
        found = [
            min((self._places.get(mark, []) for mark in marks), key=len)
            for marks in _needed(sought)
        ]
        return found[0] if len(found) == 1 else sorted({place for one in found for place in one})


def _marks_of(content: Content) -> set[Hashable]:
    marks: set[Hashable] = set(content.numbers)
    if content.dates:
        marks.add(_DATE)
    for leaf in content.leaves:
        if leaf.words:
            marks.update(leaf.words.split())
            marks.update(leaf.words.replace("_", " ").split())
        elif leaf.value is None or isinstance(leaf.value, bool):
            marks.update(((leaf.value, leaf.name), (leaf.value,)))
        else:
            marks.add(_type_of(leaf.value))
    return marks


def _needed(sought: Sought) -> Iterator[Sequence[Hashable]]:
    """Give the ways in which a value may be found: the marks that have to be there in each."""
    if sought.is_structural():
        yield ((sought.value, sought.name),)
        yield (str(sought.value).lower(),)
        return
    if sought.words:
        yield sought.words.split()
    for wanted in (*sought.numbers, *as_percentages(sought)):
        for size in sizes(wanted.number):
            yield (size,)
    if sought.dates:
        yield (_DATE,)
    if not sought.words and not sought.numbers and not sought.dates:
        yield (_type_of(sought.value),)


def _type_of(value: Any) -> str:
    """Name a type in a way that no word is written."""
    return f"{type(value).__name__}()"
