"""What lies at a few paths of one state after the other; only what changed is read anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argentum.errors import InputError, NotFoundError
from argentum.state.cel_values import as_cel
from argentum.tree import Path, Record, Tree, diff, freeze
from argentum.tree.encoding import pack, unpack
from argentum.tree.following import Follower, identity_of
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, fill_all, pages_of
from argentum.tree.tree import NOTHING, part_of

SMALL_BYTES = 32
"""What may be a number, and is decoded at once."""
SHOWN_BYTES = 50_000
"""Encoded size from which a value is told of in words: a break should cost no copy of a state."""
KEPT_VALUES = 6
"""Large values of a path that are known again, of which two stay decoded."""
SCALARS = frozenset({float, int, bool, str, type(None)})


class Found:
    """A value that is no scalar: read when it is asked for, and once."""

    _cel: Any = NOTHING
    _floats: Any = NOTHING
    _size: Any = NOTHING

    def __init__(self, tree: Tree | None, value: Any = NOTHING) -> None:
        self._tree = tree
        self._value = value

    def value(self) -> Any:
        """Give the value; objects are `Record`s."""
        if self._value is NOTHING and self._tree is not None:
            self._value = self._tree.thaw(live=False)
        return self._value

    def forget(self) -> None:
        """Let go of what can be read again."""
        if self._tree is not None:
            self._value = self._cel = self._floats = NOTHING

    def tree(self) -> Tree:
        """Give the value as a tree."""
        return freeze(self._value) if self._tree is None else self._tree

    def shown(self) -> Any:
        """Give the value, or of a large one only its size, in words."""
        if self._tree is None or self._tree.size_bytes <= SHOWN_BYTES:
            return self.value()
        return f"<{self.size()} items, {self._tree.size_bytes:,} bytes>"

    def size(self) -> int | None:
        """Count the members, without reading them where they are many; None if it has none."""
        if self._size is NOTHING:
            try:
                self._size = _count(self._value) if self._tree is None else self._tree.count()
            except TypeError:
                self._size = None
        return self._size  # type: ignore[no-any-return]

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

    def keys(self, *, floats: bool) -> Any:
        """Give the value as CEL has it, but a map with no values."""
        root = NOTHING if self._tree is None else self._tree.root
        if type(root) is Branch and root.kind is Kind.DICT:
            return as_cel(dict.fromkeys(names_in(root), True))
        inside = self.value()
        while isinstance(inside, Record):
            inside = inside.fields.get("", inside.fields)
        if isinstance(inside, dict):
            return as_cel(dict.fromkeys(inside, True))
        return self.cel(floats=floats)


def names_in(branch: Branch) -> list[str]:
    """List the keys of a large dict without reading its values."""
    pages = pages_of(branch)
    fill_all(pages)
    keys = b"".join([key for page in pages for key in page.keys or ()])
    names: list[str] = unpack(b"\xdd" + branch.count.to_bytes(4, "big") + keys)  # as one array
    return names


Item = Any
"""A scalar, a `Found`, or `NOTHING`."""


def value_of(item: Item) -> Any:
    """Give an item's value."""
    return item.value() if type(item) is Found else item


def shown_of(item: Item) -> Any:
    """Give an item's value, or of a large one only its size, in words."""
    return item.shown() if type(item) is Found else item


def size_of(item: Item) -> int | None:
    """Count an item's members; None if it has none."""
    if type(item) is Found:
        return item.size()
    return len(item) if type(item) is str else None


def cel_of(item: Item, *, floats: bool) -> Any:
    """Give an item as CEL has it."""
    return item.cel(floats=floats) if type(item) is Found else as_cel(item, floats=floats)


def keys_of(item: Item, *, floats: bool) -> Any:
    """Give an item as CEL has it, but a map with no values."""
    return item.keys(floats=floats) if type(item) is Found else as_cel(item, floats=floats)


def is_same(one: Item, other: Item) -> bool:
    """Tell whether two items are surely equal."""
    if one is other:
        return True
    kind = type(one)
    return kind in SCALARS and kind is type(other) and bool(one == other)


def are_equal(one: Item, other: Item) -> bool:
    """Compare two items: scalars as CEL does, anything else as a diff does."""
    if type(one) is not Found and type(other) is not Found:
        return (type(one) is bool) is (type(other) is bool) and bool(one == other)
    if one is other:
        return True
    trees = [item.tree() if type(item) is Found else freeze(item) for item in (one, other)]
    return not diff(*trees)


class PathReader:
    """Finds what lies at its paths in one tree after the other."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self._parts = [path.parts for path in paths]
        self._followers = [Follower(path) for path in paths]
        self._items: list[Item] = [NOTHING] * len(paths)
        self._trees: list[Tree | None] = [None] * len(paths)
        self._recent: list[list[tuple[object, Found]]] = [[] for _ in paths]
        """By path, the latest large values, by what tells them apart."""
        self._small: list[tuple[bytes, Found] | None] = [None] * len(paths)
        """By path, what was there in the last small state, and how it is written."""
        self._last: tuple[Tree | None, list[Item]] = (None, [])
        self._older: tuple[Tree | None, list[Item]] = (None, [])

    def read(self, tree: Tree) -> list[Item]:
        """
        Give what lies at each path, `NOTHING` where there is nothing.

        A `Found` is the same object as the last time where nothing was written anew.
        """
        for known, items in (self._last, self._older):
            if known is tree:
                return items
        root = tree.root
        items = self._of_small(root) if type(root) is bytes else self._of_large(tree)
        self._older, self._last = self._last, (tree, items)
        return items

    def _of_small(self, root: bytes) -> list[Item]:
        """Decode the whole once for all paths."""
        last, items = self._last
        if last is not None and last.root == root:
            return items
        whole = unpack(root)
        found = (_item_in(whole, parts) for parts in self._parts)
        return [
            self._unchanged(at, item) if type(item) is Found else item
            for at, item in enumerate(found)
        ]

    def _unchanged(self, at: int, found: Found) -> Found:
        """Give the `Found` of the small state before, if there is the same in it."""
        data = pack(found.value())
        known = self._small[at]
        if known is None or known[0] != data:
            self._small[at] = known = (data, found)
        return known[1]

    def _of_large(self, tree: Tree) -> list[Item]:
        trees, items = self._trees, self._items
        for at, follower in enumerate(self._followers):
            part = follower.at(tree)
            if part is not trees[at]:
                trees[at] = part
                items[at] = NOTHING if part is None else self._item_of(at, part)
        return list(items)

    def _item_of(self, at: int, part: Tree) -> Item:
        root = part.root
        if type(root) is not bytes:
            return self._found_again(at, part, identity_of(root))  # type: ignore[arg-type]
        if len(root) > SMALL_BYTES:
            return Found(part)
        value = unpack(root)
        return value if type(value) in SCALARS else Found(part, value)

    def _found_again(self, at: int, part: Tree, top: object) -> Found:
        """Give the same `Found` for a value that came back, as at the start of the next run."""
        recent = self._recent[at]
        found = next((one for known, one in recent if known is top), None) or Found(part)
        rest = [(known, one) for known, one in recent if known is not top]
        self._recent[at] = [(top, found), *rest[: KEPT_VALUES - 1]]
        for _, old in rest[1:]:
            old.forget()
        return found


def _item_in(value: Any, parts: Sequence[Any]) -> Item:
    for step in parts:
        if type(value) is dict and type(step) is str:
            value = value.get(step, NOTHING)
        else:
            value = part_of(value, step)
        if value is NOTHING:
            return NOTHING
    return value if type(value) in SCALARS else Found(None, value)


def why_missing(tree: Tree, path: Path) -> str:
    """Say what is near a path at which there is nothing."""
    try:
        tree.get(path, live=False)
    except (NotFoundError, InputError) as error:
        return str(error)
    return f"There is nothing at {path!r}."


def _count(value: Any) -> int:
    if isinstance(value, Record):
        return _count(value.fields.get("", value.fields))
    return len(value)
