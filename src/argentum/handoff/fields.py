"""
What the fields of a document may hold, and reading and writing of documents by their fields.

A check takes a value and the name of its field, and gives the value to keep or raises `InputError`
with field, value and what would do. A table of checks per dataclass is all there is to a format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, cast

from argentum.clock import as_datetime
from argentum.errors import InputError
from argentum.handoff.canonical import LARGEST_INTEGER, plain, refused, text

Check = Callable[[Any, str], Any]
Checks = dict[str, Check]
Record = TypeVar("Record")

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)"
)
_AMOUNT = re.compile(r"-?(0|[1-9]\d{0,30})(\.\d{1,30})?")
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_OPTIONAL: set[Check] = set()
"""The checks that let None pass, which most fields are; asking here is quicker than calling."""
_EPOCH = datetime.fromtimestamp(0, UTC)


# ---------------------------------------------------------------- checks


def name(value: Any, where: str) -> str:
    """Check a text that is not empty."""
    if type(value) is not str or not value:
        raise refused(where, value, "text that is not empty")
    return text(value, where)


def boolean(value: Any, where: str) -> bool:
    """Check a boolean."""
    if value is not True and value is not False:
        raise refused(where, value, "True or False")
    return bool(value)


def count(value: Any, where: str) -> int:
    """Check an integer from 0 to 2^53 - 1."""
    if type(value) is not int or not 0 <= value <= LARGEST_INTEGER:
        raise refused(where, value, "an integer from 0 to 2^53 - 1")
    return value


def share(value: Any, where: str) -> float:
    """Check a number from 0 to 1."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise refused(where, value, "a number from 0 to 1")
    return float(value)


def amount(value: Any, where: str) -> str:
    """Check a decimal number, which travels as text so that no reader rounds it."""
    if isinstance(value, Decimal) and value.is_finite():
        value = f"{value:f}"
    if type(value) is not str or not _AMOUNT.fullmatch(value):
        raise refused(where, value, "a decimal number as text, such as '1.23', or a Decimal")
    return value


def moment(value: Any, where: str) -> str:
    """Check a time with its zone, as text of RFC 3339; a `datetime` is written so."""
    try:
        if isinstance(value, datetime) and value.tzinfo:
            value = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        if type(value) is str and _TIME.fullmatch(value):
            datetime.fromisoformat(value[:19])  # is there such a day
            return value
    except (ValueError, OverflowError):
        pass
    raise refused(where, value, "a time with its zone, such as '2026-10-18T10:00:00Z',")


def matching(pattern: re.Pattern[str], would: str) -> Check:
    """Make a check for texts of a form."""

    def check(value: Any, where: str) -> str:
        if type(value) is not str or not pattern.fullmatch(value):
            raise refused(where, value, would)
        return value

    return check


sha256 = matching(_DIGEST, "'sha256:' and 64 hexadecimal digits")
traceparent = matching(_TRACEPARENT, "a traceparent of W3C Trace Context")


def one_of(*known: str) -> Check:
    """Make a check for one of a few words."""
    listed = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"

    def check(value: Any, where: str) -> str:
        if type(value) is not str or value not in known:
            raise refused(where, value, listed)
        return value

    return check


def optional(check: Check) -> Check:
    """Make a check that lets None pass."""

    def check_optional(value: Any, where: str) -> Any:
        return None if value is None else check(value, where)

    _OPTIONAL.add(check_optional)
    return check_optional


def list_of(check: Check) -> Check:
    """Make a check for a list; gives a new one."""

    def check_list(value: Any, where: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            raise refused(where, value, "a list")
        return [check(item, f"{where}[{index}]") for index, item in enumerate(value)]

    return check_list


def tuple_of(check: Check) -> Check:
    """Make a check for a list that is kept as a tuple."""
    as_list = list_of(check)
    return lambda value, where: () if value == () else tuple(as_list(value, where))


def json_object(value: Any, where: str) -> dict[str, Any]:
    """Check a dict that JSON carries exactly; gives a copy."""
    if type(value) is not dict:
        raise refused(where, value, "a dict")
    copied: dict[str, Any] = plain(value, where)
    return copied


def artifact_name(value: Any, where: str) -> str:
    """Check the name of an artifact; a path is written with slashes."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value).replace(os.sep, "/")
    return name(value, where)


def object_of(kind: type[Record], checks: Checks) -> Check:
    """Make a check for a part of a document, given as what it is or as a dict."""

    def check(value: Any, where: str) -> Record:
        if type(value) is dict:
            return read(kind, checks, value, where)
        if not isinstance(value, kind):
            raise refused(where, value, f"a {kind.__name__} or a dict")
        settle(value, checks, where)
        return value

    return check


# ---------------------------------------------------------------- reading and writing


def settle(record: object, checks: Checks, where: str = "") -> None:
    """Check every field of a frozen dataclass, and keep what the checks give."""
    prefix = where + "." if where else ""
    for field_name, check in checks.items():
        value = getattr(record, field_name)
        if value is None and check in _OPTIONAL:
            continue
        kept = check(value, prefix + field_name)
        if kept is not value:
            object.__setattr__(record, field_name, kept)
    extra = record.extra  # type: ignore[attr-defined]  # every part of a document has it
    if extra:
        object.__setattr__(record, "extra", _unknown(extra, checks, prefix))


def read(
    kind: type[Record], checks: Checks, document: Mapping[str, Any], where: str = ""
) -> Record:
    """
    Make a dataclass from an object of JSON; fields that it does not have go to `extra`.

    An optional field that is null counts as absent.

    Raises:
        InputError: a field is missing or cannot be used.
    """
    given: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in document.items():
        if key not in checks:
            extra[key] = value
        elif value is not None:
            # A whole document, which has no place, checks itself.
            given[key] = checks[key](value, f"{where}.{key}") if where else value
    if where and extra:
        extra = _unknown(extra, checks, f"{where}.")
    for key in _required(cast("Any", kind)):
        if key not in given:
            found = ", ".join(map(repr, document)) or "nothing"
            place = f"{where}.{key}" if where else key
            raise InputError(f"{place} is missing; the document has {found}.")
    given["extra"] = extra
    return kind(**given)


def write(record: Any, always: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Make an object of JSON from a dataclass; what is as by default is left out."""
    document: dict[str, Any] = plain(record.extra, "extra")
    for field_name, default in _written(record.__class__):
        value = getattr(record, field_name)
        if value or field_name in always or value != default:
            document[field_name] = _as_json(value)
    return document


def at_ns(when: str) -> int:
    """Read a time that `moment` has checked: nanoseconds since 1970."""
    whole, _, rest = when.replace("z", "Z").replace("t", "T").partition(".")
    digits = re.match(r"\d*", rest)[0] if rest else ""  # type: ignore[index]
    zone = rest[len(digits) :] if rest else ""
    seconds = (datetime.fromisoformat(whole + zone) - _EPOCH) // timedelta(seconds=1)
    return seconds * 1_000_000_000 + int(digits.ljust(9, "0"))


def as_moment(when_ns: int) -> str:
    """Write nanoseconds since 1970 as RFC 3339 in UTC, to the microsecond."""
    return as_datetime(when_ns).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _as_json(value: Any) -> Any:
    if type(value) is tuple:
        return [_as_json(item) for item in value]
    if type(value) in (dict, list):
        return plain(value, "The value")
    return write(value) if hasattr(value, "extra") else value


def _unknown(extra: Any, checks: Checks, prefix: str) -> dict[str, Any]:
    kept = json_object(extra, prefix + "extra")
    for key in kept.keys() & checks.keys():
        raise InputError(f"extra has the key {key!r}; give it as the field {prefix}{key}.")
    return kept


@cache
def _required(kind: Any) -> tuple[str, ...]:
    return tuple(
        one.name
        for one in fields(kind)
        if one.default is MISSING and one.default_factory is MISSING
    )


@cache
def _written(kind: Any) -> tuple[tuple[str, object], ...]:
    return tuple(
        (one.name, one.default if one.default_factory is MISSING else one.default_factory())
        for one in fields(kind)
        if one.init and one.name != "extra"
    )
