"""
The vocabulary of what happens in a run.

A run is an ordered list of events `(run, seq)`. An event that takes time is a span: it is kept
twice, once when it opens and once when it closes, so that a killed process still shows what it
was doing. Every event carries a body: a `Tree` (or its stored reference) with the details of its
kind, described in `docs/interchange.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from argentum.tree import Tree

KINDS = (
    "run", "agent", "snapshot", "model_call", "tool_call", "handoff", "receipt",
    "memory", "plan", "usage", "alert", "error", "note",
)  # fmt: skip
POINT, OPEN, CLOSE = "point", "open", "close"
PHASES = (POINT, OPEN, CLOSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What the list of runs shows about one run."""

    run_id: str
    """Unique in a store, sorts by start, e.g. `20261201-093000-4f2a`."""
    name: str
    """What the user calls it: the script, the test, the task. Need not be unique."""
    started_at_ns: int
    """Nanoseconds since 1970, UTC."""
    ended_at_ns: int | None = None
    """None while it runs, and for ever if its process was killed."""
    status: str = "running"
    """`running`, `done`, `failed`; readers show a running run whose process is gone as `killed`."""
    process: str = ""
    """`host:pid:start` of the recording process, to tell a running run from a killed one."""
    dropped: int = 0
    """How many events could not be recorded."""
    first_dropped: str = ""
    """Why the first of them could not."""
    events: int = 0
    """How many events are kept; filled in by the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened in a run."""

    run_id: str
    seq: int
    """1, 2, 3, … in the order in which the events were recorded, without gaps."""
    kind: str
    """One of `KINDS`."""
    name: str
    """The label of a snapshot, the tool's or model's name, a note's first words."""
    at_ns: int
    """Nanoseconds since 1970, UTC."""
    body: Tree
    """The details, a dict whose keys depend on the kind."""
    agent: str | None = None
    phase: str = POINT
    """`open` and `close` for the two events of a span, else `point`."""
    span: int | None = None
    """In a closing event: the `seq` of the event that opened the span."""
    parent: int | None = None
    """The `seq` of the span that was open around this event, if any."""
