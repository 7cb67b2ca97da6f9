"""
What limits and redaction add to recording, as ratios in one run: `make bench ARGS="-k limits"`.

Both sides of a ratio take turns on the same states, so that a busy machine slows them alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.figures import figure, final_table  # noqa: F401 - a fixture for all tests here
from tests.workload import Agent

import argentum
from argentum import SecuritySettings, StateDiff

LIMITED = SecuritySettings.production()
ROUNDS = {"small": 4000, "medium": 1500, "large": 150}

Take = Callable[[Any], object]


def in_turns(agent: Agent, plain: Take, protected: Take, rounds: int) -> tuple[float, float]:
    """Give the median seconds of two ways to take the same steps, each first in turn."""
    seconds: dict[Take, list[float]] = {plain: [], protected: []}
    for at in range(rounds):
        state = agent.step()
        for take in (plain, protected) if at % 2 else (protected, plain):
            start = time.perf_counter()
            take(state)
            seconds[take].append(time.perf_counter() - start)
    return statistics.median(seconds[plain]), statistics.median(seconds[protected])


@pytest.mark.parametrize("size", ROUNDS)
def test_limits(benchmark: Any, size: str) -> None:
    """A snapshot in a history that has every limit, against one that has none."""
    plain, limited = StateDiff(max_snapshots=2), StateDiff(max_snapshots=2, security=LIMITED)
    unlimited, within = benchmark.pedantic(
        lambda: in_turns(
            Agent(size),
            lambda state: plain.snapshot("s", state),
            lambda state: limited.snapshot("s", state),
            ROUNDS[size],
        ),
        rounds=1,
    )
    added = (within / unlimited - 1) * 100
    figure(
        f"limits added to a snapshot, {size} ({unlimited * 1e6:,.1f} us)",
        added,
        5,
        "%",
        at_least=False,
    )


@pytest.mark.parametrize("size", ROUNDS)
def test_redaction_of_limits_and_secrets_on_disk(benchmark: Any, tmp_path: Path, size: str) -> None:
    """A recorded step on disk that is searched for secrets, against one that is not."""
    runs = [argentum.Run("bench", store=tmp_path / name) for name in ("plain.db", "redacted.db")]
    plain = runs[0].session("a", secure=SecuritySettings(redact_secrets=False))
    redacted = runs[1].session("a", secure=SecuritySettings())
    without, searched = benchmark.pedantic(
        lambda: in_turns(
            Agent(size),
            lambda state: plain.snapshot("s", state),
            lambda state: redacted.snapshot("s", state),
            ROUNDS[size],
        ),
        rounds=1,
    )
    for run in runs:
        run.finish()
    name = f"redaction: a step on disk, {size} ({without * 1e6:,.0f} us)"
    figure(name, searched / without, 1.3 if size == "large" else 2, "x", at_least=False)
