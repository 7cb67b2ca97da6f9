"""`argentum history`: each value that a path had, and since when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.arguments import JsonOption, RunArgument, StoreOption, opened
from argentum.cli.plot import as_number, is_number, plot
from argentum.cli.terminal import duration, literal, plain, show, show_json, table
from argentum.clock import as_datetime
from argentum.errors import NotFoundError, not_found
from argentum.events import RunInfo
from argentum.state import Snapshot, Value, snapshots_of
from argentum.state import history as history_of
from argentum.store import Store
from argentum.store.revisions import SEPARATOR, find_run

LARGE_BYTES = 20_000
"""A value from this size on is not printed."""
MOST = 40
"""Values that are listed unless all are asked for: the first half and the last half of so many."""


@dataclass(frozen=True, slots=True)
class _History:
    agent: str | None
    snapshots: Sequence[Snapshot]
    values: Sequence[Value]


def history(
    run: RunArgument,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Where in the state, like messages[3].content.")
    ],
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
    info = find_run(place, run.removesuffix(SEPARATOR))
    found = _histories(agent_snapshots(place, info, agent), path)
    if json:
        show_json([_as_dict(one, path) for one in found])
    else:
        show(*(part for one in found for part in _shown(one, path, info, everything=everything)))


def agent_snapshots(
    place: Store, info: RunInfo, agent: str | None
) -> dict[str | None, list[Snapshot]]:
    """
    Give the snapshots of each agent, or of the one that is named.

    Raises:
        NotFoundError: there are none; the message names agents that have some.
    """
    by_agent: dict[str | None, list[Snapshot]] = {}
    for snapshot in snapshots_of(place.events(info.run_id, kinds=("snapshot",))):
        by_agent.setdefault(snapshot.agent, []).append(snapshot)
    if not by_agent:
        message = f"Run {info.run_id!r} has no snapshots; see: argentum log {info.run_id}"
        raise NotFoundError(message)
    if agent is None:
        return by_agent
    if agent not in by_agent:
        raise not_found(f"agent with a snapshot in run {info.run_id!r}", agent, map(str, by_agent))
    return {agent: by_agent[agent]}


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
    heading = Text(plain(path) or "(the state)", style="bold")
    whose = f"  of {plain(one.agent)}" if one.agent is not None else ""
    count = sum(value.present for value in one.values)
    counts = f"  {counted(count, 'value')} in {counted(len(one.snapshots), 'snapshot')}"
    heading.append(whose + counts, style="not bold")
    drawn = _drawing(one)
    return [heading, _listed(one.values, info, everything=everything), *drawn, Text()]


def counted(count: int, what: str) -> str:
    """Write a number of things."""
    return f"{count} {what}" + ("" if count == 1 else "s")


def _listed(values: Sequence[Value], info: RunInfo, *, everything: bool) -> Table:
    hidden = 0 if everything else max(0, len(values) - MOST)
    first, last = (
        (values, values[:0]) if not hidden else (values[: MOST // 2], values[-MOST // 2 :])
    )
    rows = [_row(value, info) for value in first]
    if hidden:
        rows.append((Text("…"), Text(), Text(), Text(f"{hidden} more: --all", style="dim")))
    rows += [_row(value, info) for value in last]
    return table("since", "at", "snapshot", "value", rows=rows)


def _row(value: Value, info: RunInfo) -> tuple[Text, ...]:
    since = value.since
    at = Text(duration(since.at_ns - info.started_at_ns))
    return Text(f"@{since.seq}"), at, Text(literal(since.label, 40)), _value(value)


def _value(value: Value) -> Text:
    if value.tree is None:
        return Text("(nothing)", style="dim")
    if value.tree.size_bytes > LARGE_BYTES:
        return Text(f"({value.tree.count()} parts, {value.tree.size_bytes:,} bytes)", style="dim")
    return Text(literal(value.thaw(live=False)))


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


def place_as_dict(snapshot: Snapshot) -> dict[str, Any]:
    """Name a snapshot."""
    at = as_datetime(snapshot.at_ns).isoformat()
    return {"seq": snapshot.seq, "label": snapshot.label, "at": at}
