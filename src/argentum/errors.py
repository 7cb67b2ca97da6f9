"""
Everything that Argentum raises on purpose.

    ArgentumError
    ├── InputError         (ValueError)   a value that was given cannot be used
    ├── NotFoundError      (KeyError)     no run, label, path or option of that name
    ├── LimitError         (ValueError)   more than a limit allows
    ├── FormatError        (ValueError)   a file or document is not what it should be
    ├── StoreError         (OSError)      the place where runs are kept cannot be used
    └── MissingExtraError  (ImportError)  an optional library is not installed

Each message says what is wrong with which value, what would have worked and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

SHOWN_CHARACTERS = 80
SHOWN_CHOICES = 5


class ArgentumError(Exception):
    """Any error that Argentum raises on purpose."""


class InputError(ArgentumError, ValueError):
    """A value that was given cannot be used."""


class NotFoundError(ArgentumError, KeyError):
    """No run, label, path or option of that name."""

    def __str__(self) -> str:
        """Give the message as it was written (`KeyError` would quote it)."""
        return str(self.args[0]) if self.args else ""


class LimitError(ArgentumError, ValueError):
    """More than a limit allows."""


class FormatError(ArgentumError, ValueError):
    """A file or document is not what it should be."""


class StoreError(ArgentumError, OSError):
    """The place where runs are kept cannot be used."""


class MissingExtraError(ArgentumError, ImportError):
    """An optional library is not installed."""


def shown(value: object) -> str:
    """Give `repr(value)` cut to 80 characters, for a message; a broken repr never raises."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a foreign repr may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def not_found(what: str, name: object, known: Iterable[str]) -> NotFoundError:
    """Build the error for a name that is not there, with the nearest names that are."""
    from difflib import get_close_matches  # noqa: PLC0415 - only on the way to an error

    names = sorted(known)
    near = get_close_matches(str(name), names, n=3)
    listed = ", ".join(repr(one) for one in (near or names)[:SHOWN_CHOICES])
    if near:
        hint = f" Did you mean {listed}?"
    elif names:
        more = ", …" if len(names) > SHOWN_CHOICES else ""
        hint = f" Known: {listed}{more}."
    else:
        hint = ""
    return NotFoundError(f"No {what} {shown(name)}.{hint}")
