"""`argentum blame`: which event gave a path its value, and where the value came from."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.arguments import JsonOption, RunArgument, StoreOption, opened, run_named
from argentum.cli.terminal import (
    brief,
    console,
    duration,
    literal,
    plain,
    show,
    show_json,
    styled,
    table,
)
from argentum.clock import as_datetime
from argentum.errors import InputError
from argentum.events import Event, RunInfo
from argentum.state.blame import Blame, blame_all
from argentum.state.history import Value
from argentum.state.origins import Step
from argentum.state.snapshots import Snapshot
from argentum.store import Store
from argentum.store.revisions import SEPARATOR, find_revision
from argentum.tree import Path

MAX_EARLIER = 8
"""Earlier values that are shown; the rest is counted."""
VALUE, NARROW_VALUE, NAME, PIECE = 60, 24, 22, 40
CERTAINTY_STYLES = {"sure": "green", "likely": "yellow", "guess": "red"}
MARKS = {"likely": "?", "guess": "??"}
VERDICT_STYLES = {"recorded": "", "initial": "dim", "unrecorded": "bold red"}

BlamePathArgument = Annotated[
    str,
    typer.Argument(
        metavar="PATH[@REV]",
        help="Where in the state, like messages[3].content, and when: @LABEL, @7, @-1.",
    ),
]


def blame(
    run: RunArgument = "",
    path: BlamePathArgument = "",
    *,
    agent: Annotated[str | None, typer.Option("--agent", help="Whose state.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    Tell which event gave a path its value, how sure that is, and where the value came from.

    Without a path, or for one that has parts, a table tells it of each part.
    """
    place = opened(store)
    run_text, _, run_point = run.partition(SEPARATOR)
    path, point = _apart(path)
    info = run_named(place, run_text, path_command="" if path else "blame")
    at, agent = _moment(place, info, point or run_point, agent)
    events = list(place.events(info.run_id))
    found = blame_all(events, path, at=at, agent=agent)
    if json:
        show_json(
            _as_dict(found) if isinstance(found, Blame) else [_as_dict(part) for part in found]
        )
    elif isinstance(found, Blame):
        show(*_one(found, info))
    else:
        heading = _heading(info, str(Path(path)), found[0].agent)
        show(heading, _many(found, info), *_legend(found))


def _apart(text: str) -> tuple[str, str]:
    """Take `PATH@REV` apart; an `@` in a quoted key belongs to the path."""
    path, separator, point = text.rpartition(SEPARATOR)
    if not separator or '"' in point or "]" in point or "}" in point:
        return text, ""
    return path, point


def _moment(
    place: Store, info: RunInfo, point: str, agent: str | None
) -> tuple[int | None, str | None]:
    """Give the event at which to look, and whose snapshot it is if it is one."""
    if not point:
        return None, agent
    event = find_revision(place, f"{info.run_id}{SEPARATOR}{point}").event
    if event.kind != "snapshot":
        return event.seq, agent
    if agent is not None and agent != event.agent and not point.lstrip("-").isdigit():
        message = (
            f"{point!r} is a snapshot of {event.agent!r}, not of {agent!r}. "
            f"Write @{agent}/LABEL, or leave out --agent."
        )
        raise InputError(message)
    return event.seq, agent if agent is not None else event.agent


# ---------------------------------------------------------------- one path


def _heading(info: RunInfo, path: str, agent: str | None) -> Text:
    heading = Text(plain(path) or "(the state)", style="bold")
    whose = "" if agent is None else f"  of {plain(agent)}"
    return heading.append(f"{whose}  in {info.run_id}", style="not bold")


def _one(found: Blame, info: RunInfo) -> list[Any]:
    value = literal(found.value, VALUE) if found.present else "(nothing)"
    heading = _heading(info, str(found.path), found.agent).append(f"\n{value}", style="not bold")
    facts = table("", "", rows=_facts(found, info))
    facts.show_header = False
    shown: list[Any] = [heading, Text(), facts]
    if len(found.steps) > 1:
        shown += [Text(), Text("From there back to where it appeared first:"), _way(found)]
    if found.pieces:
        shown += [Text(), Text("Put together from parts that these events hold:"), _pieces(found)]
    if found.earlier:
        shown += [Text(), Text("Before:"), _before(found.earlier)]
    return shown


def _facts(found: Blame, info: RunInfo) -> list[tuple[Text, Text]]:
    since = f"{_label(found.snapshot)}, {duration(found.snapshot.at_ns - info.started_at_ns)}"
    if found.before is not None:
        since += f"; not yet in {_label(found.before)}"
    rows = [("since", Text(since))]
    if found.writer is None:
        rows.append(("set by", Text(_unknown(found), style=VERDICT_STYLES[found.verdict])))
        if found.before is not None:
            ends = (f"{info.run_id}@{one.seq}" for one in (found.before, found.snapshot))
            rows.append(("see", Text(f"argentum diff {' '.join(ends)}")))
    else:
        where = str(found.steps[0].where)
        line = Text(f"{_event(found.writer)}: {found.steps[0].how}")
        rows.append(("set by", line.append(f" at {plain(where)}" if where else "")))
    certainty = Text(found.certainty, style=CERTAINTY_STYLES[found.certainty])
    rows += [("how sure", certainty), ("why", Text(plain(found.why)))]
    return [(Text(name, style="dim"), line) for name, line in rows]


def _unknown(found: Blame) -> str:
    if found.before is None:
        return "unknown: it is in the agent's first snapshot"
    between = f"the program itself, between {found.before.seq} and {found.snapshot.seq}"
    if found.certainty == "sure":
        return f"{between} (no recorded event {'says so' if not found.present else 'holds it'})"
    return f"likely {between}"


def _label(snapshot: Snapshot) -> str:
    return f"{literal(snapshot.label, NAME)} (event {snapshot.seq})"


def _event(event: Event) -> str:
    who = f" of {brief(event.agent, NAME)}" if event.agent else ""
    return f"{event.kind} {brief(event.name, NAME)}{who} (event {event.seq})"


def _way(found: Blame) -> Table:
    rows = [
        (
            Text(str(step.event.seq)),
            styled(brief(step.event.agent or "", NAME)),
            _kind(step.event),
            Text(f"{step.how} at {plain(str(step.where))}" if step.where else step.how),
        )
        for step in found.steps
    ]
    return table("seq", "agent", "event", "how it holds the value", rows=rows)


def _pieces(found: Blame) -> Table:
    rows = []
    for piece in found.pieces:
        first, last = piece.steps[0].event, piece.steps[-1].event
        origin = _where_of(last) if last is not first else Text("")
        rows.append((_where_of(first), origin, Text(brief(piece.text, PIECE))))
    return table("held by", "and first by", "part", rows=rows)


def _where_of(event: Event) -> Text:
    who = f" of {brief(event.agent, NAME)}" if event.agent else ""
    return Text(f"{event.seq} ").append_text(_kind(event)).append(who)


def _kind(event: Event) -> Text:
    kind = styled(event.kind)
    return kind.append(f" {brief(event.name, NAME)}", style="default")


def _before(earlier: tuple[Value, ...]) -> Table:
    rows = [
        (
            Text(str(value.since.seq)),
            Text(literal(value.since.label, NAME)),
            Text(literal(value.thaw(live=False), VALUE)),
        )
        for value in earlier[:MAX_EARLIER]
    ]
    if len(earlier) > MAX_EARLIER:
        rows.append((Text(""), Text(f"… {len(earlier) - MAX_EARLIER} more"), Text("")))
    return table("since", "snapshot", "value", rows=rows)


# ---------------------------------------------------------------- many paths


def _many(parts: list[Blame], info: RunInfo) -> Table:
    rows = [
        (
            Text(str(part.snapshot.seq)),
            Text(duration(part.snapshot.at_ns - info.started_at_ns)),
            _by(part),
            Text(plain(part.path), style="bold"),
            Text(literal(part.value, NARROW_VALUE if console().is_terminal else VALUE)),
        )
        for part in parts
    ]
    return table("since", "at", "set by", "path", "value", rows=rows)


def _by(part: Blame) -> Text:
    if part.writer is None:
        said = f"{part.verdict} {_mark(part)}".rstrip()
        return Text(said, style=VERDICT_STYLES[part.verdict])
    by = Text(f"{part.writer.seq} ").append_text(_kind(part.writer))
    return by.append(f" {_mark(part)}".rstrip(), CERTAINTY_STYLES[part.certainty])


def _mark(part: Blame) -> str:
    return MARKS.get(part.certainty, "")


def _legend(parts: list[Blame]) -> list[Text]:
    """Explain the marks that the table has."""
    marks = {_mark(part) for part in parts}
    told = [f"{mark} {certainty}" for certainty, mark in MARKS.items() if mark in marks]
    return [Text(", ".join(told), style="dim")] if told else []


# ---------------------------------------------------------------- JSON


def _as_dict(found: Blame) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "agent": found.agent,
        "present": found.present,
        "value": found.value,
        "snapshot": _snapshot_as_dict(found.snapshot),
        "before": None if found.before is None else _snapshot_as_dict(found.before),
        "verdict": found.verdict,
        "writer": _event_as_dict(found.writer),
        "origin": _event_as_dict(found.origin),
        "steps": [_step_as_dict(step) for step in found.steps],
        "certainty": found.certainty,
        "why": found.why,
        "pieces": [
            {"text": piece.text, "steps": [_step_as_dict(step) for step in piece.steps]}
            for piece in found.pieces
        ],
        "earlier": [
            {"since": _snapshot_as_dict(value.since), "value": value.thaw(live=False)}
            for value in found.earlier
        ],
    }


def _step_as_dict(step: Step) -> dict[str, Any]:
    return {"event": _event_as_dict(step.event), "how": step.how, "where": str(step.where)}


def _snapshot_as_dict(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "seq": snapshot.seq,
        "label": snapshot.label,
        "at": as_datetime(snapshot.at_ns).isoformat(),
    }


def _event_as_dict(event: Event | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "seq": event.seq,
        "kind": event.kind,
        "phase": event.phase,
        "name": event.name,
        "agent": event.agent,
    }
