"""Whether an item of a large list stayed at its place, told by the groups on the way to it."""

from __future__ import annotations

from typing import NamedTuple

from argentum.tree.nodes import Group, Page

_Node = Page | Group


class Pair(NamedTuple):
    """Parts of two lists that begin at the same place, and hold what stands at another one."""

    old: _Node
    new: _Node
    at: int
    """Where they begin."""
    is_apart: bool
    """Whether the same follows on them in both lists, or nothing does."""
    is_last: bool = True

    @property
    def is_same(self) -> bool:
        """Whether all that they hold is the same."""
        return _is_same(self.old, self.new)


def on_the_way(old: _Node, new: _Node, place: int) -> Pair | None:
    """
    Give the smallest parts of two lists that hold an item, or larger ones that are the same.

    What comes before them has to be the same, or parts of as many items between such that are the
    same; so nothing before or behind them is read. If it is otherwise, there is none.
    """
    pair: Pair | None = Pair(old, new, 0, is_apart=True)
    while pair and not pair.is_same and type(pair.old) is Group and type(pair.new) is Group:
        pair = _one_below(pair, pair.old.children, pair.new.children, place)
    return pair


def _one_below(above: Pair, olds: list[_Node], news: list[_Node], place: int) -> Pair | None:
    at = above.at
    for number, (old, new) in enumerate(zip(olds, news, strict=False)):
        is_here = place < at + new.count
        if _is_same(old, new) and not is_here:
            at += new.count
            continue
        after = number + 1
        follows = after < min(len(olds), len(news)) and _begin_alike(olds[after], news[after])
        if is_here:
            is_last = above.is_last and after == len(olds) == len(news)
            return Pair(old, new, at, is_apart=follows or is_last, is_last=is_last)
        if old.count != new.count or not follows:
            return None
        at += new.count
    return None


def _begin_alike(old: _Node, new: _Node) -> bool:
    """Tell whether the first pages are the same."""
    while not _is_same(old, new) and type(old) is Group and type(new) is Group:
        old, new = old.children[0], new.children[0]
    return _is_same(old, new)


def _is_same(old: _Node, new: _Node) -> bool:
    return old is new or (old.digest is not None and old.digest == new.digest)
