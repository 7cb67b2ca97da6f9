"""`argentum history`: each value that a path had."""

from __future__ import annotations

import json
import math

import pytest

from argentum import Run


@pytest.fixture
def long(ticking, store):
    """Record a run of many steps; give its id."""
    with Run("long", store=store, run_id="20270117-080000-cccc") as run:
        session = run.session("solver")
        for step in range(100):
            level = math.nan if step == 40 else step / 4
            session.snapshot(f"s{step}", {"level": level, "many": ["x" * 50] * 1000, "n": [step]})
    return run.run_id


def test_history(trip, command):
    """Each value is shown with the snapshot since which it is there, and numbers are drawn."""
    assert [
        "20270115-080000-aaaa  trip.py",
        "confidence  of planner  2 values in 2 snapshots",
        "since  at     snapshot  value",
        "@4     1.0 s  'start'   0.9",
        "@9     3.2 s  'end'     0.2",
        "",
        "0.9 ┤▀",
        "    ┤",
        "    ┤",
        "    ┤",
        "    ┤",
        "0.2 ┤ ▄",
        "",
    ] == command("history", "@", "confidence").lines


def test_containers(store, command):
    """Of a container that is too long for a line, its size is shown, and what changed in it."""
    with Run("grows", store=store, run_id="g") as run:
        session = run.session("a")
        for count in (1, 2, 7):
            session.snapshot(
                f"s{count}", {"facts": ["word " * 20 + str(at) for at in range(count)]}
            )

    lines = command("history", "grows", "facts").lines

    assert ["list of 1", "list of 2", "+ [1]", "list of 7", "+ [2]", "+ [3]", "+ [4]", "… and"] == [
        " ".join(line.split()[4:] if line[0] == "@" else line.split()[:2]) for line in lines[3:11]
    ]
    assert "… and 2 more" == lines[10].strip()


def test_the_run_was_forgotten(trip, command):
    """A path where a run should stand is known as one of the newest run."""
    done = command("history", "confidence")

    assert (2, True) == (done.code, "Did you mean: argentum history @ confidence" in done.err)
    assert "Did you mean: argentum" not in command("history", "nowhere").err


def test_where_there_is_nothing(trip, command):
    """A stretch without anything at the path is shown as such."""
    lines = command("history", "trip.py", "goals[1]").lines

    assert "goals[1]  of planner  1 value in 2 snapshots" == lines[1]
    assert ["(nothing)", "'Rome'"] == [line.split("  ")[-1].strip() for line in lines[3:5]]


def test_each_agent_that_has_the_path(store, command):
    """Without --agent, all agents that have something at the path are shown."""
    with Run("two", store=store) as run:
        for name in ("a", "b", "c"):
            run.session(name).snapshot("s", {"x": name} if name < "c" else {})

    both = json.loads(command("history", "two", "x", "--json").out)
    one = json.loads(command("history", "two", "x", "--agent", "b", "--json").out)

    assert [("a", "a"), ("b", "b")] == [(row["agent"], row["values"][0]["value"]) for row in both]
    assert [("b", "b")] == [(row["agent"], row["values"][0]["value"]) for row in one]


def test_json(trip, command):
    """Programs get each value with the snapshots around it."""
    [found] = json.loads(command("history", "trip.py", "budget.usd", "--json").out)

    first, second = found["values"]
    assert ("budget.usd", "planner", 2) == (found["path"], found["agent"], found["snapshots"])
    assert (100, True, 4, "start") == (
        first["value"], first["present"], first["since"]["seq"], first["since"]["label"]
    )  # fmt: skip
    assert first["until"] == second["since"]
    assert (None, False, None) == (second["value"], second["present"], second["until"])


def test_many_values(long, command):
    """Of many values the first and last are shown, and what is no number is not drawn."""
    lines = command("history", "long", "level").lines

    assert "level  of solver  100 values in 100 snapshots" == lines[1]
    assert "60 more: --all" in lines[23]
    assert "not drawn: 1 snapshot with NaN, inf or a huge number" == lines[-2]
    assert 100 + 2 <= len(command("history", "long", "level", "--all").lines)


def test_a_large_value(long, command):
    """A large value is told by its size."""
    assert "(1000 parts, 52,000 bytes)" in command("history", "long", "many").out


@pytest.mark.parametrize(
    "arguments,hint",
    [
        (("trip.py", "confidense"), "Did you mean 'confidence'?"),
        (("trip.py", "a..b"), "not a path"),
        (("trip.py", "text", "--agent", "riter"), "Did you mean 'writer'?"),
        (("trop.py", "text"), "Did you mean 'trip.py'?"),
    ],
)
def test_what_is_not_there(trip, command, arguments, hint):
    """An error names what is near, and ends with 2."""
    done = command("history", *arguments)

    assert (2, "") == (done.code, done.out)
    assert hint in done.err


def test_a_run_without_snapshots(store, command):
    """A run without states says so."""
    with Run("empty", store=store) as run:
        run.session("a").note("nothing")

    assert "has no snapshots" in command("history", "empty", "x").err
