"""`argentum fork`: start a program again from a recorded state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.running import argentum_process

PROGRAM = """
import sys, argentum
session = argentum.create_agent_session("planner")
state = session.restore() or {"confidence": 0.0}
print(state["confidence"], sys.argv[1:])
state["confidence"] += 1
session.snapshot("fixed", state)
sys.exit(len(sys.argv) - 1)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Give a program that goes on from a state."""
    (tmp_path / "again.py").write_text(PROGRAM, encoding="utf-8")
    return str(tmp_path / "again.py")


def test_shows_how_to_fork(trip, command):
    """Without a program the states at the point are shown, and how to start from there."""
    assert [
        "20270115-080000-aaaa@9  end  of planner",
        "",
        "planner: @9 'end'",
        "  goals  list of 2",
        "  confidence  0.2",
        "  budget  dict of 0",
        "",
        "To start again from here: argentum fork 20270115-080000-aaaa@9 -- SCRIPT [ARGS]...",
        "or in Python:",
        "    run = argentum.Run.fork('20270115-080000-aaaa@9')",
        "    session = run.session('planner')",
        "    state = session.restore()",
    ] == command("fork", "@end").lines


def test_json(trip, command):
    """As JSON the point and the agents' states there are named."""
    assert {
        "run_id": trip, "seq": 15, "label": "start", "agent": "writer",
        "states": [
            {"agent": "planner", "seq": 9, "label": "end"},
            {"agent": "writer", "seq": 15, "label": "start"},
        ],
    } == json.loads(command("fork", "@", "--json").out)  # fmt: skip


def test_runs_a_program_from_the_state(trip, program, command):
    """The program gets the state, its arguments and its exit code as ever; the run is a fork."""
    done = argentum_process("fork", "@planner/start", "--", program, "-a", "b")

    assert (2, "0.9 ['-a', 'b']\n") == (done.code, done.out)
    assert "forked from 20270115-080000-aaaa@4; see: argentum log" in done.err
    [line] = [line for line in command("runs").lines if "(fork)" in line]
    assert line.endswith("  forked from 20270115-080000-aaaa@4")
    assert "trip.py (fork)" in line
    log = command("log", "trip.py (fork)").out
    assert "trip.py (fork) forked from 20270115-080000-aaaa@4 'start'" in log
    assert "planner forked from 20270115-080000-aaaa@4 'start'" in log
    assert "~ confidence  0.9 → 1.9" in log


def test_runs_a_module(trip, program, tmp_path):
    """With -m the program is a module."""
    done = argentum_process("fork", "-q", "@end", "-m", "--", "again")

    assert (0, "0.2 []\n", "") == (done.code, done.out, done.err)


def test_forks_have_names_of_their_own(trip, program, command):
    """The second fork of a run, and a fork of a fork, are numbered: no name changes its meaning."""
    for revision in ("@planner/start", "trip.py (fork)@fixed"):
        argentum_process("fork", "-q", revision, "--", program)

    names = [run["name"] for run in json.loads(command("runs", "--json").out)]
    assert ["trip.py", "trip.py (fork 2)", "trip.py (fork)"] == names


def test_a_variable_forks_what_is_run(monkeypatch, trip, program, command):
    """`argentum run` starts from where ARGENTUM_FORK says; a slip there is told."""
    done = argentum_process("run", program, ARGENTUM_FORK="@planner/start")
    assert (0, "0.9 []\n") == (done.code, done.out)

    monkeypatch.setenv("ARGENTUM_FORK", "@strat")
    done = command("run", program)
    assert (2, True) == (done.code, "Did you mean 'start'?" in done.err)


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("@edn",), "Did you mean 'end'?"),
        (("@end", "none.py"), "There is no script 'none.py' here"),
        (("@1",), "There is no snapshot at or before 20270115-080000-aaaa@1"),
    ],
)
def test_wrong_use(trip, command, arguments, error):
    """A slip is told, and no run is started."""
    done = command("fork", *arguments)

    assert (2, True) == (done.code, error in done.err)
    assert 1 == len(json.loads(command("runs", "--json").out))
