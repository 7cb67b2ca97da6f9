"""What an event says, in one line of plain text; and changes as JSON objects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from argentum.cli.terminal import BRIEF, brief, literal, plain
from argentum.clock import as_datetime
from argentum.events import Event
from argentum.state import Snapshot
from argentum.tree import Change, Record, Tree

OUTLINE_LINES = 60
OUTLINED_BYTES = 1_000_000
"""A state from this size on is not read to be outlined in a line."""

NOT_REPEATED = ("text", "content", "role", "traceback", "type")
"""What the line of a note or an error says already, or what is too long for it."""


def thawed(event: Event) -> dict[str, Any]:
    """Give an event's body as a dict; nothing of a state, which may be large."""
    if event.kind == "snapshot":
        return {}
    body = event.body.thaw(live=False)
    return body if isinstance(body, dict) else {"value": body}


def told(event: Event, body: dict[str, Any], width: int = BRIEF) -> str:
    """Tell what an event is about."""
    return _TOLD.get(event.kind, _other)(plain(event.name), body, width)


def told_output(output: Any, width: int = BRIEF) -> str:
    """Tell what came out of a call: a value, or a model's message with the calls it asks for."""
    if not isinstance(output, dict) or not output.keys() & {"content", "tool_calls", "tool_call"}:
        return literal(output, width)
    calls = output.get("tool_calls") or output.get("tool_call")
    listed = calls if isinstance(calls, list) else [calls] if calls else []
    said = [brief(output["content"], width)] if output.get("content") else []
    return " ".join([*said, *(_call(call, width) for call in listed)])


def told_error(error: Any) -> str:
    """Tell what was raised."""
    return f"raised {brief(error.get('text', error) if isinstance(error, dict) else error)}"


def told_source(source: dict[str, Any]) -> str:
    """Name where a fork starts."""
    place = f"{brief(source.get('run_id'))}@{brief(source.get('seq'))}"
    return f"{place} {literal(source.get('label'))}"


def counted(count: int, what: str) -> str:
    """Write a number of things."""
    return f"{count} {what}" + ("" if count == 1 else "s")


def kind_of(item: Any) -> str:
    """Show a small value, and of a container what and how large it is."""
    if isinstance(item, dict | list | tuple | set | frozenset):
        return f"{type(item).__name__} of {len(item)}"
    return literal(item)


def outline_lines(value: Any) -> list[str]:
    """Show the first level of a container, one member in a line."""
    if isinstance(value, Record):
        value = value.fields
    items = value.items() if isinstance(value, dict) else enumerate(value)
    lines = [f"{plain(str(key))}  {kind_of(item)}" for key, item in islice(items, OUTLINE_LINES)]
    hidden = len(value) - len(lines)
    return [*lines, *([f"… and {hidden} more"] if hidden > 0 else [])]


def outline_of(tree: Tree, width: int = BRIEF) -> str:
    """Show the first level of a state in one line."""
    if tree.size_bytes > OUTLINED_BYTES:
        return f"{tree.count()} parts, {tree.size_bytes:,} bytes"
    value = tree.thaw(live=False)
    if isinstance(value, Record):
        value = value.fields
    if not isinstance(value, dict):
        return brief(kind_of(value), width)
    some = islice(value.items(), width // 2)
    return brief(", ".join(f"{brief(str(key))}: {kind_of(item)}" for key, item in some), width)


def place_as_dict(snapshot: Snapshot) -> dict[str, Any]:
    """Name a snapshot."""
    at = as_datetime(snapshot.at_ns).isoformat()
    return {"seq": snapshot.seq, "label": snapshot.label, "at": at}


def named(snapshot: Snapshot) -> str:
    """Name a snapshot in one line: `@7 'label'`."""
    return f"@{snapshot.seq} {literal(snapshot.label, 40)}"


def as_places(text: str) -> str:
    """Write places in a run as the command line does, `@7`, not as the library does."""
    return re.sub(r" \((?:seq|event) (\d+)(?=[,)])", r" (@\1", text)


def _call(call: Any, width: int) -> str:
    """Tell which call a model asks for, in any of its usual forms."""
    inner = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(inner, dict) or "name" not in inner:
        return f"calls {literal(call, width)}"
    return f"calls {brief(inner['name'])}({_arguments(inner.get('arguments'), width)})"


def _arguments(arguments: Any, width: int) -> str:
    if not isinstance(arguments, dict):
        return "" if arguments is None else literal(arguments, width)
    return ", ".join(f"{brief(key)}={literal(item, width // 2)}" for key, item in arguments.items())


def _tool(name: str, body: dict[str, Any], width: int) -> str:
    return f"{name}({_arguments(body.get('arguments'), width)})"


def _text(name: str, body: dict[str, Any], width: int) -> str:
    text = brief(body.get("text", body.get("content", name)), width * 5 // 3)
    role = body.get("role")
    rest = {key: item for key, item in body.items() if key not in NOT_REPEATED}
    more = f"  {literal(rest, width)}" if rest else ""
    return (f"{brief(role)}: {text}" if role else text) + more


def _handoff(name: str, body: dict[str, Any], width: int) -> str:
    return f"to {name}: {literal(body.get('context'), width * 4 // 3)}"


def _model(name: str, _: dict[str, Any], __: int) -> str:
    return name


def _beginning(name: str, body: dict[str, Any], _: int) -> str:
    source = body.get("forked_from")
    return f"{name} forked from {told_source(source)}" if isinstance(source, dict) else name


def _alert(name: str, body: dict[str, Any], width: int) -> str:
    if body.get("alert") != "watch" or not isinstance(values := body.get("values"), dict):
        return _other(name, body, width)
    read = ", ".join(f"{brief(str(key))} = {literal(item, width)}" for key, item in values.items())
    told = ": ".join(filter(None, (literal(body.get("label"), width), read or body.get("why"))))
    return f"{brief(name)} broke at {brief(told, width * 3)}"


def _other(name: str, body: dict[str, Any], width: int) -> str:
    return name + (f"  {literal(body, width)}" if body else "")


_TOLD = {
    "model_call": _model,
    "tool_call": _tool,
    "handoff": _handoff,
    "note": _text,
    "error": _text,
    "alert": _alert,
    "run": _beginning,
    "agent": _beginning,
}


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
