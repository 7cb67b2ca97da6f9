"""`argentum log`: a run step by step, with what changed at each."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.acts import event_line
from argentum.cli.arguments import (
    JsonOption,
    RunArgument,
    StoreOption,
    check_kinds,
    no_such_agent,
    opened,
    run_named,
)
from argentum.cli.telling import changes_as_dicts, outline_of
from argentum.cli.terminal import (
    change_line,
    duration,
    plain,
    show,
    show_json,
    styled,
    table,
)
from argentum.clock import as_datetime
from argentum.events import CLOSE, OPEN, Event, RunInfo
from argentum.record import status_now
from argentum.store.revisions import previous_states
from argentum.tree import Change, Tree
from argentum.tree import diff as tree_diff

MAX_CHANGES = 8
"""Changes of a snapshot that are shown; the rest is counted."""


def log(
    run: RunArgument = "",
    *,
    agent: Annotated[str | None, typer.Option("--agent", help="Only this agent's events.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated.")
    ] = None,
    all_changes: Annotated[bool, typer.Option("--all-changes", help="Show every change.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show a run's timeline: who did what when, and what changed in its state."""
    check_kinds(kind)
    place = opened(store)
    info = run_named(place, run)
    events = list(place.events(info.run_id, kinds=kind, agent=agent))
    if agent is not None and not events:
        known = {event.agent for event in place.events(info.run_id) if event.agent}
        if agent not in known:
            raise no_such_agent(agent, known)
    if json:
        show_json([_as_dict(event, before) for event, before in previous_states(iter(events))])
        return
    show(_title(info), _timeline(info, events, None if all_changes else MAX_CHANGES))


def _title(info: RunInfo) -> Text:
    title = Text()
    title.append(plain(info.run_id), style="bold")
    title.append(f"  {plain(info.name)}  ")
    title.append_text(styled(status_now(info)))
    if info.dropped:
        title.append(f"  dropped: {info.dropped}, first reason: {plain(info.first_dropped)}", "red")
    return title


def _timeline(info: RunInfo, events: list[Event], most: int | None) -> Table:
    closings = {event.span: event for event in events if event.phase == CLOSE}
    opened_here = {event.seq for event in events if event.phase == OPEN}
    depths: dict[int, int] = {}
    rows = []
    for event, before in previous_states(iter(events)):
        depth = depths.get(event.parent or 0, -1) + 1
        depths[event.seq] = depth
        if event.phase == CLOSE and event.span in opened_here:
            continue
        if event.kind != "snapshot":
            rows.append((*_place(info, event, depth), _detail(event, closings.get(event.seq))))
            continue
        changes = _changes(event, before, most)
        label = styled(event.name, "bold")
        if before is not None and not changes:
            label.append("  nothing changed", "dim")
        rows.append((*_place(info, event, depth), label))
        rows += [("", "", "", "", line) for line in changes]
    return table("seq", "at", "agent", "what", "", rows=rows)


def _place(info: RunInfo, event: Event, depth: int) -> tuple[str | Text, ...]:
    what = Text("  " * depth)
    what.append_text(styled(event.kind))
    since = duration(event.at_ns - info.started_at_ns)
    return str(event.seq), since, styled(event.agent or ""), what


def _changes(event: Event, before: Tree | None, most: int | None) -> list[Text]:
    if before is None:
        return [Text(f"  {outline_of(event.body)}", style="dim")]
    changes = tree_diff(before, event.body)
    lines = [_indented(change) for change in changes[:most]]
    if most is not None and len(changes) > most:
        lines.append(Text(f"  … and {len(changes) - most} more: --all-changes"))
    return lines


def _indented(change: Change) -> Text:
    line = Text("  ")
    line.append_text(change_line(change, 40))
    return line


def _detail(event: Event, closing: Event | None) -> Text:
    line = event_line(event, closing, usage=True)
    if closing is not None and event.kind != "run":
        line.append(f"  ({duration(closing.at_ns - event.at_ns)})", style="dim")
    return line


def _as_dict(event: Event, before: Tree | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "seq": event.seq,
        "at": as_datetime(event.at_ns).isoformat(),
        "kind": event.kind,
        "phase": event.phase,
        "agent": event.agent,
        "name": event.name,
        "span": event.span,
        "parent": event.parent,
    }
    if event.kind != "snapshot":
        row["body"] = event.body.thaw(live=False)
    elif before is not None:
        row["changes"] = changes_as_dicts(tree_diff(before, event.body))
    return row
