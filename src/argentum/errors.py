"""
Everything that Argentum raises on purpose.

    ArgentumError
    ├── InputError         (ValueError)   a value that was given cannot be used
    ├── NotFoundError      (KeyError)     no run, label, path or option of that name
    ├── LimitError         (ValueError)   more than a limit allows
    ├── FormatError        (ValueError)   a file or document is not what it should be
    ├── VerificationError  (ValueError)   a signature, digest or term of a document does not hold
    ├── StoreError         (OSError)      the place where runs are kept cannot be used
    └── MissingExtraError  (ImportError)  an optional library is not installed

Each message says what is wrong with which value, what would have worked and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

SHOWN_CHARACTERS = 80
SHOWN_CHOICES = 5
SEARCHED_CHARACTERS = 16_384
"""So much of a long text is searched for secrets before it is cut."""


class ArgentumError(Exception):
    """Any error that Argentum raises on purpose; its text shows no secrets (see `hide_with`)."""

    def __str__(self) -> str:
        """Give the message as it was written (`KeyError` would quote it), without secrets."""
        return hidden(str(self.args[0]) if len(self.args) == 1 else super().__str__())

    def __repr__(self) -> str:
        """Show class and message, without secrets."""
        return hidden(super().__repr__())


class InputError(ArgentumError, ValueError):
    """A value that was given cannot be used."""


class NotFoundError(ArgentumError, KeyError):
    """No run, label, path or option of that name."""


class LimitError(ArgentumError, ValueError):
    """More than a limit allows."""


class FormatError(ArgentumError, ValueError):
    """A file or document is not what it should be."""


class VerificationError(ArgentumError, ValueError):
    """A signature, digest or term of a document does not hold; `part` says which."""

    def __init__(self, message: str, part: str = "document") -> None:
        super().__init__(message)
        self.part = part


class StoreError(ArgentumError, OSError):
    """The place where runs are kept cannot be used."""


class MissingExtraError(ArgentumError, ImportError):
    """An optional library is not installed."""


def hide_with(hide: Callable[[str], str]) -> None:
    """Say what takes secrets out of messages; `argentum.security` does when it is loaded."""
    global _hide  # noqa: PLW0603 - the lowest floor cannot import what does this
    _hide = hide


def hidden(text: str) -> str:
    """Give a text without secrets, for people to see; a fault in that hides the whole text."""
    if _hide is None:
        return text
    try:
        return _hide(text)
    except Exception as error:  # noqa: BLE001 - no error may come out of showing one
        return f"<text that could not be searched for secrets: {type(error).__name__}>"


_hide: Callable[[str], str] | None = None


def shown(value: object) -> str:
    """Give `repr(value)` cut to 80 characters, for a message; a broken repr never raises."""
    try:
        text = repr(value)
    except Exception as error:  # noqa: BLE001 - a foreign repr may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    if len(text) <= SHOWN_CHARACTERS:
        return text
    # A secret that was cut in two would not be known as one.
    return hidden(text[:SEARCHED_CHARACTERS])[: SHOWN_CHARACTERS - 1] + "…"


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
