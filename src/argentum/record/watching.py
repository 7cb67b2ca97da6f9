"""A watch on a live session."""

from __future__ import annotations

import threading
from typing import Any

from argentum.errors import LimitError
from argentum.record.faults import shown_reason, warn
from argentum.record.run import Run
from argentum.state.live import Holds
from argentum.state.snapshots import Snapshot
from argentum.state.watch import Break, Watch, Watcher
from argentum.tree.taking import FOREIGN_FAULTS

MAX_NESTED = 3
"""Snapshots that a watch takes while it is checked are checked too, down to so many levels."""


class Watching:
    """
    Checks a watch on each snapshot that a session takes.

    A fault in it never reaches the program, unless the watch was asked to raise: it is counted, and
    logged the first time.
    """

    def __init__(self, watch: Watch, run: Run, agent: str) -> None:
        self.watch = watch
        self.breaks: list[Break] = []
        """Where it broke, of late."""
        self.break_count = 0
        self.faults = 0
        """How often it could not be checked, or its function failed."""
        self.first_fault = ""
        """Why, the first time."""
        self.is_on = True
        self._run = run
        self._agent = agent
        self._watcher = Watcher(watch)
        live = self._watcher.live()
        self.holds: Holds = _is_unsure if live is None else live.holds
        """Tells of most snapshots that need no check, and quickly, that they do not."""
        self._lock = threading.Lock()
        self._depths: dict[int, int] = {}
        """How many snapshots within each other it checks right now, by thread."""

    def __repr__(self) -> str:
        """Show the watch and how often it broke."""
        return f"<Watching {self.watch.name!r}: {self.break_count} breaks, {self.faults} faults>"

    def stop(self) -> None:
        """Watch no longer."""
        self.is_on = False

    def see(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        """
        Check a snapshot that was recorded.

        Raises:
            LimitError: it breaks the watch, which was asked to raise.
        """
        thread = threading.get_ident()
        depth = self._depths.get(thread, 0)
        if depth == MAX_NESTED:
            return  # it takes snapshots at each snapshot
        self._depths[thread] = depth + 1
        try:
            self._check(snapshot, before)
        finally:
            self._depths[thread] = depth
            if not depth:
                del self._depths[thread]

    def _check(self, snapshot: Snapshot, before: Snapshot | None) -> None:
        # Nothing waits for the lock: the other thread, or the signal handler that came in the
        # middle, checks with what knows nothing yet.
        mine = self._lock.acquire(blocking=False)
        watcher = self._watcher if mine else Watcher(self.watch)
        try:
            found = watcher.see(snapshot, before)
            outcome = watcher.outcome
        finally:
            if mine:
                self._lock.release()
        if outcome.held:
            return
        if found is not None:
            self._tell(found)
        elif outcome.held is None and not outcome.is_first:
            self._fault("" if self.first_fault else outcome.why)
            if self.watch.on_break == "raise":
                message = f"The watch {self.watch.name!r} could not be checked: {outcome.why}"
                raise LimitError(message)

    def _tell(self, found: Break) -> None:
        self.break_count += 1
        self.breaks = [*self.breaks[-99:], found]
        self._run.record("alert", self.watch.name, _alert(found), agent=self._agent)
        on_break = self.watch.on_break
        if on_break == "raise":
            raise LimitError(_said(found, self._run))
        if on_break == "log":
            warn("%s", _said(found, self._run))
        elif callable(on_break):
            try:
                on_break(found)
            except FOREIGN_FAULTS as error:  # a guest never breaks its host
                self._fault(f"`on_break` raised {shown_reason(error)}")

    def _fault(self, reason: str) -> None:
        self.faults += 1
        if not self.first_fault:
            self.first_fault = reason
            warn("The watch %r could not be checked: %s", self.watch.name, reason)


def _is_unsure(live: object, snapshot: Snapshot, before: Snapshot | None) -> bool:  # noqa: ARG001 - a `Holds`
    return False


def _said(found: Break, run: Run) -> str:
    """Say what broke where; values may be secret, and are in the alert."""
    place = f"{run.run_id}@{found.snapshot.seq}"
    why = f": {found.why}" if found.why else ""
    return f"The watch {found.watch.name!r} broke at {found.snapshot.label!r} ({place}){why}"


def _alert(found: Break) -> dict[str, Any]:
    before = found.before
    return {
        "alert": "watch", "watch": found.watch.name, "path": str(found.watch.path),
        "snapshot": found.snapshot.seq, "label": found.snapshot.label,
        "before": None if before is None else before.seq,
        "why": found.why, "values": found.values,
    }  # fmt: skip
