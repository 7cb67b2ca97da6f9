"""The CEL library: loaded here alone, and its complaints in words of a user."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import Any

from argentum.errors import InputError, MissingExtraError
from argentum.state.expression import (
    IN_PYTHON,
    SNAPSHOT,
    SNAPSHOT_FIELDS,
    VARIABLE,
    Expression,
    python_word,
)

EXTRA = "conditions"
EXAMPLE = "confidence >= 0.5 && size(messages) <= previous.limit"
NO_OVERLOAD = "No matching overloads"


@lru_cache(maxsize=1)
def library() -> Any:
    """Load the CEL library: the one place that does."""
    try:
        from cel_expr_python import cel  # noqa: PLC0415 - an extra, and only for conditions
    except ImportError as error:
        message = (
            "Conditions as text need a library that is not installed. Install it: "
            f'pip install "argentum-agent[{EXTRA}]". Or give a function, from Python.'
        )
        raise MissingExtraError(message) from error
    return cel


def compiled(text: str, expression: Expression) -> tuple[Any, Any]:
    """
    Give an expression as programs: as written, and with floats for integers; one may be None.

    Raises:
        InputError: it is no condition; the message points at the place.
        MissingExtraError: the CEL library is not installed.
    """
    cel = library()
    _check_names(text, expression)
    _check_patterns(text, expression)
    count = expression.variables
    env = cel.NewEnv(variables={f"{VARIABLE}{at}": cel.Type.DYN for at in range(count)})
    exact, problem = _program(env, expression.exact)
    floats, _ = _program(env, expression.floats) if expression.computes else (None, None)
    if exact is None and floats is None:
        raise _refused(text, expression, str(problem))
    program: Any = exact or floats
    kind = program.return_type()
    if kind not in (cel.Type.BOOL, cel.Type.DYN):
        reason = f"It gives a value of type {kind.name().lower()}, not true or false"
        raise _no_condition(text, 0, reason)
    return exact, floats


def _program(env: Any, text: str) -> tuple[Any, Exception | None]:
    try:
        return env.compile(text), None
    except Exception as error:  # noqa: BLE001 - whatever the library says, it says in text
        return None, error


_PROBLEM = re.compile(r"<input>:(?P<line>\d+):(?P<column>\d+): (?P<reason>[^\n]*)")
_NOISE = re.compile(
    r"Syntax error: | \(in container ''\)| ?expecting \{.*\}| \[[A-Z_]+\]$|^CANCELLED: "
)
_READABLE = (
    (re.compile(r".*<EOF>.*"), "It ends too early"),
    (re.compile(r"token recognition error.*"), "It cannot be read from here on"),
    (re.compile(r"undeclared reference to '([^']*)'"), r"There is no function `\1`"),
    (re.compile(r".*recursion.*"), "It nests too deep; split it into several"),
    (re.compile(r"found no matching overload for '([^']*)' applied to '\((.*)\)'"),
     r"`\1` does not take (\2)"),
    (re.compile(r"(?:extraneous|mismatched) input '(.*)'.*"), r"`\1` is out of place"),
)  # fmt: skip


def _refused(text: str, expression: Expression, problem: str) -> InputError:
    found = _PROBLEM.search(problem)
    reason = _NOISE.sub("", found["reason"] if found else problem.partition("\n")[0])
    at = expression.place_of(int(found["column"]) - 1) if found else 0
    at = len(text.rstrip()) if "<EOF>" in reason else at
    for pattern, instead in _READABLE:
        reason = pattern.sub(instead, reason)
    python = python_word(text)
    if python is not None:
        at, reason = python[0], _said_in_python(python[1])
    return _no_condition(text, at, _operators(reason))


def _no_condition(text: str, at: int, reason: str) -> InputError:
    """Point at the place in its line; a long line is shown around it."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].partition("\n")[0]
    cut = max(0, at - begin - 60)
    piece = line[cut : cut + 76].expandtabs(1)
    return InputError(
        f"This is no condition. {reason}.\n  {piece}\n  {' ' * (at - begin - cut)}^\n"
        f"Conditions are written in CEL, like `{EXAMPLE}`."
    )


def _check_names(text: str, expression: Expression) -> None:
    for read in expression.reads:
        if read.source == SNAPSHOT and read.path not in SNAPSHOT_FIELDS:
            known = ", ".join(f"snapshot.{name}" for name in SNAPSHOT_FIELDS)
            reason = f"There is no `{read.text}`; there are {known}"
            raise _no_condition(text, text.find(read.text), reason)
        if read.text in ("None", "True", "False"):
            raise _no_condition(text, text.find(read.text), _said_in_python(read.text))


_NOT_IN_RE2 = re.compile(r"\(\?<?[=!>]|\\[1-9ZG]|[*+?}]\+")
_REPEATED = re.compile(r"\{(\d+)(?:,(\d*))?\}")
MOST_REPEATED = 1000


def _check_patterns(text: str, expression: Expression) -> None:
    """Refuse what RE2 cannot read: it would write to the program's standard error."""
    for at, pattern in expression.patterns:
        if pattern is None:
            raise _no_condition(text, at, "`matches` takes a text that is written out here")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise _no_condition(text, at, f"The regular expression is none: {error}") from error
        if _NOT_IN_RE2.search(pattern):
            reason = "The regular expressions here (RE2) do not look around or back"
            raise _no_condition(text, at, reason)
        if prod(int(high or low) for low, high in _REPEATED.findall(pattern)) > MOST_REPEATED:
            reason = f"A regular expression here repeats at most {MOST_REPEATED} times"
            raise _no_condition(text, at, reason)


def _said_in_python(word: str) -> str:
    return f"`{word}` is Python's; here it is written `{IN_PYTHON[word]}`"


_TYPES = re.compile(r"No matching overloads found : (.+)")


_OPERATORS = {"_>_": ">", "_<_": "<", "_>=_": ">=", "_<=_": "<=", "_+_": "+", "_-_": "-",
              "_*_": "*", "_/_": "/", "_%_": "%", "_&&_": "&&", "_||_": "||", "!_": "!",
              "-_": "-", "@in": "in", "<jump_condition>": "?:"}  # fmt: skip


def plainly(reason: str) -> str:
    """Put the library's reason into words of a user."""
    text = re.sub(r"^[A-Z_]+: | \[[A-Z_]+\]$", "", reason.partition("\n")[0])
    types = _TYPES.search(text)
    if types is None:
        return text + ("" if text.endswith(".") else ".")
    name, _, operands = types[1].partition("(")
    named = operands.rstrip(")").replace("int64", "int") or "what is no truth value"
    return f"{NO_OVERLOAD}: `{_OPERATORS.get(name, name)}` does not take ({named})."


def _operators(reason: str) -> str:
    """Write operators as they are written in expressions."""
    for name, sign in _OPERATORS.items():
        reason = reason.replace(f"`{name}`", f"`{sign}`")
    return reason
