"""
Conditions over a state as text: `confidence >= previous.confidence - 0.2`.

The language is CEL (https://cel.dev), evaluated by Google's own library, which bounds how deep an
expression nests and how often it loops. In an expression

* a top-level key of the state is a variable; `state` is the whole state, for `state["odd key"]`;
* `previous` is the agent's state before. What reads it is not checked on a first snapshot, unless
  it asks `has(previous)`;
* `snapshot.label`, `snapshot.agent` and `snapshot.seq` tell which snapshot it is;
* `has(error)` and `has(a.b)` tell whether there is such a key; `list[-1]` counts from the end;
* integers and floats mix, as in Python;
* two paths that are compared whole (`users == previous.users`) are equal if a diff finds no change.

Values that CEL lacks are mapped: tuples, sets, deques, ranges and arrays are lists; an object is a
map of its fields; Decimals, fractions and integers beyond 64 bits are doubles; an enum's member is
its value; dates, times and UUIDs are strings as Python writes them (`2026-12-01T09:30:00+00:00`), a
timedelta is a double in seconds. Anything else is its repr.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from argentum.errors import ArgentumError, FormatError, InputError, LimitError, shown
from argentum.state.cel import EXAMPLE, NO_OVERLOAD, compiled, library, plainly
from argentum.state.expression import (
    EQUAL,
    EXISTS,
    KEYS,
    PREVIOUS,
    SIZE,
    STATE,
    VALUE,
    VARIABLE,
    Expression,
    Read,
    read_expression,
)
from argentum.state.quick import quick
from argentum.state.reading import (
    KEPT_VALUES,
    Item,
    PathReader,
    are_equal,
    cel_of,
    is_same,
    keys_of,
    shown_of,
    size_of,
    value_of,
    why_missing,
)
from argentum.state.snapshots import Snapshot
from argentum.tree import Path
from argentum.tree.tree import NOTHING

MAX_CHARACTERS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a condition says of one snapshot."""

    held: bool | None
    """None if it could not be told, for the reason in `why`."""
    reason: str | Callable[[], str] = ""
    """To look for near names takes longer than a snapshot, and mostly nobody asks."""
    is_first: bool = False
    """Whether it was not checked because it needs a snapshot before, and there is none."""

    @property
    def why(self) -> str:
        """Why it could not be told, or what an assertion said."""
        return self.reason if isinstance(self.reason, str) else self.reason()


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
    programs: tuple[Any, Any] = field(repr=False, compare=False)
    """As written, and with floats for integers; None where the types do not fit."""
    expression: Expression = field(repr=False, compare=False)

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
        """
        Give what it reads there, by its text; without what is missing.

        Of a value beyond 50 kB there is only its size, in words.
        """
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
    reads = tuple(read for read in expression.reads if read.sides is None)
    return Condition(text, path, reads, programs, expression)


# ---------------------------------------------------------------- checking

_MISSING = re.compile(rf'No value with name "{VARIABLE}(\d+)"')
_AS_THEY_ARE = frozenset({float, bool, type(None)})
"""Types of values that CEL takes as they are."""


class Checker:
    """
    Checks a condition on one snapshot after the other.

    It reads nothing but the paths that the condition names, and evaluates nothing where none of
    them changed. Not for several threads at once.
    """

    def __init__(self, condition: Condition) -> None:
        self.condition = condition
        slots = _slots(condition)
        self._slots = slots
        paths = list(dict.fromkeys(slot.path for slot in slots if slot.source))
        self._reader = PathReader(paths)
        self._places = [
            (slot.source, paths.index(slot.path) if slot.source else 0) for slot in slots
        ]
        self._variables = slots[: condition.expression.variables]
        self._names = [slot.name for slot in self._variables]
        self._reads_previous = condition.reads_previous
        self._needs_previous = self._reads_previous and not condition.asks_for_previous
        self._only_values = all(slot.read.how == VALUE for slot in slots)
        self.quick = quick(condition.expression)
        """What answers without CEL, None if the condition is more than numbers."""
        self._seen: list[tuple[list[Item], Outcome]] = []

    def check(self, snapshot: Snapshot, before: Snapshot | None = None) -> Outcome:
        """Tell whether the condition holds for a snapshot (see `Condition.check`)."""
        if before is None and self._needs_previous:
            return FIRST
        try:
            items = self._items(snapshot, before)
            answer = None if self.quick is None else self.quick.answer(items)
            if answer is not None:
                return HELD if answer else BROKEN
            for seen, known in self._seen:
                if all(map(is_same, items, seen)):
                    outcome = known
                    break
            else:
                outcome = self._evaluated(items)
                self._seen = [(items, outcome), *self._seen[: KEPT_VALUES - 1]]
            if outcome.held is None:
                return self._untold(outcome.why, snapshot, before, items)
        except FormatError:
            raise  # the store is damaged, which is no answer
        except ArgentumError as error:  # a value that nests too deep
            return Outcome(None, str(error))
        return outcome

    def values(self, snapshot: Snapshot, before: Snapshot | None = None) -> dict[str, Any]:
        """Give what the condition reads (see `Condition.values`)."""
        values: dict[str, Any] = {}
        for slot, item in zip(self._slots, self._items(snapshot, before), strict=True):
            read = slot.read
            if read.how == EXISTS:
                values[read.text] = item is not NOTHING
            elif item is not NOTHING and read.sides is None:
                values[read.text] = size_of(item) if read.how == SIZE else shown_of(item)
        return values

    def _items(self, snapshot: Snapshot, before: Snapshot | None) -> list[Item]:
        """Give what is read, slot by slot."""
        old: list[Item] = []
        if self._reads_previous and before is not None:
            old = self._reader.read(before.tree)
        new = self._reader.read(snapshot.tree)
        items = []
        for source, at in self._places:
            if source == STATE:
                items.append(new[at])
            elif source == PREVIOUS:
                items.append(old[at] if old else NOTHING)
            elif not source:
                items.append(None)
            else:
                items.append(getattr(snapshot, str(self._reader.paths[at].parts[-1])))
        return items

    def _evaluated(self, items: list[Item]) -> Outcome:
        exact, floats = self.condition.programs
        first = floats is not None and (exact is None or self._is_mixed(items))
        if first:
            exact, floats = floats, exact
        outcome = _run(exact, self._data(items, floats=first))
        if outcome.held is None and floats is not None and NO_OVERLOAD in outcome.why:
            second = _run(floats, self._data(items, floats=not first))
            return outcome if second.held is None else second
        return outcome

    def _is_mixed(self, items: list[Item]) -> bool:
        """Tell whether there are integers and floats, of which CEL makes no sum."""
        expression = self.condition.expression
        kinds = set(map(type, items))
        return (int in kinds or expression.has_int) and (float in kinds or expression.has_float)

    def _data(self, items: list[Item], *, floats: bool) -> dict[str, Any]:
        """Give the variables of an evaluation; what is missing has none."""
        if self._only_values and _AS_THEY_ARE.issuperset(map(type, items)):
            return dict(zip(self._names, items, strict=True))
        data: dict[str, Any] = {}
        for slot, item in zip(self._variables, items, strict=False):
            value = self._value(slot, item, items, floats=floats)
            if value is not NOTHING:
                data[slot.name] = value
        return data

    def _value(self, slot: _Slot, item: Item, items: list[Item], *, floats: bool) -> Any:
        """Give a variable's value, `NOTHING` if it has none."""
        how = slot.read.how
        if how == EXISTS:
            return item is not NOTHING
        if how == EQUAL:
            one, other = (items[at] for at in slot.sides)
            return NOTHING if NOTHING in (one, other) else are_equal(one, other)
        if how == SIZE and item is not NOTHING:
            count = size_of(item)
            return NOTHING if count is None else float(count) if floats else count
        if how == KEYS and item is not NOTHING:
            return keys_of(item, floats=floats)
        return item if item is NOTHING else cel_of(item, floats=floats)

    def _untold(
        self, why: str, snapshot: Snapshot, before: Snapshot | None, items: list[Item]
    ) -> Outcome:
        """Give the outcome for a reason that may name a variable of ours."""
        missing = _MISSING.search(why)
        if missing is None:
            return Outcome(None, lambda: self._with_values(why, items))
        at = int(missing[1])
        at = next((side for side in self._slots[at].sides if items[side] is NOTHING), at)
        slot, item, asked, of = self._slots[at], items[at], snapshot, ""
        if item is not NOTHING:
            text = f"`{slot.read.text}`: {shown(value_of(item))} has no size."
            return Outcome(None, text)
        if slot.source == PREVIOUS:
            if before is None:
                return FIRST
            asked, of = before, " That is the state before."
        return Outcome(None, lambda: why_missing(asked.tree, slot.path) + of)

    def _with_values(self, why: str, items: list[Item]) -> str:
        """Add the values to a reason that is about their types."""
        if NO_OVERLOAD in why:
            named = ", ".join(
                f"{slot.read.text} is {shown(value_of(item))}"
                for slot, item in zip(self._slots, items, strict=True)
                if slot.read.how in (VALUE, KEYS) and item is not NOTHING
            )
            why += f" Here {named}." if named else ""
        return why


class _Slot(NamedTuple):
    """A variable of an expression, and where its value is."""

    name: str
    source: str
    path: Path
    read: Read
    sides: tuple[int, ...]
    """Of a comparison, the numbers of what is compared."""


def _slots(condition: Condition) -> list[_Slot]:
    above, reads = condition.path.parts, condition.expression.reads
    return [
        _Slot(
            f"{VARIABLE}{number}",
            read.source,
            Path.of((*above, *read.path.parts)),
            read,
            tuple(reads.index(side) for side in read.sides or ()),
        )
        for number, read in enumerate(reads)
    ]


def _run(program: Any, data: dict[str, Any]) -> Outcome:
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
    return Outcome(None, plainly(str(result.plain_value())))
