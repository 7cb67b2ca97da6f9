"""
Take every text out of a value of any type, and put changed texts back without changing its shape.

The texts are joined to one, each behind the key that it lies under, so that one scan sees them all
with their context; what changes is put back from the inside out, and what holds no change is the
same object as before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from ormsgpack import Ext

from argentum.tree.encoding import pack, unpack
from argentum.tree.building import build_object, build_subclass
from argentum.tree.kinds import Cycle, Kind, Member, Opaque, Parts, Record
from argentum.tree.taking import name_of, take_apart
from argentum.tree.paths import Key, Path, Step

LEAST_KEY: Final = 16
"""Characters of a key that could itself be a secret; shorter ones are only context."""
_NUMBERS: Final = frozenset({int, float})
_WITHOUT_TEXT: Final = frozenset({int, float, bool, type(None)})
_BYTES: Final = frozenset({bytes, bytearray, memoryview})


class Slot(NamedTuple):
    """A place in a container: in its keys or in its values."""

    node: int
    place: int
    in_keys: bool = False


class Leaf(NamedTuple):
    """A text and the key it lies under."""

    slot: Slot
    label: str
    text: str
    is_key: bool


@dataclass(slots=True)
class Node:
    """A container on the way."""

    value: object
    parts: Parts
    label: str
    parents: list[Slot]


class Leaves:
    """
    The texts of a value.

    Args:
        at: the steps that lead to the value, whose last name is its context.
    """

    def __init__(self, value: object, *, at: tuple[Step, ...] = ()) -> None:
        self.at = at
        self.nodes: list[Node] = []
        self.leaves: list[Leaf] = []
        self.hidden_keys: dict[tuple[int, int], str] = {}
        """What stands in a path for a key that holds a secret."""
        self._known: dict[int, int] = {}
        self._todo: deque[int] = deque()
        label = next((step for step in reversed(at) if isinstance(step, str)), "")
        root = Parts(Kind.LIST, None, None, [value])
        self.nodes.append(Node(None, root, label, []))
        self._todo.append(0)
        while self._todo:
            self._open(self._todo.pop())

    def _open(self, index: int) -> None:
        node = self.nodes[index]
        parts, leaves = node.parts, self.leaves
        keys = parts.keys if parts.kind is not Kind.LIST else None
        label = node.label
        opened: list[int] = []
        for place, value in enumerate(parts.values):
            if keys is not None:
                key = keys[place]
                label = key if type(key) is str else self._key(index, place, key, opened)
                if len(label) >= LEAST_KEY and type(key) is str:
                    leaves.append(Leaf(Slot(index, place, True), "", label, is_key=True))  # noqa: FBT003
            kind = type(value)
            if kind is str:
                leaves.append(Leaf(Slot(index, place), label, value, is_key=False))
            elif kind not in _WITHOUT_TEXT:
                self._child(Slot(index, place), value, label, opened)
        self._todo.extend(reversed(opened))

    def _key(self, index: int, place: int, key: object, opened: list[int]) -> str:
        """Go into a key that is no `str`, like a tuple."""
        if type(key) not in _WITHOUT_TEXT:
            self._child(Slot(index, place, in_keys=True), key, "", opened)
        return ""

    def _child(self, slot: Slot, value: object, label: str, opened: list[int]) -> None:
        known = self._known.get(id(value))
        if known is not None:
            self.nodes[known].parents.append(slot)
            return
        text = text_of(value)
        if text is not None:
            self.leaves.append(Leaf(slot, label, text, is_key=False))
            return
        parts = _parts_of(value)
        if parts is None:
            return
        self._known[id(value)] = len(self.nodes)
        opened.append(len(self.nodes))
        self.nodes.append(Node(value, parts, label, [slot]))

    # ------------------------------------------------------------ where things are

    def steps_to(self, slot: Slot) -> tuple[Step, ...]:
        """Give the steps to a place, by the way on which it was first met."""
        steps: list[Step] = []
        while True:
            node = self.nodes[slot.node]
            if slot.node == 0:
                return (*self.at, *reversed(steps))
            hidden = self.hidden_keys.get((slot.node, slot.place))
            steps.append(_step(node.parts, slot.place) if hidden is None else hidden)
            slot = node.parents[0]

    def path_to(self, slot: Slot) -> Path:
        """Give the path to a place."""
        return Path.of(self.steps_to(slot))

    def value_at(self, slot: Slot) -> object:
        """Give what is at a place."""
        parts = self.nodes[slot.node].parts
        return (parts.keys or ())[slot.place] if slot.in_keys else parts.values[slot.place]

    def joined(self, between: str, after: str) -> tuple[str, list[int]]:
        """Give all texts as one, and where each begins with its label."""
        pieces = [leaf.label + between + leaf.text + after for leaf in self.leaves]
        return "".join(pieces), list(accumulate(map(len, pieces), initial=0))

    def numbers_in(self) -> Iterator[tuple[Slot, object]]:
        """Give each number that is not a truth value."""
        for index, node in enumerate(self.nodes):
            for place, value in enumerate(node.parts.values):
                if type(value) in _NUMBERS:
                    yield Slot(index, place), value

    # ------------------------------------------------------------ putting back

    def rebuilt(self, changes: dict[Slot, object], *, live: bool) -> Any:
        """Give the value with other values at some places; the rest is shared with it."""
        waiting = self._dirty(changes)
        ready = [index for index, missing in waiting.items() if not missing]
        shells: dict[int, Any] = {}
        while waiting:
            if not ready:
                ready += self._open_cycle(waiting, changes, shells)
                continue
            index = ready.pop()
            del waiting[index]
            made: Any = self._build(index, changes, live=live)
            if index in shells:
                made = _filled(shells[index], made)
            ready += self._hand_up(index, made, self.nodes[index].parents, changes, waiting)
            if index == 0:
                result = made
        return result[0]

    def _hand_up(
        self,
        index: int,
        made: object,
        parents: list[Slot],
        changes: dict[Slot, object],
        waiting: dict[int, set[int]],
    ) -> list[int]:
        """Put a container into those around it; give those that now can be made."""
        free = []
        for slot in parents:
            changes.setdefault(slot, made)
            missing = waiting.get(slot.node, set())
            if index in missing:
                missing.discard(index)
                if not missing:
                    free.append(slot.node)
        return free

    def _open_cycle(
        self, waiting: dict[int, set[int]], changes: dict[Slot, object], shells: dict[int, Any]
    ) -> list[int]:
        """Let a container be referred to before it is made, so that those in it can be."""
        left = [one for one in waiting if one and one not in shells]
        index = next(filter(self._is_fillable, left), left[0])
        node = self.nodes[index]
        if self._is_fillable(index):
            shells[index] = [] if type(node.value) is list else {}
            return self._hand_up(index, shells[index], node.parents, changes, waiting)
        mark = Opaque(name_of(type(node.value)), "shown before, in a cycle of objects")
        return self._hand_up(index, mark, node.parents[1:], changes, waiting)

    def _is_fillable(self, index: int) -> bool:
        return type(self.nodes[index].value) in (list, dict)

    def _dirty(self, changes: dict[Slot, object]) -> dict[int, set[int]]:
        """Give each container that holds a change, with the containers that must be made before."""
        waiting: dict[int, set[int]] = {}
        todo = [slot.node for slot in changes]
        for index in todo:
            waiting.setdefault(index, set())
        while todo:
            index = todo.pop()
            for slot in self.nodes[index].parents:
                if slot.node not in waiting:
                    waiting[slot.node] = set()
                    todo.append(slot.node)
                waiting[slot.node].add(index)
        return waiting

    def _build(self, index: int, changes: dict[Slot, object], *, live: bool) -> object:
        node = self.nodes[index]
        parts = node.parts
        values = [
            changes.get(Slot(index, place), value) for place, value in enumerate(parts.values)
        ]
        keys = parts.keys
        if keys is not None:
            keys = [
                changes.get(Slot(index, place, in_keys=True), key) for place, key in enumerate(keys)
            ]
        stays = live and type(node.value) is not Record
        return _put_together(parts, keys, values, live=stays)


def _filled(shell: Any, made: Any) -> Any:
    """Give a list or dict that is referred to already its content."""
    if type(shell) is list:
        shell.extend(made)
    else:
        shell.update(made)
    return shell


def changed_leaf(original: object, text: str) -> object:
    """Give a leaf of the original's type with another text."""
    kind = type(original)
    if kind is str:
        return text
    if kind in _BYTES:
        data = text.encode("latin-1", "replace")
        return kind(data)  # type: ignore[call-arg] # one of the three
    if isinstance(original, PurePath):
        return type(original)(text)
    kept = original if kind in (Opaque, Member) else unpack(pack(original))
    return replace(kept, **{"value" if type(kept) is Member else "text": text})  # type: ignore[type-var]


def text_of(value: object) -> str | None:
    """Give the text of a leaf that has one besides `str`: bytes, path, Enum, what cannot be kept."""
    kind = type(value)
    if kind in _BYTES:
        try:
            return bytes(value).decode("latin-1")  # type: ignore[call-overload, no-any-return]
        except ValueError:  # a memoryview that was released
            return None
    if kind is Opaque:
        return value.text  # type: ignore[attr-defined, no-any-return]
    if kind is Member:
        return value.value if type(value.value) is str else None  # type: ignore[attr-defined]
    if isinstance(value, PurePath):
        return str(value)
    return None


def _parts_of(value: object) -> Parts | None:
    kind = type(value)
    if kind is dict:
        items = list(value.items())  # type: ignore[attr-defined]
        return Parts(Kind.DICT, None, [key for key, _ in items], [item for _, item in items])
    if kind is list:
        return Parts(Kind.LIST, None, None, value[:])  # type: ignore[index]
    if kind in (Record, Cycle) or kind.__module__ != "builtins" or kind in (tuple, set, frozenset):
        parts = take_apart(value)
        if isinstance(parts, Ext):
            return _parts_of_leaf(value)
        return parts
    return None


def _parts_of_leaf(value: object) -> Parts | None:
    """Wrap what stands for a value that cannot be kept, if it has a text."""
    kept = unpack(pack(value))
    return Parts(Kind.OPAQUE, None, None, [kept]) if type(kept) in (Opaque, Member) else None


_SEQUENCES: dict[Kind, Callable[[list[Any]], object]] = {
    Kind.LIST: list,
    Kind.TUPLE: tuple,
    Kind.SET: set,
    Kind.FROZENSET: frozenset,
    Kind.OPAQUE: lambda values: values[0],
}


def _put_together(parts: Parts, keys: list[Any] | None, values: list[Any], *, live: bool) -> object:
    if parts.kind in (Kind.DICT, Kind.PAIRS):
        return dict(zip(keys or (), values, strict=True))
    if parts.kind is Kind.DEQUE:
        return deque(values, parts.head if type(parts.head) is int else None)
    if parts.kind in (Kind.OBJECT, Kind.SUBCLASS):
        maker = build_object if parts.kind is Kind.OBJECT else build_subclass
        return maker(str(parts.head), dict(zip(keys or (), values, strict=True)), live=live)
    return _SEQUENCES[parts.kind](values)


def _step(parts: Parts, place: int) -> Step:
    if parts.keys is None or parts.kind is Kind.LIST:
        return place
    key = parts.keys[place]
    return key if type(key) is str else Key(key)


def leaf_at(starts: list[int], place: int) -> int:
    """Give the number of the leaf in which a place of the joined text lies."""
    return bisect_right(starts, place) - 1
