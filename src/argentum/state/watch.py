"""
Watches: conditions that an agent's states should keep, live or over a recorded history.

A watch that looks at one state breaks where the state stops to keep it; while it stays broken, that
is one break. A watch that compares a state with the one before breaks at each step that breaks it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from argentum.errors import ArgentumError, FormatError, InputError, shown
from argentum.state.conditions import BROKEN, FIRST, HELD, Checker, Condition, Outcome, parse
from argentum.state.live import Live
from argentum.state.reading import Found, why_missing
from argentum.state.snapshots import Snapshot
from argentum.tree import Path, Tree
from argentum.tree.following import Follower
from argentum.tree.taking import FOREIGN_FAULTS

Test = str | Condition | Callable[..., object]
OnBreak = Literal["log", "alert", "raise"] | Callable[["Break"], object]
WAYS = ("log", "alert", "raise")


@dataclass(frozen=True, slots=True)
class Watch:
    """
    A condition to keep over an agent's states.

    The condition is text (see `argentum.state.conditions`) or a function of the state, or of the
    state and the one before; the function gets values, never the live objects. `path` narrows it
    to a part of the state. `on_break` says what happens live: "log" a warning, only record an
    "alert", "raise" a `LimitError` out of the snapshot, or call a function with the `Break`. An
    alert is recorded in any case.
    """

    condition: Test
    path: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    """By default the condition's text or the function's name."""
    on_break: OnBreak = field(default="log", kw_only=True)

    def __post_init__(self) -> None:
        """
        Read the condition.

        Raises:
            InputError: the condition, the path or `on_break` cannot be used.
            LimitError: the condition's text is too long.
            MissingExtraError: the condition is text, and the CEL library is not installed.
        """
        path, condition = Path(self.path), self.condition
        if not callable(self.on_break) and self.on_break not in WAYS:
            known = ", ".join(map(repr, WAYS))
            message = f"`on_break` is {shown(self.on_break)}; give {known}, or a function."
            raise InputError(message)
        if is_async(self.on_break):
            message = f"`on_break` is called and not awaited; {shown(self.on_break)} is async."
            raise InputError(message)
        if isinstance(condition, str):
            condition = parse(condition, path=path)
        elif isinstance(condition, Condition):
            condition = parse(condition.text, path=path) if path else condition
        elif not callable(condition):
            message = f"The condition of a watch is text or a function; this is {shown(condition)}."
            raise InputError(message)
        else:
            _takes(condition)
        object.__setattr__(self, "condition", condition)
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "name", self.name or _name_of(condition))

    @property
    def compares(self) -> bool:
        """Whether it looks at the state before, too."""
        if isinstance(self.condition, Condition):
            return self.condition.reads_previous
        return not isinstance(self.condition, str) and _takes(self.condition) > 1

    def checker(self) -> WatchChecker:
        """Give what checks one state after the other, looking only at what is new."""
        if isinstance(self.condition, Condition):
            return self.condition.checker()
        return FunctionChecker(self)


class Break(NamedTuple):
    """A snapshot that does not keep a watch."""

    watch: Watch
    snapshot: Snapshot
    before: Snapshot | None
    """The same agent's snapshot before it."""
    why: str
    """What an assertion of the function said, or ""."""
    values: dict[str, Any]
    """What the condition read, by how it names it."""
    last_kept: Snapshot | None
    """The last snapshot of the agent that kept it, if any did."""


class Untold(NamedTuple):
    """What of an agent's states a watch could not be checked on."""

    snapshot: Snapshot
    """The first of them."""
    why: str
    """Why it could not be checked on that one."""
    total: int


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What a watch says of a history."""

    watch: Watch
    breaks: list[Break]
    checked: int
    """How many snapshots it could be checked on."""
    first_ones: int
    """How many snapshots had none before them to be compared with."""
    untold: list[Untold]
    """What else it could not be checked on, agent by agent."""


def watch_history(snapshots: Iterable[Snapshot], watch: Watch | Test) -> list[Break]:
    """
    List where a history breaks a watch or a condition, each agent compared with its state before.

    Raises:
        InputError: the condition cannot be used.
        MissingExtraError: the condition is text, and the CEL library is not installed.
    """
    return watch_over(snapshots, watch if isinstance(watch, Watch) else Watch(watch)).breaks


def watch_over(
    snapshots: Iterable[Snapshot], watch: Watch, checker: WatchChecker | None = None
) -> WatchReport:
    """
    Check a watch on a history, and tell what could not be checked, too.

    Args:
        checker: of `watch.checker()`, if several histories share much: it looks at no part twice.
    """
    shared = checker or watch.checker()
    watchers: dict[str | None, Watcher] = {}
    last: dict[str | None, Snapshot] = {}
    breaks: list[Break] = []
    untold: dict[str | None, Untold] = {}
    checked = first_ones = 0
    for snapshot in snapshots:
        agent = snapshot.agent
        watcher = watchers.get(agent) or watchers.setdefault(agent, Watcher(watch, shared))
        found = watcher.see(snapshot, last.get(agent))
        last[agent] = snapshot
        if found is not None:
            breaks.append(found)
        checked += watcher.outcome.held is not None
        first_ones += watcher.outcome.is_first
        if watcher.outcome.held is None and not watcher.outcome.is_first:
            known = untold.get(agent) or Untold(snapshot, watcher.outcome.why, 0)
            untold[agent] = known._replace(total=known.total + 1)
    return WatchReport(watch, breaks, checked, first_ones, list(untold.values()))


class Watcher:
    """Follows one agent's states with one watch."""

    def __init__(self, watch: Watch, checker: WatchChecker | None = None) -> None:
        self.watch = watch
        self.outcome: Outcome = HELD
        """What was said of the last state."""
        self._checker = checker or watch.checker()
        self._compares = watch.compares
        self.is_broken = False
        self.last_kept: Snapshot | None = None

    def live(self) -> Live | None:
        """Give what tells of most snapshots that keep the watch, and quickly, that they do."""
        if not isinstance(self._checker, Checker):
            return None
        condition = self._checker.condition
        return Live.of(self._checker.quick, condition.expression.reads, condition.path.parts, self)

    def see(self, snapshot: Snapshot, before: Snapshot | None) -> Break | None:
        """Check the next state; give the break if there is a new one."""
        self.outcome = outcome = self._checker.check(snapshot, before)
        if outcome.held:
            self.is_broken = False
            self.last_kept = snapshot
            return None
        if outcome.held is None or (self.is_broken and not self._compares):
            return None
        self.is_broken = True
        values = self._checker.values(snapshot, before)
        return Break(self.watch, snapshot, before, outcome.why, values, self.last_kept)


def _name_of(condition: object) -> str:
    if isinstance(condition, Condition):
        return condition.text
    return str(getattr(condition, "__name__", type(condition).__name__))


def _takes(function: Callable[..., object]) -> int:
    """
    Count the states that a function takes: 1 or 2.

    Raises:
        InputError: it takes none, or needs more.
    """
    if is_async(function):
        message = f"A watch calls its function and does not await it; {shown(function)} is async."
        raise InputError(message)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except Exception:  # noqa: BLE001 - a built-in has none, a foreign one may raise anything
        return 1
    needed = [one for one in parameters if one.default is one.empty and one.kind not in _REST]
    places = [one for one in parameters if one.kind in _PLACES]
    by_name = len(places) > 1 and places[1].name in ("previous", "before")
    count = 2 if by_name else max(1, len(needed))
    takes_any = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    if count > (2 if takes_any else min(2, len(places))) or any(
        one.kind is one.KEYWORD_ONLY for one in needed
    ):
        message = (
            f"A watch calls its function with (state) or (state, previous); not {shown(function)}."
        )
        raise InputError(message)
    return count


_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_async(function: object) -> bool:
    """Tell whether a call gives something that has to be awaited or gone through."""
    call = vars(type(function)).get("__call__")
    tests = (
        inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction,
    )  # fmt: skip
    return any(test(one) for test in tests for one in (function, call))


class FunctionChecker:
    """Calls a function on one snapshot after the other, unless nothing changed for it."""

    def __init__(self, watch: Watch) -> None:
        self._function: Callable[..., object] = watch.condition  # type: ignore[assignment]
        self._compares = watch.compares
        self._path = Path(watch.path)
        self._follower = Follower(watch.path)
        self._last: tuple[Snapshot | None, Tree | None] = (None, None)
        self._older: tuple[Snapshot | None, Tree | None] = (None, None)
        self._seen: tuple[Tree, ...] = ()
        self._outcome = HELD

    def check(self, snapshot: Snapshot, before: Snapshot | None) -> Outcome:
        """Tell what the function says of a snapshot."""
        asked = (snapshot,) if not self._compares else (snapshot, before)
        parts = []
        for one in asked:
            if one is None:
                return FIRST
            try:
                part = self._part_of(one)
            except FormatError:
                raise  # the store is damaged, which is no answer
            except ArgentumError as error:
                return Outcome(None, str(error))
            if part is None:
                return Outcome(None, partial(why_missing, one.tree, self._path))
            parts.append(part)
        if len(parts) != len(self._seen) or any(map(_differ, parts, self._seen)):
            self._outcome = self._called(parts)
            self._seen = tuple(parts)
        return self._outcome

    def _part_of(self, snapshot: Snapshot) -> Tree | None:
        """Give what lies at the path; of the state before it is mostly known."""
        if not self._path:
            return snapshot.tree
        for known, part in (self._last, self._older):
            if known is snapshot:
                return part
        part = self._follower.at(snapshot.tree)
        self._older, self._last = self._last, (snapshot, part)
        return part

    def values(self, snapshot: Snapshot, before: Snapshot | None) -> dict[str, Any]:
        """Give the part of the state that the function was called with, if it is but a part."""
        if not self._path:
            return {}
        values = {str(self._path): self._shown(snapshot)}
        if self._compares and before is not None:
            values[f"previous.{self._path}"] = self._shown(before)
        return values

    def _shown(self, snapshot: Snapshot) -> Any:
        part = self._follower.at(snapshot.tree)
        return None if part is None else Found(part).shown()

    def _called(self, parts: list[Tree]) -> Outcome:
        try:
            said = self._function(*(part.thaw() for part in parts))
            held = None if said is None else bool(said)
        except AssertionError as error:
            return Outcome(held=False, reason=_text(error))
        except FOREIGN_FAULTS as error:
            return Outcome(None, f"{type(error).__name__}: {_text(error)}")
        if held is None:
            return Outcome(None, "It returned None; return True or False.")
        return HELD if held else BROKEN


def _differ(one: Tree, other: Tree) -> bool:
    return one is not other


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:300]
    except FOREIGN_FAULTS:
        return shown(error)


WatchChecker = Checker | FunctionChecker
