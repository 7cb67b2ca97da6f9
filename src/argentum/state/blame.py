"""Which event gave a path its value, and where that value came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from argentum.errors import InputError, NotFoundError, not_found, shown
from argentum.events import Event
from argentum.matching.leaves import parts_of
from argentum.state.explaining import INITIAL, RECORDED, UNRECORDED, Place, explain
from argentum.state.history import Value, history
from argentum.state.lifetimes import Part, Since, find_since, since
from argentum.state.origins import Step, Tracer
from argentum.state.pieces import Piece
from argentum.state.snapshots import Snapshot
from argentum.state.sources import Sources
from argentum.tree import Path, Tree, freeze
from argentum.tree.following import Follower
from argentum.tree.paths import Step as PathStep

VERDICTS = (RECORDED, INITIAL, UNRECORDED)
MOST_PARTS = 500


@dataclass(frozen=True, slots=True)
class Blame:
    """Who gave a path the value that it has, and where the value came from."""

    path: Path
    agent: str | None
    """Whose state it is; None for snapshots that no agent took."""
    present: bool
    """Whether there is anything at the path; if not, the rest tells how it went."""
    value: Any
    """The value, with `Record`s for objects; None if there is nothing."""
    snapshot: Snapshot
    """The first snapshot that shows the value."""
    before: Snapshot | None
    """The agent's snapshot before that."""
    verdict: str
    """`recorded`: an event explains it; `initial`: there since the agent's first snapshot, and
    nothing explains it; `unrecorded`: a change that no recorded event explains."""
    writer: Event | None
    """The event that gave the agent the value."""
    origin: Event | None
    """The event in which the value appeared first, maybe another agent's."""
    steps: tuple[Step, ...]
    """From the writer back to the origin."""
    certainty: str
    """`sure`, `likely` or `guess`."""
    why: str
    """One sentence for people."""
    pieces: tuple[Piece, ...] = ()
    """What a text was put together from that no event holds whole."""
    earlier: tuple[Value, ...] = ()
    """What the path held before, newest first; `blame_parts` leaves it out."""


def blame(
    events: Iterable[Event], path: str, *, at: int | None = None, agent: str | None = None
) -> Blame:
    """
    Tell which event gave a path its value, and follow the value back to where it appeared first.

    An item of a list is followed when items before it came, went or moved.

    Args:
        events: all events of a run, in order.
        at: the `seq` at which to look; the end by default.
        agent: whose state; by default the only agent that has the path.

    Raises:
        InputError: the text is not a path, several agents have it, or there are no events.
        NotFoundError: there is no such agent, or its state never had the path.
    """
    return _whole(_case(events, Path(path), at, agent))


def _whole(case: _Case) -> Blame:
    there = Follower(case.path).at(case.snapshots[-1].tree)
    if there is None:
        history(case.snapshots, case.path)  # raises if it never was there
    first = since(case.snapshots, case.path)
    found = _blame(case, case.path, first, there)
    return replace(found, earlier=_earlier(case.snapshots, first))


def blame_parts(
    events: Iterable[Event],
    path: str = "",
    *,
    at: int | None = None,
    agent: str | None = None,
    most: int = MOST_PARTS,
) -> list[Blame]:
    """
    Blame everything below a path, like `git blame` does every line of a file.

    Args:
        events: all events of a run, in order.
        at: the `seq` at which to look; the end by default.
        agent: whose state; by default the only agent that has the path.
        most: rows at most; deeper parts are put together until there are no more.

    Raises:
        InputError: the text is not a path, several agents have it, or there are no events.
        NotFoundError: there is no such agent, or its state has nothing at the path.
    """
    return _parts(_case(events, Path(path), at, agent), most)


def blame_all(
    events: Iterable[Event], path: str, *, at: int | None = None, agent: str | None = None
) -> Blame | list[Blame]:
    """
    Blame what is below a path part by part, or the path itself if its value has no parts.

    Args:
        events: all events of a run, in order.
        at: the `seq` at which to look; the end by default.
        agent: whose state; by default the only agent that has the path.

    Raises:
        InputError: the text is not a path, several agents have it, or there are no events.
        NotFoundError: there is no such agent, or its state never had the path.
    """
    case = _case(events, Path(path), at, agent)
    there = Follower(case.path).at(case.snapshots[-1].tree)
    has_parts = there is not None and bool(_below(there.thaw(live=False)))
    return _parts(case, MOST_PARTS) if has_parts else _whole(case)


def _parts(case: _Case, most: int) -> list[Blame]:
    there = Follower(case.path).at(case.snapshots[-1].tree)
    if there is None:
        message = f"There is nothing at {case.path!r} in that state. See what was: argentum history"
        raise NotFoundError(message)
    top, value = Part(case.path), there.thaw(live=False)
    parts = rows_of(top, value, most)
    find_since(case.snapshots, case.path, top)
    return [
        _blame(case, part.path, part.since, freeze(value))
        for part, value in parts
        if part.since is not None
    ]


class _Case(NamedTuple):
    """What a question is about."""

    tracer: Tracer
    agent: str | None
    path: Path
    snapshots: list[Snapshot]


def _case(events: Iterable[Event], path: Path, at: int | None, agent: str | None) -> _Case:
    sources = Sources([one for one in _checked(events) if at is None or one.seq <= at])
    if not sources.snapshots:
        when = "" if at is None else f" up to event {at}"
        message = f"The run has no snapshot{when}; blame needs one. Take one: session.snapshot(…)"
        raise NotFoundError(message)
    chosen = agent if agent is not None else _only_agent(sources, path)
    if chosen not in sources.snapshots:
        raise not_found("agent with snapshots", agent, [name for name in sources.snapshots if name])
    snapshots = sources.snapshots[chosen]
    return _Case(Tracer(sources), chosen, path, snapshots)


def _checked(events: Iterable[Event]) -> list[Event]:
    """
    Give events as a list.

    Raises:
        InputError: they are none.
    """
    given: Any = events
    usable = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    found: list[Any] = list(given) if usable else [given]
    wrong = [one for one in found if not isinstance(one, Event)]
    if wrong:
        message = (
            f"blame takes the events of a run, not {shown(wrong[0])}. "
            "Give run.events(), or of a stored run list(store.events(run_id))."
        )
        raise InputError(message)
    return found


def _only_agent(sources: Sources, path: Path) -> str | None:
    """Give the only agent whose state has a path, or else had it."""
    if len(sources.snapshots) == 1:
        return next(iter(sources.snapshots))
    last = {name: Follower(path).at(taken[-1].tree) for name, taken in sources.snapshots.items()}
    have = [name for name, found in last.items() if found is not None]
    have = have or [name for name, taken in sources.snapshots.items() if _ever(taken, path)]
    if len(have) == 1:
        return have[0]
    if not have:
        lasts = [taken[-1]._replace(agent=None) for taken in sources.snapshots.values()]
        history(lasts, path)  # raises, and names what is near in any of them
    names = ", ".join(map(repr, have))
    message = f"{path!r} is in the state of {len(have)} agents: {names}. Say whose: agent=NAME."
    raise InputError(message)


def _ever(snapshots: Sequence[Snapshot], path: Path) -> bool:
    follower = Follower(path)
    return any(follower.at(snapshot.tree) is not None for snapshot in snapshots)


def _blame(case: _Case, path: Path, first: Since, there: Tree | None) -> Blame:
    steps = Path.of(first.steps)
    place = Place(case.agent, first.number, first.steps, there)
    found = explain(case.tracer, place, lambda: _earlier(case.snapshots, first))
    why = found.why
    if first.steps != path.parts and there is not None:
        why += f" It stood at {steps} then."
    return Blame(
        path=path,
        agent=case.agent,
        present=there is not None,
        value=None if there is None else there.thaw(live=False),
        snapshot=case.snapshots[first.number],
        before=case.snapshots[first.number - 1] if first.number else None,
        verdict=found.verdict,
        writer=found.steps[0].event if found.steps else None,
        origin=found.steps[-1].event if found.steps else None,
        steps=found.steps,
        certainty=found.certainty,
        why=why,
        pieces=found.pieces,
    )


def _earlier(snapshots: Sequence[Snapshot], first: Since) -> tuple[Value, ...]:
    """Give the values before, the newest first."""
    until = snapshots[: first.number + 1]
    values = history(until, Path.of(first.steps)) if first.number else []
    now = snapshots[first.number].seq
    return tuple(one for one in reversed(values) if one.present and one.since.seq < now)


# ---------------------------------------------------------------- many parts


def rows_of(top: Part, value: Any, most: int) -> list[tuple[Part, Any]]:
    """Take a value apart level by level, as long as there are no more parts than asked for."""
    rows: list[tuple[Part, Any]] = [(top, value)]
    while True:
        below = [_below(one) for _, one in rows]
        if not any(below) or sum(max(1, len(parts)) for parts in below) > most:
            return rows
        rows = [
            row
            for (part, one), parts in zip(rows, below, strict=True)
            for row in (_children(part, parts) if parts else [(part, one)])
        ]


def _below(value: Any) -> list[tuple[PathStep, Any]]:
    """Give the parts that a path leads to; it leads to no member of a set."""
    return [] if isinstance(value, set | frozenset) else parts_of(value) or []


def _children(part: Part, parts: list[tuple[PathStep, Any]]) -> list[tuple[Part, Any]]:
    made = []
    for step, inner in parts:
        child = part.below[step] = Part(Path.of((*part.path.parts, step)))
        made.append((child, inner))
    return made
