"""
Runs in one SQLite file that many threads, processes and forked children write at once.

apsw brings its own SQLite: the one of many systems (3.7.0 to 3.51.2) can corrupt a write-ahead log
that two connections write and checkpoint at the same moment (fixed in 3.51.3,
https://sqlite.org/wal.html#walresetbug).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

import apsw

from argentum.errors import FormatError, InputError, StoreError, not_found
from argentum.events import Event, RunInfo
from argentum.store.filesystems import network_type
from argentum.store.packing import packed, unpacked
from argentum.store.schema import APPLICATION_ID, FORMAT, statements
from argentum.tree import Loader, Tree, digest_of, load

FIXED_SQLITE = (3, 51, 3)
WAIT_SECONDS = 5.0
"""How long a writer waits for the others before it gives up."""
POLL_SECONDS = 0.0005
"""SQLite's own busy handler sleeps up to 100 ms and was measured to starve a writer for 7 s."""
KNOWN_DIGESTS = 200_000
PAGE_ROWS = 500

_EVENT_COLUMNS = "seq, kind, phase, agent, name, at_ns, span, parent, body"
_RUN_COLUMNS = """run_id, name, started_at_ns, ended_at_ns, status, process, dropped, first_dropped,
    (SELECT count(*) FROM event WHERE event.run = run.number)"""
_INSERT_EVENT = f"""
    INSERT INTO event (run, {_EVENT_COLUMNS})
    SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM event WHERE run = ?1
    RETURNING seq
"""  # noqa: S608 - the columns are a constant
_INSERT_CHUNK = "INSERT INTO chunk (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"


class SqliteStore:
    """See `Store`."""

    def __init__(self, path: Path | str, *, durable: bool = False) -> None:
        self.path = path if path == ":memory:" else Path(path).absolute()
        self.location = str(self.path)
        self.durable = durable
        self._numbers: dict[str, int] = {}
        self._known: set[bytes] = set()
        self._added: list[bytes] | None = None
        self._left_behind: list[apsw.Connection] = []
        self._start()
        _OPEN.add(self)

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._loader = Loader(self.chunks)
        self._db = self._connect()

    # ------------------------------------------------------------ opening

    def _connect(self) -> apsw.Connection:
        try:
            if isinstance(self.path, Path):
                self._make_folder(self.path)
            db = apsw.Connection(str(self.path))
            db.set_busy_handler(self._wait)
            self._prepare(db)
        except (apsw.Error, OSError) as error:
            if isinstance(error, StoreError):
                raise
            raise self._unusable(error) from error
        return db

    def _make_folder(self, path: Path) -> None:
        kind = network_type(path)
        if kind is not None:
            message = (
                f"{self.location!r} lies on a network file system ({kind}), where SQLite's "
                "write-ahead log is not safe. Name a file on a local disk with ARGENTUM_STORE."
            )
            raise StoreError(message)
        made = not path.parent.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        if made and path.parent.name == ".argentum":
            (path.parent / ".gitignore").write_text("*\n", encoding="utf-8")

    def _prepare(self, db: apsw.Connection) -> None:
        """Check that the file is ours and bring it up to date."""
        mark = db.pragma("application_id")
        version = int(db.pragma("user_version"))
        if mark == APPLICATION_ID and version > FORMAT:
            message = (
                f"The store {self.location!r} has format {version}; this version reads up to "
                f"{FORMAT}. Run: pip install --upgrade argentum-agent"
            )
            raise StoreError(message)
        if mark != APPLICATION_ID and db.execute("SELECT count(*) FROM sqlite_schema").get:
            message = (
                f"{self.location!r} is a SQLite file of another program; it was left as it is. "
                "Name another file with ARGENTUM_STORE."
            )
            raise StoreError(message)
        if version < FORMAT or mark != APPLICATION_ID:
            db.pragma("journal_mode", "wal")
            self._migrate(db)
        db.pragma("synchronous", "full" if self.durable else "normal")
        db.pragma("journal_size_limit", 1 << 22)

    def _migrate(self, db: apsw.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        with _rolled_back(db):
            for step in range(int(db.pragma("user_version")), FORMAT):
                for text in statements(step, serial="INTEGER", bytes_type="BLOB"):
                    db.execute(text)
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", FORMAT)
            db.execute("COMMIT")

    def _wait(self, tries: int) -> bool:
        """Poll at short, uneven intervals while another connection holds the lock."""
        if tries == 0:
            self._waiting_since = time.monotonic()
        if time.monotonic() - self._waiting_since > WAIT_SECONDS:
            return False
        time.sleep(POLL_SECONDS * (0.5 + random.random()))  # noqa: S311 - no secret
        return True

    def _unusable(self, error: Exception) -> StoreError:
        for kinds, text in _REASONS:
            if isinstance(error, kinds):
                return StoreError(f"The store {self.location!r} {text} ({error}).")
        return StoreError(f"The store {self.location!r} cannot be used: {error}.")

    def _forked(self) -> None:
        """Start anew in a forked child; the parent's connection is neither used nor closed."""
        self._left_behind.append(self._db)
        if self.path == ":memory:":
            self._lock = threading.RLock()
            self._process = os.getpid()
            return
        self._known.clear()
        self._added = None
        self._start()

    @contextmanager
    def _using(self) -> Iterator[apsw.Connection]:
        if os.getpid() != self._process:
            self._forked()
        with self._lock:
            try:
                yield self._db
            except apsw.Error as error:
                raise self._unusable(error) from error

    # ------------------------------------------------------------ writing

    def start_run(self, info: RunInfo) -> None:
        """Add a run."""
        row = (
            info.run_id, info.name, info.started_at_ns, info.ended_at_ns, info.status,
            info.process, info.dropped, info.first_dropped,
        )  # fmt: skip
        with self._using() as db:
            added = db.execute(
                "INSERT INTO run (run_id, name, started_at_ns, ended_at_ns, status, process,"
                " dropped, first_dropped) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (run_id) DO NOTHING RETURNING number",
                row,
            ).get
        if added is None:
            message = (
                f"There is a run {info.run_id!r} in {self.location!r} already; choose another id."
            )
            raise InputError(message)
        self._numbers[info.run_id] = added

    def finish_run(
        self, run_id: str, *, status: str, ended_at_ns: int | None, dropped: int, first_dropped: str
    ) -> None:
        """Set what is known only later about a run."""
        with self._using() as db:
            db.execute(
                "UPDATE run SET status = ?, ended_at_ns = ?, dropped = ?, first_dropped = ?"
                " WHERE run_id = ?",
                (status, ended_at_ns, dropped, first_dropped, run_id),
            )

    def append(  # noqa: PLR0913 - the columns of an event
        self,
        run_id: str,
        *,
        kind: str,
        name: str,
        at_ns: int,
        body: Tree,
        agent: str | None = None,
        phase: str = "point",
        span: int | None = None,
        parent: int | None = None,
    ) -> int:
        """Add an event and the chunks that its body needs, at once; give its `seq`."""
        if os.getpid() != self._process:
            self._forked()
        chunks = [(digest, packed(payload)) for digest, payload in body.chunks(self._known)]
        number = self._number(run_id)
        row = (number, kind, phase, agent, name, at_ns, span, parent, packed(body.reference()))
        seq: int
        try:
            with self._lock:
                if not chunks:
                    seq = self._db.execute(_INSERT_EVENT, row).get
                    return seq
                with self._transaction():
                    self._db.executemany(_INSERT_CHUNK, chunks)
                    seq = self._db.execute(_INSERT_EVENT, row).get
        except apsw.Error as error:
            raise self._unusable(error) from error
        self._remember([digest for digest, _ in chunks])
        return seq

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        with _rolled_back(self._db):
            yield
            self._db.execute("COMMIT")

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Put all that is added inside into one transaction."""
        with self._using():
            self._added = []
            try:
                with self._transaction():
                    yield
            except BaseException:
                self._known.difference_update(self._added)
                raise
            finally:
                self._added = None

    def _remember(self, digests: list[bytes]) -> None:
        if len(self._known) > KNOWN_DIGESTS:
            self._known.clear()
        self._known.update(digests)
        if self._added is not None:
            self._added += digests

    # ------------------------------------------------------------ reading

    def _number(self, run_id: str) -> int:
        number: int | None = self._numbers.get(run_id)
        if number is None:
            with self._using() as db:
                number = _number(
                    db.execute("SELECT number FROM run WHERE run_id = ?", (run_id,)).get
                )
                if number is None:
                    known = db.execute("SELECT run_id FROM run ORDER BY number DESC LIMIT 1000")
                    raise not_found("run", run_id, [row[0] for row in known])
            self._numbers[run_id] = number
        return number

    def runs(self, *, limit: int | None = None) -> list[RunInfo]:
        """List runs, newest first."""
        text = f"SELECT {_RUN_COLUMNS} FROM run ORDER BY started_at_ns DESC, number DESC LIMIT ?"  # noqa: S608
        with self._using() as db:
            return [_run_info(row) for row in db.execute(text, (-1 if limit is None else limit,))]

    def run(self, run_id: str) -> RunInfo:
        """Give one run."""
        number = self._number(run_id)
        with self._using() as db:
            text = f"SELECT {_RUN_COLUMNS} FROM run WHERE number = ?"  # noqa: S608
            return _run_info(next(db.execute(text, (number,))))

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        kinds: Sequence[str] | None = None,
        agent: str | None = None,
    ) -> Iterator[Event]:
        """Give a run's events in order, a page at a time so that no reader holds up the log."""
        where, values = "run = ?", [self._number(run_id)]
        filters: list[Any] = []
        if kinds is not None:
            where += f" AND kind IN ({', '.join('?' * len(kinds))})"
            filters += kinds
        if agent is not None:
            where += " AND agent = ?"
            filters.append(agent)
        text = f"SELECT {_EVENT_COLUMNS} FROM event WHERE {where} AND seq > ? ORDER BY seq LIMIT ?"  # noqa: S608
        while True:
            with self._using() as db:
                rows: list[Any] = db.execute(text, (*values, *filters, after, PAGE_ROWS)).fetchall()
            for row in rows:
                yield self._event(run_id, row)
            if len(rows) < PAGE_ROWS:
                return
            after = rows[-1][0]

    def event(self, run_id: str, seq: int) -> Event:
        """Give one event."""
        found = self._one(run_id, "seq = ?", (seq,))
        if found is None:
            raise not_found(
                f"event in run {run_id!r}, which has {self.run(run_id).events},", seq, ()
            )
        return found

    def find(self, run_id: str, *, kind: str, name: str) -> Event | None:
        """Give the last event of that kind and name."""
        return self._one(run_id, "kind = ? AND name = ?", (kind, name))

    def _one(self, run_id: str, where: str, values: tuple[object, ...]) -> Event | None:
        where = f"run = ? AND {where} ORDER BY seq DESC LIMIT 1"
        text = f"SELECT {_EVENT_COLUMNS} FROM event WHERE {where}"  # noqa: S608 - constants
        number = self._number(run_id)
        with self._using() as db:
            row = next(iter(db.execute(text, (number, *values))), None)
        return None if row is None else self._event(run_id, row)

    def _event(self, run_id: str, row: tuple[Any, ...]) -> Event:
        seq, kind, phase, agent, name, at_ns, span, parent, body = row
        return Event(
            run_id=run_id, seq=seq, kind=kind, phase=phase, agent=agent, name=name, at_ns=at_ns,
            span=span, parent=parent, body=load(unpacked(body), self._loader),
        )  # fmt: skip

    def chunks(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give the chunks that are kept under these digests."""
        found = {}
        with self._using() as db:
            for digest in digests:
                data = db.execute("SELECT data FROM chunk WHERE digest = ?", (digest,)).get
                if data is not None:
                    found[digest] = unpacked(data)
        return found

    # ------------------------------------------------------------ care

    def check(self) -> list[str]:
        """List what is damaged."""
        with self._using() as db:
            pages = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
            problems = [] if pages == ["ok"] else pages
            for digest, data in db.execute("SELECT digest, data FROM chunk"):
                if not _is_chunk(digest, data):
                    problems.append(f"Chunk {digest.hex()} was altered.")
        for info in self.runs():
            for seq in range(1, info.events + 1):
                try:
                    self.event(info.run_id, seq).body.thaw(live=False)
                except (ValueError, LookupError) as error:
                    problems.append(f"Event {info.run_id}@{seq}: {error}")
        return problems

    def close(self) -> None:
        """Let go of the file, with its write-ahead log written back."""
        if os.getpid() == self._process:
            with self._lock:
                self._db.close()
        _OPEN.discard(self)


_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (
        apsw.BusyError,
        f"was locked by another program for {WAIT_SECONDS:.0f} seconds; close it there",
    ),
    (apsw.FullError, "has no room left: the disk is full; make room, what was recorded is kept"),
    (apsw.ReadOnlyError, "cannot be written; check its permissions, or name another file"),
    (apsw.CantOpenError, "cannot be opened; check that the folder is there and may be written"),
    ((apsw.NotADBError, apsw.CorruptError), "is not a sound SQLite file; it was left as it is"),
    (OSError, "cannot be made; check that the folder may be written"),
)


@contextmanager
def _rolled_back(db: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _is_chunk(digest: bytes, data: bytes) -> bool:
    try:
        return digest_of(unpacked(data)) == digest
    except FormatError:
        return False


def _number(value: Any) -> int | None:
    """Narrow what a query for one number gave."""
    return value if isinstance(value, int) else None


def _run_info(row: tuple[Any, ...]) -> RunInfo:
    run_id, name, started, ended, status, process, dropped, first_dropped, events = row
    return RunInfo(
        run_id=run_id, name=name, started_at_ns=started, ended_at_ns=ended, status=status,
        process=process, dropped=dropped, first_dropped=first_dropped, events=events,
    )  # fmt: skip


_OPEN: WeakSet[SqliteStore] = WeakSet()


def _after_fork() -> None:
    for store in list(_OPEN):
        store._forked()  # noqa: SLF001 - the same file


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
