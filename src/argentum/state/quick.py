"""
Conditions of numbers alone, such as `confidence >= previous.confidence - 0.2`, without CEL.

A live watch is checked at each snapshot, and a call into the library costs more than many a
snapshot: 3 us, and 15 us where its code is not in the processor's cache. So what is no more than
sums of numbers, comparisons, `&&`, `||`, `!` and `has` is made into a few functions here. They
answer only where all values are floats or small integers, for which CEL and Python agree (a law in
the tests); all else is CEL's to say.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from argentum.state.expression import EXISTS, SIZE, VALUE, VARIABLE, Expression
from argentum.state.reading import Item, size_of
from argentum.tree.tree import NOTHING

SMALL = 2**31
"""Sums of so small integers overflow nowhere."""
_FLOAT = re.compile(r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")

Term = Callable[[Sequence[Item]], Any]
NUMBER, TRUTH = "number", "truth"
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class _UnfitError(Exception):
    """The expression is CEL's to evaluate."""


class Quick:
    """A condition of numbers, and whether it can say anything of given values."""

    def __init__(self, holds: Term, numbers: Sequence[int], sizes: Sequence[int]) -> None:
        self.holds = holds
        """Tells whether it holds for floats and small integers, with sizes for containers."""
        self._numbers = numbers
        self._sizes = sizes

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
        answer: bool = self.holds(items)
        return answer


def quick(expression: Expression) -> Quick | None:
    """Give what answers quickly, None if the expression is more than numbers."""
    parser = _Parser(expression)
    try:
        holds, kind = parser.either()
    except (_UnfitError, RecursionError):
        return None
    is_whole = kind == TRUTH and parser.at == len(parser.words)
    return Quick(holds, sorted(parser.numbers), sorted(parser.sizes)) if is_whole else None


class _Parser:
    """Reads the written form of an expression, of which each word stands by itself."""

    def __init__(self, expression: Expression) -> None:
        self.words = expression.exact.split(" ")
        self.at = 0
        self.reads = expression.reads
        self.numbers: set[int] = set()
        self.sizes: set[int] = set()

    def _next(self, *words: str) -> str:
        """Take the next word if it is one of these."""
        if self.at < len(self.words) and (not words or self.words[self.at] in words):
            self.at += 1
            return self.words[self.at - 1]
        return ""

    def either(self) -> tuple[Term, str]:
        left = self._both()
        while self._next("||"):
            left = _either(_truth(left), _truth(self._both())), TRUTH
        return left

    def _both(self) -> tuple[Term, str]:
        left = self._comparison()
        while self._next("&&"):
            left = _both(_truth(left), _truth(self._comparison())), TRUTH
        return left

    def _comparison(self) -> tuple[Term, str]:
        left = self._sum()
        sign = self._next(*_COMPARISONS)
        if not sign:
            return left
        return _combined(_COMPARISONS[sign], _number(left), _number(self._sum())), TRUTH

    def _sum(self) -> tuple[Term, str]:
        left = self._one()
        while sign := self._next("+", "-"):
            function = operator.add if sign == "+" else operator.sub
            left = _combined(function, _number(left), _number(self._one())), NUMBER
        return left

    def _one(self) -> tuple[Term, str]:
        word = self._next()
        if word == "!":
            truth = _truth(self._one())
            return (lambda items: not truth(items)), TRUTH
        if word == "-":
            number = _number(self._one())
            return (lambda items: -number(items)), NUMBER
        if word == "(":
            inside = self.either()
            if not self._next(")"):
                raise _UnfitError
            return inside
        if word.startswith(VARIABLE):
            return self._variable(int(word.removeprefix(VARIABLE)))
        return _constant(word), NUMBER

    def _variable(self, at: int) -> tuple[Term, str]:
        how = self.reads[at].how
        if how == VALUE:
            self.numbers.add(at)
            return operator.itemgetter(at), NUMBER
        if how == EXISTS:
            return (lambda items: items[at] is not NOTHING), TRUTH
        if how == SIZE:
            self.sizes.add(at)
            return operator.itemgetter(at), NUMBER
        raise _UnfitError


def _constant(word: str) -> Term:
    if word.isdecimal() and int(word) <= SMALL:
        value: float = int(word)
    elif _FLOAT.fullmatch(word):
        value = float(word)
    else:
        raise _UnfitError
    return lambda _: value


def _number(term: tuple[Term, str]) -> Term:
    if term[1] != NUMBER:
        raise _UnfitError
    return term[0]


def _truth(term: tuple[Term, str]) -> Term:
    if term[1] != TRUTH:
        raise _UnfitError
    return term[0]


def _combined(function: Callable[[Any, Any], Any], left: Term, right: Term) -> Term:
    return lambda items: function(left(items), right(items))


def _either(left: Term, right: Term) -> Term:
    return lambda items: left(items) or right(items)


def _both(left: Term, right: Term) -> Term:
    return lambda items: left(items) and right(items)
