"""The arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from argentum.store import Store, open_store

StoreOption = Annotated[
    str | None,
    typer.Option("--store", help="The file that keeps the runs.", envvar="ARGENTUM_STORE"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def opened(where: str | None, *, create: bool = False) -> Store:
    """Open the store that a command was given."""
    return open_store(where, create=create)


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
