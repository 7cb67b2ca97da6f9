"""
Opening a store's file: what it may be, where it may lie, and how it is set up.

A file is looked at before SQLite touches it, since SQLite may alter what it opens (it rolls back
journals and empties logs), and a file that is not ours must stay as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import apsw

from argentum.clock import elapsed_ns
from argentum.errors import StoreError
from argentum.store.failures import ELSEWHERE, failure
from argentum.store.filesystems import network_type
from argentum.store.handle import PATIENCE_NS, POLL_FROM_NS, is_open_here
from argentum.store.schema import APPLICATION_ID, FORMAT, SQLITE, statements

FIXED_SQLITE = (3, 51, 3)
LOG_LIMIT_BYTES = 1 << 22
HEADER_BYTES = 100
FOLDER, OWNER_ONLY = ".argentum", 0o700


def connect(path: Path, *, durable: bool) -> apsw.Connection:
    """
    Open a file, or make it.

    Raises:
        StoreError: it is no store of ours, or newer, damaged, unreadable, on a network disk, …
    """
    refuse_old_sqlite(apsw.sqlite_lib_version())
    _refuse_network(path)
    try:
        if not path.exists():
            _make_folder(path.parent)
        _look_at(path)
        connection = _open(path)
        _set_options(connection, durable=durable)
    except apsw.Error as error:
        raise failure(error, str(path)) from error
    except StoreError:
        raise
    except OSError as error:
        message = (
            f"The store {str(path)!r} cannot be used: {error.strerror} ({str(error.filename)!r}). "
            f"Change that, or {ELSEWHERE}."
        )
        raise StoreError(message) from error
    return connection


def connect_memory() -> apsw.Connection:
    """Open a store that is gone when it is closed."""
    connection = apsw.Connection(":memory:")
    _keep_statements(connection)
    _migrate(connection, ":memory:")
    return connection


def refuse_old_sqlite(version: str) -> None:
    """
    Check that SQLite is free of the bug by which two writers can corrupt a log.

    The SQLite of many systems is not, but apsw brings its own.
    https://sqlite.org/wal.html#walresetbug

    Raises:
        StoreError: it is not.
    """
    if tuple(int(part) for part in version.split(".")[:3]) < FIXED_SQLITE:
        message = (
            f"SQLite {version} of the library apsw can damage a file that two processes write "
            f"(fixed in 3.51.3). Upgrade it: pip install --upgrade apsw"
        )
        raise StoreError(message)


def _refuse_network(path: Path) -> None:
    kind = network_type(path)
    if kind is not None:
        message = (
            f"The store {str(path)!r} lies on a network file system ({kind}), where SQLite's "
            f"write-ahead log is not safe. Name a file on a local disk with ARGENTUM_STORE."
        )
        raise StoreError(message)


def _make_folder(folder: Path) -> None:
    """Make the folder; ours is only for its owner, since states hold secrets, and not for git."""
    if folder.name == FOLDER and not folder.exists():
        folder.mkdir(OWNER_ONLY, parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)


def _look_at(path: Path) -> None:
    """
    Check, without SQLite, that a file is a store of ours, or is not there yet.

    Not if this process has it open: then it is, and POSIX frees all locks that a process has on a
    file when any descriptor of it is closed.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    if path.is_dir():
        inside = str(path / "runs.db")
        message = f"The store {str(path)!r} is a folder. Name a file in it, such as {inside!r}."
        raise StoreError(message)
    if status.st_size and not is_open_here(path):
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        _check_header(path, header)


def _check_header(path: Path, header: bytes) -> None:
    """Check the first 100 bytes, see https://sqlite.org/fileformat.html#the_database_header."""
    if not header.startswith(b"SQLite format 3\0") or len(header) < HEADER_BYTES:
        message = (
            f"The file {str(path)!r} is not a SQLite file, so it is no store; it was left as it "
            f"is. Move it away, or {ELSEWHERE}."
        )
        raise StoreError(message)
    _check_marks(path, int.from_bytes(header[68:72]), int.from_bytes(header[60:64]))
    page_bytes = int.from_bytes(header[16:18])
    wanted_bytes = int.from_bytes(header[28:32]) * (65536 if page_bytes == 1 else page_bytes)
    if _is_beside(path, "-wal") or _is_beside(path, "-journal"):
        return  # it is being written; only SQLite can tell
    size_bytes = path.stat().st_size
    if size_bytes < wanted_bytes:
        message = (
            f"The store {str(path)!r} is damaged: of {wanted_bytes} bytes, {size_bytes} are there. "
            f"It was left as it is; restore a copy of it, or move it away."
        )
        raise StoreError(message)


def _is_beside(path: Path, ending: str) -> bool:
    """Tell whether SQLite has a log or a journal with contents for a file."""
    try:
        return path.with_name(path.name + ending).stat().st_size > 0
    except FileNotFoundError:
        return False


def _check_marks(where: object, application_id: int, version: int) -> None:
    if application_id != APPLICATION_ID:
        message = (
            f"The store {str(where)!r} is a SQLite file of another program; it was left as it is. "
            f"Name another file with ARGENTUM_STORE."
        )
        raise StoreError(message)
    if version > FORMAT:
        message = (
            f"Database is format {version}; this argentum reads up to {FORMAT}. Upgrade argentum: "
            f"pip install --upgrade argentum-agent (the store is {str(where)!r})."
        )
        raise StoreError(message)


def _marks(connection: apsw.Connection) -> tuple[int, int]:
    return connection.pragma("application_id"), connection.pragma("user_version")


def _open(path: Path) -> apsw.Connection:
    """Open for writing, or for reading where that is all that this user may do."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(PATIENCE_NS // 1_000_000)
    try:
        if connection.readonly("main"):
            _check_marks(path, *_marks(connection))
        else:
            _migrate(connection, path)
            _keep_log(connection)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        return _open_unchanging(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _open_unchanging(path: Path) -> apsw.Connection:
    """
    Read a file in a folder where this user cannot make a log.

    Only if there is no log beside it, whose contents would be overlooked.
    """
    if os.access(path.parent, os.W_OK) or _is_beside(path, "-wal"):
        message = "no log can be made or read"
        raise apsw.CantOpenError(message)
    uri = f"{path.absolute().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri, flags=flags)
    _check_marks(path, *_marks(connection))
    return connection


def _keep_statements(connection: apsw.Connection) -> None:
    """
    Compile each statement once: without this SQLite looks at what is bound, and does so each time.

    Source: https://www.sqlite.org/queryplanner-ng.html#qpstab (query planner stability guarantee).
    """
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def _set_options(connection: apsw.Connection, *, durable: bool) -> None:
    _keep_statements(connection)
    if not connection.readonly("main"):
        connection.pragma("synchronous", "full" if durable else "normal")
        connection.pragma("journal_size_limit", LOG_LIMIT_BYTES)


def _migrate(connection: apsw.Connection, where: object) -> None:
    """Bring the tables to this version's format; of several processes, one does it."""
    if _marks(connection) == (APPLICATION_ID, FORMAT):
        return
    with _exclusively(connection):
        application_id, version = _marks(connection)
        if connection.execute("SELECT count(*) FROM sqlite_schema").get:
            _check_marks(where, application_id, version)
        for step in range(version, FORMAT):
            for text in statements(step, SQLITE):
                connection.execute(text)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", FORMAT)


@contextmanager
def _exclusively(connection: apsw.Connection) -> Iterator[None]:
    """Hold a transaction during which no other process reads or writes."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _keep_log(connection: apsw.Connection) -> None:
    """
    Have changes written to a log first (WAL), so that readers and a writer do not wait.

    After the tables are made, so that the marks are in the file itself for `_look_at`. SQLite
    does not wait when another process does the same, hence the loop.
    """
    deadline_ns = elapsed_ns() + PATIENCE_NS
    while True:
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if elapsed_ns() > deadline_ns:
                raise
            sleep(POLL_FROM_NS / 1e9)
        else:
            return
