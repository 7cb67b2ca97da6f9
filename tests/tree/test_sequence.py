"""Alignment of sequences: right, longest while that is cheap, and bounded in work."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.tree.sequence import MAX_EDITS, align, common_ends, longest_increasing

short = st.lists(st.integers(0, 4), max_size=12)


class Counted:
    """An item that counts how often any two are compared."""

    comparisons = 0

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return isinstance(other, Counted) and self.number == other.number


def comparisons(before: list[int], after: list[int]) -> int:
    """Count the comparisons that an alignment takes."""
    old, new = list(map(Counted, before)), list(map(Counted, after))
    Counted.comparisons = 0
    align(old, new)
    return Counted.comparisons


def longest_common(before: list[int], after: list[int]) -> int:
    """Find the length of a longest common subsequence by the table of all pairs."""
    row = [0] * (len(after) + 1)
    for item in before:
        last = row
        row = [0]
        for at, other in enumerate(after):
            row.append(last[at] + 1 if item == other else max(row[-1], last[at + 1]))
    return row[-1]


@given(short, short)
def test_matches_are_a_longest_common_subsequence(before, after):
    """Matches ascend on both sides, pair equal items, and are as many as can be."""
    matches = align(before, after)

    assert all(before[i] == after[j] for i, j in matches)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(matches))
    assert longest_common(before, after) == len(matches)


@given(st.integers(0, 2**32), st.integers(1, 400))
def test_beyond_the_bound_matches_are_still_right(seed, kinds):
    """Of long unlike sequences equal items are still paired in ascending order."""
    rng = random.Random(seed)
    before = [rng.randrange(kinds) for _ in range(400)]
    after = [rng.randrange(kinds) for _ in range(400)]
    matches = align(before, after)

    assert all(before[i] == after[j] for i, j in matches)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(matches))


@given(st.lists(st.integers(0, 30), max_size=14))
def test_longest_increasing(numbers):
    """The places are those of a strictly increasing subsequence that is longest."""
    places = longest_increasing(numbers)
    chosen = [numbers[at] for at in places]

    assert sorted(set(chosen)) == chosen
    assert sorted(places) == places
    assert _length_of_longest(numbers) == len(places)


def _length_of_longest(numbers: list[int]) -> int:
    best: list[int] = []
    for at, number in enumerate(numbers):
        best.append(1 + max((best[i] for i in range(at) if numbers[i] < number), default=0))
    return max(best, default=0)


@given(short, short)
def test_common_ends(before, after):
    """Equal ends are counted, and never overlap."""
    start, end = common_ends(before, after)

    assert before[:start] == after[:start]
    assert before[len(before) - end :] == after[len(after) - end :]
    assert start + end <= min(len(before), len(after))


@pytest.mark.parametrize(
    "change",
    [
        lambda items: random.Random(1).sample(items, len(items)),
        lambda items: items[::-1],
        lambda items: [item + 1_000_000 for item in items],
        lambda items: items[::2],
        lambda items: [item % 7 for item in items],
    ],
    ids=["shuffled", "reversed", "all new", "every second", "few kinds"],
)
def test_work_is_bounded(change):
    """Ten times as many items take about ten times the comparisons, never a hundred times."""
    small, large = list(range(2_000)), list(range(20_000))
    few, many = comparisons(small, change(small)), comparisons(large, change(large))

    assert few <= 20 * len(small) + 4 * MAX_EDITS**2
    assert many <= 20 * len(large) + 4 * MAX_EDITS**2


def test_an_insert_compares_each_item_about_once():
    """One item more in the middle of 10,000 costs one pass."""
    items = list(range(10_000))

    assert comparisons(items, [*items[:5_000], -1, *items[5_000:]]) <= 10_010
