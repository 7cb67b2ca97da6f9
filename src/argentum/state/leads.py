"""Who else had a container in hand while something in it changed and no event said so."""

from __future__ import annotations

from argentum.errors import shown
from argentum.events import CLOSE, Event
from argentum.matching import Sought
from argentum.matching.leaves import parts_of
from argentum.matching.sought import CONTAINERS
from argentum.state.lifetimes import Steps
from argentum.state.origins import Tracer
from argentum.tree import Path
from argentum.tree.following import Follower

MOST_CALLS = 200
"""Calls of other agents that are looked into, the last ones."""
MOST_LEADS = 3
_NOW, _BEFORE = "as it is now", "as it was before"


def leads_of(tracer: Tracer, agent: str | None, number: int, steps: Steps) -> list[str]:
    """
    Tell of other agents' calls between two states that took or gave what changed.

    Agents of one program may hold the same list: what one of them does to it, all have. So a call
    that was given a container as it was before, or that holds it as it is now, is a lead.

    Args:
        number: the place of the later state among the agent's.
        steps: what changed in it; a container around it is looked for.
    """
    taken = tracer.sources.snapshots[agent]
    after, before = taken[number - 1].seq if number else 0, taken[number].seq
    calls = tracer.sources.calls_of_others(agent, after=after, before=before)[-MOST_CALLS:]
    if not calls:
        return []
    for depth in range(len(steps), 0, -1):
        found = _holders_of(tracer, agent, number, steps[:depth], calls)
        if found:
            return found[:MOST_LEADS]
    return []


def _holders_of(
    tracer: Tracer, agent: str | None, number: int, steps: Steps, calls: list[Event]
) -> list[str]:
    taken = tracer.sources.snapshots[agent]
    follower = Follower(Path.of(steps))
    found: dict[int, str] = {}
    for form, state in ((_NOW, taken[number]), (_BEFORE, taken[number - 1])):
        tree = follower.at(state.tree)
        value = None if tree is None else tree.thaw(live=False)
        if not isinstance(value, CONTAINERS) or not parts_of(value):
            continue
        sought = Sought(value)
        for event in calls:
            if tracer.sources.find(event, sought) is not None:
                said = f"{_called(tracer, event)} {Path.of(steps)} {form}"
                found.setdefault(event.span or event.seq, said)
    return list(found.values())


def _called(tracer: Tracer, event: Event) -> str:
    """Say whose call it is, and whether it took or gave something."""
    verb = "was given" if event.phase != CLOSE else "gave"
    call = tracer.sources.opening_of(event) or event
    return f"Agent {shown(call.agent)} called {shown(call.name)} at {call.seq}, which {verb}"
