"""Random histories of a state, paths into them, and what they look like read from a store."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st
from tests.tree.values import messages, values

from argentum.state import Snapshot
from argentum.tree import Key, Loader, Path, Record, Tree, freeze, load

BOGUS = ["no such", "", -9, 9, Key(2), Key(None)]
"""Steps that seldom lead anywhere."""


@st.composite
def states(draw: st.DrawFn, *, most: int = 8) -> list[Any]:
    """Draw the states of one agent, of which each is mostly like the one before."""
    state: Any = {
        "messages": draw(st.lists(messages, max_size=6)),
        "facts": draw(st.dictionaries(st.sampled_from("abcde"), values, max_size=4)),
        "step": 0,
    }
    taken = [state]
    for _ in range(draw(st.integers(0, most - 1))):
        state = copy.deepcopy(state) if type(state) is dict else state
        edit = draw(st.sampled_from(["add", "insert", "drop", "fact", "forget", "step", "other"]))
        if edit == "other":
            state = draw(values)
        elif type(state) is dict and "messages" in state:
            _edit(draw, state, edit)
        taken.append(state)
    return taken


def _edit(draw: st.DrawFn, state: dict[str, Any], edit: str) -> None:
    if edit in ("add", "insert"):
        at = len(state["messages"]) if edit == "add" else 0
        state["messages"].insert(at, draw(messages))
    elif edit == "drop" and state["messages"]:
        del state["messages"][0]
    elif edit == "fact":
        state["facts"][draw(st.sampled_from("abcde"))] = draw(values)
    elif edit == "forget" and state["facts"]:
        state["facts"].popitem()
    else:
        state["step"] += 1


def paths_into(taken: Sequence[Any]) -> st.SearchStrategy[Path]:
    """Draw paths of which most lead somewhere in one of the states."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Path:
        value = freeze(draw(st.sampled_from(taken))).thaw(live=False)
        steps: list[Any] = []
        for _ in range(draw(st.integers(0, 4))):
            known = _steps_of(value)
            step = draw(st.sampled_from(known)) if known else draw(st.sampled_from(BOGUS))
            steps.append(step)
            try:
                value = freeze(value).get(Path.of([step]), live=False)
            except KeyError:
                break
            if isinstance(step, int) and draw(st.booleans()):
                steps[-1] = step - len(known)
        if draw(st.integers(0, 9)) == 0:
            steps.append(draw(st.sampled_from(BOGUS)))
        return Path.of(steps)

    return drawn()


def _steps_of(value: Any) -> list[Any]:
    if isinstance(value, Record):
        return [name for name in value.fields if name] + _steps_of(value.fields.get(""))
    if isinstance(value, dict):
        return [key if type(key) is str else Key(key) for key in value]
    return list(range(len(value))) if isinstance(value, list | tuple) else []


def frozen(taken: Iterable[Any]) -> list[Snapshot]:
    """Freeze states, each after the one before."""
    made: list[Snapshot] = []
    for number, state in enumerate(taken, 1):
        tree = freeze(state, made[-1].tree if made else None)
        made.append(Snapshot(f"s{number}", tree, number, number, "a"))
    return made


def reloaded(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Give the snapshots as a store would: read by one loader, part by part."""
    kept: dict[bytes, bytes] = {}
    for snapshot in snapshots:
        kept.update(snapshot.tree.chunks(kept))
    loader = Loader(lambda digests: {one: kept[one] for one in digests})
    return [one._replace(tree=load(one.tree.reference(), loader)) for one in snapshots]


def found_in(tree: Tree, path: str) -> Tree | None:
    """Give what is at a path, the slow way."""
    try:
        return freeze(tree.get(path, live=False))
    except KeyError:
        return None
