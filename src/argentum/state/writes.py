"""
Which write first led a run where no run that passed has been.

A write is a step between two snapshots of one agent that changed its state. A run is *on the way*
of a run that passed as long as each of its states is one that the other had, or is reached by
writes that the other made, too, each as often, in whatever order. The first wrong write is the
first after which a run is on the way of none of those that passed.

Two writes are the same if they made the same changes. As the same write may find other values
after another order of writes, two are also the same if the same tool calls made them and they added
the same amount to numbers and the same items to lists, wherever in the list. Which call led to an
effect is otherwise nothing: the same change by another call is right.

It cannot tell

* a right way that no passing run happened to take: compare with more runs, and look at
  `separate(…).alarms`, which says how often passing runs are taken for wrong ones;
* a write that differs by another order in more than amounts and places (a text that sums up the
  rest): such a state counts as wrong unless a passing run had it;
* several writes between two snapshots, where a passing run has a snapshot in between or had them in
  another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from argentum.errors import InputError
from argentum.events import Event
from argentum.state.acts import Act, acts_of
from argentum.state.compare import is_difference
from argentum.state.essence import essence_of
from argentum.state.snapshots import Snapshot
from argentum.tree import Change, Path, Tree, digest_of
from argentum.tree import diff as tree_diff
from argentum.tree.encoding import pack

DIGITS = 9
"""Significant digits to which amounts of floats are compared."""

MAX_ANSWERS = 32
"""How many answers to what is still to come are kept at most."""


class Write(NamedTuple):
    """A step that changed an agent's state."""

    agent: str | None
    before: Snapshot
    after: Snapshot
    changes: tuple[Change, ...]
    acts: tuple[Act, ...]
    """What the agent did between the two snapshots."""
    effect: bytes
    """Equal for writes that made the same changes."""
    amount: bytes | None
    """Equal for the same calls with the same changes up to order; None if no tool was called."""

    @property
    def act(self) -> Act | None:
        """The act that most likely made it: the last tool call, else the last act."""
        calls = [act for act in self.acts if act.kind == "tool_call"] or self.acts
        return calls[-1] if calls else None


@dataclass(frozen=True, slots=True)
class RunWrites:
    """What a run wrote, and the states that it had."""

    writes: tuple[Write, ...]
    states: dict[str | None, States]
    starts: dict[str | None, Snapshot]
    """The first snapshot of each agent."""
    ends: dict[str | None, Snapshot]
    acts: tuple[Act, ...]


@dataclass(slots=True)
class States:
    """The states that one agent had, and how many writes each came after."""

    by_reference: dict[bytes, int] = field(default_factory=dict)
    by_size: dict[int, list[tuple[Tree, int]]] = field(default_factory=dict)

    def add(self, tree: Tree, writes: int) -> None:
        """Keep a state; of equal ones, the first."""
        if tree.reference() not in self.by_reference:
            self.by_reference[tree.reference()] = writes
            self.by_size.setdefault(tree.size_bytes, []).append((tree, writes))

    def find(self, tree: Tree) -> int | None:
        """Tell after how many writes the agent had a state; None if it never had it."""
        found = self.by_reference.get(tree.reference())
        if found is not None:
            return found
        # Equal states may differ in the order of keys, so in their reference, never in their size.
        alike = self.by_size.get(tree.size_bytes, ())
        return next((writes for one, writes in alike if not tree_diff(one, tree)), None)


class Verdict(NamedTuple):
    """How what a run wrote compares with the runs of its task that passed."""

    first_wrong: Write | None
    """The first write after which it was on the way of no passing run."""
    nearest: str
    """The passing run whose way it kept to longest."""
    back_at: Snapshot | None
    """The first snapshot after the wrong write with a state that a passing run had."""
    missing: tuple[Write, ...]
    """If no write was wrong: what the nearest passing run wrote and this one did not."""


def writes_of(events: Sequence[Event], *, ignore: Collection[str] = ()) -> RunWrites:
    """Read what a run wrote (see the module for what a write is)."""
    acts = acts_of(events, ignore=ignore)
    writes: list[Write] = []
    states: dict[str | None, States] = {}
    starts: dict[str | None, Snapshot] = {}
    ends: dict[str | None, Snapshot] = {}
    since: dict[str | None, list[Act]] = {}
    numbers: Counter[str | None] = Counter()
    for act in acts:
        if act.kind != "snapshot":
            since.setdefault(act.agent, []).append(act)
            continue
        event = act.opening
        taken = Snapshot(event.name, event.body, event.at_ns, event.seq, event.agent)
        before = ends.get(act.agent)
        if before is not None:
            write = _write(before, taken, since.get(act.agent, []), ignore)
            writes += [] if write is None else [write]
            numbers[act.agent] += write is not None
        starts.setdefault(act.agent, taken)
        ends[act.agent] = taken
        states.setdefault(act.agent, States()).add(taken.tree, numbers[act.agent])
        since[act.agent] = []
    return RunWrites(tuple(writes), states, starts, ends, tuple(acts))


def _write(
    before: Snapshot, after: Snapshot, acts: list[Act], ignore: Collection[str]
) -> Write | None:
    if before.tree == after.tree:
        return None
    changes = [one for one in tree_diff(before.tree, after.tree) if is_difference(one, ignore)]
    if not changes:
        return None
    effect = _digest(_exact(change) for change in changes)
    calls = sorted(act.call for act in acts if act.kind == "tool_call")
    amount = _digest([*map(_amount, changes), *calls]) if calls else None
    return Write(after.agent, before, after, tuple(changes), tuple(acts), effect, amount)


def _digest(parts: Iterable[bytes]) -> bytes:
    return digest_of(pack(sorted(parts)))


def place_of(change: Change) -> str:
    """Give a change's path; of an item that came or went, that of its list."""
    steps = change.path.parts
    if change.kind == "changed" or not steps or not isinstance(steps[-1], int):
        return str(change.path)
    return f"{Path.of(steps[:-1])}[]"


def _exact(change: Change) -> bytes:
    values = essence_of(change.before), essence_of(change.after)
    return pack([place_of(change), change.kind, *values])


def _amount(change: Change) -> bytes:
    added = _difference(change.before, change.after) if change.kind == "changed" else None
    return _exact(change) if added is None else pack([place_of(change), "by", added])


def _difference(before: object, after: object) -> str | None:
    """Give what was added to a number; None if it is none."""
    if type(before) is not type(after) or type(before) not in (int, float, Decimal):
        return None
    added = after - before  # type: ignore[operator] # numbers of one type
    return f"{added:.{DIGITS}g}" if type(added) is float else str(added)


# ---------------------------------------------------------------- on the way


def judge(run: RunWrites, passed: Mapping[str, RunWrites]) -> Verdict:
    """
    Name the first wrong write of a run, or what it failed to write.

    Args:
        passed: the runs of the same task that passed, by name.

    Raises:
        InputError: there is no run to compare with.
    """
    if not passed:
        message = "There is no passed run to compare with; give at least one."
        raise InputError(message)
    ways = {name: _Way(run, other) for name, other in passed.items()}
    nearest = max(ways, key=lambda name: (ways[name].kept, -len(ways[name].todo())))
    way = ways[nearest]
    if way.kept == len(run.writes):
        return Verdict(None, nearest, None, tuple(way.todo()))
    nowhere = unseen_in(passed.values())
    later = (write.after for write in run.writes[way.kept + 1 :])
    back_at = next((one for one in later if not nowhere(one)), None)
    return Verdict(run.writes[way.kept], nearest, back_at, ())


class _Way:
    """How far a run kept to the way of one that passed."""

    def __init__(self, run: RunWrites, passed: RunWrites) -> None:
        self.states = passed.states
        self.writes: dict[str | None, list[Write]] = {}
        for write in passed.writes:
            self.writes.setdefault(write.agent, []).append(write)
        self.left = {agent: [tuple(range(len(writes)))] for agent, writes in self.writes.items()}
        """Which of the writes may still be to come. A state may be known from another order by
        chance, so there may be several answers, of which any may turn out to be the true one."""
        self.kept = 0
        """How many of its first writes are on the way."""
        while self.kept < len(run.writes) and self._follows(run.writes[self.kept]):
            self.kept += 1

    def todo(self) -> list[Write]:
        """Give what only the run that passed wrote."""
        fewest = ((self.writes[agent], min(left, key=len)) for agent, left in self.left.items())
        return sorted((writes[at] for writes, left in fewest for at in left), key=_written_at)

    def _follows(self, write: Write) -> bool:
        """Tell whether a run that was on the way still is after a write."""
        found: dict[tuple[int, ...], None] = {}
        done = self.states.get(write.agent, _NO_STATES).find(write.after.tree)
        if done is not None:
            found[tuple(range(done, len(self.writes.get(write.agent, ()))))] = None
        for left in self.left.get(write.agent, ()):
            same = self._same(left, write)
            if same is not None:
                found[tuple(at for at in left if at != same)] = None
        if found and write.agent in self.left:
            self.left[write.agent] = list(found)[:MAX_ANSWERS]
        return bool(found)

    def _same(self, left: tuple[int, ...], write: Write) -> int | None:
        """Find a write among those that are left."""
        writes = self.writes[write.agent]
        same = next((at for at in left if writes[at].effect == write.effect), None)
        if same is None and write.amount is not None:
            same = next((at for at in left if writes[at].amount == write.amount), None)
        return same


def _written_at(write: Write) -> int:
    return write.after.seq


def unseen_in(passed: Iterable[RunWrites]) -> Callable[[Snapshot], bool]:
    """
    Give the condition "this state occurs in none of these runs", for `bisect` or a scan.

    It knows states only, so a run that made right writes in an order of its own meets it, too;
    `judge` does not take that for wrong.
    """
    known = [run.states for run in passed]

    def occurs_nowhere(snapshot: Snapshot) -> bool:
        return all(
            states.get(snapshot.agent, _NO_STATES).find(snapshot.tree) is None for states in known
        )

    return occurs_nowhere


_NO_STATES = States()
