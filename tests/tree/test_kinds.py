"""Every kind of value, and objects that do their worst."""

from __future__ import annotations

import dataclasses
import enum
import math
import sys
import threading
import types
import weakref
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from unittest.mock import MagicMock, Mock
from uuid import UUID

import numpy as np
import pytest
from ormsgpack import Ext, packb
from tests.tree.values import (
    Bag,
    Colour,
    Level,
    Message,
    Pair,
    Pinned,
    Plain,
    Point,
    Right,
    Text,
)

from argentum.errors import FormatError
from argentum.tree import Member, Opaque, Record, diff, freeze
from argentum.tree.building import build
from argentum.tree.encoding import pack, unpack
from argentum.tree.kinds import Kind


def back(value: object, *, live: bool = True) -> Any:
    """Freeze and thaw."""
    return freeze({"value": value}).thaw(live=live)["value"]


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(b=1, a=2), Counter("aab"), Pair(1, [2]), deque([1, 2], 2), deque(),
        Point(1, [2]),
        Pinned("a", {"b"}), Message(role="user", content=[1], more={"x": 1}), Colour.RED,
        Colour.BLUE,
        Level.LOW, Right.READ, Right.READ | Right.WRITE, Right(0),
        types.SimpleNamespace(a=1, b=[2]),
        Text("a"), Bag(a=1), date(2026, 1, 2), time(1, 2, 3, 4), time(1, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4, 5, 6), timedelta(-1, 2, 3), Decimal("1.00"),
        Decimal("-Infinity"),
        Fraction(-1, 3), UUID(int=5), 1 - 2j, range(1, 9, 3), PurePosixPath("a/b"), Path("/x"),
        PureWindowsPath("C:/x"), bytearray(b"a"), frozenset({(1, "a")}),
    ],
    ids=repr,
)  # fmt: skip
def test_comes_back_as_it_was(value):
    """A value of a kept kind comes back with its class, equal to what it was."""
    thawed = back(value)

    assert type(value) is type(thawed)
    assert value == thawed
    assert pack(value) == pack(thawed)


def test_pydantic_fields_are_where_they_were():
    """Declared and extra fields of a model come back apart."""
    thawed = back(Message(role="user", more=1))

    assert {"role": "user", "content": None} == vars(thawed)
    assert {"more": 1} == thawed.model_extra
    assert '{"role":"user","content":null,"more":1}' == thawed.model_dump_json()


def test_default_factory_is_not_kept():
    """A `defaultdict` comes back with its class and items; its factory is code, not data."""
    thawed = back(defaultdict(list, a=[1]))

    assert (defaultdict, {"a": [1]}, None) == (type(thawed), dict(thawed), thawed.default_factory)


def test_attributes_of_subclasses_are_kept():
    """What hangs on an instance of a subclass of a built-in type comes back too."""
    text = Text("a")
    vars(text)["source"] = "user"
    thawed = back(text)

    assert ("a", {"source": "user"}) == (thawed, vars(thawed))


def test_no_constructor_runs():
    """`thaw` runs no code of the user's classes."""
    calls = []

    def spy(*args, **kwargs):
        calls.append(args)

    class Watched(dict):
        __init__ = __setitem__ = update = __setstate__ = spy

    spied: Any = dataclasses.make_dataclass("Spied", ["x"])
    instance, watched = spied(1), Watched()
    dict.__setitem__(watched, "a", 1)
    spied.__init__ = spied.__post_init__ = spied.__setattr__ = spied.__setstate__ = spy
    types_here = sys.modules[__name__]
    for cls in (Watched, spied):
        cls.__module__, cls.__qualname__ = __name__, cls.__name__
        setattr(types_here, cls.__name__, cls)
    calls.clear()
    try:
        thawed = back([instance, watched])
    finally:
        for cls in (Watched, spied):
            delattr(types_here, cls.__name__)

    assert [] == calls
    assert [spied, Watched] == [type(one) for one in thawed]
    assert 1 == thawed[0].x
    assert {"a": 1} == dict(dict.items(thawed[1]))


def test_a_class_that_is_not_there_is_a_record():
    """An object whose class is not loaded is shown by its name and fields."""
    local = dataclasses.make_dataclass("Gone", ["x"])
    local.__module__ = "no.such.module"
    thawed = back(local([1]))

    assert Record("no.such.module:Gone", {"x": [1]}) == thawed
    assert "Gone(x=[1])" == repr(thawed)
    assert pack(local([1])) == pack(thawed)


def test_without_live_nothing_is_made():
    """Asked for data only, objects are records and members are marks."""
    thawed = back([Point(1), Colour.RED, Text("a"), Pair(1, 2)], live=False)

    assert [
        Record("tests.tree.values:Point", {"x": 1, "y": 0}),
        Member("tests.tree.values:Colour", "RED", "red"),
        Record("tests.tree.values:Text", {"": "a"}),
        Record("tests.tree.values:Pair", {"": (1, 2)}),
    ] == thawed
    assert "[Point(x=1, y=0), Colour.RED, Text('a'), Pair((1, 2))]" == repr(thawed)


def test_plain_objects_are_records():
    """An object that is no declared data keeps its fields under its class's name."""
    thawed = back(Plain(a=1, b=[2]))

    assert Record("tests.tree.values:Plain", {"a": 1, "b": [2]}) == thawed


def test_empty_objects_are_told_apart_by_class():
    """Objects without fields are records of their classes."""
    empty = type("Empty", (), {"__module__": "m"})

    assert Record("m:Empty", {}) == back(empty())


@pytest.mark.parametrize("error", [ValueError("bad", 1), KeyError("k"), OSError(2, "gone")])
def test_exceptions_keep_their_arguments(error):
    """A recorded error keeps its class's name and arguments."""
    thawed = back(error)

    assert f"builtins:{type(error).__name__}" == thawed.type_name
    assert error.args == thawed.fields["args"]


def test_an_exception_that_is_a_dataclass():
    """A dataclass that is an exception cannot be made bare, so a record stands for it."""
    cls = dataclasses.make_dataclass("Failed", ["code"], bases=(Exception,))
    cls.__module__, cls.__qualname__ = __name__, "Failed"
    globals()["Failed"] = cls
    try:
        thawed = back(cls(7))
    finally:
        del globals()["Failed"]

    assert isinstance(thawed, Record)
    assert 7 == thawed.fields["code"]


class Moment(datetime):
    """A subclass of a built-in type that has no constructor of one argument."""


class Amount(Decimal):
    """A subclass of a class written in C."""


class Span(timedelta):
    """Another one."""


class Wave(complex):
    """And another."""


@pytest.mark.parametrize(
    "before, after",
    [
        (Moment(2026, 1, 1), Moment(2026, 1, 2)),
        (Moment(2026, 1, 1), Moment(2026, 1, 1, fold=1)),
        (Amount("1.0"), Amount("1.00")),
        (Span(1), Span(2)),
        (Wave(1), Wave(2)),
        (type("Day", (date,), {})(2026, 1, 1), type("Day", (date,), {})(2026, 1, 2)),
        (type("Hour", (time,), {})(1), type("Hour", (time,), {})(1, 1)),
        (np.ma.array([1, 2], mask=[False, True]), np.ma.array([1, 2], mask=[True, True])),
        (np.rec.array([(1, 0)], "i4,i4"), np.rec.array([(2, 0)], "i4,i4")),
    ],
    ids=[
        "datetime",
        "fold",
        "Decimal",
        "timedelta",
        "complex",
        "date",
        "time",
        "masked",
        "records",
    ],
)
def test_no_subclass_loses_its_value(before, after):
    """An instance of a subclass is never an empty record that equals any other."""
    assert [] == diff(freeze(before), freeze(before))
    assert 1 == len(diff(freeze(before), freeze(after)))


@pytest.mark.parametrize(
    "value",
    [len, print, math, int, lambda: 0, Mock()],
    ids=["len", "print", "math", "int", "lambda", "mock"],
)
def test_what_is_no_data_is_marked(value):
    """Code, modules and open files are marked, with their type and repr."""
    assert isinstance(back(value), Opaque)


@pytest.mark.parametrize("make", [object, threading.Lock, threading.Thread])
def test_addresses_are_no_change(make):
    """Two like objects do not differ by where they lie in memory."""
    text = back(make()).text

    assert " at 0x" not in text


class Broken(Exception):  # noqa: N818 - it is what the hostile objects raise
    """What hostile objects raise."""


def fail(*_args, **_kwargs):
    """Stand for foreign code that fails."""
    raise Broken


class Hostile:
    """Raises whatever is asked of it."""

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = __getitem__ = fail
    __reduce_ex__ = __getattr__ = __deepcopy__ = __format__ = fail
    value = property(fail)

    def __init__(self):
        self.kept = 1


class HostileClass:
    """Lies about its class."""

    __class__ = property(fail)


class HostileDict:
    """Hides its fields."""

    __dict__ = property(fail)


class HostileZone(tzinfo):
    """Knows no time."""

    utcoffset = tzname = dst = fail


class HostileArguments(Exception):  # noqa: N818 - a test's own
    """Hides its arguments."""

    args = property(fail)


class HostileMember(enum.Enum):
    """Hides its value."""

    ONE = 1
    value = property(fail)


class HostileList(list):
    """Raises on every way to its items."""

    __iter__ = __getitem__ = __len__ = __repr__ = fail


class HostileText(str):
    """Raises on every way to its text."""

    __slots__ = ()
    __str__ = __repr__ = __eq__ = encode = fail
    __hash__ = str.__hash__


def released() -> memoryview:
    """Give a view whose memory is gone."""
    view = memoryview(b"x")
    view.release()
    return view


def leave(_: object) -> str:
    """Ask the program to end, where only a text was asked for."""
    raise SystemExit(1)


@pytest.mark.parametrize(
    "make, expected",
    [
        (Hostile, Record(f"{__name__}:Hostile", {"kept": 1})),
        (HostileClass, Record(f"{__name__}:HostileClass", {})),
        (HostileDict, Record(f"{__name__}:HostileDict", {})),
        (lambda: HostileArguments(1), Record(f"{__name__}:HostileArguments", {"args": (1,)})),
        (lambda: HostileMember.ONE, Member(f"{__name__}:HostileMember", "ONE", 1)),
        (lambda: HostileList([1]), Record(f"{__name__}:HostileList", {"": [1]})),
        (lambda: HostileText("a"), Record(f"{__name__}:HostileText", {"": "a"})),
        (released, Opaque("builtins:memoryview", "<released memory>")),
        (
            type("Silent", (), {"__repr__": fail, "__slots__": (), "__module__": "io"}),
            Opaque("io:Silent", "its repr raises"),
        ),
        (
            type("Final", (), {"__repr__": leave, "__slots__": (), "__module__": "io"}),
            Opaque("io:Final", "its repr raises"),
        ),
        (lambda: types.SimpleNamespace(**{"\ud800": 1}), Record("types:SimpleNamespace", {"?": 1})),
        (type("Nowhere", (), {"__module__": None}), Record("None:Nowhere", {})),
    ],
    ids=[
        "object",
        "class",
        "dict",
        "arguments",
        "member",
        "list",
        "text",
        "memory",
        "repr",
        "leaving",
        "name",
        "module",
    ],
)
def test_hostile_objects(make, expected):
    """Objects whose methods and properties raise are recorded all the same."""
    assert expected == back(make(), live=False)


def test_hostile_time_zone():
    """A time zone that raises keeps no moment from being recorded."""
    thawed = back(datetime(2026, 1, 1, tzinfo=HostileZone()))

    assert datetime(2026, 1, 1) == thawed.replace(tzinfo=None)
    assert thawed.tzinfo is not None


def test_mocks_and_proxies_are_not_what_they_pretend():
    """A mock of a dict is no dict, and a weak reference is not what it refers to."""
    target = Plain(a=1)

    assert isinstance(back(MagicMock(spec=dict)), Opaque)
    assert isinstance(back(weakref.proxy(target)), Opaque)


def test_hostile_keys_and_members():
    """Objects that raise when compared may be keys and members."""

    class Key:
        __eq__ = fail

        def __hash__(self):
            return 1

    [key], [member] = back([{Key(): "a"}, {Key()}])

    assert key.type_name == member.type_name
    assert key.type_name.endswith("Key")


@pytest.mark.parametrize("name, value", [("GREEN", "green"), ("GREEN", None), ("GREEN", 1.5)])
def test_a_member_that_the_class_has_lost(name, value):
    """A member that is gone from its class is a mark, not an error."""
    made = build(Kind.ENUM, ["tests.tree.values:Colour", name, value], live=True)

    assert Member("tests.tree.values:Colour", name, value) == made


def test_a_member_that_was_renamed_is_found_by_value():
    """A member whose name changed is found again by its value."""
    assert Colour.RED is build(Kind.ENUM, ["tests.tree.values:Colour", "ROT", "red"], live=True)
    assert Member("tests.tree.values:Right", "X", 64) == build(
        Kind.ENUM, ["tests.tree.values:Right", "X", 64], live=True
    )


def test_a_field_that_the_class_has_lost():
    """Fields that no longer fit into a class with slots leave a record."""
    made = build(Kind.OBJECT, ["tests.tree.values:Pinned", ["name", "old"], ["a", 1]], live=True)

    assert Record("tests.tree.values:Pinned", {"name": "a", "old": 1}) == made


ran: list[str] = []


@dataclasses.dataclass
class Job:
    """Data whose class computes one of its names."""

    quick: bool = False

    @property
    def command(self) -> str:
        """Stand where a stored field could be put."""
        return "none"

    @command.setter
    def command(self, value: str) -> None:
        ran.append(value)


@dataclasses.dataclass
class Closing:
    """Data whose class does something when an instance goes."""

    path: str

    def __del__(self) -> None:
        ran.append(self.path)


class Titled(str):
    """Text whose class computes one of its names."""

    __slots__ = ("__dict__",)
    title_set = property(lambda self: None, lambda self, value: ran.append(value))


@pytest.mark.parametrize(
    "kind, data",
    [
        (Kind.OBJECT, [f"{__name__}:Job", ["command", "quick"], ["rm", True]]),
        (Kind.OBJECT, [f"{__name__}:Closing", ["path"], ["/x"]]),
        (Kind.SUBCLASS, [f"{__name__}:Titled", ["", "title_set"], ["a", "rm"]]),
    ],
)
def test_no_code_of_a_loaded_class_runs(kind, data):
    """A document from outside that names a loaded class makes nothing of it that runs its code."""
    ran.clear()
    made = build(kind, data, live=True)

    assert Record(data[0], dict(zip(data[1], data[2], strict=True))) == made
    del made
    assert [] == ran


@pytest.mark.parametrize("up", [0, -1, 2**70, "a", None, 1.5])
def test_a_cycle_leads_a_number_of_levels_up(up):
    """Anything else is refused when it is read, not when it is written again."""
    with pytest.raises(FormatError):
        unpack(packb(Ext(Kind.CYCLE, packb(up) if up != 2**70 else pack(up))))
