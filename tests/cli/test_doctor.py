"""`argentum doctor`: sound stores are called sound, altered ones are not."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path

import apsw
import ormsgpack
import pytest


def alter(sql: str, *values: object) -> int:
    """Change the file behind the store's back; give how many rows changed."""
    with apsw.Connection(".argentum/runs.db") as db:
        db.execute(sql, values)
        changed = db.changes()
    db.close()
    return changed


def test_sound_store(trip, command):
    """A sound store has no problems; versions and place are told."""
    done = command("doctor")

    assert (
        0,
        [
            f"argentum: {version('argentum-agent')}",
            f"python: {platform.python_version()}",
            f"sqlite: {apsw.sqlite_lib_version()}",
            f"ormsgpack: {ormsgpack.__version__}",
            f"store: {Path.cwd()}/.argentum/runs.db",
            "runs: 1",
            "No problems.",
        ],
    ) == (done.code, done.lines)


@pytest.mark.parametrize(
    "sql,values",
    [
        ("UPDATE chunk SET data = ? WHERE rowid = 1", (b"\x00\x00",)),
        ("UPDATE chunk SET data = ? WHERE rowid = 1", (b"\x09garbage",)),
        ("UPDATE chunk SET data = ? WHERE rowid = 1", (b"\x01garbage",)),
        ("UPDATE chunk SET data = ? WHERE rowid = 1", (b"",)),
        ("UPDATE event SET body = ? WHERE seq = 4 AND run = 1", (b"\x09garbage",)),
        ("UPDATE event SET body = ? WHERE seq = 4 AND run = 1", (b"\x00\xc1",)),
        ("UPDATE event SET body = ? WHERE seq = 4 AND run = 1", (b"",)),
    ],
)
def test_altered_store(trip, command, store, sql, values):
    """A chunk or event that was altered is named; exit code 1."""
    with_chunks(store)
    assert 1 == alter(sql, *values)
    done = command("doctor", "--json")

    assert (1, "") == (done.code, done.err)
    assert [] != json.loads(done.out)["problems"]


def test_missing_chunk(trip, command, store):
    """An event whose chunk is gone is named; exit code 1."""
    with_chunks(store)
    alter("DELETE FROM chunk")
    done = command("doctor")

    assert 1 == done.code
    assert any(line.startswith("Event big@3 cannot be read whole: ") for line in done.lines)


def with_chunks(store) -> None:
    """Add a run whose states are large enough for chunks of their own."""
    from argentum import Run

    with Run("big", store=store, run_id="big") as run:
        session = run.session("a")
        session.snapshot("s1", {"items": [{"n": number} for number in range(2000)]})
        session.snapshot("s2", {"items": [{"n": number} for number in range(2001)]})


def test_altered_event_elsewhere(trip, command):
    """A command that meets a damaged event says so in one line."""
    alter("UPDATE event SET body = ? WHERE seq = 15", b"\x09garbage")
    done = command("show", "@15")

    assert (3, 1) == (done.code, done.err.count("\n"))
    assert done.err.startswith("argentum: ")


def test_missing_store(command):
    """Without a store the installation is told even so; the error says where it was looked for."""
    done = command("doctor")

    assert 3 == done.code
    assert f"argentum: {version('argentum-agent')}" == done.lines[0]
    assert done.err.startswith(f"argentum: There is no store at '{Path.cwd()}/.argentum/runs.db'.")
    assert [] == list(Path.cwd().iterdir())
