"""A run: one execution of a program with one or more agents, recorded as it happens."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from argentum import clock, options
from argentum.errors import ArgentumError, StoreError, hidden
from argentum.events import CLOSE, OPEN, POINT, Event, RunInfo
from argentum.record.faults import describe, faults_raise, shown_reason, warn
from argentum.record.liveness import this_process
from argentum.record.redacting import Protection, Way
from argentum.store import Store, open_store
from argentum.store.memory import MemoryStore
from argentum.tree import Tree, freeze

if TYPE_CHECKING:
    from argentum.record.forking import ForkPoint
    from argentum.record.session import AgentSession
    from argentum.security.settings import SecuritySettings
    from argentum.state import Snapshot

SLOW_NS = 1_000_000_000
"""A failure that took so long must not be waited for at each event."""
REST_NS = 5_000_000_000
"""How long events are dropped at once after such a failure, before the store is tried again."""
TITLE_CHARACTERS = 60
"""So long is the title of a note."""
_RESTING = "The store failed slowly a moment ago; events are dropped until it is tried again."

_around: ContextVar[tuple[Run, int] | None] = ContextVar("argentum_span", default=None)
"""The run and `seq` of the span that is open here; follows threads of work, async included."""


class Run:
    """
    Records what the agents of one program do.

    Every event is on disk when the call that made it returns. A fault of the recorder (a full
    disk, a state that cannot be read) never reaches the program: what could not be recorded is
    counted, logged once and shown with the run. Under pytest it raises instead.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        store: Store | str | os.PathLike[str] | None = None,
        run_id: str | None = None,
        start: ForkPoint | None = None,
    ) -> None:
        """
        Start a run.

        Args:
            name: what to call it; by default the program's name.
            store: a file or an open store to keep it in. By default that of `argentum run`
                around this program, else `ARGENTUM_STORE` if it is set, else memory.
            run_id: by default the time and four random digits.
            start: where in another run its agents start (see `Run.fork`).
        """
        started = clock.now_ns()
        moment = clock.as_datetime(started)
        self.name = name or os.path.basename((sys.argv or [""])[0] or "python")  # noqa: PTH119 - pathlib is slow to load
        self.run_id = run_id or f"{moment:%Y%m%d-%H%M%S}-{clock.random_hex(4)}"
        self.dropped = 0
        """How many events could not be recorded."""
        self.first_dropped = ""
        """Why the first of them could not."""
        self.status = "running"
        self._status_at_exit = "done"
        self._rests_until_ns = 0
        self._ended_at_ns: int | None = None
        self._dirty = False
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._last_calls: dict[str | None, Tree] = {}
        self.start = start
        """Where in another run this one starts, if it is a fork."""
        self._not_started = {} if start is None else dict(start.states)
        self.store: Store = MemoryStore()
        info = RunInfo(
            run_id=self.run_id, name=self.name, started_at_ns=started, process=this_process()
        )
        try:
            self.store = _opened(store)
            self._protection = Protection(self.store)
            kept_name = self._protection.way(None).text(self.name)
            self.store.start_run(replace(info, name=kept_name))
        except Exception as error:  # noqa: BLE001 - the host goes on without a recorder
            self.drop(error)
            self.store = MemoryStore()
            self._protection = Protection(self.store)
            self.store.start_run(info)
        body = _surroundings(self._protection)
        if start is not None:
            body["forked_from"] = start.described()
        self.record("run", self.name, body, phase=OPEN)
        if self.is_kept:
            atexit.register(self.finish)

    @classmethod
    def fork(
        cls,
        source: str | Run,
        at: str | int = "",
        *,
        store: Store | str | os.PathLike[str] | None = None,
        into: Store | str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> Self:
        """
        Start a new run from a point of a recorded one, say the step before a fault.

        Each agent's first session starts with the state that the agent had there:
        `session.restore()` gives it back. The new run's opening event tells where it comes from.
        States share what they have in common with the source, so a fork costs next to nothing.

        Args:
            source: a revision, `RUN@LABEL` or `RUN@7`; or a run, then `at` is the label or `seq`.
            at: where in the run; its last snapshot by default.
            store: the file or open store that has the source.
            into: where to keep the new run; beside the source by default.
            name: by default the source's name.

        Raises:
            InputError: the revision is no text.
            NotFoundError: there is no such run or event, or no snapshot up to it.
            StoreError: the store cannot be read.
        """
        from argentum.record.forking import find_fork_point  # noqa: PLC0415 - forks are rare

        revision = source.run_id if isinstance(source, Run) else source
        place = source.store if isinstance(source, Run) else store
        start = find_fork_point(f"{revision}@{at}" if at != "" else revision, place)
        return cls(name or start.run_name, store=start.store if into is None else into, start=start)

    def take_start(self, agent: str) -> Snapshot | None:
        """Give the state that an agent starts with, to its first session alone."""
        return self._not_started.pop(agent, None)

    def __repr__(self) -> str:
        """Show the id and where it is kept."""
        return hidden(f"<Run {self.run_id} {self.name!r} in {self.store.location}>")

    def __enter__(self) -> Self:
        """Record until the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        """Finish the run, as failed if the block raised; the error goes on."""
        if error is not None and not isinstance(error, SystemExit):
            self.error(error)
        self.finish("done" if kind is None else "failed")

    @property
    def is_kept(self) -> bool:
        """Whether the run outlives this process."""
        return not isinstance(self.store, MemoryStore)

    def session(
        self,
        agent_id: str,
        *,
        half_life_steps: int = 20,
        secure: bool | SecuritySettings = False,
    ) -> AgentSession:
        """
        Give an agent its handle in this run.

        Args:
            half_life_steps: for the memory part.
            secure: see `create_agent_session`.

        Raises:
            InputError: `secure` is something else.
        """
        from argentum.record.session import AgentSession  # noqa: PLC0415 - sessions know runs

        return AgentSession(agent_id, run=self, half_life_steps=half_life_steps, secure=secure)

    def secure(self, agent_id: str, settings: SecuritySettings) -> None:
        """Limit and redact what is recorded of one agent by settings of its own."""
        self._protection.secure(str(agent_id), settings)

    def kept_text(self, text: str, *, agent: str | None = None) -> str:
        """Give a label or an agent's name as it is in the store, where secrets are taken out."""
        return self._protection.way(None if agent is None else str(agent)).text(str(text))

    # ------------------------------------------------------------ recording

    def record(
        self,
        kind: str,
        name: str,
        body: object,
        *,
        agent: str | None = None,
        phase: str = POINT,
        span: int | None = None,
    ) -> int | None:
        """Add an event of any kind; give its `seq`, or None if it had to be dropped."""
        began_ns = 0
        try:
            if self._rests_until_ns:
                self._rest()
            tree = body if isinstance(body, Tree) else self._frozen(kind, agent, phase, body)
            agent = None if agent is None else str(agent)
            way = self._protection.way(agent)
            tree = way.tree(tree, kind)
            around = _around.get()
            parent = around[1] if around is not None and around[0] is self else None
            began_ns = clock.now_ns()
            seq = self.store.append(
                self.run_id, kind=kind, name=_title(kind, str(name), way), at_ns=began_ns,
                body=tree, agent=None if agent is None else way.text(agent), phase=phase, span=span,
                parent=parent,
            )  # fmt: skip
            if self._dirty:
                self._save()
        except Exception as error:  # noqa: BLE001 - a guest never breaks its host
            if began_ns and clock.now_ns() - began_ns > SLOW_NS:
                self._rests_until_ns = clock.elapsed_ns() + REST_NS
            self.drop(error)
            return None
        return seq

    def _rest(self) -> None:
        """Drop an event at once while the store rests from a failure that took long."""
        if clock.elapsed_ns() < self._rests_until_ns:
            raise StoreError(_RESTING)
        self._rests_until_ns = 0

    def _frozen(self, kind: str, agent: str | None, phase: str, body: object) -> Tree:
        """Freeze a body; those of model calls share the messages that were there before."""
        if kind != "model_call" or phase == CLOSE:
            return freeze(body)
        tree = freeze(body, self._last_calls.get(agent))
        self._last_calls[agent] = tree
        return tree

    def note(self, text: str, *, agent: str | None = None, **data: object) -> int | None:
        """Record a remark."""
        return self.record("note", text, {**data, "text": text}, agent=agent)

    def error(self, error: BaseException, *, agent: str | None = None) -> int | None:
        """Record an exception."""
        return self.record("error", type(error).__name__, describe(error), agent=agent)

    def drop(self, error: BaseException) -> None:
        """Count something that could not be recorded; raise it if faults should be seen."""
        with self._lock:
            self.dropped += 1
            self._dirty = True
            first = not self.first_dropped
            if first:
                self.first_dropped = shown_reason(error)
        if first:
            warn("Could not record in run %s: %s", self.run_id, self.first_dropped)
        if faults_raise():
            raise error

    def finish_at_exit(self, status: str) -> None:
        """Record that the run is over when the process ends, after its threads and handlers."""
        self._status_at_exit = status
        if not self.is_kept:
            self.finish(status)

    def finish(self, status: str | None = None) -> None:
        """
        Record that the run is over; a second time it does nothing.

        Args:
            status: `done` by default.
        """
        if self.status != "running" or os.getpid() != self._process:
            return
        status = status or self._status_at_exit
        self.record("run", self.name, {"status": status}, phase=CLOSE, span=1)
        self.status, self._ended_at_ns = status, clock.now_ns()
        self._save()
        atexit.unregister(self.finish)

    def _save(self) -> None:
        try:
            self.store.finish_run(
                self.run_id, status=self.status, ended_at_ns=self._ended_at_ns,
                dropped=self.dropped,
                first_dropped=self.first_dropped,
            )  # fmt: skip
            self._dirty = False
        except Exception as error:  # noqa: BLE001 - as above; the numbers are tried again
            warn("Could not update run %s: %s", self.run_id, shown_reason(error))

    def events(self) -> Iterator[Event]:
        """Give what was recorded so far, in order."""
        return self.store.events(self.run_id)


_current: list[Run] = []
_starting = threading.RLock()


def current_run() -> Run | None:
    """Give the run that `argentum run` started, or that `ARGENTUM_STORE` made sessions share."""
    return _current[-1] if _current else None


def set_current_run(run: Run | None) -> None:
    """Make a run the one that new sessions join; None to end that."""
    _current.clear()
    if run is not None:
        _current.append(run)


def default_run() -> Run | None:
    """Give the process's run if sessions should share one; None if they are on their own."""
    with _starting:
        is_over = bool(_current) and _current[-1].status != "running"
        wanted = options.text("ARGENTUM_STORE") or options.text("ARGENTUM_FORK")
        if wanted and (is_over or not _current):
            _current[:] = [_run_or_fork()]
        return current_run()


def _run_or_fork() -> Run:
    """Start the process's run, from where `ARGENTUM_FORK` says."""
    revision = options.text("ARGENTUM_FORK")
    if revision:
        try:
            return Run.fork(revision)
        except ArgentumError as error:  # the program runs all the same
            warn("ARGENTUM_FORK=%s: %s", revision, error)
    return Run()


def _opened(store: Store | str | os.PathLike[str] | None) -> Store:
    if store is None:
        around = current_run()
        if around is not None:
            return around.store
        return open_store() if options.text("ARGENTUM_STORE") else MemoryStore()
    return open_store(store) if isinstance(store, str | os.PathLike) else store


def _surroundings(protection: Protection) -> dict[str, Any]:
    return {
        "arguments": protection.way(None).arguments(sys.argv),
        "python": sys.version.partition(" ")[0],
        "folder": _folder(),
    }


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - pathlib is slow to load
    except OSError:  # it was removed under the program
        return ""


def _title(kind: str, name: str, way: Way) -> str:
    """Give an event's name; a note's is its first words."""
    if kind != "note":
        return way.text(name)
    line = " ".join(name.split())
    if len(line) <= TITLE_CHARACTERS:
        return way.text(line)
    return way.safe_to_cut(line)[: TITLE_CHARACTERS - 1] + "…"
