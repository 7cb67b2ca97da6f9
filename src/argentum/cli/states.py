"""`argentum show` and `argentum diff`: a state, and what changed between two."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.pretty import Pretty
from rich.text import Text

from argentum.cli.arguments import (
    JsonOption,
    RevisionArgument,
    StoreOption,
    opened,
    revision_named,
)
from argentum.cli.telling import changes_as_dicts, outline_lines
from argentum.cli.terminal import change_line, console, plain, print_json, show_json
from argentum.cli.terminal import show as show_parts
from argentum.errors import NotFoundError
from argentum.state import json_patch
from argentum.store.revisions import Revision, span_of
from argentum.tree import Change, Path, Record, Tree, freeze
from argentum.tree import diff as tree_diff

DEEPEST = 100
"""Levels that `show` prints before it writes `...`: rich recurses."""

LARGE_BYTES = 50_000
"""Encoded size from which a terminal gets an outline: printing it prettily takes minutes."""
LARGE = "It is large: name a path, or give --all or --json."

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="Where in the state, like messages[3].content.")
]


def show(
    revision: RevisionArgument = "@",
    path: PathArgument = "",
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Print a large state whole on a terminal, too.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """
    Show the state at a point of a run, or an event that is no snapshot.

    A call is shown whole, whichever of its two events is named: arguments, output, error, usage.
    """
    place = opened(store)
    found = revision_named(place, revision)
    event, closing = span_of(place, found.event)
    body = event.body if closing is None else _whole_call(event.body, closing.body)
    value = body.get(path, live=False)
    if json:
        show_json(value)
        return
    name = f"{found.run.run_id}@{event.seq}" + (f"-{closing.seq}" if closing else "")
    title = f"{plain(name)}  {event.kind} {plain(event.name)}"
    if event.agent:
        title += f"  of {plain(event.agent)}"
    has_parts = isinstance(value, dict | list | tuple | set | frozenset | Record)
    outlined = has_parts and not everything and console().is_terminal
    large = outlined and freeze(value).size_bytes > LARGE_BYTES
    shown = (
        Text("\n".join([*outline_lines(value), LARGE]))
        if large
        else Pretty(value, expand_all=False, max_string=None, max_depth=DEEPEST)
    )
    heading = Text(plain(path), style="bold") if path else Text()
    show_parts(Text(title, style="bold"), heading, shown)


def _whole_call(opening: Tree, closing: Tree) -> Tree:
    """Put the two events of a call together."""
    before, after = opening.thaw(live=False), closing.thaw(live=False)
    if isinstance(before, dict) and isinstance(after, dict):
        return freeze({**before, **after})
    return freeze({"opening": before, "closing": after})


def diff(
    before: RevisionArgument,
    after: RevisionArgument,
    *,
    path: Annotated[str, typer.Option("--path", help="Only below this path.")] = "",
    patch: Annotated[bool, typer.Option("--patch", help="Print a JSON Patch (RFC 6902).")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything changed.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what changed between two states."""
    place = opened(store)
    old = _part(_state(revision_named(place, before)), path)
    new = _part(_state(revision_named(place, after)), path)
    above = Path(path).parts
    changes = [_below(above, change) for change in tree_diff(old, new)]
    if patch:
        print_json(json_patch(old, new))
    elif json:
        show_json(changes_as_dicts(changes))
    else:
        show_parts(*[change_line(change, 100) for change in changes] or [Text("Nothing changed.")])
    if exit_code and changes:
        raise typer.Exit(1)


def _state(revision: Revision) -> Tree:
    if revision.state is None:
        message = (
            f"There is no snapshot at or before {revision.name}. "
            f"See the labels: argentum log {revision.run.run_id}"
        )
        raise NotFoundError(message)
    return revision.state


def _below(above: tuple[Any, ...], change: Change) -> Change:
    """Give a change its path in the whole state."""
    path, source = (Path.of((*above, *one.parts)) for one in (change.path, change.source))
    return change._replace(path=path, source=source)


def _part(tree: Tree, path: str) -> Tree:
    return freeze(tree.get(path, live=False)) if path else tree
