"""Forks: a new run that starts from any recorded state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import argentum
from argentum.errors import InputError, NotFoundError, StoreError
from argentum.record import Run, create_agent_session, current_run
from argentum.record.run import set_current_run
from argentum.store import Store, open_store


@dataclass
class Plan:
    steps: tuple[str, ...]


@pytest.fixture(autouse=True)
def let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no run of these tests wait for the end of the process."""
    monkeypatch.setattr("atexit.register", lambda function: function)


STATES: list[dict[str, Any]] = [
    {"n": 1, "plan": Plan(("a",)), "big": ["x" * 1000] * 100},
    {"n": 2, "plan": Plan(("a", "b")), "big": ["x" * 1000] * 100},
    {"n": 3, "plan": Plan(()), "big": []},
]


@pytest.fixture
def source(store: Store) -> Run:
    """Record a run of two agents."""
    with Run("trip", store=store, run_id="trip-1") as run:
        writer, reader = run.session("writer"), run.session("reader")
        writer.snapshot("first", STATES[0])  # 4
        reader.snapshot("read", {"r": 1})  # 5
        writer.snapshot("second", STATES[1])  # 6
        run.note("between")  # 7
        writer.snapshot("third", STATES[2])  # 8
    return run


@pytest.mark.parametrize(
    "revision, seq, state",
    [
        ("trip-1@first", 4, STATES[0]), ("trip-1@writer/second", 6, STATES[1]),
        ("trip@7", 7, STATES[1]), ("@-1", 8, STATES[2]), ("trip-1", 8, STATES[2]),
    ],
)  # fmt: skip
def test_starts_from_any_revision(
    source: Run, store: Store, revision: str, seq: int, state: object
) -> None:
    """The agent's first session has the state of the revision, by exact types."""
    fork = Run.fork(revision, store=store)

    assert state == fork.session("writer").restore()
    assert ("trip", seq) == (fork.name, fork.start and fork.start.seq)


def test_takes_a_run_and_a_place_in_it(source: Run) -> None:
    """A run at hand, in memory too, is forked at a label or number."""
    run = Run("memory")
    session = run.session("a")
    session.snapshot("one", {"n": 1})
    session.snapshot("two", {"n": 2})

    assert {"n": 1} == Run.fork(run, "one").session("a").restore()
    assert {"n": 1} == Run.fork(run, 3).session("a").restore()
    assert {"n": 2} == Run.fork(run).session("a").restore()
    assert 3 == Run.fork(source).session("writer").restore()["n"]


def test_is_recorded_as_a_fork(source: Run, store: Store) -> None:
    """The opening events tell where the run and each agent's state come from."""
    fork = Run.fork("trip-1@7", store=store)
    fork.session("writer").snapshot("fixed", {"n": 9})
    fork.session("other").snapshot("new", {})

    opening, agent, first, *_ = events = list(fork.events())
    assert {"run_id": "trip-1", "seq": 7, "label": "between", "agent": None} == opening.body.get(
        "forked_from"
    )
    assert {"forked_from": {"run_id": "trip-1", "seq": 6, "label": "second"}} == agent.body.thaw()
    assert ("second", source.store.event("trip-1", 6).body) == (first.name, first.body)
    assert [
        ("run", None), ("agent", "writer"), ("snapshot", "writer"), ("snapshot", "writer"),
        ("agent", "other"), ("snapshot", "other"),
    ] == [(event.kind, event.agent) for event in events]  # fmt: skip


def test_changes_stand_on_the_state_at_the_fork(source: Run, store: Store) -> None:
    """What a session does later is compared with the state that it started from."""
    session = Run.fork("trip-1@second", store=store).session("writer")
    session.snapshot("fixed", {**session.restore(), "n": 7})

    assert {"n": {"from": 2, "to": 7}} == session.state_diff.get_changes("second", "fixed")
    assert 7 == session.restore()["n"]
    assert 2 == session.restore("second")["n"]


def test_each_agent_starts_at_its_own_state(source: Run, store: Store) -> None:
    """Agents that had a snapshot up to the point start with it, others with none."""
    fork = Run.fork("trip-1@first", store=store)

    assert None is fork.session("reader").restore()
    assert {"r": 1} == Run.fork("trip-1@second", store=store).session("reader").restore()


def test_only_the_first_session_of_an_agent_starts_anew(source: Run, store: Store) -> None:
    """A second session of an agent goes on from what was recorded last."""
    fork = Run.fork("trip-1@first", store=store)
    fork.session("writer").snapshot("fixed", {"n": 7})

    assert {"n": 7} == fork.session("writer").restore()
    assert 2 == sum(event.kind == "snapshot" for event in fork.events())


def test_shares_its_state_with_the_source(source: Run, store: Store, file: Path) -> None:
    """In the same file a fork adds no chunk."""
    before = chunk_count(file)
    Run.fork("trip-1@second", store=store).session("writer")

    assert before == chunk_count(file)


def chunk_count(file: Path) -> int:
    """Count the chunks of a store."""
    import apsw

    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    [[count]] = connection.execute("SELECT count(*) FROM chunk")
    connection.close()
    return int(count)


def test_goes_into_another_file(source: Run, store: Store, tmp_path: Path) -> None:
    """In another file the fork is whole by itself."""
    fork = Run.fork("trip-1@second", store=store, into=tmp_path / "other.db", name="fix")
    fork.session("writer")
    fork.finish()
    fork.store.close()
    store.close()

    other = open_store(tmp_path / "other.db")
    assert ([], STATES[1]) == (other.check(), other.event(fork.run_id, 3).body.thaw())
    assert ["fix"] == [info.name for info in other.runs()]
    other.close()


def test_a_fork_can_be_forked(source: Run, store: Store) -> None:
    """A fork is a run as any other."""
    first = Run.fork("trip-1@first", store=store)
    first.session("writer").snapshot("fixed", {"n": 7})

    assert {"n": 7} == Run.fork(first, "fixed").session("writer").restore()


@pytest.mark.parametrize(
    "revision, message",
    [
        ("trip-1@secnd", "Did you mean 'second'?"), ("tripp@1", "No run 'tripp'"),
        ("trip-1@2", "There is no snapshot at or before trip-1@2"), ("trip-1@99", "there is no 99"),
    ],
)  # fmt: skip
def test_refuses_what_is_not_there(source: Run, store: Store, revision: str, message: str) -> None:
    """A revision that is not there is named, with what is near; no run is started."""
    with pytest.raises(NotFoundError, match=message.replace("?", r"\?")):
        Run.fork(revision, store=store)

    assert ["trip-1"] == [info.run_id for info in store.runs()]


def test_refuses_what_is_no_source(tmp_path: Path) -> None:
    """A revision is text, and its store is there."""
    with pytest.raises(InputError, match="A revision is text"):
        Run.fork(7)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="There is no store"):
        Run.fork("@", store=tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_variable_starts_a_program_from_a_revision(
    source: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ARGENTUM_FORK, the process's run is a fork."""
    monkeypatch.setenv("ARGENTUM_STORE", os.fspath(file))
    monkeypatch.setenv("ARGENTUM_FORK", "trip-1@second")
    try:
        assert STATES[1] == create_agent_session("writer").restore()
    finally:
        finish_current()


def test_a_bad_variable_stops_no_program(
    source: Run, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """A revision that is not there is logged, and the program records a plain run."""
    monkeypatch.setenv("ARGENTUM_STORE", os.fspath(file))
    monkeypatch.setenv("ARGENTUM_FORK", "trip-1@nothing")
    try:
        assert None is create_agent_session("writer").restore()
        assert "ARGENTUM_FORK=trip-1@nothing: No snapshot" in caplog.text
    finally:
        finish_current()


def finish_current() -> None:
    """End the process's run."""
    run = current_run()
    if run is not None:
        run.finish()
        run.store.close()
    set_current_run(None)


def test_restores_nothing_where_nothing_was_recorded() -> None:
    """A session of a plain run has no state at first, and then its last one."""
    session = argentum.create_agent_session("a")

    assert None is session.restore()
    session.snapshot("x", [1])
    assert [1] == session.restore() == session.restore("x")
    with pytest.raises(NotFoundError, match="Did you mean 'x'"):
        session.restore("xx")
