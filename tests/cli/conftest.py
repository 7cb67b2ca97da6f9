"""What the tests of the command line share: the command, and a run that is always the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.running import Finished, in_process

from argentum import Run, clock
from argentum.store import Store, open_store

START_NS = 1_800_000_000_000_000_000  # 2027-01-15 08:00:00 UTC
STEP_NS = 250_000_000

Command = Callable[..., Finished]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Give a function that runs the `argentum` command in this process."""
    return in_process(monkeypatch, capsys)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a quarter of a second pass whenever the time is asked for."""
    now = [START_NS - STEP_NS]

    def tick() -> int:
        now[0] += STEP_NS
        return now[0]

    monkeypatch.setattr(clock, "now_ns", tick)
    monkeypatch.setattr(clock, "elapsed_ns", tick)
    monkeypatch.setattr(sys, "argv", ["trip.py"])


@pytest.fixture
def store() -> Iterator[Store]:
    """Give the store that the command finds by itself."""
    opened = open_store(Path(".argentum/runs.db"))
    yield opened
    opened.close()


@pytest.fixture
def trip(ticking: None, store: Store) -> str:
    """Record a run of two agents with everything in it; give its id."""
    with Run("trip.py", store=store, run_id="20270115-080000-aaaa") as run:
        planner, writer = run.session("planner"), run.session("writer")
        planner.snapshot("start", {"goals": ["trip"], "confidence": 0.9, "budget": {"usd": 100}})
        with planner.model_call("gpt-4o", [{"role": "user", "content": "Where to?"}]) as call:
            search(planner)
            call.output({"role": "assistant", "content": "Rome,\nof course"})
            call.usage(input_tokens=12, output_tokens=3)
        planner.snapshot("end", {"goals": ["trip", "Rome"], "confidence": 0.2, "budget": {}})
        planner.handoff("writer", {"facts": ["Rome"]})
        writer.note("Rome it is", tone="glad")
        try:
            with writer.tool_call("save", {"path": "/x"}):
                raise OSError("read-only")
        except OSError as error:
            writer.error(error)
        writer.snapshot("start", {"text": ""})
    return run.run_id


def search(session) -> None:
    """Call a tool as a program would."""

    @session.tool
    def find(query: str, limit: int = 2) -> list[str]:
        return [query] * limit

    find("city", limit=1)
