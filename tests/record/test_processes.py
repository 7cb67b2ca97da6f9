"""Runs across processes: forks, the end of the interpreter, and kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.cli.running import Finished, python, surroundings

from argentum.record import status_now

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_kill = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")


def program(text: str) -> str:
    """Write a program into the current folder."""
    Path("prog.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return "prog.py"


def run_program(text: str, **more: str) -> Finished:
    """Run a program to its end."""
    return python(program(text), **more)


def names(reader, kind):
    """List the names of a run's events of a kind."""
    run_id = reader.runs()[0].run_id
    return [one.name for one in reader.events(run_id, kinds=(kind,))]


def test_end_of_the_interpreter_finishes_the_run(file, reader):
    """A program that just ends has a run that is done."""
    done = run_program("""
        import argentum
        argentum.create_agent_session("a").note("hello")
    """, ARGENTUM_STORE=str(file))  # fmt: skip
    (info,) = reader.runs()

    assert (0, "", "") == (done.code, done.out, done.err)
    assert ("prog.py", "done", 4) == (info.name, info.status, info.events)
    assert info.ended_at_ns is not None


def test_exit_code_stays(file, reader):
    """The recorder does not change how a program ends."""
    done = run_program("""
        import argentum, sys
        argentum.create_agent_session("a")
        sys.exit(7)
    """, ARGENTUM_STORE=str(file))  # fmt: skip

    assert 7 == done.code
    assert "done" == reader.runs()[0].status


@needs_fork
def test_forked_child_records_into_the_run(file, reader):
    """A forked child's events are in its parent's run; its end does not end the run."""
    done = run_program("""
        import argentum, os, sys
        session = argentum.create_agent_session("a")
        with session.tool_call("fork"):
            pid = os.fork()
            if pid == 0:
                session.note("child")
                sys.exit(0)
            os.waitpid(pid, 0)
        print(session.run.store.run(session.run.run_id).status)
        session.note("parent")
    """, ARGENTUM_STORE=str(file))  # fmt: skip
    (info,) = reader.runs()

    assert (0, "", ["running"]) == (done.code, done.err, done.lines)
    assert ["child", "parent"] == names(reader, "note")
    assert [3, None] == [one.parent for one in reader.events(info.run_id, kinds=("note",))]
    assert "done" == info.status
    assert [] == reader.check()


@needs_fork
def test_forked_children_at_once(file, reader):
    """Many children and their parent write at once; nothing is lost and nothing is damaged."""
    done = run_program("""
        import argentum, os
        session = argentum.create_agent_session("a")
        session.snapshot("start", {"items": list(range(1000))})
        children = []
        for child in range(6):
            pid = os.fork()
            if pid == 0:
                for number in range(20):
                    session.snapshot(f"{child}.{number}", {"items": [child] * 1000, "n": number})
                os._exit(0)
            children.append(pid)
        for number in range(20):
            session.snapshot(f"p.{number}", {"items": list(range(1000)), "n": number})
        for pid in children:
            os.waitpid(pid, 0)
    """, ARGENTUM_STORE=str(file))  # fmt: skip
    (info,) = reader.runs()
    events = list(reader.events(info.run_id))

    assert (0, "") == (done.code, done.err)
    assert ("done", 0) == (info.status, info.dropped)
    assert list(range(1, 4 + 7 * 20 + 1)) == [one.seq for one in events]
    assert {f"{who}.{number}" for who in "012345p" for number in range(20)} | {"start"} == set(
        names(reader, "snapshot")
    )
    assert [] == reader.check()


@needs_fork
def test_fork_while_a_thread_records(file, reader):
    """A child that is forked while another thread takes a snapshot can record at once."""
    done = run_program("""
        import argentum, os, signal, threading
        session = argentum.create_agent_session("a")
        state = {"items": [{"n": n} for n in range(20000)]}
        over = threading.Event()
        def work():
            while not over.is_set():
                state["items"][0]["n"] += 1
                session.snapshot("thread", state)
        thread = threading.Thread(target=work)
        thread.start()
        codes = []
        for number in range(10):
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)  # a child that hangs is ended
                session.snapshot(f"child {number}", {"n": number})
                os._exit(0)
            codes.append(os.waitpid(pid, 0)[1])
        over.set()
        thread.join()
        print(codes)
    """, ARGENTUM_STORE=str(file))  # fmt: skip

    assert (0, "", [str([0] * 10)]) == (done.code, done.err, done.lines)
    assert [f"child {number}" for number in range(10)] == [
        name for name in names(reader, "snapshot") if name != "thread"
    ]
    assert [] == reader.check()


@needs_fork
def test_fork_of_a_run_in_memory():
    """A fork of a program that records in memory ends like any other."""
    done = run_program("""
        import argentum, os, sys
        session = argentum.create_agent_session("a")
        pid = os.fork()
        session.note("both")
        if pid == 0:
            sys.exit(0)
        print(os.waitpid(pid, 0)[1], len(list(session.run.events())))
    """)  # fmt: skip

    assert (0, "", ["0 3"]) == (done.code, done.err, done.lines)


@needs_kill
def test_killed_process_keeps_all(file, reader):
    """After kill -9 all events are there, the open span included, and the run shows as killed."""
    path = program("""
        import argentum, time
        session = argentum.create_agent_session("a")
        for number in range(50):
            session.snapshot(f"s{number}", {"n": number, "items": list(range(number))})
        with session.tool_call("wait", {"for": "ever"}):
            print("ready", flush=True)
            time.sleep(100)
    """)
    child = subprocess.Popen(
        [sys.executable, path], stdout=subprocess.PIPE, text=True,
        env=surroundings(ARGENTUM_STORE=str(file)),
    )  # fmt: skip
    assert child.stdout is not None
    child.stdout.readline()
    before = status_now(reader.runs()[0])
    child.send_signal(signal.SIGKILL)
    child.communicate()
    (info,) = reader.runs()
    last = reader.event(info.run_id, info.events)

    assert ["running", "killed"] == [before, status_now(info)]
    assert [f"s{number}" for number in range(50)] == names(reader, "snapshot")
    assert {"n": 49, "items": list(range(49))} == reader.event(info.run_id, 52).body.thaw()
    assert ("tool_call", "open", {"tool": "wait", "arguments": {"for": "ever"}}) == (
        last.kind, last.phase, last.body.thaw(),
    )  # fmt: skip
    assert [] == reader.check()


def test_fault_is_logged_once_and_shown(file, reader):
    """Outside of tests a fault is one line on stderr, and the run tells it."""
    done = run_program("""
        import argentum
        session = argentum.create_agent_session("a")
        session.snapshot(1, {})
        session.snapshot(2, {})
        session.note("alive")
        print("end")
    """, ARGENTUM_STORE=str(file))  # fmt: skip
    (info,) = reader.runs()

    assert (0, ["end"]) == (done.code, done.lines)
    assert [
        f"Could not record in run {info.run_id}: InputError: The label 1 is a int; give a str."
    ] == done.err.splitlines()
    assert (2, "InputError: The label 1 is a int; give a str.") == (
        info.dropped, info.first_dropped,
    )  # fmt: skip
