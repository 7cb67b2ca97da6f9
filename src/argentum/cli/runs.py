"""`argentum runs`: what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from argentum.cli.arguments import JsonOption, StoreOption, opened
from argentum.cli.telling import counted
from argentum.cli.terminal import console, duration, show, show_json, styled, table
from argentum.clock import as_datetime
from argentum.errors import ArgentumError
from argentum.events import RunInfo
from argentum.record import status_now
from argentum.store import Store


def runs(
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")
    ] = 30,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the runs, newest first."""
    place = opened(store)
    infos = place.runs(limit=limit + 1)
    there_are_more = len(infos) > limit
    del infos[limit:]
    source_of = {info.run_id: _source_of(place, info) for info in infos}
    alerts = {info.run_id: _alerts(place, info) for info in infos}
    if json:
        more_of = {one: {"forked_from": source_of[one], "alerts": alerts[one]} for one in source_of}
        show_json([{**_as_dict(info), **more_of[info.run_id]} for info in infos])
        return
    more = [Text("… and older ones: --limit", "dim")] if there_are_more else []
    shown = [
        (_row(info), _remark(info, source_of[info.run_id], alerts[info.run_id])) for info in infos
    ]
    if console().is_terminal:
        show(*_on_terminal(shown), *more)
    else:
        show(table(*HEADINGS, "", rows=[(*row, remark) for row, remark in shown]), *more)


HEADINGS = ("run", "name", "status", "started (UTC)", "took", "events")
NAME, FEWEST = 1, 8
"""Which column is cut where the terminal is narrow, and the characters that it keeps."""


def _row(info: RunInfo) -> tuple[Text, ...]:
    took = None if info.ended_at_ns is None else info.ended_at_ns - info.started_at_ns
    return (
        styled(info.run_id, "bold"),
        styled(info.name),
        styled(status_now(info)),
        Text(f"{as_datetime(info.started_at_ns):%Y-%m-%d %H:%M:%S}"),
        Text(duration(took)),
        Text(str(info.events)),
    )


def _on_terminal(shown: list[tuple[tuple[Text, ...], Text]]) -> Iterator[Text]:
    """Lay out the rows, ids and times whole, and remarks on lines below."""
    rows = [tuple(Text(word, "bold") for word in HEADINGS), *(row for row, _ in shown)]
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    free = console().width - sum(widths) - 2 * (len(widths) - 1)
    widths[NAME] = max(FEWEST, widths[NAME] + min(0, free))
    for row, remark in zip(rows, [Text(), *(remark for _, remark in shown)], strict=True):
        for cell, width in zip(row, widths, strict=True):
            cell.truncate(width, overflow="ellipsis", pad=True)
        yield Text("  ").join(row)
        if remark:
            yield Text("  ").append_text(remark)


def _source_of(place: Store, info: RunInfo) -> str | None:
    """Name where a fork comes from."""
    if not info.events:
        return None
    try:
        source = place.event(info.run_id, 1).body.get("forked_from", live=False)
        return f"{source['run_id']}@{source['seq']}"
    except (ArgentumError, KeyError, TypeError):  # it is no fork, or damaged
        return None


def _alerts(place: Store, info: RunInfo) -> int:
    return sum(1 for _ in place.events(info.run_id, kinds=("alert",)))


def _remark(info: RunInfo, source: str | None, alerts: int) -> Text:
    remarks = []
    if source is not None:
        remarks.append(styled(f"forked from {source}", "dim"))
    if alerts:
        remarks.append(styled(counted(alerts, "alert"), "bold red"))
    if info.dropped:
        dropped = f"dropped: {info.dropped}, first reason: {info.first_dropped}"
        remarks.append(styled(dropped, "red"))
    return Text("  ").join(remarks)


def _as_dict(info: RunInfo) -> dict[str, object]:
    return {
        "run_id": info.run_id,
        "name": info.name,
        "status": status_now(info),
        "started_at": as_datetime(info.started_at_ns).isoformat(),
        "ended_at": None if info.ended_at_ns is None else as_datetime(info.ended_at_ns).isoformat(),
        "events": info.events,
        "dropped": info.dropped,
        "first_dropped": info.first_dropped,
    }
