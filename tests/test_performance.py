"""
What recording costs, against named peers in the same run: `make bench`.

Nothing here fails because a machine is slow; the table at the end tells each figure, its target and
whether it was reached. `BENCH_STEPS` sets the length of the run on disk (1,000 by default).
"""

from __future__ import annotations

import copy
import gc
import json
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import deepdiff
import dictdiffer
import jsondiff
import jsonpatch
import pytest
from tests.figures import figure, final_table  # noqa: F401 - a fixture for all tests here
from tests.workload import Agent, leaves

import argentum
from argentum.state import flat_changes
from argentum.tree import Tree, freeze

SIZES = ("small", "medium", "large")
ROUNDS = {"small": 1000, "medium": 400, "large": 60}
STEPS = int(os.environ.get("BENCH_STEPS", "1000"))
MEDIANS: dict[tuple[str, ...], float] = {}


def measure(benchmark: Any, key: tuple[str, ...], function: Callable[..., object],
            setup: Callable[[], tuple[Any, ...]], rounds: int) -> float:  # fmt: skip
    """Benchmark a function on fresh arguments each round, and keep its median in seconds."""
    benchmark.group = " ".join(key[:-1])
    benchmark.pedantic(function, setup=lambda: (setup(), {}), rounds=rounds, warmup_rounds=2)
    MEDIANS[key] = benchmark.stats.stats.median
    return MEDIANS[key]


# ---------------------------------------------------------------- snapshots

HOW = ("in place", "rebuilt", "first")


def next_state(agent: Agent, how: str) -> tuple[Any, ...]:
    """Give the state that a round is about."""
    state = agent.state if how == "first" else agent.step()
    return (json.loads(json.dumps(state)) if how == "rebuilt" else state,)


TIMES_FASTER = {
    "in place": {"small": 4, "medium": 8, "large": 12},
    "rebuilt": {"small": 4 * 2 / 3, "medium": 8 * 2 / 3, "large": 12 * 2 / 3},
    "first": {"small": 1, "medium": 1, "large": 1},
}


@pytest.mark.parametrize("by", ["deepcopy", "argentum"])  # the first varies fastest: side by side
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("size", SIZES)
def test_snapshot(benchmark: Any, size: str, how: str, by: str) -> None:
    """A snapshot of a state that changed in place, was built anew, or is seen the first time."""
    agent = Agent(size)
    history = [argentum.StateDiff()]

    def take(state: Any) -> None:
        if how == "first":
            history[0] = argentum.StateDiff()
        history[0].snapshot("step", state)

    function = copy.deepcopy if by == "deepcopy" else take
    key = ("snapshot", size, how, by)
    seconds = measure(benchmark, key, function, lambda: next_state(agent, how), ROUNDS[size])
    if by == "argentum":
        count = sum(1 for _ in leaves(agent.state))
        peer = MEDIANS[("snapshot", size, how, "deepcopy")]
        name = f"snapshot {size} ({count:,} leaves), {how}: faster than deepcopy"
        figure(name, peer / seconds, TIMES_FASTER[how][size], "x", at_least=True)


def kept_bytes(keep: Callable[[Any], object], agent: Agent, steps: int) -> float:
    """Measure what each step leaves in memory, without the agent's own new messages."""
    kept = [keep(agent.step())]
    for _ in range(steps):
        agent.step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    own = 0
    for _ in range(steps):
        mark = tracemalloc.get_traced_memory()[0]
        state = agent.step()
        own += tracemalloc.get_traced_memory()[0] - mark
        kept.append(keep(state))
    gc.collect()
    total = tracemalloc.get_traced_memory()[0] - before - own
    tracemalloc.stop()
    return total / steps


def test_memory(benchmark: Any) -> None:
    """What a snapshot of the large state keeps in memory."""
    history = argentum.StateDiff()
    ours = kept_bytes(lambda state: history.snapshot("step", state), Agent("large"), 100)
    theirs = kept_bytes(copy.deepcopy, Agent("large"), 5)
    benchmark.pedantic(lambda: None, rounds=1)
    name = f"memory kept a snapshot, large ({ours / 1e3:.1f} kB): smaller than deepcopy's"
    figure(name, theirs / ours, 50, "x", at_least=True)


# ---------------------------------------------------------------- diffs

PEERS: dict[str, Callable[[Any, Any], object]] = {
    "DeepDiff": deepdiff.DeepDiff,
    "dictdiffer": lambda old, new: list(dictdiffer.diff(old, new)),
    "jsonpatch": jsonpatch.make_patch,
    "jsondiff": jsondiff.diff,
}
DIFF_ROUNDS = {"small": 200, "medium": 30, "large": 3}
TIMES_QUICKER = {"DeepDiff": 5000, "jsonpatch": 300}


def two_states(size: str) -> tuple[Any, Any]:
    """Give the states around one step."""
    agent = Agent(size)
    agent.step()
    return copy.deepcopy(agent.state), copy.deepcopy(agent.step())


@pytest.mark.parametrize("size", SIZES)
def test_diff(benchmark: Any, size: str) -> None:
    """The flat changes between two adjacent snapshots, values included."""
    agent = Agent(size)
    trees: list[Tree] = [freeze(agent.step())]

    def next_trees() -> tuple[Tree, Tree]:
        trees.append(freeze(agent.step(), trees[-1]))
        return trees[-2], trees[-1]

    measure(benchmark, ("diff", size, "argentum"), flat_changes, next_trees, ROUNDS[size])


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("size", SIZES)
def test_diff_of_peer(benchmark: Any, size: str, peer: str) -> None:
    """The same by each peer; jsondiff is left out on large, where one diff takes 80 seconds."""
    states = two_states(size) if (size, peer) != ("large", "jsondiff") else ({}, {})
    key = ("diff", size, peer)
    theirs = measure(benchmark, key, PEERS[peer], lambda: states, DIFF_ROUNDS[size])
    if states != ({}, {}):
        target = TIMES_QUICKER.get(peer, 1) if size == "large" else 1
        ours = MEDIANS[("diff", size, "argentum")]
        figure(f"diff {size}: faster than {peer}", theirs / ours, target, "x", at_least=True)


# ---------------------------------------------------------------- disk


@pytest.fixture
def run(tmp_path: Path) -> argentum.Run:
    """Give a run on disk."""
    return argentum.Run("bench", store=tmp_path / "runs.db")


def bare_seconds(path: Path) -> float:
    """Measure a transaction of apsw alone with one row of that size: what the machine asks."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.execute("CREATE TABLE row (run, seq, body, PRIMARY KEY (run, seq)) WITHOUT ROWID")
    taken = []
    for number in range(5000):
        begin = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO row VALUES (1, ?, ?)", (number, b"." * 30))
        connection.execute("COMMIT")
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def test_event_on_disk(benchmark: Any, run: argentum.Run, tmp_path: Path) -> None:
    """One recorded event, committed when the call returns."""
    session = run.session("a")
    seconds = measure(benchmark, ("disk", "event"), session.note, lambda: ("hello",), 5000)
    figure("one event on disk, median", seconds * 1e6, 40, "us", at_least=False)
    bare = bare_seconds(tmp_path / "bare.db")
    name = f"one event on disk: times a bare transaction of apsw ({bare * 1e6:.1f} us)"
    figure(name, seconds / bare, 5, "x", at_least=False)


def test_small_snapshot_on_disk(benchmark: Any, run: argentum.Run) -> None:
    """A small snapshot, committed when the call returns."""
    session, agent = run.session("a"), Agent("small")
    key = ("disk", "snapshot small")
    seconds = measure(benchmark, key, session.snapshot, lambda: ("s", agent.step()), 3000)
    figure("a small snapshot on disk, median", seconds * 1e6, 80, "us", at_least=False)


def test_large_run_on_disk(benchmark: Any, tmp_path: Path) -> None:
    """A long run of the large state, against a store that keeps whole checkpoints."""
    agent = Agent("large")
    run = argentum.Run("bench", store=tmp_path / "runs.db")
    session = run.session("a")

    def take(state: Any) -> None:
        session.snapshot("step", state)

    seconds = measure(benchmark, ("disk", "snapshot large"), take, lambda: (agent.step(),), STEPS)
    run.finish()
    run.store.close()
    ours = folder_bytes(tmp_path)
    theirs = langgraph_bytes(tmp_path / "langgraph")
    name = f"disk of {STEPS} steps, large ({ours / 1e6:.1f} MB of {theirs / 1e9:.2f} GB): smaller"
    figure(f"{name} than LangGraph's SqliteSaver", theirs / ours, 250, "x", at_least=True)
    figure("a large snapshot on disk, median", seconds * 1e3, 20, "ms", at_least=False)
    seqs = [
        e.seq
        for e in argentum.open_store(tmp_path / "runs.db").events(run.run_id, kinds=("snapshot",))
    ]
    slowest = max(
        restore_seconds(tmp_path / "runs.db", run.run_id, seqs[at])
        for at in (0, len(seqs) // 2, -1)
    )
    figure("restore of the slowest of three states", slowest * 1e3, 100, "ms", at_least=False)


def folder_bytes(folder: Path) -> int:
    """Add up the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def restore_seconds(path: Path, run_id: str, seq: int) -> float:
    """Read one state back from a store that was just opened; the median of five."""
    taken = []
    for _ in range(5):
        store = argentum.open_store(path)
        start = time.perf_counter()
        store.event(run_id, seq).body.thaw()
        taken.append(time.perf_counter() - start)
        store.close()
    return statistics.median(taken)


def langgraph_bytes(folder: Path) -> int:
    """Keep the same steps by LangGraph's SqliteSaver, measure its file and remove it."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    folder.mkdir()
    agent = Agent("large")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
        config: Any = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
        for step in range(STEPS):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = agent.step()
            config = saver.put(config, checkpoint, {"source": "loop", "step": step}, {})
    size = folder_bytes(folder)
    for path in folder.iterdir():
        path.unlink()
    return size
