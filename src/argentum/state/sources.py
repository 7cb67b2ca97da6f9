"""
What each agent of a run could see, and where in it a value stands.

An agent sees what its own model and tool calls took and gave, handoffs to it, its own notes and
those of the run, and its own state. Bodies are read when they are first looked into, the newest
first, and each once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from argentum.events import CLOSE, OPEN, POINT, Event
from argentum.matching import COMMON, RARE, Content, Leaf, Match, Sought, leaves
from argentum.matching.index import Index
from argentum.state.encoded import EncodedSearch
from argentum.state.lifetimes import Steps, since
from argentum.state.snapshots import Snapshot
from argentum.tree import Path, diff
from argentum.tree.changes import ADDED, CHANGED
from argentum.tree.encoding import pack, unpack

UNSEEN = ("agent", "alert", "snapshot")
_OF_THE_RECORDER = {
    "run": ("python", "folder", "status"),
    "model_call": ("elapsed_ms",),
    "tool_call": ("elapsed_ms", "tool_call_id"),
    "handoff": ("from_agent", "to_agent"),
    "error": ("traceback",),
}
"""What a body holds that no agent takes a value from."""
SHORT = 32
"""Events that are looked through one by one rather than by an index."""


class Found(NamedTuple):
    """An event that holds the value."""

    event: Event
    match: Match


seq_of = attrgetter("seq")


class Sources:
    """The events of a run by who could see them."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.openings: dict[int, Event] = {}
        """Of spans, by their `seq`."""
        self.closings: dict[int, Event] = {}
        """Of spans, by the `seq` of the opening."""
        self.by_seq: dict[int, Event] = {}
        """Snapshots by their `seq`."""
        self.snapshots: dict[str | None, list[Snapshot]] = {}
        self._own: dict[str | None, list[Event]] = {}
        self._seen: dict[str | None, list[Event]] = {}
        self._calls: dict[str | None, list[Event]] = {}
        self._contents: dict[int, Content] = {}
        self._whole: dict[int, Content] = {}
        self._inner: dict[int, list[Event]] = {}
        self._looked_through: dict[str | None, int] = {}
        self._indexes: dict[str | None, Index] = {}
        self._search = EncodedSearch()
        for event in events:
            self._sort(event)

    def _sort(self, event: Event) -> None:
        if event.parent is not None:
            self._inner.setdefault(event.parent, []).append(event)
        if event.kind == "snapshot":
            self.by_seq[event.seq] = event
            taken = Snapshot(event.name, event.body, event.at_ns, event.seq, event.agent)
            self.snapshots.setdefault(event.agent, []).append(taken)
            return
        if event.phase == OPEN:
            self.openings[event.seq] = event
        elif event.phase == CLOSE and event.span is not None:
            self.closings[event.span] = event
        if event.kind == "tool_call" and event.phase in (CLOSE, POINT):
            self._calls.setdefault(event.agent, []).append(event)
        if event.kind not in UNSEEN and (event.kind, event.phase) != ("run", CLOSE):
            reader = event.name if event.kind == "handoff" else event.agent
            self._own.setdefault(reader, []).append(event)

    # ------------------------------------------------------------ who saw what

    def seen_by(self, agent: str | None, *, after: int = 0, before: int) -> Iterator[Event]:
        """Give what an agent could see in a stretch of the run, the newest first."""
        events, first, end = self._stretch(agent, after, before)
        for at in range(end - 1, first - 1, -1):
            yield events[at]

    def count(self, agent: str | None, *, after: int, before: int) -> int:
        """Count what an agent could see in a stretch of the run."""
        _, first, end = self._stretch(agent, after, before)
        return end - first

    def calls_of(self, agent: str | None, *, after: int, before: int) -> list[Event]:
        """Give the ends of an agent's own tool calls in a stretch of the run."""
        calls = self._calls.get(agent, [])
        first = bisect_right(calls, after, key=seq_of)
        return calls[first : bisect_left(calls, before, key=seq_of)]

    def calls_of_others(self, agent: str | None, *, after: int, before: int) -> list[Event]:
        """Give what other agents' tool calls took and gave in a stretch of the run."""
        return [
            event
            for other, events in self._own.items() if other not in (agent, None)
            for event in events[
                bisect_right(events, after, key=seq_of) : bisect_left(events, before, key=seq_of)
            ]
            if event.kind == "tool_call"
        ]  # fmt: skip

    def holders(
        self, agent: str | None, sought: Sought, *, after: int, before: int
    ) -> Iterator[Found]:
        """Give what an agent could see in a stretch and holds a value itself, whatever its name."""
        stretch = self.may_hold(agent, sought, after=after, before=before, unnamed=True)
        for event in stretch:
            match = self.content(event).find_same(sought)
            if match is not None:
                yield Found(event, match)

    def may_hold(
        self,
        agent: str | None,
        sought: Sought,
        *,
        after: int = 0,
        before: int,
        unnamed: bool = False,
    ) -> Iterator[Event]:
        """
        Give what an agent could see in a stretch and may hold a value, the newest first.

        Few values are looked for event by event, the newest first, so that no more are read than
        have to be. When as many were looked through as there are, an index is made.
        """
        events, first, end = self._stretch(agent, after, before)
        looked = self._looked_through.get(agent, 0)
        if end - first > SHORT and looked > len(events):
            places = self._index(agent).places(sought, unnamed=unnamed)
            for at in range(bisect_left(places, end) - 1, bisect_left(places, first) - 1, -1):
                yield events[places[at]]
            return
        for at in range(end - 1, first - 1, -1):
            self._looked_through[agent] = looked = looked + 1
            yield events[at]

    def _index(self, agent: str | None) -> Index:
        index = self._indexes.get(agent)
        if index is None:
            contents = map(self.content, self._all_seen_by(agent))
            index = self._indexes[agent] = Index(contents)
        return index

    def _stretch(self, agent: str | None, after: int, before: int) -> tuple[list[Event], int, int]:
        """Give all that an agent could see, and where in it a stretch begins and ends."""
        events = self._all_seen_by(agent)
        first = bisect_right(events, after, key=seq_of)
        return events, first, bisect_left(events, before, key=seq_of)

    def _all_seen_by(self, agent: str | None) -> list[Event]:
        known = self._seen.get(agent)
        if known is None:
            of_the_run = self._own.get(None, []) if agent is not None else []
            known = sorted([*self._own.get(agent, []), *of_the_run], key=seq_of)
            self._seen[agent] = known
        return known

    def last_snapshot(self, agent: str | None, before: int) -> int | None:
        """Give the place of an agent's last snapshot before an event; None if there is none."""
        taken = self.snapshots.get(agent, [])
        place = bisect_left(taken, before, key=lambda snapshot: snapshot.seq) - 1
        return place if place >= 0 else None

    def opening_of(self, event: Event) -> Event | None:
        """Give the event that opened the span that this one closes."""
        return None if event.span is None else self.openings.get(event.span)

    def inside(self, opening: Event) -> list[Event]:
        """Give what happened inside a span and the spans in it, the newest first."""
        found: list[Event] = []
        stack = [opening.seq]
        while stack:
            span = stack.pop()
            events = [event for event in self._inner.get(span, ()) if event.seq > span]
            found += events
            stack += (event.seq for event in events if event.phase == OPEN)
        return sorted(found, key=seq_of, reverse=True)

    # ------------------------------------------------------------ what they hold

    def find(self, event: Event, sought: Sought) -> Found | None:
        """Find a value in what an event added to what was known."""
        match = self.content(event).find(sought)
        return None if match is None else Found(event, match)

    def find_in_inputs(self, opening: Event, sought: Sought) -> Found | None:
        """Find a value in all that a model was given, old and new."""
        match = self._inputs(opening).find(sought)
        return None if match is None else Found(opening, match)

    def has_inputs(self, opening: Event) -> bool:
        """Tell whether what a model was given was recorded, and whole."""
        body = opening.body.thaw(live=False)
        if not isinstance(body, dict) or not body.get("messages"):
            return False
        return not any(_is_shortened(leaf) for leaf in self._inputs(opening).leaves)

    def _inputs(self, opening: Event) -> Content:
        content = self._whole.get(opening.seq)
        if content is None:
            content = self._whole[opening.seq] = Content(_body_of(opening))
        return content

    def content(self, event: Event) -> Content:
        """Give what can be found in an event; of a model's inputs, what the last call had not."""
        content = self._contents.get(event.seq)
        if content is None:
            before = self._inputs_before(event)
            if before is None:
                content = Content(_body_of(event))
            else:
                content = Content.of(_what_is_new(before, event))
            self._contents[event.seq] = content
        return content

    def _inputs_before(self, event: Event) -> Event | None:
        if event.kind != "model_call" or event.phase != OPEN:
            return None
        earlier = self.seen_by(event.agent, before=event.seq)
        return next(
            (one for one in earlier
             if one.kind == "model_call" and one.phase == OPEN and one.agent == event.agent), None
        )  # fmt: skip

    def find_copy(
        self, agent: str | None, number: int, sought: Sought, *, but: Steps | None = None
    ) -> Found | None:
        """
        Find a telling copy of a value in a state; give the first snapshot that shows it there.

        Args:
            number: the state's place among the agent's.
            but: a path whose own value does not count; others need to be more than common then.
        """
        if but is not None and sought.distinctness == COMMON:
            return None
        taken = self.snapshots[agent]
        match = self._search.find(taken[number].tree, sought, but=but)
        if match is None or not (sought.distinctness == RARE or match.is_named):
            return None
        first = since(taken[: number + 1], Path.of(match.where))
        event = self.by_seq[taken[first.number].seq]
        return Found(event, match._replace(where=first.steps))


def _body_of(event: Event) -> Any:
    body = event.body.thaw(live=False)
    if not isinstance(body, dict):
        return body
    unseen = _OF_THE_RECORDER.get(event.kind, ())
    return {name: part for name, part in body.items() if name not in unseen}


def _what_is_new(before: Event, event: Event) -> list[Leaf]:
    changes = diff(before.body, event.body)
    return [
        leaf
        for change in changes
        if change.kind in (ADDED, CHANGED)
        for leaf in leaves(_plain(change.after), change.path.parts)
    ]


def _plain(value: Any) -> Any:
    return unpack(pack(value), live=False)


def _is_shortened(leaf: Leaf) -> bool:
    return isinstance(leaf.value, str) and leaf.value.rstrip().endswith(("…", "...", "[truncated]"))
