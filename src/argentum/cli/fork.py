"""`argentum fork`: start again from a recorded state."""

from __future__ import annotations

import contextlib
import re
import sys
from itertools import chain, count
from typing import Annotated, Any

import typer
from rich.text import Text

from argentum.cli.arguments import (
    JsonOption,
    RevisionArgument,
    StoreOption,
    opened,
    revision_named,
)
from argentum.cli.telling import named, outline_lines
from argentum.cli.terminal import literal, plain, show, show_json
from argentum.record.forking import ForkPoint, find_fork_point
from argentum.record.starter import check_script, run_module, run_script
from argentum.state import Snapshot
from argentum.tree import Record


def fork(
    revision: RevisionArgument,
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- SCRIPT [ARGS]", help="The program; with -m, a module.",
            show_default=False,
        ),
    ] = None,
    *,
    module: Annotated[bool, typer.Option("-m", help="SCRIPT is a module's name.")] = False,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call the run; by default NAME (fork).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell the run's id.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:  # fmt: skip
    """
    Start a program again from a recorded state, or show how to.

    Each agent's first session starts with its state at the revision: `session.restore()` gives it
    to the program. Without a program the states there are shown.
    """
    place = opened(store)
    start = find_fork_point(revision_named(place, revision).name, place)
    if not program and json:
        show_json(_as_dict(start))
    elif not program:
        show(*_shown(start, store))
    else:
        script, *arguments = program
        if not module:
            check_script(script)
        begin = run_module if module else run_script
        outcome = begin(script, arguments, store=place, name=name or _name_for(start), start=start)
        if not quiet:
            _tell(start, outcome.run_id)
        raise typer.Exit(outcome.exit_code)


def _name_for(start: ForkPoint) -> str:
    """Give a fork a name of its own, so that the source's keeps its meaning."""
    taken = {info.name for info in start.store.runs()}
    source = re.sub(r" \(fork(?: \d+)?\)$", "", start.run_name)
    numbered = (f"{source} (fork {number})" for number in count(2))
    return next(one for one in chain([f"{source} (fork)"], numbered) if one not in taken)


def _tell(start: ForkPoint, run_id: str) -> None:
    told = (
        f"argentum: recorded run {run_id}, forked from {start.revision}; "
        f"see: argentum log {run_id}\n"
    )
    with contextlib.suppress(ValueError, AttributeError):  # the program closed it
        sys.stderr.write(told)


def _shown(start: ForkPoint, store: str | None) -> list[Text]:
    title = f"{plain(start.revision)}  {plain(start.label)}"
    title += f"  of {plain(start.agent)}" if start.agent else ""
    parts = [Text(title, style="bold")]
    for snapshot in start.states.values():
        heading = f"\n{plain(str(snapshot.agent))}: {named(snapshot)}"
        parts += [Text(heading, style="bold"), Text(_outlined(snapshot))]
    where = "" if store is None else f", store={store!r}"
    command = f"argentum fork {plain(start.revision)} -- SCRIPT [ARGS]..."
    agent = start.agent if start.agent in start.states else next(iter(start.states))
    parts.append(
        Text(
            f"\nTo start again from here: {command}\n"
            f"or in Python:\n"
            f"    run = argentum.Run.fork({start.revision!r}{where})\n"
            f"    session = run.session({agent!r})\n"
            f"    state = session.restore()"
        )
    )
    return parts


def _outlined(snapshot: Snapshot) -> str:
    """Show the first level of a state."""
    value = snapshot.tree.thaw(live=False)
    if not isinstance(value, dict | list | tuple | Record):
        return f"  {literal(value)}"
    return "\n".join(f"  {line}" for line in outline_lines(value))


def _as_dict(start: ForkPoint) -> dict[str, Any]:
    return {
        **start.described(),
        "states": [
            {"agent": one.agent, "seq": one.seq, "label": one.label}
            for one in start.states.values()
        ],
    }
