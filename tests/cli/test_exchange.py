"""`argentum import` and `argentum export`: runs into files and back without loss."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from argentum import Run
from argentum.store import Store, open_store


def contents(store: Store, run_id: str):
    """Give all that a run holds."""
    return store.run(run_id), [
        (
            one.seq, one.kind, one.phase, one.agent, one.name, one.at_ns, one.span, one.parent,
            repr(one.body.thaw(live=False)),
        )
        for one in store.events(run_id)
    ]  # fmt: skip


def test_round_trip(trip, command, store):
    """A run that is exported and imported elsewhere is the same in everything."""
    Path("trip.jsonl").write_text(command("export", "trip.py").out, encoding="utf-8")
    done = command("import", "trip.jsonl", "--store", "copy.db")
    copy = open_store("copy.db")
    before, after = contents(store, trip), contents(copy, trip)
    copy.close()

    assert (0, ["Imported 1 run with 16 events."], "") == (done.code, done.lines, done.err)
    assert before == after


def test_export_is_stable(trip, command):
    """What was imported is exported as the same text."""
    text = command("export").out
    Path("trip.jsonl").write_text(text, encoding="utf-8")
    command("import", "trip.jsonl", "--store", "copy.db")

    assert text == command("export", "--store", "copy.db").out


def test_export_to_a_file(trip, command):
    """With `-o` the same lines go to a file and nothing is printed."""
    done = command("export", "trip.py@", "-o", "trip.jsonl")

    assert (0, "", "") == (done.code, done.out, done.err)
    assert command("export").out == Path("trip.jsonl").read_text(encoding="utf-8")


def test_export_of_odd_values(store, command):
    """Values that JSON lacks come back with their exact types."""
    nan = math.nan
    states = [
        {"t": (1, [2]), "s": {1}, "f": frozenset({2}), "b": b"\xff", 3: "int", None: "none"},
        {"t": (1, [3]), "s": {2}, "f": nan, "b": bytearray(b"x"), (1, 2): "key", True: 1.0},
        {"t": -0.0, "big": 2**70, "half": "\ud800", "$type": "tuple", "": {"a.b": [True, 1, 1.0]}},
    ]
    with Run("x", store=store, run_id="r") as run:
        session = run.session("a")
        for number, state in enumerate(states):
            session.snapshot(f"s{number}", state)
        session.note("odd", value=states[0])
    Path("x.jsonl").write_text(command("export").out, encoding="utf-8")
    done = command("import", "x.jsonl", "--store", "copy.db")
    copy = open_store("copy.db")
    before, after = contents(store, "r"), contents(copy, "r")
    restored = [one.body.thaw() for one in copy.events("r", kinds=("snapshot",))]
    copy.close()

    assert 0 == done.code
    assert repr(states) == repr(restored)
    assert before == after


def test_import_again_gets_another_id(trip, command, store):
    """A run whose id is taken is imported under the next free one."""
    command("export", "-o", "trip.jsonl")
    rows = [json.loads(command("import", "trip.jsonl", "--json").out)["runs"] for _ in range(2)]

    assert [[f"{trip}.2"], [f"{trip}.3"]] == rows
    assert contents(store, trip)[1] == contents(store, f"{trip}.3")[1]


def test_import_zipped(trip, command):
    """A gzipped file is imported like a plain one."""
    text = command("export").out
    Path("trip.jsonl.gz").write_bytes(gzip.compress(text.encode()))

    assert {"runs": [trip], "events": 16, "problems": []} == json.loads(
        command("import", "trip.jsonl.gz", "--store", "copy.db", "--json").out
    )


def test_truncated_line(trip, command):
    """A truncated line in the middle is named by its number; all others are kept; exit code 1."""
    lines = command("export").out.splitlines()
    lines[11] = lines[11][:40]
    Path("trip.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = command("import", "trip.jsonl", "--store", "copy.db")

    assert (1, "") == (done.code, done.err)
    assert "Imported 1 run with 15 events." == done.lines[0]
    assert done.lines[1].startswith("line 12: it is no JSON (")
    assert 2 == len(done.lines)


def test_many_problems_are_counted(trip, command):
    """Of many bad lines the first twenty are shown and the rest is counted."""
    text = command("export").out + "nonsense\n" * 30
    Path("trip.jsonl").write_text(text, encoding="utf-8")
    done = command("import", "trip.jsonl", "--store", "copy.db")

    assert (1, 22, "… and 10 more lines with problems: --json") == (
        done.code, len(done.lines), done.lines[-1],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text,code,message",
    [
        (None, 2, "There is no file 'x.jsonl' to import."),
        ("", 3, "'x.jsonl' is empty; there is nothing to import."),
        ("\n \n", 3, "'x.jsonl' is empty; there is nothing to import."),
        (
            "hello\n",
            3,
            "'x.jsonl' starts with b'hello\\n', which is of no known format. Known: argentum.run "
            "(docs/interchange.md) and tau-bench, as JSON Lines, plain or gzipped.",
        ),
        (
            '{"format": "argentum.run/2", "type": "run", "run_id": "r"}\n{"type": "end"}\n',
            3,
            "The file has version '2' of argentum.run; this version reads 1. "
            "Run: pip install --upgrade argentum-agent",
        ),
        (
            '{"run": "r", "steps": []}\n',
            2,
            "'x.jsonl' holds runs of tau-bench, whose states are changes to a database. "
            "Name the file with the database before each run: --state FILE",
        ),
    ],
)
def test_file_that_cannot_be_imported(command, text, code, message):
    """A file of which nothing can be used is one line on stderr."""
    if text is not None:
        Path("x.jsonl").write_text(text, encoding="utf-8")
    done = command("import", "x.jsonl")

    assert (code, "", f"argentum: {message}\n") == (done.code, done.out, done.err)


@pytest.mark.parametrize(
    "text,code,message",
    [
        (None, 2, "There is no file 'state.json' with the initial state."),
        ("[1, 2", 3, "'state.json' is no JSON document with a state: "),
    ],
)
def test_state_file_that_cannot_be_used(command, text, code, message):
    """The file with the initial state is named if it is not there or no JSON."""
    Path("x.jsonl").write_text('{"run": "r", "steps": []}\n', encoding="utf-8")
    if text is not None:
        Path("state.json").write_text(text, encoding="utf-8")
    done = command("import", "x.jsonl", "--state", "state.json")

    assert (code, 1) == (done.code, done.err.count("\n"))
    assert done.err.startswith(f"argentum: {message}")


def test_export_of_no_run(trip, command):
    """A run that is not there is named, and no file is made."""
    done = command("export", "bus", "-o", "x.jsonl")
    none = command("export", "trip.yp", "-o", "x.jsonl")

    assert (2, "argentum: No run 'trip.yp'. Did you mean 'trip.py'?\n") == (none.code, none.err)
    assert (2, False) == (done.code, Path("x.jsonl").exists())


def test_export_to_nowhere(trip, command):
    """A file that cannot be written is one line and exit code 3."""
    done = command("export", "-o", "no/such/folder.jsonl")

    assert (3, 1) == (done.code, done.err.count("\n"))
    assert done.err.startswith("argentum: [Errno 2] No such file or directory")


def test_missing_file_makes_no_store(command):
    """A slip in the name of the file leaves nothing behind."""
    assert 2 == command("import", "x.jsonl").code
    assert [] == list(Path.cwd().iterdir())
