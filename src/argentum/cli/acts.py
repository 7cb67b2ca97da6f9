"""How one act is shown: in a line, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from argentum.cli.telling import thawed, told_error, told_output
from argentum.cli.telling import told as told_event
from argentum.cli.terminal import BRIEF, brief, brief_pair, change_line, styled
from argentum.events import OPEN, Event
from argentum.state.acts import Act
from argentum.state.forks import place_of
from argentum.tree import Change

MAX_CHANGES = 8
VALUE_WIDTH = 24
"""Characters of a value in a line about a change: two of them and a path fit into 80 columns."""
WIDTH = 50
"""Characters of a text within an act."""
ACT_WIDTH = 64
"""Characters of an act, so that it fits behind two short columns."""
WHOLE_WIDTH = 4000
"""Characters of a text within an act that is cut where it differs from another."""
CALLS = ("model_call", "tool_call")


def act_line(act: Act, *, outcome: bool = True) -> Text:
    """Show an act in one line, its kind in colour, with or without what came out."""
    line = styled(act.kind)
    return line.append(f" {brief(told(act, outcome=outcome), ACT_WIDTH - len(act.kind))}")


def act_lines(a: Act | None, b: Act | None) -> tuple[Text, Text]:
    """Show two acts in one line each, cut so that their difference is seen."""
    if a is None or b is None or a.kind != b.kind:
        first, second = (
            Text("(the end)", "dim") if act is None else act_line(act) for act in (a, b)
        )
        return first, second
    whole_a, whole_b = (told(act, width=WHOLE_WIDTH) for act in (a, b))
    cut = brief_pair(whole_a, whole_b, ACT_WIDTH - len(a.kind))
    first, second = (styled(a.kind).append(f" {text}", style="default") for text in cut)
    return first, second


def change_lines(changes: Sequence[Change]) -> Iterator[Text]:
    """Show the first few changes, and how many more there are."""
    for change in changes[:MAX_CHANGES]:
        line = Text("  ")
        line.append_text(change_line(change, VALUE_WIDTH))
        yield line
    if len(changes) > MAX_CHANGES:
        yield Text(f"  … and {len(changes) - MAX_CHANGES} more")


def told(act: Act, *, outcome: bool = True, width: int = WIDTH) -> str:
    """Show an act in one line, with or without what came out."""
    opening = act.opening
    if not outcome:
        return told_event(opening, thawed(opening), width)
    return event_line(opening, act.closing, width=width).plain


def event_line(
    opening: Event, closing: Event | None, *, width: int = BRIEF, usage: bool = False
) -> Text:
    """Show an event in one line, of a span with what came out of it."""
    body = thawed(opening)
    result = {} if closing is None else thawed(closing)
    ended = {**body, **result}
    line = Text(told_event(opening, body, width))
    if opening.kind in CALLS and ended.get("output") is not None:
        line.append(f" → {told_output(ended['output'], width)}")
    if opening.kind == "run" and ended.get("status"):
        line.append(f" → {brief(ended['status'])}")
    if usage:
        line.append(_usage(ended.get("usage")))
    if opening.kind != "error" and ended.get("error") is not None:
        line.append(f"  {told_error(ended['error'])}", style="bold red")
    if closing is None and opening.phase == OPEN:
        line.append("  never ended", style="red")
    return line


def _usage(usage: Any) -> str:
    if not isinstance(usage, dict):
        return ""
    return "".join(f" {brief(name)}={brief(count)}" for name, count in usage.items())


def act_as_dict(act: Act | None) -> dict[str, Any] | None:
    """Give an act as a JSON object, both events of a span in one."""
    if act is None:
        return None
    closing = {} if act.closing is None else thawed(act.closing)
    return {
        "run_id": act.opening.run_id,
        "seq": place_of(act),
        "last_seq": place_of(act) + act.last_seq - act.seq,
        "kind": act.kind,
        "name": act.name,
        "agent": act.agent,
        "body": {**thawed(act.opening), **closing},
    }
