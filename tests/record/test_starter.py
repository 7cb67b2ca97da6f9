"""`argentum run`: what a program prints, takes and returns stays as it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from tests.cli.running import COMMAND, argentum_process, python, steady, surroundings

from argentum.record import status_now

TOLD = "argentum: recorded run RUN; see: argentum log RUN"
WITH_SESSION = "import argentum\nsession = argentum.create_agent_session('a')\n"


def write(name: str, text: str) -> str:
    """Write a program into the current folder."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return name


def recorded(*arguments: str):
    """Run a program with the recorder, into `runs.db`."""
    return argentum_process("run", "--store", "runs.db", *arguments)


@pytest.fixture
def last(file):
    """Give a function for the newest run and its events."""
    from argentum.store import open_store

    def find():
        store = open_store(file)
        info = store.runs()[0]
        events = list(store.events(info.run_id))
        for event in events:
            event.body.thaw()
        store.close()
        return info, events

    return find


SAME = {
    "arguments": "import sys; print(sys.argv, sys.argv is not None)",
    "file": "print(__file__, __name__, __doc__, __spec__, __package__)",
    "folder": "import sys; print(sys.path[0])",
    "bytes": "import sys; sys.stdout.buffer.write(bytes(range(256)))",
    "future": "def f(x: undefined_name): ...\n",
    "main": "import __main__; x = 5; print(__main__.x, __main__.__file__)",
    "pickle": "import pickle\nclass A: ...\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "at exit": "import atexit; atexit.register(print, 'bye'); print('hello')",
    "closed": "import sys; print('x'); sys.stdout.close()",
    "closed both": "import sys; print('x'); sys.stdout.close(); sys.stderr.close()",
    "none": "import sys; print('x', flush=True); sys.stdout = None",
    "exit 3": "import sys; sys.exit(3)",
    "exit text": "import sys; sys.exit('no such luck')",
    "exit none": "import sys; sys.exit()",
    "exit true": "raise SystemExit(True)",
    "hard exit": "import os; print('x', flush=True); os._exit(5)",
    "exception": "def f():\n    raise ValueError('bad')\nf()",
    "chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "syntax": "x = (\n",
    "import": "import no_such_module_at_all",
    "group": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_same_as_plain_python(text):
    """Output, errors and exit code equal those of plain Python, byte for byte."""
    path = write("prog.py", text)
    plain = subprocess.run(
        [sys.executable, path, "a", "--b=c", "-q"], env=surroundings(), capture_output=True,
        check=False,
    )  # fmt: skip
    ours = subprocess.run(
        [*COMMAND, "run", "-q", "--store", "runs.db", path, "a", "--b=c", "-q"],
        env=surroundings(), capture_output=True, check=False,
    )  # fmt: skip

    assert (plain.returncode, plain.stdout, plain.stderr) == (
        ours.returncode, ours.stdout, ours.stderr,
    )  # fmt: skip


def test_warnings_and_future_of_ours_do_not_leak():
    """The program is compiled with its own `from __future__`, not with ours."""
    path = write("prog.py", "def f(x: 1 + 1): ...\nprint(f.__annotations__)")

    assert "{'x': 2}\n" == recorded("-q", path).out


def test_tells_the_run_on_stderr(last):
    """The id of the run is told on stderr, so that pipes of the program stay clean."""
    done = recorded(write("prog.py", WITH_SESSION + "print(42)"))
    info, events = last()

    assert (0, "42\n", [TOLD]) == (done.code, done.out, steady(done.err).splitlines())
    assert ("prog.py", "done", 3) == (info.name, info.status, info.events)
    assert ["run", "agent", "run"] == [one.kind for one in events]
    assert info.run_id in done.err


def test_program_without_agents(last):
    """A program that knows nothing of Argentum is recorded as a run with its end."""
    done = recorded("--name", "nightly", write("prog.py", "print(1)"))
    info, events = last()

    assert (0, "1\n") == (done.code, done.out)
    assert ("nightly", "done", ["open", "close"]) == (
        info.name, info.status, [one.phase for one in events],
    )  # fmt: skip


def test_sessions_join_the_run(last):
    """All sessions of the program are in one run, in the place that the command named."""
    recorded(write("prog.py", """
        import argentum
        for name in ("a", "b"):
            argentum.create_agent_session(name).snapshot("start", {"name": name})
    """))  # fmt: skip
    _, events = last()

    assert ["a", "a", "b", "b"] == [one.agent for one in events if one.agent]


def test_default_store_is_found_again():
    """Without a name the store is made below the current folder and found from folders below."""
    argentum_process("run", write("prog.py", WITH_SESSION))
    Path("deep/er").mkdir(parents=True)
    os.chdir("deep/er")

    assert ["run", "prog.py", "done"] == [
        argentum_process("runs").lines[0].split()[0],
        *argentum_process("runs").lines[1].split()[1:3],
    ]


def test_exception_is_recorded(last):
    """A program that fails has a failed run with its traceback, in which we do not appear."""
    done = recorded(write("prog.py", "def f():\n    raise ValueError('bad')\n\nf()\n"))
    info, events = last()
    told = events[1].body.thaw()

    assert 1 == done.code
    assert ["failed", "error"] == [info.status, events[1].kind]
    assert ("ValueError", "ValueError: bad") == (told["type"], told["text"])
    assert (
        textwrap.dedent(f"""\
        Traceback (most recent call last):
          File "{Path.cwd()}/prog.py", line 4, in <module>
            f()
          File "{Path.cwd()}/prog.py", line 2, in f
            raise ValueError('bad')
        ValueError: bad
    """)
        == told["traceback"]
    )
    assert [*told["traceback"].splitlines(), TOLD] == steady(done.err).splitlines()


@pytest.mark.parametrize("code,status", [(0, "done"), (3, "failed")])
def test_exit_code(last, code, status):
    """The exit code is passed on; one that is not 0 makes the run a failed one."""
    done = recorded(write("prog.py", f"import sys; sys.exit({code})"))
    info, _ = last()

    assert (code, status) == (done.code, info.status)


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_interrupt(last):
    """Ctrl-C ends the program with 130 and is recorded; what came before is kept."""
    done = recorded(write("prog.py", WITH_SESSION + """
import os, signal
session.note("before")
os.kill(os.getpid(), signal.SIGINT)
"""))  # fmt: skip
    info, events = last()

    assert (130, "failed") == (done.code, info.status)
    assert ["before", "KeyboardInterrupt", "prog.py"] == [one.name for one in events[2:]]


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_killed_program_keeps_its_events(last):
    """A program that is killed by SIGKILL has all its events and shows as killed."""
    done = recorded(write("prog.py", WITH_SESSION + """
import os, signal
with session.tool_call("last"):
    os.kill(os.getpid(), signal.SIGKILL)
"""))  # fmt: skip
    info, events = last()

    assert -signal.SIGKILL == done.code
    assert ("killed", "running") == (status_now(info), info.status)
    assert ("last", "open") == (events[-1].name, events[-1].phase)


def test_module():
    """`-m` runs a module of the current folder with its own arguments."""
    write("tool/__init__.py", "")
    write("tool/names.py", "NAME = 'relative'")
    write("tool/__main__.py", "import sys\nfrom .names import NAME\nprint(NAME, sys.argv)")
    plain = python("-m", "tool", "x", "-m")
    done = recorded("-q", "-m", "tool", "x", "-m")

    assert (0, plain.out, "") == (done.code, done.out, done.err)


def test_imports_beside_the_script():
    """A script in another folder imports what lies beside it."""
    write("far/away/beside.py", "NAME = 'beside'")
    done = recorded("-q", write("far/away/prog.py", "from beside import NAME; print(NAME)"))

    assert (0, "beside\n") == (done.code, done.out)


def test_script_by_a_link():
    """A link runs as what it points to, as with plain Python."""
    write("real/prog.py", "import beside; print(beside.NAME, __file__)")
    write("real/beside.py", "NAME = 'beside'")
    Path("link.py").symlink_to(Path("real/prog.py"))

    assert python("link.py").out == recorded("-q", "link.py").out


def test_folder_and_zip_file():
    """A folder or zip file with a `__main__.py` runs like with plain Python."""
    write("app/__main__.py", "import sys; print('main', sys.argv)")
    with zipfile.ZipFile("app.zip", "w") as file:
        file.write("app/__main__.py", "__main__.py")

    assert ["main ['app', 'x']", "main ['app.zip', 'x']"] == [
        recorded("-q", one, "x").out.strip() for one in ("app", "app.zip")
    ]


def test_unknown_script():
    """A script that is not there is wrong use; no store is made for it."""
    done = recorded("nothing.py")

    assert (
        2,
        f"argentum: There is no script 'nothing.py' here ({Path.cwd()}). "
        "Give a path, or -m MODULE.\n",
    ) == (done.code, done.err)
    assert [] == list(Path.cwd().iterdir())


def test_unknown_module():
    """A module that is not there is named without a traceback of ours."""
    done = recorded("-q", "-m", "no_such_module")

    assert (1, "ImportError: No module named no_such_module\n") == (done.code, done.err)


def test_option_before_the_script():
    """An option that is none of ours is not taken for a script."""
    done = recorded("--fast", "prog.py")

    assert (
        2,
        "argentum: '--fast' is no option of `argentum run`; "
        "those of the program follow its name.\n",
    ) == (done.code, done.err)


def test_fault_of_the_recorder_is_shown(last):
    """What could not be recorded does not stop the program and is shown with the run."""
    done = recorded(write("prog.py", WITH_SESSION + "session.snapshot(3, {})\nprint('end')\n"))
    info, _ = last()
    listed = argentum_process("runs", "--store", "runs.db")
    logged = argentum_process("log", "--store", "runs.db")
    reason = "dropped: 1, first reason: InputError: The label 3 is a int; give a str."

    assert (0, "end\n", 1) == (done.code, done.out, info.dropped)
    assert [True, True] == [reason in listed.lines[1], reason in logged.lines[0]]


def test_threads_and_exit_handlers_belong_to_the_run(last):
    """What a program's threads and exit handlers record is in its run, before the closing event."""
    program = write(
        "late.py",
        """
        import argentum, atexit, threading, time
        first = argentum.create_agent_session("main")
        def late():
            time.sleep(0.2)
            argentum.create_agent_session("thread").note("in a thread")
        def bye():
            argentum.create_agent_session("exit").note("at exit")
            first.note("in an old session")
        atexit.register(bye)
        threading.Thread(target=late).start()
        raise SystemExit(3)
        """,
    )

    assert 3 == recorded(program).code
    info, events = last()
    assert ["in a thread", "at exit", "in an old session"] == [
        event.name for event in events if event.kind == "note"
    ]
    assert ("failed", "run", "close") == (info.status, events[-1].kind, events[-1].phase)
