"""What a text was put together from, when no event holds all of it."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from argentum.events import Event
from argentum.matching import RARE, Match, Sought, distinctness
from argentum.matching.contents import PART, TEXT_PART
from argentum.matching.texts import words_of
from argentum.state.origins import Step, Tracer, is_input
from argentum.state.sources import Found

MOST_EVENTS = 200
"""Events in which pieces are looked for, the newest."""
MOST_PIECES = 20
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")


class Piece(NamedTuple):
    """A part of a text that something recorded holds."""

    text: str
    steps: tuple[Step, ...]
    """From the event that gave it to the agent back to where it appeared first."""


class _Place(NamedTuple):
    """Where a piece stands among the words of the text."""

    start: int
    end: int
    text: str
    found: Found


def pieces_of(tracer: Tracer, agent: str | None, before: int, sought: Sought) -> list[Piece]:
    """
    Find telling values of events that stand in a text, and its sentences that stand in events.

    They come in the order of the text, each from the nearest event, and overlap nowhere.
    """
    if sought.distinctness < RARE or " " not in sought.words.strip():
        return []
    seen = list(islice(tracer.sources.seen_by(agent, before=before), MOST_EVENTS))
    sentences = [Sought(one) for one in _SENTENCE_END.split(sought.value) if words_of(one)]
    sentences = [one for one in sentences if one.distinctness == RARE and one.words != sought.words]
    places: list[_Place] = []
    for event in sorted(seen, key=is_input):  # inputs repeat the others
        for place in _places_in(tracer, event, sought, sentences):
            if len(places) < MOST_PIECES and not any(_overlap(place, one) for one in places):
                places.append(place)
    return [
        Piece(place.text, tuple(tracer.follow(agent, place.found, Sought(place.text)).steps))
        for place in sorted(places)
    ]


def _places_in(
    tracer: Tracer, event: Event, whole: Sought, sentences: list[Sought]
) -> list[_Place]:
    """Give the pieces that an event holds, the longest first."""
    found = []
    content = tracer.sources.content(event)
    for leaf in content.leaves:
        is_inside = 0 < len(leaf.words) < len(whole.words) and leaf.words in whole.words
        if is_inside and distinctness(leaf.value) == RARE:
            match = Match(TEXT_PART, PART, is_named=False, where=leaf.steps)
            found.append(_place(whole, leaf.words, leaf.value, Found(event, match)))
    for sentence in sentences:
        match_of = content.find(sentence)
        if match_of is not None and match_of.loss <= PART:
            found.append(_place(whole, sentence.words, sentence.value, Found(event, match_of)))
    return sorted(found, key=lambda place: place.start - place.end)


def _place(whole: Sought, words: str, text: str, found: Found) -> _Place:
    start = whole.words.find(words)
    return _Place(start, start + len(words) - 1, text, found)


def _overlap(one: _Place, other: _Place) -> bool:
    return one.start < other.end and other.start < one.end
