"""`argentum log`: a run step by step, with what changed at each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.arguments import JsonOption, RunArgument, StoreOption, opened
from argentum.cli.terminal import (
    brief,
    change_line,
    duration,
    literal,
    plain,
    show,
    show_json,
    styled,
    table,
)
from argentum.clock import as_datetime
from argentum.errors import not_found
from argentum.events import CLOSE, KINDS, OPEN, Event, RunInfo
from argentum.record import status_now
from argentum.store.revisions import find_run, previous_states
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
    for one in kind or ():
        if one not in KINDS:
            raise not_found("kind of event", one, KINDS)
    place = opened(store)
    info = find_run(place, run.rstrip("@"))
    events = list(place.events(info.run_id, kinds=kind, agent=agent))
    if agent is not None and not events:
        known = {event.agent for event in place.events(info.run_id) if event.agent}
        if agent not in known:
            raise not_found("agent in this run", agent, known)
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
        rows.append(_row(info, event, closings.get(event.seq), depth))
        if event.kind == "snapshot":
            rows += [("", "", "", "", line) for line in _changes(event, before, most)]
    return table("seq", "at", "agent", "what", "", rows=rows)


def _row(info: RunInfo, event: Event, closing: Event | None, depth: int) -> tuple[Any, ...]:
    what = Text("  " * depth)
    what.append_text(styled(event.kind))
    return (
        Text(str(event.seq)),
        Text(duration(event.at_ns - info.started_at_ns)),
        styled(event.agent or ""),
        what,
        _detail(event, closing),
    )


def _changes(event: Event, before: Tree | None, most: int | None) -> list[Text]:
    if before is None:
        return []
    changes = tree_diff(before, event.body)
    lines = [_indented(change) for change in changes[:most]]
    if most is not None and len(changes) > most:
        lines.append(Text(f"  … and {len(changes) - most} more: --all-changes"))
    return lines or [Text("  nothing changed")]


def _indented(change: Change) -> Text:
    line = Text("  ")
    line.append_text(change_line(change, 40))
    return line


def _detail(event: Event, closing: Event | None) -> Text:
    if event.kind == "snapshot":
        return styled(event.name, "bold")
    body = _thawed(event)
    result = {} if closing is None else _thawed(closing)
    text = _DETAILS.get(event.kind, _detail_of_other)(event, body, result)
    line = Text(text)
    if "error" in result:
        line.append(f"  raised {brief(_text_of(result['error']))}", style="bold red")
    if closing is not None and event.kind != "run":
        line.append(f"  ({duration(closing.at_ns - event.at_ns)})", style="dim")
    if event.phase == OPEN and closing is None:
        line.append("  never ended", style="red")
    return line


def _thawed(event: Event) -> dict[str, Any]:
    body = event.body.thaw(live=False)
    return body if isinstance(body, dict) else {"value": body}


def _text_of(error: Any) -> object:
    return error.get("text", error) if isinstance(error, dict) else error


def _detail_of_model(event: Event, body: dict[str, Any], result: dict[str, Any]) -> str:
    output = result.get("output", body.get("output"))
    content = output.get("content") if isinstance(output, dict) else output
    calls = output.get("tool_calls", output.get("tool_call")) if isinstance(output, dict) else None
    usage = result.get("usage") or body.get("usage") or {}
    pieces = [plain(event.name)]
    if content:
        pieces.append(f"→ {brief(content)}")
    if calls:
        pieces.append(f"calls {brief(calls)}")
    if isinstance(usage, dict) and usage:
        pieces.append(" ".join(f"{brief(name)}={brief(count)}" for name, count in usage.items()))
    return " ".join(pieces)


def _detail_of_tool(event: Event, body: dict[str, Any], result: dict[str, Any]) -> str:
    arguments = body.get("arguments")
    if isinstance(arguments, dict):
        shown = ", ".join(f"{brief(name)}={literal(item, 30)}" for name, item in arguments.items())
    else:
        shown = "" if arguments is None else literal(arguments)
    output = result.get("output", body.get("output"))
    return f"{plain(event.name)}({shown})" + ("" if output is None else f" → {literal(output)}")


def _detail_of_handoff(event: Event, body: dict[str, Any], _: dict[str, Any]) -> str:
    return f"to {plain(event.name)}: {literal(body.get('context'), 80)}"


def _detail_of_text(event: Event, body: dict[str, Any], _: dict[str, Any]) -> str:
    text = body.get("text", body.get("content", event.name))
    rest = {
        name: item for name, item in body.items() if name not in ("text", "content", "traceback")
    }
    return brief(text, 100) + (f"  {literal(rest)}" if rest else "")


def _detail_of_run(event: Event, body: dict[str, Any], result: dict[str, Any]) -> str:
    status = result.get("status", body.get("status"))
    source = body.get("forked_from")
    fork = f" forked from {_place_of(source)}" if isinstance(source, dict) else ""
    return plain(event.name) + fork + (f" → {brief(status)}" if status else "")


def _detail_of_agent(event: Event, body: dict[str, Any], _: dict[str, Any]) -> str:
    source = body.get("forked_from")
    if not isinstance(source, dict):
        return _detail_of_other(event, body, {})
    return f"{plain(event.name)} starts at {_place_of(source)}"


def _place_of(source: dict[str, Any]) -> str:
    return (
        f"{brief(source.get('run_id'))}@{brief(source.get('seq'))} {literal(source.get('label'))}"
    )


def _detail_of_other(event: Event, body: dict[str, Any], _: dict[str, Any]) -> str:
    return plain(event.name) + (f"  {literal(body)}" if body else "")


_DETAILS = {
    "model_call": _detail_of_model,
    "tool_call": _detail_of_tool,
    "handoff": _detail_of_handoff,
    "note": _detail_of_text,
    "error": _detail_of_text,
    "run": _detail_of_run,
    "agent": _detail_of_agent,
}


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


def changes_as_dicts(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Give changes as JSON objects."""
    return [
        {
            "path": str(change.path),
            "kind": change.kind,
            "before": change.before,
            "after": change.after,
            "source": str(change.source),
        }
        for change in changes
    ]
