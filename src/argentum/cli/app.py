"""All commands in one table, and what an error becomes on the way out."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import typer

from argentum.cli import (
    bisect,
    blame,
    compare,
    doctor,
    exchange,
    fork,
    history,
    log,
    program,
    runs,
    states,
    watch,
)
from argentum.cli.telling import as_places
from argentum.cli.terminal import plain
from argentum.errors import ArgentumError, InputError, NotFoundError
from argentum.options import OPTIONS

COULD_NOT, WRONG_USE = 3, 2

_EXIT_CODES = "0 clean, 1 findings, 2 wrong use, 3 could not."
_VARIABLES = "\n\n".join(f"{option.variable}: {option.meaning}" for option in OPTIONS)

app = typer.Typer(
    help="Record AI agents as they run, and see what changed, when and why.",
    epilog=f"Environment:\n\n{_VARIABLES}\n\nExit codes: {_EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PASS_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}


def _add(name: str, command: Callable[..., None], **settings: Any) -> None:
    """Add a command; its help is wrapped by the terminal's width, not by that of the source."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    told = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    app.command(name, help=told, **settings)(command)


_add("run", program.run, context_settings=_PASS_ON)
_add("runs", runs.runs)
_add("log", log.log)
_add("show", states.show)
_add("diff", states.diff)
_add("history", history.history)
_add("blame", blame.blame)
_add("bisect", bisect.bisect)
_add("compare", compare.compare)
_add("watch", watch.watch)
_add("fork", fork.fork)
_add("import", exchange.import_runs)
_add("export", exchange.export_run)
_add("doctor", doctor.doctor)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"argentum {version('argentum-agent')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Record AI agents as they run, and see what changed, when and why."""


def run_app() -> None:
    """Run the command; an error is one line on stderr and an exit code."""
    try:
        app()
    except ArgentumError as error:
        _tell(error)
        sys.exit(WRONG_USE if isinstance(error, InputError | NotFoundError) else COULD_NOT)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a file of the user's that cannot be read or written
        _tell(error)
        sys.exit(COULD_NOT)


_WORDS = {
    "Say whose: agent=NAME.": "Say whose: --agent NAME.",
    " Take one: session.snapshot(…).": "",
    " Take one: session.snapshot(…)": "",
}
"""What the library tells a caller in Python, and what a user of the command can do instead."""


def _tell(error: Exception) -> None:
    text = as_places(str(error))
    for in_python, here in _WORDS.items():
        text = text.replace(in_python, here)
    lines = "\n".join(map(plain, text.split("\n")))  # some point at a place in a line
    sys.stderr.write(f"argentum: {lines}\n")
