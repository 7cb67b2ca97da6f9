"""Runs in memory, for sessions that were given no store; gone with the object."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from argentum.errors import InputError, not_found
from argentum.events import Event, RunInfo
from argentum.store.vocabulary import check_words
from argentum.tree import Tree


class MemoryStore:
    """See `Store`. Trees are kept as they are, so states share their parts here too."""

    location = "memory"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._runs: dict[str, RunInfo] = {}
        self._events: dict[str, list[Event]] = {}
        self._receipts: dict[str, tuple[str, ...]] = {}

    def start_run(self, info: RunInfo) -> None:
        """Add a run."""
        with self._lock:
            if info.run_id in self._runs:
                message = f"There is a run {info.run_id!r} in memory already; choose another id."
                raise InputError(message)
            self._runs[info.run_id] = info
            self._events[info.run_id] = []

    def finish_run(
        self, run_id: str, *, status: str, ended_at_ns: int | None, dropped: int, first_dropped: str
    ) -> None:
        """Set what is known only later about a run."""
        self._runs[run_id] = replace(
            self._known(run_id), status=status, ended_at_ns=ended_at_ns, dropped=dropped,
            first_dropped=first_dropped,
        )  # fmt: skip

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
        """Add an event; give its `seq`."""
        check_words(kind, phase)
        self._known(run_id)
        with self._lock:
            events = self._events[run_id]
            event = Event(
                run_id=run_id, seq=len(events) + 1, kind=kind, name=name, at_ns=at_ns, body=body,
                agent=agent, phase=phase, span=span, parent=parent,
            )  # fmt: skip
            events.append(event)
        return event.seq

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Keep other threads out; there is nothing to commit."""
        with self._lock:
            yield

    def runs(self, *, limit: int | None = None) -> list[RunInfo]:
        """List runs, newest first."""
        newest = sorted(self._runs, key=lambda one: self._runs[one].started_at_ns)[::-1]
        return [self.run(run_id) for run_id in newest[:limit]]

    def run(self, run_id: str) -> RunInfo:
        """Give one run."""
        return replace(self._known(run_id), events=len(self._events[run_id]))

    def _known(self, run_id: str) -> RunInfo:
        if run_id not in self._runs:
            raise not_found("run", run_id, self._runs)
        return self._runs[run_id]

    def events(
        self,
        run_id: str,
        *,
        after: int = 0,
        kinds: Sequence[str] | None = None,
        agent: str | None = None,
    ) -> Iterator[Event]:
        """Give a run's events in order."""
        self._known(run_id)
        for event in self._events[run_id][after:]:
            if (kinds is None or event.kind in kinds) and agent in (None, event.agent):
                yield event

    def event(self, run_id: str, seq: int) -> Event:
        """Give one event."""
        self._known(run_id)
        events = self._events[run_id]
        if not 1 <= seq <= len(events):
            raise not_found(f"event in run {run_id!r}, which has {len(events)},", seq, ())
        return events[seq - 1]

    def find(self, run_id: str, *, kind: str, name: str) -> Event | None:
        """Give the last event of that kind and name."""
        self._known(run_id)
        fitting = (e for e in reversed(self._events[run_id]) if e.kind == kind and e.name == name)
        return next(fitting, None)

    def chunks(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Give nothing: trees are kept whole."""
        del digests
        return {}

    def receipts(self, handoff_id: str) -> list[str]:
        """Give the receipts of a handoff as they were written, the first one first."""
        return list(self._receipts.get(handoff_id, ()))

    def add_receipts(self, handoff_id: str, known: int, written: Sequence[str]) -> list[str]:
        """Add receipts if the handoff still has `known` of them; give all that it has then."""
        with self._lock:
            kept = self._receipts.get(handoff_id, ())
            if len(kept) == known:
                kept = self._receipts[handoff_id] = (*kept, *written)
        return list(kept)

    def check(self) -> list[str]:
        """List what is damaged: nothing can be."""
        return []

    def close(self) -> None:
        """Do nothing."""
