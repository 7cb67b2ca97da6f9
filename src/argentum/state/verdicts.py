"""
For which of many states a condition holds, from as few calls of it as possible.

Each call also tells what the condition read (see `argentum.state.dependence`); where all of that is
the same, so is the verdict, and no call is needed. What is still unknown then is asked in the order
of `next_to_ask`: halving towards the first state where it holds, then wherever the verdict is most
likely to be another one than its neighbours'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from argentum.state.dependence import COUNT, VALUE, Columns, Read
from argentum.tree import Path, Tree

MAX_TRACES = 32
"""Different sets of reads that are compared in all states; each costs a look at every state."""
MAX_CATEGORIES = 16
"""Values of one read up to which each of them is asked once."""

FAR_OUT = 0.1
"""How far from those that were asked a number is looked into, as a part of all their range."""

WHOLE = (Read(VALUE, Path()),)

Judge = Callable[[int], tuple[bool | None, tuple[Read, ...] | None]]
"""
Tells of a state, by number, whether the condition holds (None: it cannot be told), and what of the
state that depends on (None: who knows).
"""


class Verdicts:
    """What is known of each state so far."""

    def __init__(self, trees: Sequence[Tree], judge: Judge) -> None:
        self.known: list[bool | None] = [None] * len(trees)
        self.skipped: set[int] = set()
        self.asked: dict[int, bool | None] = {}
        self.calls = 0
        self.misled = False
        """Whether the condition was seen to depend on more than it was seen to read."""
        self.columns = Columns(trees)
        self.reads: dict[Read, None] = {}
        """All that was read by any call."""
        self._judge = judge
        self._groups: dict[tuple[Read, ...], dict[tuple[int, ...], list[int]]] = {}

    def unknown(self) -> list[int]:
        """List the states that are neither known nor skipped."""
        known, skipped = self.known, self.skipped
        return [at for at, verdict in enumerate(known) if verdict is None and at not in skipped]

    def ask(self, at: int) -> None:
        """Call the condition, and note what follows for other states."""
        verdict, reads = self._judge(at)
        self.calls += 1
        self.asked[at] = verdict
        self._note(at, verdict)
        if reads is None:
            return
        reads = WHOLE if self.misled else reads
        self.reads.update(dict.fromkeys(reads))
        for other in self._alike(at, reads):
            if self.known[other] is None:
                self._note(other, verdict)

    def check(self, at: int) -> None:
        """Call the condition where its verdict was deduced; if that was wrong, deduce no more."""
        deduced = self.known[at]
        self.ask(at)
        if self.asked[at] is not deduced:
            self.misled = True
            self.known = [self.asked.get(one) for one in range(len(self.known))]
            self.skipped = {one for one, verdict in self.asked.items() if verdict is None}

    def _note(self, at: int, verdict: bool | None) -> None:  # noqa: FBT001 - it is the data
        self.known[at] = verdict
        if verdict is None:
            self.skipped.add(at)

    def _alike(self, at: int, reads: tuple[Read, ...]) -> list[int]:
        groups = self._groups.get(reads)
        if groups is None:
            if len(self._groups) == MAX_TRACES:
                return []
            groups = self._groups[reads] = {}
            for one, found in enumerate(self._found(reads)):
                groups.setdefault(found, []).append(one)
        column = [self.columns.column(read)[at] for read in reads]
        return groups[tuple(column)]

    def _found(self, reads: tuple[Read, ...]) -> Iterator[tuple[int, ...]]:
        if not reads:  # it depends on nothing
            return iter([()] * len(self.known))
        return zip(*map(self.columns.column, reads), strict=True)


# ---------------------------------------------------------------- where to ask


def bounds(verdicts: Verdicts) -> tuple[int, int]:
    """Give the first state where it is known to hold, and the last before where it does not."""
    known = verdicts.known
    first = next((at for at, verdict in enumerate(known) if verdict), len(known))
    before = next((at for at in range(first - 1, -1, -1) if known[at] is False), -1)
    return before, first


def next_to_ask(verdicts: Verdicts) -> int | None:
    """
    Say which state to ask next; None if all are known.

    The last one comes first: where it does not hold there, halving would be in vain.
    """
    unknown = verdicts.unknown()
    if not unknown:
        return None
    if not verdicts.asked:
        return unknown[-1]
    before, first = bounds(verdicts)
    between = [at for at in unknown if before < at < first]
    if between:
        return between[len(between) // 2]
    suspect = max(_suspects(verdicts, unknown, first), default=None)
    if suspect is not None:
        return suspect.at
    near = (first + 1, 0, before - 1)
    return next((at for at in near if at in set(unknown)), _loneliest(unknown))


def _loneliest(unknown: list[int]) -> int:
    """Give the middle of the longest stretch that nothing is known of."""
    start = best_start = best_length = 0
    for place in range(1, len(unknown) + 1):
        if place == len(unknown) or unknown[place] != unknown[place - 1] + 1:
            if place - start > best_length:
                best_start, best_length = start, place - start
            start = place
    return unknown[best_start + best_length // 2]


class _Suspect(NamedTuple):
    """A state whose verdict may be another one than its neighbours'."""

    score: float
    """1 and more: what is known says so."""
    at: int


def _suspects(verdicts: Verdicts, unknown: list[int], first: int) -> Iterator[_Suspect]:
    for read in list(verdicts.reads):
        yield from _by_category(verdicts, read, unknown, first)
        if read.what in (VALUE, COUNT):
            yield from _by_number(verdicts, read, unknown, first)
        if read.what == VALUE:
            yield from _by_word(verdicts, read, unknown, first)


def _by_category(
    verdicts: Verdicts, read: Read, unknown: list[int], first: int
) -> Iterator[_Suspect]:
    """Suspect what was read where it held before that, or the other way around, or never read."""
    column = verdicts.columns.column(read)
    seen: dict[int, set[bool | None]] = {}
    for at, verdict in verdicts.asked.items():
        seen.setdefault(column[at], set()).add(verdict)
    few = len(set(column)) <= MAX_CATEGORIES
    for at in unknown:
        verdicts_there = seen.get(column[at])
        if verdicts_there == {at < first}:
            yield _Suspect(1.0, at)
        elif verdicts_there is None and few:
            yield _Suspect(0.9, at)


def _by_number(
    verdicts: Verdicts, read: Read, unknown: list[int], first: int
) -> Iterator[_Suspect]:
    """Suspect numbers that are on the wrong side, or far from all that were asked."""
    numbers = verdicts.columns.numbers(read)
    asked = [
        (numbers[at], verdict) for at, verdict in verdicts.asked.items() if verdict is not None
    ]
    held = [number for number, verdict in asked if verdict and number is not None]
    not_held = [number for number, verdict in asked if not verdict and number is not None]
    if not asked or len(held) + len(not_held) < len(asked):
        return
    if held and not_held:
        score = _wrong_side(held, not_held)
    else:
        score = _far_out(held or not_held, [one for one in numbers if one is not None])
    for at in unknown:
        number = numbers[at]
        if number is not None:
            suspicion = score(number, at < first)
            if suspicion > 0:
                yield _Suspect(suspicion, at)


def _wrong_side(held: list[float], not_held: list[float]) -> Callable[[float, bool], float]:
    """Where a number is larger whenever it holds, or smaller, tell how near it is to the others."""
    sign = 1.0 if max(not_held) < min(held) else -1.0
    low, high = max(sign * one for one in not_held), min(sign * one for one in held)
    if low >= high:
        return lambda _number, _is_before: 0.0

    def score(number: float, is_before: bool) -> float:  # noqa: FBT001 - what it is about
        share = (sign * number - low) / (high - low)
        return share if is_before else 1 - share

    return score


def _far_out(asked: list[float], numbers: list[float]) -> Callable[[float, bool], float]:
    """Where one verdict alone was seen, tell how far a number is from where that was."""
    low, high = min(asked), max(asked)
    width = (max(numbers) - min(numbers)) or 1.0
    return lambda number, _: min(max(low - number, number - high) / width - FAR_OUT, 0.9)


def _by_word(verdicts: Verdicts, read: Read, unknown: list[int], first: int) -> Iterator[_Suspect]:
    """Suspect texts by the words that stood wherever it held and nowhere else, or the other way."""
    words = verdicts.columns.words(read)
    held = [words[at] for at, verdict in verdicts.asked.items() if verdict]
    not_held = [words[at] for at, verdict in verdicts.asked.items() if verdict is False]
    for_it = frozenset.intersection(*held).difference(*not_held) if held else frozenset()
    against = frozenset.intersection(*not_held).difference(*held) if not_held else frozenset()
    if not for_it and not against:
        return
    for at in unknown:
        right, wrong = (for_it, against) if at > first else (against, for_it)
        if wrong and wrong <= words[at]:
            yield _Suspect(1.0, at)
        elif right and not right <= words[at]:
            yield _Suspect(0.8, at)
