"""How a decoded payload becomes the value again: one row of the table per code."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from enum import Enum, Flag
from typing import TYPE_CHECKING, Any

from argentum.tree.arrays import array_from_bytes
from argentum.tree.kinds import Cycle, Kind, Member, Opaque, Record
from argentum.tree.taking import is_plain_data

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction
    from pathlib import PurePath
    from uuid import UUID


MAX_LEVELS_UP = 100_000


def build(kind: Kind, data: Any, *, live: bool) -> object:
    """Make the value of a code from its decoded payload (see `unpack` about `live`)."""
    if kind is Kind.OBJECT:
        return build_object(data[0], dict(zip(data[1], data[2], strict=True)), live=live)
    if kind is Kind.SUBCLASS:
        return build_subclass(data[0], dict(zip(data[1], data[2], strict=True)), live=live)
    if kind is Kind.ENUM:
        return _build_enum(*data, live=live)
    return _BUILDERS[kind](data)


def _pairs(data: list[Any]) -> dict[Any, Any]:
    half = len(data) // 2
    return dict(zip(data[:half], data[half:], strict=True))


def _zone_from(data: Any) -> tzinfo | None:
    if data is None:
        return None
    seconds, name, named = data
    if named:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - rarely needed

        with suppress(ZoneInfoNotFoundError):  # else at least the instant is right
            return ZoneInfo(name)
    offset = timedelta(seconds=seconds or 0)
    if offset == timedelta(0) and name == "UTC":
        return UTC
    bare = timezone(offset)
    return bare if name in (None, bare.tzname(None)) else timezone(offset, name)


def _datetime(data: list[Any]) -> datetime:
    moment = datetime.fromisoformat(data[0])
    return moment.replace(fold=data[1], tzinfo=_zone_from(data[2]))


def _time(data: list[Any]) -> time:
    return time.fromisoformat(data[0]).replace(fold=data[1], tzinfo=_zone_from(data[2]))


def _path(data: list[Any]) -> PurePath:
    import pathlib  # noqa: PLC0415 - slow to load

    flavour, concrete, text = data
    pure = pathlib.PureWindowsPath if flavour == "windows" else pathlib.PurePosixPath
    cls = getattr(pathlib, concrete, pure)
    try:
        made = cls(text)
    except NotImplementedError:
        return pure(text)
    return made if isinstance(made, pathlib.PurePath) else pure(text)


def _decimal(text: str) -> Decimal:
    from decimal import Decimal  # noqa: PLC0415 - slow to load

    return Decimal(text)


def _fraction(text: str) -> Fraction:
    from fractions import Fraction  # noqa: PLC0415 - slow to load

    above, _, below = text.partition("/")  # never "1e99999999", which would take for ever
    return Fraction(int(above), int(below or "1"))


def _uuid(text: str) -> UUID:
    from uuid import UUID  # noqa: PLC0415 - slow to load

    return UUID(text)


def _cycle(up: object) -> Cycle:
    if type(up) is not int or not 0 < up < MAX_LEVELS_UP:
        message = f"a cycle leads {up!r} levels up"
        raise ValueError(message)
    return Cycle(up)


_BUILDERS: dict[Kind, Callable[[Any], object]] = {
    Kind.TUPLE: tuple,
    Kind.SET: set,
    Kind.FROZENSET: frozenset,
    Kind.PAIRS: _pairs,
    Kind.BIG_INT: lambda data: int(data, 16),
    Kind.SURROGATES: lambda data: data.decode("utf-8", "surrogatepass"),
    Kind.BYTES: bytes,
    Kind.BYTEARRAY: bytearray,
    Kind.MEMORYVIEW: memoryview,
    Kind.DATETIME: _datetime,
    Kind.DATE: date.fromisoformat,
    Kind.TIME: _time,
    Kind.TIMEDELTA: lambda data: timedelta(*data),
    Kind.DECIMAL: _decimal,
    Kind.FRACTION: _fraction,
    Kind.UUID: _uuid,
    Kind.COMPLEX: lambda data: complex(*data),
    Kind.RANGE: lambda data: range(*map(int, data)),
    Kind.PATH: _path,
    Kind.ARRAY: lambda data: array_from_bytes(data, scalar=False),
    Kind.ARRAY_SCALAR: lambda data: array_from_bytes(data, scalar=True),
    Kind.DEQUE: lambda data: deque(data[1:], data[0]),
    Kind.OPAQUE: lambda data: Opaque(*data),
    Kind.CYCLE: _cycle,
    Kind.DEEP: lambda data: data,
}


def loaded_class(type_name: str) -> type | None:
    """Find a class among the modules that this process has loaded; nothing is imported."""
    module, _, qualified = type_name.partition(":")
    found: Any = sys.modules.get(module)
    for name in qualified.split("."):
        found = getattr(found, name, None) if found is not None else None
    return found if isinstance(found, type) else None


def _build_enum(type_name: str, name: str, value: object, *, live: bool) -> object:
    cls = loaded_class(type_name) if live else None
    if cls is not None and issubclass(cls, Enum):
        if name in cls.__members__:
            return cls.__members__[name]
        known = cls._value2member_map_
        if value is not None and value in known:
            return known[value]
        if value is not None and issubclass(cls, Flag):
            return _flag(cls, type_name, name, value)
    return Member(type_name, name, value)


def _flag(cls: type[Flag], type_name: str, name: str, value: object) -> object:
    try:
        return cls(value)
    except (TypeError, ValueError):  # the class has lost a bit
        return Member(type_name, name, value)


def build_object(type_name: str, fields: dict[str, Any], *, live: bool) -> object:
    """Make an object from its fields, without running its constructor."""
    cls = loaded_class(type_name) if live else None
    if cls is None or not is_plain_data(cls) or _does_more(cls):
        return Record(type_name, fields)
    if cls is types.SimpleNamespace:
        return cls(**fields)
    try:
        made: object = object.__new__(cls)
        if hasattr(cls, "__pydantic_fields__"):
            return _fill_pydantic(made, cls, fields)
        for name, value in fields.items():
            _set(made, cls, name, value)
    except (AttributeError, TypeError):  # an exception class, or one that has lost a slot
        return Record(type_name, fields)
    return made


def _does_more(cls: type) -> bool:
    """Tell whether instances run code of their class by themselves: an imported run must not."""
    return hasattr(cls, "__del__")


def _set(made: object, cls: type, name: str, value: object) -> None:
    """Set a field as data: no property or other descriptor of the class runs."""
    member = next((vars(one)[name] for one in cls.__mro__ if name in vars(one)), None)
    if isinstance(member, types.MemberDescriptorType):
        member.__set__(made, value)
    elif hasattr(type(member), "__set__"):
        message = f"{name} is computed"
        raise AttributeError(message)
    else:
        object.__getattribute__(made, "__dict__")[name] = value


def _fill_pydantic(made: object, cls: Any, fields: dict[str, Any]) -> object:
    declared = {name: value for name, value in fields.items() if name in cls.__pydantic_fields__}
    extra = {name: value for name, value in fields.items() if name not in declared}
    allows_extra = cls.model_config.get("extra") == "allow"
    object.__setattr__(made, "__dict__", declared if allows_extra else {**declared, **extra})
    object.__setattr__(made, "__pydantic_fields_set__", set(fields))
    object.__setattr__(made, "__pydantic_extra__", extra if allows_extra else None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def build_subclass(type_name: str, fields: dict[str, Any], *, live: bool) -> object:
    """Make an instance of a subclass of a built-in type, without running its constructor."""
    cls = loaded_class(type_name) if live else None
    plain = fields[""]
    maker = None if cls is None else _maker(cls, type(plain))
    if cls is None or maker is None or _does_more(cls):
        return Record(type_name, fields)
    made = maker(cls, plain)
    try:
        for name, value in fields.items():
            if name:
                _set(made, cls, name, value)
    except (AttributeError, TypeError):  # computed now, or no room for it
        return Record(type_name, fields)
    return made


def _maker(cls: type, base: type) -> Callable[[Any, Any], object] | None:
    if issubclass(cls, OrderedDict):
        return _new_ordered
    return _MAKERS.get(base) if issubclass(cls, base) else None


def _new_ordered(cls: type, plain: dict[Any, Any]) -> object:
    made: Any = OrderedDict.__new__(cls)
    for key, value in plain.items():
        OrderedDict.__setitem__(made, key, value)
    return made


def _new_then(fill: str) -> Callable[[Any, Any], object]:
    def make(cls: type, plain: Any) -> object:
        base = type(plain)
        made: object = base.__new__(cls)  # type: ignore[call-overload] # any built-in
        getattr(base, fill)(made, plain)
        return made

    return make


def _new_from(cls: type, plain: Any) -> object:
    return type(plain).__new__(cls, plain)  # see _MAKERS


_MAKERS: dict[type, Callable[[Any, Any], object]] = {
    dict: _new_then("update"),
    list: _new_then("extend"),
    set: _new_then("update"),
    bytearray: _new_then("extend"),
    deque: _new_then("extend"),
    **dict.fromkeys((tuple, frozenset, str, int, float, bytes), _new_from),
}
