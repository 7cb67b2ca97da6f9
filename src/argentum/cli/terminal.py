"""What people see: tables and colours on a terminal, plain text in a pipe, JSON for programs."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from argentum.state import to_jsonable
from argentum.tree import Change

WIDE = 100_000
"""Columns of a pipe: nothing is cut or wrapped there."""
BRIEF = 60
SEEN, LEAD_IN = 16, 8
"""Characters that are shown of where two texts differ, at least; and of what is before that."""
KIND_STYLES = {
    "added": "green", "removed": "red", "changed": "yellow", "moved": "cyan",
    "model_call": "magenta", "tool_call": "blue", "snapshot": "green", "handoff": "cyan",
    "error": "bold red", "alert": "bold red", "run": "bold", "failed": "red", "killed": "red",
    "done": "green", "running": "yellow",
}  # fmt: skip
SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


def console(*, stderr: bool = False) -> Console:
    """Give the console of one of the streams."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # not every terminal can show an arrow
    width = None if stream.isatty() else WIDE
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def show(*parts: RenderableType) -> None:
    """Print; on a terminal what does not fit on the screen goes through the pager."""
    out = console()
    with out.capture() as capture:
        for part in parts:
            out.print(part)
    text = capture.get()
    if not out.is_terminal:
        out.file.writelines(f"{line.rstrip()}\n" for line in text.splitlines())
    elif text.count("\n") < out.height:
        out.file.write(text)
    else:
        # As git does: colours pass, and what fits on the screen is not paged.
        less = os.environ.setdefault("LESS", "FRX")
        with out.pager(styles="R" in less.upper()):
            out.print(Text.from_ansi(text))


def remark(text: str) -> None:
    """Tell on standard error what does not belong to the output."""
    sys.stderr.write(f"argentum: {plain(text)}\n")


def show_json(value: Any) -> None:
    """Print a value as JSON, without loss."""
    print_json(to_jsonable(value))


_DRIVING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that JSON may hold as they are and that drive a terminal, or turn a text around."""


def print_json(data: Any) -> None:
    """Print what is JSON already."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # a lone surrogate, or a terminal that is not UTF-8
        text = json.dumps(data, indent=2)
    sys.stdout.write(_DRIVING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def table(*columns: str, rows: Iterable[Iterable[RenderableType]]) -> Table:
    """Lay out rows under headings."""
    made = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in columns:
        made.add_column(column, no_wrap=not console().is_terminal, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def plain(text: str) -> str:
    """Make control characters visible, so that recorded text cannot drive the terminal."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode()
        for char in text
    )


def styled(text: object, style: str | None = None) -> Text:
    """Give a text in a style, or in that of the word itself."""
    shown = plain(str(text))
    return Text(shown, style=style or KIND_STYLES.get(shown, ""))


def brief(value: object, width: int = BRIEF) -> str:
    """Show a value in one short line."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except Exception as error:  # noqa: BLE001 - a foreign repr may raise anything
        text = f"<repr raised {type(error).__name__}>"
    line = plain(" ".join(text.split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def literal(value: object, width: int = BRIEF) -> str:
    """Show a value in one short line as Python would write it."""
    return brief(repr(value) if isinstance(value, str) else value, width)


def brief_pair(one: str, other: str, width: int) -> tuple[str, str]:
    """Show two texts in one short line each, in such a way that their difference is seen."""
    first, second = (" ".join(text.split()) for text in (one, other))
    pairs = enumerate(zip(first, second, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
    if first == second or same <= width - SEEN:
        return brief(first, width), brief(second, width)
    head, start = f"{plain(first[: width // 3])}…", same - LEAD_IN
    left = width - len(head)
    return head + brief(first[start:], left), head + brief(second[start:], left)


def place_of(path: str) -> str:
    """Show a path; the empty one is that of the whole state."""
    return plain(path) or "(the state)"


def change_line(change: Change, width: int = BRIEF) -> Text:
    """Show one change in one line."""
    path = place_of(change.path)
    line = Text(f"{SIGNS[change.kind]} ", style=KIND_STYLES[change.kind])
    line.append(path, style="bold")
    line.append("  ")
    if change.kind == "changed":
        line.append(f"{literal(change.before, width)} → {literal(change.after, width)}")
    elif change.kind == "moved":
        line.append(f"from {plain(change.source)}  {literal(change.after, width)}")
    else:
        value = change.before if change.kind == "removed" else change.after
        line.append(literal(value, width))
    return line


def duration(nanoseconds: int | None) -> str:
    """Show a span of time."""
    if nanoseconds is None:
        return ""
    milliseconds = round(nanoseconds / 1e6)
    if milliseconds < 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds} ms"
    if milliseconds < 59_950:  # noqa: PLR2004 - what rounds to a minute
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"
