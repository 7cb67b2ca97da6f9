"""What lies at a few paths of one state after the other; only what changed is read anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argentum.errors import InputError, NotFoundError
from argentum.state.cel_values import as_cel
from argentum.tree import Path, Record, Tree
from argentum.tree.encoding import unpack
from argentum.tree.following import Follower
from argentum.tree.tree import NOTHING, part_of

SMALL_BYTES = 32
"""What may be a number."""


class Found:
    """What lies at a path: read when it is asked for, and once."""

    __slots__ = ("_cel", "_floats", "_tree", "_value")

    def __init__(self, tree: Tree | None, value: Any = NOTHING) -> None:
        self._tree = tree
        self._value = value
        self._cel: Any = NOTHING
        self._floats: Any = NOTHING

    @property
    def is_small(self) -> bool:
        """Whether it may be a number."""
        return self._value is not NOTHING or (
            self._tree is not None and self._tree.size_bytes <= SMALL_BYTES
        )

    def value(self) -> Any:
        """Give the value; objects are `Record`s."""
        if self._value is NOTHING and self._tree is not None:
            self._value = self._tree.thaw(live=False)
        return self._value

    def size(self) -> int | None:
        """Count the members, without reading them where they are many; None if it has none."""
        try:
            return _count(self._value) if self._tree is None else self._tree.count()
        except TypeError:
            return None

    def cel(self, *, floats: bool) -> Any:
        """Give the value as CEL has it."""
        known = self._floats if floats else self._cel
        if known is not NOTHING:
            return known
        made = as_cel(self.value(), floats=floats)
        if floats:
            self._floats = made
        else:
            self._cel = made
        return made


class PathReader:
    """Finds what lies at its paths in one tree after the other."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self._followers = [Follower(path) for path in paths]
        self._founds: list[Found | None] = [None] * len(paths)
        self._trees: list[Tree | None] = [None] * len(paths)
        self._recent: list[tuple[Tree, list[Found | None]]] = []

    def read(self, tree: Tree) -> list[Found | None]:
        """
        Give what lies at each path, None where there is nothing.

        A `Found` is the same object as the last time where nothing was written anew.
        """
        for known, founds in self._recent:
            if known is tree:
                return founds
        root = tree.root
        founds = self._of_small(root) if type(root) is bytes else self._of_large(tree)
        self._recent = [(tree, founds), *self._recent[:1]]
        return founds

    def _of_small(self, root: bytes) -> list[Found | None]:
        """Decode the whole once for all paths."""
        if self._recent:
            last, founds = self._recent[0]
            if last.root == root:
                return founds
        whole = unpack(root)
        return [_found_in(whole, path.parts) for path in self.paths]

    def _of_large(self, tree: Tree) -> list[Found | None]:
        founds: list[Found | None] = []
        for at, follower in enumerate(self._followers):
            part = follower.at(tree)
            if part is not self._trees[at]:
                self._trees[at] = part
                self._founds[at] = None if part is None else Found(part)
            founds.append(self._founds[at])
        return founds


def why_missing(tree: Tree, path: Path) -> str:
    """Say what is near a path at which there is nothing."""
    try:
        tree.get(path, live=False)
    except (NotFoundError, InputError) as error:
        return str(error)
    return f"There is nothing at {path!r}."


def _found_in(value: Any, parts: Sequence[Any]) -> Found | None:
    for step in parts:
        if type(value) is dict and type(step) is str:
            value = value.get(step, NOTHING)
        else:
            value = part_of(value, step)
        if value is NOTHING:
            return None
    return Found(None, value)


def _count(value: Any) -> int:
    if isinstance(value, Record):
        return _count(value.fields.get("", value.fields))
    return len(value)
