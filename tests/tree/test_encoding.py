"""Bytes that differ exactly when values differ, and read back whatever the shape."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import exactly_equal, values

from argentum.errors import FormatError
from argentum.tree import Cycle, Opaque
from argentum.tree.encoding import (
    MAX_DEPTH,
    TooLargeError,
    is_ambiguous,
    pack,
    pack_exactly,
    unpack,
)

UNLIKE: list[Any] = [
    None, False, True, 0, 1, 0.0, 1.0, "", "1", b"", b"1", bytearray(), bytearray(b"1"), (), [], {},
    set(), frozenset(), (1,), [1], {1}, frozenset({1}), {"1": 1}, {1: 1}, {True: 1}, 1 + 0j,
    2**63, 2**64, -(2**63), -(2**63) - 1, "\ud800", "?", range(0), range(1), [()], [[]],
    memoryview(b""),
]  # fmt: skip


def nested(levels: int, innermost: object = None) -> list:
    """Put lists into each other."""
    value: list = [innermost]
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize("one, other", list(itertools.combinations(range(len(UNLIKE)), 2)))
def test_unlike_values_have_unlike_bytes(one, other):
    """No two values of different type or content share their bytes, however alike they look."""
    assert pack(UNLIKE[one]) != pack(UNLIKE[other])


@given(values)
def test_bytes_read_back(value):
    """`unpack(pack(x))` is x by exact types."""
    assert exactly_equal(value, unpack(pack(value), live=True))


@given(values)
def test_both_ways_write_the_same(value):
    """The quick way in C and the exact way in Python give the same bytes."""
    assert pack_exactly(value) == pack(value)


@given(values)
def test_reading_without_classes_keeps_the_bytes(value):
    """What stands for classes that are not asked for is written as what it stands for."""
    assert pack(value) == pack(unpack(pack(value)))


@given(st.sets(st.integers(), max_size=20))
def test_sets_have_one_form(members):
    """The order in which a set was filled leaves no trace."""
    upwards, downwards = set(), set()
    for member in sorted(members):
        upwards.add(member)
    for member in sorted(members, reverse=True):
        downwards.add(member)

    assert pack(upwards) == pack(downwards)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_format_error(data):
    """Reading bytes that nobody wrote never fails in another way."""
    try:
        unpack(data, live=True)
    except FormatError as error:
        assert "are not an encoded value" in str(error)


@pytest.mark.parametrize("levels", [99, 100, 101, 250, 256, 900, MAX_DEPTH])
def test_depth_is_kept(levels):
    """Lists nest to a thousand levels without loss."""
    value = unpack(pack(nested(levels, "innermost")))
    for _ in range(levels):
        [value] = value

    assert "innermost" == value


def test_what_lies_too_deep_is_marked():
    """A list 100,000 levels deep is kept to the bound and marked below, without a crash."""
    value = unpack(pack(nested(100_000)))
    for _ in range(MAX_DEPTH):
        [value] = value

    assert Opaque("list", "nested too deep to be kept") == value


def test_tuples_in_tuples_are_kept_to_their_own_bound():
    """Nested values that cost recursion to read back are cut off earlier, and marked."""
    value: object = ()
    for _ in range(5_000):
        value = (value,)
    depth, inner = 0, unpack(pack(value))
    while type(inner) is tuple:
        [inner] = inner
        depth += 1

    assert depth > 100
    assert Opaque("tuple", "nested too deep to be kept") == inner


def test_cycles_are_references_up():
    """A container inside itself is written as how many levels up it lies."""
    ring: list = [1]
    ring.append({"self": ring})

    assert [1, {"self": Cycle(2)}] == unpack(pack(ring))


def test_a_shared_part_is_no_cycle():
    """One object at two places is simply there twice."""
    part = [1]

    assert [[1], [1], {"a": [1]}] == unpack(pack([part, part, {"a": part}]))


def test_limit_stops_the_slow_way():
    """A value that turns out too large is given up early."""
    with pytest.raises(TooLargeError):
        pack([("x",)] * 1000, limit=100)


@pytest.mark.parametrize(
    "value, expected",
    [
        (["Ä", "ąć"], False),
        ([b"ab"], True),
        ({"a": [1, {"b": bytearray()}]}, True),
        ("text", False),
        (b"", True),
        ([[], {}, None, 1.5], False),
    ],
)
def test_is_ambiguous(value, expected):
    """Bytes are told from text that happens to contain their codes."""
    assert expected is is_ambiguous(value)
    assert "ąć" == unpack(pack("ąć"))
