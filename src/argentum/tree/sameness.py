"""When two parts of two trees are the same, and the form in which they are compared."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from operator import itemgetter
from typing import Any

from ormsgpack import packb

from argentum.tree.chunks import reference_of
from argentum.tree.encoding import OPTIONS, is_ambiguous, pack
from argentum.tree.kinds import Record
from argentum.tree.nodes import Entry
from argentum.tree.tree import thaw_entry

ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_PLAIN_CONTAINERS = frozenset({list, dict})


class Packed:
    """An entry that is not decoded unless it has to be."""

    __slots__ = ("entry",)

    def __init__(self, entry: Entry) -> None:
        self.entry = entry


def plain(value: Any) -> Any:
    """Decode a value if it is packed."""
    return thaw_entry(value.entry, live=False) if type(value) is Packed else value


def same_leaf(old: object, new: object) -> bool:
    """Tell whether two values are equal and of one type, as far as `==` of atoms can tell."""
    if old is new:
        return True
    if type(old) is not type(new) or type(old) not in ATOMS:
        return False
    return old == new or (old != old and new != new)  # noqa: PLR0124 - NaN


def canonical(value: Any) -> Any:
    """
    Give what is equal for values that are the same as a whole, though their bytes differ.

    NaNs differ in their payload, zeros in their sign, and the order of keys is no change. None of
    that alters how many bytes there are.
    """
    kind = type(value)
    try:
        if kind is float:
            return pack(math.nan if math.isnan(value) else value + 0.0)
        if kind is complex:
            return kind, canonical(value.real), canonical(value.imag)
        if kind in (list, tuple, deque):
            return kind, getattr(value, "maxlen", None), [canonical(item) for item in value]
        if kind in (set, frozenset):
            return kind, sorted(repr(canonical(member)) for member in value)
        if kind is dict:
            pairs = [(repr(canonical(key)), canonical(item)) for key, item in value.items()]
            return kind, sorted(pairs, key=itemgetter(0))
        if kind is Record:
            fields = [(name, canonical(item)) for name, item in sorted(value.fields.items())]
            return value.type_name, fields
    except RecursionError:
        pass
    return pack(value)


def surely_same(old: Any, new: Any) -> bool:
    """Tell quickly, for most values that are the same, that they are."""
    if same_leaf(old, new):
        return True
    if type(old) is not type(new) or type(old) not in _PLAIN_CONTAINERS:
        return False
    try:
        if packb(old, None, OPTIONS) != packb(new, None, OPTIONS):
            return False
    except TypeError:
        return pack(old) == pack(new)
    return not is_ambiguous(old) or pack(old) == pack(new)


def same_entry(old: Entry, new: Entry) -> bool:
    """Tell quickly whether two entries are known to be the same."""
    if old is new:
        return True
    if type(old) is bytes or type(new) is bytes:
        return old == new
    return old.top is new.top and old.kind is new.kind and old.head == new.head  # type: ignore[union-attr]


def token(value: Any) -> Hashable:
    """Give what is equal exactly for equal items."""
    return entry_token(value.entry) if type(value) is Packed else pack(value)


def canonical_token(value: Any) -> Hashable:
    """Give what is equal exactly for items that a diff takes for the same."""
    return repr(canonical(plain(value)))


def entry_token(entry: Entry) -> bytes:
    """Give what is equal exactly for equal entries."""
    return entry if type(entry) is bytes else reference_of(entry)
