"""`argentum watch`: where recorded runs break a condition that they should keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.text import Text

from argentum.cli.arguments import (
    JsonOption,
    StoreOption,
    complete_run,
    no_such_agent,
    opened,
    run_named,
)
from argentum.cli.telling import counted, named
from argentum.cli.terminal import literal, plain, show, show_json
from argentum.errors import ArgentumError, InputError, NotFoundError
from argentum.events import RunInfo
from argentum.state import Snapshot, snapshots_of
from argentum.state.conditions import Condition
from argentum.state.watch import Break, Watch, WatchChecker, WatchReport, watch_over
from argentum.store import Store

BROKEN, COULD_NOT = 1, 3
VALUE_WIDTH = 24


@dataclass(frozen=True, slots=True)
class _Watched:
    """A run, and what the watch says of it."""

    run: RunInfo
    snapshots: int
    report: WatchReport


def watch(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Ids of runs, starts of ids, or names; by default the newest run.",
            autocompletion=complete_run,
        ),
    ] = None,
    *,
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="EXPR",
            help='What should hold, in CEL: "budget_left >= 0", "n >= previous.n - 0.2".',
        ),
    ],
    path: Annotated[
        str, typer.Option("--path", help="The names in EXPR are those of the value there.")
    ] = "",
    agent: Annotated[str | None, typer.Option("--agent", help="Only this agent's states.")] = None,
    all_runs: Annotated[bool, typer.Option("--all-runs", help="All runs of the store.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    Check a condition on every recorded state, and show where it first broke.

    Exits with 0 if it was kept, 1 if it was broken, and 3 if it could not be checked at all.
    """
    if all_runs and runs:
        message = f"Give runs ({', '.join(runs)}) or --all-runs, not both."
        raise InputError(message)
    invariant = Watch(where, path=path)
    place = opened(store)
    infos = place.runs() if all_runs else [run_named(place, one) for one in runs or [""]]
    checker = invariant.checker()
    watched = [_watched(place, info, agent, invariant, checker) for info in infos]
    if agent is not None and not any(one.snapshots for one in watched):
        raise _no_agent(place, agent, infos)
    if json:
        show_json([_as_dict(one) for one in watched])
    else:
        show(*_lines(watched))
    _exit(watched)


def _watched(
    place: Store, info: RunInfo, agent: str | None, invariant: Watch, checker: WatchChecker
) -> _Watched:
    snapshots = snapshots_of(place.events(info.run_id, kinds=("snapshot",), agent=agent))
    return _Watched(info, len(snapshots), watch_over(snapshots, invariant, checker))


def _no_agent(place: Store, agent: str, infos: Iterable[RunInfo]) -> NotFoundError:
    events = (one for info in infos for one in place.events(info.run_id, kinds=("snapshot",)))
    return no_such_agent(agent, {one.agent for one in events})


def _exit(watched: list[_Watched]) -> None:
    reports = [one.report for one in watched]
    if any(report.breaks for report in reports):
        raise typer.Exit(BROKEN)
    if any(report.untold for report in reports) and not any(one.checked for one in reports):
        raise typer.Exit(COULD_NOT)


# ---------------------------------------------------------------- text


def _lines(watched: list[_Watched]) -> list[Text]:
    lines = [line for one in watched for line in _of_run(one)]
    if len(watched) > 1:
        broken = sum(bool(one.report.breaks) for one in watched)
        lines.append(Text(f"{broken} of {len(watched)} runs break it.", style="bold"))
    return lines


def _of_run(one: _Watched) -> list[Text]:
    report = one.report
    line = Text(plain(one.run.run_id), style="bold")
    if one.run.name != one.run.run_id:
        line.append(f"  {plain(one.run.name)}", style="not bold")
    if report.breaks:
        line.append(f"  broken {_times(len(report.breaks))}", style="bold red")
        line.append(f" in {_checked(one)}", style="not bold")
        return [line, *_of_break(one.run, report.breaks[0]), *_more(one), *_left_out(one)]
    if report.checked:
        line.append("  kept", style="not bold green")
        line.append(f" on {_checked(one)}", style="not bold")
    else:
        word = "could not be checked" if report.untold else "nothing to check"
        line.append(f"  {word}", style="not bold yellow")
        line.append(f" on {counted(one.snapshots, 'snapshot')}", style="not bold")
    return [line, *_left_out(one)]


def _checked(one: _Watched) -> str:
    """Tell on how many snapshots the condition was really checked."""
    if one.report.checked == one.snapshots:
        return counted(one.snapshots, "snapshot")
    count = one.report.first_ones
    have = f" ({count} {'has' if count == 1 else 'have'} no previous)" if count else ""
    return f"{one.report.checked} of {counted(one.snapshots, 'snapshot')}{have}"


def _of_break(run: RunInfo, found: Break) -> list[Text]:
    place = Text(f"  first at {_named(found.snapshot)}")
    lines = [place, *(Text(f"    {line}") for line in _values(found))]
    if found.why:
        lines.append(Text(f"    {plain(found.why)}"))
    lines.append(Text(f"  {_when_kept(found)}"))
    if found.before is not None:
        revisions = f"{run.run_id}@{found.before.seq} {run.run_id}@{found.snapshot.seq}"
        lines.append(Text(f"  see: argentum diff {plain(revisions)}", style="dim"))
    return lines


def _when_kept(found: Break) -> str:
    if found.last_kept is not None:
        return f"last kept at {_named(found.last_kept)}"
    who = "the run" if found.snapshot.agent is None else plain(found.snapshot.agent)
    which = "that could be checked" if found.before is not None else "at all"
    return f"{who} has no earlier state {which}"


def _more(one: _Watched) -> list[Text]:
    later = [f"@{found.snapshot.seq}" for found in one.report.breaks[1:9]]
    hidden = len(one.report.breaks) - 1 - len(later)
    more = [f"and {hidden} more"] if hidden else []
    return [Text(f"  later at {', '.join([*later, *more])}")] if later else []


def _left_out(one: _Watched) -> list[Text]:
    """Tell which snapshots it was not checked on, and why."""
    lines = []
    for snapshot, why, count in one.report.untold:
        first = "" if count == 1 else "first "
        lines.append(Text(f"  not checked on {count}, {first}at {_named(snapshot)}", "yellow"))
        lines.append(Text(f"    {plain(why)}"))
    return lines


def _values(found: Break) -> list[str]:
    """Show what the condition read, from the state before to the one that breaks it."""
    then = _read_before(found)
    lines = []
    for text, value in found.values.items():
        if text.startswith("previous.") and text.removeprefix("previous.") in found.values:
            continue
        now = literal(value, VALUE_WIDTH)
        old = f"{literal(then[text], VALUE_WIDTH)} → " if text in then else ""
        lines.append(f"{plain(text)}  {old}{now}")
    return lines


def _read_before(found: Break) -> dict[str, Any]:
    condition = found.watch.condition
    if found.before is None or not isinstance(condition, Condition):
        return {}
    try:
        return condition.values(found.before)
    except ArgentumError:  # that state is damaged; the break is not
        return {}


def _named(snapshot: Snapshot) -> str:
    agent = f" of {plain(snapshot.agent)}" if snapshot.agent else ""
    return f"{named(snapshot)}{agent}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


# ---------------------------------------------------------------- JSON


def _as_dict(one: _Watched) -> dict[str, Any]:
    report = one.report
    status = "broken" if report.breaks else "kept" if report.checked else "unchecked"
    return {
        "run_id": one.run.run_id,
        "name": one.run.name,
        "where": report.watch.name,
        "status": status,
        "snapshots": one.snapshots,
        "checked": report.checked,
        "breaks": [_break_as_dict(found) for found in report.breaks],
        "first_ones": report.first_ones,
        "not_checked": {
            "count": sum(one.total for one in report.untold),
            "first": [
                {**_place(snapshot), "why": why, "count": count}
                for snapshot, why, count in report.untold
            ],
        },
    }


def _break_as_dict(found: Break) -> dict[str, Any]:
    return {
        **_place(found.snapshot),
        "values": found.values,
        "before": None if found.before is None else _place(found.before),
        "values_before": _read_before(found),
        "last_kept": None if found.last_kept is None else _place(found.last_kept),
    }


def _place(snapshot: Snapshot) -> dict[str, Any]:
    return {"seq": snapshot.seq, "label": snapshot.label, "agent": snapshot.agent}
