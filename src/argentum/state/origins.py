"""Where a value came from: from the event that gave it to an agent back to its first appearance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from argentum.events import OPEN, Event
from argentum.matching import COMMON, ORDINARY, RARE, Match, Sought, distinctness
from argentum.matching.contents import PART, ROUNDED
from argentum.state.lifetimes import since
from argentum.state.sources import Found, Sources, Steps, is_telling, tier
from argentum.tree import Path

SURE, LIKELY, GUESS = "sure", "likely", "guess"
CERTAINTIES = (SURE, LIKELY, GUESS)
"""The surest first."""
MOST_STEPS = 200
MOST_FOR_PARTS = 50
"""Events in which parts of a text that nothing explains are looked for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event on the way of a value."""

    event: Event
    how: str
    """How it holds the value: `same value`, `same number written differently`, …"""
    where: Path
    """The place in the event's body; into JSON in a text it goes on."""


@dataclass(slots=True)
class Trail:
    """The way of a value, from the event that gave it back to its first appearance."""

    steps: list[Step] = field(default_factory=list)
    doubts: list[tuple[str, str]] = field(default_factory=list)
    """What lowers the certainty: how far at most, and why."""
    is_older: bool = False
    """Whether the value was seen before the snapshot that lacks it, and not since."""

    @property
    def writer(self) -> Event:
        """The event that gave the value."""
        return self.steps[0].event

    @property
    def origin(self) -> Event:
        """The event in which it appeared first."""
        return self.steps[-1].event

    @property
    def certainty(self) -> str:
        """How sure it is: as the worst doubt says."""
        return least_sure(most for most, _ in self.doubts)


def least_sure(certainties: Iterator[str]) -> str:
    """Give the least sure of several certainties."""
    return max(certainties, key=CERTAINTIES.index, default=SURE)


class Tracer:
    """Finds who gave an agent a value, and follows it back."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.by_chance: Found | None = None
        """What was found last that holds a value, but says too little."""

    # ------------------------------------------------------------ who gave it

    def trail_of(
        self, agent: str | None, number: int, steps: Steps, sought: Sought
    ) -> Trail | None:
        """
        Explain a value that a snapshot is the first to show; None if nothing recorded does.

        Args:
            number: the snapshot's place among the agent's.
            steps: where the value stands in it.
        """
        taken = self.sources.snapshots[agent]
        after = taken[number - 1].seq if number else 0
        self.by_chance = None
        near = self._near(agent, after, taken[number].seq, sought)
        if near:
            given = self._behind_inputs(agent, near[0], sought)
            return self._trail(agent, given, sought, rivals=near[1:])
        if number:
            copied = self._in_state(agent, number - 1, sought, but=steps)
            if copied is not None:
                return self._trail(agent, copied, sought)
        older = self._older(agent, after, sought)
        if older is None:
            return None
        trail = self._trail(agent, older, sought)
        trail.is_older = True
        reason = "it was seen before the state that lacks the value"
        named = older.match.is_named and sought.distinctness > COMMON
        surely = sought.distinctness == RARE or named
        trail.doubts.append((LIKELY if surely else GUESS, reason))
        return trail

    def _near(self, agent: str | None, after: int, before: int, sought: Sought) -> list[Found]:
        """Give what holds a value in a stretch of the run, the best first; inputs are the last."""
        found = [
            one
            for event in self.sources.seen_by(agent, after=after, before=before)
            if (one := self._telling(event, sought, near=True)) is not None
        ]
        return sorted(found, key=lambda one: (tier(sought, one.match), is_input(one.event)))

    def _telling(self, event: Event, sought: Sought, *, near: bool) -> Found | None:
        found = self.sources.find(event, sought)
        if found is None or is_telling(sought, found.match, near=near):
            return found
        self.by_chance = self.by_chance or found
        return None

    def _behind_inputs(self, agent: str | None, found: Found, sought: Sought) -> Found:
        """Give what a model's inputs repeat, if that was recorded; else the inputs."""
        if not is_input(found.event):
            return found
        back = self._seen(agent, found.event.seq, sought)
        return found if back is None else back[1]

    def _in_state(
        self, agent: str | None, number: int, sought: Sought, *, but: Steps | None = None
    ) -> Found | None:
        found = self.sources.find_in_state(self.sources.snapshots[agent][number], sought, but=but)
        if found is None or not (sought.distinctness == RARE or found.match.is_named):
            return None
        return found if but is None or sought.distinctness > COMMON else None

    def _older(
        self, agent: str | None, before: int, sought: Sought, *, near: bool = False
    ) -> Found | None:
        inputs: Found | None = None
        for event in self.sources.seen_by(agent, before=before):
            found = self._telling(event, sought, near=near)
            if found is None:
                continue
            if not is_input(event):
                return found
            inputs = inputs or found
        return inputs

    def holder_of_parts(self, agent: str | None, before: int, sought: Sought) -> Event | None:
        """Give the nearest event of which a telling value stands inside a longer text."""
        if sought.distinctness < RARE or not sought.words:
            return None
        for event in islice(self.sources.seen_by(agent, before=before), MOST_FOR_PARTS):
            for leaf in self.sources.content(event).leaves:
                inside = 0 < len(leaf.words) < len(sought.words) and leaf.words in sought.words
                if inside and distinctness(leaf.value) == RARE:
                    return event
        return None

    # ------------------------------------------------------------ followed back

    def _trail(
        self, agent: str | None, found: Found, sought: Sought, rivals: list[Found] | None = None
    ) -> Trail:
        trail = Trail()
        here: tuple[str | None, Found] | None = (agent, found)
        while here is not None and len(trail.steps) < MOST_STEPS:
            agent, found = here
            if found.event.kind == "snapshot":
                here = self._through_state(agent, found, sought, trail)
                continue
            trail.steps.append(_step(found))
            trail.doubts += _doubts(sought, found.match)
            here = self._before(agent, found, sought, trail)
        _doubt_rivals(trail, rivals or [], sought)
        return trail

    def _through_state(
        self, agent: str | None, found: Found, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        """Go to the first snapshot that shows a value, and on to what gave it."""
        taken = self.sources.snapshots[agent]
        last = next(at for at, one in enumerate(taken) if one.seq == found.event.seq)
        first = since(taken[: last + 1], Path.of(found.match.where))
        event = self.sources.by_seq[taken[first.number].seq]
        match = found.match._replace(where=first.steps)
        trail.steps.append(_step(Found(event, match)))
        after = taken[first.number - 1].seq if first.number else 0
        near = self._near(agent, after, event.seq, sought)
        if near:
            return agent, near[0]
        copied = None
        if first.number:
            copied = self._in_state(agent, first.number - 1, sought, but=first.steps)
        back = copied or self._older(agent, after, sought)
        if back is not None and copied is None:
            trail.doubts.append((LIKELY, "it was seen before the state that lacks the value"))
        return None if back is None else (agent, back)

    def _before(
        self, agent: str | None, found: Found, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        """Find where an event took the value from; None if it is the first that has it."""
        event = found.event
        if event.kind == "model_call":
            return self._before_model(agent, event, sought, trail)
        if event.kind == "tool_call":
            return self._before_tool(agent, event, sought)
        if event.kind == "handoff":
            return self._seen(event.agent, event.seq, sought)
        if event.agent is None or event.kind in ("run", "memory"):
            return None
        back = self._seen(agent, event.seq, sought)
        if back is not None:
            trail.doubts.append((LIKELY, f"a {event.kind} repeats what was seen before"))
        return back

    def _before_model(
        self, agent: str | None, event: Event, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        if event.phase == OPEN:
            return self._seen(agent, event.seq, sought)
        opening = self.sources.opening_of(event)
        if opening is not None and self.sources.has_inputs(opening):
            given = self.sources.find_in_inputs(opening, sought)
            if given is None or not is_telling(sought, given.match, near=True):
                return None
            return self._seen(agent, opening.seq, sought) or (agent, given)
        back = self._seen(agent, (opening or event).seq, sought)
        if back is not None:
            trail.doubts.append((LIKELY, "what the model was given was not recorded whole"))
        return back

    def _before_tool(
        self, agent: str | None, event: Event, sought: Sought
    ) -> tuple[str | None, Found] | None:
        if event.phase == OPEN:
            return self._seen(agent, event.seq, sought)
        opening = self.sources.opening_of(event)
        if opening is None:
            return None
        asked = self.sources.find(opening, sought)
        if asked is None or not is_telling(sought, asked.match, near=True):
            return None
        return agent, asked

    def _seen(
        self, agent: str | None, before: int, sought: Sought
    ) -> tuple[str | None, Found] | None:
        """Find the nearest appearance before an event, in what an agent saw and in its state."""
        number = self.sources.last_snapshot(agent, before)
        after = self.sources.snapshots[agent][number].seq if number is not None else 0
        near = self._near(agent, after, before, sought)
        if near and not is_input(near[0].event):
            return agent, near[0]
        if number is not None:
            copied = self._in_state(agent, number, sought)
            if copied is not None:
                return agent, copied
        older = self._older(agent, after, sought, near=True) if number is not None else None
        if older is not None and not (near and is_input(older.event)):
            return agent, older
        return (agent, near[0]) if near else None


def is_input(event: Event) -> bool:
    """Tell whether an event is what a model was given: it repeats what was seen before."""
    return event.kind == "model_call" and event.phase == OPEN


def _step(found: Found) -> Step:
    return Step(found.event, found.match.how, Path.of(found.match.where))


def _doubts(sought: Sought, match: Match) -> list[tuple[str, str]]:
    if sought.distinctness == COMMON:
        return [(LIKELY, "such a value is found in many places")]
    if match.loss == ROUNDED:
        return [(LIKELY if match.is_named else GUESS, "it is rounded")]
    if sought.distinctness == ORDINARY and not (match.is_named and match.loss < PART):
        return [(LIKELY, "such a value may be found in other places, too")]
    return []


def _doubt_rivals(trail: Trail, rivals: list[Found], sought: Sought) -> None:
    """Lower the certainty if another event, not on the way, could have given the value as well."""
    on_the_way = {step.event.seq for step in trail.steps}
    on_the_way |= {step.event.span for step in trail.steps if step.event.span is not None}
    for rival in rivals:
        event = rival.event
        if is_input(event) or event.seq in on_the_way or event.span in on_the_way:
            continue
        if tier(sought, rival.match) < 2:  # noqa: PLR2004 - a rounded number is no rival
            trail.doubts.append((LIKELY, f"{named(event)} holds it as well"))
            return


def named(event: Event) -> str:
    """Name an event in a sentence: `the output of tool call 'search' (event 5)`."""
    kind = event.kind.replace("_", " ")
    if event.kind in ("model_call", "tool_call"):
        part = "what was given to" if is_input(event) else "the arguments of"
        part = part if event.phase == OPEN else "the output of"
        return f"{part} {kind} {event.name!r} (event {event.seq})"
    if event.kind == "handoff":
        return f"the handoff from {event.agent!r} to {event.name!r} (event {event.seq})"
    if event.kind == "snapshot":
        return f"the state of {event.agent!r} at {event.name!r} (event {event.seq})"
    return f"the {kind} {event.name[:30]!r} (event {event.seq})"
