"""Numbers as values and in texts: `1500`, `"$1,500.00"`, `"1.5k"`, `"15 %"` and `0.15`."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

from argentum.matching.texts import folded

MOST_BITS = 256
"""Larger integers are compared exactly and not read as numbers."""
MOST_DIGITS = 60
TWO_DIGITS = 10

_CURRENCY = r"[$€£¥₹]|\b(?:usd|eur|gbp|chf|jpy|us\$)"
_GROUPED = r"\d{1,3}(?:[ ,.'’_\u00a0\u2009\u202f]\d{3})+(?!\d)"  # noqa: RUF001 - as people write
_NUMBER = re.compile(
    rf"(?<![\w.,/:])(?P<sign>[-+−]?)\s?(?:{_CURRENCY})?\s?"  # noqa: RUF001
    rf"(?P<whole>{_GROUPED}|\d+)(?P<rest>[.,]\d+)?(?P<power>e[-+]?\d{{1,3}})?"
    r"(?:\s?(?P<unit>%|percent\b|per cent\b|k\b|thousand\b|m\b|mn\b|million\b|bn\b|billion\b))?"
    r"(?![\w/]|[.,:-]\d)"
)
_BEFORE = re.compile(r"(?:#|(?P<name>[\w.,-]*\w)-)$")
"""What stands before digits that number something: `INV-4821`, `#4821`, `555-0192-4821`."""
_RANGE = re.compile(r"\d[\d.,]*")
_AROUND = re.compile(rf"(?:{_CURRENCY}|dollars?|euros?|pounds?|[\s.,;:])*")
_SCALES = {
    "k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9,
    "%": -2, "percent": -2, "per cent": -2,
}  # fmt: skip


class Reading(NamedTuple):
    """A number, as exactly as it is written."""

    number: Decimal
    unit: Decimal
    """What the last digit that is shown counts: 0.01 in `1.50`, 100 in `1.5k`."""
    text: str = ""
    """How it is written in a text around it."""
    is_in_identifier: bool = False
    """Whether it is the last part of an identifier, which is no number."""


def numbers_of(value: Any) -> tuple[Reading, ...]:
    """Give how a value reads as a number; first the likeliest way, nothing if it is none."""
    if isinstance(value, bool):
        return ()
    if isinstance(value, int):
        return (_reading(Decimal(value)),) if value.bit_length() <= MOST_BITS else ()
    if isinstance(value, float | Decimal):
        number = Decimal(repr(value)) if isinstance(value, float) else value
        return (_reading(number),) if number.is_finite() and _is_moderate(number) else ()
    if isinstance(value, Fraction):
        return numbers_of(value.numerator / value.denominator if _is_small(value) else None)
    return _numbers_of_text(value) if isinstance(value, str) else ()


def _is_small(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= MOST_BITS


def _is_moderate(number: Decimal) -> bool:
    return len(number.as_tuple().digits) <= MOST_DIGITS and abs(number.adjusted()) <= MOST_DIGITS


def _reading(number: Decimal) -> Reading:
    exponent = number.as_tuple().exponent
    places = exponent if isinstance(exponent, int) else 0
    if places < 0 and number == number.to_integral_value():
        places = 0  # 1500.0 is 1500
    return Reading(number, Decimal(1).scaleb(min(places, 0)))


def _numbers_of_text(text: str) -> tuple[Reading, ...]:
    """Read a text that is a number and nothing else but signs of money."""
    if len(text) > MOST_DIGITS or not any(map(str.isdigit, text)):
        return ()
    plain = folded(text).strip()
    found = _NUMBER.search(plain)
    if found is None:
        return ()
    rest = plain[: found.start()] + plain[found.end() :]
    return tuple(_readings(found)) if _AROUND.fullmatch(rest) else ()


def numbers_in(text: str) -> list[Reading]:
    """Find all numbers in a text; one that can be read in two ways is there twice."""
    if not any(map(text.__contains__, "0123456789")):
        return []
    plain = folded(text)
    return [
        reading._replace(text=found.group(), is_in_identifier=is_part)
        for found in _NUMBER.finditer(plain)
        for is_part in (_is_part_of_identifier(plain, found.start("whole")),)
        for reading in _readings(found)
    ]


def _is_part_of_identifier(text: str, start: int) -> bool:
    """Tell whether a name or a number stands before digits and a hyphen; `12-15` is a range."""
    before = text[max(0, start - MOST_DIGITS) : start]
    found = _BEFORE.search(before)
    return found is not None and not _RANGE.fullmatch(found["name"] or "#")


def _readings(found: re.Match[str]) -> list[Reading]:
    readings = []
    for digits in _spellings(found["whole"], found["rest"] or ""):
        if len(digits) > MOST_DIGITS:
            continue
        try:
            plain = Decimal(digits + (found["power"] or ""))
        except InvalidOperation:
            continue
        if not _is_moderate(plain):
            continue
        places = len(digits.partition(".")[2])
        number = -plain if found["sign"] in ("-", "−") else plain  # noqa: RUF001
        unit = Decimal(1).scaleb(-places)
        scale = _SCALES.get(found["unit"] or "", 0)
        readings.append(Reading(number.scaleb(scale), unit.scaleb(scale)))
        if scale:
            readings.append(Reading(number, unit))
    return readings


def _spellings(whole: str, rest: str) -> list[str]:
    """Give the digits with a point; `1.234` is 1.234, or 1234 in other countries."""
    digits = re.sub(r"\D", "", whole)
    decimals = "." + rest[1:] if rest else ""
    spellings = [digits + decimals]
    marks = re.sub(r"\d", "", whole)
    if len(marks) == 1 and marks in ",." and not rest:
        other = whole.replace(",", ".")
        spellings = [other, digits] if marks == "." else [digits, other]
    return spellings


def is_rounded(one: Reading, other: Reading) -> bool:
    """Tell whether the number that shows fewer digits is the other one, rounded to them."""
    coarse, fine = (one, other) if one.unit > other.unit else (other, one)
    if coarse.unit == fine.unit or abs(coarse.number) < TWO_DIGITS * coarse.unit:
        return False
    return abs(coarse.number - fine.number) * 2 <= coarse.unit


def significant_digits(number: Decimal) -> int:
    """Count the digits without zeros at either end."""
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    return len(digits)
