"""`argentum compare`: where two runs part, and what separates failed runs from passed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.acts import act_as_dict, act_line, act_lines, change_lines
from argentum.cli.arguments import (
    JsonOption,
    StoreOption,
    check_kinds,
    complete_run,
    opened,
    run_named,
)
from argentum.cli.separation import separation_as_dict, separation_parts
from argentum.cli.telling import changes_as_dicts, thawed
from argentum.cli.terminal import literal, plain, show, show_json, styled, table
from argentum.errors import InputError, NotFoundError
from argentum.events import Event, RunInfo
from argentum.state.aligning import ALIKE, ASKED, SAME, Pair
from argentum.state.compare import Comparison, Consequence, Divergence
from argentum.state.compare import compare as compare_events
from argentum.state.forks import common_source, place_of
from argentum.state.separating import separate
from argentum.store import Store

PASSED = "passed"

RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN",
        help="Ids of runs, starts of ids, or names; the first is compared with each of the others.",
        autocompletion=complete_run,
    ),
]


def compare(
    runs: RunsArgument,
    *,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="passed|RUN",
            help="Compare with runs that passed: all of the same task, or this one; repeatable.",
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only acts of this kind; may be repeated.")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", help="A field that makes no difference; may be repeated."),
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    Show where runs first differ, and what it led to; exits with 1 if they do.

    With --against passed: the first write of each RUN that no passed run of its task made, and the
    steps and values that separate them. A run's task is the `task` in its `run` event, or else its
    name.
    """
    check_kinds(kind)
    place = opened(store)
    found = [run_named(place, text) for text in runs]
    if against:
        passed = _passed(place, found, against)
        differ = _separated(place, found, passed, ignore or (), json=json)
    else:
        differ = _compared(place, found, kind or (), ignore or (), json=json)
    if differ:
        raise typer.Exit(1)


# ---------------------------------------------------------------- two runs


def _compared(
    place: Store, runs: list[RunInfo], kinds: Sequence[str], ignore: Sequence[str], *, json: bool
) -> bool:
    first, *others = runs
    if not others:
        message = (
            f"There is nothing to compare {first.run_id!r} with. "
            "Give a second run, or --against passed."
        )
        raise InputError(message)
    events = list(place.events(first.run_id))
    found = []
    for other in others:
        theirs = list(place.events(other.run_id))
        source = _source(place, events, theirs)
        one = compare_events(events, theirs, source=source, kinds=kinds, ignore=ignore)
        found.append((other, one))
    if json:
        rows = [_as_dict(first, other, one) for other, one in found]
        show_json(rows if len(rows) > 1 else rows[0])
    else:
        show(*[part for other, one in found for part in _comparison(first, other, one)])
    return any(one.divergence is not None for _, one in found)


def _source(place: Store, a: Sequence[Event], b: Sequence[Event]) -> list[Event]:
    """Give the events of a run that two others were forked from, if it is in the store."""
    fork = common_source(a, b)
    if fork is None or fork.run_id in (a[0].run_id, b[0].run_id):
        return []
    try:
        return list(place.events(fork.run_id))
    except NotFoundError:  # it was never there: runs can be exported one by one
        return []


def _comparison(a: RunInfo, b: RunInfo, found: Comparison) -> Iterator[Text | Table]:
    yield _run_line("A", a)
    yield _run_line("B", b)
    if found.fork is not None:
        source = f"{plain(found.fork.run_id)}@{found.fork.seq}"
        yield Text(f"One run up to {source}; compared from there on.", style="dim")
    if found.divergence is None:
        yield Text(f"The same in all {len(found.pairs())} steps.", style="green")
        return
    yield Text(_summary(found), style="dim")
    yield Text()
    yield from _divergence(found.divergence)


def _run_line(side: str, info: RunInfo) -> Text:
    line = Text(f"{side}  ", style=_SIDES[side])
    line.append(plain(info.run_id), style="bold")
    if info.name != info.run_id:
        line.append(f"  {plain(info.name)}")
    line.append("  ")
    line.append_text(styled(info.status))
    return line


_SIDES = {"A": "red", "B": "green"}


def _summary(found: Comparison) -> str:
    counts = _counts(found)
    told = [f"{counts[name]} {words}" for name, words in _COUNTED.items() if counts[name]]
    return f"Steps: {', '.join(told)}."


_COUNTED = {
    "shared": "before the fork",
    "same": "the same",
    "asked": "the same but for the outcome",
    "alike": "alike only in kind",
    "moved": "in another order",
    "only_in_a": "only in A",
    "only_in_b": "only in B",
}


def _counts(found: Comparison) -> dict[str, int]:
    how = Counter(pair.how for lane in found.lanes for pair in lane.pairs)
    return {
        "shared": len(found.shared),
        "same": how[SAME],
        "asked": how[ASKED],
        "alike": how[ALIKE],
        "moved": sum(len(lane.moved) for lane in found.lanes),
        "only_in_a": len(found.only_in_a()),
        "only_in_b": len(found.only_in_b()),
    }


def _divergence(found: Divergence) -> Iterator[Text | Table]:
    heading = Text("First divergence: ")
    heading.append(found.kind, style="bold yellow")
    heading.append(f", by {plain(found.agent)}" if found.agent else "")
    yield heading
    rows = [_pair_row(pair) for pair in found.before]
    for side, act, line in zip("AB", (found.a, found.b), act_lines(found.a, found.b), strict=True):
        place = Text("" if act is None else f"@{place_of(act)}")
        rows.append((Text(side, style=_SIDES[side]), place, line))
    listed = table("", "", "", rows=rows)
    listed.show_header = False
    yield listed
    if found.tried_again:
        yield Text("One of the two made the call again and got what the other had got.")
    if found.changes:
        yield Text()
        yield Text("What differs (A → B):", style="bold")
        yield from change_lines(found.changes)
    for one in found.led_to:
        yield Text()
        yield from _consequence(one)


def _pair_row(pair: Pair) -> tuple[Text, Text, Text]:
    places = dict.fromkeys(f"@{place_of(act)}" for act in (pair.a, pair.b))
    return Text(), Text(", ".join(places)), act_line(pair.a)


def _consequence(one: Consequence) -> Iterator[Text]:
    when = "next" if one.when == "next" else "at the end"
    of = f" of {plain(one.agent)}" if one.agent else ""
    yield Text(f"State{of} {when}, A@{one.a.seq} → B@{one.b.seq}:", style="bold")
    if not one.diff:
        yield Text("  the same", style="dim")
    yield from change_lines(one.diff.changes)


# ---------------------------------------------------------------- many runs


def _passed(place: Store, runs: list[RunInfo], against: list[str]) -> list[RunInfo]:
    given = {info.run_id for info in runs}
    named = [run_named(place, text) for text in against if text != PASSED]
    if PASSED in against:
        tasks = [_task(place, info) for info in runs]
        named += [
            info
            for info in reversed(place.runs())
            if info.status == "done" and _task(place, info) in tasks
        ]
    found = {info.run_id: info for info in named if info.run_id not in given}
    if not found:
        message = (
            f"No other run of the task of {runs[0].run_id!r} passed (has the status done). "
            "Name the runs to compare with: --against RUN"
        )
        raise NotFoundError(message)
    return list(found.values())


def _task(place: Store, info: RunInfo) -> tuple[str, str]:
    """Tell which task a run is of: what its `run` event says, or else its name."""
    for event in place.events(info.run_id, kinds=("run",)):
        task = thawed(event).get("task")
        if task is not None:
            return "task", literal(task, 1000)
    return "name", info.name


def _separated(
    place: Store, runs: list[RunInfo], passed: list[RunInfo], ignore: Sequence[str], *, json: bool
) -> bool:
    groups = [
        {info.run_id: list(place.events(info.run_id)) for info in group} for group in (runs, passed)
    ]
    found = separate(*groups, ignore=ignore)
    if json:
        show_json(separation_as_dict(found))
    else:
        show(*separation_parts(found))
    return any(one.first_wrong is not None or one.missing for one in found.verdicts.values())


# ---------------------------------------------------------------- JSON


def _as_dict(a: RunInfo, b: RunInfo, found: Comparison) -> dict[str, Any]:
    told = found.divergence
    return {
        "runs": [a.run_id, b.run_id],
        "same": told is None,
        "kind": found.kind,
        "fork": None if found.fork is None else found.fork._asdict(),
        "steps": _counts(found),
        "divergence": None if told is None else _divergence_as_dict(told),
        "pairs": [{**_seqs(pair), "how": pair.how} for pair in found.pairs()],
        "only_in_a": [place_of(act) for act in found.only_in_a()],
        "only_in_b": [place_of(act) for act in found.only_in_b()],
    }


def _seqs(pair: Pair) -> dict[str, int]:
    return {"a": place_of(pair.a), "b": place_of(pair.b)}


def _divergence_as_dict(told: Divergence) -> dict[str, Any]:
    return {
        "kind": told.kind,
        "agent": told.agent,
        "a": act_as_dict(told.a),
        "b": act_as_dict(told.b),
        "changes": changes_as_dicts(told.changes),
        "tried_again": told.tried_again,
        "before": [_seqs(pair) for pair in told.before],
        "led_to": [
            {"when": one.when, "agent": one.agent, "a": one.a.seq, "b": one.b.seq,
             "changes": changes_as_dicts(one.diff.changes)}
            for one in told.led_to
        ],
    }  # fmt: skip
