"""The `argentum` command for tests: in this process, where it is quick, and as a real one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import argentum

SOURCE = Path(argentum.__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "argentum")
_FORGOTTEN = ("PYTEST_CURRENT_TEST", "FORCE_COLOR", "NO_COLOR", "COLUMNS")


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output, without the blanks that fill up columns."""
        return [line.rstrip() for line in self.out.splitlines()]


def surroundings(**more: str) -> dict[str, str]:
    """Give a child process the package under test, and nothing of this test's strictness."""
    kept = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8", **more}


def python(*arguments: str, **more: str) -> Finished:
    """Run plain Python."""
    return _finished((sys.executable, *arguments), **more)


def argentum_process(*arguments: str, **more: str) -> Finished:
    """Run the command as a process of its own, with more variables if given."""
    return _finished((*COMMAND, *arguments), **more)


def _finished(command: tuple[str, ...], **more: str) -> Finished:
    done = subprocess.run(
        command, env=surroundings(**more), capture_output=True, check=False, timeout=120
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def in_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Finished]:
    """Make a function that runs the command here, errors and exit codes included."""
    from argentum.cli.app import run_app

    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments: str) -> Finished:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["argentum", *arguments])
        code = 0
        try:
            run_app()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        out, err = capsys.readouterr()
        return Finished(code, out, err)

    return run


def steady(text: str) -> str:
    """Replace ids of runs and times of day, which differ each time."""
    text = re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}", "RUN", text)
    return re.sub(r"\b\d+(\.\d+)? m?s\b", "TIME", text)
