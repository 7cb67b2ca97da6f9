"""
Take every text out of a value of any type, and put changed texts back without changing its shape.

The texts are joined to one, each behind the key that it lies under, so that one scan sees them all
with their context; what changes is put back from the inside out, and what holds no change is the
same object as before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Final

from ormsgpack import Ext

from argentum.security.hits import ENDS_LEAF, NAMES_VALUE
from argentum.tree.building import build_object, build_subclass
from argentum.tree.encoding import pack, unpack
from argentum.tree.kinds import Kind, Member, Opaque, Parts, Record
from argentum.tree.paths import Key, Path, Step
from argentum.tree.taking import is_leaf, name_of, take_apart

NAMES: Final = NAMES_VALUE.decode()
ENDS: Final = ENDS_LEAF.decode()
LEAST_KEY: Final = 16
"""Characters of a key that could itself be a secret; shorter ones are only context."""
_NUMBERS: Final = frozenset({int, float})
_WITHOUT_TEXT: Final = frozenset({int, float, bool, type(None)})
_BYTES: Final = frozenset({bytes, bytearray, memoryview})

Slot = tuple[int, int]
"""A place in a container: its number, and the place of a value, or `~place` of a key."""


class Leaves:
    """
    The texts of a value, in one text of `KEY, NAMES_VALUE, TEXT, ENDS_LEAF` for each.

    Containers are numbered as they are met, and what is known of them lies in lists of plain
    values: an object for each would have Python's garbage collector walk them all, again and again.

    Args:
        at: the steps that lead to the value, whose last name is its context.
    """

    def __init__(self, value: object, *, at: tuple[Step, ...] = ()) -> None:
        self.at = at
        self.pieces: list[str] = []
        self.owners: list[int] = []
        """The container that each piece comes from, by its number."""
        self.places: list[int] = []
        """Its place there, or `~place` of a key."""
        self.hidden_keys: dict[Slot, str] = {}
        """What stands in a path for a key that holds a secret."""
        label = next((step for step in reversed(at) if isinstance(step, str)), "")
        self._containers: list[Any] = [[value]]
        self._parts: dict[int, Parts] = {}
        """How containers besides dicts and lists are taken apart."""
        self._labels = [label]
        self._depths = [0]
        """How many objects and tuples lie around each container."""
        self._parents = [0]
        self._inside = [0]
        """The place of each container in its parent."""
        self._known: dict[int, int] = {}
        self._again: dict[int, list[Slot]] = {}
        self._read: dict[int, tuple[list[Any] | None, list[Any]]] = {}
        for index, container in enumerate(self._containers):  # which grows on the way
            if index in self._parts:
                self._open_parts(index, self._parts[index])
            elif type(container) is dict:
                self._open_dict(index, container.items())
            else:
                self._open_list(index, container)

    def _open_dict(self, index: int, items: Iterable[tuple[Any, Any]]) -> None:
        pieces, owners, places = self.pieces, self.owners, self.places
        place = -1
        for key, value in items:
            place += 1
            if type(key) is not str:
                if type(key) not in _WITHOUT_TEXT:
                    self._child(index, ~place, key, "")
                key = ""  # noqa: PLW2901 - it names nothing
            elif len(key) >= LEAST_KEY:
                pieces.append(f"{NAMES}{key}{ENDS}")
                owners.append(index)
                places.append(~place)
            kind = type(value)
            if kind is str:
                pieces.append(f"{key}{NAMES}{value}{ENDS}")
                owners.append(index)
                places.append(place)
            elif kind not in _WITHOUT_TEXT:
                self._child(index, place, value, key)

    def _open_list(self, index: int, values: list[Any]) -> None:
        label = self._labels[index]
        place = -1
        for value in values:
            place += 1
            kind = type(value)
            if kind is str:
                self._add(index, place, value, label)
            elif kind not in _WITHOUT_TEXT:
                self._child(index, place, value, label)

    def _open_parts(self, index: int, parts: Parts) -> None:
        if parts.keys is None:
            self._open_list(index, parts.values)
        else:
            self._open_dict(index, zip(parts.keys, parts.values, strict=True))

    def _add(self, index: int, place: int, text: str, label: str) -> None:
        self.pieces.append(f"{label}{NAMES}{text}{ENDS}")
        self.owners.append(index)
        self.places.append(place)

    def _child(self, index: int, place: int, value: object, label: str) -> None:
        number = len(self._containers)
        known = self._known.setdefault(id(value), number)
        if known != number:
            self._again.setdefault(known, []).append((index, place))
            return
        if type(value) is not dict and type(value) is not list:
            text = text_of(value)
            depth = self._depths[index]
            parts = _parts_of(value, depth) if text is None else None
            if parts is None:
                del self._known[id(value)]
                if text is not None:
                    self._add(index, place, text, label)
                return
            self._parts[number] = parts
            self._depths.append(depth + 1)
        else:
            self._depths.append(self._depths[index])
        self._containers.append(value)
        self._labels.append(label)
        self._parents.append(index)
        self._inside.append(place)

    # ------------------------------------------------------------ where things are

    def starts(self) -> list[int]:
        """Give where each piece starts in the joined text, and where the last one ends."""
        return list(accumulate(map(len, self.pieces), initial=0))

    def slot_of(self, number: int) -> Slot:
        """Give the place of a leaf."""
        return self.owners[number], self.places[number]

    def text_at(self, number: int) -> str:
        """Give the text of a leaf."""
        value = self.value_at(self.slot_of(number))
        return value if type(value) is str else text_of(value) or ""

    def label_length(self, number: int) -> int:
        """Give how much of a piece comes before its text."""
        return len(self.pieces[number]) - len(self.text_at(number)) - len(ENDS)

    def value_at(self, slot: Slot) -> object:
        """Give what is at a place."""
        keys, values = self._contents(slot[0])
        return (keys or ())[~slot[1]] if slot[1] < 0 else values[slot[1]]

    def _contents(self, index: int) -> tuple[list[Any] | None, list[Any]]:
        """Give a container's keys, if it has any, and values."""
        read = self._read.get(index)
        if read is None:
            read = self._read[index] = self._read_contents(index)
        return read

    def _read_contents(self, index: int) -> tuple[list[Any] | None, list[Any]]:
        parts, container = self._parts.get(index), self._containers[index]
        if parts is not None:
            return parts.keys, parts.values
        if type(container) is dict:
            items = list(container.items())
            return [key for key, _ in items], [value for _, value in items]
        return None, container[:]

    def steps_to(self, slot: Slot) -> tuple[Step, ...]:
        """Give the steps to a place, by the way on which it was first met."""
        steps: list[Step] = []
        while slot[0] > 0:
            hidden = self.hidden_keys.get((slot[0], min(slot[1], ~slot[1])))
            steps.append(self._step(*slot) if hidden is None else hidden)
            slot = (self._parents[slot[0]], self._inside[slot[0]])
        return (*self.at, *reversed(steps))

    def _step(self, index: int, place: int) -> Step:
        place = max(place, ~place)
        keys, _ = self._contents(index)
        if keys is None:
            return place
        key = keys[place]
        return key if type(key) is str else Key(key)

    def path_to(self, slot: Slot) -> Path:
        """Give the path to a place."""
        return Path.of(self.steps_to(slot))

    def numbers(self) -> Iterator[tuple[Slot, object]]:
        """Give each number that is not a truth value."""
        for index in range(len(self._containers)):
            for place, value in enumerate(self._contents(index)[1]):
                if type(value) in _NUMBERS:
                    yield (index, place), value

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
            ready += self._hand_up(index, made, self._slots_of(index), changes, waiting)
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
            missing = waiting.get(slot[0], set())
            if index in missing:
                missing.discard(index)
                if not missing:
                    free.append(slot[0])
        return free

    def _open_cycle(
        self, waiting: dict[int, set[int]], changes: dict[Slot, object], shells: dict[int, Any]
    ) -> list[int]:
        """Let a container be referred to before it is made, so that those in it can be."""
        left = [one for one in waiting if one and one not in shells]
        index = next(filter(self._is_fillable, left), left[0])
        value = self._containers[index]
        if self._is_fillable(index):
            shells[index] = [] if type(value) is list else {}
            return self._hand_up(index, shells[index], self._slots_of(index), changes, waiting)
        mark = Opaque(name_of(type(value)), "shown before, in a cycle of objects")
        return self._hand_up(index, mark, self._slots_of(index)[1:], changes, waiting)

    def _is_fillable(self, index: int) -> bool:
        return index not in self._parts

    def _dirty(self, changes: dict[Slot, object]) -> dict[int, set[int]]:
        """Give each container that holds a change, with the containers that must be made before."""
        waiting: dict[int, set[int]] = {}
        todo = list({index for index, _ in changes})
        for index in todo:
            waiting.setdefault(index, set())
        while todo:
            index = todo.pop()
            for parent, _ in self._slots_of(index):
                if parent not in waiting:
                    waiting[parent] = set()
                    todo.append(parent)
                waiting[parent].add(index)
        return waiting

    def _slots_of(self, index: int) -> list[Slot]:
        """Give every place where a container is, the first one first."""
        if index == 0:
            return []
        return [(self._parents[index], self._inside[index]), *self._again.get(index, ())]

    def _build(self, index: int, changes: dict[Slot, object], *, live: bool) -> object:
        keys, values = self._contents(index)
        values = [changes.get((index, place), value) for place, value in enumerate(values)]
        if keys is not None:
            keys = [changes.get((index, ~place), key) for place, key in enumerate(keys)]
        parts = self._parts.get(index)
        if parts is None:
            return values if keys is None else dict(zip(keys, values, strict=True))
        live = live and type(self._containers[index]) is not Record
        return _put_together(parts, keys, values, live=live)


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
    """Give the text of a leaf that has one besides `str`: bytes, a path, an Enum, an `Opaque`."""
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


def _parts_of(value: object, depth: int) -> Parts | None:
    """Take a container or object apart, as the encoding of trees does; a leaf has no parts."""
    if is_leaf(value):
        return None
    parts = take_apart(value, depth=depth)
    return _parts_of_leaf(value) if isinstance(parts, Ext) else parts


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


def leaf_at(starts: list[int], place: int) -> int:
    """Give the number of the leaf in which a place of the joined text lies."""
    return bisect_right(starts, place) - 1
