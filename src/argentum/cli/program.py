"""`argentum run`: record a program as it is."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from argentum.cli.arguments import StoreOption
from argentum.errors import InputError
from argentum.record.starter import check_script, run_module, run_script
from argentum.store import open_store


def run(
    context: typer.Context,
    target: Annotated[
        str, typer.Argument(metavar="SCRIPT", help="The program; with -m, a module.")
    ],
    *,
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is a module's name.")] = False,
    name: Annotated[str | None, typer.Option("--name", help="What to call the run.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell the run's id.")] = False,
    store: StoreOption = None,
) -> None:
    """Run a Python program and record its agents; its exit code is passed on."""
    if target.startswith("-"):
        message = (
            f"{target!r} is no option of `argentum run`; those of the program follow its name."
        )
        raise InputError(message)
    start = run_module if module else run_script
    if not module:
        check_script(target)  # before a store is made for it
    place = open_store(store)
    outcome = start(target, context.args, store=place, name=name)
    if not quiet:
        told = f"argentum: recorded run {outcome.run_id}; see: argentum log {outcome.run_id}\n"
        with contextlib.suppress(ValueError, AttributeError):  # the program closed it
            sys.stderr.write(told)
    raise typer.Exit(outcome.exit_code)
