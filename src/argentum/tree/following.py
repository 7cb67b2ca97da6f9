"""
One path followed through many trees, of which each shares most with the one before.

A `Follower` keeps what it saw last on each step of the way. Where a branch, a group or a page is
the same object as before, as it is between trees that share and between trees of one `Loader`,
nothing below is looked at again; what is new is read by itself, without its neighbours.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from argentum.errors import NotFoundError
from argentum.tree.encoding import pack, unpack
from argentum.tree.freezing import FEW
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry, Group, Page, fill_all
from argentum.tree.paths import Key, Path, Step
from argentum.tree.tree import NOTHING, Tree, child_of, part_of

IN_ORDER = frozenset({Kind.LIST, Kind.TUPLE, Kind.DEQUE})


class Follower:
    """Finds what `Tree.get` finds at one path, quickly in one tree after the other."""

    def __init__(self, path: str) -> None:
        """
        Start at a path.

        Raises:
            InputError: the text is not a path.
        """
        self.path = Path(path)
        self.levels = [Level(step) for step in self.path.parts]
        self._last: tuple[Entry | None, Tree | None] = (None, None)
        self._decoded: tuple[bytes, int, bytes | None] = (b"", -1, None)

    def at(self, tree: Tree) -> Tree | None:
        """
        Give what lies at the path as a tree of its own, None if there is nothing.

        It is the same object as the last time where nothing was written anew.

        Raises:
            FormatError: a stored part is missing or was altered.
        """
        return self.found(self._descend(tree.root))

    def found(self, entry: Entry | None) -> Tree | None:
        """Make a tree of what lies at the path; the same object as the last time if it is."""
        if entry is None:
            return None
        known, made = self._last
        if made is None or not _is_same(known, entry):
            made = Tree(entry)
            self._last = (entry, made)
        return made

    def _descend(self, entry: Entry) -> Entry | None:
        for depth, level in enumerate(self.levels):
            if type(entry) is bytes:
                return self.inside(entry, depth)
            below = level.below(entry)  # type: ignore[arg-type]
            if below is None:
                return None
            entry = below
        return entry

    def inside(self, entry: bytes, depth: int) -> bytes | None:
        """Go the rest of the way through a value that is one entry."""
        known, known_depth, found = self._decoded
        if known_depth == depth and known == entry:
            return found
        value = unpack(entry)
        for step in self.path.parts[depth:]:
            value = part_of(value, step)
            if value is NOTHING:
                break
        found = None if value is NOTHING else pack(value)
        self._decoded = (entry, depth, found)
        return found


def identity_of(branch: Branch) -> object:
    """Give what branches with the same members share if they are of one `Loader`."""
    top = branch._top  # noqa: SLF001 - to ask for `top` would lay out the pages of a live one
    return branch if top is None else top


def is_live_dict(branch: Branch) -> bool:
    """Tell whether `live_member` finds the members: in a dict of few that was just frozen."""
    return branch.names is not None and branch.count <= FEW


def live_member(branch: Branch, name: object) -> Entry | None:
    """Give what a dict has at a key, None if there is nothing, and lay out no pages for that."""
    names = branch.names or []
    return branch.few()[names.index(name)] if type(name) is str and name in names else None


def _is_same(old: Entry | None, new: Entry) -> bool:
    if old is new:
        return True
    if type(old) is Branch and type(new) is Branch:
        is_one = identity_of(old) is identity_of(new)
        return is_one and old.kind is new.kind and old.head == new.head
    return type(old) is bytes and old == new


class Level:
    """One step of the way, and what was found there last."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self._name = step.value if isinstance(step, Key) else step
        self.key = pack(self._name)
        self._branch: Branch | None = None
        self._found: Entry | None = None
        self._places: dict[int, int] = {}
        """By depth: the child in which the key was last, to be asked first."""
        self._without: WeakSet[Page | Group] = WeakSet()
        """What is known not to have the key."""

    def below(self, branch: Branch) -> Entry | None:
        """Give what lies one step below a branch, None if there is nothing."""
        if is_live_dict(branch):
            return live_member(branch, self._name)
        if not _is_same(self._branch, branch):
            self._found = self._look_up(branch)
            self._branch = branch
        return self._found

    def _look_up(self, branch: Branch) -> Entry | None:
        if branch.kind in IN_ORDER:
            return self._at_place(branch)
        if branch.kind is not Kind.SUBCLASS:
            return self._by_key(branch.top, 0)
        try:
            return child_of(branch, self.step, ())
        except NotFoundError:
            return None

    def place_in(self, branch: Branch) -> int | None:
        """Give the place in a list, counted from its front; None if it has no such place."""
        at = self.step
        if not isinstance(at, int) or not -branch.count <= at < branch.count:
            return None
        return at + branch.count if at < 0 else at

    def _at_place(self, branch: Branch) -> Entry | None:
        at = self.place_in(branch)
        if at is None:
            return None
        node: Any = branch.top
        while type(node) is Group:
            for child in node.children:
                if at < child.count:
                    node = child
                    break
                at -= child.count
        entry: Entry = node.entries[at]
        return entry

    def _by_key(self, node: Page | Group, depth: int) -> Entry | None:
        if node in self._without:
            return None
        if type(node) is Group:
            found = self._among(node.children, depth)
        else:
            keys: list[bytes] = node.keys or []
            found = node.entries[keys.index(self.key)] if self.key in keys else None
        if found is None:
            self._without.add(node)
        return found

    def _among(self, children: list[Page | Group], depth: int) -> Entry | None:
        """Look where the key was last, then in all, which are read in one go."""
        first = self._places.get(depth, 0)
        if first < len(children):
            found = self._by_key(children[first], depth + 1)
            if found is not None:
                return found
        fill_all([child for child in children if child not in self._without])
        for at, child in enumerate(children):
            found = self._by_key(child, depth + 1)
            if found is not None:
                self._places[depth] = at
                return found
        return None
