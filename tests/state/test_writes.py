"""Which write first led a run where no run that passed has been."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.acting import Step, run_of, state, tool

from argentum import InputError
from argentum.state.snapshots import snapshots_of
from argentum.state.writes import judge, unseen_in, writes_of

START: dict[str, Any] = {"items": ["a"], "count": 10, "price": 0.1, "rows": {}}

Op = tuple[str, Any]


def done(state_before: Any, op: Op) -> Any:
    """Do one write: each kind of it leads to the same state in any order."""
    after = copy.deepcopy(state_before)
    kind, value = op
    if kind == "append":
        after["items"].append(value)
    elif kind == "add":
        after["count"] += value
    elif kind == "pay":
        after["price"] += value / 10
    elif kind == "set":
        after["rows"][f"row {value}"] = value
    return after


def steps_of(ops: list[Op], *, agent: str = "a") -> list[Step]:
    """Write down a run that does some writes, one call and one snapshot each."""
    current = START
    steps = [state("start", current, agent)]
    for number, op in enumerate(ops):
        current = done(current, op)
        call = tool(op[0], {"value": op[1]}, agent=agent)
        steps += [call, state(f"step {number}", current, agent)]
    return steps


def wrong_of(ops: list[Op], *passed: list[Op]) -> str | None:
    """Name the first wrong write by the label of its snapshot."""
    others = {str(at): writes_of(run_of(steps_of(one))) for at, one in enumerate(passed)}
    found = judge(writes_of(run_of(steps_of(ops))), others).first_wrong
    return None if found is None else found.after.label


RIGHT: list[Op] = [("append", "b"), ("add", -3), ("set", 1), ("add", 5), ("append", "c")]


@pytest.mark.parametrize(
    "ops,label",
    [
        (RIGHT, None),
        (RIGHT[:2], None),
        (RIGHT[::-1], None),
        ([RIGHT[3], RIGHT[1]], None),
        ([("read", 1), *RIGHT], None),
        ([("append", "x"), *RIGHT], "step 0"),
        ([*RIGHT, ("append", "c")], "step 5"),
        ([RIGHT[2], ("set", 2), *RIGHT], "step 1"),
        ([RIGHT[1], ("add", 6)], "step 1"),
    ],
)
def test_first_wrong_write(ops, label):
    """Right writes are right in any order, each as often as in the run that passed."""
    assert label == wrong_of(ops, RIGHT)


def test_a_state_may_be_known_by_chance():
    """Another order may lead to a state that the passing run had after other writes."""
    right = [("add", 1), ("add", 2), ("add", 3), ("append", "b")]

    assert None is wrong_of([("add", 3), ("add", 2), ("append", "b"), ("add", 1)], right)
    assert "step 2" == wrong_of([("add", 3), ("add", 2), ("append", "x")], right)


def test_two_ways_are_not_mixed():
    """A run that begins one right way and goes on with another reaches what neither does."""
    ways = [("set", 1), ("set", 2)], [("set", 3), ("set", 4)]

    assert None is wrong_of(list(ways[0]), *ways)
    assert "step 1" == wrong_of([("set", 1), ("set", 4)], *ways)


def test_what_led_to_an_effect_is_nothing():
    """The same change made by another call is right."""
    passed = writes_of(run_of([state("s", {"x": 1}), tool("t", 1), state("e", {"x": 2})]))
    run = writes_of(run_of([state("s", {"x": 1}), tool("u", 2), state("e", {"x": 2})]))

    assert None is judge(run, {"p": passed}).first_wrong


def test_an_amount_needs_the_same_call():
    """The same amount added to another number by another call is another write."""

    def way(first: int, second: int, name: str) -> Any:
        return writes_of(run_of([
            state("s", {"x": 0}), tool("t", 1), state("m", {"x": first}),
            tool(name, 2), state("e", {"x": second}),
        ]))  # fmt: skip

    passed = way(2, 5, "u")

    late = writes_of(run_of([state("s", {"x": 0}), tool("u", 2), state("m", {"x": 3})]))
    assert None is judge(late, {"p": passed}).first_wrong
    other = writes_of(run_of([state("s", {"x": 0}), tool("v", 2), state("m", {"x": 3})]))
    assert "m" == judge(other, {"p": passed}).first_wrong.after.label


def test_states_that_were_passed_through_unseen():
    """A run with fewer snapshots is right as long as its states are known."""
    passed = writes_of(run_of(steps_of(RIGHT)))
    coarse = [one for at, one in enumerate(steps_of(RIGHT)) if at in (0, 1, 3, 4, 5, 9, 10)]

    verdict = judge(writes_of(run_of(coarse)), {"p": passed})

    assert None is verdict.first_wrong
    assert () == verdict.missing


def test_missing_writes():
    """A run without a wrong write is told what the nearest passing run wrote besides."""
    passed = {
        "long": writes_of(run_of(steps_of(RIGHT))),
        "short": writes_of(run_of(steps_of(RIGHT[:3]))),
    }
    verdict = judge(writes_of(run_of(steps_of([RIGHT[1]]))), passed)

    assert "short" == verdict.nearest
    assert ["step 0", "step 2"] == [one.after.label for one in verdict.missing]
    assert ["append", "set"] == [one.act.name for one in verdict.missing]


def test_back_on_the_way():
    """A wrong write that was taken back is told with where it was."""
    passed = {"p": writes_of(run_of([state("s", 1), tool("t", 2), state("e", 2)]))}
    run = run_of([
        state("s", 1), tool("t", 3), state("w", 3), tool("t", 4), state("x", 4),
        tool("t", 2), state("e", 2),
    ])  # fmt: skip

    verdict = judge(writes_of(run), passed)

    assert ("w", "e") == (verdict.first_wrong.after.label, verdict.back_at.label)
    assert 3 == verdict.first_wrong.act.opening.body.get("arguments")


def test_made_up_names_and_order_of_keys_are_no_writes():
    """States that differ in the order of keys or in ids only are the same."""
    one = "00000000-0000-0000-0000-000000000001"
    passed = {"p": writes_of(run_of([state("s", {"a": 1, "b": one}), state("e", {"a": 2})]))}
    other = one.replace("1", "7")
    run = [state("s", {"b": other, "a": 1}), state("m", {"a": 1, "b": one}), state("e", {"a": 2})]

    assert None is judge(writes_of(run_of(run)), passed).first_wrong
    assert ["e"] == [write.after.label for write in writes_of(run_of(run)).writes]


def test_agents_are_told_apart():
    """A write that was right for one agent is wrong for another."""
    passed = {"p": writes_of(run_of([*steps_of(RIGHT), *steps_of([], agent="b")]))}
    run = run_of([*steps_of([], agent="a"), *steps_of(RIGHT[:1], agent="b")])

    assert "b" == judge(writes_of(run), passed).first_wrong.agent


def test_nothing_to_compare_with():
    """Without a passed run there is no verdict."""
    with pytest.raises(InputError, match="There is no passed run to compare with"):
        judge(writes_of([]), {})


def test_unseen_states():
    """The condition for a search knows states, whatever the order of their keys."""
    passed = writes_of(run_of([state("s", {"a": 1, "b": 2}), state("t", {"a": 2, "b": 2})]))
    run = [state("s", {"b": 2, "a": 1}), state("t", {"a": 3, "b": 2}), state("u", 1, "other")]

    nowhere = unseen_in([passed])

    assert [False, True, True] == [nowhere(one) for one in snapshots_of(run_of(run))]


OPS = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 50)),
    st.tuples(st.just("add"), st.integers(1, 50)),
    st.tuples(st.just("pay"), st.integers(1, 50)),
    st.tuples(st.just("set"), st.integers(0, 50)),
)
WAYS = st.lists(OPS, unique=True, min_size=1, max_size=7)


@given(WAYS, st.data())
def test_right_writes_are_right_in_any_order(right, data):
    """No wrong write is named in a run that makes some of the right writes in any order."""
    order = data.draw(st.permutations(right))
    some = order[: data.draw(st.integers(0, len(order)))]

    verdict = judge(writes_of(run_of(steps_of(some))), {"p": writes_of(run_of(steps_of(right)))})

    assert None is verdict.first_wrong


@given(WAYS, st.data())
def test_a_planted_wrong_write_is_named(right, data):
    """A write that no passing run made is named, whatever right ones come before and after."""
    order = data.draw(st.permutations(right))
    wrong = data.draw(st.tuples(st.sampled_from(["append", "add", "pay", "set"]),
                                st.integers(1000, 1050)))  # fmt: skip
    place = data.draw(st.integers(0, len(order)))

    assert f"step {place}" == wrong_of([*order[:place], wrong, *order[place:]], right)
