"""What an event says, in one line of plain text; and changes as JSON objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from argentum.cli.terminal import BRIEF, brief, literal, plain
from argentum.events import Event
from argentum.tree import Change

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


def _other(name: str, body: dict[str, Any], width: int) -> str:
    return name + (f"  {literal(body, width)}" if body else "")


_TOLD = {
    "model_call": _model,
    "tool_call": _tool,
    "handoff": _handoff,
    "note": _text,
    "error": _text,
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
