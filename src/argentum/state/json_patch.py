"""
Changes as a JSON Patch (RFC 6902), and JSON Patches applied.

The `jsonpatch` package was not used to apply them: it takes `True` for `1` and `1` for `1.0` and
copies the whole document for every patch; here only the containers on the way are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from argentum.errors import FormatError, shown
from argentum.state.jsonable import TYPE, to_jsonable
from argentum.tree import Change, Tree
from argentum.tree import diff as tree_diff
from argentum.tree.encoding import pack

Operation = dict[str, Any]


def pointer(steps: Iterable[object]) -> str:
    """Write steps as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


# ---------------------------------------------------------------- making


def json_patch(before: Tree, after: Tree) -> list[Operation]:
    """
    Give the operations that lead from one state to the other, both written by `to_jsonable`.

    A change inside something that JSON lacks (a tuple, an object) replaces that thing whole.
    """
    changes = tree_diff(before, after)
    if not changes:
        return []
    return _Patch(before.thaw(live=False), after.thaw(live=False), changes).operations


class _Patch:
    def __init__(self, before: Any, after: Any, changes: list[Change]) -> None:
        self.before = before
        self.after = after
        self.operations: list[Operation] = []
        self.replaced: set[tuple[Any, ...]] = set()
        self.leaving: dict[tuple[Any, ...], set[int]] = {}
        """The places that items leave, by their list, until the removals are written."""
        for change in changes:
            if change.kind in ("removed", "moved") and isinstance(change.path.parts[-1], int):
                places = self.leaving.setdefault(change.path.parts[:-1], set())
                places.add(change.source.parts[-1])  # type: ignore[arg-type]
        for change in changes:
            self._add(change)

    def _add(self, change: Change) -> None:
        steps = change.path.parts
        for depth in range(len(steps)):
            if steps[:depth] in self.replaced:
                return
            if not self._is_json(steps[:depth], change.source.parts[:depth]):
                self._replace(steps[:depth])
                return
            self._write_removals(steps[:depth])
        if change.kind == "removed" and type(steps[-1]) is int:
            return  # written by `_write_removals`
        if change.kind == "removed":
            self.operations.append({"op": "remove", "path": pointer(steps)})
            return
        operation = "replace" if change.kind == "changed" else "add"
        value = to_jsonable(change.after)
        self.operations.append({"op": operation, "path": pointer(steps), "value": value})

    def _write_removals(self, steps: tuple[Any, ...]) -> None:
        for place in sorted(self.leaving.pop(steps, ()), reverse=True):
            self.operations.append({"op": "remove", "path": pointer((*steps, place))})

    def _is_json(self, steps: tuple[Any, ...], source: tuple[Any, ...]) -> bool:
        return _plain(_at(self.after, steps)) and _plain(_at(self.before, source))

    def _replace(self, steps: tuple[Any, ...]) -> None:
        self.replaced.add(steps)
        value = to_jsonable(_at(self.after, steps))
        self.operations.append({"op": "replace", "path": pointer(steps), "value": value})


def _at(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


def _plain(value: Any) -> bool:
    if type(value) is dict:
        return set(map(type, value)) <= {str} and TYPE not in value
    return type(value) is list


# ---------------------------------------------------------------- applying


def apply_json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """
    Give the document after the operations; the given one is not changed and shares parts with it.

    Raises:
        FormatError: an operation cannot be done; the message names it by its number, from 0.
    """
    for number, operation in enumerate(operations):
        try:
            document = _done(document, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            message = f"JSON Patch operation {number}, {shown(operation)}, cannot be done: {error}."
            raise FormatError(message) from error
    return document


def _done(document: Any, operation: Mapping[str, Any]) -> Any:
    name, path = operation["op"], _tokens(operation["path"])
    if name in ("add", "replace"):
        return _put(document, path, operation["value"], replace=name == "replace")
    if name == "remove":
        return _removed(document, path)
    if name in ("move", "copy"):
        source = _tokens(operation["from"])
        value = _resolve(document, source)
        if name == "move" and path[: len(source)] == source and path != source:
            message = "a value cannot be moved into itself"
            raise ValueError(message)
        return _put(_removed(document, source) if name == "move" else document, path, value)
    if name == "test":
        found = _resolve(document, path)
        if pack(found) != pack(operation["value"]):
            message = f"the value is {shown(found)}"
            raise ValueError(message)
        return document
    message = f"unknown operation {shown(name)}; known: add, copy, move, remove, replace, test"
    raise ValueError(message)


def _tokens(text: str) -> list[str]:
    if text and not text.startswith("/"):
        message = f"{shown(text)} is not a JSON Pointer, which starts with /"
        raise ValueError(message)
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _place(container: list[Any], name: str, *, end: bool = False) -> int:
    if end and name == "-":
        return len(container)
    if not name.isascii() or not name.isdigit() or (name[0] == "0" and name != "0"):
        message = f"{shown(name)} is no place in a list"
        raise ValueError(message)
    place = int(name)
    if place > len(container) - (0 if end else 1):
        message = f"place {place} in a list of {len(container)}"
        raise IndexError(message)
    return place


def _resolve(document: Any, steps: list[str]) -> Any:
    for name in steps:
        document = document[_place(document, name) if isinstance(document, list) else name]
    return document


def _put(document: Any, steps: list[str], value: Any, *, replace: bool = False) -> Any:
    if not steps:
        return value
    name, rest = steps[0], steps[1:]
    if isinstance(document, list):
        place = _place(document, name, end=not rest and not replace)
        if rest:
            value = _put(document[place], rest, value, replace=replace)
        return [*document[:place], value, *document[place + (1 if rest or replace else 0) :]]
    if (rest or replace) and name not in document:
        raise KeyError(name)
    return {
        **document,
        name: _put(document[name], rest, value, replace=replace) if rest else value,
    }


def _removed(document: Any, steps: list[str]) -> Any:
    if not steps:
        message = "the whole document cannot be removed"
        raise ValueError(message)
    name, rest = steps[0], steps[1:]
    if isinstance(document, list):
        place = _place(document, name)
        middle = [_removed(document[place], rest)] if rest else []
        return [*document[:place], *middle, *document[place + 1 :]]
    if name not in document:
        raise KeyError(name)
    if rest:
        return {**document, name: _removed(document[name], rest)}
    return {key: item for key, item in document.items() if key != name}
