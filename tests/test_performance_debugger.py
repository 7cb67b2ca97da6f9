"""
What the state debugger costs over long recorded runs: `make bench`.

Each figure is measured on a run of the large agent that was stored in a file and opened anew, and
set beside a scan that thaws each state. Such a scan of 1,000 takes most of a minute, so it is
measured on 20 of them and scaled; figures that use it say so. One section per command; the run and
the scan are made once for all of them. Nothing here fails because a machine is slow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.figures import figure, final_table  # noqa: F401 - a fixture for all tests here
from tests.workload import Agent

import argentum
from argentum.state import Snapshot, bisect, history, snapshots_of
from argentum.state.blame import blame
from argentum.store import Store

STEPS = 1000
SAMPLE = 20
ROUNDS = 5
SCALED = f"scan, measured on {SAMPLE} and scaled"


# ---------------------------------------------------------------- the run, and the scan

RUN = "20270101-000000-0000"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a run of many steps of the large agent in a file; give the file."""
    path = tmp_path_factory.mktemp("debugger") / "runs.db"
    agent = Agent("large")
    with argentum.Run("bench", store=path, run_id=RUN) as run:
        session = run.session("a")
        for step in range(STEPS):
            session.snapshot(f"step {step}", agent.step())
    run.store.close()
    return path


def opened(path: Path) -> tuple[Store, list[Snapshot]]:
    """Open the file anew, so that nothing of the states was read."""
    store = argentum.open_store(path)
    return store, snapshots_of(store.events(RUN, kinds=("snapshot",)))


@pytest.fixture(scope="module")
def scan_seconds(recorded: Path) -> float:
    """Measure how long it takes to thaw each state of the run: some of them, scaled to all."""
    store, snapshots = opened(recorded)
    some = snapshots[:: STEPS // SAMPLE]
    start = time.perf_counter()
    for snapshot in some:
        snapshot.tree.thaw()
    seconds = (time.perf_counter() - start) * STEPS / len(some)
    store.close()
    return seconds


def measure(benchmark: Any, name: str, recorded: Path, use: Callable[[Any], object]) -> float:
    """Benchmark something on the run opened anew each round; give the median in seconds."""
    stores: list[Store] = []

    def open_anew() -> tuple[Any, dict[str, Any]]:
        store, snapshots = opened(recorded)
        stores.append(store)
        return (snapshots,), {}

    benchmark.group = name
    benchmark.pedantic(use, setup=open_anew, rounds=ROUNDS, warmup_rounds=1)
    for store in stores:
        store.close()
    return float(benchmark.stats.stats.median)


# ---------------------------------------------------------------- history

PATHS = {
    "budget.usd": "never changes",
    "confidence": "changes at each step",
    "messages[7].meta.tokens": "changes once",
    "messages[2500].content": "comes in the middle",
    "memory[100].fact": "never changes, in a large list",
}


@pytest.mark.parametrize("path", PATHS)
def test_history(benchmark: Any, recorded: Path, scan_seconds: float, path: str) -> None:
    """The values of one path over all states, against thawing each state."""
    seconds = measure(benchmark, "history", recorded, lambda snapshots: history(snapshots, path))

    name = f"history of {path}, which {PATHS[path]}, over {STEPS} large states ({seconds * 1e3:.0f}"
    figure(f"{name} ms): faster than a {SCALED}", scan_seconds / seconds, 500, "x", at_least=True)


# ---------------------------------------------------------------- bisect


def test_bisect(benchmark: Any, recorded: Path, scan_seconds: float) -> None:
    """A predicate of which each state's verdict becomes known, and one that reads what changes."""
    seconds = measure(
        benchmark,
        "bisect",
        recorded,
        lambda snapshots: bisect(
            snapshots, lambda state: state["messages"][7]["meta"]["tokens"] > 8
        ),
    )
    name = f"bisect by a value that changes seldom, {STEPS} large states ({seconds * 1e3:.0f} ms)"
    figure(f"{name}: faster than a {SCALED}", scan_seconds / seconds, 1, "x", at_least=True)


def test_calls_of_bisect(benchmark: Any, recorded: Path) -> None:
    """The calls that a predicate of an always changing value takes."""
    store, snapshots = opened(recorded)
    found = [
        bisect(snapshots, lambda state, at=at: state["step"] > at) for at in range(0, STEPS, 97)
    ]
    store.close()
    benchmark.pedantic(lambda: None, rounds=1)

    figure("calls of a bisection, most", max(one.calls for one in found), 16, "", at_least=False)


# ---------------------------------------------------------------- blame


@pytest.mark.parametrize("path", PATHS)
def test_blame(benchmark: Any, recorded: Path, scan_seconds: float, path: str) -> None:
    """Who gave one path its value, over all events, against thawing each state."""
    stores: list[Store] = []

    def open_anew() -> tuple[Any, dict[str, Any]]:
        stores.append(argentum.open_store(recorded))
        return (list(stores[-1].events(RUN)),), {}

    benchmark.group = "blame"
    benchmark.pedantic(
        lambda events: blame(events, path), setup=open_anew, rounds=ROUNDS, warmup_rounds=1
    )
    for store in stores:
        store.close()
    seconds = benchmark.stats.stats.median

    name = f"blame of {path}, which {PATHS[path]}, over {STEPS} large states ({seconds * 1e3:.0f}"
    figure(f"{name} ms): faster than a {SCALED}", scan_seconds / seconds, 500, "x", at_least=True)
