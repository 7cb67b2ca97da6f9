"""
Plain conditions, such as `confidence >= previous.confidence - 0.2`, without CEL.

A live watch is checked at each snapshot, and a call into the library costs more than many a
snapshot: 3 us, and 15 us where its code is not in the processor's cache. So what is no more than
sums of numbers, comparisons of numbers or with a text, truths, `has`, `&&`, `||` and `!` is written
as Python here, word for word. It answers only where all values are of the types that it is about,
and all numbers floats or small integers, for which CEL and Python agree (a law in the tests); all
else is CEL's to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, Literal

from argentum.state.expression import EQUAL, EXISTS, SIZE, VALUE, VARIABLE, Expression, plain_text
from argentum.state.reading import Item, are_equal, size_of
from argentum.tree.tree import NOTHING

SMALL = 2**31
"""Sums of so small integers overflow nowhere."""
_FLOAT = re.compile(r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")

Sort = Literal["number", "length", "text", "truth", "any", "whole", "existence"]
"""What a condition wants to know of a value: of `any` if it is null, of a `whole` its equals."""
NUMBER: Sort = "number"
LENGTH: Sort = "length"
TEXT: Sort = "text"
TRUTH: Sort = "truth"
ANY: Sort = "any"
WHOLE: Sort = "whole"
EXISTENCE: Sort = "existence"
_EQUALITIES = ("==", "!=")
_COMPARISONS = ("<", "<=", ">", ">=", *_EQUALITIES)
_TRUTHS = {"true": "True", "false": "False"}


class _UnfitError(Exception):
    """The expression is CEL's to evaluate."""


class Quick:
    """A plain condition, and whether it can say anything of given values."""

    def __init__(self, text: str, sorts: Sequence[Sort]) -> None:
        self._text = text
        self.sorts = sorts
        """What each variable has to be."""
        names = [f"v{number}" for number in range(len(sorts))]
        source = f"def holds({', '.join(names)}): return {self.written(names)}"
        names_of = {"NOTHING": NOTHING, "same": are_equal}
        self.holds: Callable[..., bool] = holds_of(source, names_of)
        """Tells whether it holds for values of the right sorts, with lengths for containers."""

    def written(self, names: Sequence[str]) -> str:
        """Write it in Python, with these names for what it reads."""
        return self._text.format(*names)

    def answer(self, items: Sequence[Item]) -> bool | None:
        """Tell whether it holds; None if CEL should."""
        values = list(items)
        for at, sort in enumerate(self.sorts):
            if sort == LENGTH:
                values[at] = size_of(items[at])
                if values[at] is None:
                    return None
            elif not fits(sort, items[at]):
                return None
        return self.holds(*values)


def fits(sort: Sort, value: Any) -> bool:
    """Tell whether Python and CEL agree on a value of which a condition wants to know this."""
    if sort == NUMBER:
        return type(value) is float or (type(value) is int and -SMALL <= value <= SMALL)
    if sort == TEXT:
        return type(value) is str and (value.isascii() or _is_utf_8(value))
    if sort == TRUTH:
        return type(value) is bool
    return sort == EXISTENCE or value is not NOTHING


def _is_utf_8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def quick(expression: Expression) -> Quick | None:
    """Give what answers quickly, None if the expression is more than plain."""
    parser = _Parser(expression)
    try:
        parser.sort_of(parser.either(), TRUTH)
        if parser.at < len(parser.words):
            return None
        sorts = [parser.sorts[number] for number in range(len(expression.reads))]
        return Quick(" ".join(parser.made), sorts)
    except (_UnfitError, RecursionError, SyntaxError, MemoryError):  # it nests too deep for Python
        return None


def holds_of(source: str, names: dict[str, Any]) -> Any:
    """Give the function `holds` of a source that was written word by word from a condition."""
    exec(source, names)  # noqa: S102 - whose names and numbers are the only words of a user
    return names["holds"]


class _Parser:
    """
    Reads the words of an expression and writes each of them in Python.

    Python's operators bind like CEL's as long as no truth of a comparison is compared.
    """

    def __init__(self, expression: Expression) -> None:
        self.words = expression.words
        self.at = 0
        self.reads = expression.reads
        self.made: list[str] = []
        """The words in Python so far; `{3}` stands for variable 3."""
        self.sorts: dict[int, Sort] = {}
        """What each variable has to be."""

    def sort_of(self, term: Sort | int, sort: Sort) -> Sort:
        """Make sure that a term, or a variable that may still be anything, is of a sort."""
        is_fit = sort == term
        if isinstance(term, int):
            known = self.sorts.get(term, ANY)
            self.sorts[term] = found = sort if known == ANY else known
            is_fit = sort in (found, ANY) and found != WHOLE
        if not is_fit:
            raise _UnfitError
        return sort

    def _next(self, *words: str) -> str:
        """Take the next word if it is one of these."""
        if self.at < len(self.words) and (not words or self.words[self.at] in words):
            self.at += 1
            return self.words[self.at - 1]
        return ""

    def either(self) -> Sort | int:
        """Read terms with `||` between them."""
        term = self._both()
        while self._next("||"):
            self.made.append("or")
            self.sort_of(term, TRUTH)
            term = self.sort_of(self._both(), TRUTH)
        return term

    def _both(self) -> Sort | int:
        term = self._comparison()
        while self._next("&&"):
            self.made.append("and")
            self.sort_of(term, TRUTH)
            term = self.sort_of(self._comparison(), TRUTH)
        return term

    def _comparison(self) -> Sort | int:
        term = self._sum()
        sign = self._next(*_COMPARISONS)
        if not sign:
            return term
        if sign in _EQUALITIES and self._next("null"):
            self.sort_of(term, ANY)
            self.made.append("is None" if sign == "==" else "is not None")
            return TRUTH
        text = plain_text(self.words[self.at]) if self.at < len(self.words) else None
        self.made.append(sign)
        if text is not None:
            self.sort_of(term, TEXT)
            self.made.append(_braced(repr(text)))
            self.at += 1
            return TRUTH
        self.sort_of(term, NUMBER)
        self.sort_of(self._sum(), NUMBER)
        return TRUTH

    def _sum(self) -> Sort | int:
        term = self._one()
        while sign := self._next("+", "-"):
            self.made.append(sign)
            self.sort_of(term, NUMBER)
            term = self.sort_of(self._one(), NUMBER)
        return term

    def _one(self) -> Sort | int:
        word = self._next()
        if word == "!":
            self.made.append("not")
            return self.sort_of(self._one(), TRUTH)
        if word == "-":
            self.made.append("-")
            return self.sort_of(self._one(), NUMBER)
        if word == "(":
            self.made.append("(")
            term = self.either()
            if not self._next(")"):
                raise _UnfitError
            self.made.append(")")
            return term
        if word.startswith("!"):  # of `a != previous.a`
            self.made.append("not")
            word = word[1:]
        if word.startswith(VARIABLE):
            return self._variable(int(word.removeprefix(VARIABLE)))
        self.made.append(_TRUTHS.get(word) or _constant(word))
        return TRUTH if word in _TRUTHS else NUMBER

    def _variable(self, at: int) -> Sort | int:
        how = self.reads[at].how
        if how == EXISTS:
            self.made.append(f"{{{at}}} is not NOTHING")
            self.sorts[at] = EXISTENCE
            return TRUTH
        if how == EQUAL:
            return self._equality(at)
        if how not in (VALUE, SIZE):
            raise _UnfitError
        self.made.append(f"{{{at}}}")
        if how == SIZE:
            self.sorts[at] = LENGTH
            return NUMBER
        return at

    def _equality(self, at: int) -> Sort:
        one, other = (self.reads.index(side) for side in self.reads[at].sides or ())
        if any(self.sorts.setdefault(side, WHOLE) != WHOLE for side in (one, other)):
            raise _UnfitError
        self.sorts[at] = EXISTENCE
        self.made.append(f"same({{{one}}}, {{{other}}})")
        return TRUTH


def _constant(word: str) -> str:
    if word.isdecimal() and int(word) <= SMALL:
        return str(int(word))
    if _FLOAT.fullmatch(word) and isfinite(float(word)):
        return repr(float(word))
    raise _UnfitError


def _braced(text: str) -> str:
    """Write a text so that `str.format` leaves it as it is."""
    return text.replace("{", "{{").replace("}", "}}")
