"""Where two runs part, and how."""

from __future__ import annotations

import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.acting import Step, model, note, run_of, seq_of, state, tool

from argentum import Run
from argentum.events import CLOSE, OPEN, Event
from argentum.state.acts import acts_of
from argentum.state.compare import KINDS, Comparison, compare, differences
from argentum.state.forks import place_of

HELLO = {"role": "user", "content": "Hello"}
BASE = [
    note("Where to?"),
    model([HELLO], "Look up Rome."),
    tool("look_up", {"city": "Rome"}, "sunny"),
    state("looked up", {"weather": "sunny"}),
    tool("book", {"city": "Rome"}),
    state("booked", {"weather": "sunny", "booked": "Rome"}),
]


def changed(place: int, *steps: Step) -> list[Step]:
    """Put other steps in the place of one."""
    return [*BASE[:place], *steps, *BASE[place + 1 :]]


def compared(a: list[Step], b: list[Step], **options) -> Comparison:
    """Compare two runs that took place at other times, under other ids."""
    return compare(run_of(a), run_of(b, run_id="other", start_ns=10**18), **options)


@pytest.mark.parametrize(
    "other,kind,places",
    [
        (changed(0, note("Where from?")), "other input", (1, 1)),
        (changed(1, model([HELLO], "Ask first.")), "other model output for the same input", (2, 2)),
        (changed(1, model([], "Look up Rome.")), "other input", (2, 2)),
        (changed(1, model([HELLO], "Look up Rome.", heat=1)), "other arguments", (2, 2)),
        (changed(2, tool("look_up", {"city": "Rome"}, "wet")),
         "other tool result for the same call", (4, 4)),
        (changed(2, tool("look_up", {"city": "Rome"}, None, error={"type": "E", "text": "no"})),
         "other tool result for the same call", (4, 4)),
        (changed(2, tool("look_up", {"city": "Oslo"}, "sunny")), "other arguments", (4, 4)),
        (changed(2, tool("find", {"city": "Rome"}, "sunny")), "other step", (4, 4)),
        (changed(3, state("looked up", {"weather": "wet"})), "other state", (6, 6)),
        (changed(5, state("booked", {"weather": "sunny"})), "other state", (9, 9)),
        (changed(2), "missing step", (4, 4)),
        (changed(2, BASE[2], tool("think", {})), "extra step", (6, 6)),
        ([*BASE[:2], BASE[4], *BASE[2:4], BASE[5]], "other order", (4, 4)),
        (BASE[:5], "missing step", (9, None)),
        (BASE[:4], "missing step", (7, None)),
        ([], "missing step", (1, None)),
    ],
)  # fmt: skip
def test_kind_of_divergence(other, kind, places):
    """Each way to part has a name, and is found where it is; seen from the other side, too."""
    found = compared(BASE, other)
    back = compared(other, BASE)

    mirrored = {"missing step": "extra step", "extra step": "missing step"}
    assert kind == found.kind
    assert places == sides(found)
    assert mirrored.get(kind, kind) == back.kind
    assert places[::-1] == sides(back)
    assert kind in KINDS


def sides(found: Comparison) -> tuple[int | None, ...]:
    """Tell the places of the divergence in both runs."""
    told = found.divergence
    assert told is not None
    return tuple(None if act is None else act.seq for act in (told.a, told.b))


def test_same():
    """The same steps at another time are the same; so are two runs of nothing."""
    assert "same" == compared(BASE, BASE).kind
    assert "same" == compared([], []).kind
    assert len(BASE) == len(compared(BASE, BASE).pairs())


def test_tried_again():
    """A call that got something else and was made again is another result, not another step."""
    failing = tool("look_up", {"city": "Rome"}, None, error={"type": "TimeoutError", "text": ""})
    found = compared(BASE, changed(2, failing, BASE[2]))

    assert "other tool result for the same call" == found.kind
    assert (4, 4) == sides(found)
    assert found.divergence.tried_again
    assert [4] == [act.seq for act in found.only_in_b()]
    assert {"same"} == {pair.how for pair in found.pairs()}


def test_what_it_led_to():
    """The states at the next snapshots and at the last ones are compared, and what came before."""
    other = [
        *BASE[:2], tool("look_up", {"city": "Rome"}, "wet"), state("looked up", {"weather": "wet"}),
        tool("stay", {}), state("stayed", {"weather": "wet"}),
    ]  # fmt: skip
    told = compared(BASE, other).divergence

    assert [(1, 1), (2, 2)] == [(pair.a.seq, pair.b.seq) for pair in told.before]
    assert [("next", 6, 6), ("end", 9, 9)] == [
        (one.when, one.a.seq, one.b.seq) for one in told.led_to
    ]
    assert {"weather": {"from": "sunny", "to": "wet"}} == told.led_to[0].diff.flat()
    assert {
        "weather": {"from": "sunny", "to": "wet"}, "booked": {"removed": "Rome"},
    } == told.led_to[1].diff.flat()  # fmt: skip


def test_an_answer_is_not_blamed_for_what_a_tool_gave_meanwhile():
    """A model's call ends after the tools that it used, and parts after them."""
    runs = []
    for weather in ("sunny", "wet"):
        with Run("r") as run:
            session = run.session("a")
            with session.model_call("m", [HELLO]) as call:
                with session.tool_call("look_up", {"city": "Rome"}) as inner:
                    inner.output(weather)
                call.output(f"It is {weather}.")
        runs.append(list(run.store.events(run.run_id)))

    assert "other tool result for the same call" == compare(*runs).kind


def test_made_up_names_are_no_difference():
    """Ids differ from run to run, as long as one stands for the same thing throughout."""

    def steps(order: str, other: str) -> list[Step]:
        calls = [{"id": f"call_{order[:8]}0123456789", "name": "order", "arguments": {"id": 7}}]
        return [
            model([HELLO], {"role": "assistant", "tool_calls": calls, "created": order}),
            tool("order", {"what": "pen"}, {"order": order, "text": f"made {order}"}),
            tool("order", {"what": "ink"}, {"order": other, "text": f"made {other}"}),
            state("ordered", {"order": uuid.UUID(order), "name": order}),
            tool("pay", {"order": order}, usage={"tokens": len(order)}),
        ]

    one, two, three, four = (str(uuid.UUID(int=number)) for number in range(1, 5))
    mixed_up = [*steps(three, four)[:-1], tool("pay", {"order": four}, usage={})]

    assert "same" == compared(steps(one, two), steps(three, four)).kind
    assert "other arguments" == compared(steps(one, two), mixed_up).kind
    assert "other arguments" == compared(mixed_up, steps(one, two)).kind


@pytest.mark.parametrize(
    "a,b,kind",
    [
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, "same"),
        ({"x": math.nan}, {"x": -math.nan}, "same"),
        ({"x": -0.0}, {"x": 0.0}, "same"),
        ({"x": 1}, {"x": 1.0}, "other arguments"),
        ({"x": 1}, {"x": True}, "other arguments"),
        ({"x": (1,)}, {"x": [1]}, "other arguments"),
        ({"usage": 1}, {"usage": 2}, "other arguments"),
        ({1: "a", "b": 2}, {"b": 2, 1: "a"}, "same"),
        ({"x": b"\xc4"}, {"x": b"\xc5"}, "other arguments"),
        (None, {}, "other arguments"),
        ([Decimal(1), {1, 2}], [Decimal(1), {2, 1}], "same"),
    ],
)
def test_values_are_compared_by_exact_types(a, b, kind):
    """What counts as equal in a state counts as equal in arguments."""
    assert kind == compared([tool("t", a)], [tool("t", b)]).kind


def test_ignored_fields():
    """A field that is named makes no difference, in calls and in states."""
    a = [tool("t", {"at": 1, "x": [{"at": 2}]}), state("s", {"at": 1, "y": 1})]
    b = [tool("t", {"at": 3, "x": [{"at": 4}]}), state("s", {"at": 5, "y": 1})]

    assert "other arguments" == compared(a, b).kind
    assert "same" == compared(a, b, ignore=["at"]).kind


def test_only_some_kinds():
    """With kinds given, nothing else is looked at."""
    other = [note("Hi!"), *BASE[1:4], tool("book", {"city": "Oslo"}), BASE[5]]

    assert "other input" == compared(BASE, other).kind
    assert "other arguments" == compared(BASE, other, kinds=["tool_call"]).kind
    assert "same" == compared(BASE, other, kinds=["model_call"]).kind


def test_differences():
    """What differs inside of two acts leaves out what makes no difference."""
    a, b = (acts_of(run_of([tool("t", {"x": x, "y": [1]}, x)], start_ns=x))[0] for x in (1, 2))

    assert ["arguments.x", "output"] == [str(change.path) for change in differences(a, b)]


CHOSEN = [{"role": "user", "calls": [{"arguments": {"id": number}}]} for number in (1, 2)]


@pytest.mark.parametrize(
    "a,b,paths",
    [
        (tool("t", {"request_id": 1}), tool("t", {"request_id": 2}), ["arguments.request_id"]),
        (tool("t", {}, {"usage": 1}), tool("t", {}, {"usage": 2}), ["output.usage"]),
        (
            model(CHOSEN[:1], "x", id=1),
            model(CHOSEN[1:], "x", id=2),
            ["messages[0].calls[0].arguments.id"],
        ),
        (tool("t", {}, {"at": 1, "x": 1}), tool("t", {}, {"at": 2, "x": 2}), ["output.x"]),
        (state("s", {"at": 1, "x": 1}), state("s", {"at": 2, "x": 2}), ["x"]),
        (tool("t", {"x": 1}), tool("other", {"x": 2}), []),
    ],
)
def test_what_parted_the_runs_is_told(a, b, paths):
    """A field that made a difference is told whatever its name; one that is ignored is not."""
    told = compared([a], [b], ignore=["at"]).divergence

    assert paths == [str(change.path) for change in told.changes]


def test_large_parts_are_compared_by_content():
    """Long lists of messages and large outputs are told apart by one item deep inside."""
    messages = [{"role": "user", "content": "word " * 200, "number": n} for n in range(300)]
    other = [dict(message) for message in messages]
    other[150]["number"] = -1
    renamed = [{**message, "id": f"msg_{n:016}"} for n, message in enumerate(messages)]

    assert "same" == compared([model(messages, "x")], [model(list(messages), "x")]).kind
    assert "same" == compared([model(messages, "x")], [model(renamed, "x")]).kind
    assert "other input" == compared([model(messages, "x")], [model(other, "x")]).kind
    assert "other tool result for the same call" == (
        compared([tool("t", {}, messages)], [tool("t", {}, other)]).kind
    )


def test_another_start_is_another_input():
    """A state that an agent had before it did anything was given to it."""
    found = compared([state("start", 1), *BASE], [state("start", 2), *BASE])

    assert "other input" == found.kind


# ---------------------------------------------------------------- several agents


def test_turns_of_concurrent_agents_are_no_difference():
    """How agents take turns says nothing, as long as each does the same."""
    one = [tool("t", number, agent="one") for number in range(5)]
    two = [tool("t", number, agent="two") for number in range(5)]
    mixed = [step for pair in zip(one, two, strict=True) for step in pair]

    assert "same" == compared([*one, *two], mixed).kind
    assert "same" == compared([*two, *one], mixed).kind


def test_calls_at_the_same_time_have_no_order():
    """Calls of one agent that were open at the same time may begin in any order."""
    runs = []
    for order in (("x", "y"), ("y", "x")):
        with Run("r") as run:
            spans = [
                run.record("tool_call", name, {"tool": name}, agent="a", phase=OPEN)
                for name in order
            ]
            for name, span in zip(order, spans, strict=True):
                run.record("tool_call", name, {"output": name}, agent="a", phase=CLOSE, span=span)
        runs.append(list(run.store.events(run.run_id)))

    assert "same" == compare(*runs).kind


def test_the_agent_that_parted_first_is_named():
    """Of several agents that part, the one that did so first is told."""
    other = [tool("t", 2, agent="one"), tool("t", 2, agent="two")]
    found = compared([tool("t", 1, agent="one"), tool("t", 1, agent="two")], other)

    assert "one" == found.divergence.agent


# ---------------------------------------------------------------- hostile runs


@pytest.mark.parametrize("body", [None, 3, "text", [1], {"arguments": object()}, {1: 2}, b"\xff"])
def test_bodies_of_any_form(body):
    """A body need not be a dict, nor hold what is expected."""
    steps = [Step(kind, "x", body) for kind in ("tool_call", "model_call", "note", "handoff")]

    assert "same" == compared(steps, steps).kind
    assert "same" != compared(steps, [Step("note", "x", {"else": 1})]).kind


def test_unfinished_and_headless_spans():
    """A call that never ended differs from one that did; an end without a beginning is an act."""
    whole = run_of([tool("t", {})])
    unfinished, headless = whole[:1], whole[1:]

    assert "other tool result for the same call" == compare(whole, unfinished).kind
    assert "same" == compare(unfinished, unfinished).kind
    assert "same" == compare(headless, headless).kind
    assert [True, False] == [acts_of(one)[0].is_open for one in (unfinished, headless)]


def test_deep_and_huge_values():
    """Values that nest deep or are large are compared, not recursed into."""
    deep: list = []
    for _ in range(900):
        deep = [deep]

    assert "same" == compared([tool("t", deep, "x" * 10**7)], [tool("t", deep, "x" * 10**7)]).kind
    assert "same" != compared([tool("t", deep)], [tool("t", deep[0])]).kind


def test_programs_that_have_nothing_in_common():
    """Runs of different programs part at once; all is only in one of them."""
    found = compared(BASE, [tool("t", 1, agent="z"), state("s", 1, agent="z")])

    assert "same" != found.kind
    assert [] == found.pairs()
    assert len(BASE) == len(found.only_in_a())
    assert () == found.divergence.led_to


# ---------------------------------------------------------------- laws

UNIQUE = st.integers(0, 5).flatmap(
    lambda kind: st.integers(0, 10**6).map(lambda number: kind * 10**7 + number)
)


def unique_step(number: int, variant: str = "") -> Step:
    """Make a step of its own for a number: a tool call, a model call, a note."""
    kind = number // 10**7
    if kind == 0:
        return note(f"note {number}{variant}")
    if kind == 1:
        return model([{"role": "user", "content": number}], f"out{variant}")
    return tool(f"tool{kind}", {"number": number}, f"out{variant}")


RUNS = st.lists(UNIQUE, unique=True, max_size=12)
ANY_STEP = st.one_of(
    st.builds(tool, st.sampled_from("tu"), st.integers(0, 2), st.integers(0, 1),
              agent=st.sampled_from("ab")),
    st.builds(model, st.just(None), st.integers(0, 2), agent=st.sampled_from("ab")),
    st.builds(state, st.sampled_from("st"), st.integers(0, 2), agent=st.sampled_from("ab")),
    st.builds(note, st.sampled_from(["hi", "no"])),
)  # fmt: skip


@given(st.lists(ANY_STEP, max_size=14), st.lists(ANY_STEP, max_size=14))
def test_comparison_is_symmetric(a, b):
    """What belongs together, and where runs part, is the same seen from either."""
    there, back = compared(a, b), compared(b, a)

    pairs = [(pair.a.seq, pair.b.seq, pair.how) for pair in there.pairs()]
    mirrored = [(pair.b.seq, pair.a.seq, pair.how) for pair in back.pairs()]
    assert sorted(pairs) == sorted(mirrored)
    assert {"missing step": "extra step", "extra step": "missing step"}.get(
        there.kind, there.kind
    ) == back.kind
    if there.divergence is not None:
        assert sides(there) == sides(back)[::-1]


@given(st.lists(ANY_STEP, max_size=14))
def test_a_run_is_the_same_as_itself(steps):
    """Nothing differs between a run and itself, and every act has itself as counterpart."""
    found = compared(steps, steps)

    assert "same" == found.kind
    assert {(act.seq, act.seq) for act in acts_of(run_of(steps))} == {
        (pair.a.seq, pair.b.seq) for pair in found.pairs()
    }


@given(st.lists(ANY_STEP, max_size=14), st.lists(ANY_STEP, max_size=14))
def test_every_act_is_accounted_for_once(a, b):
    """An act is in one pair or in one run only; runs that differ in an act are not the same."""
    found = compared(a, b)

    lefts = [pair.a.seq for pair in found.pairs()] + [act.seq for act in found.only_in_a()]
    rights = [pair.b.seq for pair in found.pairs()] + [act.seq for act in found.only_in_b()]
    assert [act.seq for act in acts_of(run_of(a))] == sorted(lefts)
    assert [act.seq for act in acts_of(run_of(b))] == sorted(rights)
    for agent in "ab":
        ours, theirs = ([s for s in run if s.agent == agent] for run in (a, b))
        if [s[:1] + s[2:] for s in ours] != [s[:1] + s[2:] for s in theirs]:
            assert "same" != found.kind


@given(RUNS, UNIQUE, st.data())
def test_an_inserted_step_is_extra(numbers, new, data):
    """A step that only the second run takes is named, wherever it is."""
    numbers = [number for number in numbers if number != new]
    place = data.draw(st.integers(0, len(numbers)))
    a = [*map(unique_step, numbers)]
    b = [*a[:place], unique_step(new), *a[place:]]

    found, back = compared(a, b), compared(b, a)

    assert ("extra step", seq_of(b, place)) == (found.kind, sides(found)[1])
    assert ("missing step", seq_of(b, place)) == (back.kind, sides(back)[0])


@given(RUNS.filter(bool), st.data())
def test_another_outcome_is_named(numbers, data):
    """Of the steps, the first whose outcome differs is named with its kind."""
    place = data.draw(st.integers(0, len(numbers) - 1))
    a = [*map(unique_step, numbers)]
    b = [*a[:place], *(unique_step(number, "!") for number in numbers[place:])]
    kind = {
        "note": "other input",
        "model_call": "other model output for the same input",
        "tool_call": "other tool result for the same call",
    }

    found = compared(a, b)

    assert (kind[a[place].kind], (seq_of(a, place),) * 2) == (found.kind, sides(found))


@given(RUNS.filter(lambda numbers: len(numbers) > 1), st.data())
def test_another_order_is_named(numbers, data):
    """Two steps that changed places are another order, from the first of them on."""
    first, second = sorted(
        data.draw(st.lists(st.integers(0, len(numbers) - 1), min_size=2, max_size=2, unique=True))
    )
    a = [*map(unique_step, numbers)]
    b = list(a)
    b[first], b[second] = b[second], b[first]

    found = compared(a, b)

    assert ("other order", seq_of(a, first)) == (found.kind, sides(found)[0])


# ---------------------------------------------------------------- forks

SOURCE = [
    state("start", {"n": 0}),
    tool("look_up", {"city": "Rome"}),
    state("looked up", {"n": 1}),
    tool("book", {"city": "Rome"}),
    state("booked", {"n": 2}),
]
UNTIL = seq_of(SOURCE, 3) - 1
AGAIN = [state("looked up", {"n": 1}), state("start", {"n": 1})]


def fork(*steps: Step, run_id: str, at: int = UNTIL, source: str = "source") -> list[Event]:
    """Make a fork of the source: what the recorder and a program that starts anew do first."""
    begun = Step("run", run_id, {"forked_from": {"run_id": source, "seq": at}}, None, None)
    return run_of([begun, *steps], run_id=run_id)


def of_source() -> list[Event]:
    """Give the run that the forks are of."""
    return run_of(SOURCE, run_id="source")


def test_a_fork_that_goes_on_alike_is_the_same() -> None:
    """What the source did before the fork, and what the fork did again, is no difference."""
    found = compare(of_source(), fork(*AGAIN, *SOURCE[:2], *SOURCE[3:], run_id="fork"))

    assert ("same", 3, 2) == (found.kind, len(found.shared), len(found.pairs()))
    assert ("source", UNTIL) == found.fork


def test_a_fork_parts_at_the_first_new_difference() -> None:
    """The divergence is after the fork, whichever of the two is given first."""
    other = fork(*AGAIN, tool("book", {"city": "Oslo"}), SOURCE[4], run_id="fork")

    for runs, places in (((of_source(), other), (5, 4)), ((other, of_source()), (4, 5))):
        told = compare(*runs).divergence
        assert told is not None
        assert ("other arguments", places) == (told.kind, (told.a.seq, told.b.seq))
        assert [1, 2, 4] == [pair.a.seq for pair in told.before]


def test_what_a_fork_left_out_is_missing() -> None:
    """A step that the source took after the fork and the fork did not is a missing step."""
    told = compare(of_source(), fork(*AGAIN, SOURCE[4], run_id="fork")).divergence
    assert ("missing step", 5) == (told.kind, told.a.seq)

    twice = run_of([*SOURCE[:3], SOURCE[1], *SOURCE[3:]], run_id="source")
    told = compare(twice, fork(*AGAIN, *SOURCE[3:], run_id="fork")).divergence
    assert ("missing step", 5) == (told.kind, told.a.seq)


def test_a_step_that_both_repeat_has_a_counterpart() -> None:
    """What was done before the fork and is done again by both afterwards is paired."""
    twice = run_of([*SOURCE[:3], SOURCE[1], *SOURCE[3:]], run_id="source")
    found = compare(twice, fork(AGAIN[0], SOURCE[1], *SOURCE[3:], run_id="fork"))

    assert "same" == found.kind


def test_two_forks_of_one_run() -> None:
    """They are compared from the earlier fork on; what lies between counts."""
    early = fork(state("start", {"n": 0}), *SOURCE[1:], run_id="early", at=1)
    late = fork(*AGAIN, *SOURCE[3:], run_id="late")
    wrong = fork(*AGAIN, tool("book", {"city": "Oslo"}), run_id="wrong")

    assert "same" == compare(early, late, source=of_source()).kind
    assert "same" == compare(late, early, source=of_source()).kind
    told = compare(late, wrong).divergence
    assert ("other arguments", "book", "book") == (told.kind, told.a.name, told.b.name)
    found = compare(early, wrong, source=of_source())
    assert [2, 4] == [place_of(pair.b) for pair in found.pairs() if pair.b.seq < 0]


def test_forks_of_different_runs_are_compared_whole() -> None:
    """A fork of an unknown run, and a `forked_from` that is none, change nothing."""
    odd = [
        Step("run", "odd", {"forked_from": told}, None, None) for told in (1, {"seq": "x"}, None)
    ]
    for runs in (
        (of_source(), fork(*SOURCE, run_id="other", source="another")),
        *((of_source(), run_of([one, *SOURCE], run_id="odd")) for one in odd),
    ):
        found = compare(*runs)
        assert ("same", None, ()) == (found.kind, found.fork, found.shared)
