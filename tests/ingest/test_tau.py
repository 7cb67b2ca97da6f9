"""The runs of tau-bench: a small one by hand, and the hundred real ones of the shared data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch
import pytest

from argentum import InputError
from argentum.ingest import Imported, import_file
from argentum.store import Store, open_store
from argentum.tree import Tree, freeze

SMALL = {
    "run": "shop-0-0", "task": 0, "reward": 1.0,
    "steps": [
        {"index": 0, "role": "system", "content": "Be kind."},
        {"index": 1, "role": "user", "content": "Buy a pen."},
        {"index": 2, "role": "assistant", "content": None,
         "tool_call": {"id": "c1", "name": "buy", "arguments": {"what": "pen"}}},
        {"index": 3, "role": "tool", "tool": "buy", "tool_call_id": "c1", "content": "bought",
         "state_patch": [{"op": "add", "path": "/orders/-", "value": "pen"}]},
        {"index": 4, "role": "assistant", "content": "Done."},
    ],
}  # fmt: skip


@pytest.fixture
def shop(store, lines, tmp_path):
    """Import the small run."""
    (tmp_path / "state.json").write_text('{"orders": []}', encoding="utf-8")
    return import_file(lines(SMALL), store, state=tmp_path / "state.json")


def test_events_of_a_run(shop, store):
    """Steps become notes, model calls, tool calls with their results, and states."""
    assert (["shop-0-0"], 10, []) == (shop.run_ids, shop.events, shop.problems)
    assert [
        (1, "run", "open", None, "shop-0-0", None),
        (2, "snapshot", "point", "assistant", "start", None),
        (3, "note", "point", None, "system", None),
        (4, "note", "point", None, "user", None),
        (5, "model_call", "point", "assistant", "assistant", None),
        (6, "tool_call", "open", "assistant", "buy", None),
        (7, "tool_call", "close", "assistant", "buy", 6),
        (8, "snapshot", "point", "assistant", "step 3", None),
        (9, "model_call", "point", "assistant", "assistant", None),
        (10, "run", "close", None, "shop-0-0", 1),
    ] == [
        (one.seq, one.kind, one.phase, one.agent, one.name, one.span)
        for one in store.events("shop-0-0")
    ]
    assert {"task": 0, "reward": 1.0} == store.event("shop-0-0", 1).body.thaw()
    assert {"tool": "buy", "arguments": {"what": "pen"}, "tool_call_id": "c1"} == store.event(
        "shop-0-0", 6
    ).body.thaw()
    assert [{"orders": []}, {"orders": ["pen"]}] == [
        one.body.thaw() for one in store.events("shop-0-0", kinds=("snapshot",))
    ]


@pytest.mark.parametrize("reward,status", [(1.0, "done"), (0.0, "failed"), (None, "failed")])
def test_reward_is_the_status(store, lines, tmp_path, reward, status):
    """A run that did its task is done, any other failed."""
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    import_file(lines({"run": "r", "reward": reward, "steps": []}), store,
                state=tmp_path / "state.json")  # fmt: skip

    assert status == store.run("r").status


def test_state_is_asked_for(store, lines):
    """Without the database the error names the option."""
    with pytest.raises(InputError, match="--state FILE"):
        import_file(lines(SMALL), store)


@pytest.mark.parametrize(
    "bad",
    [
        {"run": "r"}, {"run": "r", "steps": 3}, {"run": "r", "steps": [{}]},
        {"run": "r", "steps": [{"index": 0, "role": "assistant", "tool_call": {}}]},
        {"run": 5, "steps": []}, [],
    ],
)  # fmt: skip
def test_bad_run(store, lines, tmp_path, bad):
    """A line that is no whole run is named; the runs around it are kept whole."""
    (tmp_path / "state.json").write_text('{"orders": []}', encoding="utf-8")
    result = import_file(lines(SMALL, bad, {**SMALL, "run": "last"}), store,
                         state=tmp_path / "state.json")  # fmt: skip

    assert ["line 2"] == [one[:6] for one in result.problems]
    assert [("done", 10), ("done", 10)] == [
        (store.run(one).status, store.run(one).events) for one in ("shop-0-0", "last")
    ]


# ------------------------------------------------------------------ the real runs


class Airline(NamedTuple):
    """The imported runs, and what they were made from."""

    store: Store
    file: Path
    result: Imported
    initial: Any
    runs: list[dict[str, Any]]


@pytest.fixture(scope="module")
def airline(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airline]:
    """Import the hundred runs once."""
    folder = shared_data / "tau-airline"
    file = tmp_path_factory.mktemp("airline") / "runs.db"
    store = open_store(file)
    result = import_file(folder / "runs.jsonl.gz", store, state=folder / "initial_state.json.gz")
    with gzip.open(folder / "initial_state.json.gz") as source:
        initial = json.load(source)
    with gzip.open(folder / "runs.jsonl.gz") as source:
        runs = [json.loads(line) for line in source]
    yield Airline(store, file, result, initial, runs)
    store.close()


def test_all_runs_are_imported(airline):
    """All hundred runs are there, with all their steps and no problem."""
    steps = [len(run["steps"]) for run in airline.runs]
    kept = [
        sum(one.kind in ("note", "model_call") or (one.kind, one.phase) == ("tool_call", "close")
            for one in airline.store.events(run["run"]))
        for run in airline.runs
    ]  # fmt: skip

    assert 100 == len(airline.runs)
    assert ([run["run"] for run in airline.runs], []) == (
        airline.result.run_ids, airline.result.problems,
    )  # fmt: skip
    assert steps == kept


def test_small_on_disk(airline):
    """The database stays under 12 MB, though a state is 5 MB and there are over a thousand."""
    airline.store._handle._connection.pragma("wal_checkpoint(TRUNCATE)")

    assert airline.file.stat().st_size < 12_000_000


def states_by_patches(airline: Airline, run: dict[str, Any]) -> Iterator[Any]:
    """Apply a run's patches by another library; give the state after each tool result."""
    state = airline.initial
    yield state
    for step in run["steps"]:
        if step["role"] == "tool":
            if step.get("state_patch"):
                state = patched(state, step["state_patch"])
            yield state


def patched(state: Any, operations: list[dict[str, Any]]) -> Any:
    """Apply a patch without changing the given state, copying only the parts that it touches."""
    touched = {tuple(one["path"].split("/")[1:3]) for one in operations}
    copy = {table: dict(rows) for table, rows in state.items()}
    for table, token in touched:
        key = token.replace("~1", "/").replace("~0", "~")
        if key in copy[table]:
            copy[table][key] = json.loads(json.dumps(copy[table][key]))
    return jsonpatch.apply_patch(copy, operations, in_place=True)


def test_every_state_is_what_the_patches_give(airline):
    """Every restored state of every run equals the one that the patches give, by exact types."""
    compared = 0
    for run in airline.runs:
        before: Tree | None = None
        stored = airline.store.events(run["run"], kinds=("snapshot",))
        for event, state in zip(stored, states_by_patches(airline, run), strict=True):
            before = freeze(state, before)
            assert before == event.body
            compared += 1

    assert 100 + sum(step["role"] == "tool" for run in airline.runs for step in run["steps"]) == (
        compared
    )


def test_restored_values_are_what_the_patches_give(airline):
    """The plain values of some runs equal those of the patches, too, without a tree on the way."""
    for run in airline.runs[::25]:
        stored = airline.store.events(run["run"], kinds=("snapshot",))
        for event, state in zip(stored, states_by_patches(airline, run), strict=True):
            assert json.dumps(state, sort_keys=True) == json.dumps(
                event.body.thaw(), sort_keys=True
            )


def test_final_values(airline):
    """The plain last state of every fifth run equals that of the patches."""
    for run in airline.runs[::5]:
        *_, expected = states_by_patches(airline, run)
        *_, last = airline.store.events(run["run"], kinds=("snapshot",))
        assert expected == last.body.thaw()


def test_sound_after_the_import(airline):
    """Nothing in the database is damaged."""
    assert [] == airline.store.check()
