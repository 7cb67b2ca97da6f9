"""What SQLite's exceptions mean to a user, and what to do about them."""

from __future__ import annotations

import apsw

from argentum.errors import StoreError

ELSEWHERE = "name another file with ARGENTUM_STORE"
_REASONS: tuple[tuple[tuple[type[apsw.Error], ...], str], ...] = (
    (
        (apsw.BusyError,),
        "is locked by another process that does not let go; end it (`fuser FILE` names it), or "
        f"{ELSEWHERE}.",
    ),
    (
        (apsw.FullError,),
        "has no room left: the disk is full; make room, what was recorded is kept.",
    ),
    (
        (apsw.ReadOnlyError,),
        "cannot be written: the file, its folder or its disk is read-only for this user; change "
        f"that, or {ELSEWHERE}.",
    ),
    (
        (apsw.CantOpenError,),
        "cannot be opened: check that the folder is there and that this user may read the file "
        f"and write beside it, or {ELSEWHERE}.",
    ),
    (
        (apsw.NotADBError, apsw.CorruptError),
        "is not a sound SQLite file; it was left as it is ({error}). Move it away, or "
        f"{ELSEWHERE}.",
    ),
)


def failure(error: apsw.Error, location: str) -> StoreError:
    """Turn an exception of SQLite into one that says what is wrong and what to do."""
    for kinds, text in _REASONS:
        if isinstance(error, kinds):
            return StoreError(f"The store {location!r} {text.format(error=error)}")
    return StoreError(f"The store {location!r} cannot be used: {error} ({type(error).__name__}).")
