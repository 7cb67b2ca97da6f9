"""Whether an item of a large list stayed at its place, told by the groups on the way to it."""

from __future__ import annotations

from collections.abc import Iterable

from argentum.tree.nodes import Group, Page, fill_all

_Node = Page | Group


def unmoved(old: _Node, new: _Node, place: int) -> int | None:
    """
    Give the place of an item that stands in both lists where it did; None if more must be read.

    What comes before it has to be the same, or parts of as many items between such that are the
    same; so nothing before it or behind it is read.
    """
    at = 0
    while type(old) is Group and type(new) is Group:
        below = _on_the_way(old.children, new.children, place - at)
        if below is None:
            return None
        old, new, before = below
        if _is_same(old, new):
            return place
        at += before
    return None


def _on_the_way(
    olds: list[_Node], news: list[_Node], place: int
) -> tuple[_Node, _Node, int] | None:
    """Give the parts that hold a place, and how many items come before them."""
    before = 0
    for number, (old, new) in enumerate(zip(olds, news, strict=False)):
        if place < before + new.count:
            return old, new, before
        if not _is_same(old, new):
            after = number + 1
            follows = after < min(len(olds), len(news)) and _is_same(olds[after], news[after])
            if old.count != new.count or not follows:
                return None
        before += new.count
    return None


def _is_same(old: _Node, new: _Node) -> bool:
    return old is new or (old.digest is not None and old.digest == new.digest)


def read_way(tops: Iterable[_Node], place: int) -> None:
    """Read the groups over one place of many lists, those of one level in one go."""
    level = {id(top): (top, place) for top in tops}
    while level:
        groups = {key: (one, at) for key, (one, at) in level.items() if type(one) is Group}
        waiting: dict[int, list[Group]] = {}
        for group, _ in groups.values():
            if not group.is_filled():
                waiting.setdefault(id(group.source), []).append(group)
        for found in waiting.values():
            fill_all(found)
        level = {}
        for group, at in groups.values():
            below = _below(group, at)
            if below is not None:
                level[id(below[0])] = below


def _below(group: Group, place: int) -> tuple[_Node, int] | None:
    for child in group.children:
        if place < child.count:
            return child, place
        place -= child.count
    return None
