"""The command as a whole: help, version, pipes, terminals, odd text."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
from tests.cli.running import COMMAND, argentum_process, surroundings

from argentum import Run, create_agent_session

COMMANDS = (
    "run", "runs", "log", "show", "diff", "history", "blame", "bisect", "compare", "watch", "fork",
    "import", "export", "doctor",
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_help(command, name):
    """Every command has help with a sentence that says what it does."""
    short, long = command(name, "-h"), command(name, "--help")

    assert (0, 0, "") == (short.code, long.code, long.err)
    assert short.out == long.out
    assert f" {name} [OPTIONS]" in long.lines[1]
    assert _told(long.lines)[0][0].isupper()
    assert "--store" in long.out


def test_help_names_all_commands(command):
    """The help of the whole names every command, variable and exit code."""
    shown = command("--help").out

    assert [] == [name for name in COMMANDS if f"│ {name} " not in shown]
    assert [True] * 4 == [
        text in shown
        for text in ("ARGENTUM_STORE", "ARGENTUM_DURABLE", "ARGENTUM_STRICT", "0 clean, 1 findings")
    ]


def test_no_arguments(command):
    """Without arguments the help is shown."""
    done = command()

    assert 2 == done.code
    assert command("--help").out.split() == (done.out + done.err).split()


def test_version(command):
    """The version is that of the installed package."""
    assert f"argentum {version('argentum-agent')}\n" == command("--version").out


@pytest.mark.parametrize(
    "arguments,message",
    [
        (("rusn",), "No such command 'rusn'. Did you mean"),
        (("runs", "--lmit", "3"), "No such option: --lmit"),
        (("runs", "--limit", "x"), "Invalid value for '--limit'"),
        (("diff", "@"), "Missing argument 'RUN@REV'."),
        (("import",), "Missing argument 'FILE'."),
    ],
)
def test_wrong_use(command, arguments, message):
    """Wrong use is told on stderr, with exit code 2."""
    done = command(*arguments)

    assert (2, "") == (done.code, done.out)
    assert message in " ".join(done.err.replace("│", " ").split())


@pytest.mark.parametrize(
    "arguments", [("log",), ("runs",), ("show", "@"), ("diff", "@-2", "@end"), ("doctor",)]
)
def test_plain_when_piped(trip, arguments):
    """In a pipe there are no colours, and nothing is cut or wrapped."""
    done = argentum_process(*arguments)

    assert (0, "", False) == (done.code, done.err, "\x1b" in done.out)


TAKES_A_RUN = (
    ("log",), ("export",), ("history", "confidence"), ("blame", "confidence"),
    ("bisect", "--where", "confidence < 0.5"), ("compare", "trip.py"),
    ("watch", "--where", "confidence > 0"),
)  # fmt: skip


@pytest.mark.parametrize("name", ["@", "trip.py@", "2027"])
@pytest.mark.parametrize("taking", TAKES_A_RUN, ids=lambda one: one[0])
def test_names_of_a_run(trip, command, taking, name):
    """Every command that takes a run takes `@`, `NAME@` and the start of an id for it."""
    done = command(taking[0], name, *taking[1:])

    assert command(taking[0], trip, *taking[1:]) == done
    assert (0, "") == (done.code, done.err)


@pytest.mark.parametrize("name", ["log", "bisect", "compare", "watch", "fork"])
def test_help_is_wrapped_once(command, name, monkeypatch):
    """The paragraphs of a help are as wide as the terminal, not as their source."""
    monkeypatch.setenv("COLUMNS", "80")
    told = [*_told(command(name, "-h").lines), ""]

    # A word that would have fitted behind a line shows that the line was broken before.
    early = [
        line
        for line, after in pairwise(told)
        if line and after and len(line) + len(after.split()[0]) < 76
    ]
    assert [] == early


def _told(lines):
    """Give what a help says between the usage and the arguments."""
    told = [line.strip() for line in lines]
    start = told.index("", 1) + 1
    return told[start : next(at for at, line in enumerate(told) if line.startswith("╭"))]


def test_long_lines_stay_whole_in_a_pipe(store):
    """What `grep` should find is not broken by the width of some terminal."""
    with Run("n" * 300, store=store):
        pass

    assert "n" * 300 in argentum_process("runs", COLUMNS="80").out


def on_terminal(*arguments: str, **more: str) -> str:
    """Run the command on a terminal of 24 lines; give what it showed."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    child = subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
        env=surroundings(TERM="xterm-256color", **more),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so that the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert 0 == child.wait()
    return shown.decode()


needs_terminal = pytest.mark.skipif(os.name == "nt", reason="needs pseudo-terminals")


@needs_terminal
def test_colours_on_a_terminal(trip):
    """On a terminal there are colours, unless `NO_COLOR` is set."""
    assert [True, False] == [
        "\x1b[32m" in shown for shown in (on_terminal("runs"), on_terminal("runs", NO_COLOR="1"))
    ]


@needs_terminal
def test_pager_for_long_output(store):
    """On a terminal what does not fit on the screen goes through the pager."""
    with Run("x", store=store) as run:
        for number in range(40):
            run.note(f"note {number}")
    Path("pager.py").write_text(
        "import sys\ntext = sys.stdin.read()\nprint('PAGED', 'note 39' in text)\n",
        encoding="utf-8",
    )
    pager = f"{sys.executable} pager.py"

    assert "PAGED True" in on_terminal("log", PAGER=pager)
    assert "PAGED" not in on_terminal("runs", PAGER=pager)


@needs_terminal
@pytest.mark.parametrize("path", ["", "text", "bytes", "items", "inner"])
def test_outline_on_a_terminal(store, path):
    """On a terminal a large state is outlined and a large text shown, unless all is wanted."""
    with Run("x", store=store) as run:
        run.session("a").snapshot("s", {
            "text": "t" * 60_000, "bytes": b"b" * 60_000,
            "items": [f"item {number}" for number in range(9000)],
            "inner": {f"key {number}": number for number in range(9000)},
        })  # fmt: skip
    shown = on_terminal("show", "@", path, PAGER="cat")

    assert {"text": [False], "bytes": [False]}.get(path, [True]) == ["name a path" in shown]


def test_reader_that_has_seen_enough(store):
    """`| head -1` ends the command without a word."""
    with Run("x", store=store) as run:
        for number in range(3000):
            run.note(f"note {number} {'x' * 50}")
    for name in ("log", "export"):
        child = subprocess.Popen(
            [*COMMAND, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()
        )
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        told = child.stderr.read()
        child.stderr.close()
        child.wait()
        assert b"" == told


NASTY = "a\x1b[31mred\x07\u202eback\r\nnext\x9b2J"


@pytest.mark.parametrize(
    "arguments",
    [
        ("log",), ("runs",), ("show", "@"), ("show", "@4"), ("diff", "@3", "@4"),
        ("log", "--agent", "none"), ("show", "@none"), ("show", "@", "none"), ("log", "none"),
    ],
)  # fmt: skip
def test_recorded_text_cannot_drive_the_terminal(store, command, arguments):
    """Control characters of recorded text are shown, not sent."""
    with Run(NASTY, store=store, run_id=f"r{NASTY}") as run:
        session = run.session(NASTY)
        session.snapshot(NASTY, {NASTY: NASTY})
        session.snapshot(NASTY, {NASTY: NASTY + "2"})
        session.tool_call(NASTY, {NASTY: NASTY}).__enter__()
        session.model_call(NASTY, NASTY).__enter__().output({"content": NASTY})
        session.note(NASTY, more=NASTY)
        session.error(RuntimeError(NASTY))
        session.handoff(NASTY, NASTY)
    done = command(*arguments)

    assert [] == [char for char in done.out + done.err if char in "\x1b\x07\u202e\r\x9b"]
    assert "\\x1b[31mred" in done.out + done.err


def test_reading_does_not_write(store, command):
    """Looking at a run that goes on leaves it as it is."""
    session = create_agent_session("a", run=Run("x", store=store, run_id="r"))
    before = store.run("r")
    for name in ("runs", "log", "doctor", "export"):
        command(name)

    assert before == store.run("r")
    session.run.finish()


def test_other_encoding(trip):
    """A terminal that cannot show an arrow gets something else rather than a traceback."""
    done = argentum_process("log", PYTHONIOENCODING="ascii")

    assert (0, "") == (done.code, done.err)
    assert "confidence  0.9 " in done.out


def test_surrogate_in_a_state(store, command):
    """Text that is no Unicode can be shown and compared."""
    with Run("x", store=store) as run:
        session = run.session("a")
        session.snapshot("s1", {"half": "\ud800"})
        session.snapshot("s2", {"half": "\udfff", "\ud801": 1})
    for arguments in (
        ("log",), ("show", "@"), ("show", "@", "--json"), ("diff", "@s1", "@s2"),
        ("diff", "@s1", "@s2", "--json"), ("diff", "@s1", "@s2", "--patch"), ("log", "--json"),
        ("export",),
    ):  # fmt: skip
        done = command(*arguments)
        assert (0, "") == (done.code, done.err)
