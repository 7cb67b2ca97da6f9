"""The history of one agent's states, and what changed between any two of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from argentum.clock import now_ns
from argentum.errors import InputError, hidden, not_found, shown
from argentum.events import Event
from argentum.security.settings import SecuritySettings, security_settings
from argentum.state.bisect import Bisection, bisect
from argentum.state.flat import Row, flat_changes
from argentum.state.history import Value, history
from argentum.state.json_patch import Operation, json_patch
from argentum.tree import Change, Tree, apply, freeze
from argentum.tree import diff as tree_diff

if TYPE_CHECKING:
    from argentum.security.limits import Limits


class Snapshot(NamedTuple):
    """A state at a moment, with the label that it was given."""

    label: str
    tree: Tree
    at_ns: int
    """Nanoseconds since 1970, UTC."""
    seq: int = 0
    """Its number: that of its event in a run, else 1, 2, 3, … in its history."""
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """All changes between two states; true if there is any."""

    before: Tree
    after: Tree
    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        """Go through the changes in the order of the state after."""
        return iter(self.changes)

    def __len__(self) -> int:
        """Count the changes."""
        return len(self.changes)

    def inverted(self) -> Diff:
        """Give the changes that lead back."""
        return Diff(self.after, self.before, tuple(change.inverted() for change in self.changes))

    def apply(self, value: object) -> Any:
        """
        Give the value that the changes make of a value like the first.

        Raises:
            InputError: the changes do not fit the value.
        """
        return apply(self.changes, freeze(value)).thaw()

    def flat(self) -> dict[str, Row]:
        """Give the changes as a flat dict (see `StateDiff.get_changes`)."""
        return flat_changes(self.before, self.after)

    def json_patch(self) -> list[Operation]:
        """Give the changes as a JSON Patch (RFC 6902) between the states' JSON forms."""
        return json_patch(self.before, self.after)


def diff(before: object, after: object) -> Diff:
    """Compare two values of any kind (or two `Tree`s) by exact types."""
    old = before if isinstance(before, Tree) else freeze(before)
    new = after if isinstance(after, Tree) else freeze(after, old)
    return Diff(old, new, tuple(tree_diff(old, new)))


def snapshots_of(events: Iterable[Event], *, agent: str | None = None) -> list[Snapshot]:
    """Give the snapshots among a run's events, of one agent or of all."""
    return [
        Snapshot(event.name, event.body, event.at_ns, event.seq, event.agent)
        for event in events
        if event.kind == "snapshot" and agent in (None, event.agent)
    ]


def _limits_of(settings: SecuritySettings) -> Limits | None:
    if not settings.limits:
        return None
    # Most processes limit nothing, and need not load what it takes.
    from argentum.security.limits import Limits  # noqa: PLC0415 - as above

    return Limits(settings)


class StateDiff:
    """
    Keeps an agent's states as they were and tells what changed between them.

    A snapshot is exact and immutable, costs about what changed since the last one, and may be
    taken from any thread.
    """

    def __init__(
        self,
        *,
        max_snapshots: int | None = None,
        on_snapshot: Callable[[Snapshot, Any], None] | None = None,
        on_error: Callable[[Exception], None] | None = None,
        look_up: Callable[[str], Tree | None] | None = None,
        security: SecuritySettings | None = None,
    ) -> None:
        """
        Start an empty history.

        Args:
            max_snapshots: keep only so many, forgetting the oldest; all by default.
            on_snapshot: is called with each snapshot when it has been taken, and with the live
                state, which may be another by then.
            on_error: is called, instead of raising, when a snapshot cannot be taken.
            look_up: finds the tree of a label that was forgotten.
            security: its own limits; by default those of `argentum.configure_security`.

        Raises:
            InputError: `max_snapshots` is below 1.
        """
        if max_snapshots is not None and max_snapshots < 1:
            message = f"`max_snapshots` is {shown(max_snapshots)}; give 1 or more, or None for all."
            raise InputError(message)
        self._max_snapshots = max_snapshots
        self._on_snapshot = on_snapshot
        self._on_error = on_error
        self._look_up = look_up
        self._security = security
        self._limits: tuple[SecuritySettings, Limits | None] | None = None
        self._lock = threading.RLock()
        self._snapshots: list[Snapshot] = []
        self._by_label: dict[str, Snapshot] = {}
        self._numbers = count(1)

    def __len__(self) -> int:
        """Count the snapshots."""
        return len(self._snapshots)

    def __repr__(self) -> str:
        """Show the labels."""
        return hidden(f"<StateDiff of {len(self)} snapshots: {shown(self.labels)}>")

    @property
    def labels(self) -> list[str]:
        """The labels in the order in which the snapshots were taken."""
        return [snapshot.label for snapshot in self._snapshots]

    def snapshot(self, label: str, state: object) -> None:
        """
        Keep the state as it is now.

        Args:
            label: finds the snapshot again; of several with one label, the last is found.
            state: any value; a `Tree` is kept as it is.

        Raises:
            InputError: the label is no `str`, or other threads kept changing the state.
            LimitError: the state is over a limit that was set, and was not kept; or it nests
                deeper than this thread may recurse.
        """
        try:
            tree = self._frozen(label, state)
        except Exception as error:
            if self._on_error is None:
                raise
            self._on_error(error)
            return
        # Who set a limit wants to hear of it: this raises even where other faults do not.
        limits = self._current_limits()
        taken = self._keep(label, tree if limits is None else limits.within(tree))
        if self._on_snapshot is not None:
            self._on_snapshot(taken, state)

    def _current_limits(self) -> Limits | None:
        settings = self._security or security_settings()
        made = self._limits
        if made is None or made[0] is not settings:
            self._limits = made = (settings, _limits_of(settings))
        return made[1]

    def _frozen(self, label: str, state: object) -> Tree:
        if not isinstance(label, str):
            message = f"The label {shown(label)} is a {type(label).__name__}; give a str."
            raise InputError(message)
        # No lock is held while the state is read: a signal handler or a forked child that takes a
        # snapshot of its own must never wait. An old `previous` only costs some sharing.
        previous = self._snapshots[-1:]
        if isinstance(state, Tree):
            return state
        return freeze(state, previous[0].tree if previous else None)

    def _keep(self, label: str, tree: Tree) -> Snapshot:
        taken = Snapshot(label, tree, now_ns(), next(self._numbers))
        self._snapshots.append(taken)
        self._by_label[label] = taken
        if self._max_snapshots is not None and len(self._snapshots) > self._max_snapshots:
            self._forget(len(self._snapshots) - self._max_snapshots)
        return taken

    def _forget(self, count: int) -> None:
        with self._lock:
            for first in self._snapshots[:count]:
                if self._by_label.get(first.label) is first:
                    del self._by_label[first.label]
            del self._snapshots[:count]

    def tree(self, label: str) -> Tree:
        """
        Give the immutable state of a snapshot.

        Raises:
            NotFoundError: there is no such label; the message names the nearest.
        """
        known = isinstance(label, str)
        found = self._by_label.get(label) if known else None
        if found is not None:
            return found.tree
        stored = self._look_up(label) if known and self._look_up is not None else None
        if stored is None:
            raise not_found("snapshot", label, self._by_label)
        return stored

    def restore(self, label: str) -> Any:
        """
        Give the state of a snapshot back: a new value with its exact types.

        Raises:
            NotFoundError: there is no such label.
        """
        return self.tree(label).thaw()

    def diff(self, from_label: str, to_label: str) -> Diff:
        """
        Compare two snapshots change by change.

        Raises:
            NotFoundError: there is no such label.
        """
        return diff(self.tree(from_label), self.tree(to_label))

    def get_changes(self, from_label: str, to_label: str) -> dict[str, Row]:
        """
        Tell what changed from one snapshot to another, as `{path: row}`.

        A row is `{"from": x, "to": y}`, `{"added": v}` or `{"removed": v}`; for a list, `added`,
        `removed` and `moved` list items, and `from` and `to` show both lists if nothing stayed.

        Raises:
            NotFoundError: there is no such label.
        """
        return flat_changes(self.tree(from_label), self.tree(to_label))

    def get_sequence_changes(self) -> list[dict[str, Any]]:
        """Tell what changed at each step: `[{"from": label, "to": label, "changes": {…}}, …]`."""
        taken = list(self._snapshots)
        return [
            {"from": old.label, "to": new.label, "changes": flat_changes(old.tree, new.tree)}
            for old, new in pairwise(taken)
        ]

    def history(self, path: str) -> list[Value]:
        """
        List each value that a path had, in turn, and since which snapshot.

        Raises:
            InputError: the text is not a path.
            NotFoundError: no snapshot has anything at the path; the message names near ones.
        """
        return history(list(self._snapshots), path)

    def bisect(
        self,
        predicate: Callable[[Any], object] | str,
        *,
        every: bool = False,
        calls: int | None = None,
    ) -> Bisection:
        """
        Find the first snapshot where a predicate or condition holds, in O(log n) calls.

        The result tells whether that can be trusted. See `argentum.state.bisect`.

        Args:
            every: make all verdicts sure, however many calls that takes.
            calls: call it so many times at most.

        Raises:
            InputError: the predicate raised; the message names the snapshot.
            NotFoundError: there are no snapshots.
        """
        return bisect(list(self._snapshots), predicate, every=every, calls=calls)
