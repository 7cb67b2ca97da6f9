"""`argentum compare`: where two runs part, and what separates failed runs from passed ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from argentum.cli.acts import act_as_dict, act_line, change_lines
from argentum.cli.arguments import JsonOption, StoreOption, complete_run, opened
from argentum.cli.separation import separation_as_dict, separation_parts
from argentum.cli.telling import changes_as_dicts, thawed
from argentum.cli.terminal import literal, plain, show, show_json, styled, table
from argentum.errors import InputError, NotFoundError, not_found
from argentum.events import KINDS, RunInfo
from argentum.state.acts import Act
from argentum.state.aligning import ALIKE, ASKED, SAME
from argentum.state.compare import Comparison, Consequence, Divergence
from argentum.state.compare import compare as compare_events
from argentum.state.separating import separate
from argentum.store import Store
from argentum.store.revisions import find_run

PASSED = "passed"

RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN RUN…",
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
    _check_kinds(kind or ())
    place = opened(store)
    found = [find_run(place, text.rstrip("@")) for text in runs]
    if against:
        passed = _passed(place, found, against)
        differ = _separated(place, found, passed, ignore or (), json=json)
    else:
        differ = _compared(place, found, kind or (), ignore or (), json=json)
    if differ:
        raise typer.Exit(1)


def _check_kinds(kinds: Iterable[str]) -> None:
    for one in kinds:
        if one not in KINDS:
            raise not_found("kind of event", one, KINDS)


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
    found = [
        (
            other,
            compare_events(events, list(place.events(other.run_id)), kinds=kinds, ignore=ignore),
        )
        for other in others
    ]
    if json:
        rows = [_as_dict(first, other, one) for other, one in found]
        show_json(rows if len(rows) > 1 else rows[0])
    else:
        show(*[part for other, one in found for part in _comparison(first, other, one)])
    return any(one.divergence is not None for _, one in found)


def _comparison(a: RunInfo, b: RunInfo, found: Comparison) -> Iterator[Text | Table]:
    yield _run_line("A", a)
    yield _run_line("B", b)
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


_SIDES = {"A": "red", "B": "green", " ": "dim"}


def _summary(found: Comparison) -> str:
    counts = _counts(found)
    told = [f"{counts[name]} {words}" for name, words in _COUNTED.items() if counts[name]]
    return f"Steps: {', '.join(told)}."


_COUNTED = {
    "same": "the same",
    "asked": "with another outcome",
    "alike": "of one kind",
    "moved": "elsewhere",
    "only_in_a": "only in A",
    "only_in_b": "only in B",
}


def _counts(found: Comparison) -> dict[str, int]:
    how = Counter(pair.how for lane in found.lanes for pair in lane.pairs)
    return {
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
    heading.append(f", of {plain(found.agent)}" if found.agent else "")
    yield heading
    rows = [_act_row(" ", pair.a, pair.b) for pair in found.before]
    rows += [_act_row("A", found.a), _act_row("B", found.b)]
    yield table("", "seq", "", rows=rows)
    if found.tried_again:
        yield Text("One of the two made the call again and got what the other had got.")
    if found.changes:
        yield Text()
        yield Text("What differs (A → B):", style="bold")
        yield from change_lines(found.changes)
    for one in found.led_to:
        yield Text()
        yield from _consequence(one)


def _act_row(side: str, act: Act | None, other: Act | None = None) -> tuple[Text, Text, Text]:
    if act is None:
        return Text(side, style=_SIDES[side]), Text(), Text("(the end)", style="dim")
    seq = f"{act.seq}" if other is None or other.seq == act.seq else f"{act.seq}, {other.seq}"
    return Text(side, style=_SIDES[side]), Text(seq), act_line(act)


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
    named = [find_run(place, text.rstrip("@")) for text in against if text != PASSED]
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
        "steps": _counts(found),
        "divergence": None if told is None else _divergence_as_dict(told),
        "pairs": [{"a": pair.a.seq, "b": pair.b.seq, "how": pair.how} for pair in found.pairs()],
        "only_in_a": [act.seq for act in found.only_in_a()],
        "only_in_b": [act.seq for act in found.only_in_b()],
    }


def _divergence_as_dict(told: Divergence) -> dict[str, Any]:
    return {
        "kind": told.kind,
        "agent": told.agent,
        "a": act_as_dict(told.a),
        "b": act_as_dict(told.b),
        "changes": changes_as_dicts(told.changes),
        "tried_again": told.tried_again,
        "before": [{"a": pair.a.seq, "b": pair.b.seq} for pair in told.before],
        "led_to": [
            {"when": one.when, "agent": one.agent, "a": one.a.seq, "b": one.b.seq,
             "changes": changes_as_dicts(one.diff.changes)}
            for one in told.led_to
        ],
    }  # fmt: skip
