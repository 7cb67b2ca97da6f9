"""`argentum log`: the timeline as people and programs see it."""

from __future__ import annotations

import json

import pytest

from argentum import Run

WHOLE = """\
20270115-080000-aaaa  trip.py  done
seq  at      agent    what
1    250 ms           run          trip.py → done
2    500 ms  planner  agent        planner
3    750 ms  writer   agent        writer
4    1.0 s   planner  snapshot     start
                                     goals: list of 1, confidence: 0.9, budget: dict of 1
5    1.5 s   planner  model_call   gpt-4o → Rome, of course input_tokens=12 output_tokens=3  (1.5 s)
6    2.0 s   planner    tool_call  find(query='city', limit=1) → ['city']  (500 ms)
9    3.2 s   planner  snapshot     end
                                     + goals[1]  'Rome'
                                     ~ confidence  0.9 → 0.2
                                     - budget.usd  100
10   3.5 s   planner  handoff      to writer: {'facts': ['Rome']}
11   3.8 s   writer   note         Rome it is  {'tone': 'glad'}
12   4.2 s   writer   tool_call    save(path='/x')  raised OSError: read-only  (500 ms)
14   5.0 s   writer   error        OSError: read-only
15   5.2 s   writer   snapshot     start
                                     text: ''
""".splitlines()

OF_WRITER = """\
20270115-080000-aaaa  trip.py  done
seq  at      agent   what
3    750 ms  writer  agent      writer
11   3.8 s   writer  note       Rome it is  {'tone': 'glad'}
12   4.2 s   writer  tool_call  save(path='/x')  raised OSError: read-only  (500 ms)
14   5.0 s   writer  error      OSError: read-only
15   5.2 s   writer  snapshot   start
                                  text: ''
""".splitlines()

SNAPSHOTS_AND_NOTES = """\
20270115-080000-aaaa  trip.py  done
seq  at     agent    what
4    1.0 s  planner  snapshot  start
                                 goals: list of 1, confidence: 0.9, budget: dict of 1
9    3.2 s  planner  snapshot  end
                                 + goals[1]  'Rome'
                                 ~ confidence  0.9 → 0.2
                                 - budget.usd  100
11   3.8 s  writer   note      Rome it is  {'tone': 'glad'}
15   5.2 s  writer   snapshot  start
                                 text: ''
""".splitlines()


def test_timeline(trip, command):
    """Every event is a line, a span is one line, and snapshots tell what changed."""
    assert WHOLE == command("log").lines


@pytest.mark.parametrize(
    "options,lines",
    [
        (("--agent", "writer"), OF_WRITER),
        (("--kind", "snapshot", "--kind", "note"), SNAPSHOTS_AND_NOTES),
        (("--agent", "planner", "--kind", "note"), [*WHOLE[:1], "seq  at  agent  what"]),
    ],
)
def test_filters(trip, command, options, lines):
    """The timeline can be cut down to an agent and to kinds of events."""
    assert lines == command("log", *options).lines


@pytest.mark.parametrize("name", ["@", "trip.py", "2027", "20270115-080000-aaaa@"])
def test_names_of_the_run(trip, command, name):
    """The run is found by nothing, its id, the start of its id, or its name."""
    assert WHOLE == command("log", name).lines


def test_json(trip, command, store):
    """As JSON every event is there, closings included, snapshots with what changed."""
    rows = json.loads(command("log", "--json").out)

    assert list(range(1, 17)) == [row["seq"] for row in rows]
    assert {
        "seq": 7,
        "at": "2027-01-15T08:00:02.500000+00:00",
        "kind": "tool_call",
        "phase": "close",
        "agent": "planner",
        "name": "find",
        "span": 6,
        "parent": 5,
        "body": {"output": ["city"], "elapsed_ms": 500.0},
    } == rows[6]
    assert {
        "path": "confidence", "kind": "changed", "before": 0.9, "after": 0.2,
        "source": "confidence",
    } == rows[8]["changes"][1]  # fmt: skip
    assert [False, True, False] == ["changes" in row for row in rows if row["kind"] == "snapshot"]


@pytest.mark.parametrize(
    "arguments,message",
    [
        (("nowhere",), "No run 'nowhere'. Known: '20270115-080000-aaaa', 'trip.py'."),
        (("trip.yp",), "No run 'trip.yp'. Did you mean 'trip.py'?"),
        (("--agent", "plan"), "No agent here 'plan'. Did you mean 'planner'?"),
        (("--agent", "x"), "No agent here 'x'. Known: 'planner', 'writer'."),
        (("--kind", "nots"), "No kind of event 'nots'. Did you mean 'note'?"),
    ],
)
def test_did_you_mean(trip, command, arguments, message):
    """A name that is not there is one line that names near ones, and exit code 2."""
    done = command("log", *arguments)

    assert (2, "", f"argentum: {message}\n") == (done.code, done.out, done.err)


def test_an_alert(store, command):
    """An alert tells which condition broke, where, and what it read; `runs` counts them."""
    with Run("x", store=store) as run:
        session = run.session("a")
        session.watch("budget >= 0", on_break="alert")
        session.snapshot("start", {"budget": 1})
        session.snapshot("bought chair", {"budget": -20})

    last = command("log", "--kind", "alert").lines[-1]
    assert last.endswith("alert  budget >= 0 broke at 'bought chair': budget = -20")
    assert command("runs").lines[1].endswith("  1 alert")
    assert [1] == [row["alerts"] for row in json.loads(command("runs", "--json").out)]


def test_ambiguous_start(store, command):
    """A start that several runs share names them."""
    for name in ("r1", "r2"):
        with Run(name, store=store, run_id=f"same-{name}"):
            pass
    done = command("log", "same")

    assert 2 == done.code
    assert "argentum: 2 runs start with 'same': " in done.err


def test_of_several_runs_of_a_name_the_newest(ticking, store, command):
    """A name that several runs have means the newest of them."""
    for number in (1, 2):
        with Run("same", store=store, run_id=f"r{number}"):
            pass

    done = command("log", "same@")
    assert "r2  same  done" == done.lines[0]
    assert "argentum: 2 runs are named 'same'; this is the newest, r2.\n" == done.err
    assert "" == command("log", "r1").err


def test_many_changes_are_counted(ticking, store, command):
    """Of many changes the first eight are shown and the rest is counted, unless all are wanted."""
    with Run("x", store=store) as run:
        session = run.session("a")
        session.snapshot("s1", {})
        session.snapshot("s2", {f"k{number}": number for number in range(20)})
    few, every = command("log").lines, command("log", "--all-changes").lines

    assert [8, 20] == [sum("+ k" in line for line in lines) for lines in (few, every)]
    assert [True, False] == [
        any("… and 12 more: --all-changes" in line for line in lines) for lines in (few, every)
    ]


def test_nothing_changed_and_never_ended(ticking, store, command):
    """Equal snapshots say so, and a span without an end does, too."""
    with Run("x", store=store, run_id="r") as run:
        session = run.session("a")
        session.snapshot("s1", {"n": 1})
        session.snapshot("s2", {"n": 1})
        session.model_call("gpt").__enter__()
        run.note("inside")

    assert (
        """\
r  x  done
seq  at      agent  what
1    250 ms         run         x → done
2    500 ms  a      agent       a
3    750 ms  a      snapshot    s1
                                  n: 1
4    1.0 s   a      snapshot    s2  nothing changed
5    1.5 s   a      model_call  gpt  never ended
6    1.8 s            note      inside
""".splitlines()
        == command("log").lines
    )


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "name": "find", "arguments": {"city": "Rome"}},
        {"id": "c1", "function": {"name": "find", "arguments": {"city": "Rome"}}},
    ],
)
def test_calls_that_a_model_asks_for(ticking, store, command, call):
    """They are shown as calls, in any of their usual forms, behind what the model said."""
    with Run("x", store=store) as run, run.session("a").model_call("gpt") as asked:
        asked.output({"role": "assistant", "content": "Let me see.", "tool_calls": [call]})

    assert command("log").lines[4].endswith("gpt → Let me see. calls find(city='Rome')  (500 ms)")


def test_who_said_it(ticking, store, command):
    """A message from outside is shown with its role."""
    with Run("x", store=store) as run:
        run.record("note", "user", {"role": "user", "content": "Book it."})

    assert command("log").lines[3].endswith("note  user: Book it.")
