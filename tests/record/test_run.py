"""Runs: what is recorded of a program, and the guard that keeps the recorder's faults from it."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

import pytest

from argentum import Run, StoreError, clock, create_agent_session
from argentum.record import current_run
from argentum.record.run import REST_NS, SLOW_NS, default_run
from argentum.store import open_store
from argentum.store.memory import MemoryStore

# ------------------------------------------------------------------ a run


def test_run_tells_its_surroundings(monkeypatch, file, reader):
    """A run begins with what was run, by which Python, where; it ends with its status."""
    monkeypatch.setattr(sys, "argv", ["folder/prog.py", "--fast"])
    with Run(store=file, run_id="r") as run:
        pass
    opening, closing = reader.events("r")

    assert "prog.py" == run.name
    assert {
        "arguments": ["folder/prog.py", "--fast"],
        "python": sys.version.split(" ", maxsplit=1)[0],
        "folder": str(Path.cwd()),
    } == opening.body.thaw()
    assert {"status": "done"} == closing.body.thaw()
    assert [("run", "open", None), ("run", "close", 1)] == [
        (one.kind, one.phase, one.span) for one in (opening, closing)
    ]


def test_run_without_arguments(monkeypatch):
    """A program inside another one, which has no `sys.argv`, is recorded all the same."""
    monkeypatch.setattr(sys, "argv", [])

    assert "python" == Run().name


def test_ids_sort_by_time(started):
    """Ids begin with the time and differ from each other."""
    ids = [started("x").run_id for _ in range(5)]

    assert 5 == len(set(ids))
    assert sorted(one[:15] for one in ids) == [one[:15] for one in ids]


def test_running_until_finished(started, store, reader):
    """A run has no end until it is finished, and only the first end counts."""
    run = started("x", store=store, run_id="r")
    before = reader.run("r")
    run.finish()
    ended = reader.run("r")
    run.finish("failed")

    assert ("running", None) == (before.status, before.ended_at_ns)
    assert "done" == ended.status
    assert before.started_at_ns <= (ended.ended_at_ns or 0)
    assert ended == reader.run("r")


def test_failed_block(file, reader):
    """A block that raises makes a failed run that holds the error, which goes on."""
    problem = RuntimeError("no")
    with pytest.raises(RuntimeError) as caught, Run("x", store=file, run_id="r"):
        raise problem

    assert problem is caught.value
    assert "failed" == reader.run("r").status
    assert ["run", "error", "run"] == [one.kind for one in reader.events("r")]


def test_exit_in_a_block(file, reader):
    """`sys.exit` in a block ends the run without being taken for an error."""
    with pytest.raises(SystemExit), Run("x", store=file, run_id="r"):
        sys.exit(0)

    assert ["run", "run"] == [one.kind for one in reader.events("r")]


def test_events_of_the_run(started):
    """A run gives what it recorded so far."""
    run = started("x")
    run.note("one")

    assert ["x", "one"] == [one.name for one in run.events()]


def test_current_run_only_if_asked_for():
    """Without a variable or `argentum run` there is no run that sessions share."""
    create_agent_session("a")

    assert [None, None] == [current_run(), default_run()]


def test_after_the_end_another_run_begins(monkeypatch, file, reader):
    """A session that starts when the shared run is over gets a run of its own."""
    monkeypatch.setenv("ARGENTUM_STORE", str(file))
    first = create_agent_session("a").run
    first.finish()
    second = create_agent_session("b").run
    second.finish()

    assert {first.run_id: 3, second.run_id: 3} == {one.run_id: one.events for one in reader.runs()}
    assert 2 == len(reader.runs())


def test_threads_share_the_default_run(monkeypatch, file):
    """Sessions that start in many threads at once join one run."""
    monkeypatch.setenv("ARGENTUM_STORE", str(file))
    barrier = threading.Barrier(8)
    runs = []

    def start():
        barrier.wait()
        runs.append(create_agent_session("a").run)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs[0].finish()

    assert 8 == len(runs)
    assert 1 == len(set(runs))


def test_threads_lose_nothing(started, store, reader):
    """Many threads that record at once get all their events, numbered without a gap."""
    session = started("x", store=store, run_id="r").session("a")

    def work(worker):
        for number in range(25):
            with session.tool_call("t", {"worker": worker}):
                session.snapshot(f"{worker}.{number}", {"worker": worker, "n": number})

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = list(reader.events("r"))
    spans = {one.seq: one.body.thaw()["arguments"]["worker"] for one in events if one.span is None
             and one.kind == "tool_call"}  # fmt: skip

    assert list(range(1, 3 + 8 * 25 * 3)) == [one.seq for one in events]
    assert {f"{worker}.{number}" for worker in range(8) for number in range(25)} == {
        one.name for one in events if one.kind == "snapshot"
    }
    assert [one.body.thaw()["worker"] for one in events if one.kind == "snapshot"] == [
        spans[one.parent] for one in events if one.kind == "snapshot"
    ]


# ------------------------------------------------------------------ the guard


def fill(store):
    """Make a store's disk as good as full: no page more than it has."""
    store._handle._connection.pragma(
        "max_page_count", store._handle._connection.pragma("page_count")
    )


def empty(store):
    """Make room again."""
    store._handle._connection.pragma("max_page_count", 1_000_000)


def big():
    """Give a state that does not compress and needs many pages."""
    return {"noise": os.urandom(100_000)}


def test_full_disk_does_not_reach_the_host(lenient, started, store, reader, caplog):
    """On a full disk the host goes on; what was lost is counted, with the first reason."""
    session = started("x", store=store, run_id="r").session("a")
    session.snapshot("before", {"n": 1})
    fill(store)
    with caplog.at_level(logging.WARNING, logger="argentum"):
        session.snapshot("lost", big())
        session.snapshot("lost too", big())
    empty(store)
    session.snapshot("after", {"n": 2})
    info = reader.run("r")

    assert 2 == session.run.dropped == info.dropped
    assert info.first_dropped.startswith("StoreError: The store ")
    assert "has no room left: the disk is full" in info.first_dropped
    assert ["before", "after"] == [one.name for one in reader.events("r", kinds=("snapshot",))]
    assert 1 == len(caplog.records)
    assert [] == reader.check()


def test_full_disk_keeps_the_history_in_memory(lenient, started, store):
    """A snapshot that the disk had no room for can still be compared by the host."""
    session = started("x", store=store).session("a")
    fill(store)
    session.snapshot("one", {**big(), "n": 1})
    session.snapshot("two", {"n": 2})

    assert {"from": 1, "to": 2} == session.state_diff.get_changes("one", "two")["n"]


def test_full_disk_inside_a_tool(lenient, started, store):
    """A tool gives its result and raises its errors as ever if neither can be recorded."""
    session = started("x", store=store).session("a")
    fill(store)

    @session.tool
    def work(fail, noise):
        if fail:
            raise KeyError("mine")
        return [noise]

    noise = os.urandom(100_000)
    assert [noise] == work(False, noise)
    with pytest.raises(KeyError, match="mine"):
        work(True, noise)
    assert session.run.dropped >= 2


def test_full_disk_raises_in_tests(started, store):
    """Under pytest the same fault is raised where it happens."""
    session = started("x", store=store).session("a")
    fill(store)

    with pytest.raises(StoreError, match="the disk is full"):
        session.snapshot("lost", big())
    assert 1 == session.run.dropped


def test_strict_by_variable(monkeypatch, started, store):
    """`ARGENTUM_STRICT=1` raises outside of pytest, too."""
    monkeypatch.setenv("ARGENTUM_STRICT", "1")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    session = started("x", store=store).session("a")

    with pytest.raises(ValueError, match="The label 3 is a int; give a str"):
        session.snapshot(3, {})


def test_not_strict_outside_of_tests(monkeypatch, started):
    """Without the variable and without pytest nothing is raised."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    run = started("x")
    run.session("a").snapshot(3, {})

    assert (1, "InputError: The label 3 is a int; give a str.") == (run.dropped, run.first_dropped)


def test_slip_in_the_variable(monkeypatch, started):
    """A value of `ARGENTUM_STRICT` that means nothing does not make the guard raise."""
    monkeypatch.setenv("ARGENTUM_STRICT", "maybe")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    run = started("x")
    run.session("a").snapshot(3, {})

    assert 1 == run.dropped


def nonsense(folder):
    """Make a file that is no database."""
    path = folder / "bad.db"
    path.write_bytes(b"nonsense " * 1000)
    return path


def foreign(folder):
    """Make a database of another program."""
    import sqlite3

    path = folder / "foreign.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (x)")
    db.close()
    return path


def below_a_file(folder):
    """Name a file in a folder that is a file."""
    (folder / "file").write_text("", encoding="utf-8")
    return folder / "file" / "runs.db"


@pytest.mark.parametrize(
    "place,reason",
    [
        (nonsense, "is not a SQLite file, so it is no store; it was left as it is"),
        (foreign, "is a SQLite file of another program; it was left as it is"),
        (below_a_file, "cannot be used:"),
        (lambda folder: folder, "is a folder. Name a file in it"),
        (lambda _: "postgres://host/db", "this version cannot open yet"),
    ],
)
def test_unusable_store_does_not_reach_the_host(lenient, tmp_path, place, reason):
    """A run whose store cannot be used goes on in memory and knows why."""
    path = place(tmp_path)
    before = Path(path).read_bytes() if Path(path).is_file() else None
    session = create_agent_session("a", store=path)
    session.snapshot("start", {"n": 1})

    assert isinstance(session.run.store, MemoryStore)
    assert 1 == session.run.dropped
    assert reason in session.run.first_dropped
    assert {"n": 1} == session.state_diff.restore("start")
    assert before == (Path(path).read_bytes() if before is not None else None)


def test_missing_folder_is_made(tmp_path):
    """A store in a folder that is not there yet makes the folder."""
    with Run("x", store=tmp_path / "a" / "b" / "runs.db"):
        pass

    assert (tmp_path / "a" / "b" / "runs.db").is_file()


def test_store_that_breaks_under_the_run(lenient, started, file, tmp_path):
    """A store that is overwritten while it is recorded to does not reach the host."""
    run = started("x", store=file)
    run.store.close()
    file.write_bytes(b"nonsense " * 1000)
    for name in ("runs.db-wal", "runs.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    run.note("lost")
    run.finish()

    assert "done" == run.status
    assert 2 == run.dropped


def test_read_only_store(lenient, started, file):
    """A store that may not be written any more does not reach the host."""
    run = started("x", store=open_store(file), run_id="r")
    run.store._handle._connection.pragma("query_only", 1)
    run.note("lost")
    dropped = (run.dropped, run.first_dropped)
    run.store._handle._connection.pragma("query_only", 0)
    run.note("kept")

    assert 1 == dropped[0]
    assert "cannot be written: the file, its folder or its disk is read-only" in dropped[1]
    assert ["x", "kept"] == [one.name for one in run.events()]
    assert 1 == run.store.run("r").dropped


def test_run_of_a_taken_id(lenient, started, store):
    """A second run of one id does not mix with the first one."""
    started("x", store=store, run_id="r")
    second = started("y", store=store, run_id="r")

    assert "There is a run 'r' in" in second.first_dropped
    assert 1 == store.run("r").events


def test_deep_state_near_the_recursion_limit(lenient, started, reader, file):
    """A deep state that is kept deep inside the host's own recursion does not reach the host."""
    session = started("x", store=file, run_id="r").session("a")
    state: list = []
    for _ in range(100_000):
        state = [state]
    room = sys.getrecursionlimit() - 150

    def recurse(depth):
        return recurse(depth - 1) if depth else session.snapshot("deep", state)

    recurse(room - len(_stack()))
    session.snapshot("after", {"n": 1})
    kept = [one.name for one in reader.events("r", kinds=("snapshot",))]

    assert "after" == kept[-1]
    assert 2 == len(kept) + session.run.dropped


def _stack():
    import inspect

    return inspect.stack(0)


class Broken:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __repr__(self):
        raise RuntimeError("no repr")


def test_half_broken_objects(started, store, reader):
    """Objects that raise at every touch are marked in the state; the rest of it is kept."""
    session = started("x", store=store, run_id="r").session("a")
    session.snapshot("start", {"good": 1, "bad": Broken()})

    assert 1 == reader.event("r", 3).body.get("good")
    assert 0 == session.run.dropped


def test_cyclic_state(started, store, reader):
    """A state that contains itself is kept, with a mark where it comes round."""
    state: dict = {"n": 1}
    state["self"] = state
    session = started("x", store=store, run_id="r").session("a")
    session.snapshot("start", state)
    restored = reader.event("r", 3).body.thaw()

    assert (1, "Cycle") == (restored["n"], type(restored["self"]).__name__)


def test_late_drop_keeps_the_end(lenient, started, store, reader):
    """What is dropped after the end is counted without forgetting when the run ended."""
    run = started("x", store=store, run_id="r")
    session = run.session("a")
    run.finish()
    ended = reader.run("r").ended_at_ns
    session.snapshot(3, {})
    session.note("after")

    assert (1, ended, "done") == (
        reader.run("r").dropped, reader.run("r").ended_at_ns, reader.run("r").status,
    )  # fmt: skip


def test_what_cannot_be_shown_is_dropped_quietly(lenient, started):
    """A fault whose own text cannot be made is counted, too."""

    class Mute(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError

    run = started("x")
    run.drop(Mute())

    assert "Mute: Mute()" == run.first_dropped


class Breakable(MemoryStore):
    """A store that can be broken."""

    broken = False
    asked = 0

    def append(self, run_id, **columns):
        if self.broken:
            self.asked += 1
            raise StoreError("Nothing answers.")
        return super().append(run_id, **columns)


def test_a_slow_failure_is_not_waited_for_again(lenient, monkeypatch):
    """After a failure that took long, events are dropped at once until the store has rested."""
    store = Breakable()
    run = Run("x", store=store)
    now = [0]

    def tick():
        now[0] += 2 * SLOW_NS
        return now[0]

    monkeypatch.setattr(clock, "now_ns", tick)
    monkeypatch.setattr(clock, "elapsed_ns", lambda: now[0])
    store.broken = True
    for _ in range(5):
        run.note("lost")
    assert (1, 5) == (store.asked, run.dropped)
    assert "Nothing answers" in run.first_dropped

    store.broken = False
    now[0] += REST_NS
    assert None is not run.note("kept")
    assert ["kept"] == [event.name for event in run.events() if event.kind == "note"]
    assert 5 == store.run(run.run_id).dropped


def test_a_quick_failure_is_tried_again_at_once(lenient):
    """A failure that took no time does not keep the next event from the store."""
    store = Breakable()
    run = Run("x", store=store)
    store.broken = True
    run.note("lost")
    store.broken = False

    assert None is not run.note("kept")
