"""
Changes as one flat dict, the way people read them: `{path: {"from": x, "to": y}}`.

For a list, one row tells all that happened to its items: `added`, `removed` and `moved` list them;
`from` and `to` give both lists whole when nothing stayed. Items that changed inside have rows of
their own. Sets have `added` and `removed`. Dicts and objects are flattened.
"""

from __future__ import annotations

from typing import Any

from argentum.tree import Change, Path, Tree, freeze
from argentum.tree import diff as tree_diff

Row = dict[str, Any]


def flat_changes(before: Tree, after: Tree) -> dict[str, Row]:
    """Give every change under its path; an empty dict if there is none."""
    rows: dict[str, Row] = {}
    lists: dict[Path, list[Change]] = {}
    for change in tree_diff(before, after):
        if change.kind != "changed" and isinstance(change.path.parts[-1], int):
            path = Path.of(change.path.parts[:-1])
            rows.setdefault(path, {})  # keeps its place in the order
            lists.setdefault(path, []).append(change)
        else:
            rows[change.path] = _row(change)
    for path, changes in lists.items():
        rows[path] = _list_row(path, changes, before, after)
    return rows


def _row(change: Change) -> Row:
    if change.kind == "added":
        return {"added": change.after}
    if change.kind == "removed":
        return {"removed": change.before}
    if type(change.before) is type(change.after) and isinstance(change.before, set | frozenset):
        return _set_row(change.before, change.after)
    return {"from": change.before, "to": change.after}


def _set_row(before: Any, after: Any) -> Row:
    old, new = _members(before), _members(after)
    row = {
        "added": [new[key] for key in sorted(new.keys() - old.keys())],
        "removed": [old[key] for key in sorted(old.keys() - new.keys())],
    }
    return {name: members for name, members in row.items() if members}


def _members(value: Any) -> dict[bytes, Any]:
    """Key the members by their exact bytes: `1` and `True` are different members."""
    return {freeze(member).reference(): member for member in value}


def _list_row(path: Path, changes: list[Change], before: Tree, after: Tree) -> Row:
    row: Row = {}
    for kind in ("added", "removed", "moved"):
        values = [c.before if kind == "removed" else c.after for c in changes if c.kind == kind]
        if values:
            row[kind] = values
    if set(row) == {"added", "removed"} and _from_the_start(changes):
        source = Path.of(changes[0].source.parts[:-1])
        if before.count(source) == len(row["removed"]) and after.count(path) == len(row["added"]):
            return {"from": before.get(source), "to": after.get(path)}
    return row


def _from_the_start(changes: list[Change]) -> bool:
    """Tell whether the first item left and the first item is new: without, something stayed."""
    return {change.kind for change in changes if change.path.parts[-1] == 0} == {"added", "removed"}
