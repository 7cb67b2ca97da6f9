"""Find and open the store: the one named, or `.argentum/runs.db` upwards from here, like `.git`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from argentum import options
from argentum.errors import InputError, StoreError, shown

if TYPE_CHECKING:
    from argentum.store.protocol import Store

FOLDER, FILE = ".argentum", "runs.db"
VARIABLE = "ARGENTUM_STORE"


def locate(start: Path | None = None) -> Path:
    """Find the store's file from a folder upwards, or say where a new one goes."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / FOLDER / FILE).is_file():
            return folder / FOLDER / FILE
    return here / FOLDER / FILE


def open_store(
    where: str | os.PathLike[str] | None = None, *, durable: bool | None = None, create: bool = True
) -> Store:
    """
    Open the store of a path or URL.

    Args:
        where: a file, or `:memory:`. By default `ARGENTUM_STORE`, or else `.argentum/runs.db` in
            this folder or the nearest one above that has it.
        durable: wait for the disk at every event, so that a power cut loses none either. By
            default (and unless `ARGENTUM_DURABLE=1`) a killed process loses nothing, and a power
            cut perhaps the last moments.
        create: make the file if it is not there.

    Raises:
        StoreError: the place cannot be used; the message says why and what to do.
    """
    named = where if where is not None else options.text(VARIABLE) or None
    text = os.fspath(named) if named is not None else str(locate())
    if text.startswith(("postgres:", "postgresql:")):
        message = (
            f"{shown(text)} is a PostgreSQL store, which this version cannot open yet; name a file."
        )
        raise InputError(message)
    path = text if text == ":memory:" else Path(text).expanduser()
    if not create and isinstance(path, Path) and not path.is_file():
        message = (
            f"There is no store at {str(path)!r}. Record a run first (argentum run SCRIPT), "
            f"name another store with --store, or set {VARIABLE}."
        )
        raise StoreError(message)
    from argentum.store.sqlite import SqliteStore  # noqa: PLC0415 - apsw is loaded when used

    wait = options.flag("ARGENTUM_DURABLE") if durable is None else durable
    return SqliteStore(path, durable=bool(wait))
