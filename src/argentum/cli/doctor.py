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
from argentum.errors import ArgentumError


def doctor(*, json: JsonOption = False, store: StoreOption = None) -> None:
    """Check the installation and every chunk and event of the store."""
    facts: dict[str, object] = {
        "argentum": version("argentum-agent"),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "ormsgpack": ormsgpack.__version__,
    }
    try:
        place = opened(store)
        facts |= {"store": place.location, "runs": len(place.runs())}
        problems = place.check()
    except ArgentumError:
        if not json:
            show(*_lines(facts))  # what there is to tell of the installation
        raise
    if json:
        show_json({**facts, "problems": problems})
    else:
        found = [Text(plain(problem), style="red") for problem in problems]
        show(*_lines(facts), *(found or [Text("No problems.", style="green")]))
    if problems:
        raise typer.Exit(1)


def _lines(facts: dict[str, object]) -> list[Text]:
    return [Text(f"{name}: {plain(str(value))}") for name, value in facts.items()]
