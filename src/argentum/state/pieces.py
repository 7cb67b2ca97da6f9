"""What a text was put together from, when no event holds all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from argentum.matching import RARE, Match, Sought, distinctness
from argentum.matching.contents import PART, TEXT_PART
from argentum.state.origins import Step, Tracer, is_input
from argentum.state.sources import Found

MOST_EVENTS = 200
"""Events in which pieces are looked for, the newest."""
MOST_PIECES, MOST_SENTENCES = 20, 100
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
    found = [*_values_in(tracer, agent, before, sought), *_sentences(tracer, agent, before, sought)]
    places: list[_Place] = []
    for place in sorted(found, key=_nearest_and_longest):
        if len(places) < MOST_PIECES and not any(_overlap(place, one) for one in places):
            places.append(place)
    return [
        Piece(place.text, tuple(tracer.follow(agent, place.found, Sought(place.text)).steps))
        for place in sorted(places)
    ]


def _values_in(tracer: Tracer, agent: str | None, before: int, whole: Sought) -> Iterator[_Place]:
    """Find values of events that stand in a text."""
    for event in islice(tracer.sources.seen_by(agent, before=before), MOST_EVENTS):
        for leaf in tracer.sources.content(event).leaves:
            is_inside = 0 < len(leaf.words) < len(whole.words) and leaf.words in whole.words
            if is_inside and distinctness(leaf.value) == RARE:
                match = Match(TEXT_PART, PART, is_named=False, where=leaf.steps)
                yield _place(whole, leaf.words, leaf.value, Found(event, match))


def _sentences(tracer: Tracer, agent: str | None, before: int, whole: Sought) -> Iterator[_Place]:
    """Find sentences of a text that stand in events."""
    for text in _SENTENCE_END.split(whole.value, MOST_SENTENCES)[:MOST_SENTENCES]:
        sentence = Sought(text)
        if sentence.distinctness < RARE or sentence.words in ("", whole.words):
            continue
        for event in islice(tracer.sources.may_hold(agent, sentence, before=before), MOST_EVENTS):
            found = tracer.sources.find(event, sentence)
            if found is not None and found.match.loss <= PART:
                yield _place(whole, sentence.words, text, found)
                if not is_input(event):
                    break


def _nearest_and_longest(place: _Place) -> tuple[bool, int, int]:
    """Put what a model was given last: it repeats the others."""
    return is_input(place.found.event), -place.found.event.seq, place.start - place.end


def _place(whole: Sought, words: str, text: str, found: Found) -> _Place:
    start = whole.words.find(words)
    return _Place(start, start + len(words) - 1, text, found)


def _overlap(one: _Place, other: _Place) -> bool:
    return one.start < other.end and other.start < one.end
