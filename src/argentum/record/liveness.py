"""Tell a run that is going on from one whose process was killed."""

from __future__ import annotations

import os

from argentum.events import RunInfo

KILLED = "killed"
_STAT_START_TIME = 19
"""Place of `starttime` after the process's name in `/proc/PID/stat` (proc(5))."""
_DEAD = ("Z", "X")
"""States of a process that was killed and whose parent has not asked for it yet."""


def this_process() -> str:
    """Name this process so that another one can tell whether it still lives."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_start_time(pid)}"


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _start_time(pid: int) -> str:
    """Give when a process started, so that a reused id is not taken for it; empty if unknown."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            stat = file.read()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in _DEAD else fields[_STAT_START_TIME]


def status_now(info: RunInfo) -> str:
    """Give a run's status, with `killed` for a running one whose process is gone."""
    if info.status != "running":
        return info.status
    place, _, started = info.process.rpartition(":")
    host, _, pid = place.rpartition(":")
    if host != _host() or not (pid.isascii() and pid.isdigit()):
        return info.status  # of another machine nobody here can tell
    alive = _is_alive(int(pid)) and _start_time(int(pid)) == started
    return info.status if alive else KILLED


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return True  # nobody can tell: there signal 0 is Ctrl-C
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
