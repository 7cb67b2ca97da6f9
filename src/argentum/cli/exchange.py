"""`argentum import` and `argentum export`: runs from files and into them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.text import Text

from argentum.cli.arguments import JsonOption, RunArgument, StoreOption, opened, run_named
from argentum.cli.telling import counted
from argentum.cli.terminal import console, plain, show, show_json
from argentum.ingest import Imported, check_files, exported, import_file
from argentum.store import Store

SHOWN_PROBLEMS = 20


def import_runs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines, plain or gzipped.")],
    *,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="The state before each run, where it is a file of its own."),
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Import recorded runs; lines that cannot be used are named, all others are kept."""
    check_files(file, state)  # a slip in a name makes no store
    result = _imported(file, opened(store, create=True), state)
    if json:
        show_json({"runs": result.run_ids, "events": result.events, "problems": result.problems})
    else:
        runs, events = counted(len(result.run_ids), "run"), counted(result.events, "event")
        lines = [Text(f"Imported {runs} with {events}.", "green")]
        lines += [Text(plain(text), "red") for text in result.problems[:SHOWN_PROBLEMS]]
        hidden = len(result.problems) - SHOWN_PROBLEMS
        lines += (
            [Text(f"… and {hidden} more lines with problems: --json", "red")] if hidden > 0 else []
        )
        show(*lines)
    if result.problems:
        raise typer.Exit(1)


def _imported(file: Path, store: Store, state: Path | None) -> Imported:
    if not sys.stderr.isatty():  # a disabled bar still ends its line in rich 14.2
        return import_file(file, store, state=state)
    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("Importing", total=None)
        return import_file(
            file, store, state=state,
            on_progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip


def export_run(
    run: RunArgument = "",
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write a run in the interchange format (JSON Lines), to a file or to standard output."""
    place = opened(store)
    lines = exported(place, run_named(place, run).run_id)
    if output is None:  # UTF-8 whatever the terminal's encoding: the format says so
        for line in lines:
            sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()
        return
    if output.is_symlink() or (output.exists() and not output.is_file()):
        _write(output, lines)  # a device or a link is written to, never replaced
        return
    unfinished = output.with_name(output.name + ".part")
    try:
        _write(unfinished, lines)
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
