"""Watches on a live session: log, alert, raise or call back."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import argentum
from argentum.errors import InputError, LimitError
from argentum.record import Run
from argentum.state.watch import Break, Watch


@pytest.fixture
def session() -> argentum.AgentSession:
    """Give a session of a run in memory."""
    return Run("r").session("writer")


def alerts(session: argentum.AgentSession) -> list[dict[str, Any]]:
    """Give the bodies of the alerts."""
    return [event.body.thaw() for event in session.run.events() if event.kind == "alert"]


def take(session: argentum.AgentSession, *values: float) -> None:
    """Take a snapshot of each value."""
    for number, value in enumerate(values):
        session.snapshot(f"s{number}", {"n": value})


def test_logs_and_records_an_alert(session: argentum.AgentSession, caplog: Any) -> None:
    """By default a break is a warning without values, and an alert event with them."""
    watching = session.watch("n >= previous.n - 0.2")
    with caplog.at_level(logging.WARNING, "argentum"):
        take(session, 0.9, 0.8, 0.3)

    place = f"{session.run.run_id}@5"
    text = f"The watch 'n >= previous.n - 0.2' broke at 's2' ({place})"
    assert [text] == [record.getMessage() for record in caplog.records]
    assert [
        {
            "alert": "watch", "watch": "n >= previous.n - 0.2", "path": "", "snapshot": 5,
            "label": "s2", "before": 4, "why": "", "values": {"n": 0.3, "previous.n": 0.8},
        }
    ] == alerts(session)  # fmt: skip
    assert 1 == watching.break_count


def test_only_records_an_alert(session: argentum.AgentSession, caplog: Any) -> None:
    """With "alert" nothing is logged."""
    session.watch("n >= 0", on_break="alert", name="positive")
    take(session, -1)

    assert ([], ["positive"]) == (caplog.records, [body["watch"] for body in alerts(session)])


def test_calls_back(session: argentum.AgentSession) -> None:
    """A function is called with the break, after the alert was recorded."""
    found: list[Break] = []
    session.watch(lambda state: state["n"] >= 0, on_break=found.append)
    take(session, 1, -1, -2, 1, -1)

    assert ["s1", "s4"] == [one.snapshot.label for one in found]
    assert [4, 8] == [one.snapshot.seq for one in found]
    assert 2 == len(alerts(session))


def test_raises_out_of_the_snapshot_that_is_kept(session: argentum.AgentSession) -> None:
    """With "raise" the snapshot is recorded, then `snapshot` raises; other watches are checked."""
    session.watch("n >= 0", on_break="raise")
    other = session.watch("n >= 10", on_break="alert")
    with pytest.raises(LimitError, match="The watch 'n >= 0' broke at 's0'"):
        take(session, -1)

    assert ["s0"] == session.state_diff.labels
    assert 1 == other.break_count
    assert 2 == len(alerts(session))


def test_a_failing_callback_never_reaches_the_host(
    session: argentum.AgentSession, caplog: Any
) -> None:
    """What a callback raises is counted, and logged once."""

    def fail(found: Break) -> None:
        raise ValueError("oops")

    watching = session.watch("n > previous.n", on_break=fail)
    take(session, 3, 2, 1)

    assert (2, "`on_break` raised ValueError: oops") == (watching.faults, watching.first_fault)
    assert 1 == len(caplog.records)


def test_what_cannot_be_told_is_counted_and_logged_once(
    session: argentum.AgentSession, caplog: Any
) -> None:
    """A missing key is no break; it is logged the first time."""
    watching = session.watch("m > 0")
    take(session, 3, 2, 1)

    assert (0, 3) == (watching.break_count, watching.faults)
    expected = "The watch 'm > 0' could not be checked: No key in the state 'm'. Known: 'n'."
    assert [expected] == [record.getMessage() for record in caplog.records]
    assert [] == alerts(session)


def test_what_cannot_be_told_raises_if_asked(session: argentum.AgentSession) -> None:
    """A watch that should raise does so as well where it cannot be checked."""
    session.watch("m > 0", on_break="raise")
    with pytest.raises(LimitError, match="could not be checked: No key"):
        take(session, 3)


def test_a_bad_watch_is_refused_at_once(session: argentum.AgentSession) -> None:
    """A slip in the condition shows when the watch is made."""
    with pytest.raises(InputError, match="ends too early"):
        session.watch("n >")


def test_takes_a_whole_watch_and_stops(session: argentum.AgentSession) -> None:
    """A `Watch` can be shared by sessions; a stopped one checks nothing."""
    watching = session.watch(Watch("n >= 0", on_break="alert"))
    take(session, -1, 1)
    watching.stop()
    take(session, -1)

    assert 1 == watching.break_count
    assert "<Watching 'n >= 0': 1 breaks, 0 faults>" == repr(watching)


def test_begins_with_the_snapshot_before_it(session: argentum.AgentSession) -> None:
    """A watch that starts late compares with the last snapshot that was taken."""
    take(session, 5)
    watching = session.watch("n >= previous.n", on_break="alert")
    take(session, 4)

    assert [(3, 4)] == [
        (one.before and one.before.seq, one.snapshot.seq) for one in watching.breaks
    ]


def test_a_callback_may_take_a_snapshot(session: argentum.AgentSession) -> None:
    """A snapshot out of a callback is checked as well and waits for nothing."""

    def note(found: Break) -> None:
        if found.snapshot.label != "inner":
            session.snapshot("inner", {"n": -5})

    watching = session.watch("n > previous.n", on_break=note)
    take(session, 1, 0)

    assert ["s0", "s1", "inner"] == session.state_diff.labels
    assert 2 == watching.break_count


def test_threads_wait_for_nothing(tmp_path: Path) -> None:
    """Snapshots from several threads are all recorded and checked."""
    session = Run("r", store=tmp_path / "runs.db").session("a")
    watching = session.watch("n >= 0", on_break="raise")
    threads = [threading.Thread(target=lambda: take(session, *range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (200, 0, 0) == (
        sum(event.kind == "snapshot" for event in session.run.events()),
        watching.break_count,
        watching.faults,
    )


async def never(_: object) -> bool:
    """Be a condition that nobody awaits."""
    return False


def each(_: object):
    """Be a condition that nobody goes through."""
    yield False


@pytest.mark.parametrize("function", [never, each])
def test_a_condition_that_has_to_be_awaited_is_refused(function):
    """It would never be false: what it gives is true, whatever it would say."""
    session = Run("r").session("a")

    with pytest.raises(InputError, match="is async"):
        session.watch(function)
    with pytest.raises(InputError, match="is async"):
        session.watch(lambda _: False, on_break=function)


def test_a_parameter_with_a_default_is_the_functions_own():
    """Only one that is needed, or is called `previous`, gets the state before."""
    session = Run("r").session("a")
    watching = session.watch(lambda n, limit=3: n < limit, path="n", on_break="alert")
    compared = session.watch(
        lambda state, previous=None: previous is None or state["n"] > previous["n"],
        on_break="alert",
    )
    for number in (1, 2, 0, 5):
        session.snapshot(f"s{number}", {"n": number})

    assert ["s5"] == [found.snapshot.label for found in watching.breaks]
    assert ["s0"] == [found.snapshot.label for found in compared.breaks]


def leave(*_: object) -> bool:
    """Ask the program to end."""
    raise SystemExit(3)


def test_a_watch_that_wants_to_leave_is_a_fault(monkeypatch):
    """`sys.exit` in a condition or a callback does not end the program that is watched."""
    monkeypatch.setenv("ARGENTUM_STRICT", "0")
    session = Run("r").session("a")
    one = session.watch(leave)
    other = session.watch(lambda _: False, on_break=leave)
    session.snapshot("s", {})

    assert (1, 1) == (one.faults, other.faults)
    assert 1 == other.break_count


def test_a_watch_that_takes_snapshots_at_each_snapshot_comes_to_an_end():
    """Those that it takes are kept, and only the first few are checked again."""
    session = Run("r").session("a")
    session.watch(lambda _, previous: False, on_break=lambda _: session.snapshot("x", {"n": 1}))
    for number in (1, 2):
        session.snapshot("s", {"n": number})

    assert ["s", "s", "x", "x", "x"] == session.state_diff.labels


def test_a_whole_watch_brings_its_own_options():
    """Options beside a `Watch` would be ignored, so they are refused."""
    with pytest.raises(InputError, match="brings its own"):
        Run("r").session("a").watch(Watch(lambda _: True), path="n")


def test_a_large_part_is_told_by_its_size():
    """An alert does not hold a copy of a large part."""
    run = Run("r")
    session = run.session("a")
    session.watch(lambda now: False, path="big", on_break="alert")
    session.snapshot("s", {"big": list(range(100_000))})
    [alert] = [event for event in run.events() if event.kind == "alert"]

    assert alert.body.size_bytes < 1000
    assert "100000 items" in str(alert.body.thaw()["values"]["big"])
