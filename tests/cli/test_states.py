"""`argentum show` and `argentum diff`: a state, and what changed between two."""

from __future__ import annotations

import json

import jsonpatch
import pytest

from argentum import Run
from argentum.state import from_jsonable, to_jsonable


@pytest.mark.parametrize(
    "arguments,lines",
    [
        (("@",), ["20270115-080000-aaaa@15  snapshot start  of writer", "", "{'text': ''}"]),
        ((), ["20270115-080000-aaaa@15  snapshot start  of writer", "", "{'text': ''}"]),
        (
            ("@planner/start",),
            [
                "20270115-080000-aaaa@4  snapshot start  of planner",
                "",
                "{'goals': ['trip'], 'confidence': 0.9, 'budget': {'usd': 100}}",
            ],
        ),
        (
            ("trip.py@end", "goals[1]"),
            ["20270115-080000-aaaa@9  snapshot end  of planner", "goals[1]", "'Rome'"],
        ),
        (
            ("2027@-2", "confidence"),
            ["20270115-080000-aaaa@9  snapshot end  of planner", "confidence", "0.2"],
        ),
        (
            ("@10",),
            [
                "20270115-080000-aaaa@10  handoff writer  of planner",
                "",
                "{'from_agent': 'planner', 'to_agent': 'writer', 'context': {'facts': ['Rome']}}",
            ],
        ),
        (("@16", "status"), ["20270115-080000-aaaa@1-16  run trip.py", "status", "'done'"]),
    ],
)
def test_show(trip, command, arguments, lines):
    """A revision shows what it is and the state there, or the part at a path."""
    assert lines == command("show", *arguments).lines


@pytest.mark.parametrize("revision", ["@6", "@7"])
def test_show_a_call(trip, command, revision):
    """Either event of a call shows both: what went in and what came out."""
    assert [
        "20270115-080000-aaaa@6-7  tool_call find  of planner",
        "",
        "{'tool': 'find', 'arguments': {'query': 'city', 'limit': 1}, "
        "'output': ['city'], 'elapsed_ms': 500.0}",
    ] == joined(command("show", revision).lines)


def joined(lines: list[str]) -> list[str]:
    """Put what was broken into lines by its length back into one."""
    value = " ".join(line.strip() for line in lines[2:])
    return [*lines[:2], value]


@pytest.mark.parametrize("body", [3, [1, 2], None, "text"])
def test_show_a_call_of_another_form(command, tmp_path, body):
    """A call from a file, whose events hold no dict, can be shown, too."""
    event = {"type": "event", "kind": "tool_call", "name": "t", "at_ns": 1, "body": body}
    records = [
        {"format": "argentum.run/1", "type": "run", "run_id": "r", "started_at_ns": 0},
        {**event, "phase": "open"},
        {**event, "phase": "close", "span": 1},
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    command("import", str(path))

    for name in ("@1", "@2"):
        done = command("show", f"r{name}")
        assert (0, "") == (done.code, done.err)
        assert repr(body) in done.out
    assert 0 == command("log", "r").code


def test_label_of_several_agents(trip, command):
    """A label that several agents share is taken for the last one's, and that is said."""
    done = command("show", "@start")

    assert (0, "20270115-080000-aaaa@15  snapshot start  of writer") == (done.code, done.lines[0])
    assert (
        "argentum: 'start' is a label of other agents too (planner); this is writer's. "
        "To choose, write RUN@AGENT/LABEL.\n"
    ) == done.err


def test_show_json(trip, command):
    """As JSON only the value is printed."""
    assert {"goals": ["trip", "Rome"], "confidence": 0.2, "budget": {}} == json.loads(
        command("show", "@end", "--json").out
    )


def test_show_json_is_exact(store, command):
    """What JSON lacks comes back exactly from what is printed."""
    state = {"t": (1, 2), "s": {3}, "b": b"\xff", "f": float("inf"), 7: "seven", "$type": "x"}
    with Run("x", store=store) as run:
        run.session("a").snapshot("s", state)
    printed = command("show", "@s", "--json").out

    assert state == from_jsonable(json.loads(printed))


@pytest.mark.parametrize(
    "arguments,message",
    [
        (
            ("@strt",),
            "No snapshot in run '20270115-080000-aaaa' labelled 'strt'. Did you mean 'start'?",
        ),
        (("@99",), "Run '20270115-080000-aaaa' has 16 events; there is no 99."),
        (("@0",), "Run '20270115-080000-aaaa' has 16 events; there is no 0."),
        (("@" + "9" * 40,), f"Run '20270115-080000-aaaa' has 16 events; there is no {'9' * 40}."),
        (("@-4",), "Run '20270115-080000-aaaa' has 3 snapshots; there is no -4."),
        (("@-0",), "Run '20270115-080000-aaaa' has 3 snapshots; there is no 0."),
        (
            ("@²",),
            "No snapshot in run '20270115-080000-aaaa' labelled '²'. Known: 'end', 'start'.",
        ),
        (("trp.py@end",), "No run 'trp.py'. Did you mean 'trip.py'?"),
        (("@end", "golas"), "No key in the state 'golas'. Did you mean 'goals'?"),
        (
            ("@end", "x[["),
            "'x[[' is not a path: '[[' cannot be read. Write keys with dots, places in lists in "
            'brackets, and odd keys quoted, like messages[3].content or ["a.b"].c.',
        ),
    ],
)
def test_show_what_is_not_there(trip, command, arguments, message):
    """A name that is not there is one line that names near ones, and exit code 2."""
    done = command("show", *arguments)

    assert (2, "", f"argentum: {message}\n") == (done.code, done.out, done.err)


def test_place_that_is_not_there(trip, command):
    """A place beyond a list is wrong use; the message names the list."""
    done = command("show", "@end", "goals[9]")

    assert (2, 1) == (done.code, done.err.count("\n"))
    assert done.err.startswith("argentum: No item of goals")


CHANGES = ["+ goals[1]  'Rome'", "~ confidence  0.9 → 0.2", "- budget.usd  100"]


@pytest.mark.parametrize(
    "arguments,code,lines",
    [
        (("@planner/start", "@end"), 0, CHANGES),
        (("@4", "@9"), 0, CHANGES),
        (("@8", "@10"), 0, CHANGES),  # an event means the state as it was then
        (("@planner/start", "@end", "--exit-code"), 1, CHANGES),
        (("@end", "@end", "--exit-code"), 0, ["Nothing changed."]),
        (("@planner/start", "@end", "--path", "goals"), 0, ["+ goals[1]  'Rome'"]),
        (
            ("@end", "@planner/start"),
            0,
            ["- goals[1]  'Rome'", "~ confidence  0.2 → 0.9", "+ budget.usd  100"],
        ),
    ],
)
def test_diff(trip, command, arguments, code, lines):
    """A diff is a line per change; with `--exit-code` it can be asked whether there is any."""
    done = command("diff", *arguments)

    assert (code, lines, "") == (done.code, done.lines, done.err)


def test_diff_json(trip, command):
    """As JSON each change is an object."""
    assert [
        {"path": "goals[1]", "kind": "added", "before": None, "after": "Rome",
         "source": "goals[1]"},
        {"path": "confidence", "kind": "changed", "before": 0.9, "after": 0.2,
         "source": "confidence"},
        {"path": "budget.usd", "kind": "removed", "before": 100, "after": None,
         "source": "budget.usd"},
    ] == json.loads(command("diff", "@planner/start", "@end", "--json").out)  # fmt: skip


@pytest.mark.parametrize(
    "before,after",
    [
        ({"a": [1, 2, 3]}, {"a": [3, 1, 4], "b": {"c": None}}),
        ({"t": (1, 2), "s": {1}, "n": 1}, {"t": (1, 3), "s": {2}, "n": 1.0}),
        ({1: "one", "x": b"\x00"}, {1: "eins", "y": float("nan")}),
        ([{"id": n} for n in range(5)], [{"id": n} for n in (4, 0, 2, 9)]),
    ],
)
def test_patch_leads_there(store, command, before, after):
    """The printed JSON Patch, applied by another library, makes one printed state the other."""
    with Run("x", store=store) as run:
        session = run.session("a")
        session.snapshot("s1", before)
        session.snapshot("s2", after)
    old, new = (json.loads(command("show", at, "--json").out) for at in ("@s1", "@s2"))
    patch = json.loads(command("diff", "@s1", "@s2", "--patch").out)

    assert repr(new) == repr(to_jsonable(after))
    assert sorted_repr(new) == sorted_repr(jsonpatch.apply_patch(old, patch))


def sorted_repr(value: object) -> str:
    """Show a value exactly, but for the order of keys."""
    return json.dumps(value, sort_keys=True)


def test_diff_before_any_snapshot(trip, command):
    """An event before the first snapshot has no state to compare."""
    done = command("diff", "@2", "@end")

    assert (
        2,
        "argentum: There is no snapshot at or before 20270115-080000-aaaa@2. "
        "See the labels: argentum log 20270115-080000-aaaa\n",
    ) == (done.code, done.err)


def test_diff_of_two_runs(ticking, store, command):
    """Revisions of different runs can be compared."""
    for number in (1, 2):
        with Run("x", store=store, run_id=f"r{number}") as run:
            run.session("a").snapshot("s", {"n": number})

    assert ["~ n  1 → 2"] == command("diff", "r1@s", "r2@s").lines


def test_deep_state(store, command):
    """A state that nests a hundred thousand levels can be recorded and does no harm here."""
    state: list = []
    for _ in range(100_000):
        state = [state]
    with Run("x", store=store, run_id="r") as run:
        session = run.session("a")
        session.snapshot("s1", {"n": 1})
        session.snapshot("s2", {"deep": state, "n": 2})
    logged = command("log")

    assert (0, "") == (logged.code, logged.err)
    assert ["2"] == command("show", "@s2", "n").lines[-1:]
    assert 0 == command("show", "@s2").code
    assert 0 == command("diff", "@s1", "@s2").code
    for arguments in (("show", "@s2", "--json"), ("export",)):
        done = command(*arguments)
        assert (3, "argentum: The value nests too deep to be written as JSON.\n") == (
            done.code, done.err,
        )  # fmt: skip


def test_json_drives_no_terminal(ticking, store, command):
    """Control characters that JSON may hold raw are escaped; it stays the same JSON."""
    text = "\x9b31m \u202e \x7f é"
    with Run("x", store=store) as run:
        run.session("a").snapshot("s", {"t": text})
    done = command("show", "@", "--json")

    assert text == json.loads(done.out)["t"]
    assert [] == [char for char in "\x9b\u202e\x7f" if char in done.out]
    assert "é" in done.out
