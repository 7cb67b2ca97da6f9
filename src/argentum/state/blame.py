"""Which event gave a path its value, and where that value came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argentum.events import Event
from argentum.state.origins import Step
from argentum.state.snapshots import Snapshot
from argentum.tree import Path

if TYPE_CHECKING:
    from argentum.state.history import Value

RECORDED, INITIAL, UNRECORDED = "recorded", "initial", "unrecorded"
VERDICTS = (RECORDED, INITIAL, UNRECORDED)
MOST_PARTS = 500


@dataclass(frozen=True, slots=True)
class Blame:
    """Who gave a path the value that it has, and where the value came from."""

    path: Path
    agent: str
    """Whose state it is."""
    present: bool
    """Whether there is anything at the path; if not, the rest tells how it went."""
    value: Any
    """The value, with `Record`s for objects; None if there is nothing."""
    snapshot: Snapshot
    """The first snapshot that shows the value."""
    before: Snapshot | None
    """The agent's snapshot before that."""
    verdict: str
    """`recorded`: an event explains it; `initial`: there since the agent's first snapshot, and
    nothing explains it; `unrecorded`: a change that no recorded event explains."""
    writer: Event | None
    """The event that gave the agent the value."""
    origin: Event | None
    """The event in which the value appeared first, maybe another agent's."""
    steps: tuple[Step, ...]
    """From the writer back to the origin."""
    certainty: str
    """`sure`, `likely` or `guess`."""
    why: str
    """One sentence for people."""
    earlier: tuple[Value, ...]
    """What the path held before, newest first."""


def blame(
    events: Sequence[Event], path: str, *, at: int | None = None, agent: str | None = None
) -> Blame:
    """
    Tell which event gave a path its value, and follow the value back to where it appeared first.

    Args:
        events: all events of a run, in order.
        at: the `seq` at which to look; the end by default.
        agent: whose state; by default the only agent that has the path.

    Raises:
        InputError: the text is not a path, or several agents have it.
        NotFoundError: there is no such agent, or its state never had the path.
    """
    raise NotImplementedError


def blame_parts(
    events: Sequence[Event],
    path: str = "",
    *,
    at: int | None = None,
    agent: str | None = None,
    most: int = MOST_PARTS,
) -> list[Blame]:
    """
    Blame everything below a path, like `git blame` does every line of a file.

    Args:
        events: all events of a run, in order.
        at: the `seq` at which to look; the end by default.
        agent: whose state; by default the only agent that has the path.
        most: rows at most; deeper parts are put together until there are no more.

    Raises:
        InputError: the text is not a path, or several agents have it.
        NotFoundError: there is no such agent, or its state never had the path.
    """
    raise NotImplementedError
