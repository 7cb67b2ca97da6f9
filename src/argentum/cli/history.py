"""`argentum history`: each value that a path had, and since when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.arguments import (
    JsonOption,
    RunArgument,
    StoreOption,
    agent_snapshots,
    opened,
    run_named,
)
from argentum.cli.plot import as_number, is_number, plot
from argentum.cli.telling import counted, kind_of, place_as_dict
from argentum.cli.terminal import (
    BRIEF,
    change_line,
    duration,
    literal,
    place_of,
    plain,
    show,
    show_json,
    table,
)
from argentum.errors import NotFoundError
from argentum.events import RunInfo
from argentum.state import Snapshot, Value
from argentum.state import history as history_of
from argentum.tree import Record
from argentum.tree import diff as tree_diff

LARGE_BYTES = 20_000
"""A value from this size on is not printed."""
LABEL_WIDTH, CHANGE_WIDTH = 28, 24
MOST_CHANGES = 3
"""Changes of a container that are shown below what it is."""
MOST = 40
"""Values that are listed unless all are asked for: the first half and the last half of so many."""


@dataclass(frozen=True, slots=True)
class _History:
    agent: str | None
    snapshots: Sequence[Snapshot]
    values: Sequence[Value]


def history(
    run: RunArgument = "",
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Where in the state, like messages[3].content.")
    ] = "",
    *,
    agent: Annotated[str | None, typer.Option("--agent", help="Whose state.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="List all values.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    List each value that a path had, and since when; numbers are also drawn.

    Without --agent, that is done for each agent that has something at the path.
    """
    place = opened(store)
    info = run_named(place, run, path_command="" if path else "history")
    found = _histories(agent_snapshots(place, info, agent), path)
    if json:
        show_json([_as_dict(one, path) for one in found])
    else:
        parts = (part for one in found for part in _shown(one, path, info, everything=everything))
        show(Text(f"{plain(info.run_id)}  {plain(info.name)}", style="bold"), *parts)


def _histories(by_agent: dict[str | None, list[Snapshot]], path: str) -> list[_History]:
    found: list[_History] = []
    errors: list[NotFoundError] = []
    for agent, snapshots in by_agent.items():
        try:
            found.append(_History(agent, snapshots, history_of(snapshots, path)))
        except NotFoundError as error:
            errors.append(error)
    if found:
        return found
    # One that says what else there is helps more than one that does not.
    raise max(errors, key=lambda error: ("Did you mean" in str(error), "Known" in str(error)))


# ---------------------------------------------------------------- text


def _shown(one: _History, path: str, info: RunInfo, *, everything: bool) -> list[Any]:
    heading = Text(place_of(path), style="bold")
    whose = f"  of {plain(one.agent)}" if one.agent is not None else ""
    count = sum(value.present for value in one.values)
    counts = f"  {counted(count, 'value')} in {counted(len(one.snapshots), 'snapshot')}"
    heading.append(whose + counts, style="not bold")
    drawn = _drawing(one)
    return [heading, _listed(one.values, info, everything=everything), *drawn, Text()]


def _listed(values: Sequence[Value], info: RunInfo, *, everything: bool) -> Table:
    hidden = 0 if everything else max(0, len(values) - MOST)
    first, last = (
        (values, values[:0]) if not hidden else (values[: MOST // 2], values[-MOST // 2 :])
    )
    rows = [row for before, value in _with_before(first) for row in _rows(value, before, info)]
    if hidden:
        rows.append((Text("…"), Text(), Text(), Text(f"{hidden} more: --all", style="dim")))
    rows += [row for before, value in _with_before(last) for row in _rows(value, before, info)]
    return table("since", "at", "snapshot", "value", rows=rows)


def _with_before(values: Sequence[Value]) -> Iterator[tuple[Value | None, Value]]:
    return zip([None, *values], values, strict=False)


def _rows(value: Value, before: Value | None, info: RunInfo) -> Iterator[tuple[Text, ...]]:
    since = value.since
    at = Text(duration(since.at_ns - info.started_at_ns))
    shown, is_whole = _value(value)
    yield Text(f"@{since.seq}"), at, Text(literal(since.label, LABEL_WIDTH)), shown
    if not is_whole and before is not None and before.tree is not None and value.tree is not None:
        changes = tree_diff(before.tree, value.tree)
        for change in changes[:MOST_CHANGES]:
            yield Text(), Text(), Text(), change_line(change, CHANGE_WIDTH)
        if len(changes) > MOST_CHANGES:
            hidden = len(changes) - MOST_CHANGES
            yield Text(), Text(), Text(), Text(f"… and {hidden} more", style="dim")


def _value(value: Value) -> tuple[Text, bool]:
    """Show a value, and tell whether that is all of it; of what is large, what it is."""
    if value.tree is None:
        return Text("(nothing)", style="dim"), True
    if value.tree.size_bytes > LARGE_BYTES:
        size = f"({value.tree.count()} parts, {value.tree.size_bytes:,} bytes)"
        return Text(size, style="dim"), False
    thawed = value.thaw(live=False)
    text = literal(thawed)
    is_container = isinstance(thawed, dict | list | tuple | set | frozenset | Record)
    if is_container and len(text) >= BRIEF and text.endswith("…"):
        return Text(kind_of(thawed)), False
    return Text(text), True


def _drawing(one: _History) -> list[Text]:
    numbers = list(_numbers(one))
    lines = plot([number for number, _ in numbers])
    if not lines:
        return []
    left_out = sum(
        known and (number is None or not math.isfinite(number)) for number, known in numbers
    )
    if left_out:
        lines.append(f"not drawn: {counted(left_out, 'snapshot')} with NaN, inf or a huge number")
    return [Text(), *map(Text, lines)]


def _numbers(one: _History) -> Iterator[tuple[float | None, bool]]:
    """Give for each snapshot the number at the path as a float, and whether there is one at all."""
    values = iter(one.values)
    coming = next(values, None)
    found: tuple[float | None, bool] = (None, False)
    for snapshot in one.snapshots:
        if coming is not None and snapshot is coming.since:
            found = _number(coming)
            coming = next(values, None)
        yield found


def _number(value: Value) -> tuple[float | None, bool]:
    if value.tree is None or value.tree.size_bytes > LARGE_BYTES:
        return None, False
    thawed = value.thaw(live=False)
    return as_number(thawed), is_number(thawed)


# ---------------------------------------------------------------- JSON


def _as_dict(one: _History, path: str) -> dict[str, Any]:
    return {
        "path": path,
        "agent": one.agent,
        "snapshots": len(one.snapshots),
        "values": [
            {
                "since": place_as_dict(value.since),
                "until": None if value.until is None else place_as_dict(value.until),
                "present": value.present,
                "value": value.thaw(live=False) if value.present else None,
            }
            for value in one.values
        ],
    }
