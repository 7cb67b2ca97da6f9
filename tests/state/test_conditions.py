"""Conditions as text: what they say of a state, what they read, and how they complain."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import subprocess
import sys
import uuid
from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from argentum.errors import InputError, LimitError
from argentum.state import Snapshot
from argentum.state.conditions import FIRST, parse
from argentum.state.expression import read_expression
from argentum.state.quick import quick
from argentum.tree import freeze


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Plan:
    steps: list[str]
    done: bool = False


PADDING = {"padding": ["x" * 1000] * 20}
"""Makes a state large enough to be kept in pages."""
STATE: dict[str, Any] = {
    "confidence": 0.5, "messages": [{"role": "user", "n": 1}, {"role": "tool", "n": 2}],
    "n": 3, "name": "abc", "plan": {"a": 1, "odd key": 2}, "nothing": None, "type": "x",
}  # fmt: skip
BEFORE: dict[str, Any] = {"confidence": 1, "messages": [{"role": "user", "n": 1}], "n": 3}


def snapshot(state: object, seq: int = 1) -> Snapshot:
    """Take a snapshot."""
    return Snapshot("label", freeze(state), 0, seq, "writer")


def held(text: str, state: object = STATE, before: object = None) -> bool | None:
    """Give what a condition says."""
    old = None if before is None else snapshot(before)
    return parse(text).check(snapshot(state, 2), old).held


def why(text: str, state: object = STATE, before: object = None) -> str:
    """Give why it says nothing."""
    old = None if before is None else snapshot(before)
    return parse(text).check(snapshot(state, 2), old).why


HOLDS = (
    "confidence == 0.5", "n >= 3 && !(n > 3)", "n % 2 == 1", "n + 1.5 > 4", "n * 2 > 1.5",
    "n == 3.0", "size(messages) == 2", "messages.size() == 2", "size(messages) * 0.5 == 1.0",
    "size(name) == 3", 'messages[0].role == "user"', "messages[-1].n == 2",
    'messages.exists(m, m.role == "tool")', "messages.all(m, m.n > 0 && has(m.role))",
    "messages.filter(m, m.n > 1).size() == 1", 'name.startsWith("a") && name.contains("b")',
    'name.matches("^a.c$")', "!has(error)", "has(plan.a)", "!has(plan.b)", "has(nothing)",
    "nothing == null", 'state["n"] == 3', 'plan["odd key"] == 2', "plan.`odd key` == 2",
    '"a" in plan', "n in [1, 2, 3]", "size(state) == 7", 'type == "x"', "type(n) == int",
    'snapshot.label == "label" && snapshot.seq == 2 && snapshot.agent == "writer"',
    "!has(error) || error == 1", "messages.map(n, n.n)[1] == 2", "n // three\n == 3",
    "messages[size(messages) - 1].n == 2", "confidence > 0.4 ? n == 3 : false",
)  # fmt: skip


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
@pytest.mark.parametrize("text", HOLDS)
def test_holds(text: str, padding: dict[str, Any]) -> None:
    """A true condition holds, for a state of one entry and for one in pages."""
    expected = text.replace("== 7", "== 8") if padding else text

    assert held(expected, {**STATE, **padding}) is True


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
def test_reads_the_state_before(padding: dict[str, Any]) -> None:
    """`previous` is the state before; integers and floats mix."""
    now, before = {**STATE, **padding}, {**BEFORE, **padding}

    assert held("confidence >= previous.confidence - 0.2", now, before) is False
    assert held("confidence >= previous.confidence - 0.5", now, before) is True
    assert held("size(messages) >= size(previous.messages)", now, before) is True
    assert held("size(messages) >= size(previous.messages)", before, now) is False


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
def test_compares_two_paths_as_a_diff_does(padding: dict[str, Any]) -> None:
    """Paths that are compared whole are equal where nothing changed, whatever their size."""
    now = {**STATE, **padding, "big": [["y" * 100] * 20] * 20, "one": 1, "true": True}
    before = {**now, "messages": [*STATE["messages"], {}], "order": 0, "one": 1.0}
    shuffled = {key: now[key] for key in reversed(now)}

    assert held("messages == previous.messages", now, before) is False
    assert held("n == 3 && messages != previous.messages", now, before) is True
    assert held("big == previous.big && name == previous.name", now, before) is True
    assert held("(state == previous)", now, shuffled) is True
    assert held("state == previous", now, before) is False
    assert held("one == previous.one", now, before) is True
    assert held("state.true == one", now, before) is False
    assert held("big == name || messages == name", now, before) is False
    assert held("!has(previous.n) == has(n)", now, before) is False
    assert held("n + n == previous.n + n", now, before) is True
    assert held("plan == previous.plan ? n == n : n != n", now, before) is True
    assert why("n == m", now).startswith("No key in the state 'm'")
    assert why("n == previous.m || false", now, before).endswith("That is the state before.")


def test_is_not_checked_on_a_first_snapshot() -> None:
    """What reads `previous` is not checked where there is none, unless it asks for it."""
    assert FIRST == parse("n >= previous.n").check(snapshot(STATE))
    assert held("!has(previous) || n >= previous.n") is True
    assert held("!has(previous) || n > previous.n", STATE, BEFORE) is False


VALUES: tuple[tuple[str, object], ...] = (
    ("x == 3.5", decimal.Decimal("3.5")), ("x > 1", 2**70), ("x < -1.0", -(2**5000)),
    ("size(x) == 2 && x[1] == 5", (4, 5)), ("5 in x", {4, 5}), ("x[0] == 1", deque([1, 2])),
    ("x[2] == 2", range(9)), ('x == "red"', Colour.RED), ("x.done == false", Plan(["a"])),
    ("size(x.steps) == 1", Plan(["a"])), ('x == "2026-12-01"', dt.date(2026, 12, 1)),
    ("x == 90.0", dt.timedelta(seconds=90)), ('x == b"ab"', bytearray(b"ab")),
    ('x < "2026-12-02"', dt.datetime(2026, 12, 1)), ("x[1] == 7", {1: 7, "1": 8}),
    (f'x == "{uuid.UUID(int=1)}"', uuid.UUID(int=1)), ('x == "a?"', "a\ud800"),
    ('x.exists(k, k == "None")', {None: 1, 2.5: 2}), ("x != x", float("nan")),
    ("x == double('inf')", float("inf")), ("x == true", True), ("size(x) == 0", set()),
)  # fmt: skip


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
@pytest.mark.parametrize("text, value", VALUES)
def test_maps_values_that_cel_lacks(text: str, value: object, padding: dict[str, Any]) -> None:
    """Values of Python's other types are lists, maps, numbers and strings."""
    assert held(text, {"x": value, **padding}) is True


UNTOLD = (
    ("confidnce > 1", "No key in the state 'confidnce'. Did you mean 'confidence'?"),
    ("previous.confidnce > 1", "Did you mean 'confidence'? That is the state before."),
    ("plan.b == 1", "No key in plan 'b'"),
    ("messages[7].n == 1", "No item of messages, which has 2, 7."),
    ('n > "a"', "`>` does not take (int, string). Here n is 3."),
    ("n && true", "`&&` does not take"),
    ("n", "It gives 3, not true or false."),
    ("size(n) == 1", "`size(n)`: 3 has no size."),
    ("n / 0 == 1", "divide by zero."),
    ("n + 9223372036854775807 > 0", "integer overflow."),
)


@pytest.mark.parametrize("text, reason", UNTOLD)
def test_says_why_it_cannot_tell(text: str, reason: str, capfd: Any) -> None:
    """What is missing or of another type makes no answer, and the reason says what is near."""
    assert held(text, STATE, BEFORE) is None
    assert reason in why(text, STATE, BEFORE)
    assert ("", "") == capfd.readouterr()


BAD = (
    ("", "It ends too early", 0), ("n >", "It ends too early", 3), ("(n", "It ends too early", 2),
    ("n > 1 and n < 3", "`and` is Python's; here it is written `&&`", 6),
    ("n = 1", "here it is written `==`", 2), ("len(n) > 1", "here it is written `size`", 0),
    ("n == None", "here it is written `null`", 5), ("n ++ 1", "`+` is out of place", 3),
    ("foo(n) == 1", "There is no function `foo`", 3), ("n + 1", "of type int", 0),
    ("snapshot.lable == n", "There is no `snapshot.lable`", 0), ('"a" + 1 == n', "`+` does not", 4),
    ('n == "x', "cannot be read from here on", 5), ('name.matches("(")', "regular expression", 13),
    ('name.matches("(?=a)")', "do not look around", 13),
    ('name.matches("a++")', "do not look around", 13),
    ('name.matches("((a{99}){99}){9}")', "repeats at most", 13),
    ("name.matches(name)", "written out", 13), ('name.matches("a" + name)', "written out", 13),
    ("(" * 200 + "n", "nests too deep", 0), ("n == 1 &&\n n >", "It ends too early", 4),
)  # fmt: skip


@pytest.mark.parametrize("text, reason, column", BAD)
def test_points_at_what_is_no_condition(text: str, reason: str, column: int) -> None:
    """What is no condition is refused, with a caret under the place."""
    with pytest.raises(InputError) as caught:
        parse(text)

    lines = str(caught.value).splitlines()
    assert reason in lines[0]
    assert " " * (2 + column) + "^" == lines[2]


def test_refuses_what_is_too_long() -> None:
    """The length of a condition is bounded."""
    with pytest.raises(LimitError, match="most is 2000"):
        parse("n + " * 1000 + "1 == 1")


def test_refuses_what_is_no_text() -> None:
    """A condition is text."""
    with pytest.raises(InputError, match="A condition is text"):
        parse(3)  # type: ignore[arg-type]


def test_bounds_loops() -> None:
    """An expression that loops without end is stopped, and says so."""
    text = "x.all(a, x.all(b, x.all(c, a + b + c >= 0)))"

    assert "budget" in why(text, {"x": list(range(500))})


def test_gives_up_on_deep_values() -> None:
    """A value that nests without end makes no answer."""
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]

    assert "levels deep" in why("x == 1", {"x": deep})


def test_tells_what_it_reads() -> None:
    """The paths that a condition reads are known; names that a macro binds are none."""
    condition = parse('a.b[0]["c d"] > 1 && size(previous.m) > 0 && m.all(x, x.y > a.b[0].z)')

    assert ['a.b[0]["c d"]', "m", "m", "a.b[0].z"] == [str(read.path) for read in condition.reads]
    assert ["value", "size", "value", "value"] == [read.how for read in condition.reads]
    assert condition.reads_previous


def test_gives_the_values_that_it_read() -> None:
    """The values are named as they are written."""
    condition = parse("confidence >= previous.confidence && size(messages) > 0 && has(error)")

    assert {
        "confidence": 0.5, "previous.confidence": 1, "size(messages)": 2, "has(error)": False,
    } == condition.values(snapshot(STATE), snapshot(BEFORE))  # fmt: skip


def test_gives_only_the_size_of_a_large_value() -> None:
    """A value beyond 50 kB is told of by its size."""
    state = {"items": ["x" * 1000] * 100}

    assert {"items": "<100 items, 100,300 bytes>"} == parse("items == items").values(
        snapshot(state)
    )


def test_looks_names_up_below_a_path() -> None:
    """With a path, names are those of the value there."""
    condition = parse("a == previous.a && size(state) == 2", path="plan")

    assert condition.check(snapshot(STATE), snapshot(STATE)).held is True


def test_skips_what_did_not_change() -> None:
    """A checker gives the same outcome where none of the paths changed, small or large."""
    for padding in ({}, PADDING):
        checker = parse("size(messages) == 2 && n == 3").checker()
        first = snapshot({**STATE, **padding})
        second = first._replace(tree=freeze({**STATE, **padding, "name": "z"}, first.tree))
        third = first._replace(tree=freeze({**STATE, **padding, "n": 4}, second.tree))

        assert [True, True, False] == [checker.check(one).held for one in (first, second, third)]


def test_import_loads_no_library() -> None:
    """The CEL library is loaded for the first condition, not before."""
    code = (
        "import sys, argentum.state.conditions as c; a = 'cel_expr_python' in sys.modules;"
        "c.parse('true'); print(a, 'cel_expr_python' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "False True" == done.stdout.strip()


def test_says_how_to_install_the_library() -> None:
    """Without the library the error gives the install line."""
    code = (
        "import sys; sys.modules['cel_expr_python'] = None\n"
        "from argentum.errors import MissingExtraError\n"
        "import argentum.state.conditions as c\n"
        "try: c.parse('true')\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert 'pip install "argentum-agent[conditions]"' in done.stdout


ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NAMES = st.sampled_from(["a", "b", "state", "previous", "in", "odd key", ""])


@given(text=st.text("ab01.[]()\"'` <>=!&|+-*/%?:{},_x", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Any text is a condition or an `InputError`; nothing else comes out."""
    try:
        parse(text)
    except InputError as error:
        assert "no condition" in str(error)


@given(state=st.dictionaries(NAMES, ATOMS | st.lists(ATOMS), max_size=4))
def test_any_state_gives_an_outcome(state: dict[str, Any]) -> None:
    """A comparison says of any value what Python says, or that it cannot tell."""
    outcome = parse("a > b").check(snapshot(state))
    if outcome.held is None:
        assert outcome.why
    elif type(state["a"]) is type(state["b"]):
        assert (state["a"] > state["b"]) is outcome.held


@given(a=st.integers() | st.floats(allow_nan=False), b=st.floats(-1e6, 1e6))
def test_mixed_sums_are_those_of_floats(a: float, b: float) -> None:
    """Integers and floats add up as in Python."""
    large = 1e300
    left = min(max(a, -large), large)
    assert (float(left) + b > 0.5) is held("a + b > 0.5", {"a": left, "b": b})


NUMBERS = st.sampled_from(
    ["a", "b", "previous.a", "1", "2.5", "0", "1e3", "size(l)", "(a + b)", "-a"]
)
COMPARISONS = st.builds(
    "{} {} {} {} {}".format, NUMBERS, st.sampled_from("+-"), NUMBERS,
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBERS,
)  # fmt: skip
TRUTHS = COMPARISONS | st.sampled_from(
    ["has(a)", "!has(c)", "!(a > b)", "(a < b || b < 1)", "a == 'x'", 'b != "x y"', "b > 'a{0}'",
     "a", "!b", "a != null", "b == null", "true", "previous.a <= 'é'", "a == b", "a != previous.a"]
)  # fmt: skip
CONDITIONS = st.builds("{} {} {}".format, TRUTHS, st.sampled_from(["&&", "||"]), TRUTHS)
SOME_NUMBERS = (
    st.integers(-3, 3)
    | st.integers()
    | st.floats()
    | st.text(max_size=2)
    | st.sampled_from([2**31, -(2**31), 0.5, True, False, None, "x", "x y", "\ud800", [1]])
)


@given(text=CONDITIONS, a=SOME_NUMBERS, b=SOME_NUMBERS, old=SOME_NUMBERS)
def test_plain_values_are_compared_as_cel_compares_them(
    text: str, a: object, b: object, old: object
) -> None:
    """What is answered without CEL, since it is plain, is what CEL answers."""
    try:
        condition = parse(text)
    except InputError:
        return  # CEL refuses some that are wrong whatever the values are
    now = snapshot({"a": a, "b": b, "l": [1, 2]})
    checker = condition.checker()
    by_cel = condition.checker()
    by_cel.quick = None
    event(f"answered without CEL: {checker.quick is not None}")

    expected = by_cel.check(now, snapshot({"a": old}))
    found = checker.check(now, snapshot({"a": old}))
    assert (expected.held, expected.why) == (found.held, found.why)


@pytest.mark.parametrize(
    "text, state, answer",
    [
        ("status != 'failed'", {"status": "done"}, True),
        ('status == "done for {now}"', {"status": "done for {now}"}, True),
        ("plan.done && !error", {"plan": {"done": True}, "error": False}, True),
        ("error == null", {"error": None}, True),
        ("error != null", {"error": {"a": 1}}, True),
        ("size(name) > 1 || n != null && n > 1", {"name": "", "n": 2}, True),
        ("!has(error) || name < 'b'", {"name": "c"}, True),
    ],
)
def test_answers_what_is_plain_without_cel(text: str, state: Any, answer: object) -> None:
    """Texts, truths and nothing, too, and not only numbers."""
    found = parse(text).checker().quick
    assert found is not None
    assert held(text, state) is answer


@pytest.mark.parametrize(
    "text",
    ["a * 2 > 1", "a > 1 ? true : false", r"a == '\n'", "a < 3000000000", "(a < b) == true",
     "a == 1 && a == 'x'", "a == b'x'", "a == b && a > 1", "a == b && a == null",
     "a == null || a == b", "a in ['x']", "a == true"],
)  # fmt: skip
def test_leaves_to_cel_what_is_more_than_plain(text: str) -> None:
    """What may overflow, or is of other types, is evaluated by CEL."""
    assert None is parse(text).checker().quick


@pytest.mark.parametrize("text", ["(" * 300 + "a" + ")" * 300 + " > 1", "!" * 1000 + "has(a)"])
def test_leaves_to_cel_what_nests_deep(text: str) -> None:
    """Python's parser has its limits."""
    found = quick(read_expression(text))
    assert found is None or found.holds(1)


KEYS = st.sampled_from(["a", "b", "é", 1, True])
BOXES = st.one_of(
    st.dictionaries(KEYS, st.none() | st.integers() | st.lists(st.floats(), max_size=2)),
    st.lists(st.none() | st.integers() | KEYS),
    st.sampled_from([Plan([]), ("a", 1), {"a"}, "abc", None, 1, b"a"]),
)


@pytest.mark.parametrize("padding", [{}, {f"k{n}": "x" * 100 for n in range(50)}])
@given(
    text=st.sampled_from(["'a' in box", "!('é' in box)", "'done' in box || 1 in box"]),
    box=BOXES,
)
def test_what_is_in_a_map_is_told_by_its_keys(padding: Any, text: str, box: Any) -> None:
    """As if CEL were given the values, too."""
    if isinstance(box, dict):
        box = {**box, **padding}
    whole = parse(text.replace("in box", "in (box)"))
    assert parse(text).reads != whole.reads

    for state in ({"box": box}, {}):
        found = parse(text).check(snapshot(state))
        expected = whole.check(snapshot(state))
        assert (expected.held, expected.why) == (found.held, found.why)
