"""Runs for tests of comparison, written down as lists of steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from argentum.events import CLOSE, OPEN, POINT, Event
from argentum.tree import freeze


class Step(NamedTuple):
    """What an agent does: a span if `result` is not None, else a point."""

    kind: str
    name: str
    body: Any
    result: Any = None
    agent: str | None = "a"


def tool(name: str, arguments: Any, output: Any = "ok", *, agent: str = "a", **result: Any) -> Step:
    """Call a tool."""
    body = {"tool": name, "arguments": arguments}
    return Step("tool_call", name, body, {"output": output, **result}, agent)


def model(messages: Any, output: Any, *, agent: str = "a", **parameters: Any) -> Step:
    """Call a model."""
    body = {"model": "m", "messages": messages, **parameters}
    return Step("model_call", "m", body, {"output": output}, agent)


def note(text: str, agent: str | None = None) -> Step:
    """Say something from outside."""
    return Step("note", text, {"text": text}, None, agent)


def state(label: str, value: Any, agent: str = "a") -> Step:
    """Have a state."""
    return Step("snapshot", label, value, None, agent)


def run_of(steps: Iterable[Step], *, run_id: str = "r", start_ns: int = 0) -> list[Event]:
    """Write the events of a run that takes the steps one after the other."""
    made: list[Event] = []
    for step in steps:
        seq = len(made) + 1
        common = {"run_id": run_id, "kind": step.kind, "name": step.name, "agent": step.agent}
        phase = POINT if step.result is None else OPEN
        at_ns = start_ns + seq
        body = freeze(step.body)
        made.append(Event(**common, seq=seq, at_ns=at_ns, body=body, phase=phase))
        if step.result is not None:
            result = freeze({**step.result, "elapsed_ms": float(start_ns + seq)})
            made.append(
                Event(**common, seq=seq + 1, at_ns=at_ns, body=result, phase=CLOSE, span=seq)
            )
    return made


def seq_of(steps: Sequence[Step], place: int) -> int:
    """Tell the `seq` of the first event of a step."""
    return 1 + sum(1 if step.result is None else 2 for step in steps[:place])
