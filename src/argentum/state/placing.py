"""Whether an item of a large list stayed at its place, told by the groups on the way to it."""

from __future__ import annotations

from typing import NamedTuple

from argentum.tree.descent import Members, is_same, open_all
from argentum.tree.nodes import Group, Page

_Node = Page | Group


class Pair(NamedTuple):
    """Parts of two lists that begin at the same place, and hold what stands at another one."""

    old: _Node
    new: _Node
    at: int
    """Where they begin."""
    is_apart: bool = True
    """Whether the same page follows on these pages in both lists, or nothing does."""
    is_last: bool = True
    """Whether nothing follows on them in either list."""

    @property
    def is_same(self) -> bool:
        """Whether all that they hold is the same."""
        return is_same(self.old, self.new)


def on_the_way(old: _Node, new: _Node, place: int) -> Pair | None:
    """
    Give the smallest parts of two lists that hold an item, or larger ones that are the same.

    What comes before them has to be the same, or parts of as many items between such that are the
    same; so nothing before or behind them is read. If it is otherwise, there is none.
    """
    pair: Pair | None = Pair(old, new, 0)
    while pair and not pair.is_same and type(pair.old) is Group and type(pair.new) is Group:
        pair = _one_below(pair, pair.old, pair.new, place)
    return pair


def _one_below(above: Pair, old: Group, new: Group, place: int) -> Pair | None:
    open_all((old, new))
    olds, news = Members(old), Members(new)
    here, start = news.at(place - above.at)
    number, at = (here, start) if news.begins_with(olds, here) else (0, 0)
    fewer = min(len(olds.counts), len(news.counts))
    while number < fewer:
        after = number + 1
        if number == here:
            is_last = above.is_last and after == len(olds.counts) == len(news.counts)
            pair = Pair(olds.node(number), news.node(number), above.at + at, is_last, is_last)
            if not is_last and type(pair.new) is Page and after < fewer:
                return pair._replace(is_apart=_begin_alike(olds, news, after))
            return pair
        if not news.is_same(olds, number):
            follows = after < fewer and _begin_alike(olds, news, after)
            if olds.counts[number] != news.counts[number] or not follows:
                return None
        at += news.counts[number]
        number = after
    return None


def _begin_alike(olds: Members, news: Members, number: int) -> bool:
    """Tell whether the first pages of two children are the same."""
    while not news.is_same(olds, number):
        old, new = olds.node(number), news.node(number)
        if type(old) is not Group or type(new) is not Group:
            return False
        open_all((old, new))
        olds, news, number = Members(old), Members(new), 0
    return True
