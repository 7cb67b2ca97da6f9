"""`argentum runs`: what was recorded."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from argentum import Run
from argentum.store import open_store
from argentum.store.schema import FORMAT


def test_table(trip, command):
    """A run is a line: id, name, status, start, time taken, events."""
    assert (
        """\
run                   name     status  started (UTC)        took   events
20270115-080000-aaaa  trip.py  done    2027-01-15 08:00:00  5.8 s  16
""".splitlines()
        == command("runs").lines
    )


def test_json(trip, command):
    """As JSON a run is an object."""
    assert [
        {
            "run_id": "20270115-080000-aaaa",
            "name": "trip.py",
            "status": "done",
            "started_at": "2027-01-15T08:00:00+00:00",
            "ended_at": "2027-01-15T08:00:05.750000+00:00",
            "events": 16,
            "dropped": 0,
            "first_dropped": "",
            "forked_from": None,
            "alerts": 0,
        }
    ] == json.loads(command("runs", "--json").out)


def test_newest_first_and_limit(ticking, store, command):
    """The newest run is first, and only so many are shown as asked for."""
    for number in range(4):
        with Run("x", store=store, run_id=f"r{number}"):
            pass

    assert ["r3", "r2", "r1", "r0"] == [line.split()[0] for line in command("runs").lines[1:]]
    few = command("runs", "-n", "2").lines
    assert ["r3", "r2"] == [line.split()[0] for line in few[1:3]]
    assert ["… and older ones: --limit"] == few[3:]
    assert 2 == len(json.loads(command("runs", "-n", "2", "--json").out))
    assert 2 == command("runs", "--limit", "0").code


def test_dropped_is_shown(monkeypatch, ticking, store, command):
    """What could not be recorded is counted in the list, with the first reason."""
    monkeypatch.setenv("ARGENTUM_STRICT", "0")
    with Run("x", store=store, run_id="r") as run:
        run.session("a").snapshot(3, {})
        run.session("b").snapshot(None, {})

    assert (
        """\
run  name  status  started (UTC)        took   events
r    x     done    2027-01-15 08:00:00  1.2 s  4       \
dropped: 2, first reason: InputError: The label 3 is a int; give a str.
""".splitlines()
        == command("runs").lines
    )
    assert (
        "r  x  done  dropped: 2, first reason: InputError: The label 3 is a int; give a str."
        == command("log").lines[0]
    )
    assert [2] == [row["dropped"] for row in json.loads(command("runs", "--json").out)]


def test_running_and_long_runs(store, command):
    """A run that goes on has no time taken."""
    run = Run("x", store=store, run_id="r")
    listed = command("runs").lines[1].split()
    run.finish()

    assert ["r", "x", "running", "1"] == [*listed[:3], *listed[5:]]


def test_empty_store(store, command):
    """A store without runs has an empty list, and there is no newest run."""
    listed, logged = command("runs"), command("log")

    assert (0, 1, "[]\n") == (listed.code, len(listed.lines), command("runs", "--json").out)
    assert (
        2,
        f"argentum: There is no run in '{Path.cwd()}/.argentum/runs.db' yet. "
        "Record one: argentum run SCRIPT\n",
    ) == (logged.code, logged.err)


@pytest.mark.parametrize(
    "arguments", [("runs",), ("log",), ("show", "@"), ("diff", "@", "@"), ("export",)]
)
def test_missing_store(command, arguments):
    """Where there is no store the commands say where they looked, and make none."""
    done = command(*arguments)

    assert (
        3,
        "",
        f"argentum: There is no store at '{Path.cwd()}/.argentum/runs.db'. Record a run first "
        "(argentum run SCRIPT), name another store with --store, or set ARGENTUM_STORE.\n",
    ) == (done.code, done.out, done.err)
    assert [] == list(Path.cwd().iterdir())


def nonsense(path):
    """Make a file that is no database."""
    path.write_bytes(b"nonsense " * 1000)


def newer(path):
    """Make a store of a later version."""
    store = open_store(path)
    store._handle._connection.pragma("user_version", 99)
    store.close()


@pytest.mark.parametrize(
    "make,reason",
    [
        (nonsense, "is not a SQLite file, so it is no store; it was left as it is."),
        (newer, f"Database is format 99; this argentum reads up to {FORMAT}. Upgrade argentum"),
    ],
)
def test_unusable_store(command, tmp_path, make, reason):
    """A file that is no store of ours is named with the reason, and exit code 3."""
    path = tmp_path / "other.db"
    make(path)
    done = command("runs", "--store", str(path))

    assert (3, 1) == (done.code, done.err.count("\n"))
    assert done.err.startswith("argentum: ")
    assert reason in done.err
    assert str(path) in done.err


def test_store_by_option_and_variable(monkeypatch, ticking, tmp_path, command):
    """The store can be named by option or variable; the option wins."""
    for name in ("one", "two"):
        with Run(name, store=tmp_path / f"{name}.db", run_id=name) as run:
            pass
        run.store.close()
    monkeypatch.setenv("ARGENTUM_STORE", "one.db")

    assert "one" == command("runs").lines[1].split()[0]
    assert "two" == command("runs", "--store", "two.db").lines[1].split()[0]


def test_store_of_a_folder_above(trip, command, tmp_path):
    """The store is found from a folder below, like `.git`."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    os.chdir(below)

    assert "20270115-080000-aaaa" == command("runs").lines[1].split()[0]
