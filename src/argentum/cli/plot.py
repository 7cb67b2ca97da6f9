"""A few lines of text that show how a number went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

COLUMNS, ROWS = 60, 6
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def is_number(value: object) -> bool:
    """Tell whether a value is one of Python's real numbers, of which a bool is none."""
    return type(value) in (int, float, Decimal, Fraction)


def as_number(value: object) -> float | None:
    """Give a number as a float, None for what is no number or too large for one."""
    if not is_number(value):
        return None
    try:
        return float(value)  # type: ignore[arg-type] # a number
    except (OverflowError, ValueError):
        return None


def plot(numbers: Sequence[float | None], columns: int = COLUMNS, rows: int = ROWS) -> list[str]:
    """
    Draw numbers from left to right, each as half a character; no lines if there is nothing to see.

    Where there are more numbers than columns, a column shows all that fall into it, so that a
    single outlier is seen. What is no finite number is left out.
    """
    finite = [number for number in numbers if number is not None and math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    if low == high:
        return []
    width = min(columns, len(numbers))
    marks: set[tuple[int, int]] = set()
    for at, number in enumerate(numbers):
        if number is not None and math.isfinite(number):
            marks.add((at * width // len(numbers), _level(number, low, high, 2 * rows)))
    labels = [f"{high:.6g}", *[""] * (rows - 2), f"{low:.6g}"]
    space = max(map(len, labels))
    return [
        f"{label:>{space}} ┤{_row(marks, 2 * (rows - 1 - number), width)}".rstrip()
        for number, label in enumerate(labels)
    ]


def _level(number: float, low: float, high: float, levels: int) -> int:
    if math.isinf(high - low):
        number, low, high = number / 2, low / 2, high / 2
    return min(levels - 1, int((number - low) / (high - low) * levels))


def _row(marks: set[tuple[int, int]], lower: int, width: int) -> str:
    return "".join(_HALVES[(at, lower + 1) in marks, (at, lower) in marks] for at in range(width))
