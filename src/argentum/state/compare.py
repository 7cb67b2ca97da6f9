"""
Where two runs part: the first thing that differs, what kind of difference it is, what it led to.

What makes no difference is listed in `argentum.state.acts`, how acts are matched is told in
`argentum.state.aligning`. A call has two moments: what was asked differs where it begins, what came
out where it ends, so a model's answer is not blamed for what a tool gave it meanwhile. Which agent
parted first is told by the places in both runs together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from argentum.events import Event
from argentum.state.acts import Act, acts_of, is_left_out
from argentum.state.aligning import ASKED, SAME, Lane, Pair, lanes_of
from argentum.state.essence import Essences, essence_of
from argentum.state.forks import Branches, Fork, branches_of, common_source
from argentum.state.snapshots import Diff, Snapshot, diff, snapshots_of
from argentum.tree import Change, Tree
from argentum.tree import diff as tree_diff

OTHER_INPUT = "other input"
OTHER_OUTPUT = "other model output for the same input"
OTHER_RESULT = "other tool result for the same call"
OTHER_ARGUMENTS = "other arguments"
OTHER_STEP = "other step"
OTHER_ORDER = "other order"
OTHER_STATE = "other state"
OTHER_END = "other end"
MISSING = "missing step"
EXTRA = "extra step"
KINDS = (
    OTHER_INPUT, OTHER_OUTPUT, OTHER_RESULT, OTHER_ARGUMENTS, OTHER_STEP, OTHER_ORDER, OTHER_STATE,
    OTHER_END, MISSING, EXTRA,
)  # fmt: skip
_WITHOUT_COUNTERPART = (MISSING, EXTRA, OTHER_ORDER, OTHER_STEP)
BEFORE = 3
"""Steps before a divergence that are told with it."""


class Consequence(NamedTuple):
    """How the states of one agent differ between the runs at a moment after they parted."""

    when: str
    """`next`: at the first snapshots after it; `end`: at the last ones."""
    agent: str | None
    a: Snapshot
    b: Snapshot
    diff: Diff
    """From the first run's state to the second's."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first thing in which two runs differ."""

    kind: str
    """One of `KINDS`, as seen from the first run: `missing step` is missing in the second."""
    agent: str | None
    a: Act | None
    """What the first run did there; if it did nothing, what it did next; None at its end."""
    b: Act | None
    """What the second run did there, likewise."""
    changes: tuple[Change, ...]
    """What differs inside of the two, if they are each other's counterparts."""
    before: tuple[Pair, ...]
    """The last steps before it, the same in both."""
    led_to: tuple[Consequence, ...]
    """What it led to in the states."""
    tried_again: bool = False
    """Whether one of the runs made the same call again and then got what the other had got."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side."""

    lanes: tuple[Lane, ...]
    """What each agent did in both."""
    divergence: Divergence | None
    """None if the runs are the same."""
    fork: Fork | None = None
    """Up to where the two are one run, because one was forked; None if none was."""
    shared: tuple[Act, ...] = ()
    """What was done until then; it is in no lane."""

    @property
    def kind(self) -> str:
        """The kind of the first divergence, or `same`."""
        return SAME if self.divergence is None else self.divergence.kind

    def pairs(self) -> list[Pair]:
        """Give what belongs together, in the order of the first run."""
        found = [pair for lane in self.lanes for pair in (*lane.pairs, *lane.moved)]
        return sorted(found, key=lambda pair: pair.a.seq)

    def only_in_a(self) -> list[Act]:
        """Give what has no counterpart in the second run."""
        paired = {pair.a.seq for pair in self.pairs()}
        return _left(paired, (act for lane in self.lanes for act in lane.a))

    def only_in_b(self) -> list[Act]:
        """Give what has no counterpart in the first run."""
        paired = {pair.b.seq for pair in self.pairs()}
        return _left(paired, (act for lane in self.lanes for act in lane.b))


def _left(paired: Collection[int], acts: Iterable[Act]) -> list[Act]:
    return sorted((act for act in acts if act.seq not in paired), key=lambda act: act.seq)


def compare(
    run_a: Sequence[Event],
    run_b: Sequence[Event],
    *,
    source: Sequence[Event] = (),
    kinds: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Comparison:
    """
    Align two runs by what they did and tell where and how they first differ.

    If one was forked from the other, or both from a third, they are compared from there on.

    Args:
        source: the events of that third run; without them what the forks did again of it counts.
        kinds: look at acts of these kinds only; by default at all.
        ignore: names of fields that make no difference wherever they stand, besides those that
            never do (see `argentum.state.acts`).
    """
    essences = Essences(frozenset(ignore))
    a, b, past = (
        acts_of(run, kinds=kinds, ignore=ignore, essences=essences)
        for run in (run_a, run_b, source)
    )
    fork = common_source(run_a, run_b)
    if fork is None:
        branches = Branches(None, (), tuple(a), tuple(b))
    else:
        branches = branches_of(fork, (run_a, run_b), (a, b), past)
    lanes, left_out = lanes_of(branches.a, branches.b), frozenset(ignore)
    begun = {act.agent for act in branches.shared}
    parted = [found for lane in lanes for found in _parting(lane, left_out, begun)]
    told = None
    if parted:
        first = min(parted, key=lambda one: (one.at, one.late, str(one.lane.agent)))
        told = _told(first, lanes, branches.shared, (run_a, run_b), left_out)
    return Comparison(tuple(lanes), told, fork, branches.shared)


# ---------------------------------------------------------------- where they part


class _Parting(NamedTuple):
    """A place where an agent's acts part, before it is known whether another's part earlier."""

    kind: str
    lane: Lane
    a: Act | None
    b: Act | None
    at: int
    """The places in both runs together."""
    late: int
    """The later of the two places."""
    tried_again: bool = False


def _parting(
    lane: Lane, ignore: frozenset[str], begun: Collection[str | None]
) -> Iterator[_Parting]:
    """Give where a lane parts first; more than one place while an answer was still awaited."""
    check = _Check(ignore, begun=set(begun))
    until: int | None = None
    for only_a, only_b, pair in lane.gaps():
        found = _in_gap(lane, only_a, only_b, pair)
        if found is None and pair is not None:
            kind = check.kind(pair)
            found = None if kind is None else _at_pair(lane, kind, pair)
        if until is not None and pair is not None and pair.a.seq + pair.b.seq > until:
            return
        if found is not None:
            yield found
            until = found.at if until is None else min(until, found.at)
            if found.kind not in (OTHER_OUTPUT, OTHER_RESULT):
                return


def _at_pair(lane: Lane, kind: str, pair: Pair) -> _Parting:
    answered = kind in (OTHER_OUTPUT, OTHER_RESULT)
    return _placed(kind, lane, pair.a, pair.b, answered=answered)


def _placed(
    kind: str, lane: Lane, a: Act | None, b: Act | None, *,
    answered: bool = False, tried_again: bool = False,
) -> _Parting:  # fmt: skip
    places = [
        _end(lane.a if act is a else lane.b) if act is None
        else act.last_seq if answered else act.seq
        for act in (a, b)
    ]  # fmt: skip
    return _Parting(kind, lane, a, b, sum(places), max(places), tried_again)


def _end(acts: Sequence[Act]) -> int:
    return max((act.last_seq for act in acts), default=0) + 1


def _in_gap(lane: Lane, only_a: list[Act], only_b: list[Act], pair: Pair | None) -> _Parting | None:
    """Tell how runs part where one has an act for which the other has none at this place."""
    if not only_a and not only_b:
        return None
    a = only_a[0] if only_a else pair.a if pair else None
    b = only_b[0] if only_b else pair.b if pair else None
    moved_a = {one.a.seq for one in lane.moved}
    moved_b = {one.b.seq for one in lane.moved}
    if (only_a and only_a[0].seq in moved_a) or (only_b and only_b[0].seq in moved_b):
        return _placed(OTHER_ORDER, lane, a, b)
    if _is_retry(only_a, only_b, a, b):
        return _placed(OTHER_RESULT, lane, a, b, answered=True, tried_again=True)
    kind = OTHER_STEP if only_a and only_b else MISSING if only_a else EXTRA
    return _placed(kind, lane, a, b)


def _is_retry(only_a: list[Act], only_b: list[Act], a: Act | None, b: Act | None) -> bool:
    """Tell whether the additional act is the call that the other run made only once."""
    if a is None or b is None or (only_a and only_b):
        return False
    return a.kind == "tool_call" and a.call == b.call and a.whole != b.whole


@dataclass(slots=True)
class _Check:
    """Tells pair by pair, in their order, whether it differs and how."""

    ignore: frozenset[str]
    names: dict[str, str] = field(default_factory=dict)
    """Which made-up name of the first run stands for which of the second."""
    back: dict[str, str] = field(default_factory=dict)
    begun: set[str | None] = field(default_factory=set)
    """The agents that did something or had a state before: an earlier state was given to them."""

    def kind(self, pair: Pair) -> str | None:
        """Give the kind of difference, or None."""
        a, b = pair.a, pair.b
        if a.kind == "snapshot":
            return self._kind_of_states(a, b)
        self.begun.add(a.agent)
        if a.whole == b.whole:
            return None if self._same_names(a, b) else _kind_of_other(a, b)
        if pair.how == ASKED or a.call == b.call:
            return _ANSWERS.get(a.kind, OTHER_ARGUMENTS)
        return _kind_of_other(a, b)

    def _kind_of_states(self, a: Act, b: Act) -> str | None:
        first = a.agent not in self.begun
        self.begun.add(a.agent)
        if a.whole == b.whole or not _differ(a.opening.body, b.opening.body, self.ignore):
            return None
        return OTHER_INPUT if first else OTHER_STATE

    def _same_names(self, a: Act, b: Act) -> bool:
        return len(a.ids) == len(b.ids) and all(
            self.names.setdefault(one, other) == other and self.back.setdefault(other, one) == one
            for one, other in zip(a.ids, b.ids, strict=True)
        )


_ANSWERS = {"model_call": OTHER_OUTPUT, "tool_call": OTHER_RESULT, "run": OTHER_END}


def _kind_of_other(a: Act, b: Act) -> str:
    """Tell how two acts differ that did not ask the same."""
    if a.kind == "run":
        return OTHER_END
    if a.name != b.name and a.kind in ("tool_call", "handoff"):
        return OTHER_STEP
    if a.kind == "note" or (a.kind == "model_call" and a.context != b.context):
        return OTHER_INPUT
    return OTHER_ARGUMENTS if a.is_call else OTHER_STEP


def _differ(a: Tree, b: Tree, ignore: frozenset[str]) -> bool:
    """Tell whether states differ by more than made-up names."""
    return any(is_difference(change, ignore) for change in tree_diff(a, b))


def is_difference(change: Change, ignore: Collection[str] = ()) -> bool:
    """Tell whether a change is more than another made-up name, or in an ignored field."""
    if any(step in ignore for step in change.path.parts if isinstance(step, str)):
        return False
    return change.kind != "changed" or essence_of(change.before) != essence_of(change.after)


def differences(a: Act, b: Act, *, ignore: Collection[str] = ()) -> list[Change]:
    """
    Give what differs between two acts of one kind; of a state, what differs in it.

    Args:
        ignore: see `compare`.
    """
    if a.kind == "snapshot":
        changes = tree_diff(a.opening.body, b.opening.body)
        return [one for one in changes if is_difference(one, ignore)]
    left_out = frozenset(ignore)
    ends = [(a.opening, b.opening)]
    if a.closing is not None and b.closing is not None:
        ends.append((a.closing, b.closing))
    changes = [one for old, new in ends for one in tree_diff(old.body, new.body)]
    return [
        one for one in changes if is_difference(one) and not is_left_out(a.kind, one.path, left_out)
    ]


# ---------------------------------------------------------------- what it led to


def _told(
    first: _Parting, lanes: Sequence[Lane], shared: Sequence[Act],
    runs: tuple[Sequence[Event], Sequence[Event]], ignore: frozenset[str],
) -> Divergence:  # fmt: skip
    before = [
        pair
        for lane in lanes
        for pair in lane.pairs
        if pair.how == SAME and _is_before(pair.a, first.a) and _is_before(pair.b, first.b)
    ]
    before.sort(key=lambda pair: (pair.a.seq + pair.b.seq, pair.a.seq))
    before[:0] = [Pair(act, act, SAME) for act in shared]
    changes: list[Change] = []
    if first.a is not None and first.b is not None and first.kind not in _WITHOUT_COUNTERPART:
        changes = differences(first.a, first.b, ignore=ignore)
    return Divergence(
        kind=first.kind,
        agent=first.lane.agent,
        a=first.a,
        b=first.b,
        changes=tuple(changes),
        before=tuple(before[-BEFORE:]),
        led_to=tuple(_consequences(first, *runs)),
        tried_again=first.tried_again,
    )


def _is_before(act: Act, end: Act | None) -> bool:
    return end is None or act.seq < end.seq


def _consequences(
    first: _Parting, run_a: Sequence[Event], run_b: Sequence[Event]
) -> Iterator[Consequence]:
    left, right = _by_agent(run_a), _by_agent(run_b)
    agents = [agent for agent in left if agent in right]
    if first.lane.agent in agents:
        agents = [first.lane.agent]
    for agent in agents:
        ends = left[agent][-1], right[agent][-1]
        nexts = _next(left[agent], first.a), _next(right[agent], first.b)
        if nexts[0] is not None and nexts[1] is not None and nexts != ends:
            yield Consequence("next", agent, nexts[0], nexts[1], diff(nexts[0].tree, nexts[1].tree))
        yield Consequence("end", agent, *ends, diff(ends[0].tree, ends[1].tree))


def _by_agent(run: Iterable[Event]) -> dict[str | None, list[Snapshot]]:
    found: dict[str | None, list[Snapshot]] = {}
    for snapshot in snapshots_of(run):
        found.setdefault(snapshot.agent, []).append(snapshot)
    return found


def _next(snapshots: Iterable[Snapshot], act: Act | None) -> Snapshot | None:
    if act is None:
        return None
    return next((one for one in snapshots if one.seq >= act.seq), None)
