"""
What separates the runs of one task that failed from those that passed.

Each trait of a run (a step that it did, a value that it ended with) is counted in both groups. A
trait separates as well as its shares in the groups differ: 1.0 if all failed runs and no passed run
have it. Of traits that the same runs have, the most telling one is given: the whole step, with what
came out, only says more than the call if runs differ in what came out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

from argentum.errors import InputError
from argentum.events import Event
from argentum.state.acts import Act
from argentum.state.essence import essence_of
from argentum.state.writes import RunWrites, Verdict, judge, place_of, writes_of
from argentum.tree import Change
from argentum.tree import diff as tree_diff

MIN_SCORE = 0.5
"""Traits whose shares differ by less are left out."""
CALL, TOOL, WHOLE = "call", "tool", "whole"
VALUE, PLACE = "value", "place"
WRITING = -1
_RANKS = {"tool_call": 0, "handoff": 1, "note": 2, "error": 2}
"""Which steps come first among those that separate alike: writes, other acts, then words."""


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that some runs have and others have not."""

    what: str
    """`call`: a step as it was asked for; `tool`: any call of that tool; `whole`: a step with what
    came out; `value`: a change from the start to the end of a run; `place`: any change there."""
    failed: tuple[str, ...]
    """The failed runs that have it."""
    passed: tuple[str, ...]
    """The passed runs that have it."""
    score: float
    """Its share among the failed less that among the passed, from -1.0 to 1.0."""
    act: Act | None = None
    """The step, from the first run that has it."""
    agent: str | None = None
    place: str = ""
    """Where in the state; of items of a list, the list with `[]`."""
    change: Change | None = None
    """The change, from the first run that has it."""


@dataclass(frozen=True, slots=True)
class Separation:
    """How failed and passed runs of one task differ."""

    failed: tuple[str, ...]
    passed: tuple[str, ...]
    acts: tuple[Trait, ...]
    """The steps that separate them, best first."""
    values: tuple[Trait, ...]
    """The values in the last states that separate them, best first."""
    verdicts: Mapping[str, Verdict]
    """Of each failed run, its first wrong write, or what it failed to write."""
    alarms: Mapping[str, Verdict]
    """Passed runs for which a wrong write is named when they are compared with the others: the
    right ways differ too much from each other for the verdicts to be trusted."""


class _Seen(NamedTuple):
    """A trait as one run has it."""

    what: str
    key: tuple[object, ...]
    rank: tuple[int, int]
    act: Act | None = None
    agent: str | None = None
    change: Change | None = None
    repeats: tuple[object, ...] = ()
    """What it says again if another trait of the same runs says it."""
    says: tuple[tuple[object, ...], ...] = ()
    """What it says besides."""


def separate(
    failed: Mapping[str, Sequence[Event]],
    passed: Mapping[str, Sequence[Event]],
    *,
    ignore: Collection[str] = (),
) -> Separation:
    """
    Compare failed runs of a task with passed ones, each given by its name.

    Raises:
        InputError: one of the groups is empty, or a run is in both.
    """
    _check(failed, passed)
    bad = {name: writes_of(events, ignore=ignore) for name, events in failed.items()}
    good = {name: writes_of(events, ignore=ignore) for name, events in passed.items()}
    return Separation(
        failed=tuple(bad),
        passed=tuple(good),
        acts=_ranked(bad, good, _steps_of),
        values=_ranked(bad, good, _values_of),
        verdicts={name: judge(run, good) for name, run in bad.items()},
        alarms=_alarms(good),
    )


def _check(failed: Mapping[str, object], passed: Mapping[str, object]) -> None:
    for name, group in (("failed", failed), ("passed", passed)):
        if not group:
            message = f"There is no {name} run to compare; give at least one of each."
            raise InputError(message)
    both = sorted(failed.keys() & passed.keys())
    if both:
        message = f"Run {both[0]!r} is among the failed and among the passed; leave it out of one."
        raise InputError(message)


def _alarms(passed: Mapping[str, RunWrites]) -> dict[str, Verdict]:
    if len(passed) == 1:
        return {}
    verdicts = {
        name: judge(run, {other: one for other, one in passed.items() if other != name})
        for name, run in passed.items()
    }
    return {name: one for name, one in verdicts.items() if one.first_wrong is not None}


# ---------------------------------------------------------------- traits


def _ranked(
    failed: Mapping[str, RunWrites],
    passed: Mapping[str, RunWrites],
    traits_of: Callable[[RunWrites], Iterator[_Seen]],
) -> tuple[Trait, ...]:
    examples: dict[tuple[object, ...], _Seen] = {}
    having: dict[tuple[object, ...], dict[str, None]] = {}
    for name, run in (*failed.items(), *passed.items()):
        for seen in traits_of(run):
            examples.setdefault(seen.key, seen)
            having.setdefault(seen.key, {})[name] = None
    found = [(seen, _trait(seen, having[key], failed, passed)) for key, seen in examples.items()]
    found = [(seen, trait) for seen, trait in found if abs(trait.score) >= MIN_SCORE]
    found.sort(key=lambda pair: (bool(pair[0].repeats), pair[0].rank))
    chosen = list(_most_telling(found))
    chosen.sort(key=lambda pair: (-abs(pair[1].score), pair[1].score < 0, pair[0].rank))
    return tuple(trait for _, trait in chosen)


def _trait(
    seen: _Seen, having: Collection[str], failed: Collection[str], passed: Collection[str]
) -> Trait:
    bad = tuple(name for name in failed if name in having)
    good = tuple(name for name in passed if name in having)
    score = len(bad) / len(failed) - len(good) / len(passed)
    place = "" if seen.change is None else place_of(seen.change)
    return Trait(seen.what, bad, good, score, seen.act, seen.agent, place, seen.change)


def _most_telling(found: Iterable[tuple[_Seen, Trait]]) -> Iterator[tuple[_Seen, Trait]]:
    """Leave out what another trait of the same runs says already."""
    said: set[tuple[object, ...]] = set()
    for seen, trait in found:
        if (seen.repeats, trait.failed, trait.passed) not in said:
            yield seen, trait
        said.update((one, trait.failed, trait.passed) for one in seen.says)


def _steps_of(run: RunWrites) -> Iterator[_Seen]:
    writing = {write.act.seq for write in run.writes if write.act is not None}
    for act in run.acts:
        if act.kind in ("snapshot", "run"):
            continue
        rank = WRITING if act.seq in writing else _RANKS.get(act.kind, 3), act.seq
        tool, whole = (TOOL, act.agent, act.name), (WHOLE, act.call)
        is_call = act.kind in ("tool_call", "handoff")
        if act.kind != "model_call" or act.context:
            yield _Seen(CALL, (CALL, act.call), rank, act, act.agent, says=(tool, whole))
        if is_call:
            yield _Seen(TOOL, tool, rank, act, act.agent, repeats=tool)
        if act.kind in ("tool_call", "model_call"):
            yield _Seen(WHOLE, (WHOLE, act.whole), rank, act, act.agent, repeats=whole)


def _values_of(run: RunWrites) -> Iterator[_Seen]:
    number = count()
    for agent, end in run.ends.items():
        for change in tree_diff(run.starts[agent].tree, end.tree):
            rank, place = (0, next(number)), (PLACE, agent, place_of(change))
            value = essence_of([change.before, change.after])
            key = (VALUE, agent, place_of(change), change.kind, value)
            yield _Seen(VALUE, key, rank, agent=agent, change=change, says=(place,))
            yield _Seen(PLACE, place, rank, agent=agent, change=change, repeats=place)
