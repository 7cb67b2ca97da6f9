"""
What changed between two trees, and how to do it again or undo it.

`diff` visits only what is not shared. Dicts and objects are compared key by key; lists, tuples
and deques are aligned (see `argentum.tree.sequence`), items that left and came back elsewhere are
moves, and containers at the same place between two items that stayed, or with the same `id`, are
compared inside. Types are compared exactly; NaN equals NaN, -0.0 equals 0.0, key order is nothing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from argentum.tree.chunks import page_digest as _page_digest
from argentum.tree.chunks import reference_of
from argentum.tree.encoding import pack, unpack
from argentum.tree.kinds import Kind, Record
from argentum.tree.nodes import Branch, Entry, Page, fill_all, pages_of
from argentum.tree.paths import Key, Path, Step
from argentum.tree.sequence import align, common_ends, longest_increasing
from argentum.tree.tree import Tree, thaw_entry

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
LOOK_AHEAD = 32
"""How many items ahead a container's counterpart is looked for between two items that stayed."""

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
    if type(old) is type(new) is Branch and old.kind is new.kind is Kind.LIST:
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
        self.stack = [((), (), _Packed(before), _Packed(after))]
        while self.stack:
            path, source, old, new = self.stack.pop()
            if type(old) is Change:
                yield old
                continue
            self.next = []
            if type(old) is _Packed and type(new) is _Packed:
                self._entries(path, source, old.entry, new.entry)
            else:
                self._values(path, source, _plain(old), _plain(new))
            self.stack.extend(reversed(self.next))

    def emit(self, kind: str, path: _Steps, source: _Steps, old: Any, new: Any) -> None:
        here = Path.of(path)
        there = here if path == source else Path.of(source)
        change = Change(here, kind, _public(old), _public(new), there)
        self.next.append(((), (), change, None))

    # ------------------------------------------------------------ entries

    def _entries(self, path: _Steps, source: _Steps, old: Entry, new: Entry) -> None:
        if _same_entry(old, new):
            return
        if type(old) is Branch and type(new) is Branch and _comparable(old, new):
            if old.kind in _SEQUENCES:
                self._branches_in_order(path, source, old, new)
            else:
                self._branches_by_key(path, source, old, new)
            return
        self._values(path, source, thaw_entry(old, live=False), thaw_entry(new, live=False))

    def _branches_by_key(self, path: _Steps, source: _Steps, old: Branch, new: Branch) -> None:
        gaps = list(_page_gaps(old, new))
        left = _keyed([page for gap in gaps for page in gap[0]])
        right = _keyed([page for gap in gaps for page in gap[1]])
        if old.kind is Kind.SUBCLASS:
            self._keys(path, source, left, right, lambda key: _field(unpack(key)))
        else:
            self._keys(path, source, left, right, lambda key: _step(unpack(key)))

    def _branches_in_order(self, path: _Steps, source: _Steps, old: Branch, new: Branch) -> None:
        work = _Lists(self, path, source)
        for old_pages, new_pages, old_at, new_at in _page_gaps(old, new):
            left = [entry for page in old_pages for entry in page.entries]
            right = [entry for page in new_pages for entry in page.entries]
            work.add(list(map(_Packed, left)), list(map(_Packed, right)), old_at, new_at)
        work.finish()

    # ------------------------------------------------------------ values

    def _values(self, path: _Steps, source: _Steps, old: Any, new: Any) -> None:
        if same_leaf(old, new):
            return
        kind = type(old)
        if kind is not type(new):
            self.emit(CHANGED, path, source, old, new)
        elif kind is dict:
            left, right = _by_key(old), _by_key(new)
            self._keys(path, source, left, right, lambda key: _step(_unkeyed(key)))
        elif kind is Record and old.type_name == new.type_name and _steps_are_clear(old, new):
            self._keys(path, source, old.fields, new.fields, _field)
        elif kind in (list, tuple) or (kind is deque and old.maxlen == new.maxlen):
            work = _Lists(self, path, source)
            work.add(list(old), list(new), 0, 0)
            work.finish()
        elif pack(old) != pack(new) and _canonical(old) != _canonical(new):
            self.emit(CHANGED, path, source, old, new)

    def _keys(self, path: _Steps, source: _Steps, old: Any, new: Any, step: Any) -> None:
        for key, value in new.items():
            if key in old and len(path) < QUICK_LEVELS and _surely_same(old[key], value):
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


class _Packed:
    """An entry that is not decoded unless it has to be."""

    __slots__ = ("entry",)

    def __init__(self, entry: Entry) -> None:
        self.entry = entry


def _plain(value: Any) -> Any:
    return thaw_entry(value.entry, live=False) if type(value) is _Packed else value


def _public(value: Any) -> Any:
    """Make a value for the caller: new, and with its own classes where they are loaded."""
    if type(value) is _Packed:
        return thaw_entry(value.entry, live=True)
    return value if type(value) in _ATOMS else unpack(pack(value), live=True)


_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
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


def same_leaf(old: object, new: object) -> bool:
    """Tell whether two values are equal and of one type, as far as `==` of atoms can tell."""
    if old is new:
        return True
    if type(old) is not type(new) or type(old) not in _ATOMS:
        return False
    return old == new or (old != old and new != new)  # noqa: PLR0124 - NaN


def _canonical(value: Any) -> Any:
    """
    Give what is equal for values that are the same as a whole, though their bytes differ.

    NaNs differ in their payload, zeros in their sign, and the order of keys is no change.
    """
    kind = type(value)
    try:
        if kind is float:
            return pack(math.nan if math.isnan(value) else value + 0.0)
        if kind is complex:
            return kind, _canonical(value.real), _canonical(value.imag)
        if kind in (list, tuple, deque):
            return kind, getattr(value, "maxlen", None), [_canonical(item) for item in value]
        if kind in (set, frozenset):
            return kind, sorted(repr(_canonical(member)) for member in value)
        if kind is dict:
            return {repr(_canonical(key)): _canonical(item) for key, item in value.items()}
        if kind is Record:
            fields = [(name, _canonical(item)) for name, item in sorted(value.fields.items())]
            return value.type_name, fields
    except RecursionError:
        pass
    return pack(value)


def _surely_same(old: Any, new: Any) -> bool:
    """Tell quickly, for most values that are the same, that they are."""
    if same_leaf(old, new):
        return True
    same_kind = type(old) is type(new) and type(old) in _PLAIN_CONTAINERS
    return same_kind and pack(old) == pack(new)


_PLAIN_CONTAINERS = frozenset({list, dict})


def _same_entry(old: Entry, new: Entry) -> bool:
    if old is new:
        return True
    if type(old) is bytes or type(new) is bytes:
        return old == new
    return old.top is new.top and old.kind is new.kind and old.head == new.head  # type: ignore[union-attr]


# ---------------------------------------------------------------- keys


def _keyed(pages: Sequence[Page]) -> dict[bytes, _Packed]:
    return {
        key: _Packed(entry)
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


# ---------------------------------------------------------------- pages

_Gap = tuple[list[Page], list[Page], int, int]
_WINDOW = 16


def _page_gaps(old: Branch, new: Branch) -> Iterator[_Gap]:
    """
    Give the runs of pages that differ, with the place of the first item of each.

    Which pages are skipped depends on contents alone (identity and digests only make it quick), so
    the result is the same wherever the trees came from.
    """
    left, right = pages_of(old), pages_of(new)
    at = other = old_at = new_at = 0
    while at < len(left) or other < len(right):
        end, stop = _next_same(left, right, at, other)
        olds, news = left[at:end], right[other:stop]
        if olds or news:
            fill_all(olds)
            fill_all(news)
            yield olds, news, old_at, new_at
        old_at += sum(page.count for page in olds)
        new_at += sum(page.count for page in news)
        at, other = end, stop
        while at < len(left) and other < len(right) and _same_page(left[at], right[other]):
            old_at += left[at].count
            new_at += right[other].count
            at, other = at + 1, other + 1


def _next_same(left: list[Page], right: list[Page], at: int, other: int) -> tuple[int, int]:
    """Find the nearest two pages that are the same, or the ends."""
    rest, remaining = len(left) - at, len(right) - other
    for steps in range(min(_WINDOW, rest + remaining)):
        for ahead in range(max(0, steps - remaining + 1), min(steps + 1, rest)):
            beside = steps - ahead
            if _same_page(left[at + ahead], right[other + beside]):
                return at + ahead, other + beside
    if rest and remaining and rest + remaining > _WINDOW:
        matches = align(list(map(_page_digest, left[at:])), list(map(_page_digest, right[other:])))
        if matches:
            return at + matches[0][0], other + matches[0][1]
    return len(left), len(right)


def _same_page(old: Page, new: Page) -> bool:
    if old is new:
        return True
    if old.count != new.count or old.size != new.size:
        return False
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest
    if old.branches or new.branches:
        return _page_digest(old) == _page_digest(new)
    return old.entries == new.entries and old.keys == new.keys


# ---------------------------------------------------------------- lists


@dataclass(slots=True, eq=False)
class _Item:
    """An item of a list that did not simply stay."""

    place: int
    value: Any
    token: Hashable


class _Lists:
    """Compare two lists, of which only the parts that differ are given."""

    def __init__(self, walk: _Walk, path: _Steps, source: _Steps) -> None:
        self.walk = walk
        self.path = path
        self.source = source
        self.segments: list[tuple[list[_Item], list[_Item]]] = []
        """What left and what came between two items that stayed."""

    def add(self, old: list[Any], new: list[Any], old_at: int, new_at: int) -> None:
        """Align two parts of the lists, whose first items lie at the given places."""
        tokens, others = list(map(_token, old)), list(map(_token, new))
        skip, end = common_ends(tokens, others)
        left = _items(old, tokens, old_at, skip, end)
        right = _items(new, others, new_at, skip, end)
        start = begin = 0
        matches = align([item.token for item in left], [item.token for item in right])
        for at, other in [*matches, (len(left), len(right))]:
            if at > start or other > begin:
                self.segments.append((left[start:at], right[begin:other]))
            start, begin = at + 1, other + 1

    def finish(self) -> None:
        """Find moves and items changed in place among what is left, and report it all."""
        found: list[tuple[int, str, _Item | None, _Item]] = self._moves()
        gone: list[_Item] = []
        for olds, news in self.segments:
            pairs = _pairs(olds, news)
            found += [(new.place, CHANGED, old, new) for old, new in pairs]
            paired_old = {id(old) for old, _ in pairs}
            paired_new = {id(new) for _, new in pairs}
            gone += [item for item in olds if id(item) not in paired_old]
            fresh = [item for item in news if id(item) not in paired_new]
            found += [(item.place, ADDED, None, item) for item in fresh]
        for item in gone:
            self._emit(REMOVED, item.place, item.place, item.value, None)
        for place, kind, old, new in sorted(found, key=lambda one: one[0]):
            if kind == CHANGED and old is not None:
                here, there = (*self.path, place), (*self.source, old.place)
                self.walk.next.append((here, there, old.value, new.value))
            else:
                was = new if old is None else old
                value = None if old is None else old.value
                self._emit(kind, place, was.place, value, new.value)

    def _emit(self, kind: str, place: int, was: int, old: Any, new: Any) -> None:
        self.walk.emit(kind, (*self.path, place), (*self.source, was), old, new)

    def _moves(self) -> list[tuple[int, str, _Item | None, _Item]]:
        """Take the items out of the segments that left one place and came back at another."""
        left: dict[Hashable, deque[_Item]] = {}
        for olds, _ in self.segments:
            for item in olds:
                left.setdefault(item.token, deque()).append(item)
        moves: list[tuple[int, str, _Item | None, _Item]] = []
        taken: set[int] = set()
        for _, news in self.segments:
            for item in news:
                candidates = left.get(item.token)
                if candidates:
                    old = candidates.popleft()
                    moves.append((item.place, MOVED, old, item))
                    taken |= {id(old), id(item)}
        if taken:
            self.segments = [
                ([one for one in olds if id(one) not in taken],
                 [one for one in news if id(one) not in taken])
                for olds, news in self.segments
            ]  # fmt: skip
        return moves


def _items(values: list[Any], tokens: list[Hashable], at: int, skip: int, end: int) -> list[_Item]:
    """Wrap the values without so many at the start and at the end."""
    places = range(skip, len(values) - end)
    return [_Item(at + place, values[place], tokens[place]) for place in places]


def _token(value: Any) -> Hashable:
    """Give what is equal exactly for equal items."""
    return _entry_token(value.entry) if type(value) is _Packed else pack(value)


def _entry_token(entry: Entry) -> bytes:
    return entry if type(entry) is bytes else reference_of(entry)


def _pairs(olds: list[_Item], news: list[_Item]) -> list[tuple[_Item, _Item]]:
    """Say which items of a segment are one item that changed in place; their order is kept."""
    if not olds or not news:
        return []
    for item in (*olds, *news):
        item.value = _plain(item.value)
    by_id = _pairs_by_id(olds, news)
    pairs: list[tuple[_Item, _Item]] = []
    at = other = 0
    for old_end, new_end in [*by_id, (len(olds), len(news))]:
        pairs += _pairs_in_order(olds[at:old_end], news[other:new_end])
        if old_end < len(olds):
            pairs.append((olds[old_end], news[new_end]))
        at, other = old_end + 1, new_end + 1
    return pairs


def _pairs_by_id(olds: list[_Item], news: list[_Item]) -> list[tuple[int, int]]:
    places: dict[Hashable, int] = {}
    for place, item in enumerate(news):
        name = _own_id(item.value)
        if name is not None:
            places.setdefault(name, place)
    found = []
    for place, item in enumerate(olds):
        other = places.pop(_own_id(item.value), None)
        if other is not None:
            found.append((place, other))
    return [found[at] for at in longest_increasing([other for _, other in found])]


def _own_id(value: Any) -> Hashable:
    fields = value.fields if type(value) is Record else value
    if type(fields) is not dict or fields.get("id") is None:
        return None
    return type(fields), pack(fields["id"])


def _pairs_in_order(olds: list[_Item], news: list[_Item]) -> list[tuple[_Item, _Item]]:
    alike = []
    other = 0
    for place, old in enumerate(olds):
        for ahead in range(other, min(other + LOOK_AHEAD, len(news))):
            if _alike(old.value, news[ahead].value):
                alike.append((place, ahead))
                other = ahead + 1
                break
    pairs = [(olds[place], news[ahead]) for place, ahead in alike]
    at = other = 0
    for end, stop in [*alike, (len(olds), len(news))]:
        if end - at == stop - other:
            between = zip(olds[at:end], news[other:stop], strict=True)
            pairs += [(old, new) for old, new in between if _same_shape(old.value, new.value)]
        at, other = end + 1, stop + 1
    return pairs


def _same_shape(old: Any, new: Any) -> bool:
    """Tell whether two items at one place have the same fields and are not known to be two."""
    if type(old) is Record and type(new) is Record and old.type_name == new.type_name:
        old, new = old.fields, new.fields
    if type(old) is not dict or type(new) is not dict or old.keys() != new.keys():
        return False
    return bool(old) and _own_id(old) == _own_id(new)


def _alike(old: Any, new: Any) -> bool:
    """Tell whether one item is probably the other one, changed inside."""
    if same_leaf(old, new):
        return True
    if type(old) is not type(new):
        return False
    if type(old) is Record:
        same = old.type_name == new.type_name
        return same and (not old.fields or _alike(old.fields, new.fields))
    if type(old) is dict:
        if None not in (_own_id(old), _own_id(new)):
            return _own_id(old) == _own_id(new)
        return any(key in new and pack(new[key]) == pack(item) for key, item in old.items())
    if type(old) in (list, tuple, deque):
        return not {pack(item) for item in old}.isdisjoint(map(pack, new))
    return type(old) not in _ATOMS and pack(old) == pack(new)
