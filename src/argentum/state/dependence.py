"""
What a function reads of a state, so that it need not be called where nothing of that differs.

`watched` gives a state as dicts and lists that behave as such and note what is asked of them: a
`Read`. A pure function that gave an answer gives the same one for each state in which everything
that it read is the same, however much else is different. `Columns` compares just that, over
thousands of states, without thawing any.

What cannot be noted part by part (going through all items, comparing a whole container, objects,
tuples) counts as reading the container whole, so too much may be noted, but nothing too little.

Compiled code of others (orjson, pydantic) looks into dicts and lists behind their backs. So a
container that was given out and of which nothing was asked counts as read whole. What such code
reads of a container that was also asked for its length or a key is not noted; who relies on `Read`s
should spend a call or two on checking that. Where it meets a part that was not thawed yet, its
answer is worth nothing: it raises, or `Reads.met_unread` tells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, NamedTuple, SupportsIndex

from argentum.tree import Path, Tree
from argentum.tree.chunks import digest_of
from argentum.tree.descent import follow
from argentum.tree.encoding import unpack
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, pages_of
from argentum.tree.paths import Step
from argentum.tree.taking import CONTAINERS

VALUE, PRESENCE, COUNT, KIND = "value", "presence", "count", "kind"
MAX_READS = 40
"""More single reads than this count as reading the containers around them."""


LOOKED_AT = 4000
"""Characters of a text that are looked through for words."""
_WORD = re.compile(r"[^\W\d_]+")


class Read(NamedTuple):
    """One thing that was asked of a state."""

    what: str
    """`value`: all of it; `presence`: whether there is anything; `count`: how many members;
    `kind`: whether it is a dict, a list, or which other value."""
    path: Path


class Reads:
    """Notes what is read, without doubles, in order."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, tuple[Step, ...]], None] = {}
        self.has_unread = False
        """Whether parts of the state were not thawed when it was given."""
        self.met_unread = False
        """Whether something looked at such a part as if it were the value."""

    def note(self, what: str, steps: tuple[Step, ...]) -> None:
        """Keep that something was read."""
        self._found[what, steps] = None

    def all(self) -> tuple[Read, ...]:
        """Give what was read; very many reads as those of the containers at the top."""
        asked = self._asked()
        found: Iterable[tuple[str, tuple[Step, ...]]] = dict.fromkeys(
            (VALUE if what == KIND and steps not in asked else what, steps)
            for what, steps in self._found
        )
        if len(self._found) > MAX_READS:
            found = dict.fromkeys(
                (VALUE, steps[:1]) if steps else (what, steps) for what, steps in found
            )
        return tuple(Read(what, Path.of(steps)) for what, steps in found)

    def asked_nothing(self) -> bool:
        """Tell whether the state was given out and nothing of it was asked for."""
        return () not in self._asked()

    def _asked(self) -> set[tuple[Step, ...]]:
        """Give the containers of which anything was asked for."""
        return {
            steps[:end] for what, steps in self._found for end in range(len(steps) + (what != KIND))
        }


# ---------------------------------------------------------------- a state that notes


def watched(tree: Tree, reads: Reads) -> Any:
    """Give a state whose parts are thawed when they are asked for, which is noted in `reads`."""
    reads.note(KIND, ())
    root = tree.root
    if type(root) is Branch and root.kind is Kind.DICT:
        parts = {
            unpack(key): _Later(Tree(entry), reads) if type(entry) is Branch else Tree(entry).thaw()
            for page in pages_of(root)
            for key, entry in zip(page.keys or (), page.entries, strict=True)
        }
        reads.has_unread = any(type(part) is _Later for part in parts.values())
        return _Dict(parts, (), reads)
    return _wrapped(tree.thaw(), (), reads)


class _Later:
    """Stands for a large part that nobody has asked for."""

    __slots__ = ("reads", "tree")

    def __init__(self, tree: Tree, reads: Reads) -> None:
        self.tree = tree
        self.reads = reads

    def _met(self) -> Any:
        self.reads.met_unread = True
        return _Later

    # What code asks of a value to find out what it is.
    __class__ = property(_met)

    def __getattr__(self, name: str) -> Any:
        self._met()
        raise AttributeError(name)

    def __repr__(self) -> str:
        self._met()
        return "<not read>"

    def __eq__(self, other: object) -> bool:
        self._met()
        return self is other

    def __bool__(self) -> bool:
        self._met()
        return True

    __hash__ = None  # type: ignore[assignment]


def _plain(value: Any) -> Any:
    """Give a part without anything that notes; what it held is noted by now."""
    if type(value) is _Later:
        return value.tree.thaw()
    if type(value) is _Dict:
        return {key: _plain(dict.__getitem__(value, key)) for key in dict.keys(value)}
    if type(value) is _List:
        return [_plain(item) for item in list.__iter__(value)]
    return value


def _wrapped(value: Any, steps: tuple[Step, ...], reads: Reads) -> Any:
    """Note that a part was given out: its kind if it notes further reads by itself, else all."""
    if type(value) is _Later:
        value = value.tree.thaw()
    if type(value) in (dict, list):
        # To some compiled code an empty container is nothing worth asking.
        reads.note(KIND if value else VALUE, steps)
        return (_Dict if type(value) is dict else _List)(value, steps, reads)
    if type(value) not in (_Dict, _List):
        reads.note(VALUE, steps)
    return value


def _reads_all(name: str, kind: type) -> Callable[..., Any]:
    """Make a method that notes that the whole container was read."""
    method = getattr(kind, name)

    def read(self: Any, *arguments: Any, **named: Any) -> Any:
        self._read_all()
        return method(self, *map(_plain, arguments), **named)

    read.__name__ = name
    return read


class _Dict(dict[Any, Any]):
    """A dict of the state."""

    __slots__ = ("_reads", "_steps")

    def __init__(self, value: dict[Any, Any], steps: tuple[Step, ...], reads: Reads) -> None:
        super().__init__(value)
        self._steps = steps
        self._reads = reads

    def _read_all(self) -> None:
        self._reads.note(VALUE, self._steps)
        for key in list(dict.keys(self)):
            dict.__setitem__(self, key, _plain(dict.__getitem__(self, key)))

    def _has(self, key: object) -> bool:
        """Look for a key; another than a `str` may be equal to one of another type."""
        if type(key) is not str:
            self._read_all()
        elif not dict.__contains__(self, key):
            self._reads.note(PRESENCE, (*self._steps, key))
        return dict.__contains__(self, key)

    def __getitem__(self, key: Any) -> Any:
        if not self._has(key):
            raise KeyError(key)
        value = dict.__getitem__(self, key)
        if type(key) is not str:
            return value
        given = _wrapped(value, (*self._steps, key), self._reads)
        dict.__setitem__(self, key, given)
        return given

    def get(self, key: Any, default: Any = None, /) -> Any:
        return self[key] if self._has(key) else default

    def __contains__(self, key: object) -> bool:
        if type(key) is str:
            self._reads.note(PRESENCE, (*self._steps, key))
        return self._has(key)

    def __len__(self) -> int:
        self._reads.note(COUNT, self._steps)
        return dict.__len__(self)

    __hash__ = None


class _List(list[Any]):
    """A list of the state."""

    __slots__ = ("_reads", "_steps")

    def __init__(self, value: list[Any], steps: tuple[Step, ...], reads: Reads) -> None:
        super().__init__(value)
        self._steps = steps
        self._reads = reads

    def _read_all(self) -> None:
        self._reads.note(VALUE, self._steps)
        for place, item in enumerate(list(list.__iter__(self))):
            list.__setitem__(self, place, _plain(item))

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = index(at)
        if not -list.__len__(self) <= place < list.__len__(self):
            self._reads.note(COUNT, self._steps)
            return list.__getitem__(self, place)  # raises as a list does
        given = _wrapped(list.__getitem__(self, place), (*self._steps, place), self._reads)
        list.__setitem__(self, place, given)
        return given

    def __len__(self) -> int:
        self._reads.note(COUNT, self._steps)
        return list.__len__(self)

    def __radd__(self, other: list[Any]) -> list[Any]:
        self._read_all()
        return other + list(list.__iter__(self))

    __hash__ = None


_SHARED = (
    "__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__", "__iter__", "__repr__",
    "__reversed__", "__delitem__", "__setitem__", "__reduce_ex__", "clear", "copy", "pop",
)  # fmt: skip
_OF_DICTS = (
    "__ior__", "__or__", "__ror__", "items", "keys", "popitem", "setdefault", "update", "values",
)  # fmt: skip
_OF_LISTS = (
    "__add__", "__contains__", "__iadd__", "__imul__", "__mul__", "__rmul__", "append", "count",
    "extend", "index", "insert", "remove", "reverse", "sort",
)  # fmt: skip
for _name in (*_SHARED, *_OF_DICTS):
    setattr(_Dict, _name, _reads_all(_name, dict))
for _name in (*_SHARED, *_OF_LISTS):
    setattr(_List, _name, _reads_all(_name, list))
# Where a part is encoded, compared or kept, it is the dict or list that it stands for.
CONTAINERS[_Dict] = lambda value: CONTAINERS[dict](value.copy())
CONTAINERS[_List] = lambda value: CONTAINERS[list](value.copy())


# ---------------------------------------------------------------- the same reads elsewhere


class Columns:
    """What given reads would find in each of many states, as numbers that are equal if it is."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self._trees = trees
        self._columns: dict[Read, list[int]] = {}
        self._numbers: dict[Read, list[float | None]] = {}
        self._words: dict[Read, list[frozenset[str]]] = {}
        self._known: dict[object, int] = {}

    def column(self, read: Read) -> list[int]:
        """Give for each state a number that stands for what the read finds there."""
        found = self._columns.get(read)
        if found is None:
            look = _LOOKS[read.what]
            found = self._columns[read] = self._through(
                read.path, lambda part: self._known.setdefault(look(part), len(self._known))
            )
        return found

    def numbers(self, read: Read) -> list[float | None]:
        """Give for each state the number that a read of a value or a count finds there, or None."""
        found = self._numbers.get(read)
        if found is None:
            look = _number if read.what == VALUE else _count
            found = self._numbers[read] = self._through(read.path, look)
        return found

    def words(self, read: Read) -> list[frozenset[str]]:
        """Give for each state the words of a text that the read of a value finds there."""
        found = self._words.get(read)
        if found is None:
            found = self._words[read] = self._through(read.path, _words)
        return found

    def _through(self, path: str, look: Callable[[Tree | None], Any]) -> list[Any]:
        found: list[Any] = []
        last: tuple[Tree | None, Any] = (None, look(None))
        for part in follow(path, self._trees):
            if part is not last[0]:
                last = (part, look(part))
            found.append(last[1])
        return found


def _value(part: Tree | None) -> object:
    if part is None:
        return None
    reference = part.reference()
    return reference if len(reference) <= 64 else digest_of(reference)  # noqa: PLR2004 - saves room


_CONTAINERS: dict[Kind, type] = {Kind.DICT: dict, Kind.PAIRS: dict, Kind.LIST: list}


def _kind(part: Tree | None) -> object:
    if part is None:
        return None
    root = part.root
    kind = _CONTAINERS.get(root.kind) if type(root) is Branch else type(part.thaw(live=False))
    return kind if kind in (dict, list) else _value(part)


def _counted(part: Tree | None) -> object:
    return (_kind(part), _count(part))


def _count(part: Tree | None) -> float | None:
    return part.count() if part is not None and _kind(part) in (dict, list) else None


def _number(part: Tree | None) -> float | None:
    """Give a finite number that lies in a part alone."""
    if part is None or type(part.root) is Branch or part.size_bytes > 9:  # noqa: PLR2004 - 64 bits
        return None
    value = part.thaw(live=False)
    return value if type(value) in (int, float) and math.isfinite(value) else None


def _words(part: Tree | None) -> frozenset[str]:
    if part is None or type(part.root) is Branch:
        return frozenset()
    value = part.thaw(live=False)
    return frozenset(_WORD.findall(value[:LOOKED_AT])) if type(value) is str else frozenset()


_LOOKS: dict[str, Callable[[Tree | None], object]] = {
    VALUE: _value,
    PRESENCE: lambda part: part is not None,
    COUNT: _counted,
    KIND: _kind,
}
