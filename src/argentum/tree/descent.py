"""
One path down many trees at once, each step in all of them together.

What lies on the way is read in one question a level. Of what was read, only that is made which
leads on: of a page that each tree has another of, no more than the entry that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from argentum.tree.chunks import DIGEST_BYTES
from argentum.tree.following import IN_ORDER, Follower, Level, is_live_dict
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry, Group, Page, is_open
from argentum.tree.tree import Tree

_Node = Page | Group
_Found = dict[_Node, Entry | None]

AT_ONCE = 256
"""Trees that are followed together, at most."""
AT_FIRST = 16
"""The same at the beginning, for one who may not go on for long."""


def follow(path: str, trees: Sequence[Tree]) -> Iterator[Tree | None]:
    """
    Give what lies at a path in each of many trees, None where there is nothing (see `Tree.get`).

    It is the same object as in the tree before where nothing was written anew.

    Raises:
        InputError: the text is not a path.
        FormatError: a stored part is missing or was altered.
    """
    follower = Follower(path)
    steps = [_Step(level) for level in follower.levels]
    start, count = 0, AT_FIRST
    while start < len(trees):
        window = trees[start : start + count]
        yield from map(follower.found, _below(window, follower, steps))
        start, count = start + count, AT_ONCE


def _below(trees: Sequence[Tree], follower: Follower, steps: list[_Step]) -> list[Entry | None]:
    found: list[Entry | None] = [tree.root for tree in trees]
    way = list(range(len(trees)))
    for depth, step in enumerate(steps):
        for number in way:
            entry = found[number]
            if type(entry) is bytes:
                found[number] = follower.inside(entry, depth)
        way = [number for number in way if type(found[number]) is Branch]
        below = step.below([found[number] for number in way])  # type: ignore[misc] # branches
        for number, entry in zip(way, below, strict=True):
            found[number] = entry
    return found


class _Step:
    """One step of the way, and what was found there in the trees before."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._by_place: _Found = {}
        self._by_key: _Found = {}

    def below(self, branches: list[Branch]) -> list[Entry | None]:
        """Give what lies one step below each branch."""
        tops: list[_Node | None] = [
            None if one.kind is Kind.SUBCLASS or is_live_dict(one) else one.top for one in branches
        ]
        places: dict[_Node, int] = {}
        keyed: dict[_Node, None] = {}
        for branch, top in zip(branches, tops, strict=True):
            if top is not None and branch.kind in IN_ORDER:
                place = self._level.place_in(branch)
                if place is not None:
                    places[top] = place
            elif top is not None:
                keyed[top] = None
        by_place = self._by_place = self._at_places(places)
        by_key = self._by_key = self._at_key(keyed)
        return [
            by_place.get(top) if top is not None and branch.kind in IN_ORDER
            else by_key[top] if top in by_key
            else self._level.below(branch)
            for branch, top in zip(branches, tops, strict=True)
        ]  # fmt: skip

    def _at_places(self, places: dict[_Node, int]) -> _Found:
        known = {top: self._by_place[top] for top in places if top in self._by_place}
        new = [(top, place) for top, place in places.items() if top not in known]
        pages = pages_at(new)
        entries = _entries_at(set(pages))
        return known | {top: entries[at] for (top, _), at in zip(new, pages, strict=True)}

    def _at_key(self, tops: dict[_Node, None]) -> _Found:
        """Give what pages have at the key; groups are left to the level, which knows where."""
        known = {top: self._by_key[top] for top in tops if top in self._by_key}
        new = [top for top in tops if top not in known]
        open_all(new)
        key = self._level.key
        found = [
            (page, page.keys.index(key) if page.keys and key in page.keys else None)
            for page in new
            if type(page) is Page
        ]
        entries = _entries_at((page, at) for page, at in found if at is not None)
        return known | {page: None if at is None else entries[page, at] for page, at in found}


def pages_at(places: Iterable[tuple[_Node, int]]) -> list[tuple[Page, int]]:
    """Give the page under each node that holds a place of it, and the place in the page."""
    found = list(places)
    while True:
        open_all({node: None for node, _ in found})
        if not any(type(node) is Group for node, _ in found):
            return found  # type: ignore[return-value] # pages
        found = [
            _one_down(node, place) if type(node) is Group else (node, place)
            for node, place in found
        ]


def _one_down(group: Group, place: int) -> tuple[_Node, int]:
    members = Members(group)
    number, start = members.at(place)
    return members.node(number), place - start


def open_all(nodes: Iterable[_Node]) -> None:
    """Read what nodes say of their members, those of one store in one question."""
    waiting: dict[int, list[_Node]] = {}
    for node in nodes:
        if not is_open(node):
            waiting.setdefault(id(node.source), []).append(node)
    for some in waiting.values():
        some[0].source.open(some)


class Members:
    """The children of an open group, each made only when it is asked for."""

    __slots__ = ("_content", "_group", "counts")

    def __init__(self, group: Group) -> None:
        self._group = group
        content = self._content = group.content
        self.counts: list[int] = (
            [child.count for child in group.children] if content is None else content[2]
        )

    def node(self, number: int) -> _Node:
        """Give a child."""
        if self._content is None:
            return self._group.children[number]
        child: _Node = self._group.source.child(self._content, number)
        return child

    def at(self, place: int) -> tuple[int, int]:
        """Give the number of the child that holds a place, and where the child begins."""
        start = number = 0
        while place >= start + self.counts[number]:
            start += self.counts[number]
            number += 1
        return number, start

    def is_same(self, other: Members, number: int) -> bool:
        """Tell whether the children of a number are the same here and there."""
        mine, theirs = self._digests(number, number + 1), other._digests(number, number + 1)
        if mine is None or theirs is None:
            return is_same(self.node(number), other.node(number))
        return mine == theirs

    def begins_with(self, other: Members, count: int) -> bool:
        """Tell whether so many children are known to be those with which another group begins."""
        mine = self._digests(0, count)
        return mine is not None and mine == other._digests(0, count)

    def _digests(self, start: int, end: int) -> bytes | None:
        if self._content is None:
            return None
        digests: bytes = self._content[1][DIGEST_BYTES * start : DIGEST_BYTES * end]
        return digests


def is_same(one: _Node, other: _Node) -> bool:
    """Tell whether two nodes are known to be the same."""
    return one is other or (one.digest is not None and one.digest == other.digest)


def _entries_at(places: Iterable[tuple[Page, int]]) -> dict[tuple[Page, int], Entry]:
    """Give the entries of open pages, those of one store read in one question."""
    found: dict[tuple[Page, int], Entry] = {}
    waiting: dict[int, list[tuple[Page, int]]] = {}
    for page, place in places:
        if page.is_filled():
            found[page, place] = page.entries[place]
        elif place in page.made:
            found[page, place] = page.made[place]
        else:
            waiting.setdefault(id(page.source), []).append((page, place))
    for some in waiting.values():
        references = [page.refs[place] for page, place in some]  # type: ignore[index] # open
        for (page, place), entry in zip(some, some[0][0].source.entries(references), strict=True):
            found[page, place] = entry
            if type(entry) is Branch:
                page.made[place] = entry
    return found
