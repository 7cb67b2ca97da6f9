"""The first state where a condition holds, and what is known of the others."""

from __future__ import annotations

import pickle
import random

import orjson
import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from tests.state.histories import frozen, reloaded, states
from tests.state.planted import CONDITIONS, KINDS, MONOTONE, planted, truths

from argentum.errors import InputError, NotFoundError
from argentum.state import SKIP, StateDiff, bisect, bisect_snapshots
from argentum.tree.encoding import pack

MANY = 10_000
SEEDS = 10
SURE = ("a flag", "a key that is there or not", "a few values")
"""Conditions that read nothing which changes often."""
LIKELY = ("a number that is always another", "one of a few values beside a counter",
          "a word in a text that is always another")  # fmt: skip
"""Conditions of which every state is another, but what makes the difference can be guessed."""


def naive(snapshots, predicate):
    """Call the predicate on every state; give the first where it holds, and all flips."""
    held = [bool(predicate(one.tree.thaw())) for one in snapshots]
    first = held.index(True) if True in held else None
    flips = [(at, held[at]) for at in range(1, len(held)) if held[at] is not held[at - 1]]
    return first, flips


def found(bisection):
    """Make a bisection comparable with the naive one."""
    first = bisection.first and bisection.first.seq - 1
    return first, [(flip.at.seq - 1, flip.holds) for flip in bisection.flips]


PREDICATES = [
    lambda state: isinstance(state, dict) and state.get("step", 0) > 1,
    lambda state: "messages" in state and len(state["messages"]) > 2,
    lambda state: isinstance(state, dict) and "a" in state.get("facts", {}),
    lambda state: isinstance(state, dict) and bool(state.get("facts", {}).get("a")),
    lambda state: isinstance(state, dict) and state == {**state, "step": 1},
    lambda state: (
        isinstance(state, dict)
        and any(one.get("role") == "user" for one in state.get("messages", ()))
    ),
    lambda state: isinstance(state, list | tuple) and len(state) > 0,
    lambda state: (
        isinstance(state, dict)
        and state.get("messages")
        and state["messages"][-1].get("role") == "model"
    ),
    lambda state: len(pack(state)) % 3 == 0,
    lambda _: False,
]


def quiet(predicate):
    """Give a predicate that is false where it would raise."""

    def safe(state):
        try:
            return bool(predicate(state))
        except Exception:  # noqa: BLE001 - a random state may be anything
            return False

    return safe


@given(states(most=12), st.sampled_from(PREDICATES))
def test_every_agrees_with_thawing_every_state(taken, predicate):
    """With `every`, all flips are those of a scan, in memory and from a store."""
    kept = frozen(taken)
    expected = naive(kept, quiet(predicate))

    for snapshots in (kept, reloaded(kept)):
        bisection = bisect(snapshots, quiet(predicate), every=True)
        assert expected == found(bisection)
        assert 0 == bisection.unknown == bisection.between
        assert bisection.trusted is (len(expected[1]) <= 1 and (0, False) not in expected[1]
                                     and all(holds for _, holds in expected[1]))  # fmt: skip


@given(states(most=12), st.sampled_from(PREDICATES), st.integers(1, 5))
def test_nothing_false_is_said_within_few_calls(taken, predicate, calls):
    """However few the calls, what is said to hold does, and what is trusted is so."""
    snapshots = frozen(taken)
    first, flips = naive(snapshots, quiet(predicate))
    held = [bool(quiet(predicate)(one)) for one in (one.tree.thaw() for one in snapshots)]

    bisection = bisect(snapshots, quiet(predicate), calls=calls)

    assert bisection.calls <= calls
    if bisection.first is not None:
        assert held[bisection.first.seq - 1]
    if bisection.last_before is not None:
        assert not held[bisection.last_before.seq - 1]
    if bisection.monotone is not None:
        assert bisection.monotone is all(holds for _, holds in flips)
    if bisection.trusted or bisection.unknown == 0:
        assert (first, flips) == found(bisection)


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("count", [1, 2, 3, 10, 100, 1000, MANY])
def test_a_condition_that_begins_once_is_found(condition, count):
    """Wherever a condition begins for good, that is found within the calls that are allowed."""
    rng = random.Random(count)
    for begin in {0, 1, count // 3, count - 1, count} if count < MANY else {rng.randrange(MANY)}:
        held = [at >= begin for at in range(count)]

        bisection = bisect(planted(condition, held, rng), CONDITIONS[condition][1])

        assert (begin if begin < count else None) == found(bisection)[0]
        assert 0 == bisection.between
        assert bisection.calls <= 16
        assert bisection.monotone is not False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", SURE)
def test_what_reads_little_is_known_everywhere(condition, kind):
    """Where what is read changes seldom, each flip is known in a few calls, and that it is all."""
    rng = random.Random(kind)
    held = truths(kind, MANY, rng)
    snapshots = planted(condition, held, rng)

    bisection = bisect(snapshots, CONDITIONS[condition][1])

    assert naive(snapshots, CONDITIONS[condition][1]) == found(bisection)
    assert 0 == bisection.unknown
    assert (kind in MONOTONE) is bisection.trusted is bisection.monotone
    assert bisection.calls <= 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", LIKELY)
def test_a_flip_where_every_state_is_another(condition, kind):
    """What is read may differ everywhere: a flip is still seen, and what is not known is said."""
    rng = random.Random(kind)
    snapshots = planted(condition, truths(kind, MANY, rng), rng)

    bisection = bisect(snapshots, CONDITIONS[condition][1])

    assert bisection.calls <= 16
    assert not bisection.trusted
    assert (None if kind in MONOTONE else False) is bisection.monotone
    assert "were not asked" in bisection.why


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", [*SURE, *LIKELY])
def test_planted_flips(condition, kind):
    """In each of many histories of 10,000 states, a planted flip is seen in at most 16 calls."""
    for seed in range(SEEDS):
        rng = random.Random(f"{kind} {seed}")
        snapshots = planted(condition, truths(kind, MANY, rng), rng)

        bisection = bisect(snapshots, CONDITIONS[condition][1])

        assert bisection.calls <= 16
        assert (kind not in MONOTONE) is (bisection.monotone is False)
        assert bisection.trusted is (kind in MONOTONE and condition in SURE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_settles_it(condition, kind):
    """With `every`, nothing stays unknown whatever the condition reads."""
    rng = random.Random(kind)
    held = truths(kind, 300, rng)
    snapshots = planted(condition, held, rng)

    bisection = bisect(snapshots, CONDITIONS[condition][1], every=True)

    assert naive(snapshots, CONDITIONS[condition][1]) == found(bisection)
    assert (kind in MONOTONE) is bisection.trusted


def test_nothing_is_trusted_that_was_not_seen():
    """A flip that no read tells apart may be missed in 16 calls, but is never said not to be."""
    rng = random.Random(1)
    snapshots = planted("a digest that is always another", truths("blip early", MANY, rng), rng)

    bisection = bisect(snapshots, CONDITIONS["a digest that is always another"][1])

    assert not bisection.trusted
    assert bisection.monotone is None
    assert bisection.unknown == MANY - 16


@pytest.mark.parametrize("kind", ["alternating", "holds at first"])
def test_the_ends_and_the_neighbourhood_are_sampled(kind):
    """Where nothing says which state to suspect, the ends and the next state are looked at."""
    rng = random.Random(2)
    condition = "a digest that is always another"
    snapshots = planted(condition, truths(kind, MANY, rng), rng)

    assert bisect(snapshots, CONDITIONS[condition][1]).monotone is False


def test_a_result_says_what_it_knows():
    """The answer, its neighbour, the calls and the reason are there to be shown."""
    snapshots = frozen({"step": step, "failed": step >= 5} for step in range(9))

    bisection = bisect(snapshots, lambda state: state["failed"])

    assert ("s6", "s5", 0) == (
        bisection.first.label, bisection.last_before.label, bisection.between
    )  # fmt: skip
    assert (9, 0, ()) == (bisection.snapshots, bisection.unknown, bisection.skipped)
    assert [("s5", "s6", True, 0)] == [
        (flip.before.label, flip.at.label, flip.holds, flip.between) for flip in bisection.flips
    ]
    assert bisection.trusted
    assert (
        "It begins once and never ceases. All 9 snapshots are known from "
        f"{bisection.calls} calls: in the others nothing that it reads is different (failed)."
    ) == bisection.why


@pytest.mark.parametrize(
    "held,why",
    [
        ([False, False], "It holds in none of the snapshots."),
        ([True, True], "It holds in the first snapshot already and never ceases."),
        (
            [True, False],
            "It holds in the first snapshot already. It flips: it ceases at 's2' (seq 2).",
        ),
        (
            [False, True, False],
            "It flips: it begins at 's2' (seq 2), ceases at 's3' (seq 3).",
        ),
    ],
)
def test_why(held, why):
    """The reason names where it begins and ceases."""
    snapshots = frozen({"step": at, "failed": one} for at, one in enumerate(held))

    assert bisect(snapshots, lambda state: state["failed"]).why.startswith(why)


def test_states_that_cannot_be_judged_are_skipped():
    """As with `git bisect skip`, others are asked, and the gap that is left is told."""
    snapshots = frozen({"step": step} for step in range(20))

    def predicate(state):
        return SKIP if 8 <= state["step"] < 12 else state["step"] >= 10

    bisection = bisect(snapshots, predicate)

    assert ("s13", "s8", 4) == (
        bisection.first.label, bisection.last_before.label, bisection.between
    )  # fmt: skip
    assert [9, 10, 11, 12] == [one.seq for one in bisection.skipped]
    assert not bisection.trusted
    assert "Of 4 it cannot be told." in bisection.why
    assert "It may begin to hold up to 4 snapshots before." in bisection.why


def test_all_are_skipped():
    """Where no state can be judged, nothing is found and nothing is claimed."""
    bisection = bisect(frozen({"step": step} for step in range(5)), lambda _: SKIP)

    assert bisection.first is bisection.last_before is None
    assert 5 == bisection.unknown
    assert bisection.monotone is None


def test_what_was_deduced_wrongly_is_found_out():
    """A predicate that looks behind what notes its reads is called again, and trusted no more."""
    snapshots = frozen({"step": step, "more": {"n": step}} for step in range(12))

    def sneaky(state):
        return len(state["more"]) == 1 and dict.__getitem__(state["more"], "n") >= 7

    bisection = bisect(snapshots, sneaky, every=True)

    assert "s8" == bisection.first.label
    assert 0 == bisection.unknown
    assert "It depends on more than it was seen to read" in bisection.why


async def _async(state):
    return state["step"] > 2


def _generator(state):
    yield state["step"] > 2


@pytest.mark.parametrize("predicate", [_async, _generator])
def test_a_predicate_that_gives_no_answer_yet(predicate):
    """A coroutine or a generator is true, whatever it would say; the predicate is refused."""
    with pytest.raises(InputError, match=r"At snapshot 's5'.*give a plain function"):
        bisect(frozen({"step": step} for step in range(5)), predicate)


BEHIND = {
    "orjson, a dict": lambda s: b"17" in orjson.dumps(s["more"]),
    "orjson, a list": lambda s: b"17" in orjson.dumps(s["list"]),
    "orjson, all": lambda s: b"17" in orjson.dumps({**orjson.loads(orjson.dumps(s)), "big": 0}),
    "ormsgpack": lambda s: ormsgpack.unpackb(ormsgpack.packb(s["more"]))["n"] == 17,
    "pydantic": lambda s: TypeAdapter(dict[str, int]).validate_python(s["more"])["n"] == 17,
    "a dict's own method": lambda s: dict.get(s["more"], "n") == 17,
    "a list's own method": lambda s: list.__getitem__(s["list"], 0) == 17,
    "pickle": lambda s: pickle.loads(pickle.dumps(s["more"]))["n"] == 17,
}


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("big", [[], ["x" * 100] * 100], ids=["small", "large"])
@pytest.mark.parametrize("predicate", BEHIND.values(), ids=BEHIND)
def test_compiled_code_reads_behind_the_back(predicate, big, every):
    """Where compiled code looks at a part by itself, nothing is claimed that was not seen."""
    snapshots = frozen({"more": {"n": at}, "list": [at], "big": big} for at in range(40))

    bisection = bisect(snapshots, predicate, every=every)

    flips = [(flip.at.label, flip.holds) for flip in bisection.flips]
    assert (flips == [("s18", True), ("s19", False)]) or not (every or bisection.trusted)


@pytest.mark.parametrize(
    "looks", [lambda _: None, lambda s: s["n"], lambda s: "n" in s], ids=["not", "reads", "asks"]
)
def test_validation_of_a_large_state(looks):
    """What a predicate catches itself is not for parts of the state that were not thawed yet."""
    model = TypeAdapter(dict[str, int | list[str]])
    big = {"big": ["x" * 100] * 100}
    snapshots = frozen({"n": at if at < 9 else str(at) + "!", **big} for at in range(12))

    def is_invalid(state):
        looks(state)
        try:
            model.validate_python(state)
        except ValidationError:
            return True
        return False

    assert "s10" == bisect(snapshots, is_invalid, every=True).first.label


def test_the_predicate_gets_the_state():
    """A predicate sees dicts, lists and objects as they were recorded, and can change them."""
    state = {"a": {"b": [1, {"c": 2}]}, "t": (1, 2), "big": ["x" * 100] * 100}
    seen = []

    def predicate(given):
        seen.append(given == state and given["a"]["b"][1] == {"c": 2} and [*given] == [*state])
        given["a"]["b"].append(3)
        given["new"] = 1
        return given["a"]["b"][2] == 3 and given["big"][-1] == "x" * 100

    snapshots = frozen([state, state])

    assert bisect(snapshots, predicate).first is snapshots[0]
    assert all(seen)
    assert state == snapshots[0].tree.thaw()


def test_an_exception_names_the_snapshot():
    """What a predicate raises is told with the snapshot where it did, and what to do."""
    snapshots = frozen([{"a": 1}, {}])

    with pytest.raises(
        InputError, match=r"KeyError\('a'\) at snapshot 's2' \(seq 2, 2 of 2\)"
    ) as e:
        bisect(snapshots, lambda state: state["a"] > 1)

    assert isinstance(e.value.__cause__, KeyError)


@pytest.mark.parametrize("calls", [0, -1, 1.5, True, "3"])
def test_calls_that_are_no_number(calls):
    """A limit of calls is a whole number from 1."""
    with pytest.raises(InputError, match="`calls` is"):
        bisect(frozen([{}]), bool, calls=calls)


def test_no_snapshots_and_several_agents():
    """There must be states, and of one agent."""
    one, two = frozen([{"a": 1}, {"a": 2}])

    with pytest.raises(NotFoundError, match="no snapshots"):
        bisect([], bool)
    with pytest.raises(InputError, match="2 agents"):
        bisect([one, two._replace(agent="b")], bool)


def test_a_predicate_of_snapshots():
    """Equal states are asked once, and the predicate may look at the tree by itself."""
    snapshots = frozen({"n": step // 4} for step in range(16))
    asked = []

    def predicate(snapshot):
        asked.append(snapshot.seq)
        return snapshot.tree.get("n") >= 2

    bisection = bisect_snapshots(snapshots, predicate, every=True)

    assert "s9" == bisection.first.label
    assert len(asked) == bisection.calls <= 4 + 3


def test_bisect_of_a_session():
    """`StateDiff.bisect` looks through its own snapshots."""
    kept = StateDiff()
    for step in range(5):
        kept.snapshot(f"s{step}", {"step": step})

    assert "s3" == kept.bisect(lambda state: state["step"] > 2).first.label
    assert "s3" == kept.bisect(lambda state: state["step"] > 2, every=True, calls=9).first.label


def test_a_condition_as_text():
    """Text is read as a condition, and asked of every snapshot; the first has none before it."""
    taken = StateDiff()
    for number in (1, 2, 5, 3):
        taken.snapshot(f"s{number}", {"n": number})
    found = taken.bisect("n > 2")
    compared = taken.bisect("n < previous.n")

    assert ("s5", True, 4) == (found.first.label, found.trusted, found.calls)
    assert "s3" == compared.first.label
    with pytest.raises(InputError):
        taken.bisect("n >")
