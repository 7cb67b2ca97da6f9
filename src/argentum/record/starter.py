"""Run a program with a run around it: what it prints, takes and returns stays as it is."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pkgutil import get_importer
from types import TracebackType

from argentum import options
from argentum.errors import InputError
from argentum.record.forking import ForkPoint, find_fork_point
from argentum.record.run import Run, set_current_run
from argentum.store import Store

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ended."""

    run_id: str
    exit_code: int


def check_script(path: str) -> None:
    """
    Check that there is a script to run.

    Raises:
        InputError: there is no such file.
    """
    if not os.path.exists(path):  # noqa: PTH110 - as the interpreter sees it
        message = f"There is no script {path!r} here ({os.getcwd()}). Give a path, or -m MODULE."  # noqa: PTH109
        raise InputError(message)


def run_script(
    path: str,
    arguments: Sequence[str],
    *,
    store: Store,
    name: str | None = None,
    start: ForkPoint | None = None,
) -> Outcome:
    """
    Run a script as `python SCRIPT ARGUMENTS` would, its agents from a fork's start if there is one.

    Raises:
        InputError: there is no such file.
        NotFoundError: `ARGENTUM_FORK` names no recorded state.
    """
    check_script(path)
    sys.argv = [path, *arguments]
    sys.path[0:0] = [os.path.dirname(os.path.realpath(path))]  # noqa: PTH120 - as the interpreter does
    title = name or os.path.basename(path)  # noqa: PTH119
    return _run(lambda: _run_path(path), Run(title, store=store, start=_start_of(start, store)))


def _run_path(path: str) -> None:
    """Run a file as the interpreter does: `__file__` is absolute, `sys.argv[0]` as it was given."""
    full = os.path.abspath(path)  # noqa: PTH100 - as the interpreter does
    if get_importer(full) is not None or full.endswith(".pyc"):  # a folder, a zip file, byte code
        runpy.run_path(path, run_name="__main__")
        return
    with io.open_code(full) as file:
        code = compile(file.read(), full, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = full
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - that is the purpose


def run_module(
    module: str,
    arguments: Sequence[str],
    *,
    store: Store,
    name: str | None = None,
    start: ForkPoint | None = None,
) -> Outcome:
    """Run a module as `python -m MODULE ARGUMENTS` would (see `run_script`)."""
    sys.argv = [module, *arguments]
    sys.path[0:0] = [os.getcwd()]  # noqa: PTH109 - as the interpreter does
    program = lambda: runpy.run_module(module, run_name="__main__", alter_sys=True)  # noqa: E731
    return _run(program, Run(name or module, store=store, start=_start_of(start, store)))


def _start_of(start: ForkPoint | None, store: Store) -> ForkPoint | None:
    """Give where the run starts: as it was said, or as `ARGENTUM_FORK` says."""
    revision = options.text("ARGENTUM_FORK")
    return find_fork_point(revision, store) if start is None and revision else start


def _run(program: Callable[[], object], run: Run) -> Outcome:
    set_current_run(run)
    code = 1
    try:
        code = _exit_code(program, run)
        with contextlib.suppress(ValueError, AttributeError):  # closed, or none
            sys.stdout.flush()
    finally:
        # Threads and exit handlers of the program may still record, and join this run.
        run.finish_at_exit("done" if code == 0 else "failed")
    return Outcome(run.run_id, code)


def _exit_code(program: Callable[[], object], run: Run) -> int:
    try:
        program()
    except SystemExit as stop:
        return _code_of(stop)
    except KeyboardInterrupt as error:
        run.error(error)
        return INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - whatever ends the program ends the run
        trace = _without_ours(error)
        run.error(error.with_traceback(trace))
        _report(error, trace)
        return 1
    return 0


def _report(error: BaseException, trace: TracebackType | None) -> None:
    """Let the program's own hook print its error; where that fails, the interpreter's."""
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException as fault:  # noqa: BLE001 - as the interpreter guards the hook
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(fault), fault, _without_ours(fault))
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)


def _code_of(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    sys.stderr.write(f"{stop.code}\n")
    return 1


def _without_ours(error: BaseException) -> TracebackType | None:
    """Cut our own frames off the top of a traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _OURS:
        trace = trace.tb_next
    return trace


_OURS = frozenset({__file__, runpy.__file__, "<frozen runpy>"})
