"""Do changes again on a value that is like the one that they were found on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from argentum.errors import InputError, LimitError
from argentum.tree.changes import ADDED, CHANGED, MOVED, REMOVED, Change
from argentum.tree.kinds import Record
from argentum.tree.paths import Key, Path, Step
from argentum.tree.tree import Tree, freeze


class _Edits:
    """What happens to one container: changes of its own places, and edits further down."""

    __slots__ = ("below", "own")

    def __init__(self) -> None:
        self.own: list[Change] = []
        self.below: dict[Step, _Edits] = {}


def apply(changes: Iterable[Change], tree: Tree) -> Tree:
    """
    Make the tree that the changes lead to: `apply(diff(a, b), a)` equals `b`.

    Raises:
        InputError: the changes do not fit the tree; the message names the first place.
        LimitError: the changes lie deeper than this thread may recurse.
    """
    root = _Edits()
    whole: Change | None = None
    for change in changes:
        if not change.path.parts:
            whole = change
            continue
        edits = root
        for step in change.path.parts[:-1]:
            edits = edits.below.setdefault(step, _Edits())
        edits.own.append(change)
    if whole is not None:
        return freeze(whole.after)
    if not root.own and not root.below:
        return tree
    try:
        return freeze(_edited(tree.thaw(live=False), root, ()), tree)
    except RecursionError as error:
        message = "The changes lie deeper than this thread may recurse."
        raise LimitError(message) from error


def _edited(value: Any, edits: _Edits, path: tuple[Step, ...]) -> Any:
    if isinstance(value, list | tuple | deque):
        items = _edited_items(list(value), edits, path)
        if isinstance(value, deque):
            return deque(items, value.maxlen)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Record):
        if "" not in value.fields:
            return Record(value.type_name, _edited_keys(value.fields, edits, path))
        outer, inner = _split(edits, value)
        fields = _edited_keys(value.fields, outer, path)
        if inner.own or inner.below:
            fields[""] = _edited(fields[""], inner, path)
        return Record(value.type_name, fields)
    if isinstance(value, dict):
        return _edited_keys(value, edits, path)
    raise _misfit(path)


def _split(edits: _Edits, value: Record) -> tuple[_Edits, _Edits]:
    """Part the edits of an object's attributes from those of its built-in value."""
    outer, inner = _Edits(), _Edits()

    def is_attribute(step: Step) -> bool:
        return step != "" and step in value.fields

    for change in edits.own:
        (outer if is_attribute(change.path.parts[-1]) else inner).own.append(change)
    for step, below in edits.below.items():
        (outer if is_attribute(step) else inner).below[step] = below
    return outer, inner


def _edited_items(items: list[Any], edits: _Edits, path: tuple[Step, ...]) -> list[Any]:
    try:
        gone = {change.source.parts[-1] for change in edits.own if change.kind in (REMOVED, MOVED)}
        kept = [item for place, item in enumerate(items) if place not in gone]
        for change in sorted(edits.own, key=_place):
            if change.kind in (ADDED, MOVED):
                kept.insert(_place(change), change.after)
        for change in edits.own:
            if change.kind == CHANGED:
                kept[_place(change)] = change.after
        for step, below in edits.below.items():
            kept[step] = _edited(kept[step], below, (*path, step))  # type: ignore[index]
    except (IndexError, TypeError) as error:
        raise _misfit(path) from error
    return kept


def _place(change: Change) -> int:
    step = change.path.parts[-1]
    return step if isinstance(step, int) else -1


def _edited_keys(value: dict[Any, Any], edits: _Edits, path: tuple[Step, ...]) -> dict[Any, Any]:
    made: dict[Step, Any] = {
        key if type(key) is str else Key(key): item for key, item in value.items()
    }
    for change in edits.own:
        if change.kind == REMOVED:
            made.pop(change.path.parts[-1], None)
        else:
            made[change.path.parts[-1]] = change.after
    for step, below in edits.below.items():
        if step not in made:
            raise _misfit((*path, step))
        made[step] = _edited(made[step], below, (*path, step))
    return {step.value if isinstance(step, Key) else step: item for step, item in made.items()}


def _misfit(path: tuple[Step, ...]) -> InputError:
    where = Path.of(path) or "the state itself"
    return InputError(
        f"The changes do not fit this state: there is nothing to change at {where}. "
        "Apply them to the state that they were found on."
    )
