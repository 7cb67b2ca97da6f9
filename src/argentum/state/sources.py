"""
What each agent of a run could see, and where in it a value stands.

An agent sees what its own model and tool calls took and gave, handoffs to it, its own notes and
those of the run, and its own state. Bodies are read when they are first looked into, the newest
first, and each once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from argentum.events import CLOSE, OPEN, Event
from argentum.matching import COMMON, RARE, Content, Leaf, Match, Sought, leaves, name_in
from argentum.matching.contents import LESS, PART, ROUNDED, SAME, SAME_VALUE, WRITTEN
from argentum.matching.texts import name_of
from argentum.state.snapshots import Snapshot
from argentum.tree import Path, diff
from argentum.tree.changes import ADDED, CHANGED
from argentum.tree.encoding import pack, unpack
from argentum.tree.nodes import Branch, Page, fill_all, pages_of
from argentum.tree.paths import Key, Step

_UNSEEN = ("agent", "alert", "snapshot")
_NAMES_FOR_ANYTHING = frozenset(
    {"answer", "content", "data", "item", "items", "message", "output", "result", "results"}
    | {"text", "value", "values"}
)
_OF_THE_RECORDER = {
    "run": ("python", "folder", "status"),
    "model_call": ("elapsed_ms",),
    "tool_call": ("elapsed_ms", "tool_call_id"),
    "handoff": ("from_agent", "to_agent"),
    "error": ("traceback",),
}
"""What a body holds that no agent takes a value from."""

Steps = tuple[Step, ...]


class Found(NamedTuple):
    """An event that holds the value."""

    event: Event
    match: Match


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
        self._seen: dict[str | None, tuple[list[Event], list[int]]] = {}
        self._contents: dict[int, Content] = {}
        self._whole: dict[int, Content] = {}
        self._pages: dict[int, tuple[Page, bytes]] = {}
        for event in events:
            self._sort(event)

    def _sort(self, event: Event) -> None:
        if event.kind == "snapshot":
            self.by_seq[event.seq] = event
            taken = Snapshot(event.name, event.body, event.at_ns, event.seq, event.agent)
            self.snapshots.setdefault(event.agent, []).append(taken)
            return
        if event.phase == OPEN:
            self.openings[event.seq] = event
        elif event.phase == CLOSE and event.span is not None:
            self.closings[event.span] = event
        if event.kind not in _UNSEEN and (event.kind, event.phase) != ("run", CLOSE):
            reader = event.name if event.kind == "handoff" else event.agent
            self._own.setdefault(reader, []).append(event)

    # ------------------------------------------------------------ who saw what

    def seen_by(self, agent: str | None, *, after: int = 0, before: int) -> Iterator[Event]:
        """Give what an agent could see in a stretch of the run, the newest first."""
        events, numbers = self._all_seen_by(agent)
        first, end = bisect_right(numbers, after), bisect_left(numbers, before)
        for at in range(end - 1, first - 1, -1):
            yield events[at]

    def _all_seen_by(self, agent: str | None) -> tuple[list[Event], list[int]]:
        known = self._seen.get(agent)
        if known is None:
            events = list(self._own.get(agent, ()))
            if agent is not None:
                events += self._own.get(None, ())
                events.sort(key=lambda event: event.seq)
            known = self._seen[agent] = (events, [event.seq for event in events])
        return known

    def last_snapshot(self, agent: str | None, before: int) -> int | None:
        """Give the place of an agent's last snapshot before an event; None if there is none."""
        taken = self.snapshots.get(agent, [])
        place = bisect_left(taken, before, key=lambda snapshot: snapshot.seq) - 1
        return place if place >= 0 else None

    def opening_of(self, event: Event) -> Event | None:
        """Give the event that opened the span that this one closes."""
        return None if event.span is None else self.openings.get(event.span)

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

    # ------------------------------------------------------------ states

    def find_in_state(
        self, snapshot: Snapshot, sought: Sought, *, but: Steps | None = None
    ) -> Found | None:
        """
        Find a value in a state by its exact encoding, which is quick however large the state is.

        Args:
            but: a path whose own value does not count.
        """
        event = self.by_seq[snapshot.seq]
        needle = _Needle(sought)
        best: Match | None = None
        for steps, entry in self._entries_with(snapshot, needle):
            for match in _matches_in(steps, entry, sought):
                mine = but is not None and match.where[: len(but)] == but
                if not mine and (best is None or match.rank < best.rank):
                    best = match
        return None if best is None else Found(event, best)

    def _entries_with(self, snapshot: Snapshot, needle: _Needle) -> Iterator[tuple[Steps, bytes]]:
        root = snapshot.tree.root
        if type(root) is bytes:
            yield (), root
            return
        stack: list[tuple[Steps, Branch]] = [((), root)]  # type: ignore[list-item] # not bytes
        while stack:
            steps, branch = stack.pop()
            pages = pages_of(branch)
            fill_all(pages)
            place = 0
            for page in pages:
                if page.branches or needle.may_be_in(page, self._joined(page)):
                    for at, entry in enumerate(page.entries):
                        key = None if page.keys is None else page.keys[at]
                        if type(entry) is Branch or needle.is_in(key, entry):  # type: ignore[arg-type]
                            here = (*steps, place + at if key is None else _step_of(key))
                            if type(entry) is bytes:
                                yield here, entry
                            else:
                                stack.append((here, entry))  # type: ignore[arg-type]
                place += page.count

    def _joined(self, page: Page) -> bytes:
        """Give the small entries of a page in one: states share pages, so it is seldom made."""
        known = self._pages.get(id(page))
        if known is None:
            joined = b"".join(entry for entry in page.entries if type(entry) is bytes)
            known = self._pages[id(page)] = (page, joined)
        return known[1]


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


# ---------------------------------------------------------------- entries


class _Needle:
    """
    How a value is encoded in a state.

    A rare value is looked for anywhere. Any other one counts under its name alone, and would be
    found in most entries, so its key has to stand before it.
    """

    def __init__(self, sought: Sought) -> None:
        self.whole = _encodings(sought)
        self.key = None if sought.distinctness == RARE else pack(sought.key)
        self.parts = self.whole if self.key is None else [self.key + one for one in self.whole]

    def may_be_in(self, page: Page, joined: bytes) -> bool:
        """Tell quickly whether any entry of a page may hold it."""
        if self.key is not None and page.keys is not None and self.key in page.keys:
            return True
        return any(part in joined for part in self.parts)

    def is_in(self, key: bytes | None, entry: bytes) -> bool:
        """Tell whether an entry holds the encoding, or is it under the right key."""
        if key is not None and key == self.key:
            return entry in self.whole
        return any(part in entry for part in self.parts)


def _step_of(key: bytes) -> Step:
    value = unpack(key, live=False)
    return value if type(value) is str else Key(value)


def _encodings(sought: Sought) -> list[bytes]:
    value = sought.value
    others = [value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        others.append(float(value))
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        others.append(int(value))
    return [pack(other) for other in others]


def _matches_in(steps: Steps, entry: bytes, sought: Sought) -> Iterator[Match]:
    for leaf in leaves(unpack(entry, live=False), steps):
        if _is_equal(leaf.value, sought.value):
            yield Match(SAME_VALUE, SAME, leaf.name == sought.name, leaf.steps)


def _is_equal(value: Any, other: Any) -> bool:
    if type(value) in (int, float) and type(other) in (int, float):
        return bool(value == other)
    return type(value) is type(other) and pack(value) == pack(other)


# ---------------------------------------------------------------- what counts


def is_telling(sought: Sought, match: Match, *, near: bool) -> bool:
    """
    Tell whether a match is more than chance.

    Args:
        near: whether the event lies between the two states that differ.
    """
    if match.loss == LESS:
        return False  # nobody gets digits that were not there
    if sought.distinctness == COMMON:
        return match.is_named and match.loss <= (PART if near else WRITTEN)
    if match.loss == ROUNDED:
        return match.is_named
    if sought.distinctness == RARE or near or match.is_named or sought.dates:
        return True
    return match.loss <= WRITTEN and name_of(name_in(match.where)) in _NAMES_FOR_ANYTHING


def tier(sought: Sought, match: Match) -> int:
    """Order matches in one stretch of a run before their nearness counts; 0 is best."""
    if match.loss == ROUNDED:
        return 2
    return int(sought.distinctness < RARE and not match.is_named)


def where_of(match: Match) -> Path:
    """Give the place of a match as a path."""
    return Path.of(match.where)
