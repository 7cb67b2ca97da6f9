"""What `argentum compare RUN --against passed` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from argentum.cli.acts import VALUE_WIDTH, act_as_dict, act_line, change_lines, told
from argentum.cli.telling import changes_as_dicts
from argentum.cli.terminal import brief, change_line, plain, table
from argentum.state.separating import Separation, Trait
from argentum.state.writes import Verdict, Write

MAX_TRAITS = 8
MAX_MISSING = 8
LINE = 78


def separation_parts(found: Separation) -> Iterator[Text | Table]:
    """Lay out the verdicts and what separates the runs."""
    yield Text(f"Against {_listed(found.passed)}, which passed.", style="dim")
    for name, verdict in found.verdicts.items():
        yield Text()
        yield from _verdict(name, verdict)
    if found.alarms:
        yield Text()
        yield Text(
            f"Not sure: of the {len(found.passed)} passed runs, {len(found.alarms)} would be "
            "called wrong by the others.",
            style="yellow",
        )
    for title, traits in (("Steps", found.acts), ("Values at the end", found.values)):
        if traits:
            yield Text()
            yield Text(f"{title} that separate them:", style="bold")
            yield _traits(found, traits)


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return plain(", ".join(names[:most])) + more


def _verdict(name: str, verdict: Verdict) -> Iterator[Text]:
    title = Text(plain(name), style="bold")
    write = verdict.first_wrong
    if write is None:
        yield title.append("  no wrong write", style="green" if not verdict.missing else "yellow")
        if verdict.missing:
            yield Text(f"Missing, compared with {plain(verdict.nearest)}:")
            for one in verdict.missing[:MAX_MISSING]:
                yield Text(f"- {_told_write(one)}", style="red")
        return
    title.append("  first wrong write at ")
    yield title.append(f"{plain(name)}@{write.after.seq}", style="bold red")
    yield Text(f"{_told_write(write)}")
    yield from change_lines(write.changes)
    if verdict.back_at is not None:
        yield Text(f"Its state is again one of a passed run at @{verdict.back_at.seq}.")


def _told_write(write: Write) -> str:
    label = plain(write.after.label)
    return brief(label if write.act is None else f"{label}: {told(write.act)}", LINE)


def _traits(found: Separation, traits: Sequence[Trait]) -> Table:
    rows = [
        (
            Text(f"{len(one.failed)}/{len(found.failed)}", style="red" if one.score > 0 else ""),
            Text(f"{len(one.passed)}/{len(found.passed)}", style="green" if one.score < 0 else ""),
            _trait(one),
        )
        for one in traits[:MAX_TRAITS]
    ]
    return table("failed", "passed", "", rows=rows)


def _trait(trait: Trait) -> Text:
    if trait.what == "place":
        return Text(f"any change of {plain(trait.place)}")
    if trait.change is not None:
        return change_line(trait.change, VALUE_WIDTH)
    assert trait.act is not None  # noqa: S101 - a trait is a step or a change
    if trait.what == "tool":
        return Text(f"{trait.act.kind} {plain(trait.act.name)}, whatever the arguments")
    return act_line(trait.act, outcome=trait.what == "whole")


def separation_as_dict(found: Separation) -> dict[str, Any]:
    """Give a separation as a JSON object."""
    return {
        "failed": list(found.failed),
        "passed": list(found.passed),
        "verdicts": {name: _verdict_as_dict(one) for name, one in found.verdicts.items()},
        "alarms": {name: _verdict_as_dict(one) for name, one in found.alarms.items()},
        "steps": [_trait_as_dict(one) for one in found.acts],
        "values": [_trait_as_dict(one) for one in found.values],
    }


def _verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    return {
        "first_wrong": None if verdict.first_wrong is None else _write_as_dict(verdict.first_wrong),
        "nearest": verdict.nearest,
        "back_at": None if verdict.back_at is None else verdict.back_at.seq,
        "missing": [_write_as_dict(one) for one in verdict.missing],
    }


def _write_as_dict(write: Write) -> dict[str, Any]:
    return {
        "agent": write.agent,
        "before": write.before.seq,
        "after": write.after.seq,
        "label": write.after.label,
        "act": act_as_dict(write.act),
        "changes": changes_as_dicts(write.changes),
    }


def _trait_as_dict(trait: Trait) -> dict[str, Any]:
    return {
        "what": trait.what,
        "score": trait.score,
        "failed": list(trait.failed),
        "passed": list(trait.passed),
        "agent": trait.agent,
        "act": act_as_dict(trait.act),
        "place": trait.place,
        "change": None if trait.change is None else changes_as_dicts([trait.change])[0],
    }
