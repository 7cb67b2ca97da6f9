"""
What a fork and its source have in common, so that they can be compared from where they part.

A fork begins with its source's states, and what the source did up to there is its own past. Its
program starts from the top, though, so it often does again what the source had done: such steps at
its beginning are no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from argentum.events import Event
from argentum.state.acts import Act

EARLIER = 1 << 40
"""What is taken from the `seq` of a source's event that stands before a fork's own events."""


class Fork(NamedTuple):
    """Where a run was forked from another."""

    run_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Branches:
    """The acts of two runs of which one is a fork of the other, or both of a third."""

    source: Fork | None
    """Up to where they are the same run."""
    shared: tuple[Act, ...]
    """What had been done by then, as far as the source is known."""
    a: tuple[Act, ...]
    b: tuple[Act, ...]


def fork_of(run: Sequence[Event]) -> Fork | None:
    """Tell where a run was forked from; None if it was not."""
    if not run or run[0].kind != "run":
        return None
    body = run[0].body.thaw(live=False)
    told = body.get("forked_from") if isinstance(body, dict) else None
    if not isinstance(told, dict):
        return None
    run_id, seq = told.get("run_id"), told.get("seq")
    return Fork(run_id, seq) if isinstance(run_id, str) and type(seq) is int else None


def common_source(run_a: Sequence[Event], run_b: Sequence[Event]) -> Fork | None:
    """Tell up to where two runs are the same because one was forked; None if none was."""
    fork_a, fork_b = fork_of(run_a), fork_of(run_b)
    if fork_b is not None and run_a and fork_b.run_id == run_a[0].run_id:
        return fork_b
    if fork_a is not None and run_b and fork_a.run_id == run_b[0].run_id:
        return fork_a
    if fork_a is None or fork_b is None or fork_a.run_id != fork_b.run_id:
        return None
    return min(fork_a, fork_b)


def branches_of(
    source: Fork,
    runs: tuple[Sequence[Event], Sequence[Event]],
    acts: tuple[Sequence[Act], Sequence[Act]],
    acts_of_source: Sequence[Act],
) -> Branches:
    """
    Give what two runs did from where they part.

    Args:
        source: what `common_source` said of them.
        acts_of_source: of the run that both were forked from, if it is neither of them.
    """
    given = {run[0].run_id: done for run, done in zip(runs, acts, strict=True) if run}
    past = given.get(source.run_id, acts_of_source)
    tails = [_tail(source, run, done, past) for run, done in zip(runs, acts, strict=True)]
    a, b = (tail.without_repeats(other) for tail, other in (tails, reversed(tails)))
    shared = tuple(act for act in past if act.last_seq <= source.seq)
    return Branches(source, shared, a, b)


def _tail(source: Fork, run: Sequence[Event], acts: Sequence[Act], past: Sequence[Act]) -> _Tail:
    """Give what a run did after the common past; a later fork has some of its source's, too."""
    fork = fork_of(run)
    if fork is None or fork.run_id != source.run_id:
        return _Tail((), tuple(act for act in acts if act.last_seq > source.seq), frozenset())
    before = [act for act in past if act.last_seq <= fork.seq]
    since = tuple(_earlier(act) for act in before if act.last_seq > source.seq)
    return _Tail(since, tuple(acts), frozenset(map(_what, before)))


def _earlier(act: Act) -> Act:
    """Number a source's act so that it comes before all of its fork's."""
    opening = replace(act.opening, seq=act.opening.seq - EARLIER)
    closing = act.closing and replace(act.closing, seq=act.closing.seq - EARLIER)
    return replace(act, opening=opening, closing=closing)


def _what(act: Act) -> tuple[str | None, bytes]:
    """Give what makes two acts the same, of a snapshot its state without the label."""
    return act.agent, act.whole


@dataclass(frozen=True, slots=True)
class _Tail:
    """What a run did after the common past."""

    since: tuple[Act, ...]
    """What its source did until it was forked."""
    own: tuple[Act, ...]
    done: frozenset[tuple[str | None, bytes]]
    """What had been done before it was forked; of what is no fork, nothing."""

    def without_repeats(self, other: _Tail) -> tuple[Act, ...]:
        """
        Give it without what an agent did again at its beginning.

        What the other run did as well stays: it has a counterpart.
        """
        counterparts = Counter(map(_what, (*other.since, *other.own)))
        counterparts.subtract(map(_what, self.since))
        going_on: set[str | None] = set()
        kept = list(self.since)
        for act in self.own:
            what = _what(act)
            if act.agent in going_on or what not in self.done or counterparts[what] > 0:
                going_on.add(act.agent)
                kept.append(act)
        return tuple(kept)


def place_of(act: Act) -> int:
    """Give the `seq` that an act's first event has in its own run."""
    return act.seq + EARLIER if act.seq < 0 else act.seq
