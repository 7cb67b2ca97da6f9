"""`argentum doctor`: is everything in order?"""

from __future__ import annotations

import platform
from importlib.metadata import version

import apsw
import ormsgpack
import typer
from rich.text import Text

from argentum.cli.arguments import JsonOption, StoreOption, opened
from argentum.cli.terminal import plain, show, show_json


def doctor(*, json: JsonOption = False, store: StoreOption = None) -> None:
    """Check the installation and every chunk and event of the store."""
    place = opened(store)
    problems = place.check()
    facts = {
        "argentum": version("argentum-agent"),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "ormsgpack": ormsgpack.__version__,
        "store": place.location,
        "runs": len(place.runs()),
    }
    if json:
        show_json({**facts, "problems": problems})
    else:
        lines = [Text(f"{name}: {plain(str(value))}") for name, value in facts.items()]
        found = [Text(plain(problem), style="red") for problem in problems]
        show(*lines, *(found or [Text("No problems.", style="green")]))
    if problems:
        raise typer.Exit(1)
