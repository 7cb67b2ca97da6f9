"""
What a watch costs beside the snapshot that it checks, and over a whole store: `make bench`.

Nothing here fails because a machine is slow; each figure and its target are printed. A watched and
an unwatched session take turns in who sees a state first, since the second finds it in the cache.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from tests.workload import Agent

from argentum import AgentSession, Run
from argentum.ingest import import_file
from argentum.state import snapshots_of
from argentum.state.watch import Watch, watch_over
from argentum.store import open_store

ROUNDS = {"small": 4000, "medium": 800, "large": 100}
CONDITIONS = {
    "a number that changes": "confidence >= previous.confidence - 2.0",
    "a number that stays": "budget.usd >= 0",
    "the length of a list": "size(memory) >= size(previous.memory)",
    "an equal value": "budget.usd == previous.budget.usd",
}
TARGET_SHARE = 0.10
TARGET_S = 10.0
OVER_RUNS = (
    "size(reservations) >= size(previous.reservations)",
    "users == previous.users",
    'users["mia_li_3668"].reservations.all(r, r in reservations)',
)


def figure(name: str, value: str, target: str, *, reached: bool) -> None:
    """Print a figure."""
    print(f"\n{name}: {value} ({target}){'' if reached else '  MISSED'}", end="")


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("size", ROUNDS)
def test_watch(benchmark: Any, tmp_path: Path, size: str, where: str, condition: str) -> None:
    """A watch on a state that changes in place at each step."""
    agent = Agent(size)
    sessions = [
        Run(name, store=tmp_path / f"{name}.db" if where == "disk" else None).session("a")
        for name in ("plain", "watched")
    ]
    sessions[1].watch(CONDITIONS[condition], on_break="alert")
    taken: list[list[float]] = [[], []]

    def both() -> None:
        number = len(taken[0]) % 2
        state = agent.step()
        for at in (number, 1 - number):
            taken[at].append(seconds_of(sessions[at], state))

    benchmark.pedantic(both, rounds=ROUNDS[size], warmup_rounds=3)
    plain, watched = (statistics.median(times) for times in taken)
    extra = statistics.median(
        (a + b) / 2 for a, b in zip(differences(taken)[::2], differences(taken)[1::2], strict=False)
    )
    share = extra / plain
    name = f"watch of {condition}, {size} on {where} ({plain * 1e6:,.1f} us): costs"
    figure(name, f"{extra * 1e6:.1f} us, {share:.1%}", f"≤ {TARGET_SHARE:.0%}",
           reached=share <= TARGET_SHARE)  # fmt: skip
    assert watched > 0


def differences(taken: list[list[float]]) -> list[float]:
    """Give what each round took longer with a watch."""
    return [watched - plain for plain, watched in zip(*taken, strict=True)]


def seconds_of(session: AgentSession, state: Any) -> float:
    """Time one snapshot."""
    start = time.perf_counter()
    session.snapshot("step", state)
    return time.perf_counter() - start


@pytest.fixture(scope="module")
def airline(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the hundred airline runs."""
    file = tmp_path_factory.mktemp("airline") / "runs.db"
    folder = shared_data / "tau-airline"
    store = open_store(file)
    import_file(folder / "runs.jsonl.gz", store, state=folder / "initial_state.json.gz")
    store.close()
    return file


@pytest.mark.parametrize("text", OVER_RUNS)
def test_watch_over_all_runs(benchmark: Any, airline: Path, text: str) -> None:
    """A watch over the hundred airline runs, read from a store that was just opened."""

    def over_all() -> int:
        store = open_store(airline)
        watch = Watch(text)
        checker = watch.checker()
        reports = [
            watch_over(snapshots_of(store.events(info.run_id, kinds=("snapshot",))), watch, checker)
            for info in store.runs()
        ]
        store.close()
        return sum(report.checked for report in reports)

    checked = benchmark.pedantic(over_all, rounds=3)
    seconds = benchmark.stats.stats.median
    name = f"watch over 100 airline runs, {text} ({checked} states)"
    figure(name, f"{seconds:.2f} s", f"≤ {TARGET_S:g} s", reached=seconds <= TARGET_S)
    assert checked > 500
