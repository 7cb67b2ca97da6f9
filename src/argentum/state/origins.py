"""Where a value came from: from the event that gave it to an agent back to its first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from argentum.events import OPEN, Event
from argentum.matching import COMMON, RARE, Sought, is_everywhere
from argentum.state.lifetimes import Steps
from argentum.state.sources import UNSEEN, Found, Sources
from argentum.state.weighing import (
    GUESS,
    LIKELY,
    WORST,
    doubt_of_place,
    doubts_of,
    is_telling,
    least_sure,
    tells_by_place,
    tier,
)
from argentum.tree import Path

MOST_STEPS = 200
MOST_HOLDERS = 20
"""Events that hold a common value themselves, of which two are enough to tell nothing."""
_SEEN_BEFORE = "it was seen before the state that lacks the value"


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
    rivals: list[Found] = field(default_factory=list)
    """What may have given the value as well."""
    is_older: bool = False
    """Whether the value was seen before the snapshot that lacks it, and not since."""

    is_by_place: bool = False
    """Whether only its place between the two states ties a common value to the event."""

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


class Traced(NamedTuple):
    """What was found of a value."""

    trail: Trail | None
    """Its way; None if nothing that was recorded explains it."""
    by_chance: Found | None = None
    """What holds it then, but says too little."""


class Tracer:
    """Finds who gave an agent a value, and follows it back."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    # ------------------------------------------------------------ who gave it

    def trail_of(self, agent: str | None, number: int, steps: Steps, sought: Sought) -> Traced:
        """
        Explain a value that a snapshot is the first to show, if anything recorded does.

        Args:
            number: the snapshot's place among the agent's.
            steps: where the value stands in it.
        """
        taken = self.sources.snapshots[agent]
        after = taken[number - 1].seq if number else 0
        aside: list[Found] = []
        near = self._near(agent, after, taken[number].seq, sought, aside)
        if near:
            first = self._behind_inputs(agent, near[0], sought)
            return Traced(self.follow(agent, first, sought, near[1:]))
        beside = (
            self._beside(agent, number, sought, aside) if sought.distinctness == COMMON else None
        )
        if beside is not None and not is_everywhere(sought.value):
            return Traced(beside, aside[0])
        held = self._held(agent, number - 1, sought, but=steps)
        if held:
            return Traced(self.follow(agent, held[0], sought, held[1:]))
        older = self._older(agent, after, sought, aside=aside)
        if older is None:  # the name says more than the place where a value is everywhere
            return Traced(beside, aside[0] if aside else None)
        trail = self.follow(agent, older, sought)
        trail.is_older = True
        named = older.match.is_named and sought.distinctness > COMMON
        surely = sought.distinctness == RARE or named
        trail.doubts.append((LIKELY if surely else GUESS, _SEEN_BEFORE))
        return Traced(trail)

    def _near(
        self,
        agent: str | None,
        after: int,
        before: int,
        sought: Sought,
        aside: list[Found] | None = None,
    ) -> list[Found]:
        """
        Give what holds a value in a stretch of the run, the best first; inputs are the last.

        Args:
            aside: takes what holds it and says too little.
        """
        found = [
            one
            for event in self.sources.may_hold(agent, sought, after=after, before=before)
            if (one := self._telling(event, sought, near=True, aside=aside)) is not None
        ]
        return sorted(found, key=lambda one: (tier(sought, one.match), is_input(one.event)))

    def _beside(
        self, agent: str | None, number: int, sought: Sought, aside: list[Found]
    ) -> Trail | None:
        """
        Explain a common value by the only thing between two states that holds it.

        That has to be the output of a call of the agent itself, and hold the value as it is.
        """
        taken = self.sources.snapshots[agent]
        after = taken[number - 1].seq if number else 0
        stretch = self.sources.holders(agent, sought, after=after, before=taken[number].seq)
        holders = list(islice(stretch, MOST_HOLDERS))
        aside[:0] = holders[:1]
        shown = [one for one in holders if not is_input(one.event)]
        if not number or len({_span_of(one.event) for one in shown}) != 1:
            return None
        found, content = shown[0], self.sources.content(shown[0].event)
        is_own = found.event.agent == agent and found.event.kind in ("tool_call", "model_call")
        if not is_own or not tells_by_place(sought, found.match, content):
            return None
        trail = self.follow(agent, found, sought)
        trail.is_by_place = True
        trail.doubts = [doubt_of_place(sought, content)]
        return trail

    def _telling(
        self, event: Event, sought: Sought, *, near: bool, aside: list[Found] | None = None
    ) -> Found | None:
        found = self.sources.find(event, sought)
        if found is None or is_telling(sought, found.match, near=near):
            return found
        if aside is not None and not aside:
            aside.append(found)
        return None

    def _behind_inputs(self, agent: str | None, found: Found, sought: Sought) -> Found:
        """Give what a model's inputs repeat, if that was recorded; else the inputs."""
        if not is_input(found.event):
            return found
        back = self._seen(agent, found.event.seq, sought)
        return found if back is None else back[1]

    def _held(
        self, agent: str | None, number: int, sought: Sought, *, but: Steps | None = None
    ) -> list[Found]:
        """
        Give what an agent had a value from that its state holds somewhere, the best first.

        An event that showed the value after the state had it is nearer than the copy: a database
        holds nearly everything somewhere, and the agent goes by what it was shown.
        """
        if number < 0:
            return []
        copy = self.sources.find_copy(agent, number, sought, but=but)
        if copy is None:
            return []
        before = self.sources.snapshots[agent][number].seq
        stretch = self.sources.may_hold(agent, sought, after=copy.event.seq, before=before)
        for event in stretch:
            shown = None if event.phase == OPEN else self._telling(event, sought, near=True)
            if shown is not None and not tier(sought, shown.match):
                return [shown, copy]
        return [copy]

    def _older(
        self,
        agent: str | None,
        before: int,
        sought: Sought,
        *,
        near: bool = False,
        aside: list[Found] | None = None,
    ) -> Found | None:
        inputs: Found | None = None
        for event in self.sources.may_hold(agent, sought, before=before):
            found = self._telling(event, sought, near=near, aside=aside)
            if found is None:
                continue
            if not is_input(event):
                return found
            inputs = inputs or found
        return inputs

    # ------------------------------------------------------------ followed back

    def follow(
        self, agent: str | None, found: Found, sought: Sought, rivals: Sequence[Found] = ()
    ) -> Trail:
        """
        Follow a value back from an event that an agent saw.

        Args:
            rivals: other events that may have given it the value.
        """
        trail = Trail()
        trail.rivals += rivals
        here: tuple[str | None, Found] | None = (agent, found)
        while here is not None and len(trail.steps) < MOST_STEPS:
            agent, found = here
            trail.steps.append(_step(found))
            if found.event.kind == "snapshot":
                here = self._before_state(agent, found, sought, trail)
            else:
                trail.doubts += doubts_of(sought, found.match)
                here = self._before(agent, found.event, sought, trail)
        _doubt_rivals(trail, sought)
        return trail

    def _before_state(
        self, agent: str | None, found: Found, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        """Find what gave a value to the first state that shows it."""
        number = self.sources.last_snapshot(agent, found.event.seq)
        after = 0 if number is None else self.sources.snapshots[agent][number].seq
        near = self._near(agent, after, found.event.seq, sought)
        if near:
            return agent, near[0]
        if number is not None:
            held = self._held(agent, number, sought, but=found.match.where)
            if held:
                trail.rivals += held[1:]
                return agent, held[0]
        older = self._older(agent, after, sought)
        if older is None:
            return None
        trail.doubts.append((LIKELY, _SEEN_BEFORE))
        return agent, older

    def _before(
        self, agent: str | None, event: Event, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        """Find where an event took the value from; None if it is the first that has it."""
        if event.kind == "model_call":
            return self._before_model(agent, event, sought, trail)
        if event.kind == "tool_call":
            return self._before_tool(agent, event, sought, trail)
        if event.kind == "handoff":
            return self._seen(event.agent, event.seq, sought, trail)
        if event.agent is None or event.kind in ("run", "memory"):
            return None
        back = self._seen(agent, event.seq, sought, trail)
        if back is not None:
            trail.doubts.append((LIKELY, f"a {event.kind} repeats what was seen before"))
        return back

    def _before_model(
        self, agent: str | None, event: Event, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        if event.phase == OPEN:
            return self._seen(agent, event.seq, sought, trail)
        opening = self.sources.opening_of(event)
        if opening is not None and self.sources.has_inputs(opening):
            given = self.sources.find_in_inputs(opening, sought)
            if given is None or not is_telling(sought, given.match, near=True):
                return self._inside(opening, sought)
            return self._seen(agent, opening.seq, sought, trail) or (agent, given)
        back = self._seen(agent, (opening or event).seq, sought, trail)
        if back is not None:
            trail.doubts.append((LIKELY, "what the model was given was not recorded whole"))
        return back

    def _before_tool(
        self, agent: str | None, event: Event, sought: Sought, trail: Trail
    ) -> tuple[str | None, Found] | None:
        if event.phase == OPEN:
            return self._seen(agent, event.seq, sought, trail)
        opening = self.sources.opening_of(event)
        if opening is None:
            return None
        asked = self.sources.find(opening, sought)
        if asked is None or not is_telling(sought, asked.match, near=True):
            return self._inside(opening, sought)
        return agent, asked

    def _inside(self, opening: Event, sought: Sought) -> tuple[str | None, Found] | None:
        """Find what gave a span its result: another agent's event, if an agent was the tool."""
        inner = self.sources.inside(opening)
        for event in inner:
            shown = event.phase != OPEN and event.kind not in UNSEEN
            found = self._telling(event, sought, near=True) if shown else None
            if found is not None:
                return event.agent, found
        for agent in dict.fromkeys(event.agent for event in inner if event.kind == "snapshot"):
            number = self.sources.last_snapshot(agent, inner[0].seq + 1)
            held = [] if number is None else self._held(agent, number, sought)
            if held:
                return agent, held[0]
        return None

    def _seen(
        self, agent: str | None, before: int, sought: Sought, trail: Trail | None = None
    ) -> tuple[str | None, Found] | None:
        """Find the nearest appearance before an event, in what an agent saw and in its state."""
        number = self.sources.last_snapshot(agent, before)
        after = self.sources.snapshots[agent][number].seq if number is not None else 0
        near = self._near(agent, after, before, sought)
        if near and not is_input(near[0].event):
            return agent, near[0]
        if number is not None:
            held = self._held(agent, number, sought)
            if held:
                if trail is not None:
                    trail.rivals += held[1:]
                return agent, held[0]
            older = self._older(agent, after, sought, near=True)
            if older is not None and not (near and is_input(older.event)):
                return agent, older
        return (agent, near[0]) if near else None


def _span_of(event: Event) -> int:
    return event.seq if event.span is None or event.phase == OPEN else event.span


def is_input(event: Event) -> bool:
    """Tell whether an event is what a model was given: it repeats what was seen before."""
    return event.kind == "model_call" and event.phase == OPEN


def _step(found: Found) -> Step:
    return Step(found.event, found.match.how, Path.of(found.match.where))


def _doubt_rivals(trail: Trail, sought: Sought) -> None:
    """Lower the certainty if another event, not on the way, could have given the value as well."""
    on_the_way = {step.event.seq for step in trail.steps}
    on_the_way |= {step.event.span for step in trail.steps if step.event.span is not None}
    for rival in trail.rivals:
        event = rival.event
        if is_input(event) or event.seq in on_the_way or event.span in on_the_way:
            continue
        if tier(sought, rival.match) < WORST:
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
