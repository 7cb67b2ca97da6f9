"""Which items of two lists are the same one: stayed, moved, or changed in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from argentum.tree.encoding import pack
from argentum.tree.kinds import Record
from argentum.tree.sameness import ATOMS, canonical_token, plain, same_leaf, token
from argentum.tree.sequence import align, common_ends, longest_increasing

LOOK_AHEAD = 32
"""How many items ahead a container's counterpart is looked for between two items that stayed."""


@dataclass(slots=True, eq=False)
class Item:
    """An item of a list that did not simply stay."""

    place: int
    value: Any
    token: Hashable


Pair = tuple[Item, Item]
"""The same item before and after."""


class ListComparison:
    """Which items of two lists are the same; only the parts that differ need be given."""

    def __init__(self) -> None:
        self._parts: list[tuple[list[Item], list[Item]]] = []
        self._segments: list[tuple[list[Item], list[Item]]] = []
        """What left and what came between two items that stayed."""

    def add(self, old: list[Any], new: list[Any], old_at: int, new_at: int) -> None:
        """Take two parts of the lists, whose first items lie at the given places."""
        tokens, others = list(map(token, old)), list(map(token, new))
        skip, end = common_ends(tokens, others)
        left = _items(old, tokens, old_at, skip, end)
        right = _items(new, others, new_at, skip, end)
        self._parts.append((left, right))
        self._segments += _segments(left, right)

    def moves(self) -> list[Pair]:
        """Take out the items that left one place and came back at another."""
        moved = self._moved()
        if moved and self._look_closer({len(item.token) for _, item in moved}):  # type: ignore[arg-type]
            self._segments = [pair for part in self._parts for pair in _segments(*part)]
            moved = self._moved()
        if moved:
            taken = {id(item) for pair in moved for item in pair}
            self._segments = [
                (_without(taken, olds), _without(taken, news)) for olds, news in self._segments
            ]
        return moved

    def _moved(self) -> list[Pair]:
        left: dict[Hashable, deque[Item]] = {}
        for olds, _ in self._segments:
            for item in olds:
                left.setdefault(item.token, deque()).append(item)
        return [
            (left[item.token].popleft(), item)
            for _, news in self._segments
            for item in news
            if left.get(item.token)
        ]

    def _look_closer(self, lengths: set[int]) -> bool:
        """
        Give items of those encoded lengths tokens that leave out what is no change.

        An item may seem to have moved because another one, equal but for the order of its keys,
        stands in its place. Such items have as many bytes.
        """
        items = [item for part in self._parts for side in part for item in side]
        suspects = [item for item in items if len(item.token) in lengths]  # type: ignore[arg-type]
        for item in suspects:
            item.token = canonical_token(item.value)
        return bool(suspects)

    def rest(self) -> tuple[list[Pair], list[Item], list[Item]]:
        """Give the items that changed in place, those that went, and those that are new."""
        pairs: list[Pair] = []
        gone: list[Item] = []
        fresh: list[Item] = []
        for olds, news in self._segments:
            found = _pairs(olds, news)
            pairs += found
            taken = {id(item) for pair in found for item in pair}
            gone += _without(taken, olds)
            fresh += _without(taken, news)
        return pairs, gone, fresh


def _segments(left: list[Item], right: list[Item]) -> Iterator[tuple[list[Item], list[Item]]]:
    start = begin = 0
    matches = align([item.token for item in left], [item.token for item in right])
    for at, other in [*matches, (len(left), len(right))]:
        if at > start or other > begin:
            yield left[start:at], right[begin:other]
        start, begin = at + 1, other + 1


def _without(taken: set[int], items: list[Item]) -> list[Item]:
    return [item for item in items if id(item) not in taken]


def _items(values: list[Any], tokens: list[Hashable], at: int, skip: int, end: int) -> list[Item]:
    """Wrap the values without so many at the start and at the end."""
    places = range(skip, len(values) - end)
    return [Item(at + place, values[place], tokens[place]) for place in places]


def _pairs(olds: list[Item], news: list[Item]) -> list[Pair]:
    """Say which items of a segment are one item that changed in place; their order is kept."""
    if not olds or not news:
        return []
    for item in (*olds, *news):
        item.value = plain(item.value)
    by_id = _pairs_by_id(olds, news)
    pairs: list[Pair] = []
    at = other = 0
    for old_end, new_end in [*by_id, (len(olds), len(news))]:
        pairs += _pairs_in_order(olds[at:old_end], news[other:new_end])
        if old_end < len(olds):
            pairs.append((olds[old_end], news[new_end]))
        at, other = old_end + 1, new_end + 1
    return pairs


def _pairs_by_id(olds: list[Item], news: list[Item]) -> list[tuple[int, int]]:
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


def _pairs_in_order(olds: list[Item], news: list[Item]) -> list[Pair]:
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
    return type(old) not in ATOMS and pack(old) == pack(new)
