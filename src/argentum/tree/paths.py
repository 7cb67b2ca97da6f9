"""
Where in a state: `messages[3].content`, `["a.b"].c`, `scores{1}`.

A step is a `str` (a dict's key, an object's field), an `int` (a place in a list, from 0), or a
`Key` (a dict's key that is no `str`). As text, a key that is not a plain word is quoted as JSON in
brackets, and a `Key` is the key's repr in braces, so every path of literals reads back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from argentum.errors import InputError, shown
from argentum.tree.encoding import pack

_WORD = re.compile(r"[^\W\d][\w-]*|\d[\w-]*")
_STEP = re.compile(
    r"""(?P<word>[\w-]+) | \[(?P<index>-?\d+)\] | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]""", re.VERBOSE
)


@dataclass(frozen=True, slots=True)
class Key:
    """A step to a dict's key that is no `str`."""

    value: Any

    def __hash__(self) -> int:
        """Hash by type too: `1`, `1.0` and `True` are different steps."""
        return hash(pack(self.value))

    def __eq__(self, other: object) -> bool:
        """Compare by type too."""
        return isinstance(other, Key) and pack(other.value) == pack(self.value)

    def __str__(self) -> str:
        """Give the step's text."""
        try:
            return "{" + repr(self.value) + "}"
        except Exception:  # noqa: BLE001 - a foreign repr may raise anything
            return "{?}"


Step = str | int | Key


class Path(str):
    """A path as text, which is a `str`, with its typed steps in `parts`."""

    __slots__ = ("parts",)
    parts: tuple[Step, ...]

    def __new__(cls, text: str = "") -> Self:
        """
        Read a path.

        Raises:
            InputError: the text is not a path.
        """
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            message = f"A path is text like messages[3].content; this is {shown(text)}."
            raise InputError(message)
        return cls.of(parse(text))

    @classmethod
    def of(cls, parts: Iterable[Step]) -> Self:
        """Make a path of steps."""
        steps = tuple(parts)
        made = super().__new__(cls, _text(steps))
        made.parts = steps
        return made


def _text(steps: tuple[Step, ...]) -> str:
    text = ""
    for step in steps:
        if type(step) is str and _is_word(step):
            text += f".{step}" if text else step
        elif isinstance(step, str):
            text += f"[{_quoted(step)}]"
        else:
            text += f"[{step}]" if isinstance(step, int) else str(step)
    return text


@lru_cache(maxsize=4096)
def _is_word(step: str) -> bool:
    return _WORD.fullmatch(step) is not None


def _quoted(step: str) -> str:
    from json import dumps  # noqa: PLC0415 - odd keys are rare

    return dumps(step)


def parse(text: str) -> tuple[Step, ...]:
    """
    Read a path's steps.

    Raises:
        InputError: the text is not a path; the message points at the place.
    """
    steps: list[Step] = []
    at = 0
    while at < len(text):
        start = at
        if text[at] == "." and steps and at + 1 < len(text):
            at += 1
            word = _STEP.match(text, at)
            if word is None or word["word"] is None:
                raise _unreadable(text, start)
        if text[at] == "{":
            step, at = _parse_key(text, at)
            steps.append(step)
            continue
        found = _STEP.match(text, at)
        if found is None or (found["word"] and steps and text[start] != "."):
            raise _unreadable(text, start)
        try:
            steps.append(_step_of(found))
        except ValueError as error:
            raise _unreadable(text, start) from error
        at = found.end()
    return tuple(steps)


def _step_of(found: re.Match[str]) -> Step:
    if found["word"] is not None:
        return found["word"]
    if found["index"] is not None:
        return int(found["index"])
    from json import loads  # noqa: PLC0415 - odd keys are rare

    quoted: str = loads(found["quoted"])
    return quoted


def _parse_key(text: str, at: int) -> tuple[Key, int]:
    """Read `{literal}`: the shortest piece up to a `}` that is a Python literal."""
    from ast import literal_eval  # noqa: PLC0415 - odd keys are rare

    end = text.find("}", at)
    while end != -1:
        try:
            return Key(literal_eval(text[at + 1 : end])), end + 1
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            end = text.find("}", end + 1)
    raise _unreadable(text, at)


def _unreadable(text: str, at: int) -> InputError:
    # Only so much that, without what stands before it, shows nothing of a secret.
    return InputError(
        f"{shown(text)} is not a path: {shown(text[at : at + 6])} cannot be read. Write keys with "
        "dots, places in lists in brackets, and odd keys quoted, like messages[3].content or "
        '["a.b"].c.'
    )
