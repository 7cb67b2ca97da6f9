"""
How a value of any type is taken apart to be encoded.

`leaf` writes what has no parts at once, `take_apart` names the parts of the rest. Unknown objects
are never an error: what has fields becomes an OBJECT, everything else an `Opaque`.
"""

from __future__ import annotations

import sys
import types
from collections import OrderedDict, UserDict, UserList, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from enum import Enum
from functools import lru_cache
from typing import Any

from ormsgpack import Ext, packb

from argentum.errors import SEARCHED_CHARACTERS, hidden
from argentum.tree.arrays import array_to_bytes, is_array, is_array_scalar
from argentum.tree.kinds import Cycle, Kind, Member, Opaque, Parts, Record

NOT_A_LEAF = object()
FOREIGN_FAULTS = (Exception, SystemExit)
"""What code of the host may raise that was only asked for a text: no fault of its program."""
_INT64 = range(-(2**63), 2**64)
_PLAIN = frozenset({type(None), bool, float})


def leaf(value: object) -> object:
    """Encode a value that has no parts, or give `NOT_A_LEAF`."""
    cls = type(value)
    if cls in _PLAIN:
        return value
    writer = _LEAVES.get(cls) or _LATE_LEAVES.get(f"{cls.__module__}:{cls.__qualname__}")
    return NOT_A_LEAF if writer is None else writer(value)


def _int(value: int) -> object:
    return value if value in _INT64 else Ext(Kind.BIG_INT, packb(hex(value)))


def _str(value: str) -> object:
    try:
        value.encode()
    except UnicodeEncodeError:
        return Ext(Kind.SURROGATES, packb(value.encode("utf-8", "surrogatepass")))
    return value


def _zone(zone: tzinfo | None, moment: datetime | time) -> object:
    if zone is None:
        return None
    key = getattr(zone, "key", None)
    named = type(zone).__module__.startswith("zoneinfo") and isinstance(key, str)
    try:
        offset = moment.utcoffset()
    except FOREIGN_FAULTS:
        offset = None
    seconds = None if offset is None else offset.total_seconds()
    return [seconds, key if named else _safe_text(moment.tzname), named]


def _safe_text(read: Callable[[], object]) -> str | None:
    """Read a text from a foreign object, which may raise or give something else."""
    try:
        text = read()
        return text.encode(errors="replace").decode() if isinstance(text, str) else None
    except FOREIGN_FAULTS:
        return None


def _moment(kind: Kind) -> Callable[[Any], Ext]:
    def write(value: datetime | time) -> Ext:
        bare = value.replace(tzinfo=None, fold=0).isoformat()
        return Ext(kind, packb([bare, value.fold, _zone(value.tzinfo, value)]))

    return write


def _ext(kind: Kind, form: Callable[[Any], object]) -> Callable[[Any], Ext]:
    return lambda value: Ext(kind, packb(form(value)))


def _memory(value: memoryview) -> Ext:
    try:
        return Ext(Kind.MEMORYVIEW, packb(value.tobytes()))
    except ValueError:  # it was released
        return opaque(value)


_LEAVES: dict[type, Callable[[Any], object]] = {
    int: _int,
    str: _str,
    bytes: _ext(Kind.BYTES, bytes),
    bytearray: _ext(Kind.BYTEARRAY, bytes),
    memoryview: _memory,
    datetime: _moment(Kind.DATETIME),
    time: _moment(Kind.TIME),
    date: _ext(Kind.DATE, date.isoformat),
    timedelta: _ext(Kind.TIMEDELTA, lambda value: [value.days, value.seconds, value.microseconds]),
    complex: _ext(Kind.COMPLEX, lambda value: [value.real, value.imag]),
    range: _ext(Kind.RANGE, lambda value: [str(value.start), str(value.stop), str(value.step)]),
}


_LATE_LEAVES: dict[str, Callable[[Any], object]] = {
    "decimal:Decimal": _ext(Kind.DECIMAL, str),
    "fractions:Fraction": _ext(Kind.FRACTION, str),
    "uuid:UUID": _ext(Kind.UUID, lambda value: value.hex),
}
"""Types of modules that are slow to load, by name, so that they are not loaded for their sake."""


def is_leaf(value: object) -> bool:
    """Tell whether `leaf` writes a value."""
    cls = type(value)
    if cls in CONTAINERS:
        return False
    return cls in _PLAIN or cls in _LEAVES or f"{cls.__module__}:{cls.__qualname__}" in _LATE_LEAVES


# ---------------------------------------------------------------- parts


def take_apart(value: object, *, depth: int = 0) -> Parts | Ext:
    """
    Take a container or object apart, or encode what has no parts.

    No code of the value's class runs, except a `__repr__` for what becomes an `Opaque`.

    Args:
        depth: how many objects and tuples lie around it; unknown objects far down, which are
            rarely state, become an `Opaque`.
    """
    cls = type(value)
    taker = CONTAINERS.get(cls)
    if taker is not None:
        return taker(value)
    return _take_object(value, cls, depth)


def _dict(value: dict[Any, Any]) -> Parts:
    items = list(value.items())
    keys = [key for key, _ in items]
    values = [item for _, item in items]
    kind = Kind.DICT if _plain_names(keys) else Kind.PAIRS
    return Parts(kind, None, keys, values)


def _plain_names(keys: list[Any]) -> bool:
    """Tell whether all are exact `str` without lone surrogates."""
    if set(map(type, keys)) - {str}:
        return False
    try:
        packb(keys)
    except TypeError:
        return False
    return True


CONTAINERS: dict[type, Callable[[Any], Parts | Ext]] = {
    dict: _dict,
    list: lambda value: Parts(Kind.LIST, None, None, value[:]),
    tuple: lambda value: Parts(Kind.TUPLE, None, None, list(value)),
    set: lambda value: Parts(Kind.SET, None, None, list(value)),
    frozenset: lambda value: Parts(Kind.FROZENSET, None, None, list(value)),
    deque: lambda value: Parts(Kind.DEQUE, value.maxlen, None, list(value.copy())),
    types.MappingProxyType: lambda value: Parts(
        Kind.SUBCLASS, "builtins:mappingproxy", [""], [dict(value)]
    ),
}
"""How a container of just that type is taken apart. Types of ours that stand for one add a row."""

_BUILT_IN: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (OrderedDict, lambda value: dict(OrderedDict.items(value))),
    (dict, lambda value: dict(dict.items(value))),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (deque, lambda value: deque(deque.__iter__(value), value.maxlen)),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (bytes, lambda value: bytes(memoryview(value))),
    (bytearray, lambda value: bytearray(memoryview(value))),
    (datetime, lambda value: datetime.combine(datetime.date(value), datetime.timetz(value))),
    (date, lambda value: date.fromordinal(date.toordinal(value))),
    (time, lambda value: datetime.combine(date.min, value).timetz()),
    (timedelta, lambda value: timedelta.__add__(timedelta(0), value)),
    (complex, complex.__pos__),
)
_FAR_DOWN = 6


def _take_object(value: Any, cls: type, depth: int) -> Parts | Ext:
    # Asks the class and never `isinstance`, which runs a `__class__` property of the value.
    if issubclass(cls, Enum):
        return _enum(value, cls)
    if issubclass(cls, Record | Member | Opaque | Cycle):
        return _stand_in(value)
    pathlib = sys.modules.get("pathlib")
    if pathlib is not None and issubclass(cls, pathlib.PurePath):
        flavour = "windows" if isinstance(value, pathlib.PureWindowsPath) else "posix"
        concrete = cls.__name__ if cls.__module__.startswith("pathlib") else "PurePath"
        return Ext(Kind.PATH, packb([flavour, concrete, pathlib.PurePath.__str__(value)]))
    if is_array(value):
        return array_to_bytes(value, Kind.ARRAY) or _object_array(value)
    if is_array_scalar(value):
        return array_to_bytes(value, Kind.ARRAY_SCALAR) or opaque(value)
    plain = _plain_form(value, cls)
    if plain is not NOT_A_LEAF:
        fields = {"": plain, **_attributes(value)}
        return Parts(Kind.SUBCLASS, name_of(cls), _names(fields), list(fields.values()))
    found = _fields(value, cls, depth)
    if found is None:
        return opaque(value)
    return Parts(Kind.OBJECT, name_of(cls), _names(found), list(found.values()))


def _plain_form(value: Any, cls: type) -> object:
    """Give the built-in value of an instance of a subclass, or `NOT_A_LEAF`."""
    for base, plain in _BUILT_IN:
        if issubclass(cls, base):
            return plain(value)
    decimal, numpy = sys.modules.get("decimal"), sys.modules.get("numpy")
    if decimal is not None and issubclass(cls, decimal.Decimal):
        return decimal.Decimal(value)
    if numpy is not None and issubclass(cls, getattr(numpy, "ndarray", ())):
        return numpy.ndarray.view(value, numpy.ndarray)
    return NOT_A_LEAF


def _names(fields: dict[str, Any]) -> list[str]:
    """List the names of fields; in one with lone surrogates they become question marks."""
    names = list(fields)
    return names if _plain_names(names) else [_text(name) for name in names]


def _text(text: str) -> str:
    return text.encode(errors="replace").decode()


def _object_array(value: Any) -> Parts:
    return Parts(Kind.OBJECT, "numpy:ndarray", ["items"], [value.tolist()])


def _enum(value: Enum, cls: type) -> Ext:
    # `value` and `name` may be overridden, `_value_` and `_name_` are what the class set.
    plain = value._value_ if type(value._value_) in (bool, float) else None
    if type(value._value_) is str and _plain_names([value._value_]):
        plain = value._value_
    if type(value._value_) is int and value._value_ in _INT64:
        plain = value._value_
    return Ext(Kind.ENUM, packb([name_of(cls), _text(str(value._name_)), plain]))


def _stand_in(value: object) -> Parts | Ext:
    """Encode what an earlier `unpack` gave as what it stood for."""
    if isinstance(value, Record):
        kind = Kind.SUBCLASS if "" in value.fields else Kind.OBJECT
        return Parts(kind, value.type_name, list(value.fields), list(value.fields.values()))
    if isinstance(value, Member):
        return Ext(Kind.ENUM, packb([value.type_name, value.name, value.value]))
    if isinstance(value, Cycle):
        return Ext(Kind.CYCLE, packb(value.up))
    return value.packed() if isinstance(value, Opaque) else opaque(value)


def name_of(cls: type) -> str:
    """Name a class by module and qualified name."""
    return _text(f"{cls.__module__}:{cls.__qualname__}")


OPAQUE_CHARACTERS = 200


def opaque(value: object) -> Ext:
    """Encode the mark of a value that cannot be kept: its type and, shortened, its repr."""
    text = _safe_text(lambda: repr(value))
    if text is None:
        text = "its repr raises"
    start, at, rest = text.partition(" at 0x")
    if at:
        text = start + rest.lstrip("0123456789abcdefABCDEF")
    if len(text) > OPAQUE_CHARACTERS:  # a secret that was cut in two would not be known as one
        text = hidden(text[:SEARCHED_CHARACTERS])[:OPAQUE_CHARACTERS]
    return Opaque(name_of(type(value)), text).packed()


def _attributes(value: object) -> dict[str, Any]:
    """Read `__dict__` without running code of the class, unless the class overrides it."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except FOREIGN_FAULTS:
        return {}
    if type(found) is not dict:
        return {}
    return {name: item for name, item in list(found.items()) if type(name) is str}


def _slots(value: object, cls: type) -> dict[str, Any]:
    """Read the slots that are set."""
    found = {}
    for one in reversed(cls.__mro__):
        for name, member in vars(one).items():
            if isinstance(member, types.MemberDescriptorType) and name not in _HIDDEN:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    return found


def _fields(value: object, cls: type[Any], depth: int) -> dict[str, Any] | None:
    """Read an object's fields, or give None for what is no data."""
    if issubclass(cls, BaseException):
        args = BaseException.args.__get__(value)  # type: ignore[attr-defined] # not an override
        return {"args": args, **_attributes(value)}
    if not is_plain_data(cls):  # type: ignore[arg-type] # a class is hashable
        module = str(cls.__module__).partition(".")[0]
        library = module in sys.stdlib_module_names and not issubclass(cls, _STDLIB_DATA)
        no_data = (type, types.ModuleType, types.FunctionType, types.MethodType)
        if depth > _FAR_DOWN or (library and module != "__main__") or issubclass(cls, no_data):
            return None
    fields = {**_slots(value, cls), **_attributes(value)}
    extra = fields.pop("__pydantic_extra__", None)
    if isinstance(extra, dict):
        fields.update(extra)
    data = bool(fields) or is_plain_data(cls) or _may_be_empty(cls)  # type: ignore[arg-type]
    return fields if data else None


_HIDDEN = frozenset({"__dict__", "__weakref__", "__pydantic_fields_set__", "__pydantic_private__"})
_STDLIB_DATA = (types.SimpleNamespace, UserDict, UserList)
_HEAP_TYPE = 1 << 9
"""`Py_TPFLAGS_HEAPTYPE`: the class was made by a class statement, not by an extension."""


def _may_be_empty(cls: type) -> bool:
    """Tell an empty instance of a Python class from one of an extension type's subclass."""
    own = next((base for base in cls.__mro__ if not base.__flags__ & _HEAP_TYPE), object)
    return cls.__dictoffset__ != 0 and own is object


@lru_cache(maxsize=1024)  # bounded: programs make classes as they run
def is_plain_data(cls: type[Any]) -> bool:
    """Tell whether instances can be made again from fields alone."""
    return (
        hasattr(cls, "__dataclass_fields__")
        or hasattr(cls, "__pydantic_fields__")
        or hasattr(cls, "__attrs_attrs__")
        or cls is types.SimpleNamespace
    )
