"""
What agents did, told from a run's events so that two runs can be compared.

An act is one step: a call of a model or tool (both events of its span), a handoff, a note, an
error, a change of memory or plan, or the state that an agent had. Two acts are told apart by what
went in and what came out, never by when they happened or by which names a machine made up:

* `at_ns`, `seq`, `span` and `parent` of events, and whether a run was recorded under another id;
* `MEASURED` fields of a body (`elapsed_ms`, `usage`, `tool_call_id`, …) and tracebacks;
* in what goes to a model and comes from it, those and `MADE_UP` fields (`id`, `created`, …),
  wherever they stand outside of the arguments of calls;
* which UUID, call id, run id or address stands in a text, as long as the same one stands for it
  throughout (see `Act.ids`);
* the order of a dict's keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from argentum.events import CLOSE, OPEN, Event
from argentum.state.essence import GIVEN, Essences, digest, fields_of, read_whole
from argentum.tree import Path

KINDS_OF_ACTS = (
    "model_call", "tool_call", "handoff", "note", "snapshot", "error", "memory", "plan", "receipt",
)  # fmt: skip
"""`agent`, `usage` and `alert` tell of the recording; of `run`, only how it ended is an act."""
MEASURED = frozenset({
    "call_id", "duration_ms", "elapsed_ms", "latency_ms", "request_id", "response_id", "run_id",
    "span_id", "tool_call_id", "trace_id", "traceback", "usage",
})  # fmt: skip
MADE_UP = MEASURED | {"created", "created_at", "id", "system_fingerprint"}
RESULTS = frozenset({"output", "error"})
CONTEXT = "messages"
_UNFINISHED = b"never ended"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that an agent did, or that came from outside."""

    opening: Event
    """The event that tells it; of a span the first, as far as it was recorded."""
    closing: Event | None
    """The event that ended the span; None for a point, and for a span that never ended."""
    context: bytes
    """A digest of the messages that a model was given; empty if there are none."""
    call: bytes
    """A digest of what was asked of whom: the arguments, or all of a note or handoff."""
    whole: bytes
    """A digest of what was asked and of what came out."""
    ids: tuple[str, ...]
    """The made-up names inside, in their order: not in the digests."""

    @property
    def kind(self) -> str:
        """One of `KINDS_OF_ACTS`, or `run` for the end of the run."""
        return self.opening.kind

    @property
    def name(self) -> str:
        """The tool's or model's name, a snapshot's label."""
        return self.opening.name

    @property
    def agent(self) -> str | None:
        """Who did it; None if it came from outside."""
        return self.opening.agent

    @property
    def seq(self) -> int:
        """The number of its first event."""
        return self.opening.seq

    @property
    def last_seq(self) -> int:
        """The number of its last event."""
        return self.opening.seq if self.closing is None else self.closing.seq

    @property
    def is_call(self) -> bool:
        """Whether it asks a model, a tool or another agent for something."""
        return self.kind in ("model_call", "tool_call", "handoff")

    @property
    def is_open(self) -> bool:
        """Whether it is a span that never ended."""
        return self.closing is None and self.opening.phase == OPEN

    def __repr__(self) -> str:
        """Show which it is."""
        return f"<Act {self.seq} {self.kind} {self.name!r} of {self.agent!r}>"


def acts_of(
    events: Iterable[Event],
    *,
    kinds: Collection[str] = (),
    ignore: Collection[str] = (),
    essences: Essences | None = None,
) -> list[Act]:
    """
    Give what was done in a run, in the order in which it began.

    Args:
        kinds: only acts of these kinds; all by default.
        ignore: names of further fields that make no difference, wherever they stand.
        essences: what was digested for another run, with the same `ignore`.
    """
    wanted = frozenset(kinds or (*KINDS_OF_ACTS, "run"))
    kept = [event for event in events if event.kind in wanted]
    opened = {event.seq for event in kept if event.phase == OPEN}
    closings = {event.span: event for event in kept if event.phase == CLOSE}
    read_whole(event.body for event in kept if event.kind != "snapshot")
    reader = _Reader(essences or Essences(frozenset(ignore)))
    return [
        reader.act(event, closings.get(event.seq) if event.phase == OPEN else None)
        for event in kept
        if _begins(event, opened)
    ]


def _begins(event: Event, opened: Collection[int]) -> bool:
    """Tell whether an act begins here; of a run, its end is the act."""
    if event.kind == "run":
        return event.phase == CLOSE
    return event.phase != CLOSE or event.span not in opened


class _Reader:
    """Makes acts of events; what their bodies share is read once."""

    def __init__(self, essences: Essences) -> None:
        self._ignore = essences.ignore
        self._essences = essences

    def act(self, opening: Event, closing: Event | None) -> Act:
        if opening.kind == "snapshot":
            call = digest(opening.kind, opening.agent, opening.name)
            state = digest(opening.kind, opening.agent, opening.body.reference())
            return Act(opening, None, b"", call, state, ())
        before = fields_of(opening.body)
        ids: list[str] = []
        if opening.kind == "run":
            ended = self._of_fields(opening, {"status": before.get("status")}, ids)
            return Act(opening, None, b"", digest("run"), digest("run", ended), ())
        given = {name: item for name, item in before.items() if name not in RESULTS}
        messages = given.pop(CONTEXT, None) if opening.kind == "model_call" else None
        context = self._essences.of(messages, _left_out(opening.kind, self._ignore), ids)
        title = "" if _is_text(opening) else opening.name
        asked = self._of_fields(opening, given, ids)
        call = digest(opening.kind, opening.agent, title, context, asked)
        after = before if closing is None else {**before, **fields_of(closing.body)}
        results = {name: item for name, item in after.items() if name in RESULTS}
        came = self._of_fields(opening, results, ids)
        unfinished = closing is None and opening.phase == OPEN
        whole = digest(call, _UNFINISHED if unfinished else came)
        return Act(opening, closing, context, call, whole, tuple(ids))

    def _of_fields(self, event: Event, fields: dict[str, Any], ids: list[str]) -> bytes:
        """Digest some fields of a body."""
        parts: list[bytes | str] = []
        for name in sorted(fields.keys() - _left_out(event.kind, self._ignore)):
            inside = _left_out_inside(event.kind, name, self._ignore)
            found = self._essences.of(fields[name], inside, ids)
            parts += [name, found] if found else []
        return digest(*parts)


@lru_cache(maxsize=1024)
def _left_out(kind: str, ignore: frozenset[str]) -> frozenset[str]:
    """Give the fields of a body that make no difference."""
    return (MADE_UP if kind == "model_call" else MEASURED) | ignore


@lru_cache(maxsize=1024)
def _left_out_inside(kind: str, field: str, ignore: frozenset[str]) -> frozenset[str]:
    """Give the fields that make no difference inside of a field of a body."""
    # What goes to a model and comes from it has made-up fields inside, too.
    made_up = field not in GIVEN and (kind == "model_call" or field == "error")
    return _left_out(kind, ignore) if made_up else ignore


def is_left_out(kind: str, path: Path, ignore: frozenset[str]) -> bool:
    """Tell whether what lies at a path in a body of this kind makes no difference."""
    names = [step for step in path.parts if type(step) is str]
    fields = _left_out(kind, ignore)
    for depth, name in enumerate(names):
        if name in fields:
            return True
        if depth == 0:
            fields = _left_out_inside(kind, name, ignore)
        elif name in GIVEN:
            fields = ignore
    return False


def _is_text(event: Event) -> bool:
    """Tell whether the name only repeats the first words of the body, made-up names included."""
    return event.kind in ("note", "error")
