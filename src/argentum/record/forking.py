"""Where a fork starts: the states of a recorded run's agents at one of its events."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from argentum.errors import InputError, NotFoundError, shown
from argentum.state.snapshots import Snapshot
from argentum.store import Store, open_store
from argentum.store.revisions import find_revision


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """An event of a run, and each agent's last state up to it."""

    run_id: str
    run_name: str
    seq: int
    label: str
    """The label of the snapshot, or the name of another event."""
    agent: str | None
    states: dict[str | None, Snapshot]
    store: Store

    @property
    def revision(self) -> str:
        """How to name it: `RUN@7`."""
        return f"{self.run_id}@{self.seq}"

    def described(self) -> dict[str, Any]:
        """Give what the opening event of the fork tells of it."""
        return {
            "run_id": self.run_id, "seq": self.seq, "label": self.label, "agent": self.agent,
        }  # fmt: skip


def find_fork_point(
    revision: str, store: Store | str | os.PathLike[str] | None = None
) -> ForkPoint:
    """
    Find where to fork.

    Args:
        revision: `RUN@LABEL`, `RUN@AGENT/LABEL`, `RUN@7` (an event) or `RUN@-1`.
        store: the file or open store that has the run.

    Raises:
        InputError: the revision is no text.
        NotFoundError: there is no such run or event, or no snapshot up to it.
        StoreError: the store cannot be read.
    """
    if not isinstance(revision, str):
        message = f"A revision is text, like 'RUN@LABEL' or 'RUN@7'; this is {shown(revision)}."
        raise InputError(message)
    if store is None or isinstance(store, str | os.PathLike):
        opened = open_store(store, create=False)
    else:
        opened = store
    found = find_revision(opened, revision)
    states: dict[str | None, Snapshot] = {}
    for one in opened.events(found.run.run_id, kinds=("snapshot",)):
        if one.seq > found.event.seq:
            break
        states[one.agent] = Snapshot(one.name, one.body, one.at_ns, one.seq, one.agent)
    if not states:
        message = (
            f"There is no snapshot at or before {found.name}, so there is nothing to start from. "
            f"See the labels: argentum log {found.run.run_id}"
        )
        raise NotFoundError(message)
    event = found.event
    return ForkPoint(
        found.run.run_id, found.run.name, event.seq, event.name, event.agent, states, opened
    )
