"""What every place that keeps runs can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from argentum.events import Event, RunInfo
from argentum.tree import Tree


class Store(Protocol):
    """
    A place that keeps runs, shared by threads, forked children and other processes.

    All methods raise `StoreError` when the place cannot be used (full, locked, damaged, gone).
    """

    location: str
    """Where it is, as a user would name it."""

    def start_run(self, info: RunInfo) -> None:
        """Add a run; `InputError` if there is one of that id."""

    def finish_run(
        self, run_id: str, *, status: str, ended_at_ns: int | None, dropped: int, first_dropped: str
    ) -> None:
        """Set what is known only later about a run."""

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

    def batch(self) -> AbstractContextManager[None]:
        """Put all that is added inside into one transaction: for imports, not for recording."""

    def runs(self, *, limit: int | None = None) -> list[RunInfo]:
        """List runs, newest first."""

    def run(self, run_id: str) -> RunInfo:
        """Give one run; `NotFoundError` with near ids if there is none of that id."""

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        kinds: Sequence[str] | None = None,
        agent: str | None = None,
    ) -> Iterator[Event]:
        """Give a run's events with `seq > after`, in order; bodies are read when looked into."""

    def event(self, run_id: str, seq: int) -> Event:
        """Give one event; `NotFoundError` if the run has no such `seq`."""

    def find(self, run_id: str, *, kind: str, name: str) -> Event | None:
        """Give the last event of that kind and name."""

    def chunks(self, digests: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Give the chunks that are kept under these digests."""

    def receipts(self, handoff_id: str) -> list[str]:
        """Give the receipts of a handoff as they were written, the first one first."""

    def add_receipts(self, handoff_id: str, known: int, written: Sequence[str]) -> list[str]:
        """
        Add receipts if the handoff still has `known` of them, else add nothing; give all then.

        That is one step for every thread and process that uses the store.
        """

    def check(self) -> list[str]:
        """List what is damaged: an empty list means that every event can be read."""

    def close(self) -> None:
        """Let go of the place."""
