"""
Which acts of one run are those of another.

Acts are aligned by what they are, not by where: first those that are the same in all, then, between
them, those that asked the same, then those of one kind and name. At each level, acts that occur
once in both runs anchor the rest (patience diff, B. Cohen); between the anchors works
`argentum.tree.sequence`, whose work is bounded. An act that both runs have in another order is
`moved`.

Each agent is aligned on its own, so how concurrent agents take turns makes no difference; nor does
the order of calls of one agent that were open at the same time. With a single agent, what comes
from outside is aligned together with what it does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from argentum.state.acts import Act
from argentum.tree.sequence import Match, align, common_ends, longest_increasing

SAME, ASKED, ALIKE = "same", "asked", "alike"


class Pair(NamedTuple):
    """An act of one run and its counterpart in the other."""

    a: Act
    b: Act
    how: str
    """`same` in all, `asked` the same, or merely `alike` in kind and name."""


@dataclass(frozen=True, slots=True)
class Lane:
    """What one agent did in two runs, with what of it belongs together."""

    agent: str | None
    a: tuple[Act, ...]
    b: tuple[Act, ...]
    pairs: tuple[Pair, ...]
    """In the order that both runs have them in."""
    moved: tuple[Pair, ...]
    """What both runs have, in another order."""

    def gaps(self) -> Iterator[tuple[list[Act], list[Act], Pair | None]]:
        """Give what only one run has before each pair, with the pair; and None at the end."""
        left, right = iter(self.a), iter(self.b)
        for pair in self.pairs:
            yield list(_before(left, pair.a)), list(_before(right, pair.b)), pair
        yield list(left), list(right), None


def _before(acts: Iterator[Act], end: Act) -> Iterator[Act]:
    for act in acts:
        if act is end:
            return
        yield act


def lanes_of(a: Sequence[Act], b: Sequence[Act]) -> list[Lane]:
    """Align the acts of two runs, agent by agent; `lanes_of(b, a)` is the same, mirrored."""
    agents = {act.agent for act in (*a, *b)} - {None}
    alone = next(iter(agents)) if len(agents) == 1 else None
    left, right = _by_agent(a, alone), _by_agent(b, alone)
    return [
        _lane(agent, left.get(agent, []), right.get(agent, []))
        for agent in sorted(left.keys() | right.keys(), key=lambda one: (one is not None, str(one)))
    ]


def _by_agent(acts: Iterable[Act], alone: str | None) -> dict[str | None, list[Act]]:
    lanes: dict[str | None, list[Act]] = defaultdict(list)
    for act in acts:
        lanes[act.agent or alone].append(act)
    return {agent: list(_steady(lane)) for agent, lane in lanes.items()}


def _steady(acts: Iterable[Act]) -> Iterator[Act]:
    """Put calls that were open at the same time into an order that does not depend on chance."""
    group: list[Act] = []
    for act in acts:
        if group and not _beside(group, act):
            yield from sorted(group, key=lambda one: one.call)
            group = []
        group.append(act)
    yield from sorted(group, key=lambda one: one.call)


def _beside(group: list[Act], act: Act) -> bool:
    """Tell whether an act began, around the same parent, before any of the others ended."""
    first = group[0]
    return (
        act.closing is not None
        and act.opening.parent == first.opening.parent
        and all(one.closing is not None and act.seq < one.last_seq for one in group)
    )


def _lane(agent: str | None, a: list[Act], b: list[Act]) -> Lane:
    # Ties are broken by which run is given first, so the runs are put into an order of their own.
    turned = [act.whole for act in b] < [act.whole for act in a]
    work = _Alignment(b, a) if turned else _Alignment(a, b)
    work.run()
    pairs, moved = (
        [_pair(a, b, (j, i) if turned else (i, j), how) for (i, j), how in sorted(found.items())]
        for found in (work.found, work.moved)
    )
    return Lane(agent, tuple(a), tuple(b), tuple(pairs), tuple(sorted(moved, key=_place)))


def _place(pair: Pair) -> tuple[int, int]:
    places = pair.a.seq, pair.b.seq
    return sum(places), max(places)


def _pair(a: list[Act], b: list[Act], match: Match, how: str) -> Pair:
    return Pair(a[match[0]], b[match[1]], how)


@dataclass(slots=True)
class _Alignment:
    """Two sequences of acts, and what was found to belong together so far."""

    old: list[Act]
    new: list[Act]
    found: dict[Match, str] = field(default_factory=dict)
    moved: dict[Match, str] = field(default_factory=dict)

    def run(self) -> None:
        """Find what is surest first."""
        self._in_order(SAME, lambda act: act.whole)
        self._elsewhere(SAME, lambda act: act.whole)
        self._in_order(ASKED, lambda act: act.call)
        # A state answers no question, so two that differ are nowhere each other's counterparts.
        self._elsewhere(ASKED, lambda act: act.call if act.kind != "snapshot" else id(act))
        self._in_order(ALIKE, lambda act: (act.kind, act.name if act.is_call else ""))

    def _in_order(self, how: str, key: Callable[[Act], Hashable]) -> None:
        for olds, news in list(self._gaps()):
            matches = _patient([key(self.old[i]) for i in olds], [key(self.new[j]) for j in news])
            for i, j in matches:
                self.found[olds[i], news[j]] = how

    def _gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        gone_old, gone_new = {i for i, _ in self.moved}, {j for _, j in self.moved}
        start = (0, 0)
        for end in (*sorted(self.found), (len(self.old), len(self.new))):
            olds = [i for i in range(start[0], end[0]) if i not in gone_old]
            news = [j for j in range(start[1], end[1]) if j not in gone_new]
            if olds and news:
                yield olds, news
            start = (end[0] + 1, end[1] + 1)

    def _elsewhere(self, how: str, key: Callable[[Act], Hashable]) -> None:
        """Pair what is left in both runs once, wherever it stands."""
        taken = [*self.found, *self.moved]
        left = _once(self.old, {i for i, _ in taken}, key)
        right = _once(self.new, {j for _, j in taken}, key)
        for one, i in left.items():
            if one in right:
                self.moved[i, right[one]] = how


def _once(acts: list[Act], taken: set[int], key: Callable[[Act], Hashable]) -> dict[Hashable, int]:
    """Give where each act stands that is left and of which there is only one."""
    places = {at: key(act) for at, act in enumerate(acts) if at not in taken}
    counts = Counter(places.values())
    return {one: at for at, one in places.items() if counts[one] == 1}


def _patient(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match]:
    """Align two sequences: what occurs once in both anchors the rest."""
    matches: list[Match] = []
    todo = [(0, len(old), 0, len(new))]
    while todo:
        i, i_end, j, j_end = todo.pop()
        start, end = common_ends(old[i:i_end], new[j:j_end])
        matches += [(i + at, j + at) for at in range(start)]
        matches += [(i_end - at, j_end - at) for at in range(1, end + 1)]
        i, j, i_end, j_end = i + start, j + start, i_end - end, j_end - end
        anchors = _anchors(old[i:i_end], new[j:j_end])
        if not anchors:
            matches += [(i + at, j + to) for at, to in align(old[i:i_end], new[j:j_end])]
            continue
        for at, to in anchors:
            matches.append((i + at, j + to))
        edges = [(-1, -1), *anchors, (i_end - i, j_end - j)]
        todo += [
            (i + low[0] + 1, i + high[0], j + low[1] + 1, j + high[1])
            for low, high in pairwise(edges)
            if low[0] + 1 < high[0] and low[1] + 1 < high[1]
        ]
    return sorted(matches)


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Match]:
    counts, others = Counter(old), Counter(new)
    places = {item: at for at, item in enumerate(new) if others[item] == 1}
    pairs = [(at, places[x]) for at, x in enumerate(old) if counts[x] == 1 and x in places]
    return [pairs[at] for at in longest_increasing([to for _, to in pairs])]
