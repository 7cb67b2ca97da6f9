"""
Conditions of numbers alone, such as `confidence >= previous.confidence - 0.2`, without CEL.

A live watch is checked at each snapshot, and a call into the library costs more than many a
snapshot: 3 us, and 15 us where its code is not in the processor's cache. So what is no more than
sums of numbers, comparisons, `&&`, `||`, `!` and `has` is written as Python here, word for word. It
answers only where all values are floats or small integers, for which CEL and Python agree (a law in
the tests); all else is CEL's to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from argentum.state.expression import EXISTS, SIZE, VALUE, VARIABLE, Expression
from argentum.state.reading import Item, size_of
from argentum.tree.tree import NOTHING

SMALL = 2**31
"""Sums of so small integers overflow nowhere."""
_FLOAT = re.compile(r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")

NUMBER, TRUTH = "number", "truth"
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class _UnfitError(Exception):
    """The expression is CEL's to evaluate."""


class Quick:
    """A condition of numbers, and whether it can say anything of given values."""

    def __init__(self, text: str, count: int, numbers: Sequence[int], sizes: Sequence[int]) -> None:
        self._text = text
        self._numbers = numbers
        self._sizes = sizes
        names = [f"v{number}" for number in range(count)]
        source = f"def holds({', '.join(names)}): return {self.written(names)}"
        self.holds: Callable[..., bool] = holds_of(source, {"NOTHING": NOTHING})
        """Tells whether it holds for floats and small integers, with sizes for containers."""

    def written(self, names: Sequence[str]) -> str:
        """Write it in Python, with these names for what it reads."""
        return self._text.format(*names)

    def answer(self, items: Sequence[Item]) -> bool | None:
        """Tell whether it holds; None if CEL should."""
        for at in self._numbers:
            item = items[at]
            if type(item) is float:
                continue
            if type(item) is not int or not -SMALL <= item <= SMALL:
                return None
        if self._sizes:
            counted = list(items)
            for at in self._sizes:
                counted[at] = size_of(items[at])
                if counted[at] is None:
                    return None
            items = counted
        return self.holds(*items)


def quick(expression: Expression) -> Quick | None:
    """Give what answers quickly, None if the expression is more than numbers."""
    parser = _Parser(expression)
    try:
        kind = parser.either()
        if kind != TRUTH or parser.at < len(parser.words):
            return None
        text, count = " ".join(parser.made), len(expression.reads)
        return Quick(text, count, sorted(parser.numbers), sorted(parser.sizes))
    except (_UnfitError, RecursionError, SyntaxError, MemoryError):  # it nests too deep for Python
        return None


def holds_of(source: str, names: dict[str, Any]) -> Any:
    """Give the function `holds` of a source that was written word by word from a condition."""
    exec(source, names)  # noqa: S102 - whose names and numbers are the only words of a user
    return names["holds"]


class _Parser:
    """
    Reads the written form of an expression, of which each word stands by itself.

    Python's operators bind like CEL's as long as no truth is compared, so each word of the
    expression becomes one of Python.
    """

    def __init__(self, expression: Expression) -> None:
        self.words = expression.exact.split(" ")
        self.at = 0
        self.reads = expression.reads
        self.made: list[str] = []
        """The words in Python so far; `{3}` stands for variable 3."""
        self.numbers: set[int] = set()
        self.sizes: set[int] = set()

    def _next(self, *words: str) -> str:
        """Take the next word if it is one of these."""
        if self.at < len(self.words) and (not words or self.words[self.at] in words):
            self.at += 1
            return self.words[self.at - 1]
        return ""

    def either(self) -> str:
        kind = self._both()
        while self._next("||"):
            self.made.append("or")
            kind = _same(TRUTH, kind, self._both())
        return kind

    def _both(self) -> str:
        kind = self._comparison()
        while self._next("&&"):
            self.made.append("and")
            kind = _same(TRUTH, kind, self._comparison())
        return kind

    def _comparison(self) -> str:
        kind = self._sum()
        sign = self._next(*_COMPARISONS)
        if not sign:
            return kind
        self.made.append(sign)
        _same(NUMBER, kind, self._sum())
        return TRUTH

    def _sum(self) -> str:
        kind = self._one()
        while sign := self._next("+", "-"):
            self.made.append(sign)
            kind = _same(NUMBER, kind, self._one())
        return kind

    def _one(self) -> str:
        word = self._next()
        if word == "!":
            self.made.append("not")
            return _same(TRUTH, self._one())
        if word == "-":
            self.made.append("-")
            return _same(NUMBER, self._one())
        if word == "(":
            self.made.append("(")
            kind = self.either()
            if not self._next(")"):
                raise _UnfitError
            self.made.append(")")
            return kind
        if word.startswith(VARIABLE):
            return self._variable(int(word.removeprefix(VARIABLE)))
        self.made.append(_constant(word))
        return NUMBER

    def _variable(self, at: int) -> str:
        how = self.reads[at].how
        if how == EXISTS:
            self.made.append(f"{{{at}}} is not NOTHING")
            return TRUTH
        if how not in (VALUE, SIZE):
            raise _UnfitError
        (self.numbers if how == VALUE else self.sizes).add(at)
        self.made.append(f"{{{at}}}")
        return NUMBER


def _constant(word: str) -> str:
    if word.isdecimal() and int(word) <= SMALL:
        return str(int(word))
    if _FLOAT.fullmatch(word) and isfinite(float(word)):
        return repr(float(word))
    raise _UnfitError


def _same(kind: str, *kinds: str) -> str:
    """Give the kind that all of these are."""
    if any(one != kind for one in kinds):
        raise _UnfitError
    return kind
