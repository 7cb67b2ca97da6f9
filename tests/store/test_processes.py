"""Killed, forked and contending processes lose nothing that was acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.store.workers import lost, stress

from argentum.store.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parents[2]


def killed_at_a_random_moment(path: Path, run_id: str) -> int:
    """Record in another process, kill it, and give the last number that it acknowledged."""
    command = [sys.executable, "-m", "tests.store.workers", "record", str(path), run_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # from here on it is recording
        time.sleep(random.random() * 0.08)
        process.send_signal(signal.SIGKILL)
        lines = (first + process.stdout.read()).split(b"\n")
    return int(lines[-2])  # what follows the last line's end was not written whole


def survive_kills(path: Path, times: int) -> None:
    """Kill as many recorders, one after the other, and look at what is in the file."""
    acknowledged = {f"r{at}": killed_at_a_random_moment(path, f"r{at}") for at in range(times)}
    store = SqliteStore(path)
    short = {
        run_id: (seq, store.run(run_id).events)
        for run_id, seq in acknowledged.items()
        if not seq <= store.run(run_id).events <= seq + 1
    }
    assert {} == short
    assert [] == store.check()
    print(f"{times} kills, {sum(acknowledged.values())} events acknowledged, none lost")
    store.close()


def test_killed_process_loses_nothing(tmp_path: Path) -> None:
    """After kill -9, each acknowledged event is there, and at most the one under way besides."""
    survive_kills(tmp_path / "runs.db", 20)


@pytest.mark.soak
def test_killed_process_loses_nothing_200_times(tmp_path: Path) -> None:
    """The same at 200 random moments."""
    survive_kills(tmp_path / "runs.db", 200)


def test_four_processes_of_four_threads_lose_nothing(tmp_path: Path) -> None:
    """Every acknowledged event is there, once, and numbers have no gaps."""
    figures = stress(tmp_path / "runs.db", 1)
    assert ({}, []) == lost(tmp_path / "runs.db", figures["acknowledged"])


@pytest.mark.soak
def test_long_contention_loses_nothing(tmp_path: Path) -> None:
    """Under the hardest contention nothing is lost; the longest wait (aim: 500 ms) is printed."""
    figures = stress(tmp_path / "runs.db", 20)
    assert ({}, []) == lost(tmp_path / "runs.db", figures.pop("acknowledged"))
    print(figures)


FORKING = """
import os, sys, threading
from pathlib import Path
from argentum.errors import StoreError
from argentum.events import RunInfo
from argentum.store.sqlite import SqliteStore
from argentum.tree import freeze

store = SqliteStore(sys.argv[1] if sys.argv[1] == ":memory:" else Path(sys.argv[1]))
store.start_run(RunInfo(run_id="r", name="r", started_at_ns=1))
LARGE = [f"message {at} " * 30 for at in range(200)]

def note(name, body=None):
    return store.append("r", kind="note", name=name, at_ns=1, body=freeze({"value": body}))

def in_child(action):
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(0)
    return child

def names():
    return " ".join(event.name for event in store.events("r"))
"""


def forked(code: str, path: object) -> list[str]:
    """Run code after the preamble in a process of its own; give the lines that it prints."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING + code, str(path)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert "" == result.stderr
    return result.stdout.splitlines()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="This system does not fork.")


@needs_fork
def test_events_of_a_forked_child_are_kept(tmp_path: Path) -> None:
    """Parent and child record in one run by turns, and each event has its own number."""
    code = """
note("before", LARGE)
def child():
    for at in range(50):
        note("child", LARGE)
pid = in_child(child)
for at in range(50):
    note("parent", LARGE)
os.waitpid(pid, 0)
seqs = [event.seq for event in store.events("r")]
print(seqs == list(range(1, 102)), names().count("child"), store.check())
"""
    assert ["True 50 []"] == forked(code, tmp_path / "runs.db")


@needs_fork
def test_child_that_outlives_its_parent_loses_nothing(tmp_path: Path) -> None:
    """The parent's close does not delete the log under the child (seen with a leaked handle)."""
    code = """
read, write = os.pipe()
def child():
    note("early", LARGE)
    os.read(read, 1)  # the parent has closed the store
    note("late", LARGE)
    os.kill(os.getpid(), 9)  # so that nothing is tidied up
pid = in_child(child)
while "early" not in names():
    pass
note("parent")
store.close()
os.write(write, b".")
os.waitpid(pid, 0)
store = SqliteStore(Path(sys.argv[1]))
print(names(), store.check())
"""
    assert ["early parent late []"] == forked(code, tmp_path / "runs.db")


@needs_fork
def test_child_that_exits_does_not_disturb_its_parent(tmp_path: Path) -> None:
    """A child that never records, and ends like any program, leaves log and locks alone."""
    code = """
note("before")
pid = os.fork()
if pid == 0:
    store.close()
    sys.exit()
os.waitpid(pid, 0)
other = SqliteStore(Path(sys.argv[1]))
other.append("r", kind="note", name="other", at_ns=1, body=freeze({}))
other.close()
note("after")
print(names(), store.check())
"""
    assert ["before other after []"] == forked(code, tmp_path / "runs.db")


@needs_fork
def test_fork_while_threads_record_is_safe(tmp_path: Path) -> None:
    """Children that are forked in the middle of other threads' writes neither hang nor corrupt."""
    code = """
stop = threading.Event()
def busy():
    while not stop.is_set():
        note("thread", LARGE)
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for at in range(15):
    os.waitpid(in_child(lambda: note("child", LARGE)), 0)
stop.set()
for thread in threads:
    thread.join()
print(names().count("child"), store.check())
"""
    assert ["15 []"] == forked(code, tmp_path / "runs.db")


@needs_fork
def test_memory_of_a_child_is_its_own(tmp_path: Path) -> None:
    """A store in memory is copied by a fork: neither side sees the other's events."""
    code = """
note("before")
os.waitpid(in_child(lambda: (note("child"), print(names(), flush=True))), 0)
note("parent")
print(names())
"""
    assert ["before child", "before parent"] == forked(code, ":memory:")


@needs_fork
def test_fork_inside_a_batch_leaves_the_batch_to_the_parent(tmp_path: Path) -> None:
    """The child is refused with the reason, and the parent's transaction is not touched."""
    code = """
def child():
    try:
        note("child")
    except StoreError as error:
        print(str(error).split(", ")[-1], flush=True)
pid = 0
with store.batch():
    for at in range(20):
        note("parent", [LARGE, at])
    pid = in_child(child)
    os.waitpid(pid, 0)
    note("parent")
print(names().count("parent"), store.check())
"""
    assert ["or start processes by `spawn`.", "21 []"] == forked(code, tmp_path / "runs.db")


@needs_fork
def test_child_can_leave_a_batch_of_its_parent(tmp_path: Path) -> None:
    """A child that returns through the parent's `with` block commits nothing and does not fail."""
    code = """
with store.batch():
    note("parent")
    pid = os.fork()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), names(), store.check())
"""
    assert ["7 parent []"] == forked(code, tmp_path / "runs.db")
