"""
Since when a path has its value, with list items followed to the places that they had before.

A path names a place in the last state. Going back, an item of a list that moved, or that stood
elsewhere because items before it came or went, is found where the alignment of
`argentum.tree.changes` puts it. So the front of a list that is trimmed gives no item a new value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from argentum.state.history import is_same
from argentum.state.placing import on_the_way
from argentum.state.snapshots import Snapshot
from argentum.tree import Change, Path, Tree, diff
from argentum.tree.changes import ADDED, MOVED, REMOVED
from argentum.tree.chunks import references_of
from argentum.tree.descent import AT_ONCE, follow, open_all, pages_at
from argentum.tree.following import Follower
from argentum.tree.gaps import unread_gaps
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Page
from argentum.tree.paths import Step
from argentum.tree.sequence import common_ends

Steps = tuple[Step, ...]


class Since(NamedTuple):
    """The first snapshot that shows the present value."""

    number: int
    """Its place among the snapshots."""
    steps: Steps
    """Where the value stood in it."""


def since(snapshots: Sequence[Snapshot], path: Path) -> Since:
    """Find the first of the snapshots since which the last one's value at a path is there."""
    steps = _from_the_front(snapshots[-1].tree, path.parts)
    listed = next((at for at, step in enumerate(steps) if isinstance(step, int)), None)
    if listed is None:
        return Since(_unchanged_since(snapshots, path), steps)
    return _followed_since(snapshots, steps, listed)


def _from_the_front(tree: Tree, steps: Steps) -> Steps:
    """Count places from the front: `[-1]` is another place in another state."""
    found = list(steps)
    for at, step in enumerate(steps):
        if isinstance(step, int) and step < 0:
            above = Follower(Path.of(found[:at])).at(tree)
            if above is None:
                break
            count = above.count()
            found[at] = step + count if step + count >= 0 else step
    return tuple(found)


def _unchanged_since(snapshots: Sequence[Snapshot], path: Path) -> int:
    found = follow(path, [snapshot.tree for snapshot in reversed(snapshots)])
    last = next(found)
    for number, tree in zip(range(len(snapshots) - 2, -1, -1), found, strict=True):
        if not is_same(tree, last):
            return number + 1
    return 0


def _followed_since(snapshots: Sequence[Snapshot], steps: Steps, listed: int) -> Since:
    head, rest = Path.of(steps[:listed]), steps[listed:]
    newer = Follower(head).at(snapshots[-1].tree)
    if newer is None or Follower(Path.of(rest)).at(newer) is None:
        return Since(_unchanged_since(snapshots, Path.of(steps)), steps)
    for number, older in _backwards(snapshots[:-1], head, listed_at=rest[0]):
        if older is newer:
            continue
        was = None if older is None else _before(older, newer, rest)
        if older is None or was is None:
            return Since(number + 1, (*head.parts, *rest))
        newer, rest = older, was
    return Since(0, (*head.parts, *rest))


def _backwards(
    snapshots: Sequence[Snapshot], head: Path, *, listed_at: Step
) -> Iterator[tuple[int, Tree | None]]:
    """
    Give what is at a path in each state, the last first; many are read in one go.

    Args:
        listed_at: the step below the path whose way is read, if it is a place in a list.
    """
    numbers = range(len(snapshots) - 1, -1, -1)
    trees = follow(head, [snapshot.tree for snapshot in reversed(snapshots)])
    places = zip(numbers, trees, strict=True)
    while window := list(islice(places, AT_ONCE)):
        if isinstance(listed_at, int):
            _read_way([tree for _, tree in window], listed_at)
        yield from window


def _read_way(lists: Iterable[Tree | None], place: int) -> None:
    """Read the groups over one place of many lists, those of one level in one go."""
    roots = (tree.root for tree in lists if tree is not None)
    pages_at([(root.top, place) for root in roots if type(root) is Branch and place < root.count])


def _before(older: Tree, newer: Tree, steps: Steps) -> Steps | None:
    """Give where a value stood in an older state; None if it came or changed since."""
    place = _in_shared_part(older, newer, steps[0]) if steps else None
    if place is not None:
        return (place, *steps[1:])
    return carried_back(diff(older, newer), steps)


def _in_shared_part(older: Tree, newer: Tree, step: Step) -> int | None:
    """
    Give the old place of an item of a large list in a part that both states have.

    It is the place that a diff finds, by which items next to those that stayed stay as well; but
    no more than the page of the item is read.
    """
    old, new = older.root, newer.root
    if type(old) is not Branch or type(new) is not Branch or not isinstance(step, int):
        return None
    if old.kind is not Kind.LIST or new.kind is not Kind.LIST or step < 0:
        return None
    pair = on_the_way(old.top, new.top, step)
    if pair is not None and pair.is_same:
        return step
    if pair is not None and pair.is_apart and type(pair.old) is type(pair.new) is Page:
        found = _at_the_ends([pair.old], [pair.new], step - pair.at)
        return None if found is None else pair.at + found
    shift = 0
    for olds, news, old_at, new_at in unread_gaps(old, new):
        if step < new_at:
            break
        end = new_at + sum(page.count for page in news)
        if step < end:
            found = _at_the_ends(olds, news, step - new_at)
            return None if found is None else old_at + found
        shift = old_at + sum(page.count for page in olds) - end
    return step + shift


def _at_the_ends(olds: list[Page], news: list[Page], place: int) -> int | None:
    """Give the old place of an item of pages that differ, if it is in their common ends."""
    open_all([*olds, *news])
    before, after = ([one for page in pages for one in references_of(page)]
                     for pages in (olds, news))  # fmt: skip
    start, end = common_ends(before, after)
    if place < start:
        return place
    return place + len(before) - len(after) if place >= len(after) - end else None


def carried_back(changes: Iterable[Change], steps: Steps) -> Steps | None:
    """Give where a value stood before the changes; None if they made it what it is."""
    lists: dict[Steps, _Shift] = {}
    for change in changes:
        here = change.path.parts
        if _touches(change, here, steps):
            return None
        if change.kind in (ADDED, REMOVED, MOVED) and here and isinstance(here[-1], int):
            lists.setdefault(here[:-1], _Shift()).note(change)
    found: list[Step] = []
    for depth, step in enumerate(steps):
        shift = lists.get(steps[:depth])
        found.append(step if shift is None or not isinstance(step, int) else shift.before(step))
    return tuple(found)


def _touches(change: Change, here: Steps, steps: Steps) -> bool:
    """Tell whether a change made a value anew or changed something in it."""
    if len(here) > len(steps):
        return here[: len(steps)] == steps
    if change.kind == REMOVED:
        return change.source.parts == here == steps and not isinstance(here[-1], int)
    return change.kind != MOVED and here == steps[: len(here)]


class _Shift:
    """Where the items of one list stood before some came, went and moved."""

    def __init__(self) -> None:
        self.came: dict[int, int | None] = {}
        """New places, with the old place of what moved."""
        self.left: list[int] = []
        """Old places that were left."""

    def note(self, change: Change) -> None:
        now, was = change.path.parts[-1], change.source.parts[-1]
        if change.kind != REMOVED:
            self.came[int(now)] = int(was) if change.kind == MOVED else None  # type: ignore[arg-type]
        if change.kind != ADDED:
            self.left.append(int(was))  # type: ignore[arg-type]

    def before(self, place: int) -> int:
        """Give the old place of an item that is not new."""
        moved_from = self.came.get(place)
        if moved_from is not None:
            return moved_from
        old = place - sum(1 for new in self.came if new < place)
        for left in sorted(self.left):
            old += left <= old
        return old


# ---------------------------------------------------------------- many paths at once


class Part:
    """A part of the last state whose beginning is looked for, and the parts below it."""

    __slots__ = ("below", "path", "since")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.below: dict[Step, Part] = {}
        self.since: Since | None = None


def find_since(snapshots: Sequence[Snapshot], head: Path, top: Part) -> None:
    """Find since when each part is what it is, by one walk over the changes back to the first."""
    follower = Follower(head)
    newer = follower.at(snapshots[-1].tree)
    for number in range(len(snapshots) - 2, -1, -1):
        older = follower.at(snapshots[number].tree)
        if older is newer:
            continue
        if older is None or newer is None:
            _settle(top, number + 1, head.parts)
            return
        _apply(top, diff(older, newer), number + 1, head.parts)
        newer = older
        if not top.below and top.since is not None:
            return
    _settle(top, 0, head.parts)


def _settle(part: Part, number: int, steps: Steps) -> None:
    """Say of a part and all below that are still open that they are as they are since then."""
    stack = [(part, steps)]
    while stack:
        one, here = stack.pop()
        if one.since is None:
            one.since = Since(number, here)
        stack += [(child, (*here, step)) for step, child in one.below.items()]
        one.below = {}


def _apply(top: Part, changes: Sequence[Change], number: int, head: Steps) -> None:
    shifts: dict[Steps, _Shift] = {}
    for change in changes:
        here = change.path.parts
        if change.kind in (ADDED, REMOVED, MOVED) and here and isinstance(here[-1], int):
            shifts.setdefault(here[:-1], _Shift()).note(change)
        _change(top, change, number, head)
    for parent in sorted(shifts, key=len, reverse=True):
        part = _descend(top, parent)
        if part is not None:
            shift = shifts[parent]
            part.below = {
                shift.before(step) if isinstance(step, int) else step: child
                for step, child in part.below.items()
            }


def _change(top: Part, change: Change, number: int, head: Steps) -> None:
    here = change.path.parts
    part = top
    for depth, step in enumerate(here):
        if part.since is None:  # a container changes with whatever is in it
            part.since = Since(number, (*head, *here[:depth]))
        if change.kind in (REMOVED, MOVED) and depth == len(here) - 1:
            return
        below = part.below.get(step)
        if below is None:
            return
        if depth == len(here) - 1:
            _settle(below, number, (*head, *here))
            del part.below[step]
            return
        part = below
    _settle(top, number, head)


def _descend(part: Part | None, steps: Steps) -> Part | None:
    for step in steps:
        if part is None:
            return None
        part = part.below.get(step)
    return part
