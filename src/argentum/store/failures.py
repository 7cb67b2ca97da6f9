"""What SQLite's exceptions mean to a user, and what to do about them."""

from __future__ import annotations

import apsw

from argentum.errors import StoreError

_OTHER = "or name another file with ARGENTUM_STORE"
_REASONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (
        apsw.BusyError,
        f"is locked by another process that does not let go. Stop it (`fuser FILE` names it), "
        f"{_OTHER}.",
    ),
    (apsw.FullError, "has no room left: the disk is full. Make room; what was recorded is kept."),
    (
        apsw.ReadOnlyError,
        f"cannot be written: the file, its folder or its disk is read-only for this user. Change "
        f"that, {_OTHER}.",
    ),
    (apsw.CorruptError, "is damaged ({error}). Keep a copy of it and run: argentum doctor"),
    (
        apsw.NotADBError,
        "is not a sound SQLite file; it was left as it is. Name another with ARGENTUM_STORE.",
    ),
    (
        apsw.CantOpenError,
        f"cannot be opened: this user may not read it, or may not write in its folder. Change "
        f"that, {_OTHER}.",
    ),
)


def failure(error: apsw.Error, location: str) -> StoreError:
    """Turn an exception of SQLite into one that says what is wrong and what to do."""
    for kind, text in _REASONS:
        if isinstance(error, kind):
            return StoreError(f"The store {location} {text.format(error=error)}")
    return StoreError(f"The store {location} cannot be used: {error} ({type(error).__name__}).")
