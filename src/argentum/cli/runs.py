"""`argentum runs`: what was recorded."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from argentum.cli.arguments import JsonOption, StoreOption, opened
from argentum.cli.terminal import duration, show, show_json, styled, table
from argentum.clock import as_datetime
from argentum.events import RunInfo
from argentum.record import status_now


def runs(
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")
    ] = 30,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """List the runs, newest first."""
    infos = opened(store).runs(limit=limit)
    if json:
        show_json([_as_dict(info) for info in infos])
        return
    rows = [
        (
            styled(info.run_id, "bold"),
            styled(info.name),
            styled(status_now(info)),
            Text(f"{as_datetime(info.started_at_ns):%Y-%m-%d %H:%M:%S}"),
            Text(
                duration(
                    None if info.ended_at_ns is None else info.ended_at_ns - info.started_at_ns
                )
            ),
            Text(str(info.events)),
            _dropped(info),
        )
        for info in infos
    ]
    show(table("run", "name", "status", "started (UTC)", "took", "events", "", rows=rows))


def _dropped(info: RunInfo) -> Text:
    if not info.dropped:
        return Text()
    return styled(f"dropped: {info.dropped}, first reason: {info.first_dropped}", "red")


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
