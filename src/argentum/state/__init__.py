"""What an agent's state was, when, and what changed."""

from argentum.state.flat import flat_changes
from argentum.state.json_patch import apply_json_patch, json_patch
from argentum.state.jsonable import from_jsonable, to_jsonable
from argentum.state.snapshots import Diff, Snapshot, StateDiff, diff, snapshots_of

__all__ = [
    "Diff",
    "Snapshot",
    "StateDiff",
    "apply_json_patch",
    "diff",
    "flat_changes",
    "from_jsonable",
    "json_patch",
    "snapshots_of",
    "to_jsonable",
]
