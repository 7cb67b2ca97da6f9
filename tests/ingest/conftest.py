"""What the tests of imports share: a store, and files of lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from argentum.store import Store, open_store

START_NS = 1_800_000_000_000_000_000

RUN = {
    "format": "argentum.run/1", "type": "run", "run_id": "r", "name": "trip",
    "started_at_ns": START_NS,
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give an open store."""
    opened = open_store(tmp_path / "runs.db")
    yield opened
    opened.close()


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """Give a function that writes records, or lines that are none, into a file."""

    def write(*records: Any) -> Path:
        path = tmp_path / "in.jsonl"
        texts = [one if isinstance(one, str) else json.dumps(one) for one in records]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return write


def event(kind: str = "note", name: str = "n", **fields: Any) -> dict[str, Any]:
    """Make the record of an event."""
    return {"type": "event", "kind": kind, "name": name, "at_ns": START_NS + 1, **fields}


def contents(store: Store, run_id: str) -> list[tuple[Any, ...]]:
    """Give the events of a run with all that they hold, exact types included."""
    return [
        (
            one.seq, one.kind, one.phase, one.agent, one.name, one.at_ns, one.span, one.parent,
            repr(one.body.thaw(live=False)),
        )
        for one in store.events(run_id)
    ]  # fmt: skip
