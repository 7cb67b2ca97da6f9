"""How one act is shown: in a line, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from argentum.cli.terminal import brief, change_line, literal, plain, styled
from argentum.events import Event
from argentum.state.acts import Act
from argentum.tree import Change

MAX_CHANGES = 8
VALUE_WIDTH = 24
"""Characters of a value in a line about a change: two of them and a path fit into 80 columns."""
ACT_WIDTH = 64
"""Characters of an act, so that it fits behind two short columns."""


def act_line(act: Act, *, outcome: bool = True) -> Text:
    """Show an act in one line, its kind in colour, with or without what came out."""
    line = styled(act.kind)
    return line.append(f" {brief(told(act, outcome=outcome), ACT_WIDTH - len(act.kind))}")


def change_lines(changes: Sequence[Change]) -> Iterator[Text]:
    """Show the first few changes, and how many more there are."""
    for change in changes[:MAX_CHANGES]:
        line = Text("  ")
        line.append_text(change_line(change, VALUE_WIDTH))
        yield line
    if len(changes) > MAX_CHANGES:
        yield Text(f"  … and {len(changes) - MAX_CHANGES} more")


def told(act: Act, *, outcome: bool = True) -> str:
    """Show an act in one line, with or without what came out."""
    body = thawed(act.opening)
    text = _TOLD.get(act.kind, _told_other)(act, body)
    if not outcome:
        return text
    return text + _told_outcome(act, body if act.closing is None else thawed(act.closing))


def _told_outcome(act: Act, result: dict[str, Any]) -> str:
    output, error = result.get("output"), result.get("error")
    text = "" if output is None else f" → {_told_output(output)}"
    if act.kind != "error" and error is not None:
        text += f" raised {brief(error.get('text', error) if isinstance(error, dict) else error)}"
    return text + ("  never ended" if act.is_open else "")


def _told_output(output: Any) -> str:
    if not isinstance(output, dict) or "role" not in output:
        return literal(output, 50)
    calls = output.get("tool_calls") or output.get("tool_call")
    called = calls if isinstance(calls, list) else [calls] if calls else []
    return " ".join([brief(output.get("content") or "", 50), *map(_told_call, called)]).strip()


def _told_call(call: Any) -> str:
    """Show a call that a model asks for, in any of its usual forms."""
    inner = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(inner, dict) or "name" not in inner:
        return f"calls {literal(call, 50)}"
    return f"calls {brief(inner['name'])}({literal(inner.get('arguments'), 50)})"


def thawed(event: Event) -> dict[str, Any]:
    """Give an event's body as a dict; nothing of a state, which may be large."""
    if event.kind == "snapshot":
        return {}
    body = event.body.thaw(live=False)
    return body if isinstance(body, dict) else {"value": body}


def _told_tool(act: Act, body: dict[str, Any]) -> str:
    arguments = body.get("arguments")
    if not isinstance(arguments, dict):
        return f"{plain(act.name)}({'' if arguments is None else literal(arguments)})"
    shown = ", ".join(f"{brief(name)}={literal(item, 30)}" for name, item in arguments.items())
    return f"{plain(act.name)}({brief(shown, 100)})"


def _told_text(act: Act, body: dict[str, Any]) -> str:
    text = body.get("text", body.get("content", act.name))
    role = body.get("role")
    return f"{brief(role)}: {brief(text, 70)}" if role else brief(text, 70)


def _told_handoff(act: Act, body: dict[str, Any]) -> str:
    return f"to {plain(act.name)}: {literal(body.get('context'), 50)}"


def _told_other(act: Act, _: dict[str, Any]) -> str:
    return plain(act.name)


_TOLD = {
    "tool_call": _told_tool,
    "note": _told_text,
    "error": _told_text,
    "handoff": _told_handoff,
}


def act_as_dict(act: Act | None) -> dict[str, Any] | None:
    """Give an act as a JSON object, both events of a span in one."""
    if act is None:
        return None
    closing = {} if act.closing is None else thawed(act.closing)
    return {
        "seq": act.seq,
        "last_seq": act.last_seq,
        "kind": act.kind,
        "name": act.name,
        "agent": act.agent,
        "body": {**thawed(act.opening), **closing},
    }
