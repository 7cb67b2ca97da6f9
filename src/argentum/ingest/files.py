"""Read a file of runs, of whichever format, line by line: a bad line loses only itself."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from argentum.errors import ArgentumError, FormatError, InputError, shown
from argentum.ingest import interchange, tau
from argentum.ingest.interchange import Reader
from argentum.store import Store

GZIP = b"\x1f\x8b"
BATCH_LINES = 200
"""Lines that are put into the store in one transaction."""


@dataclass(slots=True)
class Imported:
    """What came of an import."""

    run_ids: list[str] = field(default_factory=list)
    events: int = 0
    problems: list[str] = field(default_factory=list)
    """One for each line that could not be used, by its number from 1."""


def import_file(
    path: str | os.PathLike[str],
    store: Store,
    *,
    state: str | os.PathLike[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """
    Put the runs of a file into a store.

    Args:
        path: JSON Lines in the interchange format or of tau-bench, plain or gzipped.
        state: for formats that keep it apart, the file with the state before each run.
        on_progress: is called with the bytes read so far and in all.

    Raises:
        InputError: there is no such file.
        FormatError: the file is of no known format.
    """
    check_files(path, state)
    source = Path(path)
    initial = None if state is None else _load_state(Path(state))
    result = Imported()
    reader = Reader(store)
    lines = _lines(source, result, on_progress)
    translate: Callable[[Any], Iterator[Any]] | None = None
    batch: list[tuple[int, bytes]] = []
    for number, line in lines:
        translate = translate or _translator(line, initial, source)
        batch.append((number, line))
        if len(batch) == BATCH_LINES:
            _add_all(batch, reader, translate, result)
            batch = []
    if translate is None and not result.problems:
        message = f"{str(source)!r} is empty; there is nothing to import."
        raise FormatError(message)
    if translate is not None:
        _add_all(batch, reader, translate, result)
    reader.close()
    result.run_ids, result.events = reader.run_ids, reader.events
    return result


def check_files(path: str | os.PathLike[str], state: str | os.PathLike[str] | None = None) -> None:
    """
    Look whether the files of an import are there.

    Raises:
        InputError: one is not.
    """
    for file, use in ((path, "to import"), (state, "with the initial state")):
        if file is not None and not Path(file).is_file():
            message = f"There is no file {str(file)!r} {use}."
            raise InputError(message)


def _load_state(path: Path) -> Any:
    try:
        with _opened(path) as file:
            return json.load(file)
    except (ValueError, OSError, EOFError, zlib.error, RecursionError) as error:
        message = f"{str(path)!r} is no JSON document with a state: {error}."
        raise FormatError(message) from error


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        zipped = file.read(2) == GZIP
    return gzip.open(path) if zipped else path.open("rb")  # type: ignore[return-value]


def _lines(
    path: Path, result: Imported, on_progress: Callable[[int, int], None] | None
) -> Iterator[tuple[int, bytes]]:
    """Give the lines that are not blank, with their numbers."""
    total = path.stat().st_size
    number = 0
    try:
        with _opened(path) as file:
            raw = getattr(getattr(file, "fileobj", file), "tell", None)
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
                if on_progress is not None and raw is not None:
                    on_progress(min(raw(), total), total)
    except (OSError, EOFError, zlib.error) as error:
        result.problems.append(f"line {number + 1}: the file ends or is damaged here ({error})")


def _translator(line: bytes, state: Any, path: Path) -> Callable[[Any], Iterator[Any]]:
    """Find out the format from the first line."""
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        first = None
    if interchange.recognises(first):
        interchange.check_version(first)
        return lambda value: iter((value,))
    if tau.recognises(first):
        if state is None:
            message = (
                f"{str(path)!r} holds runs of tau-bench, whose states are changes to a database. "
                "Name the file with the database before each run: --state FILE"
            )
            raise InputError(message)
        return lambda value: tau.records(value, state)
    message = (
        f"{str(path)!r} starts with {shown(line[:60])}, which is of no known format. Known: "
        "argentum.run (docs/interchange.md) and tau-bench, as JSON Lines, plain or gzipped."
    )
    raise FormatError(message)


def _add_all(
    lines: list[tuple[int, bytes]],
    reader: Reader,
    translate: Callable[[Any], Iterator[Any]],
    result: Imported,
) -> None:
    with reader.store.batch():
        for number, line in lines:
            problem = _add(line, reader, translate)
            if problem:
                result.problems.append(f"line {number}: {problem}")


def _add(line: bytes, reader: Reader, translate: Callable[[Any], Iterator[Any]]) -> str | None:
    """Add one line; give what is wrong with it, if anything is."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reader.lost()
        return f"it is no JSON ({error})"
    try:
        for record in translate(value):
            reader.add(record)
    except (
        ArgentumError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        if isinstance(error, OSError):
            raise
        return str(error) or type(error).__name__
    return None
