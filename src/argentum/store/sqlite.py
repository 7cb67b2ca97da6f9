"""The embedded store: one SQLite file that threads, processes and forked children write at once."""

from __future__ import annotations

# The tree loads this at its first digest. A fork while a thread did so would leave the child
# waiting for that import for ever (seen).
import hashlib  # noqa: F401
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, overload

import apsw

from argentum.errors import InputError, not_found, shown
from argentum.events import Event, RunInfo
from argentum.store import schema
from argentum.store.checking import problems
from argentum.store.files import connect, connect_memory
from argentum.store.handle import Handle
from argentum.store.packing import CHUNK_FROM_BYTES, REFERENCE_FROM_BYTES, packed, unpacked
from argentum.store.vocabulary import check_words
from argentum.tree import Loader, Tree, load

MEMORY = ":memory:"
PAGE_EVENTS = 256
AT_ONCE = (1, 16, 256)
"""For so many chunks there is a statement; after the most, other threads get their turn."""
KNOWN_DIGESTS = 65_536
"""About 5 MB of memory; when there are more, the store forgets them and asks the file again."""
MANY_CHUNKS = 32
"""From so many on, asking which of them are there is cheaper than deflating them for nothing."""

_ALL = 2**62
_BAD_VALUES = (OverflowError, TypeError, apsw.ConstraintError)
"""How Python and SQLite refuse a number of more than 64 bits, or a value of the wrong type."""

Row = tuple[Any, ...]
Chunk = tuple[bytes, bytes]


class SqliteStore:
    """See `Store`."""

    def __init__(self, path: Path | str, *, durable: bool = False) -> None:
        self.location = MEMORY if path == MEMORY else str(Path(path).absolute())
        self._numbers: dict[str, int] = {}
        self._known: set[bytes] = set()
        """Digests of chunks that are surely on disk."""
        self._pending: set[bytes] = set()
        """Digests of chunks that will be when the batch is committed; only its thread may look."""
        opens = partial(connect, Path(self.location), durable=durable)
        opener = connect_memory if path == MEMORY else opens
        self._handle = Handle(self.location, opener, self._forget)
        self._loader = Loader(self.chunks)

    def __repr__(self) -> str:
        """Show the file."""
        return f"<SqliteStore {self.location}>"

    def close(self) -> None:
        """Let go of the file, with its write-ahead log written back; twice does no harm."""
        self._handle.close()

    # ------------------------------------------------------------ runs

    def start_run(self, info: RunInfo) -> None:
        """Add a run."""
        row = (
            _text(info.run_id), _text(info.name), info.started_at_ns, info.ended_at_ns,
            info.status, _text(info.process), info.dropped, _text(info.first_dropped),
        )  # fmt: skip
        if not self._all(schema.START_RUN, row):
            message = (
                f"There is a run {info.run_id!r} in {self.location!r} already; choose another."
            )
            raise InputError(message)

    def finish_run(
        self, run_id: str, *, status: str, ended_at_ns: int | None, dropped: int, first_dropped: str
    ) -> None:
        """Set what is known only later about a run."""
        row = (status, ended_at_ns, dropped, _text(first_dropped), self._number(run_id))
        self._all(schema.FINISH_RUN, row)

    def runs(self, *, limit: int | None = None) -> list[RunInfo]:
        """List runs, newest first."""
        return [_run(row) for row in self._all(schema.RUNS, (_ALL if limit is None else limit,))]

    def run(self, run_id: str) -> RunInfo:
        """Give one run."""
        return _run(self._all(schema.RUN, (self._number(run_id),))[0])

    def _number(self, run_id: str) -> int:
        """Give the number by which a run's events name it."""
        number = self._numbers.get(run_id)
        if number is None:
            rows = self._all(schema.RUN_NUMBER, (_text(run_id),))
            if not rows:
                raise not_found("run", run_id, [one for (one,) in self._all(schema.RUN_IDS, ())])
            number = int(rows[0][0])
            if not self._handle.in_batch():  # else the run may yet be rolled back
                self._numbers[run_id] = number
        return number

    # ------------------------------------------------------------ recording

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
        check_words(kind, phase)
        run = self._numbers.get(run_id) or self._number(run_id)
        reference = packed(body.reference(), REFERENCE_FROM_BYTES)
        row = (run, run, kind, phase, _text(agent), _text(name), at_ns, span, parent, reference)
        in_batch = self._handle.in_batch()
        known = _Either(self._known, self._pending) if in_batch else self._known
        new = list(body.chunks(known))
        try:
            if new:
                return self._append_with_chunks(new, row)
            with self._handle as execute:
                return execute(schema.APPEND, row).get  # type: ignore[no-any-return] # seq
        except _BAD_VALUES as error:
            raise _bad_values(row, error) from error

    def _append_with_chunks(self, new: list[Chunk], row: Row) -> int:
        chunks = self._packed(new)
        with self._handle as execute, self._handle.transaction():
            for chunk in chunks:
                execute(schema.ADD_CHUNK, chunk)
            seq = int(execute(schema.APPEND, row).get)
        self._remember(digest for digest, _ in new)
        return seq

    def _packed(self, new: list[Chunk]) -> list[Chunk]:
        """Deflate those chunks that are not on disk; before the transaction, for it takes time."""
        if len(new) > MANY_CHUNKS:
            there = self._find(schema.HAS_CHUNK, (digest for digest, _ in new))
            new = [chunk for chunk in new if chunk[0] not in there]
        return [(digest, packed(payload, CHUNK_FROM_BYTES)) for digest, payload in new]

    def _remember(self, digests: Iterable[bytes]) -> None:
        """Note what is on disk; in a batch, what will be when it is committed."""
        if self._handle.in_batch():
            self._pending.update(digests)
            return
        if len(self._known) > KNOWN_DIGESTS:
            self._known = set()
        self._known.update(digests)

    def _forget(self) -> None:
        """Forget what was known of the file: this process opens it anew."""
        self._numbers, self._known, self._pending = {}, set(), set()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """
        Put all that is added inside into one transaction: for imports, not for recording.

        Other writers wait meanwhile, but only for some seconds: make many batches of a long import.
        """
        with self._handle.batch():
            self._pending = set()
            yield
            committed = self._pending  # while the file is still this thread's alone
        self._remember(committed)

    # ------------------------------------------------------------ reading

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        kinds: Sequence[str] | None = None,
        agent: str | None = None,
    ) -> Iterator[Event]:
        """Give a run's events in order, a page at a time so that no reader holds up the log."""
        run = self._number(run_id)
        if kinds is not None and not kinds:
            return
        filters = (*(kinds or ()), *(() if agent is None else (_text(agent),)))
        statement = schema.events_page(len(kinds or ()), agent=agent is not None)
        while True:
            rows = self._all(statement, (run, after, *filters, PAGE_EVENTS))
            for row in rows:
                yield self._event(run_id, row)
            if len(rows) < PAGE_EVENTS:
                return
            after = rows[-1][0]

    def event(self, run_id: str, seq: int) -> Event:
        """Give one event."""
        run = self._number(run_id)
        rows = self._all(schema.EVENT, (run, seq)) if 0 < seq < _ALL else []
        if not rows:
            what = f"event in run {run_id!r}, which has {self.run(run_id).events},"
            raise not_found(what, seq, ())
        return self._event(run_id, rows[0])

    def find(self, run_id: str, *, kind: str, name: str) -> Event | None:
        """Give the last event of that kind and name."""
        wanted: Row = (self._number(run_id), _text(name))
        if kind == "snapshot":  # these have an index
            rows = self._all(schema.FIND_SNAPSHOT, wanted)
        else:
            rows = self._all(schema.FIND, (*wanted, kind))
        return self._event(run_id, rows[0]) if rows else None

    def chunks(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give the chunks that are kept under these digests."""
        found = self._find(schema.CHUNK, digests)
        return {digest: unpacked(column) for digest, column in found.items()}

    def receipts(self, handoff_id: str) -> list[str]:
        """Give the receipts of a handoff as they were written, the first one first."""
        return [written for (written,) in self._all(schema.RECEIPTS, (_text(handoff_id),))]

    def add_receipts(self, handoff_id: str, known: int, written: Sequence[str]) -> list[str]:
        """Add receipts if the handoff still has `known` of them; give all that it has then."""
        name = _text(handoff_id)
        with self._handle as execute, self._handle.transaction():
            kept = [one for (one,) in execute(schema.RECEIPTS, (name,))]
            if len(kept) == known:
                for number, one in enumerate(written, known):
                    execute(schema.ADD_RECEIPT, (name, number, one))
                kept += written
        return kept

    def check(self) -> list[str]:
        """List what is damaged."""
        return list(problems(self, self._handle))

    def _event(self, run_id: str, row: Row) -> Event:
        seq, kind, phase, agent, name, at_ns, span, parent, body = row
        return Event(
            run_id=run_id, seq=seq, kind=kind, phase=phase, agent=agent, name=name, at_ns=at_ns,
            span=span, parent=parent, body=load(unpacked(body), self._loader),
        )  # fmt: skip

    # ------------------------------------------------------------ statements

    def _all(self, statement: str, row: Row) -> list[Any]:
        """Give all rows that a statement returns, which commits itself."""
        try:
            with self._handle as execute:
                return execute(statement, row).fetchall()
        except _BAD_VALUES as error:
            raise _bad_values(row, error) from error

    def _find(self, statement: str, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Execute a statement that ends in `IN` for the digests, many at once; give its columns."""
        wanted = list(digests)
        found: dict[bytes, bytes] = {}
        while wanted:
            size = next((size for size in AT_ONCE if size >= len(wanted)), AT_ONCE[-1])
            some = wanted[:size]
            wanted = wanted[size:]
            some += some[-1:] * (size - len(some))  # the same few statements for any number
            with self._handle as execute:
                found.update(execute(f"{statement} ({', '.join('?' * size)})", some))
        return found


class _Either:
    """What is in one of two sets."""

    def __init__(self, one: Container[bytes], other: Container[bytes]) -> None:
        self._one, self._other = one, other

    def __contains__(self, digest: object) -> bool:
        return digest in self._one or digest in self._other


@overload
def _text(text: str) -> str: ...
@overload
def _text(text: str | None) -> str | None: ...
def _text(text: str | None) -> str | None:
    """Give a text that UTF-8 can hold: a lone surrogate is escaped."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def _run(row: Row) -> RunInfo:
    run_id, name, started, ended, status, process, dropped, first_dropped, events = row
    return RunInfo(
        run_id=run_id, name=name, started_at_ns=started, ended_at_ns=ended, status=status,
        process=process, dropped=dropped, first_dropped=first_dropped, events=events,
    )  # fmt: skip


def _bad_values(row: Row, error: Exception) -> InputError:
    return InputError(f"The store cannot keep these values ({error}): {shown(row)}.")
