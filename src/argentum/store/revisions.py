"""
Name a run or a state in it, like git: `RUN@LABEL`, `RUN@7`, `RUN@-1`, `@`.

RUN is an id, the start of one, or a name (its newest run); nothing means the newest run. After the
`@` comes a snapshot's label (`AGENT/LABEL` where agents share labels), the `seq` of an event, or a
negative number that counts snapshots from the end; nothing means the last snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from argentum.errors import NotFoundError, not_found
from argentum.events import CLOSE, OPEN, Event, RunInfo
from argentum.store.protocol import Store
from argentum.tree import Tree

SEPARATOR = "@"
MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Revision:
    """An event of a run, and the state as it was at that moment."""

    run: RunInfo
    event: Event
    state: Tree | None
    """The agent's last snapshot up to the event; None if there was none yet."""
    others: tuple[str, ...] = ()
    """Other agents that have a snapshot of the same label, if one was asked for by label alone."""

    @property
    def name(self) -> str:
        """How to name it again: `RUN@7`."""
        return f"{self.run.run_id}{SEPARATOR}{self.event.seq}"


def find_run(store: Store, text: str) -> RunInfo:
    """
    Find a run by id, start of an id, or name.

    Raises:
        NotFoundError: there is none, or several fit; the message names them.
    """
    runs = store.runs()
    if text == "":
        if not runs:
            message = f"There is no run in {store.location!r} yet. Record one: argentum run SCRIPT"
            raise NotFoundError(message)
        return runs[0]
    for info in runs:
        if info.run_id == text:
            return info
    starting = [info for info in runs if info.run_id.startswith(text)]
    if len(starting) == 1:
        return starting[0]
    named = [info for info in runs if info.name == text]
    if named:
        return named[0]
    if starting:
        some = ", ".join(info.run_id for info in starting[:5])
        message = f"{len(starting)} runs start with {text!r}: {some}. Give more of the id."
        raise NotFoundError(message)
    raise not_found("run", text, [*(info.run_id for info in runs), *(info.name for info in runs)])


def find_revision(store: Store, text: str) -> Revision:
    """
    Find an event and the state at it.

    Raises:
        NotFoundError: there is no such run, label or event; the message names the nearest.
    """
    run_text, _, point = text.partition(SEPARATOR)
    run = find_run(store, run_text)
    event = _find_event(store, run, point)
    others: set[str] = set()
    if event.kind == "snapshot" and point == event.name:
        same = (one for one in store.events(run.run_id, kinds=("snapshot",)) if one.name == point)
        others = {str(one.agent) for one in same} - {str(event.agent)}
    return Revision(run, event, _state_at(store, event), tuple(sorted(others)))


def span_of(store: Store, event: Event) -> tuple[Event, Event | None]:
    """Give the opening and the closing event of a span by either; else the event and None."""
    if event.phase == CLOSE and event.span is not None:
        return store.event(event.run_id, event.span), event
    if event.phase == OPEN:
        later = store.events(event.run_id, after=event.seq, kinds=(event.kind,))
        return event, next((one for one in later if one.span == event.seq), None)
    return event, None


def _find_event(store: Store, run: RunInfo, point: str) -> Event:
    if point.isdecimal():
        if len(point) <= MAX_DIGITS and 1 <= int(point) <= run.events:
            return store.event(run.run_id, int(point))
        message = f"Run {run.run_id!r} has {run.events} events; there is no {point}."
        raise NotFoundError(message)
    snapshots = list(store.events(run.run_id, kinds=("snapshot",)))
    if point == "" or (point.startswith("-") and point[1:].isdecimal()):
        back = int(point[:MAX_DIGITS] or "-1")
        if -back <= len(snapshots) and back < 0:
            return snapshots[back]
        message = f"Run {run.run_id!r} has {len(snapshots)} snapshots; there is no {back}."
        if not snapshots:
            message = f"Run {run.run_id!r} has no snapshots; see: argentum log {run.run_id}"
        raise NotFoundError(message)
    for event in reversed(snapshots):
        if point in (event.name, f"{event.agent}/{event.name}"):
            return event
    labels = {event.name for event in snapshots}
    raise not_found(f"snapshot in run {run.run_id!r} labelled", point, labels)


def _state_at(store: Store, event: Event) -> Tree | None:
    if event.kind == "snapshot":
        return event.body
    state = None
    for other in store.events(event.run_id, kinds=("snapshot",), agent=event.agent):
        if other.seq > event.seq:
            break
        state = other.body
    return state


def previous_states(events: Iterator[Event]) -> Iterator[tuple[Event, Tree | None]]:
    """Give each event, and for a snapshot the state of the same agent's snapshot before it."""
    last: dict[str | None, Tree] = {}
    for event in events:
        yield event, last.get(event.agent) if event.kind == "snapshot" else None
        if event.kind == "snapshot":
            last[event.agent] = event.body
