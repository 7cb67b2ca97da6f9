"""
The codes of all types that a tree can hold, and what stands for a value that is not as it was.

A value is a *leaf*, or it is taken apart into `Parts` (`argentum.tree.taking`), which are encoded
one by one and put together by `Parts.packed`. `argentum.tree.building` is the way back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from ormsgpack import Ext, packb


class Kind(IntEnum):
    """The extension codes of the encoding; LIST and DICT are MessagePack's own."""

    LIST = 0
    TUPLE = 1
    SET = 2
    FROZENSET = 3
    PAIRS = 4
    """A dict with a key that is not an exact, encodable `str`."""
    BIG_INT = 5
    SURROGATES = 6
    """A `str` with lone surrogates."""
    BYTES = 7
    BYTEARRAY = 8
    MEMORYVIEW = 9
    DATETIME = 10
    DATE = 11
    TIME = 12
    TIMEDELTA = 13
    DECIMAL = 14
    FRACTION = 15
    UUID = 16
    COMPLEX = 17
    RANGE = 18
    PATH = 19
    ENUM = 20
    OBJECT = 21
    """Something with named fields: dataclass, pydantic model, attrs class, any instance."""
    SUBCLASS = 22
    """An instance of a subclass of a built-in type: its built-in value, then its attributes."""
    ARRAY = 23
    ARRAY_SCALAR = 24
    DEQUE = 25
    OPAQUE = 26
    CYCLE = 27
    DEEP = 28
    """A list or dict packed on its own because it lies deep."""
    DICT = 29
    BRANCH = 30
    """A large container kept as pages (only inside stored pages, see `argentum.tree.nodes`)."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Stands for a value that cannot be kept: a lock, a function, an open socket."""

    type_name: str
    text: str

    def packed(self) -> Ext:
        """Encode it."""
        return Ext(Kind.OPAQUE, packb([self.type_name, self.text]))


@dataclass(frozen=True, slots=True)
class Cycle:
    """Stands for a reference to the container that lies so many levels up."""

    up: int


@dataclass(frozen=True, slots=True)
class Member:
    """Stands for a member of an Enum whose class is not loaded or not asked for."""

    type_name: str
    name: str
    value: object = field(compare=False)

    def __repr__(self) -> str:
        """Show it as the class would."""
        return f"{short_name(self.type_name)}.{self.name}"


@dataclass(frozen=True, slots=True)
class Record:
    """
    Stands for an object by its class's name and its fields.

    A subclass of a built-in type has its built-in value under the name `""`.
    """

    type_name: str
    """Module and qualified name, `app.state:Message`."""
    fields: dict[str, Any]

    def __hash__(self) -> int:
        """Allow it as a dict key or a set member."""
        return hash((self.type_name, tuple(self.fields)))

    def __repr__(self) -> str:
        """Show it as a call of its class."""
        shown = (
            f"{name}={value!r}" if name else repr(value) for name, value in self.fields.items()
        )
        return f"{short_name(self.type_name)}({', '.join(shown)})"


def short_name(type_name: str) -> str:
    """Give the class's name without its module."""
    return type_name.partition(":")[2] or type_name


class Parts:
    """A container taken apart."""

    __slots__ = ("head", "keys", "kind", "values")

    def __init__(self, kind: Kind, head: object, keys: list[Any] | None, values: list[Any]) -> None:
        self.kind = kind
        self.head = head
        self.keys = keys
        self.values = values

    def flat(self) -> list[Any]:
        """List what has to be encoded."""
        return [*(self.keys or ()), *self.values] if self.kind is Kind.PAIRS else self.values

    def packed(self, members: list[Any]) -> object:
        """Put the encoded members together: a list, a dict or an `Ext`."""
        if self.kind is Kind.LIST:
            return members
        if self.kind is Kind.DICT:
            return dict(zip(self.keys or (), members, strict=True))
        if self.kind in (Kind.SET, Kind.FROZENSET):
            members = sorted(members, key=packb)
        if self.kind is Kind.DEQUE:
            members = [self.head, *members]
        if self.kind in (Kind.OBJECT, Kind.SUBCLASS):
            members = [self.head, self.keys, members]
        return Ext(self.kind, packb(members))
