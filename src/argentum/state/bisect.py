"""
The first snapshot where a condition holds, in few calls of it, and whether that can be trusted.

Halving finds the first one only if a condition that holds once holds from then on. Most tools take
that for granted. Here it is looked into: the state that a predicate is given notes what of it was
read, and snapshots in which all that was read is the same have the same verdict without a call.
Where a predicate reads little that changes often, every verdict is soon known, and so is every
flip. Otherwise the calls that halving leaves over go to where another flip is most likely, and what
remains unknown is said.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from argentum.errors import (
    ArgentumError,
    FormatError,
    InputError,
    NotFoundError,
    StoreError,
    shown,
)
from argentum.state.dependence import Read, Reads, watched
from argentum.state.history import check_one_agent
from argentum.state.verdicts import WHOLE, Verdicts, bounds, next_to_ask

if TYPE_CHECKING:
    from argentum.state.snapshots import Snapshot  # which has the method that calls `bisect`

FEWEST_CALLS = 16
SPARE_CALLS = 2
"""Calls beyond those of halving."""
CHECKS = 4
"""Deduced verdicts that are checked by a call where some are left."""
NAMED_FLIPS = 5
NAMED_READS = 3


class _Skip:
    """What a predicate returns for a state that it cannot judge."""

    def __repr__(self) -> str:
        return "SKIP"


SKIP = _Skip()


class Flip(NamedTuple):
    """A place where a condition begins or ceases to hold."""

    before: Snapshot
    """The last snapshot known to be otherwise."""
    at: Snapshot
    """The first known to be so; the one after `before` if `between` is 0."""
    holds: bool
    between: int
    """Snapshots between the two of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """Where a condition first holds, and how sure that is."""

    first: Snapshot | None
    """The first snapshot where it is known to hold; None if there is none."""
    last_before: Snapshot | None
    """The last snapshot before where it does not; None if there is none."""
    between: int
    """Snapshots before `first` and after `last_before` of which nothing is known."""
    calls: int
    snapshots: int
    unknown: int
    """Snapshots of which nothing is known, skipped ones included."""
    skipped: tuple[Snapshot, ...]
    flips: tuple[Flip, ...]
    """All flips seen: all that there are if `unknown` is 0."""
    why: str
    """What is known and what is not, in a sentence or two."""

    @property
    def monotone(self) -> bool | None:
        """Whether it holds from `first` on and never before; None if that was not settled."""
        if any(not flip.holds for flip in self.flips):
            return False
        return True if self.unknown == 0 else None

    @property
    def trusted(self) -> bool:
        """Whether `first` is surely the one place where it begins to hold, and it never ceases."""
        return self.monotone is True


def bisect(
    snapshots: Sequence[Snapshot],
    predicate: Callable[[Any], object] | str,
    *,
    every: bool = False,
    calls: int | None = None,
) -> Bisection:
    """
    Find the first snapshot where a predicate of the state holds, in O(log n) calls.

    The predicate gets the state as it was recorded (large parts are thawed when it asks for them);
    what it returns counts as true or false, and `SKIP` as neither. It must be a pure function of
    the state. What it changes in the state is lost. A condition as text (see
    `argentum.state.conditions`) is so quick that it is asked of every snapshot.

    Args:
        snapshots: of one agent, oldest first.
        every: make all verdicts sure, however many calls that takes.
        calls: call it so many times at most; by default 16, which is enough for 16,000 snapshots,
            or two more than halving needs.

    Raises:
        InputError: the predicate raised (the message names the snapshot), the snapshots are of
            several agents, `calls` is below 1, or the text is no condition.
        NotFoundError: there are no snapshots.
        MissingExtraError: the condition is text, and the CEL library is not installed.
    """
    if isinstance(predicate, str):
        return bisect_verdicts(snapshots, _held(snapshots, predicate))

    def judge(snapshot: Snapshot) -> tuple[bool | None, tuple[Read, ...]]:
        reads = Reads()
        state = watched(snapshot.tree, reads)
        try:
            verdict = _plainly(predicate(state))
            is_right = not (reads.met_unread or (reads.has_unread and reads.asked_nothing()))
        except Exception:  # noqa: BLE001 - if it is not for parts that are not there yet, it comes again
            is_right = False
        if is_right:
            return verdict, reads.all()
        # Compiled code looked at the state behind its back, maybe at parts which are not there yet.
        return _plainly(predicate(snapshot.tree.thaw())), WHOLE

    return _bisected(snapshots, judge, every=every, calls=calls)


def bisect_snapshots(
    snapshots: Sequence[Snapshot],
    predicate: Callable[[Snapshot], object],
    *,
    every: bool = False,
    calls: int | None = None,
) -> Bisection:
    """
    Do what `bisect` does with a predicate of the snapshot, which may look at its tree by itself.

    It counts as reading the whole state, and as depending on nothing else: equal states have equal
    verdicts.

    Raises:
        InputError: see `bisect`.
        NotFoundError: there are no snapshots.
    """

    def judge(snapshot: Snapshot) -> tuple[bool | None, tuple[Read, ...]]:
        return _plainly(predicate(snapshot)), WHOLE

    return _bisected(snapshots, judge, every=every, calls=calls)


def bisect_verdicts(snapshots: Sequence[Snapshot], held: Sequence[bool | None]) -> Bisection:
    """
    Tell where a condition first holds from verdicts of all snapshots; None is what `SKIP` is.

    Raises:
        InputError: the snapshots are of several agents, or there are more or fewer verdicts.
        NotFoundError: there are no snapshots.
    """
    _check(snapshots, None)
    if len(held) != len(snapshots):
        message = f"There are {len(held)} verdicts on {len(snapshots)} snapshots; give one on each."
        raise InputError(message)
    verdicts = Verdicts([snapshot.tree for snapshot in snapshots], lambda at: (held[at], None))
    for at in range(len(held)):
        verdicts.ask(at)
    return result(snapshots, verdicts)


def _held(snapshots: Sequence[Snapshot], text: str) -> list[bool | None]:
    """Check a condition on every snapshot; what looks at a state before holds on no first one."""
    from argentum.state.conditions import parse  # noqa: PLC0415 - loads what reads CEL

    checker = parse(text).checker()
    outcomes = [
        checker.check(snapshot, before)
        for before, snapshot in zip([None, *snapshots[:-1]], snapshots, strict=True)
    ]
    return [False if outcome.is_first else outcome.held for outcome in outcomes]


def _plainly(answer: object) -> bool | None:
    if isinstance(answer, Awaitable | Generator | AsyncGenerator):
        if isinstance(answer, Coroutine):
            answer.close()  # or Python warns that nobody awaited it
        message = f"The predicate gave {shown(answer)}, which is no answer; give a plain function."
        raise InputError(message)
    return None if answer is SKIP else bool(answer)


def _bisected(
    snapshots: Sequence[Snapshot],
    judge: Callable[[Snapshot], tuple[bool | None, tuple[Read, ...]]],
    *,
    every: bool,
    calls: int | None,
) -> Bisection:
    _check(snapshots, calls)

    def judged(at: int) -> tuple[bool | None, tuple[Read, ...]]:
        try:
            verdict, reads = judge(snapshots[at])
        except (FormatError, StoreError):
            raise
        except Exception as error:
            raise _failed(snapshots, at, error) from error
        return verdict, reads

    verdicts = Verdicts([snapshot.tree for snapshot in snapshots], judged)
    if every:
        _ask_every(verdicts)
    else:
        _ask_some(verdicts, calls or default_calls(len(snapshots)))
    return result(snapshots, verdicts)


def default_calls(snapshots: int) -> int:
    """Give the calls that a bisection makes at most unless it is told otherwise."""
    return max(FEWEST_CALLS, snapshots.bit_length() + SPARE_CALLS)


def _check(snapshots: Sequence[Snapshot], calls: int | None) -> None:
    check_one_agent(snapshots)
    if not snapshots:
        message = "There are no snapshots to look in. Take one: session.snapshot(…)."
        raise NotFoundError(message)
    if calls is not None and (type(calls) is not int or calls < 1):
        message = f"`calls` is {shown(calls)}; give 1 or more, or None for what is needed."
        raise InputError(message)


def _failed(snapshots: Sequence[Snapshot], at: int, error: Exception) -> InputError:
    snapshot = snapshots[at]
    place = f"snapshot {shown(snapshot.label)} (seq {snapshot.seq}, {at + 1} of {len(snapshots)})"
    if isinstance(error, ArgentumError):
        return InputError(f"At {place}: {error}")
    return InputError(
        f"The predicate raised {shown(error)} at {place}. Have it return SKIP for a state that it "
        "cannot judge; where a key may be missing, use .get()."
    )


def _ask_every(verdicts: Verdicts) -> None:
    while True:
        for at in range(len(verdicts.known)):
            if verdicts.known[at] is None and at not in verdicts.skipped:
                verdicts.ask(at)
        checked = _unchecked(verdicts)[:CHECKS]
        for at in checked:
            if not verdicts.misled:
                verdicts.check(at)
        if not verdicts.misled or not verdicts.unknown():
            return


def _ask_some(verdicts: Verdicts, calls: int) -> None:
    checks = 0
    while verdicts.calls < calls:
        at = next_to_ask(verdicts)
        if at is not None:
            verdicts.ask(at)
            continue
        unchecked = [] if verdicts.misled or checks == CHECKS else _unchecked(verdicts)
        if not unchecked:
            return
        checks += 1
        verdicts.check(unchecked[0])


def _unchecked(verdicts: Verdicts) -> list[int]:
    """List deduced verdicts that matter: around the first state where it holds, and at the ends."""
    before, first = bounds(verdicts)
    last = len(verdicts.known) - 1
    places = dict.fromkeys((first, before, last, 0))
    return [
        at
        for at in places
        if 0 <= at <= last and at not in verdicts.asked and verdicts.known[at] is not None
    ]


# ---------------------------------------------------------------- what is known in the end


def result(snapshots: Sequence[Snapshot], verdicts: Verdicts) -> Bisection:
    """Say what follows from the verdicts."""
    before, first = bounds(verdicts)
    found = first < len(snapshots)
    unknown = verdicts.known.count(None)
    flips = _flips(snapshots, verdicts.known)
    return Bisection(
        first=snapshots[first] if found else None,
        last_before=snapshots[before] if before >= 0 else None,
        between=first - before - 1,
        calls=verdicts.calls,
        snapshots=len(snapshots),
        unknown=unknown,
        skipped=tuple(snapshots[at] for at in sorted(verdicts.skipped)),
        flips=flips,
        why=" ".join(_why(verdicts, flips, found=found, between=first - before - 1)),
    )


def _flips(snapshots: Sequence[Snapshot], known: Sequence[bool | None]) -> tuple[Flip, ...]:
    flips = []
    last: int | None = None
    for at, verdict in enumerate(known):
        if verdict is None:
            continue
        if last is not None and verdict is not known[last]:
            flips.append(Flip(snapshots[last], snapshots[at], verdict, at - last - 1))
        last = at
    return tuple(flips)


def _why(verdicts: Verdicts, flips: Sequence[Flip], *, found: bool, between: int) -> list[str]:
    unknown, count = verdicts.known.count(None), len(verdicts.known)
    said = [_flips_said(verdicts, flips, found=found)]
    if found and between:
        said.append(f"It may begin to hold up to {between} snapshots before.")
    if verdicts.skipped:
        said.append(f"Of {len(verdicts.skipped)} it cannot be told.")
    left = unknown - len(verdicts.skipped)
    if left:
        said.append(
            f"That is from {verdicts.calls} calls: {left} of {count} snapshots were not asked and "
            f"differ in what it reads{_reads_said(verdicts)}. To be sure, have every one asked."
        )
    elif len(verdicts.asked) < count - len(verdicts.skipped):
        said.append(
            f"All {count} snapshots are known from {verdicts.calls} calls: in the others nothing "
            f"that it reads is different{_reads_said(verdicts)}."
        )
    if verdicts.misled:
        said.append("It depends on more than it was seen to read, or on chance.")
    return said


def _flips_said(verdicts: Verdicts, flips: Sequence[Flip], *, found: bool) -> str:
    sure = None not in verdicts.known
    if not found:
        return f"It holds in none of the snapshots{_known(verdicts)}."
    starts = "It holds in the first snapshot already" if verdicts.known[0] else ""
    if not flips:
        ends = " and never ceases" if sure else " and was not seen to cease"
        return f"{starts}{ends}." if starts else "It was not seen to cease."
    if len(flips) == 1 and flips[0].holds:
        return "It begins once and never ceases." if sure else "It was seen to begin, not to cease."
    said = [
        f"{'begins' if flip.holds else 'ceases'} at {shown(flip.at.label)} (seq {flip.at.seq})"
        for flip in flips[:NAMED_FLIPS]
    ]
    more = f", and {len(flips) - NAMED_FLIPS} more" if len(flips) > NAMED_FLIPS else ""
    return f"{starts + '. ' if starts else ''}It flips: it {', '.join(said)}{more}."


def _known(verdicts: Verdicts) -> str:
    return " that are known" if None in verdicts.known else ""


def _reads_said(verdicts: Verdicts) -> str:
    paths = list(dict.fromkeys(str(read.path) or "the whole state" for read in verdicts.reads))
    if len(paths) > 1 and "the whole state" in paths and WHOLE[0] not in verdicts.reads:
        paths.remove("the whole state")  # only whether it is a dict
    more = ", …" if len(paths) > NAMED_READS else ""
    return f" ({', '.join(paths[:NAMED_READS])}{more})" if paths else ""
