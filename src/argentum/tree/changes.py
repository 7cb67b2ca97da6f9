"""
What changed between two trees, and how to do it again or undo it.

`diff` visits only what is not shared. Dicts and objects are compared key by key; lists, tuples
and deques are aligned (see `argentum.tree.sequence`), items that left and came back elsewhere are
moves, and containers at the same place between two items that stayed, or with the same `id`, are
compared inside. Types are compared exactly; NaN equals NaN, -0.0 equals 0.0, key order is nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from argentum.tree.encoding import pack, unpack
from argentum.tree.gaps import page_gaps
from argentum.tree.items import ListComparison
from argentum.tree.kinds import Kind, Record
from argentum.tree.nodes import Branch, Entry, Page, pages_of
from argentum.tree.paths import Key, Path, Step
from argentum.tree.sameness import (
    ATOMS,
    Packed,
    canonical,
    plain,
    same_entry,
    same_leaf,
    surely_same,
)
from argentum.tree.tree import Tree, thaw_entry

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
QUICK_LEVELS = 30
"""Levels down to which equal values are told by their bytes: at each, all below is encoded."""

_Steps = tuple[Step, ...]


class Change(NamedTuple):
    """One difference between two states."""

    path: Path
    """Where it is: in the state after. The last place of something removed from a list is the
    place that it had before."""
    kind: str
    """`added`, `removed`, `changed` or `moved`."""
    before: Any
    """The value before; None if `added`."""
    after: Any
    """The value after; None if `removed`."""
    source: Path
    """Where it was: in the state before. The last place of something added is the new place."""

    def inverted(self) -> Change:
        """Give the change that undoes this one."""
        kind = {ADDED: REMOVED, REMOVED: ADDED}.get(self.kind, self.kind)
        return Change(self.source, kind, self.after, self.before, self.path)


def diff(before: Tree, after: Tree) -> list[Change]:
    """
    List all changes between two trees, in the order of the state after.

    Items of a list that were removed come before those that were added. Values in the changes are
    new objects with their exact types; changing them changes nothing that is kept.
    """
    return list(_Walk().run(before.root, after.root))


def same(before: Tree, after: Tree) -> bool:
    """Tell whether `diff` finds no change; it stops at the first."""
    old, new = before.root, after.root
    if type(old) is type(new) is bytes:
        if old == new:
            return True
        one, other = unpack(old), unpack(new)
        if type(one) in ATOMS:
            return same_leaf(one, other)
    elif type(old) is type(new) is Branch and old.kind is new.kind is Kind.LIST:
        return old.count == new.count and next(_Walk().run(old, new), None) is None
    return next(_Walk().run(old, new), None) is None


def invert(changes: Iterable[Change]) -> list[Change]:
    """Give the changes that lead back: `apply(invert(diff(a, b)), b) == a`."""
    return [change.inverted() for change in changes]


class _Walk:
    """One comparison; pairs still to be compared wait on a stack, so depth costs no recursion."""

    def __init__(self) -> None:
        self.stack: list[tuple[_Steps, _Steps, Any, Any]] = []
        self.next: list[tuple[_Steps, _Steps, Any, Any]] = []

    def run(self, before: Entry, after: Entry) -> Iterator[Change]:
        self.stack = [((), (), Packed(before), Packed(after))]
        while self.stack:
            path, source, old, new = self.stack.pop()
            if type(old) is Change:
                yield old
                continue
            self.next = []
            if type(old) is Packed and type(new) is Packed:
                self._entries(path, source, old.entry, new.entry)
            else:
                self._values(path, source, plain(old), plain(new))
            self.stack.extend(reversed(self.next))

    def emit(self, kind: str, path: _Steps, source: _Steps, old: Any, new: Any) -> None:
        here = Path.of(path)
        there = here if path == source else Path.of(source)
        change = Change(here, kind, _public(old), _public(new), there)
        self.next.append(((), (), change, None))

    # ------------------------------------------------------------ entries

    def _entries(self, path: _Steps, source: _Steps, old: Entry, new: Entry) -> None:
        if same_entry(old, new):
            return
        if type(old) is Branch and type(new) is Branch and _comparable(old, new):
            if old.kind in _SEQUENCES:
                self._branches_in_order(path, source, old, new)
            else:
                self._branches_by_key(path, source, old, new)
            return
        self._values(path, source, thaw_entry(old, live=False), thaw_entry(new, live=False))

    def _branches_by_key(self, path: _Steps, source: _Steps, old: Branch, new: Branch) -> None:
        gaps = list(page_gaps(old, new))
        left = _keyed([page for gap in gaps for page in gap[0]])
        right = _keyed([page for gap in gaps for page in gap[1]])
        if old.kind is Kind.SUBCLASS:
            self._keys(path, source, left, right, lambda key: _field(unpack(key)))
        else:
            self._keys(path, source, left, right, lambda key: _step(unpack(key)))

    def _branches_in_order(self, path: _Steps, source: _Steps, old: Branch, new: Branch) -> None:
        items = ListComparison()
        for old_pages, new_pages, old_at, new_at in page_gaps(old, new):
            left = [entry for page in old_pages for entry in page.entries]
            right = [entry for page in new_pages for entry in page.entries]
            items.add(list(map(Packed, left)), list(map(Packed, right)), old_at, new_at)
        self._items(path, source, items)

    def _items(self, path: _Steps, source: _Steps, items: ListComparison) -> None:
        """Tell what became of the items of a list: what went first, then by the new place."""
        moves = items.moves()
        pairs, gone, fresh = items.rest()
        for item in gone:
            self.emit(REMOVED, (*path, item.place), (*source, item.place), item.value, None)
        found = [(new.place, MOVED, old, new) for old, new in moves]
        found += [(new.place, CHANGED, old, new) for old, new in pairs]
        found += [(new.place, ADDED, new, new) for new in fresh]
        for place, kind, old, new in sorted(found, key=lambda one: one[0]):
            here, there = (*path, place), (*source, old.place)
            if kind == CHANGED:
                self.next.append((here, there, old.value, new.value))
            else:
                self.emit(kind, here, there, None if kind == ADDED else old.value, new.value)

    # ------------------------------------------------------------ values

    def _values(self, path: _Steps, source: _Steps, old: Any, new: Any) -> None:
        if same_leaf(old, new):
            return
        kind = type(old)
        if kind is not type(new) or kind in ATOMS:
            self.emit(CHANGED, path, source, old, new)
        elif kind is dict:
            left, right = _by_key(old), _by_key(new)
            self._keys(path, source, left, right, lambda key: _step(_unkeyed(key)))
        elif kind is Record and old.type_name == new.type_name and _steps_are_clear(old, new):
            self._keys(path, source, old.fields, new.fields, _field)
        elif kind in (list, tuple) or (kind is deque and old.maxlen == new.maxlen):
            items = ListComparison()
            items.add(list(old), list(new), 0, 0)
            self._items(path, source, items)
        elif pack(old) != pack(new) and canonical(old) != canonical(new):
            self.emit(CHANGED, path, source, old, new)

    def _keys(self, path: _Steps, source: _Steps, old: Any, new: Any, step: Any) -> None:
        for key, value in new.items():
            if key in old and len(path) < QUICK_LEVELS and surely_same(old[key], value):
                continue
            at = step(key)
            here, there = (path, source) if at is None else ((*path, at), (*source, at))
            if key in old:
                self.next.append((here, there, old[key], value))
            else:
                self.emit(ADDED, here, there, None, value)
        for key, value in old.items():
            if key not in new:
                self.emit(REMOVED, (*path, step(key)), (*source, step(key)), value, None)


def _public(value: Any) -> Any:
    """Make a value for the caller: new, and with its own classes where they are loaded."""
    if type(value) is Packed:
        return thaw_entry(value.entry, live=True)
    return value if type(value) in ATOMS else unpack(pack(value), live=True)


_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE, Kind.DEQUE})


def _comparable(old: Branch, new: Branch) -> bool:
    """Tell whether two large containers of one kind are compared part by part."""
    if old.kind is not new.kind or old.head != new.head:
        return False
    if old.kind is Kind.SUBCLASS:
        left, right = _only_entry(old), _only_entry(new)
        return type(left) is type(right) is Branch and left.kind is right.kind is Kind.DICT
    return old.kind not in (Kind.SET, Kind.FROZENSET)


def _only_entry(branch: Branch) -> Entry | None:
    return pages_of(branch)[0].entries[0] if branch.count == 1 else None


def _steps_are_clear(old: Record, new: Record) -> bool:
    """
    Tell whether every step into two records of one class means the same in both.

    In an instance of a subclass of a built-in type, a step leads to an attribute or to a member of
    the built-in value, and the value as a whole has no step of its own.
    """
    if "" not in old.fields and "" not in new.fields:
        return True
    if old.fields.keys() != new.fields.keys():
        return False
    left, right = old.fields[""], new.fields[""]
    if type(left) is not type(right) or type(left) not in (dict, list, tuple, deque):
        return False
    if type(left) is deque:
        return bool(left.maxlen == right.maxlen)
    attributes = old.fields.keys() - {""}
    return type(left) is not dict or attributes.isdisjoint([*left, *right])


# ---------------------------------------------------------------- keys


def _keyed(pages: Sequence[Page]) -> dict[bytes, Packed]:
    return {
        key: Packed(entry)
        for page in pages
        for key, entry in zip(page.keys or (), page.entries, strict=True)
    }


def _by_key(value: dict[Any, Any]) -> dict[Any, Any]:
    """Key a dict by type and value: `1`, `1.0` and `True` are different keys."""
    if set(map(type, value)) <= {str}:
        return value
    return {key if type(key) is str else _TypedKey(key): item for key, item in value.items()}


class _TypedKey:
    __slots__ = ("packed", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.packed = pack(value)

    def __hash__(self) -> int:
        return hash(self.packed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TypedKey) and self.packed == other.packed


def _unkeyed(key: Any) -> Any:
    return key.value if type(key) is _TypedKey else key


def _step(key: Any) -> Step:
    return key if type(key) is str else Key(key)


def _field(name: str) -> Step | None:
    """Give the step to an object's field; its built-in value, named `""`, is at the same place."""
    return name or None
