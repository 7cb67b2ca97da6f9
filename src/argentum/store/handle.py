"""
The one connection that a process has to a store's file, taken in turns by its threads.

`with handle as execute:` gives the connection to one thread; at an error the transaction is rolled
back and SQLite's exception becomes a `StoreError` that says what to do.

How to wait for other processes was measured with 4 processes of 4 threads that write without a
pause on 2 cores: SQLite's own busy timeout stalled up to 293 ms, a queue of `flock` up to 298 ms,
polling at uneven intervals of 0.5 to 2 ms up to 98 ms, all at about the same throughput. So it is
polling; unlike a queue, it also gets past a process that was stopped while first in line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, get_ident
from time import sleep
from types import TracebackType
from weakref import WeakSet

import apsw

from argentum.clock import elapsed_ns
from argentum.errors import StoreError
from argentum.store.failures import failure

Execute = Callable[..., apsw.Cursor]

PATIENCE_NS = 5_000_000_000
"""How long a writer waits for others."""
IMPATIENCE_NS = 50_000_000
"""How long it waits once it has waited in vain: a stuck file must not stall every event."""
POLL_FROM_NS, POLL_SPREAD_NS = 500_000, 1_500_000


class Handle:
    """A connection, the lock on it, and what becomes of both in a forked child."""

    __slots__ = (
        "__weakref__", "_batch", "_connect", "_connection", "_deadline_ns", "_execute", "_forget",
        "_inner", "_lock", "_owner", "_pid", "_stuck", "location",
    )  # fmt: skip

    def __init__(
        self, location: str, connect: Callable[[], apsw.Connection], forget: Callable[[], None]
    ) -> None:
        """
        Open the connection.

        Args:
            forget: called in a forked child, which opens the file anew.
        """
        self.location = location
        self._forget = forget
        self._connect: Callable[[], apsw.Connection] | None = connect
        self._connection: apsw.Connection | None = None
        self._execute: Execute | None = None
        self._renew()
        with _forking:  # no fork while SQLite opens a file
            self._open()
            _handles.add(self)

    def _renew(self) -> None:
        """Put everything but the connection in the state that a new process starts with."""
        self._lock = Lock()
        self._owner = 0
        """The thread that has the connection."""
        self._inner = 0
        """How deep that thread is inside `with` blocks within a batch."""
        self._batch = False
        self._stuck = False
        self._deadline_ns = 0
        self._pid = os.getpid()

    def __enter__(self) -> Execute:
        """Take the connection, and give what executes a statement on it."""
        if not self._lock.acquire(blocking=False) and self._wait_for_turn():
            self._inner += 1
        self._owner = get_ident()
        if self._execute is not None and self._pid == os.getpid():
            return self._execute
        return self._reopen()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the connection back."""
        if self._inner:
            self._inner -= 1
        elif self._owner:  # else this is a child that left a block of its parent's
            if error is not None:
                self._roll_back()
            self._stuck = isinstance(error, apsw.BusyError)
            self._batch = False
            self._owner = 0
            self._lock.release()
        if isinstance(error, apsw.Error) and not isinstance(error, apsw.ConstraintError):
            raise failure(error, self.location) from error

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Keep the connection and one transaction for all that this thread does inside."""
        if self.in_batch():
            yield
            return
        with self as execute:
            execute("BEGIN IMMEDIATE")
            self._batch = True
            pid = self._pid
            yield
            if pid == self._pid:  # else this is a child that left its parent's batch
                execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is done inside at once; only inside `with`."""
        execute = self._execute
        assert execute is not None, "inside `with`, the connection is open"  # noqa: S101
        if self._batch:
            yield
            return
        execute("BEGIN IMMEDIATE")
        yield
        execute("COMMIT")

    def in_batch(self) -> bool:
        """Tell whether this thread is inside `batch`."""
        return self._batch and self._owner == get_ident()

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for what a statement alone cannot do; only inside `with`."""
        assert self._connection is not None, "inside `with`, the connection is open"  # noqa: S101
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether this process has the file open."""
        return self._connection is not None

    def close(self) -> None:
        """Close the connection; SQLite empties the log if no other process uses the file."""
        if self._connect is None:
            return
        with self:
            self._connect = self._execute = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Execute:
        if self._connect is None:
            message = f"The store {self.location!r} was closed. Open it again with open_store()."
            raise StoreError(message)
        self._connection = self._connect()
        self._connection.set_busy_handler(self._wait_for_file)
        self._execute = self._connection.cursor().execute
        return self._execute

    def _reopen(self) -> Execute:
        """Open the file anew, in a child; or say that it was closed."""
        try:
            if self._pid != os.getpid():  # a fork of which Python was not told, while all was quiet
                self._disown(quiet=True)
            return self._open()
        except BaseException:
            self._owner = 0
            self._lock.release()
            raise

    def _roll_back(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with suppress(apsw.Error):
                self._connection.execute("ROLLBACK")

    def _wait_for_turn(self) -> bool:
        """Wait until no other thread has the connection, but not for ever; True in a batch."""
        if self._owner == get_ident():
            if self._batch:
                return True
            message = (
                f"The store {self.location!r} is in use by the very code that this code "
                f"interrupted: a signal handler or finalizer cannot record while its thread does."
            )
            raise StoreError(message)
        wait_ns = IMPATIENCE_NS if self._stuck else PATIENCE_NS
        if not self._lock.acquire(timeout=wait_ns / 1e9):
            message = (
                f"The store {self.location!r} is kept busy by another thread of this process, "
                f"which did not let go in {wait_ns / 1e9:.2g} s. Keep batches short."
            )
            raise StoreError(message)
        return False

    def _wait_for_file(self, attempts: int) -> bool:
        """Wait a moment for another process; False gives up. SQLite calls this."""
        now = elapsed_ns()
        if attempts == 0:
            self._deadline_ns = now + (IMPATIENCE_NS if self._stuck else PATIENCE_NS)
        if now > self._deadline_ns:
            return False
        sleep((POLL_FROM_NS + now % POLL_SPREAD_NS) / 1e9)  # the low digits are random enough
        return True

    def hold(self) -> bool:
        """Keep threads out of SQLite for a fork; False if one may be inside it all the same."""
        if self._owner == get_ident():
            return False
        return self._lock.acquire(timeout=2 * PATIENCE_NS / 1e9)

    def let_go(self) -> None:
        """Let threads in again."""
        self._lock.release()

    def start_afresh(self, *, quiet: bool) -> None:
        """Make the handle the child's own; the file is opened when it is next needed."""
        self._disown(quiet=quiet or not self._lock.locked())
        self._renew()

    def _disown(self, *, quiet: bool) -> None:
        """
        Part from the connection of the parent process.

        SQLite remembers per process which locks it has on a file, and a forked child inherits
        that memory but not the locks. While the inherited connection is open, another one of the
        child relies on locks that it does not have: the parent, when it closes, deletes the log
        under the child, whose rows vanish (seen). So the child closes it. That frees no lock of
        the parent, whose locks belong to the parent's process; and the checkpoint that a last
        close makes is switched off.

        Args:
            quiet: no thread was inside SQLite, and no transaction was open. Else a close could
                wait for ever, or undo in the shared log what the parent has yet to commit.
        """
        self._pid = os.getpid()
        self._forget()
        if self.location == ":memory:":
            self._roll_back()
            return  # the child has a copy of its own, without files or locks
        connection, self._connection, self._execute = self._connection, None, None
        if connection is not None and quiet:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
        elif connection is not None:
            _left_alone.append(connection)
            self._connect = self._refuse

    def _refuse(self) -> apsw.Connection:
        message = (
            f"The store {self.location!r} cannot be used in this process, which was forked while "
            f"its parent was writing. Fork outside of batches, or start processes by `spawn`."
        )
        raise StoreError(message)


_handles: WeakSet[Handle] = WeakSet()
_held: list[Handle] = []
_left_alone: list[apsw.Connection] = []
_forking = Lock()


def is_open_here(path: Path) -> bool:
    """Tell whether this process has a file open, under whatever name."""
    opened = [Path(one.location) for one in list(_handles) if one.is_open]
    return any(other.exists() and path.samefile(other) for other in opened)


def _before_fork() -> None:
    _forking.acquire()
    _held.extend(handle for handle in sorted(_handles, key=id) if handle.hold())


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().let_go()
    _forking.release()


def _after_fork_in_child() -> None:
    global _forking  # noqa: PLW0603 - a lock cannot be freed by who did not take it
    _forking = Lock()
    for handle in list(_handles):
        handle.start_afresh(quiet=handle in _held)
    _held.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
