"""`argentum blame`: one path with its way back, and a table of many."""

from __future__ import annotations

import json

import pytest

from argentum import Run

RUN = "20270115-080000-bbbb"


@pytest.fixture
def quote(ticking, store):
    """Record two agents of which one gets a price from the other; give the run's id."""
    with Run("quote.py", store=store, run_id=RUN) as run:
        buyer, finder = run.session("buyer"), run.session("finder")  # 2, 3
        buyer.snapshot("start", {"price": 0, "plan": {"to": "Oslo"}})  # 4
        with finder.tool_call("search", {"to": "Oslo"}) as call:  # 5, 6
            call.output({"price": 1843})
        finder.handoff("buyer", "It costs 1,843 EUR.")  # 7
        buyer.snapshot("priced", {"price": 1843, "plan": {"to": "Oslo"}})  # 8
        buyer.snapshot("end", {"price": 1999, "plan": {"to": "Oslo", "by": "ship"}})  # 9
        finder.snapshot("end", {"done": True})  # 10
    return run.run_id


def test_one_path(quote, command):
    """A path shows its value, who set it and when, how sure that is, why, and the way back."""
    assert [
        f"price  of buyer  in {RUN}",
        "1843",
        "",
        "since     'priced' (event 8), 2.5 s; not yet in 'start' (event 4)",
        "set by    handoff buyer of finder (event 7): number in the text at context",
        "how sure  sure",
        "why       The handoff from 'finder' to 'buyer' (event 7) holds it (number in the text), "
        "and it goes back to the output of tool call 'search' (event 6) (same value).",
        "",
        "From there back to where it appeared first:",
        "seq  agent   event             how it holds the value",
        "7    finder  handoff buyer     number in the text at context",
        "6    finder  tool_call search  same value at output.price",
        "",
        "Before:",
        "since  snapshot  value",
        "4      'start'   0",
    ] == command("blame", quote, "price@priced").lines


def test_unrecorded(quote, command):
    """A change that nothing explains is said to be one."""
    lines = command("blame", "@", "price").lines

    assert "set by    the program itself, between 8 and 9 (no recorded event holds it)" in lines
    assert f"see       argentum diff {RUN}@8 {RUN}@9" in lines
    assert "how sure  sure" in lines
    assert ["since  snapshot  value", "8      'priced'  1843", "4      'start'   0"] == lines[-3:]


def test_marks_have_a_legend(ticking, store, command):
    """The marks of what is not sure are explained below the table, if there are any."""
    with Run("r", store=store) as run:
        session = run.session("a")
        session.snapshot("one", {"nights": 0, "amount": 0, "price": 0})
        with session.tool_call("pay") as call:
            call.output({"nights": 3, "id": "INV-4821", "price": 1843})
        session.snapshot("two", {"nights": 3, "amount": 4821, "price": 1843})

    assert [
        f"(the state)  of a  in {run.run_id}",
        "since  at     set by              path    value",
        "6      2.0 s  5 tool_call pay ?   nights  3",
        "6      2.0 s  5 tool_call pay ??  amount  4821",
        "6      2.0 s  5 tool_call pay     price   1843",
        "? likely, ?? guess",
    ] == command("blame", "@").lines
    assert "guess" not in command("blame", "@", "@one").out


def test_text_put_together(ticking, store, command):
    """For a text that the program put together, the events that hold its parts are listed."""
    with Run("r", store=store) as run:
        finder, writer = run.session("finder"), run.session("writer")
        with finder.tool_call("search") as call:
            call.output("Helium is noble.")
        finder.handoff("writer", {"facts": ["Helium is noble."]})
        writer.snapshot("before", {"draft": ""})
        writer.note("Neon is noble, too.")
        writer.snapshot("after", {"draft": "Helium is noble. Neon is noble, too. Bye."})
    told = json.loads(command("blame", "@", "draft", "--json").out)

    assert [
        "Put together from parts that these events hold:",
        "held by                               and first by                  part",
        "6 handoff writer of finder            5 tool_call search of finder  Helium is noble.",
        "8 note Neon is noble, too. of writer                                Neon is noble, too.",
    ] == command("blame", "@", "draft").lines[-8:-4]
    assert [[6, 5], [8]] == [
        [step["event"]["seq"] for step in piece["steps"]] for piece in told["pieces"]
    ]


def test_what_is_gone(ticking, store, command):
    """A path that went is blamed for its going."""
    with Run("r", store=store) as run:
        session = run.session("a")
        session.snapshot("one", {"x": 1})
        session.snapshot("two", {})

    assert ["x  of a", "(nothing)"] == [
        line.partition("  in ")[0] for line in command("blame", "@", "x").lines[:2]
    ]


@pytest.mark.parametrize("arguments", [("--agent", "buyer"), ("@buyer/end",)])
def test_all_paths(quote, command, arguments):
    """Without a path, a table tells who set each part."""
    assert [
        f"(the state)  of buyer  in {RUN}",
        "since  at     set by      path     value",
        "9      2.8 s  unrecorded  price    1999",
        "4      1.0 s  initial     plan.to  'Oslo'",
        "9      2.8 s  unrecorded  plan.by  'ship'",
    ] == command("blame", quote, *arguments).lines


def test_a_part_with_parts(quote, command):
    """A path that has parts gives the table of them; at an earlier moment, that of then."""
    assert [
        f"plan  of buyer  in {RUN}",
        "since  at     set by   path     value",
        "4      1.0 s  initial  plan.to  'Oslo'",
    ] == command("blame", quote, "plan@priced").lines


def test_revision_with_the_run(quote, command):
    """The moment may be written with the run, too, as other commands have it."""
    expected = command("blame", quote, "price@priced").lines

    assert expected == command("blame", f"{quote}@priced", "price").lines
    assert expected == command("blame", quote, "price@8").lines


def test_json(quote, command):
    """JSON has the same, for programs."""
    told = json.loads(command("blame", quote, "price@priced", "--json").out)

    assert {
        "path": "price", "agent": "buyer", "present": True, "value": 1843, "verdict": "recorded",
        "certainty": "sure",
    } == {name: told[name] for name in
          ("path", "agent", "present", "value", "verdict", "certainty")}  # fmt: skip
    assert (7, 6, 8, "start") == (
        told["writer"]["seq"], told["origin"]["seq"], told["snapshot"]["seq"],
        told["before"]["label"],
    )  # fmt: skip
    assert ["context", "output.price"] == [step["where"] for step in told["steps"]]
    assert [0] == [value["value"] for value in told["earlier"]]
    many = json.loads(command("blame", quote, "--agent", "buyer", "--json").out)
    assert ["price", "plan.to", "plan.by"] == [part["path"] for part in many]


@pytest.mark.parametrize(
    "arguments,message",
    [
        (("pric",), "Did you mean 'price'"),
        (("plan.too",), "Did you mean 'plan.to'"),
        (("don",), "Did you mean 'done'"),
        (("price@prised",), "Did you mean 'priced'"),
        (("price@99",), "has 11 events"),
        (("price", "--agent", "byer"), "Did you mean 'buyer'"),
        (("pri..ce",), "is not a path"),
        (("",), "the state of 2 agents: 'buyer', 'finder'"),
        (("price@priced", "--agent", "finder"), "is a snapshot of 'buyer', not of 'finder'"),
    ],
)
def test_errors(quote, command, arguments, message):
    """Wrong use exits with 2 and says what would have worked."""
    done = command("blame", quote, *arguments)

    assert (2, "") == (done.code, done.out)
    assert message in done.err


def test_at_in_a_key(ticking, store, command):
    """An `@` in a quoted key belongs to the path."""
    with Run("r", store=store) as run:
        run.session("a").snapshot("one", {"a@b": {"c": 1843}})

    heading = f'["a@b"].c  of a  in {run.run_id}'
    assert heading == command("blame", "@", '["a@b"].c').lines[0]
    assert heading == command("blame", "@", '["a@b"].c@one').lines[0]


def test_fits_a_terminal(quote, command, monkeypatch):
    """On a terminal of 80 columns nothing is cut off or runs over."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    done = command("blame", quote, "price@priced")

    assert max(map(len, done.lines)) <= 80
    words = " ".join(done.out.split())
    assert "and it goes back to the output of tool call 'search' (event 6) (same value)." in words
