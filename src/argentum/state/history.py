"""The values that a path had, one after the other, and since when it had each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from argentum.errors import InputError, NotFoundError, not_found, shown
from argentum.tree import Path, Record, Tree, same
from argentum.tree.descent import follow
from argentum.tree.following import Follower
from argentum.tree.paths import Key, Step

if TYPE_CHECKING:
    from argentum.state.snapshots import Snapshot  # which has the method that calls `history`

SEARCHED = 8
"""Snapshots in which an error looks for paths like the one that is nowhere."""


class Value(NamedTuple):
    """A value that a path had from one snapshot until another."""

    since: Snapshot
    """The first snapshot that has it."""
    until: Snapshot | None
    """The first that no longer has it; None if the last snapshot has it."""
    tree: Tree | None
    """The value as it was in `since`, not decoded; None if there was nothing at the path."""

    @property
    def present(self) -> bool:
        """Whether there was anything at the path."""
        return self.tree is not None

    def thaw(self, *, live: bool = True) -> Any:
        """
        Give the value, new and with its exact types (see `Tree.thaw`).

        Raises:
            NotFoundError: there was nothing at the path.
        """
        if self.tree is None:
            message = (
                f"There is nothing at the path since snapshot {shown(self.since.label)}. "
                "Look at `present` first."
            )
            raise NotFoundError(message)
        return self.tree.thaw(live=live)


def history(snapshots: Sequence[Snapshot], path: str) -> list[Value]:
    """
    List the values that a path had, in turn, and the stretches where there was nothing.

    Two neighbours are one value where `argentum.tree.diff` finds no change between them. A place
    in a list is literal: `messages[3]` is whichever item is at place 3. Only what is new on the way
    to the path is read, so this is quick over thousands of large stored snapshots.

    Args:
        snapshots: of one agent, oldest first.

    Raises:
        InputError: the text is not a path, or the snapshots are of several agents.
        NotFoundError: no snapshot has anything at the path; the message names paths that are near.
    """
    check_one_agent(snapshots)
    starts = list(_starts(snapshots, path))
    if not any(tree is not None for _, tree in starts):
        raise _nowhere(snapshots, Path(path))
    ends = [*(since for since, _ in starts[1:]), None]
    return [Value(since, until, tree) for (since, tree), until in zip(starts, ends, strict=True)]


def _starts(snapshots: Sequence[Snapshot], path: str) -> Iterator[tuple[Snapshot, Tree | None]]:
    """Give each snapshot at which the value is another than in the one before."""
    last: Tree | None = None
    found = follow(path, [snapshot.tree for snapshot in snapshots])
    for number, (snapshot, tree) in enumerate(zip(snapshots, found, strict=True)):
        if number == 0 or not is_same(last, tree):
            yield snapshot, tree
        last = tree


def is_same(old: Tree | None, new: Tree | None) -> bool:
    """Tell whether a diff finds no change; None is nothing at all."""
    if old is new:
        return True
    return old is not None and new is not None and same(old, new)


def check_one_agent(snapshots: Sequence[Snapshot]) -> None:
    """
    Refuse states of which one does not follow from the other.

    Raises:
        InputError: the snapshots are of several agents.
    """
    agents = sorted({str(snapshot.agent) for snapshot in snapshots})
    if len(agents) > 1:
        message = (
            f"The snapshots are of {len(agents)} agents: {', '.join(map(repr, agents))}. "
            "Give those of one: snapshots_of(events, agent=NAME)."
        )
        raise InputError(message)


# ---------------------------------------------------------------- paths that are nowhere


def _nowhere(snapshots: Sequence[Snapshot], path: Path) -> NotFoundError:
    if not snapshots:
        return NotFoundError("There are no snapshots to look in. Take one: session.snapshot(…).")
    apart = max(1, len(snapshots) // SEARCHED)
    deepest, near = -1, set[str]()
    for snapshot in (*snapshots[::apart], snapshots[-1]):
        depth, paths = _near(snapshot.tree, path)
        if depth > deepest:
            deepest, near = depth, set()
        if depth == deepest:
            near |= paths
    return not_found(f"value in any of {len(snapshots)} snapshots at", str(path), near)


def _near(tree: Tree, path: Path) -> tuple[int, set[str]]:
    """Give how many steps of a path lead somewhere, and the paths one step further."""
    # Halving, for a path may have very many steps.
    fewer = range(1, len(path.parts))
    depth = bisect_left(fewer, True, key=lambda steps: _above(tree, path, steps) is None)  # noqa: FBT003 - what is sought
    found = _above(tree, path, depth)
    steps = [] if found is None else _steps_of(found.thaw(live=False))
    return depth, {str(Path.of((*path.parts[:depth], step))) for step in steps}


def _above(tree: Tree, path: Path, steps: int) -> Tree | None:
    return Follower(Path.of(path.parts[:steps])).at(tree)


def _steps_of(value: Any) -> list[Step]:
    if isinstance(value, Record):
        return [name for name in value.fields if name] + _steps_of(value.fields.get(""))
    if isinstance(value, dict):
        return [key if type(key) is str else Key(key) for key in value]
    if isinstance(value, list | tuple) and value:
        return [0, len(value) - 1]
    return []
