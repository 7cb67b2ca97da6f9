"""
Processes that record, for the tests of crashes, forks and contention.

    python -m tests.store.workers record FILE RUN     record until killed; print each number
    python -m tests.store.workers stress [SECONDS]    4 processes x 4 threads; print the figures
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from argentum.events import RunInfo
from argentum.store.sqlite import SqliteStore
from argentum.tree import freeze

PROCESSES, THREADS = 4, 4


def state(at: int) -> dict[str, Any]:
    """Give a state that mostly repeats and every few steps needs chunks."""
    words = [f"message {number} " * 8 for number in range(at % 40)]
    return {"step": at, "messages": words if at % 5 == 0 else words[:2]}


def record(path: str, run_id: str) -> None:
    """Record for ever; a number is printed only after the event is said to be on disk."""
    store = SqliteStore(Path(path))
    store.start_run(RunInfo(run_id=run_id, name=run_id, started_at_ns=time.time_ns()))
    while True:
        at = time.time_ns()
        for step in range(1000):
            seq = store.append(
                run_id, kind="snapshot", name=str(step), at_ns=at, body=freeze(state(step))
            )
            sys.stdout.write(f"{seq}\n")
            sys.stdout.flush()


def hammer(
    path: str, process: int, seconds: float, pause_s: float, barrier: Any, answers: Any
) -> None:
    """Record from several threads without a pause; answer with each call's time."""
    store = SqliteStore(Path(path))
    times: list[float] = []
    counts: dict[str, int] = {}

    def thread(number: int) -> None:
        # Half of the threads share one run with other processes, so that numbers are contended.
        run_id = "shared" if number % 2 else f"p{process}t{number}"
        if number % 2 == 0:
            store.start_run(RunInfo(run_id=run_id, name=run_id, started_at_ns=1))
        took, step = [], 0
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            store.append(run_id, kind="note", name="n", at_ns=1, body=freeze(state(step)))
            took.append(time.perf_counter() - start)
            step += 1
            if pause_s:
                time.sleep(pause_s)
        times.extend(took)
        counts[f"{run_id} {process} {number}"] = step

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(THREADS)]
    barrier.wait()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    store.close()
    answers.put((counts, sorted(times)))


def stress(path: Path, seconds: float, pause_s: float = 0) -> dict[str, Any]:
    """Let processes of threads write one file; give what was written and how long calls took."""
    spawn = multiprocessing.get_context("spawn")
    first = SqliteStore(path)
    first.start_run(RunInfo(run_id="shared", name="shared", started_at_ns=1))
    first.close()
    barrier, answers = spawn.Barrier(PROCESSES), spawn.Queue()
    workers = [
        spawn.Process(target=hammer, args=(str(path), number, seconds, pause_s, barrier, answers))
        for number in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    results = [answers.get(timeout=seconds + 120) for _ in workers]
    for worker in workers:
        worker.join()
    times = sorted(one for _, took in results for one in took)
    acknowledged: dict[str, int] = {}
    for counts, _ in results:
        for key, count in counts.items():
            run_id = key.split()[0]
            acknowledged[run_id] = acknowledged.get(run_id, 0) + count
    return {
        "acknowledged": acknowledged,
        "events_per_s": round(len(times) / seconds),
        "median_ms": times[len(times) // 2] * 1e3,
        "p99_ms": times[int(len(times) * 0.99)] * 1e3,
        "max_ms": times[-1] * 1e3,
    }


def lost(path: Path, acknowledged: dict[str, int]) -> tuple[dict[str, int], list[str]]:
    """Give, per run, how many acknowledged events are missing, and what is damaged."""
    store = SqliteStore(path)
    there = {run.run_id: run.events for run in store.runs()}
    problems = store.check()
    store.close()
    missing = {
        run: count - there[run] for run, count in acknowledged.items() if count != there[run]
    }
    return missing, problems


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(*sys.argv[2:])
    else:
        for pause in (0.0, 0.002):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "runs.db"
                figures = stress(file, float(sys.argv[2] if sys.argv[2:] else 10), pause)
                missing, damage = lost(file, figures.pop("acknowledged"))
                print(
                    json.dumps(
                        {"pause_ms": pause * 1e3, **figures, "lost": missing, "damage": damage}
                    )
                )
