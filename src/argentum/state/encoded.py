"""Find a value in a state by its exact encoding, which is quick however large the state is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argentum.matching import RARE, Match, Sought, leaves
from argentum.matching.contents import SAME, SAME_VALUE
from argentum.state.lifetimes import Steps
from argentum.tree import Tree
from argentum.tree.encoding import pack, unpack
from argentum.tree.nodes import Branch, Page, fill_all, pages_of
from argentum.tree.paths import Key, Step


class EncodedSearch:
    """Searches states; pages that they share are prepared once."""

    def __init__(self) -> None:
        self._pages: dict[int, tuple[Page, bytes]] = {}

    def find(self, tree: Tree, sought: Sought, *, but: Steps | None = None) -> Match | None:
        """
        Find the best place of a value.

        Args:
            but: a path whose own value does not count.
        """
        best: Match | None = None
        for steps, entry in self._entries_with(tree, _Needle(sought)):
            for match in _matches_in(steps, entry, sought):
                mine = but is not None and match.where[: len(but)] == but
                if not mine and (best is None or match.rank < best.rank):
                    best = match
        return best

    def _entries_with(self, tree: Tree, needle: _Needle) -> Iterator[tuple[Steps, bytes]]:
        if type(tree.root) is bytes:
            yield (), tree.root
            return
        stack: list[tuple[Steps, Branch]] = [((), tree.root)]  # type: ignore[list-item] # not bytes
        while stack:
            steps, branch = stack.pop()
            pages = pages_of(branch)
            fill_all(pages)
            place = 0
            for page in pages:
                if page.branches or needle.may_be_in(page, self._joined(page)):
                    for at, entry in enumerate(page.entries):
                        key = None if page.keys is None else page.keys[at]
                        if type(entry) is Branch or needle.is_in(key, entry):  # type: ignore[arg-type]
                            here = (*steps, place + at if key is None else _step_of(key))
                            if type(entry) is bytes:
                                yield here, entry
                            else:
                                stack.append((here, entry))  # type: ignore[arg-type]
                place += page.count

    def _joined(self, page: Page) -> bytes:
        """Give the small entries of a page in one: states share pages, so it is seldom made."""
        known = self._pages.get(id(page))
        if known is None:
            joined = b"".join(entry for entry in page.entries if type(entry) is bytes)
            known = self._pages[id(page)] = (page, joined)
        return known[1]


class _Needle:
    """
    How a value is encoded in a state.

    A rare value is looked for anywhere. Any other one counts under its name alone, and would be
    found in most entries, so its key has to stand before it.
    """

    def __init__(self, sought: Sought) -> None:
        self.whole = _encodings(sought)
        self.key = None if sought.distinctness == RARE else pack(sought.key)
        self.parts = self.whole if self.key is None else [self.key + one for one in self.whole]

    def may_be_in(self, page: Page, joined: bytes) -> bool:
        """Tell quickly whether any entry of a page may hold it."""
        if self.key is not None and page.keys is not None and self.key in page.keys:
            return True
        return any(part in joined for part in self.parts)

    def is_in(self, key: bytes | None, entry: bytes) -> bool:
        """Tell whether an entry holds the encoding, or is it under the right key."""
        if key is not None and key == self.key:
            return entry in self.whole
        return any(part in entry for part in self.parts)


def _step_of(key: bytes) -> Step:
    value = unpack(key, live=False)
    return value if type(value) is str else Key(value)


def _encodings(sought: Sought) -> list[bytes]:
    value = sought.value
    others = [value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        others.append(float(value))
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        others.append(int(value))
    return [pack(other) for other in others]


def _matches_in(steps: Steps, entry: bytes, sought: Sought) -> Iterator[Match]:
    for leaf in leaves(unpack(entry, live=False), steps):
        if _is_equal(leaf.value, sought.value):
            yield Match(SAME_VALUE, SAME, leaf.name == sought.name, leaf.steps)


def _is_equal(value: Any, other: Any) -> bool:
    if type(value) in (int, float) and type(other) in (int, float):
        return bool(value == other)
    return type(value) is type(other) and pack(value) == pack(other)
