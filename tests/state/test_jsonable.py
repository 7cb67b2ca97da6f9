"""Any value as JSON, without loss."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import Point, exactly_equal, json_values, values

from argentum.errors import ArgentumError, FormatError, LimitError
from argentum.state import from_jsonable, to_jsonable
from argentum.tree import Record, diff, freeze
from argentum.tree.encoding import pack


@given(values)
def test_round_trip_through_json_text(value):
    """What was written as JSON text reads back as it was, by exact types."""
    text = json.dumps(to_jsonable(value), allow_nan=False)
    again = from_jsonable(json.loads(text), live=True)

    assert exactly_equal(value, again)
    assert [] == diff(freeze(value), freeze(from_jsonable(json.loads(text), live=True)))


@given(json_values.filter(lambda value: "$type" not in repr(value)))
def test_json_stands_for_itself(value):
    """Plain JSON is written as it is, but for integers that other readers would round."""
    if _large(value):
        assert exactly_equal(value, from_jsonable(to_jsonable(value)))
    else:
        assert exactly_equal(value, to_jsonable(value))


def _large(value: object) -> bool:
    if isinstance(value, list | dict):
        return any(map(_large, value.values() if isinstance(value, dict) else value))
    return type(value) is int and abs(value) > 2**53


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda children: st.lists(children, max_size=4)
    | st.dictionaries(st.text(max_size=2), children, max_size=2)
    | st.builds(
        lambda name, value: {"$type": name, "value": value},
        st.sampled_from(
            [
                "tuple", "set", "frozenset", "pairs", "big_int", "surrogates", "bytes", "bytearray",
                "memoryview", "datetime", "date", "time", "timedelta", "decimal", "fraction",
                "uuid",
                "complex", "range", "path", "enum", "object", "subclass", "array_scalar", "deque",
                "opaque", "cycle", "deep", "dict", "list", "branch", "base64", "float", "int", "x",
            ]
        ),
        children,
    ),
    max_leaves=8,
)  # fmt: skip


@given(junk)
def test_any_json_is_a_value_or_an_error_of_ours(data):
    """JSON that nobody wrote never fails in another way."""
    try:
        from_jsonable(data, live=True)
    except ArgentumError as error:
        assert isinstance(error, FormatError | LimitError)


@pytest.mark.parametrize("levels", [99, 100, 200, 254, 255, 256, 300])
@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["list", "dict"]
)
def test_deep_json_reads_back(levels, wrap):
    """JSON nests as deep as its readers go."""
    value: object = 1
    for _ in range(levels):
        value = wrap(value)

    assert pack(value) == pack(from_jsonable(to_jsonable(value)))


def test_too_deep():
    """What nests deeper than this thread may recurse is a `LimitError`, both ways."""
    value: list = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(LimitError, match="too deep"):
        from_jsonable(value)
    with pytest.raises(LimitError, match="too deep"):
        to_jsonable([value] * 2)


@pytest.mark.parametrize(
    "value, expected",
    [
        ((1, 2), {"$type": "tuple", "value": [1, 2]}),
        ({1: 2}, {"$type": "pairs", "value": [1, 2]}),
        ({"$type": "x"}, {"$type": "pairs", "value": ["$type", "x"]}),
        (2**53, 2**53),
        (2**53 + 1, {"$type": "int", "value": "9007199254740993"}),
        (float("inf"), {"$type": "float", "value": "inf"}),
        (float("nan"), {"$type": "float", "value": "nan"}),
        (b"\x00\xff", {"$type": "bytes", "value": {"$type": "base64", "value": "AP8="}}),
        (-0.0, -0.0),
        ("\u00e4", "\u00e4"),
    ],
)
def test_forms(value, expected):
    """What JSON lacks is written under its type's name."""
    assert repr(expected) == repr(to_jsonable(value))


def test_objects_need_not_be_loaded():
    """By default an object reads back as a record; asked for, as an instance."""
    data = to_jsonable(Point(1, 2))

    assert Record("tests.tree.values:Point", {"x": 1, "y": 2}) == from_jsonable(data)
    assert Point(1, 2) == from_jsonable(data, live=True)


@pytest.mark.parametrize(
    "data",
    [
        {"$type": "unheard-of", "value": 1},
        {"$type": "int", "value": "x"},
        {"$type": "base64", "value": "?"},
        {"$type": ["list"], "value": 1},
        {"$type": "decimal", "value": "x"},
        {"$type": "set", "value": [[]]},
        {"$type": "fraction", "value": "1/0"},
    ],
)
def test_what_is_no_value(data):
    """A `$type` that is not known or does not fit is a `FormatError`."""
    with pytest.raises(FormatError):
        from_jsonable([data])


@pytest.mark.parametrize("data", ["\ud800", ["a\udfff"], {"k": {"n": "\ud800"}}])
def test_lone_surrogates_written_as_escapes(data):
    """Text that JSON can write with escapes is read."""
    assert data == from_jsonable(json.loads(json.dumps(data)))


def test_a_key_with_a_lone_surrogate():
    """As a plain key it is refused with what would work."""
    with pytest.raises(FormatError, match="write such dicts as `pairs`"):
        from_jsonable({"\ud800": 1})
