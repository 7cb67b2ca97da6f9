"""
What a condition reads: its text taken into tokens, and each path replaced by a variable.

A condition is a CEL expression (https://cel.dev). `previous.scores[3].value` is one path, so it
becomes one variable, which is bound to the value at that path alone: a condition over a state of
50,000 values decodes the two that it names. `size(PATH)` and `has(PATH)` become variables, too: the
first counts without reading the items, the second works on a name by itself, as in `!has(error)`.
Of what `in` looks in, only the keys are read if it is a map.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from argentum.tree import Path

VALUE, KEYS, SIZE, EXISTS, EQUAL = "value", "keys", "size", "exists", "equal"
How = Literal["value", "keys", "size", "exists", "equal"]
STATE, PREVIOUS, SNAPSHOT = "state", "previous", "snapshot"
SNAPSHOT_FIELDS = ("label", "agent", "seq")
VARIABLE = "__read_"
MACROS = frozenset({"all", "exists", "exists_one", "map", "filter"})
"""Calls whose first argument is a name that they bind to each item."""
WORDS = frozenset({"true", "false", "null", "in"})
TYPES = frozenset({"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"})
"""Names that stay CEL's own when they stand by themselves; as keys, write `state.list`."""
IN_PYTHON = {
    "None": "null", "True": "true", "False": "false", "and": "&&", "or": "||", "not": "!",
    "is": "==", "len": "size", "any": "LIST.exists(item, …)", "=": "==",
}  # fmt: skip

_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | //[^\n]*)
  | (?P<string>[rRbB]{0,2}(?:\"{3}[\s\S]*?\"{3} | '{3}[\s\S]*?'{3}
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
  | (?P<float>(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+)
  | (?P<int>\d+(?![\w.])) | (?P<number>\d\w*)
  | (?P<name>[A-Za-z_]\w*) | (?P<quoted>`[^`\n]*`)
  | (?P<sign>&&|\|\||[<>=!]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Read:
    """One thing that a condition reads."""

    text: str
    """As it is written: `previous.confidence`, `size(messages)`."""
    source: str
    """`state`, `previous`, or `snapshot`."""
    path: Path
    how: How = "value"
    sides: tuple[Read, Read] | None = None
    """Of `a == previous.a`, the two that are compared: as trees, which skip what they share."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition's text with variables for what it reads."""

    reads: tuple[Read, ...]
    """What it reads; at first the variables of `exact`, in order."""
    variables: int
    """How many of the reads are variables; the rest are sides of comparisons alone."""
    patterns: tuple[tuple[int, str | None], ...]
    """Its regular expressions, and where they are; None for one that is not written out."""
    words: tuple[str, ...]
    """As it was written, but for the variables."""
    floats: str
    """The same with every integer as a float, for CEL adds no integer to a float."""
    places: tuple[tuple[int, int], ...]
    """Where the pieces of `exact` begin, there and in the text."""
    computes: bool
    """Whether it adds, multiplies, …"""
    has_int: bool
    has_float: bool

    @property
    def exact(self) -> str:
        """The words as one text."""
        return " ".join(self.words)

    def place_of(self, at: int) -> int:
        """Give the place in the text of a place in `exact`."""
        begin = max((pair for pair in self.places if pair[0] <= at), default=(0, 0))
        return begin[1] + at - begin[0]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int

    @property
    def end(self) -> int:
        return self.at + len(self.text)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some tokens in a row: a read, or one token that stays as it is."""

    first: int
    end: int
    read: Read | None = None
    negated: bool = False


def python_word(text: str) -> tuple[int, str] | None:
    """Find what Python writes in another way than CEL: where, and the word."""
    tokens = _tokens(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        is_key = before is not None and before.text == "."
        if token.kind in ("name", "sign") and token.text in IN_PYTHON and not is_key:
            return token.at, token.text
    return None


def read_expression(text: str) -> Expression:
    """Find what an expression reads; what is no valid CEL stays as it is."""
    tokens = _tokens(text)
    pieces = _with_comparisons(text, tokens, list(_Reader(text, tokens).pieces()))
    known = dict.fromkeys(piece.read for piece in pieces if piece.read is not None)
    names = {read: f"{VARIABLE}{number}" for number, read in enumerate(known)}
    sides = dict.fromkeys(side for read in known for side in read.sides or ())
    reads = tuple({**known, **sides})
    rest = [tokens[piece.first] for piece in pieces if piece.read is None]
    words, places = _written(tokens, pieces, names, floats=False)
    floats = " ".join(_written(tokens, pieces, names, floats=True)[0])
    return Expression(
        reads, len(known), tuple(_patterns(tokens)), words, floats, places,
        computes=any(token.text in tuple("+-*/%") for token in rest),
        has_int=any(token.kind == "int" for token in rest) or any(r.how == SIZE for r in known),
        has_float=any(token.kind == "float" for token in rest),
    )  # fmt: skip


_BEFORE_OPERAND = frozenset({"", "(", "[", ",", ":", "?", "&&", "||"})
_AFTER_OPERAND = frozenset({"", ")", "]", ",", ":", "?", "&&", "||"})


def _with_comparisons(text: str, tokens: list[_Token], pieces: list[_Piece]) -> list[_Piece]:
    """Make one piece of each `PATH == PATH` and `PATH != PATH`."""
    made: list[_Piece] = []
    at = 0
    while at < len(pieces):
        comparison = _comparison(text, tokens, pieces, at)
        made.append(comparison or pieces[at])
        at += 1 if comparison is None else 3
    return made


def _comparison(text: str, tokens: list[_Token], pieces: list[_Piece], at: int) -> _Piece | None:
    def word(place: int) -> str:
        return tokens[pieces[place].first].text if 0 <= place < len(pieces) else ""

    one, other = pieces[at], pieces[min(at + 2, len(pieces) - 1)]
    if (
        word(at + 1) not in ("==", "!=")
        or word(at - 1) not in _BEFORE_OPERAND
        or word(at + 3) not in _AFTER_OPERAND
        or one.read is None
        or other.read is None
        or not one.read.how == other.read.how == VALUE
    ):
        return None
    written = text[tokens[one.first].at : tokens[other.end - 1].end]
    read = Read(written, "", Path(""), "equal", (one.read, other.read))
    return _Piece(one.first, other.end, read, negated=word(at + 1) == "!=")


def _patterns(tokens: list[_Token]) -> Iterator[tuple[int, str | None]]:
    for at, token in enumerate(tokens[:-1]):
        after = [*tokens[at + 1 : at + 4], *[_Token("", "", token.at)] * 3]
        if token.text == "matches" and after[0].text == "(":
            is_plain = after[1].kind == "string" and after[2].text == ")"
            pattern = _literal(after[1].text) if is_plain else None
            yield after[1].at, pattern if isinstance(pattern, str) else None


def _tokens(text: str) -> list[_Token]:
    found = (match for match in _TOKEN.finditer(text) if match.lastgroup != "space")
    return [_Token(str(match.lastgroup), match.group(), match.start()) for match in found]


def _written(
    tokens: list[_Token], pieces: Iterable[_Piece], names: dict[Read, str], *, floats: bool
) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    made, length = [], 0
    places = []
    for piece in pieces:
        token = tokens[piece.first]
        word = token.text if piece.read is None else "!" * piece.negated + names[piece.read]
        if floats and piece.read is None and token.kind == "int":
            word += ".0"
        places.append((length, token.at))
        made.append(word)
        length += len(word) + 1
    return tuple(made), tuple(places)


class _Reader:
    """Goes through the tokens once and tells reads from what stays."""

    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.bound: list[str | None] = []
        """The name that each open parenthesis binds, if any."""

    def pieces(self) -> Iterator[_Piece]:
        at = 0
        while at < len(self.tokens):
            piece = self._call(at) or self._value(at) or _Piece(at, at + 1)
            if piece.read is None:
                self._note_scope(at)
            yield piece
            at = piece.end

    def _sign(self, at: int) -> str:
        if not 0 <= at < len(self.tokens):
            return ""
        token = self.tokens[at]
        return token.text if token.kind == "sign" else ""

    def _note_scope(self, at: int) -> None:
        sign = self._sign(at)
        if sign == "(":
            self.bound.append(self._bound_by(at))
        elif sign == ")" and self.bound:
            self.bound.pop()

    def _bound_by(self, at: int) -> str | None:
        is_macro = (
            self._sign(at - 2) == "."
            and self.tokens[at - 1].text in MACROS
            and self._sign(at + 2) == ","
        )
        return self.tokens[at + 1].text if is_macro else None

    def _call(self, at: int) -> _Piece | None:
        """Read `size(PATH)` or `has(PATH)`."""
        name = self.tokens[at].text
        if name not in ("size", "has") or self._sign(at + 1) != "(" or self._sign(at - 1) == ".":
            return None
        chain = self._chain(at + 2) if at + 2 < len(self.tokens) else None
        if chain is None or self._sign(chain.end) != ")":
            return None
        how: How = "size" if name == "size" else "exists"
        return self._piece(at, chain.end + 1, chain, how)

    def _value(self, at: int) -> _Piece | None:
        """Read `PATH` or `PATH.size()`."""
        chain = self._chain(at)
        if chain is None:
            return None
        after = [token.text for token in self.tokens[chain.end : chain.end + 4]]
        if after == [".", "size", "(", ")"]:
            return self._piece(at, chain.end + 4, chain, "size")
        is_looked_in = at > 0 and self.tokens[at - 1].text == "in"
        ends = not after or after[0] in _AFTER_OPERAND
        return self._piece(at, chain.end, chain, "keys" if is_looked_in and ends else "value")

    def _piece(self, at: int, end: int, chain: _Chain, how: How) -> _Piece:
        written = self.text[self.tokens[at].at : self.tokens[end - 1].end]
        return _Piece(at, end, Read(written, chain.source, chain.path, how))

    def _chain(self, at: int) -> _Chain | None:
        token = self.tokens[at]
        after = self._sign(at + 1)
        is_root = (
            token.kind == "name"
            and token.text not in WORDS
            and token.text not in self.bound
            and self._sign(at - 1) != "."
            and after not in ("(", "{")
            and not (token.text in TYPES and after not in (".", "["))
        )
        if not is_root:
            return None
        steps: list[str | int] = []
        end = at + 1
        while (step := self._step(end)) is not None:
            steps.append(step[0])
            end = step[1]
        if token.text in (STATE, PREVIOUS, SNAPSHOT):
            return _Chain(token.text, Path.of(steps), end)
        return _Chain(STATE, Path.of([token.text, *steps]), end)

    def _step(self, at: int) -> tuple[str | int, int] | None:
        """Read `.key`, `["key"]` or `[7]`, and tell where it ends."""
        inside = self.tokens[at + 1 : at + 4]
        if self._sign(at) == "." and inside and self._sign(at + 2) != "(":
            if inside[0].kind == "name":
                return inside[0].text, at + 2
            return (inside[0].text[1:-1], at + 2) if inside[0].kind == "quoted" else None
        if self._sign(at) != "[" or not inside:
            return None
        sign = inside[0].text == "-"
        end = at + 2 + sign
        if self._sign(end) != "]" or inside[sign].kind not in ("int", "string"):
            return None
        key = _literal(inside[sign].text)
        if type(key) is int:
            return (-key if sign else key), end + 1
        return (key, end + 1) if type(key) is str and not sign else None


@dataclass(frozen=True, slots=True)
class _Chain:
    source: str
    path: Path
    end: int


def plain_text(token: str) -> str | None:
    """Give the text of a token, None if it is none or one that Python may read in another way."""
    value = None if "\\" in token or "\n" in token else _literal(token)
    return value if type(value) is str else None


def _literal(text: str) -> object:
    try:
        value: object = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError):
        return None
    return value
