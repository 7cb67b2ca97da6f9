"""Spans: on disk when they open, nested across threads and tasks, errors passed on unchanged."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from argentum import Run


def outline(events):
    """Show events as `(seq, kind, phase, span, parent)`."""
    return [(one.seq, one.kind, one.phase, one.span, one.parent) for one in events]


@pytest.fixture
def session(started, store):
    """Give a session whose run (1) and agent (2) are on disk."""
    return started("test", store=store, run_id="r").session("a")


def body(run: Run, seq: int):
    """Give what an event tells."""
    return run.store.event(run.run_id, seq).body.thaw()


def test_open_span_is_on_disk(session, reader):
    """A span can be read by another store while it is still open."""
    with session.tool_call("search", {"q": "cats"}):
        inside = list(reader.events("r", after=2))

    assert [(3, "tool_call", "open", None, None)] == outline(inside)
    assert {"tool": "search", "arguments": {"q": "cats"}} == inside[0].body.thaw()


def test_closed_span_names_its_opening(session, reader):
    """The closing event has the opening's `seq` as its span."""
    with session.tool_call("search"):
        pass

    assert [(3, "tool_call", "open", None, None), (4, "tool_call", "close", 3, None)] == outline(
        reader.events("r", after=2)
    )


def test_model_call_keeps_output_and_usage(session):
    """What a model was asked, what it said and what it used are kept."""
    with session.model_call("gpt", [{"role": "user"}], temperature=0.5) as call:
        call.output({"role": "assistant"})
        call.usage(input_tokens=3, output_tokens=4)
    closing = body(session.run, 4)
    elapsed_ms = closing.pop("elapsed_ms")

    assert {"model": "gpt", "messages": [{"role": "user"}], "temperature": 0.5} == body(
        session.run, 3
    )
    assert {
        "output": {"role": "assistant"},
        "usage": {"input_tokens": 3, "output_tokens": 4},
    } == closing
    assert isinstance(elapsed_ms, float)


def test_events_inside_have_the_span_as_parent(session, reader):
    """Everything that is recorded in a block has the innermost span as its parent."""
    with session.model_call("gpt"):
        session.note("thinking")
        with session.tool_call("search"):
            session.snapshot("found", {"n": 1})
        session.note("again")
    session.note("after")

    assert [
        (3, "model_call", "open", None, None),
        (4, "note", "point", None, 3),
        (5, "tool_call", "open", None, 3),
        (6, "snapshot", "point", None, 5),
        (7, "tool_call", "close", 5, 3),
        (8, "note", "point", None, 3),
        (9, "model_call", "close", 3, None),
        (10, "note", "point", None, None),
    ] == outline(reader.events("r", after=2))


def test_exception_is_recorded_and_raised_unchanged(session):
    """An exception that leaves the block is the host's own object, and described in the close."""
    problem = ValueError("bad wolf")
    with pytest.raises(ValueError, match="bad wolf") as caught, session.tool_call("search"):
        raise problem
    told = body(session.run, 4)["error"]

    assert problem is caught.value
    assert ("ValueError", "ValueError: bad wolf") == (told["type"], told["text"])
    assert "raise problem" in told["traceback"]


def test_cancelled_block_is_recorded(session):
    """What is no `Exception`, like the end of a program, is recorded and goes on, too."""
    with pytest.raises(SystemExit), session.tool_call("search"):
        raise SystemExit(3)

    assert "SystemExit: 3" == body(session.run, 4)["error"]["text"]


def test_exception_that_cannot_be_shown(session):
    """An exception whose text raises does no harm."""

    class Mute(Exception):  # noqa: N818
        def __str__(self):
            raise RuntimeError

    with pytest.raises(Mute), session.tool_call("search"):
        raise Mute

    assert "Mute: Mute()" == body(session.run, 4)["error"]["text"]


def test_threads_do_not_share_spans(session, reader):
    """A span that is open in one thread is no parent of what another one records."""
    with session.model_call("gpt"):
        thread = threading.Thread(target=session.note, args=("elsewhere",))
        thread.start()
        thread.join()

    assert [None] == [one.parent for one in reader.events("r", kinds=("note",))]


def test_copied_context_carries_the_span(session, reader):
    """A thread that runs in a copied context, like `asyncio.to_thread`, keeps the parent."""
    with session.model_call("gpt"):
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(session.note, "helper"))
        thread.start()
        thread.join()

    assert [3] == [one.parent for one in reader.events("r", kinds=("note",))]


def test_tasks_keep_their_own_spans(session, reader):
    """Tasks that take turns each see the span that they opened themselves."""

    async def work(name: str):
        async with session.tool_call(name):
            await asyncio.sleep(0)
            session.note(name)
            await asyncio.sleep(0)

    async def main():
        async with session.model_call("gpt"):
            await asyncio.gather(work("one"), work("two"), asyncio.to_thread(session.note, "three"))

    asyncio.run(main())
    events = list(reader.events("r", after=2))
    spans = {one.seq: one.name for one in events if one.phase == "open"}

    assert {"one": "gpt", "two": "gpt"} == {
        one.name: spans[one.parent]
        for one in events
        if one.kind == "tool_call" and one.phase == "open"
    }
    assert {"one": "one", "two": "two", "three": "gpt"} == {
        one.name: spans[one.parent] for one in events if one.kind == "note"
    }


def test_generator_closed_elsewhere(session):
    """A span of a generator that another context closes raises nothing into it."""

    def numbers():
        with session.tool_call("count"):
            yield 1

    one = numbers()
    assert 1 == contextvars.copy_context().run(next, one)
    contextvars.copy_context().run(one.close)

    assert "close" == session.run.store.event("r", 4).phase


def test_span_entered_twice(session, reader):
    """A span that a host enters again while it is open raises nothing into it."""
    span = session.tool_call("again")
    with span, span:
        pass

    assert ["open", "open", "close", "close"] == [one.phase for one in reader.events("r", after=2)]


def test_spans_of_two_runs_do_not_mix(session, started):
    """A span of one run is no parent of another run's events."""
    other = started("other")
    with session.tool_call("search"):
        other.note("apart")

    assert [None, None] == [one.parent for one in other.events()]
