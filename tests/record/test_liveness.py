"""Liveness: a run that goes on is told from one whose process is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from argentum.events import RunInfo
from argentum.record import status_now
from argentum.record.liveness import this_process

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")  # noqa: PTH112


def info(process: str, status: str = "running") -> RunInfo:
    """Make a run of a process."""
    return RunInfo(run_id="r", name="x", started_at_ns=0, status=status, process=process)


def test_this_process_runs():
    """A run of a living process is running."""
    assert "running" == status_now(info(this_process()))


@pytest.mark.parametrize("status", ["done", "failed", "incomplete"])
def test_ended_runs_keep_their_status(status):
    """A run that ended is never taken for killed."""
    assert status == status_now(info("nowhere:1:1", status))


def test_dead_process():
    """A run whose process is gone was killed."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    host = this_process().split(":", maxsplit=1)[0]

    assert "killed" == status_now(info(f"{host}:{child.pid}:1"))


def test_reused_process_id():
    """A process of the same id that started at another time is another one."""
    host, pid, start = this_process().rsplit(":", 2)

    assert "killed" == status_now(info(f"{host}:{pid}:{int(start) - 1}"))


def test_killed_child_that_nobody_asked_for():
    """A killed process is dead even while its parent has not asked how it ended."""
    text = "from argentum.record.liveness import this_process as p; print(p(), flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    process = child.stdout.readline().strip()
    alive = status_now(info(process))
    child.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    dead = status_now(info(process))
    child.communicate()

    assert ["running", "killed"] == [alive, dead]


@pytest.mark.parametrize("process", ["other-host:1:1", "", "imported", "a:b:c"])
def test_unknown_process(process):
    """Of a process on another machine, or none that is named, nobody here can tell."""
    assert "running" == status_now(info(process))
