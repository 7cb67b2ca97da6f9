"""
The immutable form of a large container: a `Branch` over pages of entries.

An entry is the encoded bytes of a small value, or the `Branch` of a large one. Entries lie in
`Page`s of 1 to 64, about 32 on average, and many pages lie in `Group`s of up to 64. Where a page
ends depends on the entry before the cut alone (a prolly tree: content-defined chunking by Merkle
boundaries, https://docs.dolthub.com/architecture/storage-engine/prolly-tree), so an edit anywhere
in a list or dict touches one or two pages, and equal contents are cut alike whatever came before.

Pages, groups and branches are never changed once made and are shared between trees; what they
cache (references, digests, what was read from a store) is derived from their contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from argentum.tree.kinds import Kind

PAGE_ENTRIES = 64
CUT_BITS = 5
_CUT_MASK = (1 << CUT_BITS) - 1
NO_CUT = 0xFFFFFFFF
"""The mark of an entry or page after which nothing ends."""
MARKED_BYTES = 256

Fetch = Callable[[Sequence[bytes]], Mapping[bytes, bytes]]


class Page:
    """Up to 64 entries of a list, or keys and entries of a dict or object."""

    __slots__ = (
        "__weakref__", "branches", "closed", "count", "digest", "entries", "keys", "made", "mark",
        "refs", "size", "source",
    )  # fmt: skip

    made: dict[int, Entry]
    """Branches of a stored page that were made before its other entries were, by their place."""

    def __init__(
        self,
        keys: list[bytes] | None,
        entries: list[Entry],
        *,
        closed: bool,
        mark: int,
        like: Page | None,
    ) -> None:
        self.keys = keys
        self.entries = entries
        self.closed = closed
        """Whether the page ends by itself, whatever comes after it."""
        self.mark = mark
        self.count: int = len(entries)
        self.digest: bytes | None = None
        self.refs: list[bytes | None] | None = None
        """Each entry's stored form, None while not known; None as a whole if none was needed."""
        self.branches: bool = Branch in map(type, entries)
        """Whether any entry is a `Branch`."""
        size = sum(map(size_of, entries) if self.branches else map(len, entries))  # type: ignore[arg-type]
        self.size: int = size if keys is None else size + sum(map(len, keys))
        """The encoded size in bytes, of keys and entries together."""
        if like is not None and like.refs is not None:
            self.refs = _known_refs(like, entries)

    def __getattr__(self, name: str) -> Any:
        """Read the contents of a stored page when they are first asked for."""
        return _filled(self, name, _PAGE_CONTENTS)

    def is_filled(self) -> bool:
        """Tell whether the contents are here."""
        return _has(self, "entries")


class Group:
    """Up to 64 pages, or up to 64 groups."""

    __slots__ = ("__weakref__", "children", "content", "count", "digest", "mark", "size", "source")

    content: list[Any] | None
    """What the chunk of a stored group says, and the children made so far; None if all are."""

    def __init__(self, children: list[Page | Group]) -> None:
        self.children = children
        self.content = None
        self.count = 0
        self.size = 0
        self.mark = NO_CUT
        for child in children:
            self.count += child.count
            self.size += child.size
            self.mark = child.mark
        self.digest: bytes | None = None

    def __getattr__(self, name: str) -> Any:
        """Read the children of a stored group when they are first asked for."""
        return _filled(self, name, _GROUP_CONTENTS)

    def is_filled(self) -> bool:
        """Tell whether the children are here."""
        return _has(self, "children")


def _known_refs(like: Page, entries: list[Entry]) -> list[bytes | None]:
    """Take over what a page like this one knows of the entries that they share."""
    known = dict(zip(map(id, like.entries), like.refs or (), strict=True))
    return [known.get(id(entry)) for entry in entries]


def is_open(node: Page | Group) -> bool:
    """Tell whether a page's references, or what a group says of its children, are here."""
    return _has(node, "refs" if type(node) is Page else "content")


_PAGE_CONTENTS = frozenset({"branches", "closed", "entries", "keys", "refs"})
_GROUP_CONTENTS = frozenset({"children"})


def _has(node: Page | Group, name: str) -> bool:
    """Tell whether a slot is set; `hasattr` would fill it."""
    try:
        object.__getattribute__(node, name)
    except AttributeError:
        return False
    return True


def _filled(node: Page | Group, name: str, contents: frozenset[str]) -> Any:
    if name not in contents:
        raise AttributeError(name)
    object.__getattribute__(node, "source").fill([node])
    return object.__getattribute__(node, name)


class Branch:
    """
    A large list, dict, tuple, set or object: what it is, and its pages.

    Of one with few members the entries are enough while nobody asks for the pages, as when a state
    is kept in memory alone.
    """

    __slots__ = (
        "_few", "_keys", "_like", "_top", "count", "head", "joined", "kind", "names", "reference",
        "size",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        head: object,
        top: Page | Group | None,
        *,
        names: list[str] | None = None,
        keys: list[bytes] | None = None,
        few: list[Entry] | None = None,
        like: Page | Group | None = None,
    ) -> None:
        self.kind = kind
        self.head = head
        """What its kind needs besides the entries: a class's name, a deque's length."""
        self.names = names
        """The keys of a DICT, as long as the live dict is likely to come again."""
        self.joined: Mapping[Page, bytes] = {}
        """The entries of its pages put together, as long as the live list is likely to come."""
        self.reference: bytes | None = None
        self._top = top
        self._keys = keys
        self._few = few
        self._like = like
        """What `top` takes pages from."""
        self.count: int
        self.size: int
        if top is not None:
            self.count, self.size = top.count, top.size
        else:
            self.count = len(few or ())
            self.size = sum([size_of(entry) for entry in few or ()])
            if keys is not None:
                self.size += sum(map(len, keys))

    def with_few(self, entries: list[Entry]) -> Branch:
        """Give a branch with the same keys, if any, and few other entries."""
        like = self._top or self._like
        return Branch(
            self.kind, self.head, None, names=self.names, keys=self._keys, few=entries, like=like
        )

    def few(self) -> list[Entry]:
        """List the entries, of which there are few."""
        if self._few is None:
            pages = pages_of(self)
            if pages[0].keys is not None:
                self._keys = [key for page in pages for key in page.keys or ()]
            self._few = [entry for page in pages for entry in page.entries]
        return self._few

    @property
    def top(self) -> Page | Group:
        """The page or group over all; laid out when it is first asked for."""
        top = self._top
        if top is None:
            old = [] if self._like is None else pages_under(self._like)
            pages = cut(self._keys, self._few or [], old)
            self._top = top = group_pages(pages, self._like)
            self._like = None
        return top


Entry = bytes | Branch


def size_of(entry: Entry) -> int:
    """Give the encoded size in bytes."""
    return len(entry) if type(entry) is bytes else entry.size  # type: ignore[union-attr]


def mark_of(key: bytes | None, entry: Entry) -> int:
    """
    Give the number by which a page ends after this entry, or `NO_CUT` if it does not.

    For dicts it comes from the key, so that new values leave the pages as they are; for lists from
    the entry's length and last bytes, which is quick and differs enough.
    """
    if key is not None:
        mark = crc32(key)
    elif type(entry) is bytes:
        mark = crc32(entry[-MARKED_BYTES:], len(entry))
    else:
        mark = crc32(b"%d" % size_of(entry))
    return NO_CUT if mark & _CUT_MASK else mark


def _cuts(mark: int, level: int) -> bool:
    """Tell whether a group of that level (from 1) ends after this mark."""
    return not (mark >> (CUT_BITS * level)) & _CUT_MASK


def pages_of(branch: Branch) -> list[Page]:
    """List the pages of a branch from first to last."""
    return pages_under(branch.top)


def pages_under(top: Page | Group) -> list[Page]:
    """List pages from first to last."""
    if type(top) is Page:
        return [top]
    level: list[Any] = top.children
    while level and type(level[0]) is Group:
        fill_all(level)
        level = [child for group in level for child in group.children]
    return level


def cut(keys: list[bytes] | None, entries: list[Entry], old: Sequence[Page]) -> list[Page]:
    """Lay out entries, with their keys if there are any, and take over the old pages that fit."""
    beginning = {_begin(page.keys, page.entries, 0): page for page in old}
    pages: list[Page] = []
    like: Page | None = None
    at = 0
    while at < len(entries):
        like = beginning.get(_begin(keys, entries, at), like)
        if like is not None and _fits(like, keys, entries, at):
            pages.append(like)
        else:
            pages.append(_next_page(keys, entries, at, like))
        at += pages[-1].count
    return pages


def _begin(keys: list[bytes] | None, entries: list[Entry], at: int) -> object:
    return id(entries[at]) if keys is None else keys[at]


def _fits(page: Page, keys: list[bytes] | None, entries: list[Entry], at: int) -> bool:
    """Tell whether an old page is the one that begins here."""
    end = at + page.count
    return (
        (page.closed or end == len(entries))
        and page.entries == entries[at:end]
        and (keys is None or page.keys == keys[at:end])
    )


def _next_page(
    keys: list[bytes] | None, entries: list[Entry], start: int, like: Page | None
) -> Page:
    end = min(start + PAGE_ENTRIES, len(entries))
    mark = NO_CUT
    for at in range(start, end):
        mark = mark_of(None if keys is None else keys[at], entries[at])
        if mark != NO_CUT:
            end = at + 1
            break
    closed = mark != NO_CUT or end - start == PAGE_ENTRIES
    its_keys = None if keys is None else keys[start:end]
    return Page(its_keys, entries[start:end], closed=closed, mark=mark, like=like)


def group_pages(pages: Sequence[Page], old: Page | Group | None) -> Page | Group:
    """Put pages under one group, of several levels if they are many; share what `old` has."""
    if len(pages) == 1:
        return pages[0]
    if len(pages) <= PAGE_ENTRIES:
        return Group(list(pages))
    known = _groups_by_first(old)
    level: list[Page | Group] = list(pages)
    number = 1
    while len(level) > PAGE_ENTRIES:
        level = [_shared(children, known) for children in _split(level, number)]
        number += 1
    return _shared(level, known)


def _split(level: list[Page | Group], number: int) -> Iterator[list[Page | Group]]:
    start = 0
    for at, node in enumerate(level, 1):
        if at - start == PAGE_ENTRIES or _cuts(node.mark, number):
            yield level[start:at]
            start = at
    if start < len(level):
        yield level[start:]


def _shared(children: list[Page | Group], known: Mapping[int, list[Group]]) -> Group:
    for group in known.get(id(children[0]), ()) if children else ():
        if group.children == children:
            return group
    return Group(children)


def _groups_by_first(top: Page | Group | None) -> dict[int, list[Group]]:
    found: dict[int, list[Group]] = {}
    stack = [top] if type(top) is Group else []
    while stack:
        group = stack.pop()
        if group.children:
            found.setdefault(id(group.children[0]), []).append(group)
        stack.extend(child for child in group.children if type(child) is Group)
    return found


def fill_all(nodes: Sequence[Page | Group]) -> None:
    """Read all nodes that came from a store in one go."""
    for node in nodes:
        if not node.is_filled():
            node.source.fill(nodes)
            return
