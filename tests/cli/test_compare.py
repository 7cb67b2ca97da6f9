"""`argentum compare`: where two runs part, and what separates failed runs from passed ones."""

from __future__ import annotations

import json

import pytest

from argentum import Run


def order(store, run_id: str, *, what: str = "pen", price: int = 1, status: str = "done") -> None:
    """Record a run that orders something."""
    run = Run("order.py", store=store, run_id=run_id)
    session = run.session("buyer")
    run.record("note", "user", {"role": "user", "content": "Buy a pen."})
    session.snapshot("start", {"ordered": [], "spent": 0})
    with session.model_call("m", [{"role": "user", "content": "Buy a pen."}]) as call:
        wanted = {"function": {"name": "order", "arguments": "{}"}}
        call.output({"role": "assistant", "content": None, "tool_calls": [wanted]})
        call.usage(input_tokens=price)
    with session.tool_call("order", {"what": what}) as call:
        call.output({"price": price})
    session.snapshot("ordered", {"ordered": [what], "spent": price})
    run.finish(status)


@pytest.fixture
def orders(ticking, store) -> None:
    """Record two runs that passed and two that failed."""
    order(store, "good")
    order(store, "fine")
    order(store, "bad", what="ink", status="failed")
    order(store, "dear", price=9, status="failed")


def test_same_runs(orders, command):
    """Runs that did the same are the same, and the exit code is 0."""
    done = command("compare", "good", "fine")

    assert 0 == done.code
    assert [
        "A  good  order.py  done",
        "B  fine  order.py  done",
        "The same in all 6 steps.",
    ] == done.lines


def test_first_divergence(orders, command):
    """The first divergence is shown with both sides, what came before and what it led to."""
    done = command("compare", "good", "dear")

    assert 1 == done.code
    assert [
        "A  good  order.py  done",
        "B  dear  order.py  failed",
        "Steps: 3 the same, 3 the same but for the outcome.",
        "",
        "First divergence: other tool result for the same call, by buyer",
        "   @3  note user: Buy a pen.",
        "   @4  snapshot start",
        "   @5  model_call m → calls order('{}')",
        "A  @7  tool_call order(what='pen') → {'price': 1}",
        "B  @7  tool_call order(what='pen') → {'price': 9}",
        "",
        "What differs (A → B):",
        "  ~ output.price  1 → 9",
        "",
        "State of buyer at the end, A@9 → B@9:",
        "  ~ spent  1 → 9",
    ] == done.lines


def test_lines_fit_on_a_terminal(store, command):
    """However long what was recorded is, lines stay under 80 columns."""
    for number in (1, 2):
        with Run("r", store=store, run_id=f"r{number}") as run:
            session = run.session("agent")
            with session.tool_call("look_up", {"query": "word " * 50, "limit": number}) as call:
                call.output("found " * 50)
            session.snapshot("end", {"text": f"text {number} " * 50})

    done = command("compare", "r1", "r2")

    assert max(len(line) for line in done.lines) <= 80


def test_lines_are_cut_around_the_difference(store, command):
    """However late two steps differ, their lines show where."""
    for number in (1, 2):
        with Run("r", store=store, run_id=f"r{number}") as run:
            run.session("a").handoff("b", {"text": "word " * 50 + f"number {number} of 2"})

    lines = command("compare", "r1", "r2").lines

    assert [
        "A  @3  handoff to b: {'text': 'wor…number 1 of 2'}",
        "B  @3  handoff to b: {'text': 'wor…number 2 of 2'}",
    ] == [line for line in lines if line[:4] in ("A  @", "B  @")]


@pytest.fixture
def forked(store) -> None:
    """Record a run, and forks of it that begin anew, go on and differ in the order."""

    def work(run, *, amount: int) -> None:
        session = run.session("buyer")
        if session.restore() is None:
            session.snapshot("start", {"spent": 0})
            with session.tool_call("look", {"for": "pen"}) as call:
                call.output("found")
        else:
            session.snapshot("start", session.restore())  # as a program does that starts anew
        session.snapshot("found", {"spent": 0, "found": True})
        with session.tool_call("order", {"amount": amount}) as call:
            call.output("ordered")
        session.snapshot("end", {"spent": amount, "found": True})
        run.finish()

    work(Run("source", store=store, run_id="source"), amount=1)
    for name, amount in (("like", 1), ("more", 2), ("most", 3)):
        work(Run.fork("source@found", store=store, name=name), amount=amount)
    work(Run.fork("source@start", store=store, name="early"), amount=1)


@pytest.mark.parametrize(
    "one, other, places",
    [
        ("source", "more", ("7", "6")),
        ("more", "source", ("6", "7")),
        ("more", "most", ("6", "6")),
    ],
)
def test_a_fork_is_compared_from_where_it_began(forked, command, one, other, places):
    """What the source did before the fork is shared, and the first divergence is the real one."""
    lines = command("compare", one, other).lines

    assert "One run up to source@6; compared from there on." == lines[2]
    assert lines[3].startswith("Steps: 3 before the fork, ")
    assert "First divergence: other arguments, by buyer" == lines[5]
    shown = [line.split()[:2] for line in lines if line[:1] in "AB" and "order(" in line]
    assert [["A", f"@{places[0]}"], ["B", f"@{places[1]}"]] == shown


def test_a_fork_that_did_the_same(forked, command):
    """A fork that goes on as its source did is the same."""
    done = command("compare", "source", "like")

    assert (0, "The same in all 3 steps.") == (done.code, done.lines[-1][:24])


def test_json(orders, command):
    """Programs get the alignment, the divergence and the changes; of several pairs, a list."""
    done = command("compare", "good", "dear", "--json")
    found = json.loads(done.out)

    assert 1 == done.code
    assert ["good", "dear"] == found["runs"]
    assert (False, "other tool result for the same call") == (found["same"], found["kind"])
    assert {"a": 7, "b": 7, "how": "asked"} in found["pairs"]
    assert {"price": 9} == found["divergence"]["b"]["body"]["output"]
    assert ["output.price"] == [change["path"] for change in found["divergence"]["changes"]]
    assert ["spent"] == [change["path"] for change in found["divergence"]["led_to"][0]["changes"]]

    several = json.loads(command("compare", "good", "fine", "dear", "--json").out)
    assert ["same", "other tool result for the same call"] == [one["kind"] for one in several]


def test_only_some_kinds_and_fields(orders, command):
    """Acts of other kinds and fields that are named make no difference."""
    assert 0 == command("compare", "good", "dear", "--kind", "model_call").code
    assert 0 == command(
        "compare", "good", "dear", "--ignore", "price", "--ignore", "spent", "--kind", "tool_call"
    ).code  # fmt: skip


def test_against_passed(orders, command):
    """The first wrong write of each run is named, and what separates them from passed ones."""
    done = command("compare", "bad", "dear", "--against", "passed")

    assert 1 == done.code
    assert [
        "Against good, fine, which passed.",
        "",
        "bad  first wrong write at bad@9",
        "ordered: order(what='ink') → {'price': 1}",
        "  + ordered[0]  'ink'",
        "  ~ spent  0 → 1",
        "",
        "dear  first wrong write at dear@9",
        "ordered: order(what='pen') → {'price': 9}",
        "  + ordered[0]  'pen'",
        "  ~ spent  0 → 9",
        "",
        "Steps that separate them:",
        "failed  passed",
        "0/2     2/2     tool_call order(what='pen') → {'price': 1}",
        "1/2     0/2     tool_call order(what='ink')",
        "1/2     0/2     tool_call order(what='pen') → {'price': 9}",
        "1/2     2/2     tool_call order(what='pen')",
    ] == done.lines[:18]


def test_against_passed_without_a_wrong_write(orders, command):
    """A run that did right is clean; one that did nothing is told what is missing."""
    assert 0 == command("compare", "fine", "--against", "passed").code

    done = command("compare", "good", "--against", "fine")
    assert ["Against fine, which passed.", "", "good  no wrong write"] == done.lines


def test_missing_writes(orders, store, command):
    """A failed run that wrote nothing wrong is told what the nearest passing run wrote."""
    run = Run("order.py", store=store, run_id="idle")
    run.session("buyer").snapshot("start", {"ordered": [], "spent": 0})
    run.finish("failed")

    done = command("compare", "idle", "--against", "good")

    assert 1 == done.code
    assert [
        "Against good, which passed.",
        "",
        "idle  no wrong write",
        "Missing, compared with good:",
        "- ordered: order(what='pen') → {'price': 1}",
    ] == done.lines[:5]


def test_passed_runs_that_disagree(orders, command):
    """If passed runs call each other wrong, that is said."""
    done = command("compare", "dear", "--against", "good", "--against", "bad")

    assert "Not sure: of the 2 passed runs, 2 would be called wrong by the others." in done.lines


def test_separation_as_json(orders, command):
    """Programs get the verdicts with their events, and the counts."""
    found = json.loads(command("compare", "bad", "--against", "passed", "--json").out)

    wrong = found["verdicts"]["bad"]["first_wrong"]
    assert ("ordered", 9, "order") == (wrong["label"], wrong["after"], wrong["act"]["name"])
    assert ["good", "fine"] == found["passed"]
    assert {"call", "value"} <= {one["what"] for one in (*found["steps"], *found["values"])}


def test_the_task_of_a_run(store, command):
    """Runs of one task are found by what they were opened with, whatever their names."""
    for name, task, status in (("x", 1, "failed"), ("y", 1, "done"), ("z", 2, "done")):
        run = Run(name, store=store, run_id=name)
        run.record("run", name, {"task": task})
        run.finish(status)

    assert ["y"] == json.loads(command("compare", "x", "--against", "passed", "--json").out)[
        "passed"
    ]


@pytest.mark.parametrize(
    "arguments,message",
    [
        (
            ("bad",),
            "There is nothing to compare 'bad' with. Give a second run, or --against passed",
        ),
        (("bad", "godo"), "No run 'godo'. Did you mean 'good'?"),
        (("bad", "good", "--kind", "tool"), "No kind of event 'tool'. Did you mean 'tool_call'"),
        (("bad", "--against", "bad"), "No other run of the task of 'bad' passed"),
    ],
)
def test_wrong_use(orders, command, arguments, message):
    """An error says what would have worked, and the exit code is 2."""
    done = command("compare", *arguments)

    assert 2 == done.code
    assert message in done.err
