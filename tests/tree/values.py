"""Values of every kind, edits to them, and an exact comparison of the tests' own."""

from __future__ import annotations

import enum
import importlib
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from math import isnan
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pydantic
import pytest
from hypothesis import strategies as st

from argentum.tree import freezing, paging

trees = importlib.import_module("argentum.tree.tree")

# ---------------------------------------------------------------- classes


class Colour(enum.Enum):
    """A plain enumeration."""

    RED = "red"
    BLUE = ("not", "plain")


class Level(enum.IntEnum):
    """Members that equal integers."""

    LOW = 1


class Right(enum.Flag):
    """Members that combine."""

    READ = 1
    WRITE = 2


@dataclass
class Point:
    """A plain dataclass."""

    x: Any
    y: Any = 0


@dataclass(frozen=True, slots=True)
class Pinned:
    """A frozen dataclass with slots, which may be a dict's key."""

    name: str
    tags: Any = field(default=())


class Message(pydantic.BaseModel):
    """A pydantic model with fields of its own and any others."""

    model_config = pydantic.ConfigDict(extra="allow")
    role: str
    content: Any = None


class Plain:
    """An object that is no declared data."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Text(str):
    """A subclass of `str` with room for attributes."""

    __slots__ = ("__dict__",)


class Bag(dict):
    """A subclass of `dict` with room for attributes."""


Pair = namedtuple("Pair", ["first", "second"])  # noqa: PYI024 - the kind under test

# ---------------------------------------------------------------- strategies

offsets = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
zones = (
    st.none()
    | st.just(UTC)
    | offsets
    | st.sampled_from(["Europe/Berlin", "Asia/Kolkata"]).map(ZoneInfo)
)
texts = st.text(st.characters(codec=None), max_size=5)  # with lone surrogates
twins = st.sampled_from([0, 1, False, True, 0.0, -0.0, 1.0, "", "1", b"1", 2**63, 2**64, -(2**63)])
json_leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
plain_leaves = json_leaves | st.floats() | twins | texts
hashable_leaves = (
    st.none()
    | twins
    | st.integers()
    | st.floats(allow_nan=False)
    | texts
    | st.binary(max_size=4)
    | st.dates()
    | st.uuids()
    | st.sampled_from([Colour.RED, Colour.BLUE, Level.LOW, Right.READ | Right.WRITE])
)
odd_leaves = (
    st.datetimes(timezones=zones)
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.complex_numbers(allow_nan=False)
    | st.binary(max_size=4).map(bytearray)
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3))
    | st.sampled_from([Text("a"), Text("b"), Decimal("1.0"), Decimal("1.00"), Decimal("NaN")])
)
leaves = plain_leaves | hashable_leaves | odd_leaves
keys = (
    st.text(max_size=3)
    | texts
    | st.integers(0, 2)
    | st.booleans()
    | st.none()
    | st.tuples(st.integers(0, 1), st.text(max_size=1))
    | st.sampled_from(["id", "a.b", "a/b~c", 'quo"te', "[0]", "__x", "$type", b"b", 1.5, Level.LOW])
)


def containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Put values into containers of every kind."""
    return (
        st.lists(children, max_size=6)
        | st.dictionaries(keys, children, max_size=5)
        | st.dictionaries(st.sampled_from("abcd"), children, max_size=4)
        | st.tuples(children, children)
        | st.frozensets(hashable_leaves, max_size=4)
        | st.sets(hashable_leaves, max_size=4)
        | st.builds(deque, st.lists(children, max_size=4), st.sampled_from([None, 5]))
        | st.builds(Pair, children, children)
        | st.builds(Point, children, children)
        | st.builds(Pinned, st.text(max_size=2), children)
        | st.dictionaries(st.text(max_size=2), children, max_size=3).map(OrderedDict)
        | st.dictionaries(keys, children, max_size=3).map(lambda made: defaultdict(list, made))
        | st.builds(_bag, st.dictionaries(st.sampled_from("ab"), children), children)
    )


def _bag(members: dict[str, Any], attribute: Any) -> Bag:
    made = Bag(members)
    vars(made)["b"] = attribute
    return made


values = st.recursive(leaves, containers, max_leaves=25)
"""Any value that comes back as it was."""
json_values = st.recursive(
    json_leaves | st.floats(allow_nan=False, allow_infinity=False),
    lambda children: (
        st.lists(children, max_size=6) | st.dictionaries(st.text(max_size=3), children, max_size=5)
    ),
    max_leaves=25,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "model"]), "content": json_leaves},
    optional={"id": st.integers(0, 9), "calls": st.lists(json_leaves, max_size=3)},
)


@st.composite
def edited(draw: st.DrawFn, items: st.SearchStrategy[Any]) -> tuple[list[Any], list[Any]]:
    """Draw a list, and the same list after items were added, dropped, moved and changed."""
    before = draw(st.lists(items, max_size=30))
    after = list(before)
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(after)))
        edit = draw(st.sampled_from(["add", "drop", "move", "change"]))
        if edit == "add":
            after.insert(at, draw(items))
        elif at < len(after):
            item = after.pop(at)
            if edit == "move":
                after.insert(draw(st.integers(0, len(after))), item)
            elif edit == "change" and type(item) is dict:
                key = draw(st.sampled_from([*item, "new"]))
                after.insert(at, {**item, key: draw(json_leaves)})
            elif edit == "change":
                after.insert(at, draw(items))
    return before, after


edits = edited(messages) | edited(values) | st.tuples(values, values)
"""Two states of one thing."""
json_edits = edited(messages) | edited(json_values) | st.tuples(json_values, json_values)
sizes = st.sampled_from([16, 100, 4096])
"""Up to how many bytes a value is one entry: few, so that small values have pages and branches."""

# ---------------------------------------------------------------- comparison


def exactly_equal(one: Any, other: Any, *, zeros: bool = False, order: bool = True) -> bool:
    """
    Compare by exact types, without a line of Argentum.

    Args:
        zeros: whether -0.0 equals 0.0.
        order: whether the order of a dict's keys counts.
    """
    if type(one) is not type(other):
        return False

    def same(left: Any, right: Any) -> bool:
        return exactly_equal(left, right, zeros=zeros, order=order)

    if isinstance(one, dict):
        return _same_dicts(one, other, same, order=order) and _same_attributes(one, other, same)
    if isinstance(one, list | tuple | deque):
        limits = (getattr(one, "maxlen", None), getattr(other, "maxlen", None))
        return len(one) == len(other) and limits[0] == limits[1] and all(map(same, one, other))
    if isinstance(one, set | frozenset):
        return one == other and Counter(map(type, one)) == Counter(map(type, other))
    if isinstance(one, Point):
        return same(vars(one), vars(other))
    if isinstance(one, Pinned):
        return same((one.name, one.tags), (other.name, other.tags))
    return _same_atoms(one, other, zeros=zeros)


def _same_dicts(one: Any, other: Any, same: Any, *, order: bool) -> bool:
    if len(one) != len(other):
        return False
    left = [(type(key), key) for key in one]
    right = [(type(key), key) for key in other]
    if order and left != right:
        return False
    kinds = {key: type(key) for key in other}
    return all(
        key in kinds and kinds[key] is type(key) and same(item, other[key])
        for key, item in one.items()
    )


def _same_attributes(one: Any, other: Any, same: Any) -> bool:
    return same(vars(one), vars(other)) if isinstance(one, Bag) else True


def _same_atoms(one: Any, other: Any, *, zeros: bool) -> bool:
    if isinstance(one, float):
        return (isnan(one) and isnan(other)) or (one == other and (zeros or str(one) == str(other)))
    if isinstance(one, datetime | time):
        return (
            one.replace(tzinfo=None) == other.replace(tzinfo=None)
            and one.fold == other.fold
            and str(one.tzinfo) == str(other.tzinfo)
        )
    if isinstance(one, Decimal | Fraction | complex | range):  # range(0) == range(0, 0, 2)
        return repr(one) == repr(other)
    known = (int, str, bytes, bytearray, date, timedelta, UUID, enum.Enum, type(None))
    assert isinstance(one, known), type(one)
    return bool(one == other)


@contextmanager
def entries_up_to(size_bytes: int) -> Iterator[None]:
    """Set up to how many bytes a value is one entry, so that small values have pages."""
    places = [
        (freezing, "SMALL_BYTES"),
        (paging, "SMALL_BYTES"),
        (paging, "SMALL_ITEM_BYTES"),
        (trees, "SMALL_BYTES"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        for place, name in places:
            patch.setattr(place, name, size_bytes)
        patch.setattr(freezing, "MANY_PAGES", 1)
        patch.setattr(freezing, "FEW", size_bytes // 8)  # some have more, some fewer
        yield
