"""Where the store is, from what the user gives or from the current folder upwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from argentum.errors import InputError, StoreError
from argentum.store import open_store


def opened(where: str | Path | None = None, *, create: bool = True) -> str:
    """Open a store, close it, and tell where it was."""
    store = open_store(where, create=create)
    store.close()
    return store.location


def test_store_is_made_in_the_current_folder(own_place: Path) -> None:
    """Without any hint the first run goes to `.argentum/runs.db` here."""
    assert str(own_place / ".argentum" / "runs.db") == opened()


def test_store_is_found_upwards(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder below one that has a store uses that one, like git."""
    opened()
    below = own_place / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert str(own_place / ".argentum" / "runs.db") == opened()


def test_environment_names_the_store(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ARGENTUM_STORE` comes before the search, an argument before both."""
    monkeypatch.setenv("ARGENTUM_STORE", "other.db")
    assert str(own_place / "other.db") == opened()
    assert str(own_place / "third.db") == opened("third.db")


def test_memory_is_a_store() -> None:
    """`:memory:` makes no file."""
    assert ":memory:" == opened(":memory:")
    assert [] == list(Path.cwd().iterdir())


def test_missing_store_is_told_with_how_to_record(own_place: Path) -> None:
    """Reading commands do not make a store; they say how to record the first run."""
    with pytest.raises(StoreError, match="argentum run"):
        open_store(create=False)
    assert [] == list(own_place.iterdir())


def test_postgres_is_told_to_come_later() -> None:
    """A URL of PostgreSQL is no file name."""
    with pytest.raises(InputError, match="PostgreSQL"):
        open_store("postgresql://host/db")
