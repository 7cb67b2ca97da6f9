"""`argentum bisect`: the first snapshot where a condition holds."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from argentum import Run

RUN = "20270118-080000-dddd"


@pytest.fixture
def steps(ticking, store):
    """Record a run in which a counter rises and a flag comes and goes."""
    with Run("steps", store=store, run_id=RUN) as run:
        session = run.session("solver")
        for step in range(20):
            session.snapshot(f"s{step}", {"step": step, "ok": step not in (5, 6, 15)})
        run.session("idle").snapshot("s", {"other": 1})
    return run.run_id


def script(tmp_path, text):
    """Write a Python program; give the command that starts it."""
    path = tmp_path / "check.py"
    path.write_text(f"import json, sys\nstate = json.load(sys.stdin)\n{text}\n")
    return shlex.join([sys.executable, str(path)])


def test_where(steps, command):
    """A condition is found by every state of the agent that has what it names."""
    done = command("bisect", "steps", "--where", "step >= 7")

    assert [
        f"{RUN}  of solver  20 snapshots",
        "first holds at @10 's7'  2.5 s",
        "not yet at     @9 's6'  2.2 s",
        f"see: argentum diff {RUN}@9 {RUN}@10",
        "sure: It begins once and never ceases.",
        "",
    ] == done.lines
    assert 0 == done.code


def test_flips(steps, command):
    """A condition that flips is said to, and each flip is listed."""
    lines = command("bisect", "steps", "--where", "!ok").lines

    assert "first holds at @8 's5'  2.0 s" == lines[1]
    assert "it flips: It begins or ceases to hold at 4 places:" == lines[4]
    assert ["begins", "ceases", "begins", "ceases"] == [line.split()[0] for line in lines[7:11]]


def test_many_flips(store, command):
    """Of many flips the first are listed, and all with --every."""
    with Run("often", store=store) as run:
        session = run.session("a")
        for step in range(30):
            session.snapshot("s", {"odd": step % 2 == 1})

    some = command("bisect", "often", "--where", "odd").lines
    every = command("bisect", "often", "--where", "odd", "--every").lines

    assert "… and 21 more: --every" in some
    assert 21 - 1 == len(every) - len(some)


def test_none(steps, command):
    """A condition that holds nowhere is an answer, too."""
    done = command("bisect", "steps", "--where", "step > 100")

    assert 0 == done.code
    assert "sure: It holds in none of the snapshots." == done.lines[1]


def test_what_could_not_be_checked(store, command):
    """States on which the condition cannot be told are counted, with the reason."""
    with Run("prices", store=store) as run:
        session = run.session("a")
        for number, state in enumerate([{}, {"price": 1}, {"price": 3}, {}]):
            session.snapshot(f"s{number}", state)

    lines = command("bisect", "prices", "--where", "price > 2").lines
    assert lines[4].startswith(
        "not sure: It begins once and never ceases, as far as it could be checked. "
        "2 snapshots could not be checked. At @3: No key in the state 'price'."
    )
    lines = command("bisect", "prices", "--where", "price < 2").lines
    assert "not yet at" not in " ".join(lines)
    assert "it flips: It holds from the start and ceases at @5 's2'." in " ".join(lines)


def test_a_command_names_places_as_the_command_line_does(store, command, tmp_path):
    """What a bisection by a command says of places is written `@7`, too."""
    with Run("odd", store=store) as run:
        session = run.session("a")
        for step in range(6):
            session.snapshot(f"s{step}", {"step": step})
    check = script(tmp_path, "sys.exit(state['step'] in (2, 3))")

    lines = command("bisect", "odd", "--run", check).lines

    assert "it flips: It begins at 's2' (@5), ceases at 's4' (@7)." == lines[4]


def test_previous(steps, command):
    """A condition may read the state before; before the first state nothing has happened."""
    lines = command("bisect", "steps", "--where", "previous.ok && !ok").lines

    assert "first holds at @8 's5'  2.0 s" == lines[1]


def test_json(steps, command):
    """Programs get the answer, whether it is trusted, and all flips."""
    [found] = json.loads(command("bisect", "steps", "--where", "!ok", "--json").out)

    assert ("solver", False, False, 20) == (
        found["agent"], found["trusted"], found["monotone"], found["snapshots"]
    )  # fmt: skip
    assert (8, 7) == (found["first"]["seq"], found["last_before"]["seq"])
    assert [(8, True), (10, False), (18, True), (19, False)] == [
        (flip["at"]["seq"], flip["holds"]) for flip in found["flips"]
    ]


def test_each_agent(store, command):
    """Each agent of which the condition can be told is looked at by itself."""
    with Run("two", store=store) as run:
        for name in ("a", "b"):
            for step in range(4):
                run.session(name).snapshot(f"s{step}", {"n": step + (name == "b")})

    found = json.loads(command("bisect", "two", "--where", "n >= 2", "--json").out)

    assert [("a", "s2"), ("b", "s1")] == [(one["agent"], one["first"]["label"]) for one in found]


@pytest.mark.parametrize("every", [True, False])
def test_a_command(steps, command, tmp_path, every):
    """A command judges the state on its standard input: 0 is good, 1 is bad."""
    check = script(tmp_path, "sys.exit(state['step'] >= 7)")
    arguments = ["bisect", "steps", "--agent", "solver", "--run", check, "--json"]

    [found] = json.loads(command(*arguments, *["--every"] * every).out)

    assert (10, 9) == (found["first"]["seq"], found["last_before"]["seq"])
    assert every is found["trusted"]
    assert (20 if every else 16) == found["calls"]


def test_a_command_that_skips(steps, command, tmp_path):
    """A command that exits with 125 says nothing of a state."""
    check = script(tmp_path, "sys.exit(125 if 6 <= state['step'] < 9 else state['step'] >= 7)")

    [found] = json.loads(
        command("bisect", "steps", "--agent", "solver", "--run", check, "--json").out
    )

    assert ("s9", "s5", 3) == (
        found["first"]["label"], found["last_before"]["label"], found["between"]
    )  # fmt: skip
    assert ["s6", "s7", "s8"] == [one["label"] for one in found["skipped"]]


@pytest.mark.parametrize(
    "arguments,hint",
    [
        ((), "Give a condition"),
        (("--where", "step > 1", "--run", "x"), "Give a condition"),
        (("--where", "stpe > 1"), "Did you mean 'step'?"),
        (("--where", "step >"), "step >"),
        (("--where", "step > 1", "--agent", "solve"), "Did you mean 'solver'?"),
        (("--run", "x"), "2 agents: 'solver', 'idle'"),
        (("--run", "", "--agent", "solver"), "The command is empty"),
        (("--run", "no-such-command", "--agent", "solver"), "cannot be started"),
        (("--run", "sh -c 'no-such-command'", "--agent", "solver"), "ended with 127"),
    ],
)
def test_wrong_use(steps, command, arguments, hint):
    """What is missing, unknown or cannot be started is told, and ends with 2."""
    done = command("bisect", "steps", *arguments)

    assert (2, "") == (done.code, done.out)
    assert hint in done.err


def test_a_command_that_is_killed(steps, command, tmp_path):
    """A command that ends with a code that means nothing ends the bisection."""
    check = script(tmp_path, "sys.exit(200)")

    done = command("bisect", "steps", "--agent", "solver", "--run", check)

    assert 2 == done.code
    assert "At snapshot 's19' (@22, 20 of 20): The command" in done.err
    assert "ended with 200" in done.err


def test_a_command_line_that_cannot_be_read(steps, command):
    """An open quote is told."""
    done = command("bisect", "steps", "--agent", "solver", "--run", "check 'x")

    assert 2 == done.code
    assert "No closing quotation" in done.err
