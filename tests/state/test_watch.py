"""Watches over a history: where they break, and what cannot be checked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import InputError
from argentum.state import Snapshot
from argentum.state.watch import Watch, watch_history, watch_over
from argentum.tree import Tree, freeze

PADDING = {"padding": ["x" * 1000] * 20}


def history(states: Iterable[object], agent: str = "a", *, first: int = 1) -> list[Snapshot]:
    """Take a snapshot of each state."""
    snapshots: list[Snapshot] = []
    tree: Tree | None = None
    for seq, state in enumerate(states, first):
        tree = freeze(state, tree)
        snapshots.append(Snapshot(f"s{seq}", tree, seq, seq, agent))
    return snapshots


def counts(values: Iterable[object], **more: Any) -> list[Snapshot]:
    """Make a history of one number."""
    return history([{"n": value, **more} for value in values])


def broken(snapshots: list[Snapshot], watch: Watch) -> list[int]:
    """Tell the numbers of the snapshots that break a watch."""
    return [one.snapshot.seq for one in watch_history(snapshots, watch)]


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
def test_breaks_once_while_it_stays_broken(padding: dict[str, Any]) -> None:
    """A watch over one state breaks where it stops to hold, and again after it held again."""
    snapshots = counts([1, -1, -2, 3, -4], **padding)

    assert [2, 5] == broken(snapshots, Watch("n >= 0"))
    assert [2, 5] == broken(snapshots, Watch(lambda state: state["n"] >= 0))


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
def test_breaks_at_each_step_if_it_compares(padding: dict[str, Any]) -> None:
    """A watch that compares breaks at each step that it forbids; the first state has none."""
    snapshots = counts([5, 4, 3, 7, 7, 6], **padding)

    assert [2, 3, 6] == broken(snapshots, Watch("n >= previous.n"))
    assert [2, 3, 6] == broken(snapshots, Watch(lambda now, old: now["n"] >= old["n"]))


def test_a_break_tells_what_was_there() -> None:
    """A break has the snapshots around it, what was read, and the last that kept the watch."""
    [found] = watch_history(counts([0.9, 0.8, 0.3]), Watch("n >= previous.n - 0.2"))

    assert ("s3", "s2") == (found.snapshot.label, found.before and found.before.label)
    assert {"n": 0.3, "previous.n": 0.8} == found.values
    assert "s2" == (found.last_kept and found.last_kept.label)
    assert "n >= previous.n - 0.2" == found.watch.name


def test_agents_are_apart() -> None:
    """Each agent's state is compared with its own before."""
    mine, other = counts([5, 6, 7]), history([{"n": 1}, {"n": 0}], "b", first=10)
    mixed = [mine[0], other[0], mine[1], other[1], mine[2]]

    assert [11] == broken(mixed, Watch("n >= previous.n"))


@pytest.mark.parametrize("padding", [{}, PADDING], ids=["small", "large"])
def test_a_path_narrows_it(padding: dict[str, Any]) -> None:
    """With a path, both kinds of condition are about the part there."""
    snapshots = history([{"plan": {"n": n}, "n": 1, **padding} for n in (3, 2, 5)])

    assert [2] == broken(snapshots, Watch("n >= previous.n", path="plan"))
    assert [2] == broken(snapshots, Watch(lambda now, old: now >= old, path="plan.n"))
    [found] = watch_history(snapshots, Watch(lambda now, old: now >= old, path="plan.n"))
    assert {"plan.n": 2, "previous.plan.n": 3} == found.values


def test_an_assertion_is_a_break() -> None:
    """A function may assert; what it says is why."""

    def positive(state: Any) -> bool:
        assert state["n"] > 0, f"n is {state['n']}"
        return True

    [found] = watch_history(counts([1, -2]), Watch(positive))

    assert ("positive", "n is -2") == (found.watch.name, found.why.partition("\n")[0][:7])


def test_what_cannot_be_told_is_no_break() -> None:
    """A missing key and a function that fails break nothing, and are counted with the reason."""
    snapshots = history([{}, {"n": 1}, {"n": -1}, {}])

    report = watch_over(snapshots, Watch("n >= 0"))
    assert ([3], 2, 2) == (
        [one.snapshot.seq for one in report.breaks], report.checked, report.untold[0].total
    )  # fmt: skip
    assert [("s1", "No key in the state 'n'.")] == [
        (one.snapshot.label, one.why) for one in report.untold
    ]
    report = watch_over(snapshots, Watch(lambda state: state["n"] >= 0))
    assert ["KeyError: 'n'"] == [one.why for one in report.untold]
    report = watch_over(snapshots, Watch(lambda state: print(end="")))
    assert [4] == [one.total for one in report.untold]


def test_missing_below_a_path_is_told() -> None:
    """A path at which there is nothing is told with what is near."""
    report = watch_over(counts([1]), Watch(lambda state: True, path="m"))

    assert ["No key in the state 'm'. Known: 'n'."] == [one.why for one in report.untold]


def test_a_function_gets_values_that_it_may_change() -> None:
    """What a function does to its state changes no snapshot."""
    snapshots = history([{"items": [1]}, {"items": [1, 2]}])

    def spoil(state: Any) -> bool:
        state["items"].clear()
        return True

    assert [] == watch_history(snapshots, Watch(spoil))
    assert {"items": [1, 2]} == snapshots[1].tree.thaw()


def test_a_function_is_called_only_for_what_changed() -> None:
    """States that are the same object in memory are not checked again."""
    calls: list[object] = []
    state = {"n": 1, "other": 0, **PADDING}
    snapshots = history([state, {**state, "other": 1}, {**state, "n": 2}])

    watch_history(snapshots, Watch(lambda n: calls.append(n) or True, path="n"))

    assert [1, 2] == calls


def test_states_that_come_back_are_known_again() -> None:
    """Histories that share a checker agree with those that do not, also where states come back."""
    states = [{"list": [{"n": n, "pad": "x" * 900} for n in range(20)], **PADDING}]
    states += [{**states[0], "list": [*states[0]["list"], {"n": -n}]} for n in range(9)]
    trees = [snapshot.tree for snapshot in history(states)]
    order = [0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0, 9, 3, 0, 1]
    snapshots = [Snapshot(str(at), trees[at], 0, seq) for seq, at in enumerate(order)]
    watch = Watch("list.all(item, item.n >= 0) || list == previous.list")
    shared = watch.checker()

    expected = [seq for seq, at in enumerate(order) if at > 1 and seq > 0]
    for _ in range(2):
        report = watch_over(snapshots, watch, shared)
        assert expected == [found.snapshot.seq for found in report.breaks]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"condition": 3}, "text or a function"),
        ({"condition": "n >"}, "ends too early"),
        ({"condition": "n > 1", "on_break": "explode"}, "give 'log', 'alert', 'raise', or"),
        ({"condition": "n > 1", "path": "a..b"}, "is not a path"),
        ({"condition": lambda: True}, r"\(state\) or \(state, previous\)"),
        ({"condition": lambda a, b, c: True}, r"\(state\) or \(state, previous\)"),
    ],
)
def test_refuses_what_is_no_watch(arguments: dict[str, Any], message: str) -> None:
    """What cannot be watched is refused when the watch is made."""
    with pytest.raises(InputError, match=message):
        Watch(**arguments)


def test_a_hostile_answer_is_no_break() -> None:
    """A function's answer whose truth cannot be told breaks nothing."""

    class Odd:
        def __bool__(self) -> bool:
            raise ValueError("no truth")

    report = watch_over(counts([1]), Watch(lambda state: Odd()))

    assert ["ValueError: no truth"] == [one.why for one in report.untold]


NUMBERS = st.lists(st.integers(-3, 3), max_size=12)


@given(values=NUMBERS, padding=st.sampled_from([{}, PADDING]))
def test_agrees_with_a_plain_loop(values: list[int], padding: dict[str, Any]) -> None:
    """Breaks are where a loop over the values finds them."""
    snapshots = counts(values, **padding)
    drops = [n for n, (old, new) in enumerate(pairwise(values), 2) if old and new < old]
    falls = [n for n, (old, new) in enumerate(pairwise([0, *values]), 1) if new < 0 <= old]

    assert drops == broken(snapshots, Watch("previous.n == 0 || n >= previous.n"))
    assert falls == broken(snapshots, Watch("n >= 0"))
