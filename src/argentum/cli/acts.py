"""How one act is shown: in a line, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from argentum.cli import telling
from argentum.cli.telling import thawed
from argentum.cli.terminal import brief, change_line, styled
from argentum.state.acts import Act
from argentum.tree import Change

MAX_CHANGES = 8
VALUE_WIDTH = 24
"""Characters of a value in a line about a change: two of them and a path fit into 80 columns."""
WIDTH = 50
"""Characters of a text within an act."""
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
    text = telling.told(act.opening, body, WIDTH)
    result = body if act.closing is None else thawed(act.closing)
    if outcome and result.get("output") is not None:
        text += f" → {telling.told_output(result['output'], WIDTH)}"
    if outcome and act.kind != "error" and result.get("error") is not None:
        text += f" {telling.told_error(result['error'])}"
    return text + ("  never ended" if outcome and act.is_open else "")


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
