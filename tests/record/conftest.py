"""What the tests of the recorder share: a file, stores on it, and runs that end with the test."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from argentum import Run
from argentum.record.run import set_current_run
from argentum.store import Store, open_store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give the path of a store that is not there yet."""
    return tmp_path / "runs.db"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    """Give an open store."""
    opened = open_store(file)
    yield opened
    opened.close()


@pytest.fixture
def reader(store: Store, file: Path) -> Iterator[Store]:
    """Give a second store on the same file, as another process would open it."""
    opened = open_store(file)
    yield opened
    opened.close()


@pytest.fixture
def started() -> Iterator[Callable[..., Run]]:
    """Give a function that starts runs, which are let go when the test is over."""
    runs: list[Run] = []

    def start(*arguments: object, **options: object) -> Run:
        run = Run(*arguments, **options)  # type: ignore[arg-type]
        runs.append(run)
        return run

    yield start
    for run in runs:
        atexit.unregister(run.finish)


@pytest.fixture(autouse=True)
def no_current_run() -> Iterator[None]:
    """Begin and end without a run that sessions share."""
    set_current_run(None)
    yield
    set_current_run(None)


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the recorder's faults from the host, as outside of tests."""
    monkeypatch.setenv("ARGENTUM_STRICT", "0")
