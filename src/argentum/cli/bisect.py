"""`argentum bisect`: the first snapshot where a condition holds, and how sure that is."""

from __future__ import annotations

import json as json_library
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.text import Text

from argentum.cli.arguments import (
    JsonOption,
    RunArgument,
    StoreOption,
    agent_snapshots,
    opened,
    run_named,
    which_agent,
)
from argentum.cli.telling import as_places, counted, named, place_as_dict
from argentum.cli.terminal import duration, plain, show, show_json, table
from argentum.errors import InputError, NotFoundError, shown
from argentum.events import RunInfo
from argentum.state import (
    SKIP,
    Bisection,
    Flip,
    Snapshot,
    bisect_snapshots,
    bisect_verdicts,
    to_jsonable,
)
from argentum.state.conditions import Condition, parse

MOST_FLIPS = 8
GOOD, SKIPPED, LAST_BAD = 0, 125, 125
"""
Exit codes of a command. Above the last the bisection ends: 126 and 127 are what shells say of a
command that they cannot find or start, and would make each state a bad one.
"""

Found = dict[str | None, Bisection]


def bisect(
    run: RunArgument = "",
    *,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="EXPR", help='A condition in CEL: "confidence < 0.5".'),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="CMD",
            help="A command that gets the state as JSON on its standard input and exits with 0 if "
            "it is good (the condition does not hold), 125 to skip it, 1 to 124 if it is bad.",
        ),
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Whose states.")] = None,
    every: Annotated[
        bool, typer.Option("--every", help="List all flips; run the command on every state.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    Find the first snapshot where a condition holds, and say whether that can be trusted.

    A condition is checked on every state, which is cheap. A command is run at most 16 times for
    up to 16,000 states, and never twice on equal ones; --every runs it on all of them.
    """
    if (where is None) is (command is None):
        message = 'Give a condition, --where "confidence < 0.5", or a command, --run "./check".'
        raise InputError(message)
    place = opened(store)
    info = run_named(place, run)
    by_agent = agent_snapshots(place, info, agent)
    if where is not None:
        found = _by_condition(by_agent, parse(where))
    else:
        found = _by_command(by_agent, _words(command or ""), every=every)
    if json:
        show_json([_as_dict(one, result) for one, result in found.items()])
    else:
        show(*(line for one in found.items() for line in _shown(*one, info, every=every)))


# ---------------------------------------------------------------- conditions


def _by_condition(by_agent: dict[str | None, list[Snapshot]], condition: Condition) -> Found:
    """Check it on the states of each agent where it can be told of any."""
    found: Found = {}
    first_why = ""
    for agent, snapshots in by_agent.items():
        held, why = _verdicts(snapshots, condition)
        if any(verdict is not None for verdict in held):
            result = bisect_verdicts(snapshots, held)
            found[agent] = replace(result, why=_settled(result, why))
        first_why = first_why or why
    if not found:
        message = f"The condition cannot be told of any snapshot. {first_why}"
        raise NotFoundError(message)
    return found


def _settled(found: Bisection, why: str) -> str:
    """Tell what is known where every snapshot was checked that could be."""
    said = [_course(found)]
    if found.first is not None and found.between:
        said.append(f"It may begin to hold up to {counted(found.between, 'snapshot')} before.")
    if found.unknown:
        said.append(f"{counted(found.unknown, 'snapshot')} could not be checked. {why}")
    return " ".join(said)


def _course(found: Bisection) -> str:
    known = " that could be checked" if found.unknown else ""
    if found.first is None:
        return f"It holds in none of the snapshots{known}."
    if not found.flips:
        return f"It holds in all snapshots{known}."
    if not found.flips[0].holds:
        ceases = f"It holds from the start and ceases at {named(found.flips[0].at)}"
        return ceases + ("." if len(found.flips) == 1 else ", and flips later.")
    if len(found.flips) == 1:
        begins = "It begins once and never ceases"
        return f"{begins}, as far as it could be checked." if known else f"{begins}."
    return f"It begins or ceases to hold at {len(found.flips)} places:"


def _verdicts(snapshots: Sequence[Snapshot], condition: Condition) -> tuple[list[bool | None], str]:
    """Give what the condition says of each snapshot, and why it does not of the first such one."""
    checker = condition.checker()
    held: list[bool | None] = []
    why = ""
    for before, snapshot in zip([None, *snapshots], snapshots, strict=False):
        outcome = checker.check(snapshot, before)
        # Before the first snapshot nothing can have happened.
        held.append(False if outcome.is_first else outcome.held)
        if held[-1] is None:
            why = why or f"At @{snapshot.seq}: {outcome.why}"
    return held, why


# ---------------------------------------------------------------- commands


def _by_command(
    by_agent: dict[str | None, list[Snapshot]], command: Sequence[str], *, every: bool
) -> Found:
    if len(by_agent) > 1:
        raise which_agent(by_agent)
    if not command:
        message = 'The command is empty. Give one like --run "python check.py".'
        raise InputError(message)
    return {
        agent: bisect_snapshots(snapshots, lambda snapshot: _is_bad(command, snapshot), every=every)
        for agent, snapshots in by_agent.items()
    }


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        message = f"The command {shown(command)} cannot be read: {error}."
        raise InputError(message) from error


def _is_bad(command: Sequence[str], snapshot: Snapshot) -> object:
    """Run the command on a state; its own output goes nowhere, what it complains of is seen."""
    state = json_library.dumps(to_jsonable(snapshot.tree.thaw(live=False)))
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, without a shell
            command, input=state.encode(), stdout=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        message = f"The command {shlex.join(command)!r} cannot be started: {error}."
        raise InputError(message) from error
    if not GOOD <= done.returncode <= LAST_BAD:
        message = (
            f"The command {shlex.join(command)!r} ended with {done.returncode}; 0 is good, 125 "
            "skips the state, 1 to 124 is bad, and anything else ends the bisection."
        )
        raise InputError(message)
    return SKIP if done.returncode == SKIPPED else done.returncode != GOOD


# ---------------------------------------------------------------- text


def _shown(agent: str | None, found: Bisection, info: RunInfo, *, every: bool) -> list[Any]:
    title = Text(plain(info.run_id), style="bold")
    if agent is not None:
        title.append(f"  of {plain(agent)}", style="not bold")
    title.append(f"  {counted(found.snapshots, 'snapshot')}", style="not bold")
    lines: list[Any] = [title, *_first(found, info), *_trust(found)]
    if len(found.flips) > 1:
        lines += [Text(), _flips(found.flips if every else found.flips[:MOST_FLIPS], info)]
        hidden = 0 if every else len(found.flips) - MOST_FLIPS
        if hidden > 0:
            lines.append(Text(f"… and {hidden} more: --every", style="dim"))
    return [*lines, Text()]


def _first(found: Bisection, info: RunInfo) -> list[Text]:
    if found.first is None:
        return []
    lines = [Text(f"first holds at {_named(found.first, info)}")]
    if found.last_before is not None:
        lines.append(Text(f"not yet at     {_named(found.last_before, info)}"))
        revisions = f"{info.run_id}@{found.last_before.seq} {info.run_id}@{found.first.seq}"
        lines.append(Text(f"see: argentum diff {plain(revisions)}", style="dim"))
    return lines


def _named(snapshot: Snapshot, info: RunInfo) -> str:
    at = duration(snapshot.at_ns - info.started_at_ns)
    return f"{named(snapshot)}  {at}"


def _trust(found: Bisection) -> list[Text]:
    word, style = {
        True: ("sure", "green"), False: ("it flips", "red"), None: ("not sure", "yellow")
    }[found.monotone]  # fmt: skip
    line = Text(word, style=style)
    return [
        line.append(
            f": {as_places(plain(found.why)).replace('It flips: it ', 'It ')}", style="default"
        )
    ]


def _flips(flips: Sequence[Flip], info: RunInfo) -> Any:
    rows = [
        (
            Text("begins" if flip.holds else "ceases"),
            Text(_named(flip.at, info)),
            Text(f"or up to {flip.between} before" if flip.between else ""),
        )
        for flip in flips
    ]
    return table("it", "at", "", rows=rows)


# ---------------------------------------------------------------- JSON


def _as_dict(agent: str | None, found: Bisection) -> dict[str, Any]:
    return {
        "agent": agent,
        "first": None if found.first is None else place_as_dict(found.first),
        "last_before": None if found.last_before is None else place_as_dict(found.last_before),
        "between": found.between,
        "trusted": found.trusted,
        "monotone": found.monotone,
        "why": found.why,
        "calls": found.calls,
        "snapshots": found.snapshots,
        "unknown": found.unknown,
        "skipped": [place_as_dict(snapshot) for snapshot in found.skipped],
        "flips": [
            {
                "holds": flip.holds,
                "at": place_as_dict(flip.at),
                "before": place_as_dict(flip.before),
                "between": flip.between,
            }
            for flip in found.flips
        ],
    }
