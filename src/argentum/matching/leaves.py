"""The parts of a value that have no parts, also those that stand in a text as JSON or a table."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from argentum.matching.sought import plain_value
from argentum.matching.texts import name_of, words_of
from argentum.tree import Key, Record
from argentum.tree.paths import Step

MOST_LEAVES = 200_000
MOST_JSON_CHARACTERS = 5_000_000
_COLUMN = re.compile(r"[^\W\d]\w*(?:[ -]\w+){0,3}")
_IN_ORDER = (list, tuple, deque, set, frozenset)


class Leaf:
    """A value that has no parts, and where it stands."""

    __slots__ = ("_words", "name", "steps", "value")

    def __init__(self, steps: tuple[Step, ...], value: Any) -> None:
        self.steps = steps
        self.value = plain_value(value)
        self.name = name_of(name_in(steps))
        self._words: str | None = None

    @property
    def words(self) -> str:
        """The words of a text, with a space around each."""
        if self._words is None:
            self._words = words_of(self.value) if isinstance(self.value, str) else ""
        return self._words


def name_in(steps: tuple[Step, ...]) -> str:
    """Give the nearest key on a path: an item of a list goes by the name of the list."""
    for step in reversed(steps):
        if not isinstance(step, int):
            return str(step.value) if isinstance(step, Key) else step
    return ""


def leaves(value: Any, steps: tuple[Step, ...] = (), *, into_json: bool = True) -> Iterator[Leaf]:
    """Give the parts of a value that have no parts; JSON and tables in texts are gone into."""
    stack = [(steps, value)]
    given = 0
    while stack and given < MOST_LEAVES:
        here, part = stack.pop()
        below = parts_of(part)
        if below is not None and below:
            stack += [((*here, step), one) for step, one in reversed(below)]
            continue
        given += 1
        yield Leaf(here, part)
        inside = json_in(part) or _table_in(part) if into_json else None
        if inside:
            stack.append((here, inside))


def parts_of(value: Any) -> list[tuple[Step, Any]] | None:
    """Give the steps into a container and what is there; None for a value without parts."""
    if isinstance(value, Record):
        return _parts_of_record(value.fields)
    if isinstance(value, dict):
        return [(key if type(key) is str else Key(key), one) for key, one in value.items()]
    return list(enumerate(value)) if isinstance(value, _IN_ORDER) else None


def _parts_of_record(fields: dict[str, Any]) -> list[tuple[Step, Any]] | None:
    """Put fields before the parts of the built-in value, which are at the same place."""
    named: list[tuple[Step, Any]] = [(name, one) for name, one in fields.items() if name]
    inner = parts_of(fields[""]) if "" in fields else []
    if inner is None:
        return named or None
    return named + [(step, one) for step, one in inner if step not in fields]


def json_in(value: Any) -> dict[str, Any] | list[Any] | None:
    """Read a text that is a JSON object or list; None if it is none."""
    if not isinstance(value, str) or len(value) > MOST_JSON_CHARACTERS:
        return None
    if value[:1] not in ("{", "[") and value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(value)  # type: ignore[no-any-return] # by its first character
    except (ValueError, RecursionError):
        return None


def _table_in(value: Any) -> list[dict[str, str]] | None:
    """Read a text that is a table: a line of names, then lines of as many cells."""
    if not isinstance(value, str) or "\n" not in value or len(value) > MOST_JSON_CHARACTERS:
        return None
    lines = value.strip().splitlines()
    mark = next((one for one in ";\t|," if one in lines[0]), None) if lines else None
    if mark is None or len({line.count(mark) for line in lines}) > 1:
        return None
    names, *rows = ([cell.strip() for cell in line.split(mark)] for line in lines)
    if not rows or not all(_COLUMN.fullmatch(name) for name in names):
        return None
    return [dict(zip(names, row, strict=True)) for row in rows]
