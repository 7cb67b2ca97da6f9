"""`argentum show` and `argentum diff`: a state, and what changed between two."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.pretty import Pretty
from rich.text import Text

from argentum.cli.arguments import JsonOption, RevisionArgument, StoreOption, opened
from argentum.cli.log import changes_as_dicts
from argentum.cli.terminal import change_line, plain, print_json, show_json
from argentum.cli.terminal import show as show_parts
from argentum.errors import NotFoundError
from argentum.state import json_patch
from argentum.store.revisions import Revision, find_revision
from argentum.tree import Tree, freeze
from argentum.tree import diff as tree_diff

DEEPEST = 100
"""Levels that `show` prints before it writes `...`: rich recurses."""

PathArgument = Annotated[
    str, typer.Argument(metavar="[PATH]", help="Where in the state, like messages[3].content.")
]


def show(
    revision: RevisionArgument = "@",
    path: PathArgument = "",
    *,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the state at a point of a run, or an event that is no snapshot."""
    found = find_revision(opened(store), revision)
    value = found.event.body.get(path, live=False)
    if json:
        show_json(value)
        return
    event = found.event
    title = f"{plain(found.name)}  {event.kind} {plain(event.name)}"
    if event.agent:
        title += f"  of {plain(event.agent)}"
    body = Pretty(value, expand_all=False, max_string=None, max_depth=DEEPEST)
    show_parts(Text(title, style="bold"), Text(plain(path), style="bold") if path else Text(), body)


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
    old = _part(_state(find_revision(place, before)), path)
    new = _part(_state(find_revision(place, after)), path)
    changes = tree_diff(old, new)
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


def _part(tree: Tree, path: str) -> Tree:
    return freeze(tree.get(path, live=False)) if path else tree
