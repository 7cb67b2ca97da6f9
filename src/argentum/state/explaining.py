"""Whether what was recorded explains a value that a snapshot is the first to show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from argentum.errors import shown
from argentum.events import Event
from argentum.matching import COMMON, Sought, leaves, name_in
from argentum.matching.contents import WRITTEN
from argentum.matching.leaves import parts_of
from argentum.matching.sought import CONTAINERS
from argentum.state.history import Value
from argentum.state.leads import leads_of
from argentum.state.lifetimes import Steps
from argentum.state.origins import Step, Tracer, Trail, named
from argentum.state.pieces import Piece, pieces_of
from argentum.state.snapshots import Snapshot
from argentum.state.sources import Found
from argentum.state.weighing import LIKELY, SURE, least_sure
from argentum.tree import Path, Tree, diff, same
from argentum.tree.changes import ADDED, CHANGED
from argentum.tree.encoding import pack, unpack
from argentum.tree.following import Follower

RECORDED, INITIAL, UNRECORDED = "recorded", "initial", "unrecorded"
MOST_TARGETS = 40
"""Parts of a container that are looked for, those that say most first."""


class Explanation(NamedTuple):
    """What is known of how a value came to a path."""

    verdict: str
    steps: tuple[Step, ...]
    certainty: str
    why: str
    pieces: tuple[Piece, ...] = ()
    """Of a text that no event holds whole: those of its parts that events hold."""


class Place(NamedTuple):
    """A value, and the first snapshot that shows it."""

    agent: str | None
    number: int
    """The place of the snapshot among the agent's."""
    steps: Steps
    """Where the value stands in it."""
    value: Tree | None


class _Target(NamedTuple):
    sought: Sought
    steps: Steps
    is_rest: bool = False
    """Whether it is what is left of a container; only what was told just then explains that."""


def explain(tracer: Tracer, place: Place, earlier: Callable[[], Iterable[Value]]) -> Explanation:
    """
    Tell who gave a path its value.

    Args:
        earlier: gives the values that the path had before.
    """
    call = _call_around(tracer, place)
    targets = _targets(tracer, place)
    chance: Found | None = None
    trails: list[tuple[_Target, Trail | None]] = []
    for target in targets:
        trail, by_chance = tracer.trail_of(place.agent, place.number, target.steps, target.sought)
        if trail is not None and target.is_rest and (trail.is_older or trail.is_by_place):
            trail = None  # programs empty and shorten their lists all the time
        chance = chance or by_chance
        trails.append((target, trail))
    if call is not None:
        return _by_call(call, trails)
    missing = [target for target, trail in trails if trail is None]
    given = [trail for _, trail in trails if trail is not None]
    if not given or missing:
        return _unexplained(tracer, place, missing, chance, whole=not given)
    chosen = _chosen(given)
    if chosen.is_older and any(_is_value(place.value, one.tree) for one in earlier()):
        return _put_back(tracer, place)
    return _explained(chosen, given)


def _is_value(value: Tree | None, other: Tree | None) -> bool:
    return value is not None and other is not None and same(value, other)


# ---------------------------------------------------------------- what has to be explained


def _targets(tracer: Tracer, place: Place) -> list[_Target]:
    """Give what is new in a value, part by part; common parts only if there are no others."""
    if place.value is None:
        return []
    value = place.value.thaw(live=False)
    whole = _Target(Sought(value, name_in(place.steps)), place.steps)
    if not isinstance(value, CONTAINERS):
        return [whole]
    before = tracer.sources.snapshots[place.agent][place.number - 1] if place.number else None
    after = tracer.sources.snapshots[place.agent][place.number]
    new = _new_parts(before, after, place.steps, value) if parts_of(value) else []
    if not new:
        return [whole._replace(is_rest=True)]
    found = [_Target(Sought(leaf.value, name_in(leaf.steps)), leaf.steps) for leaf in new]
    telling = [target for target in found if target.sought.distinctness > COMMON]
    if len(found) > 1 and not telling and _is_explained(tracer, place, whole):
        return [whole]
    telling.sort(key=lambda target: -target.sought.distinctness)
    return (telling or found)[:MOST_TARGETS]


def _is_explained(tracer: Tracer, place: Place, target: _Target) -> bool:
    traced = tracer.trail_of(place.agent, place.number, target.steps, target.sought)
    return traced.trail is not None


def _new_parts(before: Snapshot | None, after: Snapshot, steps: Steps, value: Any) -> list[Any]:
    whole = list(leaves(value, steps, into_json=False))
    if before is None:
        return whole
    listed = next((at for at, step in enumerate(steps) if isinstance(step, int)), len(steps))
    follower = Follower(Path.of(steps[:listed]))
    old, new = follower.at(before.tree), follower.at(after.tree)
    if old is None or new is None:
        return whole
    parts = []
    for change in diff(old, new):
        here = (*steps[:listed], *change.path.parts)
        if steps[: len(here)] == here and change.kind in (ADDED, CHANGED):
            return whole
        if here[: len(steps)] == steps and change.kind in (ADDED, CHANGED):
            after_value = unpack(pack(change.after), live=False)
            parts += list(leaves(after_value, here, into_json=False))
    return parts


# ---------------------------------------------------------------- explained


def _chosen(trails: Sequence[Trail]) -> Trail:
    """Choose the way of most parts: by the event that gave them, then by their origin."""
    writers = Counter(trail.writer.seq for trail in trails)
    writer = max(writers, key=lambda seq: (writers[seq], seq))
    ways = [trail for trail in trails if trail.writer.seq == writer]
    origins = Counter(trail.origin.seq for trail in ways)
    origin = max(origins, key=lambda seq: (origins[seq], seq))
    return next(trail for trail in ways if trail.origin.seq == origin)


def _explained(chosen: Trail, trails: Sequence[Trail]) -> Explanation:
    doubts = [doubt for trail in trails for doubt in trail.doubts]
    if len({trail.writer.seq for trail in trails}) > 1:
        doubts.append((LIKELY, "its parts come from several events"))
    certainty = least_sure(most for most, _ in doubts)
    first = chosen.steps[0]
    said = f"{_capital(named(first.event))} holds it ({first.how})"
    if len(chosen.steps) > 1:
        last = chosen.steps[-1]
        said += f", and it goes back to {named(last.event)} ({last.how})"
    reasons = list(dict.fromkeys(reason for _, reason in doubts))
    said += f"; but {', and '.join(reasons)}" if reasons else ""
    return Explanation(RECORDED, tuple(chosen.steps), certainty, f"{said}.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---------------------------------------------------------------- the call around a snapshot


def _call_around(tracer: Tracer, place: Place) -> Event | None:
    """
    Give the tool call inside which a snapshot was taken, or at the very moment of whose end.

    Nothing else can have written then. A snapshot that merely comes next after a call does not
    count: the program, or what should not, may have written between them.
    """
    taken = tracer.sources.snapshots[place.agent]
    snapshot = taken[place.number]
    if place.number == 0:
        return None
    inside = _enclosing_call(tracer, tracer.sources.by_seq[snapshot.seq])
    if inside is not None:
        return tracer.sources.closings.get(inside.seq, inside)
    before = taken[place.number - 1]
    if before.at_ns == snapshot.at_ns:
        return None  # the times say nothing
    calls = [one for one in _calls_between(tracer, place) if one.at_ns == snapshot.at_ns]
    return calls[0] if len(calls) == 1 else None


def _enclosing_call(tracer: Tracer, event: Event) -> Event | None:
    parent = event.parent
    while parent is not None:
        opening = tracer.sources.openings.get(parent)
        if opening is None or (opening.kind == "tool_call" and opening.agent == event.agent):
            return opening
        parent = opening.parent if opening.parent is not None and opening.parent < parent else None
    return None


def _calls_between(tracer: Tracer, place: Place) -> list[Event]:
    """Give the ends of the agent's tool calls between a snapshot and the one before it."""
    taken = tracer.sources.snapshots[place.agent]
    after = taken[place.number - 1].seq if place.number else 0
    return tracer.sources.calls_of(place.agent, after=after, before=taken[place.number].seq)


def _by_call(call: Event, trails: Sequence[tuple[_Target, Trail | None]]) -> Explanation:
    of_call = {call.seq, call.span}
    given = [trail for _, trail in trails if trail is not None and trail.writer.seq in of_call]
    if given and len(given) == len(trails):
        return _explained(_chosen(given), given)
    step = Step(call, "the state was recorded as it ended", Path())
    why = f"The state was recorded in the very moment of {named(call)}"
    if given:
        return Explanation(
            RECORDED, tuple(_chosen(given).steps), LIKELY, f"{why}, which holds parts of it."
        )
    return Explanation(RECORDED, (step,), LIKELY, f"{why}, which does not hold the value itself.")


# ---------------------------------------------------------------- not explained


def _unexplained(
    tracer: Tracer,
    place: Place,
    missing: Sequence[_Target],
    chance: Found | None,
    *,
    whole: bool,
) -> Explanation:
    what = _what_is_missing(place, missing, whole=whole)
    seq = tracer.sources.snapshots[place.agent][place.number].seq
    pieces = pieces_of(tracer, place.agent, seq, missing[0].sought) if missing else []
    if pieces:
        holders = list(dict.fromkeys(named(piece.steps[0].event) for piece in pieces))
        what += f", though parts of it stand in {holders[0]}"
        what += f" and {len(holders) - 1} more" if len(holders) > 1 else ""
    certainty = SURE
    if chance is not None and missing:
        certainty = LIKELY
        what += f" in a way that says enough: {_too_common(missing, chance)}"
    if place.number == 0 and place.value is not None:
        why = f"{what}; it was there in the first snapshot."
        return Explanation(INITIAL, (), certainty, why, tuple(pieces))
    others = leads_of(tracer, place.agent, place.number, place.steps)
    certainty = LIKELY if others else certainty
    why = ". ".join([f"{what}; {_between(tracer, place)}", *others])
    return Explanation(UNRECORDED, (), certainty, f"{why}.", tuple(pieces))


def _too_common(missing: Sequence[_Target], chance: Found) -> str:
    holder = named(chance.event)
    part = next((one for one in missing if chance.match.loss <= WRITTEN), None)
    if part is None or part.sought.distinctness > COMMON:
        return f"{holder} may hold it by chance ({chance.match.how})"
    return f"{shown(part.sought.value)} is too common to trace, and {holder} holds it, too"


def _what_is_missing(place: Place, missing: Sequence[_Target], *, whole: bool) -> str:
    if place.value is None:
        return "The value went"
    holds = f"o recorded event that {shown(place.agent)} could see holds"
    if missing[0].is_rest and parts_of(missing[0].sought.value):
        return f"Something was removed from it, and n{holds} what is left"
    if whole:
        return f"N{holds} it"
    part = missing[0]
    return f"No recorded event holds its part {Path.of(part.steps)} = {shown(part.sought.value)}"


def _between(tracer: Tracer, place: Place) -> str:
    """Say what was recorded between two snapshots."""
    taken = tracer.sources.snapshots[place.agent]
    before, after = taken[place.number - 1], taken[place.number]
    span = f"between {shown(before.label)} ({before.seq}) and {shown(after.label)} ({after.seq})"
    calls = _calls_between(tracer, place)
    if len(calls) == 1:
        call = calls[0]
        owner = f"{place.agent[:30]}'s" if place.agent is not None else "the agent's"
        return f"{owner} only call {span} is tool call {call.name!r} (event {call.seq})"
    count = tracer.sources.count(place.agent, after=before.seq, before=after.seq)
    return f"{count} events were recorded {span}" if count else f"nothing was recorded {span}"


def _put_back(tracer: Tracer, place: Place) -> Explanation:
    why = f"The path had this value before, lost it and has it again; {_between(tracer, place)}."
    return Explanation(UNRECORDED, (), LIKELY, why)
