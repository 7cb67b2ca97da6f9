"""Bug reports about other libraries, each with what is right here."""

from __future__ import annotations

import dataclasses
import json
import threading
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

import jsonpatch
import numpy as np
import pytest

import argentum
from argentum.state import StateDiff, apply_json_patch, json_patch, to_jsonable
from argentum.tree import Cycle, Key, Opaque, Record, apply, freeze, invert, sequence
from argentum.tree import diff as tree_diff

NAN = float("nan")
BIG = 2**200
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def told(before: object, after: object) -> list[tuple]:
    """List the changes as (path, kind, before, after)."""
    changes = tree_diff(freeze(before), freeze(after))
    return [(str(one.path), one.kind, one.before, one.after) for one in changes]


def report(name: str, before: object, after: object, *expected: tuple) -> object:
    """Name one case by the report that it is taken from."""
    return pytest.param(before, after, list(expected), id=name)


@pytest.mark.parametrize(
    "before, after, expected",
    [
        report(
            "qlustered/deepdiff#605",
            [2],
            [2.0],
            ("[0]", "removed", 2, None),
            ("[0]", "added", None, 2.0),
        ),
        report(
            "qlustered/deepdiff#485",
            {"a": {"b": 10}},
            {"a": {"b": 10.0}},
            ("a.b", "changed", 10, 10.0),
        ),
        report(
            "qlustered/deepdiff#150",
            {1: "a"},
            {True: "a"},
            ("{True}", "added", None, "a"),
            ("{1}", "removed", "a", None),
        ),
        report(
            "stefankoegl/python-json-patch#90", {"a": True}, {"a": 1}, ("a", "changed", True, 1)
        ),
        report("stefankoegl/python-json-patch#103", {"a": 1}, {"a": 1.0}, ("a", "changed", 1, 1.0)),
        report(
            "stefankoegl/python-json-patch#129",
            [True, 1.0],
            [1.0, True],
            ("[1]", "moved", True, True),
        ),
        report("inveniosoftware/dictdiffer#54", {"a": NAN, "b": -0.0}, {"a": NAN, "b": 0.0}),
        report(
            "inveniosoftware/dictdiffer#54 (None)",
            {"a": NAN},
            {"a": None},
            ("a", "changed", NAN, None),
        ),
        report(
            "inveniosoftware/dictdiffer (big integers)",
            {"a": BIG},
            {"a": BIG + 1},
            ("a", "changed", BIG, BIG + 1),
        ),
        report(
            "qlustered/deepdiff#466",
            {"at": NOON},
            {"at": NOON.astimezone(timezone(timedelta(hours=1)))},
            ("at", "changed", NOON, NOON.astimezone(timezone(timedelta(hours=1)))),
        ),
        report(
            "qlustered/deepdiff#516",
            {"at": NOON.replace(tzinfo=None)},
            {"at": NOON},
            ("at", "changed", NOON.replace(tzinfo=None), NOON),
        ),
        report("qlustered/deepdiff#550", {NOON: 1}, {NOON: 2}, (f"{{{NOON!r}}}", "changed", 1, 2)),
        report(
            "inveniosoftware/dictdiffer#12",
            {1: "a"},
            {"1": "a"},
            ("1", "added", None, "a"),
            ("{1}", "removed", "a", None),
        ),
        report(
            "inveniosoftware/dictdiffer#101",
            {"a.b": {"c": 1}},
            {"a.b": {"c": 2}},
            ('["a.b"].c', "changed", 1, 2),
        ),
        report(
            "inveniosoftware/dictdiffer#107",
            {"a": {"b": 1}, "a.b": 1},
            {"a": {"b": 1}, "a.b": 2},
            ('["a.b"]', "changed", 1, 2),
        ),
        report("qlustered/deepdiff#420", {'it"s': 1}, {'it"s': 2}, ('["it\\"s"]', "changed", 1, 2)),
        report("qlustered/deepdiff#351", {"a'b": 1}, {"a'b": 2}, ('["a\'b"]', "changed", 1, 2)),
        report(
            "qlustered/deepdiff#265", {"a]['b": 1}, {"a]['b": 2}, ('["a][\'b"]', "changed", 1, 2)
        ),
        report("qlustered/deepdiff#189", {"__a": 1}, {"__a": 2}, ("__a", "changed", 1, 2)),
        report(
            "qlustered/deepdiff#394",
            {"s": {hash("a")}},
            {"s": {"a"}},
            ("s", "changed", {hash("a")}, {"a"}),
        ),
        report(
            "qlustered/deepdiff#305",
            {"s": {-1, 5}},
            {"s": {-2, 5}},
            ("s", "changed", {-1, 5}, {-2, 5}),
        ),
        report(
            "qlustered/deepdiff#120",
            [{"id": 1, "a": [{"b": 1, "c": 2}]}],
            [{"id": 1, "a": [{"b": 1, "c": 3}]}],
            ("[0].a[0].c", "changed", 2, 3),
        ),
        report(
            "qlustered/deepdiff#209",
            [{"n": 1, "v": 1}],
            [{"n": 1, "v": 2}],
            ("[0].v", "changed", 1, 2),
        ),
        report("qlustered/deepdiff#392", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        report(
            "qlustered/deepdiff#494",
            {"a": np.bool_(True)},
            {"a": np.bool_(False)},
            ("a", "changed", np.bool_(True), np.bool_(False)),
        ),
        report(
            "inveniosoftware/dictdiffer#131",
            list("abcdef"),
            list("abcXdef"),
            ("[3]", "added", None, "X"),
        ),
        report(
            "stefankoegl/python-json-patch#36",
            [1, 2, 3, 4],
            [1, 4],
            ("[1]", "removed", 2, None),
            ("[2]", "removed", 3, None),
        ),
        report(
            "stefankoegl/python-json-patch#55",
            ["a", "b", "c"],
            ["c", "a", "b"],
            ("[0]", "moved", "c", "c"),
        ),
        report(
            "nlohmann/json#269",
            {"a": [1, 2]},
            {"a": []},
            ("a[0]", "removed", 1, None),
            ("a[1]", "removed", 2, None),
        ),
        report(
            "python/cpython#76070",
            ["x"] * 300,
            ["x"] * 299 + ["y", "x"],
            ("[299]", "added", None, "y"),
        ),
        report(
            "langchain-ai/langgraph#8185",
            {"a": Fraction(1, 3), "b": 1j},
            {"a": Fraction(2, 3), "b": 2j},
            ("a", "changed", Fraction(1, 3), Fraction(2, 3)),
            ("b", "changed", 1j, 2j),
        ),
        report(
            "zalmoxisus/redux-devtools-extension#345",
            {"b": b"\x00" * 9},
            {"b": b"\x01" * 9},
            ("b", "changed", b"\x00" * 9, b"\x01" * 9),
        ),
        report(
            "langgraph#7066 (tuples)",
            {"a": (1, 2)},
            {"a": [1, 2]},
            ("a", "changed", (1, 2), [1, 2]),
        ),
    ],
)
def test_reported_case(before, after, expected):
    """The change that was missed or corrupted elsewhere is told exactly, with its types."""
    changes = told(before, after)

    # `repr` tells types apart, and NaN from anything else.
    assert repr(expected) == repr(changes)
    old, new = freeze(before), freeze(after)
    assert [] == tree_diff(new, apply(tree_diff(old, new), old))
    assert [] == tree_diff(old, apply(invert(tree_diff(old, new)), new))


def test_deepdiff_236_a_path_is_data():
    """qlustered/deepdiff#236: a path's steps come as data with their types."""
    [change] = tree_diff(freeze({"a.b": [{2: 0}]}), freeze({"a.b": [{2: 1}]}))

    assert ("a.b", 0, Key(2)) == change.path.parts


def test_deepdiff_392_order_is_restored():
    """qlustered/deepdiff#392: the order of keys is no change, and comes back as it was."""
    states = StateDiff()
    states.snapshot("one", {"a": 1, "b": 2})
    states.snapshot("other", {"b": 2, "a": 1})

    assert {} == states.get_changes("one", "other")
    assert ["a", "b"] == list(states.restore("one"))
    assert ["b", "a"] == list(states.restore("other"))


@pytest.mark.parametrize("extra", [0, 1, 50, 500])
def test_deepdiff_555_size_does_not_flip_the_result(extra):
    """qlustered/deepdiff#555: more keys around a change do not alter how it is told."""
    rest = {f"k{at}": at for at in range(extra)}

    assert [("a.b", "changed", 1, 2)] == told({"a": {"b": 1}, **rest}, {"a": {"b": 2}, **rest})


def test_deepdiff_322_depth():
    """qlustered/deepdiff#322: a change 900 levels down is found; 300 down it is also done again."""

    def nested(leaf: int, levels: int) -> dict:
        value: dict = {"leaf": leaf}
        for _ in range(levels - 1):
            value = {"next": value}
        return value

    [change] = tree_diff(freeze(nested(1, 900)), freeze(nested(2, 900)))
    assert (900, 1, 2) == (len(change.path.parts), change.before, change.after)

    old, new = freeze(nested(1, 300)), freeze(nested(2, 300))
    assert new.reference() == apply(tree_diff(old, new), old).reference()


def test_deepdiff_400_recursive_diff_24_cycles():
    """qlustered/deepdiff#400, crusaderky/recursive_diff#24: cycles end, and changes show."""

    def ring(value: int) -> dict:
        made: dict = {"value": value, "items": []}
        made["self"] = made
        made["items"].append(made)
        return made

    assert [("value", "changed", 1, 2)] == told(ring(1), ring(2))
    assert Cycle(1) == freeze(ring(1)).get("self")
    assert [Cycle(2)] == freeze(ring(1)).get("items")


@pytest.mark.parametrize(
    "before, after",
    [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([1, 2, 3, 4]), np.array([[1, 2], [3, 4]])),
        (np.array([True]), np.array([1])),
        (np.float32(1), np.float64(1)),
        (np.array([(1, 2.0)], "i4,f8"), np.array([(1, 2.5)], "i4,f8")),
        (np.array([1, object], object), np.array([2, object], object)),
        (np.array(1), np.int64(1)),
    ],
    ids=["value", "dtype", "shape", "bool", "scalar", "structured", "objects", "no dimension"],
)
def test_dictdiffer_68_numpy(before, after):
    """inveniosoftware/dictdiffer#68: arrays differ by dtype, shape and content."""
    assert [] == told({"a": before}, {"a": before.copy()})
    assert [] != told({"a": before}, {"a": after})


@pytest.mark.parametrize(
    "value",
    [
        np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")]),
        np.arange(6, dtype="i2").reshape(2, 3),
        np.int8(3),
        np.bool_(True),
        np.float64("nan"),
        np.datetime64("2026-01-01"),
        np.str_("text"),
    ],
    ids=lambda value: str(value.dtype),
)
def test_langgraph_8705_8746_numpy_comes_back(value):
    """langchain-ai/langgraph#8705, #8746: arrays and scalars come back with dtype and shape."""
    thawed = freeze({"a": value}).thaw()["a"]

    assert (type(value), value.dtype, value.shape) == (type(thawed), thawed.dtype, thawed.shape)
    assert value.tobytes() == thawed.tobytes()


@pytest.mark.parametrize(
    "value",
    [Fraction(1, 3), 1 + 2j, BIG, -BIG, b"\x00", (1, (2,)), {1, "a"}, frozenset(), range(3)],
)
def test_langgraph_8185_orjson_53_exact_values(value):
    """langchain-ai/langgraph#8185, ijl/orjson#53: what codecs lose comes back with its type."""
    thawed = freeze([value]).thaw()[0]

    assert (type(value), value) == (type(thawed), thawed)


def test_orjson_441_190_nan_and_keys():
    """ijl/orjson#441, #190: NaN is no null, and keys that are no strings stay what they are."""
    thawed = freeze({1: NAN, None: 2, (1, "a"): 3, "1": 4}).thaw()

    assert NAN.hex() == thawed[1].hex()
    assert [1, None, (1, "a"), "1"] == list(thawed)


def test_langgraph_7066_unknown_types_are_marked():
    """langchain-ai/langgraph#7066: an unknown object never becomes a dict that looks like data."""

    class Unknown:
        def __init__(self):
            self.x = 1

    thawed = freeze({"object": Unknown(), "lock": threading.Lock(), "call": len}).thaw()

    assert isinstance(thawed["object"], Record)
    assert {"x": 1} == thawed["object"].fields
    assert Opaque("_thread:lock", "<unlocked _thread.lock object>") == thawed["lock"]
    assert (
        Opaque("builtins:builtin_function_or_method", "<built-in function len>") == thawed["call"]
    )


def test_deepdiff_164_nothing_is_skipped_silently():
    """qlustered/deepdiff#164: an object that cannot be kept is still told from another one."""
    assert 1 == len(told({"a": len}, {"a": print}))


@pytest.mark.parametrize("lock", [threading.Lock, threading.RLock, threading.Event])
def test_adk_python_3471_locks(lock):
    """google/adk-python#3471, crewAIInc/crewAI#3828: a lock in the state stops no snapshot."""
    states = StateDiff()
    states.snapshot("one", {"lock": lock(), "n": 1})
    states.snapshot("other", {"lock": lock(), "n": 2})

    assert {"from": 1, "to": 2} == states.get_changes("one", "other")["n"]


def test_dictdiffer_178_removals_are_undone_in_order():
    """inveniosoftware/dictdiffer#178: three and more removals come back in their places."""
    old, new = freeze(list("abcdefg")), freeze(list("af"))

    assert list("abcdefg") == apply(invert(tree_diff(old, new)), new).thaw()


def test_reordered_list_is_moved():
    """stefankoegl/python-json-patch#47: the same items in another order are moved, not replaced."""
    states = StateDiff()
    states.snapshot("one", {"plan": ["a", "b", "c"]})
    states.snapshot("other", {"plan": ["c", "a", "b"]})

    assert {"plan": {"moved": ["c"]}} == states.get_changes("one", "other")


def test_duplicates_are_counted():
    """The first version of this project: exact duplicates were collapsed."""
    states = StateDiff()
    states.snapshot("one", {"items": ["a", "a"]})
    states.snapshot("other", {"items": ["a", "a", "a", "a"]})

    assert {"items": {"added": ["a", "a"]}} == states.get_changes("one", "other")


@pytest.mark.parametrize(
    "make",
    [
        lambda count: [f"item {at} of the new ones" for at in range(count)],
        lambda count: [f"item {at}" for at in reversed(range(count))],
        lambda count: [{"id": at, "n": at + 1} for at in range(count)],
    ],
    ids=["jsdiff#353", "jsondiffpatch#365", "xlwings/jsondiff#42"],
)
def test_long_lists_take_bounded_work(monkeypatch, make):
    """Every item different: twice the items take no more than about twice the steps."""
    steps = 0

    class Watched(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            nonlocal steps
            steps += 1
            return str.__eq__(self, other)

    def align(before, after, real=sequence.align):
        return real([Watched(one) for one in before], [Watched(one) for one in after])

    monkeypatch.setattr("argentum.tree.items.align", align)
    monkeypatch.setattr(
        "argentum.tree.items.token", lambda item: repr(getattr(item, "entry", item))
    )
    count = 4_000
    old = [f"item {at}" for at in range(count)]
    changes = tree_diff(freeze(old), freeze(make(count)))

    assert len(changes) <= 2 * count
    assert steps <= 40 * count


def test_senguard_75_mutation_in_place_is_seen():
    """AdityaPatil22/SenGuard#75: a state changed in place shows in the next snapshot only."""
    state = {"messages": [{"content": "a"}]}
    states = StateDiff()
    states.snapshot("one", state)
    state["messages"][0]["content"] = "b"
    states.snapshot("other", state)

    assert {"messages[0].content": {"from": "a", "to": "b"}} == states.get_changes("one", "other")
    assert {"messages": [{"content": "a"}]} == states.restore("one")


def test_pyrsistent_81_the_live_state_is_left_alone():
    """tobgu/pyrsistent#81: freezing is deep and never touches the live objects."""
    inner = [1]
    state = {"a": inner}
    tree = freeze(state)
    inner.append(2)

    assert state["a"] is inner
    assert {"a": [1]} == tree.thaw()


def test_langgraph_7843_chunks_are_shared():
    """langchain-ai/langgraph#7843: one message more stores a bounded part, not all again."""
    messages = [{"content": f"message {at} " * 10} for at in range(2_000)]
    kept: dict[bytes, bytes] = {}
    tree = freeze({"messages": messages})
    kept.update(tree.chunks(kept))
    whole = sum(map(len, kept.values()))
    messages.append({"content": "one more"})
    more = dict(freeze({"messages": messages}, tree).chunks(kept))

    assert sum(map(len, more.values())) < whole / 20


@pytest.mark.parametrize(
    "before, after",
    [
        ({"a": {"b": 1}}, {"a": [1]}),
        ({"a": [1]}, {"a": {"0": 1}}),
        ({"a": {"x": 1}}, {"a": [{"x": 1}]}),
        ({"a/b": 1, "m~n": 2}, {"a/b": 2, "m~n": 3}),
        ({"~1": [1, 2]}, {"~1": [2]}),
        ({"": {"": 1}}, {"": {"": 2}}),
        ({"a": [1, 2, 3, 4]}, {"a": [4, 3, 2, 1]}),
        ([1, 2, 3], [0, 2, 5, 3]),
        ({"a": 1}, [1]),
    ],
    ids=[
        "idubrov/json-patch#37", "idubrov/json-patch#6", "idubrov/json-patch#12",
        "idubrov/json-patch#9", "python-json-patch#78", "empty keys",
        "python-json-patch#47", "nlohmann/json#5460", "root",
    ],
)  # fmt: skip
def test_json_patches_are_valid(before, after):
    """A patch leads to the state after, by our own hands and by the `jsonpatch` package's."""
    patch = json_patch(freeze(before), freeze(after))

    assert json.dumps(after) == json.dumps(apply_json_patch(before, patch))
    assert json.dumps(after) == json.dumps(jsonpatch.apply_patch(before, patch))


def test_python_json_patch_90_types_in_patches():
    """stefankoegl/python-json-patch#90: a patch from True to 1 is not empty."""
    patch = json_patch(freeze({"a": True}), freeze({"a": 1}))

    assert [{"op": "replace", "path": "/a", "value": 1}] == patch


def test_langgraph_8606_errors_name_the_path():
    """langchain-ai/langgraph#8606: an error about a part of a state says which part."""
    with pytest.raises(argentum.NotFoundError, match=r"messages\[0\]"):
        freeze({"messages": [{"content": 1}]}).get("messages[0].contents")


def test_fold_and_named_zones():
    """qlustered/deepdiff#466: the second 02:30 of a night is another moment than the first."""
    zone = ZoneInfo("Europe/Berlin")
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=zone, fold=fold) for fold in (0, 1))

    thawed = freeze(second).thaw()

    assert [] == tree_diff(freeze(first), freeze(first))
    assert ["changed"] == [one.kind for one in tree_diff(freeze(first), freeze(second))]
    assert (1, zone) == (thawed.fold, thawed.tzinfo)


def test_look_alike_dataclass():
    """qlustered/deepdiff#605 for objects: a dataclass is not the dict of its fields."""

    @dataclasses.dataclass
    class Local:
        x: int

    assert 1 == len(told({"a": Local(1)}, {"a": {"x": 1}}))
    assert to_jsonable(Local(1)) != to_jsonable({"x": 1})
