"""What an agent's state was, when, and what changed."""

from argentum.state.bisect import (
    SKIP,
    Bisection,
    Flip,
    bisect,
    bisect_snapshots,
    bisect_verdicts,
)
from argentum.state.flat import flat_changes
from argentum.state.history import Value, history
from argentum.state.json_patch import apply_json_patch, json_patch
from argentum.state.jsonable import from_jsonable, to_jsonable
from argentum.state.snapshots import Diff, Snapshot, StateDiff, diff, snapshots_of

__all__ = [
    "SKIP",
    "Bisection",
    "Diff",
    "Flip",
    "Snapshot",
    "StateDiff",
    "Value",
    "apply_json_patch",
    "bisect",
    "bisect_snapshots",
    "bisect_verdicts",
    "diff",
    "flat_changes",
    "from_jsonable",
    "history",
    "json_patch",
    "snapshots_of",
    "to_jsonable",
]
