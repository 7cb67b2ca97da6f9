"""The interchange format: out and in without loss, and what it refuses by name."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.conftest import RUN, START_NS, contents, event

from argentum import Run
from argentum.ingest import exported, import_file
from argentum.store import open_store
from argentum.store.memory import MemoryStore


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: tuple[int, ...]


ODD = [
    (1, 2), (), [()], {1, 2}, frozenset({3}), b"\x00\xff", bytearray(b"x"), math.nan, math.inf,
    -math.inf, -0.0, 1.0, True, None, 2**53, 2**53 + 1, -(2**63), 2**64, 10**50, "\ud800", "\x00",
    {1: "one"}, {"1": "one"}, {(1, 2): 3}, {None: 1, True: 2}, {"$type": "tuple", "value": [1]},
    {"$type": 1}, {"a": {"$type": "pairs"}}, {"": 0, "a.b": 1, "~/": 2}, 1 + 2j, range(3),
    decimal.Decimal("1.10"), uuid.UUID(int=5), Color.RED, Point(1, (2,)), dt.date(2027, 1, 15),
    dt.datetime(2027, 1, 15, 8, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.timedelta(seconds=1.5), np.float32(0.5), np.arange(4).reshape(2, 2), object,
]  # fmt: skip


def round_trip(run: Run, tmp_path) -> tuple[Any, Any]:
    """Give what a run holds, and what it holds after a way through a file."""
    path = tmp_path / "out.jsonl"
    path.write_text("".join(f"{line}\n" for line in exported(run.store, run.run_id)), "utf-8")
    copy = open_store(":memory:")
    result = import_file(path, copy)
    assert [] == result.problems
    infos = (run.store.run(run.run_id), copy.run(run.run_id))
    return (infos[0], contents(run.store, run.run_id)), (infos[1], contents(copy, run.run_id))


def test_everything_comes_back(tmp_path, store):
    """Runs, agents, spans, parents, states and their times are the same after a round trip."""
    with Run("trip", store=store, run_id="r") as run:
        one, two = run.session("one"), run.session("two")
        one.snapshot("s", {"n": 1, "list": [1, 2]})
        with one.model_call("m", ["hi"]) as call:
            two.snapshot("s", {"other": True})
            with two.tool_call("t", {"x": (1,)}):
                one.snapshot("s", {"n": 2, "list": [0, 1, 2]})
            call.output("x")
        run.note("between", value={1, 2})
        two.snapshot("s", {"other": True})
        one.snapshot("e", {"n": 2, "list": [2, 0]})
    before, after = round_trip(run, tmp_path)

    assert before == after


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_odd_values(tmp_path, store, value):
    """Values that JSON lacks are the same after a round trip: alone, inside, added and replaced."""
    with Run("odd", store=store) as run:
        session = run.session("a")
        for number, state in enumerate(
            [value, {"a": value}, {"a": [value]}, {"a": [0, value, value]}, {"b": value}, [value]]
        ):
            session.snapshot(f"s{number}", state)
        session.note("n", value=value)
    before, after = round_trip(run, tmp_path)

    assert before == after


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.binary(max_size=3) | st.sampled_from(["$type", "value"])
)  # fmt: skip
keys = st.text(max_size=2) | st.integers(0, 3) | st.sampled_from(["$type", "a/b", "~", "0", "-"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=12,
)


@given(states=st.lists(values, min_size=1, max_size=4))
def test_any_history_comes_back(tmp_path_factory, states):
    """Any sequence of states is the same after a round trip."""
    run = Run("law", store=open_store(":memory:"))
    session = run.session("a")
    for number, state in enumerate(states):
        session.snapshot(f"s{number}", state)
    run.finish()
    before, after = round_trip(run, tmp_path_factory.mktemp("law"))
    run.store.close()

    assert before == after


def test_running_and_dropped(tmp_path, monkeypatch, store):
    """A run that had not ended, and what it dropped, come back as they were."""
    monkeypatch.setenv("ARGENTUM_STRICT", "0")
    run = Run("x", store=store)
    run.session("a").snapshot(3, {})
    run.note("saves the number")
    before, after = round_trip(run, tmp_path)
    run.finish()

    assert before == after
    assert ("running", 1) == (after[0].status, after[0].dropped)


def test_lines_of_a_run(store):
    """A state is written whole once, then as a patch; each line is one JSON object."""
    with Run("x", store=store, run_id="r") as run:
        session = run.session("a")
        session.snapshot("s", {"n": 1})
        session.snapshot("e", {"n": 2})
    records = [json.loads(line) for line in exported(store, "r")]

    assert ["run", *["event"] * 5, "end"] == [one["type"] for one in records]
    assert "argentum.run/1" == records[0]["format"]
    assert {"n": 1} == records[3]["state"]
    assert [{"op": "replace", "path": "/n", "value": 2}] == records[4]["state_patch"]


def test_by_hand(store, lines):
    """A file that others wrote by hand, with times as text, is understood."""
    path = lines(
        {"format": "argentum.run/1", "type": "run", "run_id": "r",
         "started_at": "2027-01-15T10:00:00+02:00"},
        event("agent", "a", agent="a"),
        {"type": "event", "kind": "snapshot", "name": "s", "agent": "a", "state": {"n": 1},
         "at": "2027-01-15T08:00:00.000001Z"},
        {"type": "event", "kind": "snapshot", "name": "e", "agent": "a",
         "at": "2027-01-15T08:00:01",
         "state_patch": [{"op": "test", "path": "/n", "value": 1},
                         {"op": "add", "path": "/m", "value": [1]},
                         {"op": "copy", "from": "/m/0", "path": "/m/-"},
                         {"op": "move", "from": "/n", "path": "/k"}]},
        {"type": "end", "ended_at": "2027-01-15T08:00:02Z"},
    )  # fmt: skip
    result = import_file(path, store)
    info = store.run("r")

    assert (["r"], 3, []) == (result.run_ids, result.events, result.problems)
    assert (START_NS, START_NS + 2_000_000_000, "done", "r") == (
        info.started_at_ns, info.ended_at_ns, info.status, info.name,
    )  # fmt: skip
    assert [START_NS + 1, START_NS + 1000, START_NS + 1_000_000_000] == [
        one.at_ns for one in store.events("r")
    ]
    assert {"m": [1, 1], "k": 1} == store.event("r", 3).body.thaw()


def test_without_an_end(store, lines):
    """A file that stops before the end of its run gives a run that is incomplete."""
    import_file(lines(RUN, event(), event(at_ns=START_NS + 5)), store)

    assert ("incomplete", START_NS + 5) == (store.run("r").status, store.run("r").ended_at_ns)


def test_several_runs(store, lines):
    """A file may hold many runs, one after the other."""
    result = import_file(
        lines(RUN, event(), {"type": "end"}, {**RUN, "run_id": "q"}, event(), event()), store
    )

    assert (["r", "q"], 3) == (result.run_ids, result.events)
    assert [1, 2] == [store.run(one).events for one in ("r", "q")]


def test_taken_ids(store, lines):
    """A run whose id is taken gets the next free one, in the file and in the store."""
    path = lines(RUN, event(), {**RUN, "name": "again"}, event())
    results = [import_file(path, store).run_ids for _ in range(2)]

    assert [["r", "r.2"], ["r.3", "r.4"]] == results
    assert ["trip", "again"] * 2 == [store.run(one).name for one in ("r", "r.2", "r.3", "r.4")]


def test_id_with_the_revision_sign(store, lines):
    """An id cannot hold `@`, which separates runs from revisions."""
    assert ["a_b"] == import_file(lines({**RUN, "run_id": "a@b"}), store).run_ids


def test_spans_after_a_lost_line(store, lines):
    """Spans and parents still point at their events when a line before them is lost."""
    path = lines(
        RUN, event(), "{truncated", event("tool_call", "t", phase="open"),
        event(parent=3), event("tool_call", "t", phase="close", span=3), event(parent=2),
    )  # fmt: skip
    result = import_file(path, store)

    assert 1 == len(result.problems)
    assert [(1, None, None), (2, None, None), (3, None, 2), (4, 2, None), (5, None, None)] == [
        (one.seq, one.span, one.parent) for one in store.events("r")
    ]


BAD = {
    "no JSON": ("{", "it is no JSON ("),
    "no object": ("3", "3 is no record; its `type` should be run, event or end."),
    "no type": ({"kind": "note"}, "{'kind': 'note'} is no record"),
    "unknown type": ({"type": "evnet"}, "{'type': 'evnet'} is no record"),
    "unknown kind": (event("nte"), "An event has the kind 'nte'; known: run, agent,"),
    "unknown phase": (event(phase="begin"), "An event has the phase 'begin'; known: point, open,"),
    "no kind": ({"type": "event"}, "A record of type event has the kind None; give a text."),
    "odd agent": (event(agent=["a"]) | {"kind": "snapshot", "state": 1}, "unhashable"),
    "span": (event(span="3"), "The span of an event is '3'; it should be the number of an event."),
    "time": (event(at_ns=None, at="noon"), "at is 'noon'; write times like 1970-01-01T00:00:00"),
    "far time": (event(at_ns=10**30), ""),
    "early time": (event(at_ns=None, at="0001-01-01T00:00:00+10:00"), ""),
    "surrogate": ('{"type":"event","kind":"note","agent":"\\ud800"}', None),
    "no state": (event("snapshot", agent="z"), "A snapshot has neither `state` nor `state_patch`."),
    "patch first": (
        event("snapshot", agent="z", state_patch=[]),
        "A `state_patch` of agent 'z' comes before any `state` of it.",
    ),
    "bad patch": (
        event("snapshot", agent="a", state_patch=[{"op": "remove", "path": "/nothing"}]),
        "JSON Patch operation 0, {'op': 'remove', 'path': '/nothing'}, cannot be done: 'nothing'.",
    ),
    "no patch": (event("snapshot", agent="a", state_patch="x"), "JSON Patch operation 0, 'x'"),
    "patch is a number": (event("snapshot", agent="a", state_patch=3), ""),
    "unknown $type": (event(body={"$type": "tuble", "value": []}), "{'$type': 'tuble'} with [] is"),
    "bad base64": (event(body={"$type": "base64", "value": "?"}), "{'$type': 'base64'} with '?'"),
    "bad tuple": (event(body={"$type": "tuple", "value": 3}), ""),
    "bad pairs": (event(body={"$type": "pairs", "value": [1, 2, 3]}), ""),
    "bad number": (event(body={"$type": "int", "value": "x" * 3}), "{'$type': 'int'} with 'xxx'"),
    "long number": (event(body={"$type": "int", "value": "9" * 5000}), ""),
    "deep": ('{"type":"event","kind":"note","body":' + "[" * 5000 + "]" * 5000 + "}", ""),
    "deepish": (
        '{"type":"event","kind":"note","body":' + "[" * 900 + "]" * 900 + "}",
        "The JSON nests too deep to be read as a value.",
    ),
    "newer": ({**RUN, "format": "argentum.run/2"}, "The file has version '2' of argentum.run;"),
    "no id": ({**RUN, "run_id": ""}, "A record of type run has the run_id ''; give a text."),
    "bad end": ({"type": "end", "dropped": "many"}, "invalid literal for int()"),
    "NaN": ('{"type":"event","kind":"note","body":{"x":NaN}}', None),
    "long integer": ('{"type":"event","kind":"note","body":' + "9" * 5000 + "}", ""),
}


@pytest.mark.parametrize("line,message", BAD.values(), ids=BAD.keys())
def test_bad_line(store, lines, line, message):
    """A bad line is named by its number with what is wrong; all others are kept."""
    path = lines(RUN, event("snapshot", "s", agent="a", state={"n": 1}), line, event(name="after"))
    result = import_file(path, store)
    kept = [one.name for one in store.events("r")]

    if message is None:  # unusual, but it can be kept
        assert [] == result.problems
        assert ["s", "note", "after"] == kept
    else:
        assert ["line 3"] == [one[:6] for one in result.problems]
        assert [] == [one for one in result.problems if not one[8:].startswith(message)]
        assert ["s", "after"] == kept
    assert [] == store.check()


def test_bad_patch_leaves_the_state(store, lines):
    """After a patch that cannot be applied the next one goes on from the last good state."""
    path = lines(
        RUN,
        event("snapshot", "1", agent="a", state={"n": 1}),
        event("snapshot", "2", agent="a", state_patch=[
            {"op": "replace", "path": "/n", "value": 9}, {"op": "remove", "path": "/none"},
        ]),
        event("snapshot", "3", agent="a", state_patch=[{"op": "add", "path": "/m", "value": 2}]),
    )  # fmt: skip
    import_file(path, store)

    assert [{"n": 1}, {"n": 1, "m": 2}] == [one.body.thaw() for one in store.events("r")]


def test_event_before_its_run(store, lines):
    """Events after the end of a run belong to none and are named."""
    result = import_file(lines(RUN, {"type": "end"}, event(), {"type": "end"}), store)

    assert [
        "line 3: An event comes before its run; a file starts with a record of type run.",
        "line 4: An event comes before its run; a file starts with a record of type run.",
    ] == result.problems


@pytest.mark.parametrize("where", ["body", "state"])
def test_a_typed_value_that_cannot_be_read_again(tmp_path, where):
    """It is a problem of its line; the run stays readable with all its other events."""
    odd = {"$type": "enum", "value": [5, 5, 5]}
    kind = "snapshot" if where == "state" else "note"
    lines = [
        {"type": "run", "format": "argentum.run/1", "run_id": "r"},
        {"type": "event", "kind": kind, "agent": "a", where: {"odd": odd}},
        {"type": "event", "kind": "note", "name": "good"},
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    store = MemoryStore()
    result = import_file(path, store)

    assert 1 == len(result.problems)
    assert result.problems[0].startswith("line 2: ")
    assert ["good"] == [event.name for event in store.events("r")]
