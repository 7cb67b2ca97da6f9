"""Dates and times as values and in texts: `2026-03-01`, `1 March 2026`, `03/01/2026`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from argentum.matching.texts import folded

LONGEST_DATE = 60
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = r"(?P<name>" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + r"|sept)\.?"
_ISO = re.compile(
    r"(?<![\w-])(?P<iso>\d{4}-\d\d-\d\d)"
    r"(?:[t ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)"
    r" ?(?P<zone>z|utc|[+-]\d\d:?\d\d)?)?(?![\w-])"
)
_NAMED = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? {_MONTH},? (?P<year>\d{{4}}))\b"
)
_AMERICAN = re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b")
_NUMERIC = re.compile(r"(?<![\w./])(\d{1,2})([./])(\d{1,2})\2(\d{4})(?![\w/])")
_YEAR_FIRST = re.compile(r"(?<![\w./])(\d{4})([./])(\d{1,2})\2(\d{1,2})(?![\w/])")

Moment = tuple[date, datetime | None]
"""A day, and the time in UTC (or without a zone) if one is told."""


def dates_of(value: Any) -> tuple[Moment, ...]:
    """Give how a value reads as a date; nothing if it is none."""
    if isinstance(value, datetime):
        return (_moment(value),)
    if isinstance(value, date):
        return ((value, None),)
    if not isinstance(value, str) or len(value) > LONGEST_DATE:
        return ()
    plain = folded(value).strip()
    found = _found_in(plain)
    return tuple(moment for moment, span in found if span == (0, len(plain)))


def dates_in(text: str) -> list[tuple[Moment, str]]:
    """Find all dates in a text and how they are written; one that reads in two ways is twice."""
    plain = folded(text)
    return [(moment, plain[start:end]) for moment, (start, end) in _found_in(plain)]


def _found_in(text: str) -> list[tuple[Moment, tuple[int, int]]]:
    found: list[tuple[Moment, tuple[int, int]]] = []
    for one in _ISO.finditer(text):
        moment = _iso(one)
        if moment is not None:
            found.append((moment, one.span()))
    for pattern in (_NAMED, _AMERICAN):
        for one in pattern.finditer(text):
            month = next(at for at, name in enumerate(_MONTHS, 1) if name[:3] == one["name"][:3])
            found += _day(one, int(one["year"]), month, int(one["day"]))
    for one in _NUMERIC.finditer(text):
        first, second, year = int(one[1]), int(one[3]), int(one[4])
        found += _day(one, year, second, first)
        if first != second:
            found += _day(one, year, first, second)
    for one in _YEAR_FIRST.finditer(text):
        found += _day(one, int(one[1]), int(one[3]), int(one[4]))
    return found


def _day(
    found: re.Match[str], year: int, month: int, day: int
) -> list[tuple[Moment, tuple[int, int]]]:
    try:
        return [((date(year, month, day), None), found.span())]
    except ValueError:
        return []


def _iso(found: re.Match[str]) -> Moment | None:
    zone = (found["zone"] or "").replace("utc", "z").upper()
    time = f"T{found['time']}{zone}" if found["time"] else ""
    try:
        if not time:
            return date.fromisoformat(found["iso"]), None
        return _moment(datetime.fromisoformat(found["iso"] + time))
    except ValueError:
        return None


def _moment(value: datetime) -> Moment:
    try:
        at = value if value.tzinfo is None else value.astimezone(UTC)
    except (OverflowError, ValueError):  # at the ends of the calendar
        at = value.replace(tzinfo=None)
    return value.date(), at


def same_moment(one: Moment, other: Moment) -> bool:
    """Tell whether two dates are one; times count if both have one, zones if both have one."""
    (day, at), (other_day, other_at) = one, other
    if at is None or other_at is None:
        return day == other_day
    if (at.tzinfo is None) != (other_at.tzinfo is None):
        at, other_at = at.replace(tzinfo=None), other_at.replace(tzinfo=None)
    return at == other_at


def is_day_only(one: Moment, other: Moment) -> bool:
    """Tell whether one of two dates has a time and the other has none."""
    return (one[1] is None) != (other[1] is None)
