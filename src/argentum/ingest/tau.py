"""
Runs of tau-bench (https://github.com/sierra-research/tau-bench): one run a line.

A line has `run`, `reward` and `steps`; a step has `role` and `content`, an assistant's may have a
`tool_call`, a tool's has `tool_call_id` and, where the call wrote to the database, `state_patch`
(RFC 6902). The database before each run is a file of its own. It becomes the state of the agent:
a snapshot at the start and one after each tool call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argentum.clock import now_ns
from argentum.errors import FormatError, shown
from argentum.ingest.interchange import FORMAT, VERSION, Record

AGENT = "assistant"


def recognises(first: Any) -> bool:
    """Tell whether a file that starts with this value is in the format."""
    return isinstance(first, dict) and {"run", "steps"} <= first.keys()


def records(line: Any, state: Any) -> Iterator[Record]:
    """
    Give the interchange records of one run.

    Raises:
        FormatError: the line is no run.
    """
    if not recognises(line):
        message = f"{shown(line)} is no run of tau-bench; it needs `run` and `steps`."
        raise FormatError(message)
    at_ns = now_ns()
    yield {
        "type": "run", "format": f"{FORMAT}/{VERSION}", "run_id": line["run"],
        "name": line["run"], "started_at_ns": at_ns,
    }  # fmt: skip
    facts = {name: item for name, item in line.items() if name not in ("run", "steps")}
    yield _event("run", line["run"], at_ns, body=facts, phase="open")
    yield _event("snapshot", "start", at_ns, agent=AGENT, state=state)
    number = 2
    opened: dict[str, int] = {}
    for step in line["steps"]:
        for record in _step(step, at_ns + step["index"] + 1, opened):
            number += 1
            if record.get("phase") == "open":
                opened[step["tool_call"]["id"]] = number
            yield record
    status = "done" if line.get("reward") == 1.0 else "failed"
    end_ns = at_ns + number
    yield _event("run", line["run"], end_ns, body={"status": status}, phase="close", span=1)
    yield {"type": "end", "status": status, "ended_at_ns": end_ns}


def _step(step: Record, at_ns: int, opened: dict[str, int]) -> Iterator[Record]:
    role = step["role"]
    if role == "tool":
        name, span = step.get("tool", "tool"), opened.get(step.get("tool_call_id", ""))
        body = {"output": step["content"], "tool_call_id": step.get("tool_call_id")}
        phase = "point" if span is None else "close"
        yield _event("tool_call", name, at_ns, agent=AGENT, body=body, phase=phase, span=span)
        patch = step.get("state_patch") or []
        yield _event("snapshot", f"step {step['index']}", at_ns, agent=AGENT, state_patch=patch)
        return
    message = {name: step[name] for name in ("role", "content", "tool_call") if step.get(name)}
    if role != "assistant":
        yield _event("note", role, at_ns, body=message)
        return
    yield _event("model_call", AGENT, at_ns, agent=AGENT, body={"output": message})
    call = step.get("tool_call")
    if call is not None:
        body = {"tool": call["name"], "arguments": call["arguments"], "tool_call_id": call["id"]}
        yield _event("tool_call", call["name"], at_ns, agent=AGENT, body=body, phase="open")


def _event(kind: str, name: str, at_ns: int, **fields: Any) -> Record:
    given = {field: value for field, value in fields.items() if value is not None}
    return {"type": "event", "kind": kind, "name": name, "at_ns": at_ns, **given}
