"""A reader of generated runs that knows no blame: it only looks for spellings of a value."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.state.generated_runs import GeneratedRun
from tests.state.generated_world import Question

from argentum.errors import NotFoundError
from argentum.events import Event
from argentum.state import snapshots_of

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def leaves(value: Any) -> Iterator[Any]:
    """Give what is at the ends of a value, keys left out."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def numbers_of(text: str) -> set[Decimal]:
    """Read every number of a text, whichever way its points and commas are meant."""
    found = set()
    for token in re.findall(r"(?<![\w.,-])\d[\d.,]*(?![\w-])", text.replace("$", " ")):
        bare = token.rstrip(".,")
        for spelling in (bare.replace(",", ""), bare.replace(".", "").replace(",", ".")):
            try:
                found.add(Decimal(spelling))
            except InvalidOperation:
                continue
    return found


def dates_of(text: str) -> set[str]:
    """Read every date of a text, as year-month-day."""
    found = set(re.findall(r"\d{4}-\d\d-\d\d", text))
    found |= {f"{y}-{m}-{d}" for m, d, y in re.findall(r"(\d\d)/(\d\d)/(\d{4})", text)}
    worded = [(d, m, y) for d, m, y in re.findall(r"(\d\d) ([a-z]{3})[a-z]* (\d{4})", text)]
    worded += [(d, m, y) for m, d, y in re.findall(r"([a-z]{3})[a-z]* (\d\d), (\d{4})", text)]
    found |= {f"{y}-{MONTHS.index(m) + 1:02}-{d}" for d, m, y in worded if m in MONTHS}
    return found


def squeezed(text: str) -> str:
    """Forget case and the kind and number of spaces."""
    return " ".join(text.replace("\\n", " ").casefold().split())


def mentions(body: Any, value: Any) -> bool:
    """Tell whether a body holds a value in any spelling; of a container, all of its leaves."""
    held = list(leaves(body))
    text = squeezed(" \n ".join(map(str, held)))
    return all(_mentions(held, text, leaf) for leaf in leaves(value))


def _mentions(held: list[Any], text: str, leaf: Any) -> bool:
    if isinstance(leaf, bool) or leaf in ("", None):
        return leaf in held or str(leaf).casefold() in text
    spelled = squeezed(leaf.isoformat() if isinstance(leaf, date | datetime) else str(leaf))
    if dates_of(spelled):
        return bool(dates_of(spelled) & dates_of(text))
    if not re.search(r"\d", spelled) or re.search(r"[a-z]+-\d", spelled):
        return re.search(rf"(?<!\w){re.escape(spelled)}(?!\w)", text) is not None
    numbers = numbers_of(spelled) if isinstance(leaf, str) else {Decimal(spelled)}
    return any(_same(a, b) for a in numbers for b in numbers_of(text))


def _same(a: Decimal, b: Decimal) -> bool:
    if min(a, b) > 100:
        return round(a, 2) == round(b, 2)
    return a == b or (min(a, b) < 1 and a in (b * 100, b / 100))


def sees(agent: str | None, event: Event) -> bool:
    """Tell whether an agent knows of an event: its own, one handed to it, one told to all."""
    if event.kind == "handoff":
        return agent in (event.agent, event.name)
    return event.agent == agent or (event.agent is None and event.kind == "note")


def body_of(event: Event) -> Any:
    """Give what an event tells, without how long it took."""
    body = event.body.thaw()
    body.pop("elapsed_ms", None)
    return body


# --------------------------------------------------------------------- the truths are true


def first_shown(run: GeneratedRun, question: Question) -> int:
    """Give the `seq` of the first snapshot of those that have the present value to the end."""
    found = 0
    for taken in reversed(snapshots_of(run.events, agent=question.agent)):
        try:
            if taken.tree.get(question.path) != question.value:
                break
        except NotFoundError:
            break
        found = taken.seq
    return found


def told_before(run: GeneratedRun, agent: str | None, seq: int, value: Any) -> list[int]:
    """Give the events before one that an agent knows of and that hold a value."""
    return [
        event.seq
        for event in run.events[: seq - 1]
        if sees(agent, event) and mentions(body_of(event), value)
    ]


def flaws(run: GeneratedRun, question: Question) -> Iterator[str]:
    """Say what is wrong with a question's truth."""
    last = snapshots_of(run.events, agent=question.agent)[-1]
    if last.tree.get(question.path) != question.value:
        yield "the last state has another value"
    if question.verdict == "recorded":
        yield from flaws_of_origin(run, question)
        return
    shown = first_shown(run, question)
    if told := told_before(run, question.agent, shown, question.value):
        yield f"told before by {told}"
    is_first = shown == snapshots_of(run.events, agent=question.agent)[0].seq
    if is_first != (question.verdict == "initial"):
        yield "it is from the first snapshot on, or should be"


def knowing(run: GeneratedRun, question: Question) -> set[str | None]:
    """Give the agents that the value reaches from its origin, over handoffs that hold it."""
    first = run.events[min(question.origins) - 1]
    if first.kind == "note" and first.agent is None:
        return {question.agent}
    known = {first.agent}
    for event in run.events[first.seq : first_shown(run, question) or len(run.events)]:
        is_told = event.kind == "handoff" and event.agent in known
        if is_told and mentions(body_of(event), question.value):
            known.add(event.name)
    return known


def flaws_of_origin(run: GeneratedRun, question: Question) -> Iterator[str]:
    """Say what is wrong with the origin that a question takes for the true one."""
    for seq in question.origins:
        parts = [e for e in run.events if seq in (e.seq, e.span)]
        if not mentions([body_of(event) for event in parts], question.value):
            yield f"{seq} does not hold the value"
    if question.agent not in knowing(run, question):
        yield "the value does not reach the agent"
    first = run.events[min(question.origins) - 1]
    for agent in {first.agent, question.agent} if question.is_distinctive else ():
        if told := told_before(run, agent, first.seq, question.value):
            yield f"{agent} was told before by {told}"
