"""What went wrong, in the recorder or in the program: told in words, and without secrets."""

from __future__ import annotations

import os
from typing import Any

from argentum import options
from argentum.errors import SEARCHED_CHARACTERS, InputError, hidden, shown
from argentum.tree.taking import FOREIGN_FAULTS


def faults_raise() -> bool:
    """Tell whether a fault of the recorder should be seen: under pytest, or as the option says."""
    try:
        strict = options.flag("ARGENTUM_STRICT")
    except InputError:  # a slip in a variable is no reason to raise into the host
        strict = None
    return "PYTEST_CURRENT_TEST" in os.environ if strict is None else strict


def shown_reason(error: BaseException) -> str:
    """Give an error in one line, for people to see."""
    return hidden(_reason(error)[:SEARCHED_CHARACTERS])[:300]


def _reason(error: BaseException) -> str:
    """Give an error in one line, even if its text cannot be made."""
    try:
        text = " ".join(str(error).split())
    except FOREIGN_FAULTS:
        text = shown(error)
    return f"{type(error).__name__}: {text}"


def describe(error: BaseException) -> dict[str, Any]:
    """
    Give what a reader wants to know of an exception.

    Secrets are still in it: what is recorded is redacted as a whole, with the store's own tokens.
    """
    from traceback import format_exception  # noqa: PLC0415 - only when something went wrong

    try:
        trace = "".join(format_exception(error))
    except FOREIGN_FAULTS:
        trace = _reason(error)
    return {"type": type(error).__name__, "text": _reason(error), "traceback": trace}


def warn(text: str, *values: object) -> None:
    """Log a warning."""
    import logging  # noqa: PLC0415 - only when something went wrong

    # A value may be longer than what is logged of it, so secrets are taken out of the whole line.
    logging.getLogger("argentum").warning("%s", hidden(text % values))
