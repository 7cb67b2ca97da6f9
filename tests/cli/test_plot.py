"""Numbers drawn in a few lines of text."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.cli.plot import COLUMNS, ROWS, as_number, plot


def test_a_line():
    """A number that rises is a line that rises, with its least and greatest beside it."""
    assert [
        "3 ┤  ▄▀",
        "0 ┤▄▀",
    ] == plot([0, 1, 2, 3], rows=2)


@pytest.mark.parametrize("numbers", [[], [1.0], [2.0, 2.0], [None], [math.nan, 1.0, math.inf]])
def test_nothing_to_see(numbers):
    """What has no two different finite numbers is not drawn."""
    assert [] == plot(numbers)


def test_an_outlier_among_many_is_seen():
    """One of 10,000 numbers that is away from the others has its mark."""
    numbers = [0.0] * 10_000
    numbers[5000] = 1.0

    lines = plot(numbers)

    assert 1 == sum(char in "▀▄█" for char in lines[0])
    assert COLUMNS == sum(char in "▀▄█" for char in lines[-1])


@pytest.mark.parametrize("low,high", [(-1.7e308, 1.7e308), (0.0, 5e-324), (1e300, 1.7e308)])
def test_extremes(low, high):
    """Ranges at the limits of floats are drawn."""
    lines = plot([low, high])

    assert ROWS == len(lines)
    assert lines[0].rstrip()[-1] in "▀▄"
    assert lines[-1].rstrip()[-1] in "▀▄"


@given(st.lists(st.none() | st.floats(), max_size=150))
def test_any_numbers(numbers):
    """Whatever the numbers, there are no lines or all lines, and no line is too long."""
    lines = plot(numbers)

    assert len(lines) in (0, ROWS)
    assert all(len(line.partition("┤")[2]) <= COLUMNS for line in lines)


@pytest.mark.parametrize(
    "value,expected",
    [
        (1, 1.0), (0.5, 0.5), (Decimal("1.5"), 1.5), (Fraction(1, 2), 0.5), (10**400, None),
        (True, None), ("1", None), (None, None), (Decimal("sNaN"), None),
    ],
)  # fmt: skip
def test_what_is_a_number(value, expected):
    """Python's real numbers are drawn, as far as floats reach; a bool is none."""
    assert expected == as_number(value)
