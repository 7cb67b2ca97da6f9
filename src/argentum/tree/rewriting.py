"""
A tree with some of its entries replaced, at a cost of what is new in it.

What leaves the process may have to differ from what the program keeps: secrets are redacted. A tree
is then rewritten entry by entry. Where an earlier tree was rewritten before, all that the two share
is taken from there and not looked at again. Pages stay cut as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from argentum.tree.encoding import unpack
from argentum.tree.nodes import Branch, Entry, Page, fill_all, group_pages, pages_of
from argentum.tree.paths import Key, Step
from argentum.tree.tree import Tree

Steps = tuple[Step, ...]
Change = Callable[[bytes, Steps], bytes | None]
"""
Gives what replaces encoded bytes, or None to keep them. It sees small values, with the steps that
lead there, and keys, with no steps. Items come and go, so the step to any item of a list is 0.
"""


def rewrite(tree: Tree, change: Change, before: tuple[Tree, Tree] | None = None) -> Tree:
    """
    Give the tree with what a function makes of its entries and keys; the same tree if nothing.

    Args:
        before: an earlier tree and what the same function made of it.
    """
    old, rewritten = (None, None) if before is None else (before[0].root, before[1].root)
    root = _entry(tree.root, change, (), (old, rewritten))
    return tree if root is tree.root else Tree(root)


def _entry(entry: Entry, change: Change, at: Steps, before: _Before) -> Entry:
    old, rewritten = before
    if entry is old and rewritten is not None:
        return rewritten
    if isinstance(entry, bytes):
        return change(entry, at) or entry
    if isinstance(old, Branch) and isinstance(rewritten, Branch):
        return _branch(entry, change, at, _Known(old, rewritten))
    return _branch(entry, change, at, None)


def _branch(branch: Branch, change: Change, at: Steps, known: _Known | None) -> Branch:
    pages = pages_of(branch)
    fill_all(pages)
    if known is not None:
        known.leave_out(pages)
    made = [_page(page, change, at, known) for page in pages]
    if all(one is other for one, other in zip(made, pages, strict=True)):
        return branch
    return Branch(branch.kind, branch.head, group_pages(made, None))


def _page(page: Page, change: Change, at: Steps, known: _Known | None) -> Page:
    found = None if known is None else known.page(page)
    if found is not None:
        return found
    keys = None if page.keys is None else [change(key, ()) or key for key in page.keys]
    entries = [
        _known_or_new(entry, None if page.keys is None else page.keys[place], change, at, known)
        for place, entry in enumerate(page.entries)
    ]
    if keys == page.keys and all(a is b for a, b in zip(entries, page.entries, strict=True)):
        return page
    return Page(keys, entries, closed=page.closed, mark=page.mark, like=page)


def _known_or_new(
    entry: Entry, key: bytes | None, change: Change, at: Steps, known: _Known | None
) -> Entry:
    if known is None:
        return _entry(entry, change, (*at, _step(key)), (None, None))
    found = known.entry(entry, key)
    if found is not None:
        return found
    return _entry(entry, change, (*at, _step(key)), known.like(entry, key))


def _step(key: bytes | None) -> Step:
    if key is None:
        return 0
    name = unpack(key, live=False)
    return name if type(name) is str else Key(name)


_Before = tuple[Entry | None, Entry | None]
"""What an entry probably was before, and what became of that."""


class _Known:
    """What became of the pages and entries of a branch before."""

    def __init__(self, old: Branch, rewritten: Branch) -> None:
        self._pages = dict(zip(pages_of(old), pages_of(rewritten), strict=True))
        self._entries: dict[int, Entry] = {}
        self._by_key: dict[bytes, tuple[Entry, Entry]] = {}
        self._branches: Iterator[tuple[Entry, Entry]] = iter(())

    def leave_out(self, pages: list[Page]) -> None:
        """Look into those pages alone that are no longer there."""
        here = set(pages)
        gone = {old: new for old, new in self._pages.items() if old not in here}
        fill_all(list(gone))
        fill_all(list(gone.values()))
        pairs = [
            pair for old, new in gone.items() for pair in zip(old.entries, new.entries, strict=True)
        ]
        self._entries = {id(old): new for old, new in pairs}
        keys = chain.from_iterable(page.keys or () for page in gone)
        self._by_key = dict(zip(keys, pairs, strict=False))
        new_pages = [page for page in pages if page not in self._pages]
        still = {id(entry) for page in new_pages for entry in page.entries}
        self._branches = (
            pair for pair in pairs if isinstance(pair[0], Branch) and id(pair[0]) not in still
        )

    def page(self, page: Page) -> Page | None:
        """Give what became of a page."""
        return self._pages.get(page)

    def entry(self, entry: Entry, key: bytes | None) -> Entry | None:
        """Give what became of an entry; under another key something else may become of it."""
        if key is None:
            return self._entries.get(id(entry))
        old, rewritten = self._by_key.get(key, (None, None))
        return rewritten if old is entry else None

    def like(self, entry: Entry, key: bytes | None) -> _Before:
        """Give the large entry that this one probably was before, and what became of that."""
        if isinstance(entry, bytes):
            return None, None
        if key is not None:
            return self._by_key.get(key, (None, None))
        return next(self._branches, (None, None))
