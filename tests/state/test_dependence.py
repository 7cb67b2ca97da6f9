"""What a function reads of a state, and in which states all of that is the same."""

from __future__ import annotations

import copy
import json
from collections import Counter
from itertools import chain
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.state.histories import frozen, paths_into, states
from tests.tree.values import Point, exactly_equal, values

from argentum.state import to_jsonable
from argentum.state.dependence import Columns, Read, Reads, watched
from argentum.tree import Path, diff, freeze
from argentum.tree.encoding import pack

STATE = {
    "a": {"b": 1, "c": [1, {"d": 2}, []]},
    "text": "x",
    "big": ["y" * 100] * 100,
    "point": Point(1, 2),
    "odd": {1: "one"},
    "none": {},
}


def reads_of(function, state=STATE):
    """Call a function with a watched state; give what it read, in short, and what it gave."""
    reads = Reads()
    given = watched(freeze(state), reads)
    result = function(given)
    return [(read.what, str(read.path)) for read in reads.all()][1:], result


@pytest.mark.parametrize(
    "function,expected,result",
    [
        (lambda s: s["text"], [("value", "text")], "x"),
        (lambda s: s["a"]["b"], [("kind", "a"), ("value", "a.b")], 1),
        (lambda s: s.get("no"), [("presence", "no")], None),
        (lambda s: s.get("no", 5), [("presence", "no")], 5),
        (lambda s: "a" in s, [("presence", "a")], True),
        (lambda s: "no" in s["a"], [("kind", "a"), ("presence", "a.no")], False),
        (lambda s: len(s["a"]), [("kind", "a"), ("count", "a")], 2),
        (lambda s: bool(s["a"]), [("kind", "a"), ("count", "a")], True),
        (lambda s: bool(s["none"]), [("value", "none"), ("count", "none")], False),
        (
            lambda s: s["a"]["c"][-2]["d"],
            [("kind", "a"), ("kind", "a.c"), ("kind", "a.c[-2]"), ("value", "a.c[-2].d")],
            2,
        ),
        (lambda s: s["point"].y, [("value", "point")], 2),
        (lambda s: s["odd"][1], [("kind", "odd"), ("value", "odd")], "one"),
        (lambda s: max(s["a"]), [("kind", "a"), ("value", "a")], "c"),
        (lambda s: s["a"]["c"] == [1], [("kind", "a"), ("kind", "a.c"), ("value", "a.c")], False),
        (lambda s: [0, *s["a"]["c"][:1]], [("kind", "a"), ("kind", "a.c"), ("count", "a.c"),
                                           ("value", "a.c[0]")], [0, 1]),
        (lambda s: len(add([0], s["big"])), [("kind", "big"), ("value", "big")], 101),
        (lambda s: dict(s["a"].items())["b"], [("kind", "a"), ("value", "a")], 1),
        (lambda s: json.dumps(s["none"]), [("value", "none")], "{}"),
    ],
)  # fmt: skip
def test_what_is_read(function, expected, result):
    """Each way to look into a state is noted for what it can tell, and gives the right answer."""
    assert (expected, result) == reads_of(function)


WHOLE = [
    lambda s: s == STATE,
    lambda s: STATE == s,
    lambda s: dict(s) == STATE,
    lambda s: s | {} == STATE,
    lambda s: {} | s == STATE,
    lambda s: {**s} == STATE,
    lambda s: s.copy() == STATE,
    lambda s: copy.deepcopy(s) == STATE,
    lambda s: copy.copy(s) == STATE,
    lambda s: dict(s.items()) == STATE,
    lambda s: {key: s[key] for key in s} == STATE,
    lambda s: list(s.values()) == list(STATE.values()),
    lambda s: repr(s) == repr(STATE),
    lambda s: str(s) == str(STATE),
    lambda s: f"{s}" == f"{STATE}",
    lambda s: pack(s) == pack(STATE),
    lambda s: freeze(s) == freeze(STATE),
    lambda s: diff(freeze(STATE), freeze(s)) == [],
    lambda s: to_jsonable(s) == to_jsonable(STATE),
    lambda s: Counter(s) == Counter(STATE),
    lambda s: list(reversed(s)) == list(reversed(STATE)),
    lambda s: dict(**s) == STATE,
    lambda s: s.pop("a") == STATE["a"],
    lambda s: json.dumps(s, default=str) == json.dumps(STATE, default=str),
]


@pytest.mark.parametrize("function", WHOLE, ids=range(len(WHOLE)))
def test_reading_it_whole(function):
    """However a state is read as a whole, it is the state, and that is noted."""
    reads, right = reads_of(function)

    assert right
    assert ("value", "") in reads


ITEMS = STATE["a"]["c"]
WHOLE_LISTS = [
    lambda c: c == ITEMS,
    lambda c: ITEMS == c,
    lambda c: list(c) == ITEMS,
    lambda c: [*c] == ITEMS,
    lambda c: add(c, []) == ITEMS,
    lambda c: add([], c) == ITEMS,
    lambda c: c * 1 == ITEMS,
    lambda c: list(chain(c)) == ITEMS,
    lambda c: c.copy() == ITEMS,
    lambda c: copy.deepcopy(c) == ITEMS,
    lambda c: {"d": 2} in c,
    lambda c: c.index({"d": 2}) == 1,
    lambda c: list(reversed(c)) == ITEMS[::-1],
    lambda c: json.dumps(c) == json.dumps(ITEMS),
    lambda c: pack(c) == pack(ITEMS),
    lambda c: repr(c) == repr(ITEMS),
    lambda c: [item for _, item in enumerate(c)] == ITEMS,
    lambda c: "".join(map(str, c)) == "".join(map(str, ITEMS)),
    lambda c: tuple(c) == tuple(ITEMS),
    lambda c: c < [2],
    lambda c: not [2] < c,
]


@pytest.mark.parametrize("function", WHOLE_LISTS, ids=range(len(WHOLE_LISTS)))
def test_reading_a_list_whole(function):
    """However a list is read as a whole, it is the list, and that is noted."""
    reads, right = reads_of(lambda state: function(state["a"]["c"]))

    assert right
    assert ("value", "a.c") in reads


@pytest.mark.parametrize(
    "function,error",
    [
        (lambda s: s["no"], KeyError),
        (lambda s: s["a"]["c"][9], IndexError),
        (lambda s: s["a"]["c"]["x"], TypeError),
        (hash, TypeError),
        (lambda s: hash(s["big"]), TypeError),
    ],
    ids=range(5),
)
def test_errors_are_those_of_dicts_and_lists(function, error):
    """What a dict or list refuses, a watched one does."""
    with pytest.raises(error):
        reads_of(function)


def test_patterns():
    """A `match` statement finds its way."""

    def found(state):
        match state:
            case {"a": {"c": [first, {"d": second}, *_]}}:
                return first, second
        return None

    reads, result = reads_of(found)

    assert (1, 2) == result
    assert ("value", "a.c") in reads or ("value", "a.c[1].d") in reads


def test_very_many_reads_are_few():
    """What reads item by item through a long list counts as reading what is around it."""
    reads, result = reads_of(lambda s: all(s["big"][at] for at in range(len(s["big"]))))

    assert result
    assert [("value", "big")] == reads


@given(values)
def test_any_state_is_itself(value):
    """Whatever a state is, it is encoded as what it was."""
    _, packed = reads_of(pack, value)

    assert pack(freeze(value).thaw()) == packed
    assert exactly_equal(value, freeze(value).thaw())


@given(st.data(), states(), st.sampled_from(["value", "presence", "count", "kind"]))
def test_equal_numbers_mean_equal_answers(data, taken, what):
    """States with one number in a column are the same in what the read asks."""
    path = data.draw(paths_into(taken))
    snapshots = frozen(taken)
    trees = [one.tree for one in snapshots]

    column = Columns(trees).column(Read(what, Path(path)))

    answers = [_answer(tree, path, what) for tree in trees]
    for one, answer in zip(column, answers, strict=True):
        for other, another in zip(column, answers, strict=True):
            if one == other:
                assert answer == another


def _answer(tree, path, what):
    try:
        value = tree.get(path)
    except KeyError:
        return None
    if what == "presence":
        return True
    if type(value) not in (dict, list):
        return pack(value)
    return {"kind": type(value), "count": (type(value), len(value)), "value": pack(value)}[what]
