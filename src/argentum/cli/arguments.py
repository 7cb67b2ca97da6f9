"""The arguments that several commands share, and what they name in a store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from argentum.cli.terminal import plain, remark
from argentum.errors import ArgentumError, InputError, NotFoundError, not_found
from argentum.events import KINDS, RunInfo
from argentum.state import Snapshot, snapshots_of
from argentum.store import Store, open_store
from argentum.store.revisions import SEPARATOR, Revision, find_revision, find_run

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="The file that keeps the runs.", envvar="ARGENTUM_STORE"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def opened(where: str | None, *, create: bool = False) -> Store:
    """Open the store that a command was given."""
    return open_store(where, create=create)


def run_named(place: Store, text: str, *, path_command: str = "") -> RunInfo:
    """
    Find the run that an argument names: an id, the start of one, a name; `@` behind it is allowed.

    If a name fits several runs, the one that is used is told on standard error.

    Args:
        path_command: a command whose path may stand here, where the run was forgotten.

    Raises:
        NotFoundError: there is none, or several start so; the message names near ones.
    """
    text = text.removesuffix(SEPARATOR)
    try:
        info = find_run(place, text)
    except NotFoundError as error:
        if path_command and _is_path_of_newest(place, text):
            message = f"{error} Did you mean: argentum {path_command} @ {text}"
            raise NotFoundError(message) from error
        raise
    tell_of_namesakes(place, info, text)
    return info


def tell_of_namesakes(place: Store, info: RunInfo, text: str) -> None:
    """Say on standard error which run is used if its name is that of others, too."""
    if text != info.name or info.run_id.startswith(text):
        return
    count = sum(other.name == text for other in place.runs())
    if count > 1:
        remark(f"{count} runs are named {text!r}; this is the newest, {info.run_id}.")


def _is_path_of_newest(place: Store, text: str) -> bool:
    """Tell whether a state of the newest run has something at what was meant as a run."""
    for info in place.runs(limit=1):
        events = place.events(info.run_id, kinds=("snapshot",))
        last = {one.agent: one for one in snapshots_of(events)}
        return any(_has(snapshot, text) for snapshot in last.values())
    return False


def _has(snapshot: Snapshot, path: str) -> bool:
    try:
        snapshot.tree.get(path, live=False)
    except ArgentumError:  # it is not there, or is no path at all
        return False
    return True


def revision_named(place: Store, text: str) -> Revision:
    """
    Find the moment that an argument names; say so if its run or label could have been another.

    Raises:
        NotFoundError: there is no such run, label or event; the message names the nearest.
    """
    found = find_revision(place, text)
    tell_of_namesakes(place, found.run, text.partition(SEPARATOR)[0])
    if found.others:
        remark(
            f"{found.event.name!r} is a label of other agents too ({', '.join(found.others)}); "
            f"this is {found.event.agent}'s. To choose, write RUN@AGENT/LABEL."
        )
    return found


def agent_snapshots(
    place: Store, info: RunInfo, agent: str | None
) -> dict[str | None, list[Snapshot]]:
    """
    Give the snapshots of each agent of a run, or of the one that is named.

    Raises:
        NotFoundError: there are none; the message names agents that have some.
    """
    by_agent: dict[str | None, list[Snapshot]] = {}
    for snapshot in snapshots_of(place.events(info.run_id, kinds=("snapshot",))):
        by_agent.setdefault(snapshot.agent, []).append(snapshot)
    if not by_agent:
        message = f"Run {info.run_id!r} has no snapshots; see: argentum log {plain(info.run_id)}"
        raise NotFoundError(message)
    if agent is None:
        return by_agent
    if agent not in by_agent:
        raise no_such_agent(agent, by_agent)
    return {agent: by_agent[agent]}


def no_such_agent(agent: str, known: Iterable[str | None]) -> NotFoundError:
    """Give the error for an --agent that has done nothing of what is asked for."""
    return not_found("agent here", agent, {str(one) for one in known if one is not None})


def which_agent(known: Iterable[str | None]) -> InputError:
    """Give the error for a command that needs --agent, because several agents could be meant."""
    names = [str(one) for one in known]
    listed = ", ".join(map(repr, names))
    message = f"The run has snapshots of {len(names)} agents: {listed}. Say whose: --agent NAME."
    return InputError(message)


def check_kinds(kinds: Iterable[str] | None) -> None:
    """
    Check what --kind was given.

    Raises:
        NotFoundError: one is no kind of event.
    """
    for one in kinds or ():
        if one not in KINDS:
            raise not_found("kind of event", one, KINDS)


def complete_run(incomplete: str) -> list[str]:
    """Offer the ids of runs to the shell."""
    try:
        infos = open_store(create=False).runs(limit=200)
    except Exception:  # noqa: BLE001 - completion stays silent
        return []
    return [info.run_id for info in infos if info.run_id.startswith(incomplete)]


RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, the start of one, or a name; by default the newest run.",
        autocompletion=complete_run,
    ),
]
RevisionArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN@REV",
        help="RUN@LABEL, RUN@7 (an event), RUN@-1 (the last snapshot); @ is the newest run.",
        autocompletion=complete_run,
    ),
]
