"""One form of bytes for each JSON value."""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.handoff.makers import JSON

from argentum import FormatError, InputError
from argentum.handoff.canonical import canonical, digest, plain, read

NUMBERS = {  # RFC 8785, appendix B
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize("bits", NUMBERS)
def test_numbers_of_the_standard(bits: str):
    """Each number is written as the standard's table has it."""
    (number,) = struct.unpack(">d", bytes.fromhex(bits))

    assert NUMBERS[bits] == canonical(number).decode()


def test_example_of_the_standard():
    """Keys are sorted by UTF-16, and only what must be is escaped."""
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }

    assert ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"] == list(
        json.loads(canonical(value))
    )
    assert b'"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"' == canonical('€$\x0f\nA\'B"\\\\"/')


def test_digest():
    """A digest names its algorithm."""
    expected = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

    assert expected == digest(canonical({}))


@given(JSON)
def test_written_and_read(value: object):
    """What is written reads as it was, and is written alike again."""
    found = read(canonical(value))

    assert value == found
    assert canonical(value) == canonical(found)


@pytest.mark.parametrize(
    "value, said",
    [
        ({"a": [1, 2**53]}, "x.a[1] is 9007199254740992; an integer within"),
        ({"a": float("nan")}, "x.a is nan; a finite number"),
        (float("-inf"), "x is -inf; a finite number"),
        ({"a": b"1"}, "x.a is b'1'; text, a number"),
        ({"a": {1}}, "x.a is {1}; text, a number"),
        ({"a": "\ud800"}, "x.a is '\\ud800'; text without lone surrogates"),
        ({1: "a"}, "A key of x is 1; text would work"),
        ({"\udfff": "a"}, "A key of x is '\\udfff'; text without lone surrogates"),
    ],
)
def test_what_json_does_not_carry(value: object, said: str):
    """What would not arrive as it was sent is refused with its place and what would do."""
    with pytest.raises(InputError) as caught:
        plain(value, "x")

    assert said in str(caught.value)


def test_large_numbers_that_are_read():
    """A float that is written as an integer is read as one; what no float holds is refused."""
    assert (b"1152921504606847000", 2.0**60) == (
        canonical(2.0**60),
        read("1152921504606847000"),
    )
    for inexact in ("[1152921504606846976]", "[9007199254740993]", "[1" + "0" * 400 + "]"):
        with pytest.raises(FormatError, match="more than readers of JSON keep exactly"):
            read(inexact)


def test_what_cannot_be_written_or_read():
    """What has no canonical form, or is no text, is told so."""
    with pytest.raises(InputError, match=r"The value\[0\] is 9007199254740992; an integer"):
        canonical([2**53])
    with pytest.raises(InputError, match="3 is no document; give bytes or text"):
        read(3)
    with pytest.raises(FormatError, match="The document is not UTF-8: surrogates not allowed"):
        read('"\ud800"')
    with pytest.raises(FormatError, match="not UTF-8"):
        read(b'"\xff"')


def test_depth():
    """What nests deeper than a reader can take is refused, not a crash."""
    value: list = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(InputError, match="at most 100 levels would work"):
        plain(value, "x")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back(number: float):
    """A number is written with as many digits as it takes, and no more than Python would use."""
    written = canonical(number).decode()

    assert number == float(written)
    assert len([digit for digit in written.partition("e")[0].strip("-0.") if digit != "."]) <= 21
