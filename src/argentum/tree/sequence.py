"""
Align two sequences: which items stayed, by a longest common subsequence with bounded work.

Common ends are cut off first. Then Myers' greedy algorithm (E. W. Myers, "An O(ND) difference
algorithm and its variations", Algorithmica 1, 1986) finds a longest common subsequence as long as
there are at most `MAX_EDITS` edits. Beyond that, the k-th occurrence of an item is matched with
its k-th occurrence, and the longest increasing run of such matches is kept: O(n log n), and
longest where the items are distinct. There are no pairwise comparisons and no junk heuristics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence

MAX_EDITS = 120
"""Edits up to which the result is a longest common subsequence."""

Match = tuple[int, int]


def align(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Match]:
    """Give the `(place before, place after)` of each item that stayed, in ascending order."""
    start, end = common_ends(before, after)
    old = before[start : len(before) - end]
    new = after[start : len(after) - end]
    middle = _middle(old, new) if old and new else []
    matches = [(at, at) for at in range(start)]
    matches += [(start + i, start + j) for i, j in middle]
    ends = range(end, 0, -1)
    return matches + [(len(before) - back, len(after) - back) for back in ends]


def common_ends(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[int, int]:
    """Count the equal items at the start, and of the rest those at the end."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _middle(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match]:
    if set(old).isdisjoint(new):
        return []
    found = _myers(old, new)
    return _by_occurrence(old, new) if found is None else found


def _myers(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match] | None:
    """Find a longest common subsequence, or None if it takes more than `MAX_EDITS` edits."""
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(MAX_EDITS, len(old) + len(new)) + 1):
        trace.append(furthest.copy())
        for diagonal in range(-edits, edits + 1, 2):
            left, right = furthest.get(diagonal - 1, -1), furthest.get(diagonal + 1, -1)
            down = diagonal == -edits or (diagonal != edits and left < right)
            at = right if down else left + 1
            while at < len(old) and 0 <= at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            furthest[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _walk_back(trace, len(old), len(new))
    return None


def _walk_back(trace: list[dict[int, int]], at: int, other: int) -> list[Match]:
    matches: list[Match] = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        diagonal = at - other
        left, right = furthest.get(diagonal - 1, -1), furthest.get(diagonal + 1, -1)
        down = diagonal == -edits or (diagonal != edits and left < right)
        previous = diagonal + 1 if down else diagonal - 1
        came_from = furthest.get(previous, 0)
        stop = (came_from, came_from - previous) if edits else (0, 0)
        while at > stop[0] and other > stop[1]:
            at, other = at - 1, other - 1
            matches.append((at, other))
        at, other = stop
    matches.reverse()
    return matches


def _by_occurrence(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, item in enumerate(new):
        places[item].append(place)
    taken: dict[Hashable, int] = defaultdict(int)
    pairs: list[Match] = []
    for place, item in enumerate(old):
        number = taken[item]
        if number < len(places.get(item, ())):
            pairs.append((place, places[item][number]))
            taken[item] = number + 1
    return [pairs[at] for at in longest_increasing([place for _, place in pairs])]


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Give the places of a longest strictly increasing subsequence."""
    tails: list[int] = []
    places: list[int] = []
    previous = [-1] * len(numbers)
    for place, number in enumerate(numbers):
        at = bisect_left(tails, number)
        previous[place] = places[at - 1] if at else -1
        if at == len(tails):
            tails.append(number)
            places.append(place)
        else:
            tails[at] = number
            places[at] = place
    chosen = []
    place = places[-1] if places else -1
    while place >= 0:
        chosen.append(place)
        place = previous[place]
    return chosen[::-1]
