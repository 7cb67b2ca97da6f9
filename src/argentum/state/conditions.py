"""
Conditions over a state as text: `confidence >= previous.confidence - 0.2`.

The language is CEL (https://cel.dev), evaluated by Google's own library, which bounds how deep an
expression nests and how often it loops. In an expression

* a top-level key of the state is a variable; `state` is the whole state, for `state["odd key"]`;
* `previous` is the agent's state before. What reads it is not checked on a first snapshot, unless
  it asks `has(previous)`;
* `snapshot.label`, `snapshot.agent` and `snapshot.seq` tell which snapshot it is;
* `has(error)` and `has(a.b)` tell whether there is such a key; `list[-1]` counts from the end;
* integers and floats mix, as in Python.

Values that CEL lacks are mapped: tuples, sets, deques, ranges and arrays are lists; an object is a
map of its fields; Decimals, fractions and integers beyond 64 bits are doubles; an enum's member is
its value; dates, times and UUIDs are strings as Python writes them (`2026-12-01T09:30:00+00:00`), a
timedelta is a double in seconds. Anything else is its repr.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from argentum.errors import ArgentumError, InputError, LimitError, shown
from argentum.state.cel import EXAMPLE, NO_OVERLOAD, compiled, library, plainly
from argentum.state.expression import (
    EXISTS,
    PREVIOUS,
    SIZE,
    SNAPSHOT,
    STATE,
    VARIABLE,
    Expression,
    Read,
    read_expression,
)
from argentum.state.reading import Found, PathReader, why_missing
from argentum.state.snapshots import Snapshot
from argentum.tree import Path

MAX_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a condition says of one snapshot."""

    held: bool | None
    """None if it could not be told, for the reason in `why`."""
    why: str = ""
    is_first: bool = False
    """Whether it was not checked because it needs a snapshot before, and there is none."""


HELD, BROKEN = Outcome(held=True), Outcome(held=False)
FIRST = Outcome(None, "There is no snapshot before this one.", is_first=True)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read and checked; make it by `parse`."""

    text: str
    path: Path
    """Where in the state its names are looked up."""
    reads: tuple[Read, ...]
    """What it reads, as it is written."""
    _programs: tuple[Any, Any] = field(repr=False, compare=False)
    """As written, and with floats for integers; None where the types do not fit."""
    _expression: Expression = field(repr=False, compare=False)

    @property
    def reads_previous(self) -> bool:
        """Whether it needs the state before."""
        return any(read.source == PREVIOUS for read in self.reads)

    @property
    def asks_for_previous(self) -> bool:
        """Whether it says itself what holds where there is no state before."""
        return any(
            read.source == PREVIOUS and read.how == EXISTS and not read.path.parts
            for read in self.reads
        )

    def check(self, snapshot: Snapshot, before: Snapshot | None = None) -> Outcome:
        """Tell whether it holds for a snapshot, given the same agent's snapshot before it."""
        return self.checker().check(snapshot, before)

    def values(self, snapshot: Snapshot, before: Snapshot | None = None) -> dict[str, Any]:
        """Give what it reads there, by its text; without what is missing."""
        return self.checker().values(snapshot, before)

    def checker(self) -> Checker:
        """Give what checks one snapshot after the other, looking only at what is new."""
        return Checker(self)


def parse(text: str, *, path: str = "") -> Condition:
    """
    Read a condition.

    Args:
        path: where in the state to look its names up, as in `watch(…, path="plan")`.

    Raises:
        InputError: the text is no condition; the message points at the place.
        LimitError: it is longer than 2,000 characters.
        MissingExtraError: the CEL library is not installed.
    """
    if not isinstance(text, str):
        message = f"A condition is text, like {EXAMPLE!r}; this is {shown(text)}."
        raise InputError(message)
    return _parsed(text, Path(path))


@lru_cache(maxsize=256)
def _parsed(text: str, path: Path) -> Condition:
    if len(text) > MAX_CHARACTERS:
        message = (
            f"The condition has {len(text)} characters; the most is {MAX_CHARACTERS}. "
            "Split it into several."
        )
        raise LimitError(message)
    expression = read_expression(text)
    programs = compiled(text, expression)
    return Condition(text, path, expression.reads, programs, expression)


# ---------------------------------------------------------------- checking

_MISSING = re.compile(rf'No value with name "{VARIABLE}(\d+)"')

Founds = list[Found | None]


class Checker:
    """
    Checks a condition on one snapshot after the other.

    It reads nothing but the paths that the condition names, and evaluates nothing where none of
    them changed. Not for several threads at once.
    """

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        above = condition.path.parts
        paths = {
            read: Path.of((*above, *read.path.parts))
            for read in condition.reads
            if read.source != SNAPSHOT
        }
        order = list(dict.fromkeys(paths.values()))
        self._reader = PathReader(order)
        self._slots = [
            (f"{VARIABLE}{number}", read, order.index(paths[read]) if read in paths else -1)
            for number, read in enumerate(condition.reads)
        ]
        self._needs_previous = condition.reads_previous and not condition.asks_for_previous
        self._may_skip = all(read.source != SNAPSHOT for read in condition.reads)
        self._seen: tuple[Founds, Founds | None] | None = None
        self._outcome = HELD
        self._asked: tuple[Snapshot, Snapshot | None]

    def check(self, snapshot: Snapshot, before: Snapshot | None = None) -> Outcome:
        """Tell whether the condition holds for a snapshot (see `Condition.check`)."""
        self._asked = (snapshot, before)
        if before is None and self._needs_previous:
            self._reader.read(snapshot.tree)  # it is the next one's `before`
            return FIRST
        try:
            old = self._before(before)
            new = self._reader.read(snapshot.tree)
            if self._may_skip and self._is_seen(new, old):
                return self._outcome
            self._outcome = self._evaluated(snapshot, new, old)
            self._seen = (new, old)
        except ArgentumError as error:  # a damaged store; the snapshot, not the condition
            self._seen = None
            return Outcome(None, str(error))
        return self._outcome

    def values(self, snapshot: Snapshot, before: Snapshot | None = None) -> dict[str, Any]:
        """Give what the condition reads (see `Condition.values`)."""
        old, new = self._before(before), self._reader.read(snapshot.tree)
        values: dict[str, Any] = {}
        for _, read, at in self._slots:
            if read.source == SNAPSHOT:
                values[read.text] = getattr(snapshot, read.path)
                continue
            found = _found(read, at, new, old)
            if found is None:
                if read.how == EXISTS:
                    values[read.text] = False
                continue
            whole = found.size() if read.how == SIZE else found.value()
            values[read.text] = True if read.how == EXISTS else whole
        return values

    def _before(self, before: Snapshot | None) -> Founds | None:
        if before is None or not self.condition.reads_previous:
            return None
        return self._reader.read(before.tree)

    def _is_seen(self, new: Founds, old: Founds | None) -> bool:
        if self._seen is None:
            return False
        known_new, known_old = self._seen
        if new is known_new and old is known_old:
            return True
        return _are_same(new, known_new) and _are_same(old, known_old)

    def _evaluated(self, snapshot: Snapshot, new: Founds, old: Founds | None) -> Outcome:
        exact, floats = self.condition._programs  # noqa: SLF001 - two halves of one thing
        mixed = floats is not None and self._is_mixed(new, old)
        order = ((floats, True), (exact, False)) if mixed else ((exact, False), (floats, True))
        outcome = None
        for program, as_floats in order:
            if program is None:
                continue
            data = self._data(snapshot, new, old, floats=as_floats)
            later = self._run(program, data, new, old)
            if outcome is None or later.held is not None:
                outcome = later
            if NO_OVERLOAD not in later.why:
                break
        assert outcome is not None  # noqa: S101 - one of the programs is there
        return outcome if NO_OVERLOAD not in outcome.why else self._mistyped(outcome.why, new, old)

    def _is_mixed(self, new: Founds, old: Founds | None) -> bool:
        """Tell whether there are integers and floats, of which CEL makes no sum."""
        expression = self.condition._expression  # noqa: SLF001 - as above
        kinds = {
            type(found.value())
            for _, read, at in self._slots
            if read.how == "value" and (found := _found(read, at, new, old)) is not None
            if found.is_small
        }
        return (int in kinds or expression.has_int) and (float in kinds or expression.has_float)

    def _data(
        self, snapshot: Snapshot, new: Founds, old: Founds | None, *, floats: bool
    ) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name, read, at in self._slots:
            if read.source == SNAPSHOT:
                data[name] = getattr(snapshot, read.path)
                continue
            found = _found(read, at, new, old)
            if read.how == EXISTS:
                data[name] = found is not None
            elif found is not None and read.how == SIZE:
                count = found.size()
                if count is not None:
                    data[name] = float(count) if floats else count
            elif found is not None:
                data[name] = found.cel(floats=floats)
        return data

    def _run(self, program: Any, data: dict[str, Any], new: Founds, old: Founds | None) -> Outcome:
        try:
            result = program.eval(data=data)
            value = result.value()
        except Exception as error:  # noqa: BLE001 - whatever the library says, it says in text
            return Outcome(None, plainly(str(error)))
        if value is True:
            return HELD
        if value is False:
            return BROKEN
        if result.type() != library().Type.ERROR:
            return Outcome(None, f"It gives {shown(result.plain_value())}, not true or false.")
        reason = str(result.plain_value())
        missing = _MISSING.search(reason)
        if missing is not None:
            return Outcome(None, self._missing(int(missing[1]), new, old))
        return Outcome(None, plainly(reason))

    def _missing(self, number: int, new: Founds, old: Founds | None) -> str:
        """Say what is not there, and what is near it."""
        _, read, at = self._slots[number]
        asked = self._asked[1 if read.source == PREVIOUS else 0]
        if asked is None:
            return FIRST.why
        found = _found(read, at, new, old)
        if found is not None:
            return f"`{read.text}`: {shown(found.value())} has no size."
        of = "" if read.source == STATE else " That is the state before."
        return why_missing(asked.tree, self._reader.paths[at]) + of

    def _mistyped(self, reason: str, new: Founds, old: Founds | None) -> Outcome:
        values = {
            read.text: found.value()
            for _, read, at in self._slots
            if read.how == "value" and (found := _found(read, at, new, old)) is not None
        }
        named = ", ".join(f"{text} is {shown(value)}" for text, value in values.items())
        return Outcome(None, plainly(reason) + (f" Here {named}." if named else ""))


def _found(read: Read, at: int, new: Founds, old: Founds | None) -> Found | None:
    if read.source == PREVIOUS:
        return None if old is None else old[at]
    return new[at]


def _are_same(one: Founds | None, other: Founds | None) -> bool:
    if one is None or other is None:
        return one is other
    return all(map(_is, one, other))


def _is(one: object, other: object) -> bool:
    return one is other
