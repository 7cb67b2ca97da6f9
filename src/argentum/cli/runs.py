"""`argentum runs`: what was recorded."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from argentum.cli.arguments import JsonOption, StoreOption, opened
from argentum.cli.terminal import duration, show, show_json, styled, table
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
    sources = {info.run_id: _source_of(place, info) for info in infos}
    if json:
        show_json([{**_as_dict(info), "forked_from": sources[info.run_id]} for info in infos])
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
            _remark(info, sources[info.run_id]),
        )
        for info in infos
    ]
    listed = table("run", "name", "status", "started (UTC)", "took", "events", "", rows=rows)
    show(listed, *([Text("… and older ones: --limit", "dim")] if there_are_more else []))


def _source_of(place: Store, info: RunInfo) -> str | None:
    """Name where a fork comes from."""
    if not info.events:
        return None
    try:
        source = place.event(info.run_id, 1).body.get("forked_from", live=False)
        return f"{source['run_id']}@{source['seq']}"
    except (ArgentumError, KeyError, TypeError):  # it is no fork, or damaged
        return None


def _remark(info: RunInfo, source: str | None) -> Text:
    remark = Text() if source is None else styled(f"forked from {source}", "dim")
    if info.dropped:
        dropped = f"dropped: {info.dropped}, first reason: {info.first_dropped}"
        remark.append_text(styled(f"  {dropped}" if source else dropped, "red"))
    return remark


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
