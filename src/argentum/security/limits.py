"""
Keep a state within its limits: `Limits`.

The size of a state is known when it is encoded, so that limit costs nothing. None of the others
can be broken by what is smaller than the smallest of them (a text of n characters has at least n
bytes), so small states, and in large ones all pages but the large new ones, are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from weakref import WeakSet

from argentum.errors import LimitError, shown
from argentum.security.settings import BYTES_PER_MB, SecuritySettings
from argentum.security.truncating import BYTES_LIKE, digits_of, truncated
from argentum.tree import Key, Path, Record, Tree
from argentum.tree.encoding import MAX_DEPTH, unpack
from argentum.tree.nodes import Branch, Entry, Page, fill_all, pages_of, size_of
from argentum.tree.paths import Step

BYTES_PER_DIGIT: Final = 0.4
"""At least so many bytes does a decimal digit of an integer take."""
Steps = tuple[Step, ...]
_NEVER: Final = 1 << 62
_CONTAINERS: Final = frozenset({dict, list, tuple, set, frozenset})


class Broken(NamedTuple):
    """A limit that something is over."""

    setting: str
    what: str
    found: int
    limit: int
    steps: Steps


class _Seen(NamedTuple):
    """What was found to be within the limits on one pass."""

    pages: list[Page]
    entries: dict[int, bytes]


class Limits:
    """
    Checks one state after the other; what was in an earlier one is not looked into again.

    Threads may share it.
    """

    def __init__(self, settings: SecuritySettings) -> None:
        self.settings = settings
        self.max_bytes = int((settings.max_state_size_mb or _NEVER) * BYTES_PER_MB)
        self.smallest = _smallest(settings)
        """Bytes; what is smaller is within all limits but, perhaps, that on the whole size."""
        self._least = min(self.max_bytes, self.smallest)
        self._levels = settings.max_depth or _NEVER
        self._pages: WeakSet[Page] = WeakSet()
        self._entries: dict[int, bytes] = {}

    def within(self, tree: Tree, *, what: str = "state") -> Tree:
        """
        Give the tree if it is within the limits, or its cut and marked form if that is wanted.

        Args:
            what: what to call it in a message.

        Raises:
            LimitError: it is over one of them.
        """
        root = tree.root
        if (len(root) if type(root) is bytes else root.size) <= self._least:  # type: ignore[union-attr]
            return tree  # most states end here
        broken = self.broken(tree)
        if broken is None:
            return tree
        if self.settings.at_limit == "raise":
            raise LimitError(_message(broken, what))
        return truncated(tree, self)

    def broken(self, tree: Tree) -> Broken | None:
        """Find the first limit that a tree is over."""
        size = tree.size_bytes
        if size > self.max_bytes:
            return Broken("max_state_size_mb", "bytes", size, self.max_bytes, ())
        if size < self.smallest:
            return None
        seen = _Seen([], {})
        found = next(self._broken_in(tree.root, seen), None)
        if found is None:
            self._pages.update(seen.pages)
            self._entries = seen.entries
        return found

    def _broken_in(self, root: Entry, seen: _Seen) -> Iterator[Broken]:
        """Go through the entries that are new and large enough."""
        stack: list[tuple[Entry, Steps]] = [(root, ())]
        while stack:
            entry, steps = stack.pop()
            if isinstance(entry, Branch):
                yield from self._broken_members(entry.count, len(steps) + 1, steps)
                for at, page in self._new_pages(entry, seen):
                    yield from self._broken_page_keys(page, steps)
                    stack += self._large_entries(page, at, steps)
            elif self._entries.get(id(entry)) is entry:
                seen.entries[id(entry)] = entry
            else:
                yield from self.broken_parts(unpack(entry, live=False), steps)
                seen.entries[id(entry)] = entry

    def _new_pages(self, branch: Branch, seen: _Seen) -> Iterator[tuple[int, Page]]:
        """Give the pages that are large enough, with the place of the first entry."""
        at = 0
        for page in pages_of(branch):
            if page.size >= self.smallest and page not in self._pages:
                fill_all([page])
                yield at, page
                if not page.branches:  # else what is in the branches has pages of its own
                    seen.pages.append(page)
            at += page.count

    def _large_entries(self, page: Page, at: int, steps: Steps) -> Iterator[tuple[Entry, Steps]]:
        for place, entry in enumerate(page.entries):
            if size_of(entry) >= self.smallest:
                key = None if page.keys is None else unpack(page.keys[place], live=False)
                yield entry, (*steps, at + place if page.keys is None else _named(key))

    def _broken_page_keys(self, page: Page, steps: Steps) -> Iterator[Broken]:
        for key in page.keys or ():
            if len(key) >= self.smallest:
                yield from self._broken_keys({unpack(key, live=False): None}, steps)

    def broken_parts(self, value: object, start: Steps = ()) -> Iterator[Broken]:
        """Go through a decoded value, without recursion."""
        stack: list[tuple[Any, Steps]] = [(value, start)]
        while stack:
            one, steps = stack.pop()
            if isinstance(one, Record):
                one = one.fields
            kind = type(one)
            if kind in _CONTAINERS:
                yield from self._broken_members(len(one), len(steps) + 1, steps)
                if kind is dict:
                    yield from self._broken_keys(one, steps)
                    stack += ((item, (*steps, _named(key))) for key, item in one.items())
                else:
                    stack += ((item, (*steps, place)) for place, item in enumerate(one))
            else:
                yield from self._broken_leaf(one, kind, steps)

    def _broken_members(self, count: int, level: int, steps: Steps) -> Iterator[Broken]:
        if level > self._levels:
            yield Broken("max_depth", "levels", level, self._levels, steps)
        limit = self.settings.max_items
        if limit is not None and count > limit:
            yield Broken("max_items", "members", count, limit, steps)

    def _broken_keys(self, value: dict[Any, Any], steps: Steps) -> Iterator[Broken]:
        limit = self.settings.max_key_chars
        if limit is not None:
            for key in value:
                if type(key) is str and len(key) > limit:
                    yield Broken("max_key_chars", "characters in a key", len(key), limit, steps)

    def _broken_leaf(self, value: Any, kind: type, steps: Steps) -> Iterator[Broken]:
        settings = self.settings
        if kind is str or kind in BYTES_LIKE:
            limit = settings.max_string_chars
            if limit is not None and len(value) > limit:
                what = "characters in a text" if kind is str else "bytes in a value"
                yield Broken("max_string_chars", what, len(value), limit, steps)
        elif kind is int and settings.max_integer_digits is not None:
            digits = digits_of(value)
            if digits > settings.max_integer_digits:
                limit = settings.max_integer_digits
                yield Broken("max_integer_digits", "digits in an integer", digits, limit, steps)


def _smallest(settings: SecuritySettings) -> int:
    """Give the size in bytes from which on something can break one of the limits within."""
    depth, digits = settings.max_depth, settings.max_integer_digits
    limits = [
        settings.max_items,
        settings.max_string_chars,
        settings.max_key_chars,
        None if depth is None or depth >= MAX_DEPTH else depth,
        None if digits is None else int(digits * BYTES_PER_DIGIT),
    ]
    return min((limit for limit in limits if limit is not None), default=_NEVER)


def _named(key: object) -> Step:
    return key if type(key) is str else Key(key)


def _message(broken: Broken, what: str) -> str:
    where = f" at {place_of(broken.steps)}" if broken.steps else ""
    allowed = f"{broken.limit:,} are allowed (`{broken.setting}`)"
    return (
        f"The {what} has {broken.found:,} {broken.what}{where}; {allowed}. Nothing was kept. "
        f"Keep less in it, raise the limit with argentum.configure_security(), or give "
        f"at_limit='truncate' to keep a cut and marked form."
    )


def place_of(steps: Steps) -> str:
    """Give a path for a message: keys can be long, or secret."""
    return shown(str(Path.of(steps)))
