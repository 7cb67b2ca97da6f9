"""Sessions: an agent's handle reads like a dict and records states, tools, notes and errors."""

from __future__ import annotations

import asyncio
import functools
import inspect

import pytest

from argentum import (
    AgentSession,
    InputError,
    Run,
    StateDiff,
    StoreError,
    create_agent_session,
)
from argentum.record import session as module
from argentum.store.memory import MemoryStore


@pytest.fixture
def session(started, store):
    """Give a session whose run (1) and agent (2) are on disk."""
    return started("test", store=store, run_id="r").session("a")


def bodies(session, kind):
    """Give what the events of a kind tell, the time taken left out."""
    found = [one.body.thaw() for one in session.run.store.events(session.run.run_id, kinds=(kind,))]
    for one in found:
        one.pop("elapsed_ms", None)
    return found


# ------------------------------------------------------------------ making one


def test_in_memory_by_default():
    """Without a store a session records into memory and leaves no file behind."""
    session = create_agent_session("a")

    assert isinstance(session.run.store, MemoryStore)
    assert False is session.run.is_kept
    assert ["run", "agent"] == [one.kind for one in session.run.events()]


def test_store_by_argument(file, reader):
    """A session with a store keeps its run there, under the agent's name."""
    session = create_agent_session("a", store=file)
    session.run.finish()

    assert [(session.run.run_id, "a", "done")] == [
        (one.run_id, one.name, one.status) for one in reader.runs()
    ]


def test_store_by_variable(monkeypatch, file):
    """With `ARGENTUM_STORE` all sessions of a process share one run in it."""
    monkeypatch.setenv("ARGENTUM_STORE", str(file))
    first, second = create_agent_session("a"), create_agent_session("b")
    first.run.finish()

    assert first.run is second.run
    assert str(file) == first.run.store.location


def test_argument_goes_before_variable(monkeypatch, tmp_path, file):
    """A store that is given by argument is taken even if the variable names another."""
    monkeypatch.setenv("ARGENTUM_STORE", str(file))
    session = create_agent_session("a", store=tmp_path / "other.db")
    session.run.finish()

    assert [False, True] == [file.exists(), (tmp_path / "other.db").exists()]


def test_joins_a_given_run(started):
    """A session may be told which run to join."""
    run = started("given")

    assert run is create_agent_session("a", run=run).run


def test_two_sessions_in_one_run(started, store, reader):
    """Two agents of one run keep their histories apart and their events in one order."""
    run = started("pair", store=store, run_id="r")
    planner, writer = run.session("planner"), run.session("writer")
    planner.snapshot("start", {"goals": []})
    writer.snapshot("start", {"text": ""})
    planner.handoff("writer", {"facts": ["x"]})

    assert [
        ("agent", "planner"),
        ("agent", "writer"),
        ("snapshot", "planner"),
        ("snapshot", "writer"),
        ("handoff", "planner"),
    ] == [(one.kind, one.agent) for one in reader.events("r", after=1)]
    assert {"goals": []} == planner.state_diff.restore("start")
    assert {"text": ""} == writer.state_diff.restore("start")
    assert [{"from_agent": "planner", "to_agent": "writer", "context": {"facts": ["x"]}}] == bodies(
        planner, "handoff"
    )


def test_secure_is_refused():
    """What is neither True, False nor settings is refused, and no run is started."""
    with pytest.raises(InputError, match="SecuritySettings"):
        create_agent_session("a", secure="yes")  # type: ignore[arg-type]


# ------------------------------------------------------------------ like a dict


def test_reads_like_a_dict():
    """The parts are found by their names, as in the specification."""
    session = create_agent_session("a", half_life_steps=7)

    assert isinstance(session["state_diff"], StateDiff)
    assert session.state_diff is session["state_diff"]
    assert ["state_diff"] == session.keys() == list(session)
    assert 1 == len(session)
    assert 7 == session.half_life_steps
    assert [True, False] == ["state_diff" in session, "cost_tracker" in session]
    assert session.state_diff is session.get("state_diff")
    assert [None, 5] == [session.get("cost_tracker"), session.get("cost_tracker", 5)]


@pytest.mark.parametrize(
    "part,message",
    [
        ("cost_tracker", "This version has no part 'cost_tracker' yet. It has: state_diff."),
        ("state_dif", "No part of a session 'state_dif'. Did you mean 'state_diff'?"),
    ],
)
def test_missing_part(part, message):
    """A part that is not there is a `KeyError` that says what there is."""
    with pytest.raises(KeyError) as caught:
        create_agent_session("a")[part]

    assert message == str(caught.value)


def test_repr(started):
    """The repr shows agent, run and place."""
    session = started("demo", run_id="r").session("a")

    assert "<AgentSession 'a' in <Run r 'demo' in memory>>" == repr(session)


# ------------------------------------------------------------------ states


def test_snapshot_is_on_disk(session, reader):
    """A snapshot can be read by another store when the call returns, with its exact types."""
    session.snapshot("start", {"t": (1, 2), "s": {1}, 3: b"x", "f": 1.0, "b": True})
    event = reader.event("r", 3)

    assert ("snapshot", "start", "a") == (event.kind, event.name, event.agent)
    assert repr({"t": (1, 2), "s": {1}, 3: b"x", "f": 1.0, "b": True}) == repr(event.body.thaw())


def test_later_change_does_not_show(session, reader):
    """What happens to the live state after the call is not in the snapshot."""
    state = {"memory": ["one"]}
    session.snapshot("start", state)
    state["memory"].append("two")

    assert {"memory": ["one"]} == reader.event("r", 3).body.thaw()


def test_old_snapshots_are_read_back(monkeypatch, started, store):
    """A label that memory no longer holds is found in the store."""
    monkeypatch.setattr(module, "KEPT_IN_MEMORY", 3)
    session = AgentSession("a", run=started("long", store=store))
    for number in range(10):
        session.snapshot(f"s{number}", {"n": number})

    assert ["s7", "s8", "s9"] == session.state_diff.labels
    assert {"n": 0} == session.state_diff.restore("s0")
    assert {"n": {"from": 2, "to": 9}} == session.state_diff.get_changes("s2", "s9")


def test_read_back_is_of_the_agent_and_the_last(monkeypatch, started, store):
    """Of several forgotten snapshots with a label, the agent's own last one is found."""
    monkeypatch.setattr(module, "KEPT_IN_MEMORY", 1)
    run = started("long", store=store)
    one, two = AgentSession("one", run=run), AgentSession("two", run=run)
    for value in (1, 2):
        one.snapshot("x", {"one": value})
    two.snapshot("x", {"two": 3})
    one.snapshot("y", {})

    assert {"one": 2} == one.state_diff.restore("x")


def test_unknown_label_names_the_nearest(session):
    """A label that is nowhere is a `KeyError` that names near ones."""
    session.snapshot("start", {})
    with pytest.raises(KeyError, match="Did you mean 'start'"):
        session.state_diff.restore("strat")


def test_history_in_memory_is_whole(monkeypatch):
    """A session without a store forgets nothing."""
    monkeypatch.setattr(module, "KEPT_IN_MEMORY", 1)
    session = create_agent_session("a")
    for number in range(3):
        session.snapshot(f"s{number}", {"n": number})

    assert ["s0", "s1", "s2"] == session.state_diff.labels


# ------------------------------------------------------------------ tools


def test_tool_records_arguments_and_result(session):
    """A decorated function works as before; its named arguments and result are recorded."""

    @session.tool
    def search(query, limit=3, *rest, **more):
        """Look it up."""
        return [query] * limit

    assert ["x", "x"] == search("x", limit=2)
    assert ["y"] == search("y", 1, "z", w=5)
    assert ("search", "Look it up.") == (search.__name__, search.__doc__)
    assert [
        {"tool": "search", "arguments": {"query": "x", "limit": 2}},
        {"output": ["x", "x"]},
        {
            "tool": "search",
            "arguments": {"query": "y", "limit": 1, "rest": ("z",), "more": {"w": 5}},
        },
        {"output": ["y"]},
    ] == bodies(session, "tool_call")


def test_tool_arguments_are_those_before_the_call(session):
    """What a tool does to its arguments is not in the opening event."""

    @session.tool
    def push(items):
        items.append("new")
        return items

    push([])

    assert [
        {"tool": "push", "arguments": {"items": []}},
        {"output": ["new"]},
    ] == bodies(session, "tool_call")


def test_tool_with_a_name(session):
    """A tool may be recorded under another name."""

    @session.tool(name="web.search")
    def search():
        return None

    search()

    assert ["web.search", "web.search"] == [
        one.name for one in session.run.events() if one.kind == "tool_call"
    ]
    assert [{"tool": "web.search", "arguments": {}}, {"output": None}] == bodies(
        session, "tool_call"
    )


def test_tool_that_raises(session):
    """An exception of a tool is recorded and reaches the caller as the same object."""
    problem = OSError("no net")

    @session.tool
    def fetch():
        raise problem

    with pytest.raises(OSError, match="no net") as caught:
        fetch()
    told = bodies(session, "tool_call")[1]["error"]

    assert problem is caught.value
    assert "OSError: no net" == told["text"]


def test_wrong_arguments_stay_the_functions_own_error(session):
    """Arguments that do not fit raise what the function itself would raise."""

    @session.tool
    def double(x):
        return 2 * x

    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        double(y=1)

    assert {"tool": "double", "arguments": {"args": [], "kwargs": {"y": 1}}} == bodies(
        session, "tool_call"
    )[0]


def test_async_tool(session):
    """A decorated coroutine function stays one; it closes when it is done."""

    @session.tool
    async def fetch(url):
        await asyncio.sleep(0)
        session.note("inside")
        return url.upper()

    assert inspect.iscoroutinefunction(fetch)
    assert "HTTP" == asyncio.run(fetch("http"))
    assert [("open", None), ("point", 3), ("close", None)] == [
        (one.phase, one.parent) for one in session.run.events() if one.seq > 2
    ]
    assert [
        {"tool": "fetch", "arguments": {"url": "http"}},
        {"output": "HTTP"},
    ] == bodies(session, "tool_call")


def test_async_tool_that_raises(session):
    """An exception of an async tool is recorded and reaches the caller as the same object."""
    problem = TimeoutError("slow")

    @session.tool
    async def fetch():
        raise problem

    with pytest.raises(TimeoutError) as caught:
        asyncio.run(fetch())

    assert problem is caught.value
    assert "TimeoutError: slow" == bodies(session, "tool_call")[1]["error"]["text"]


def test_cancelled_tool(session):
    """A cancelled async tool stays cancelled and closes with that."""

    @session.tool
    async def wait():
        await asyncio.sleep(60)

    async def main():
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert "CancelledError" == bodies(session, "tool_call")[1]["error"]["type"]


def test_builtin_and_partial_tools(session):
    """Functions without a name or a signature can be tools, too."""
    add = session.tool(functools.partial(max, 3))
    largest = session.tool(max)

    assert [5, 2] == [add(5), largest(1, 2)]
    assert ["partial", "max"] == [
        one.name for one in session.run.events() if one.phase == "open" and one.seq > 1
    ]


def test_tool_gives_its_own_result(session):
    """The caller gets the very object that the tool gave, not what was recorded of it."""
    result = object()
    give = session.tool(lambda: result)

    assert result is give()


# ------------------------------------------------------------------ notes, errors


def test_note(session):
    """A note is kept whole; its name is its first words."""
    session.note("long " * 30, score=0.5)
    event = session.run.store.event("r", 3)

    assert {"text": "long " * 30, "score": 0.5} == event.body.thaw()
    assert ("long " * 12)[:59] + "…" == event.name
    assert "a" == event.agent


def test_error(session):
    """An exception that the host handles itself can be recorded."""
    try:
        raise LookupError("nothing there")
    except LookupError as error:
        assert 3 == session.error(error)

    event = session.run.store.event("r", 3)
    assert ("error", "LookupError", "a") == (event.kind, event.name, event.agent)
    assert "LookupError: nothing there" == event.body.thaw()["text"]


def test_bad_store_raises_in_tests(tmp_path):
    """Under pytest a store that cannot be used is seen at once."""
    with pytest.raises(StoreError, match="is not a SQLite file"):
        create_agent_session("a", store=_nonsense(tmp_path))


def _nonsense(folder):
    path = folder / "bad.db"
    path.write_bytes(b"nonsense " * 1000)
    return path


def test_run_gives_sessions():
    """A run makes sessions itself."""
    with Run("r") as run:
        session = run.session("a", half_life_steps=5)

    assert ("a", 5, run) == (session.agent_id, session.half_life_steps, session.run)
