"""
The form in which a tree is kept: a short reference, and chunks under their digests.

A reference is one byte and its content:

    i DATA      the encoded value itself
    c DIGEST    a chunk that is the encoded value
    b MSGPACK   a branch: [kind, head, one page?, digest of that page or the top group,
                count, size]

A page's chunk is the MessagePack array [keys or nil, references, closed, mark], a group's is
[groups below?, digests of the children in one, counts, sizes, marks]. The digest is BLAKE2b of 128
bits (RFC 7693) of the chunk, so a chunk names its children by content (a Merkle tree), equal parts
of any two trees are kept once, and a chunk that came back changed is found out.
"""

from __future__ import annotations

import weakref
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from ormsgpack import packb, unpackb

from argentum.errors import FormatError
from argentum.tree.kinds import Kind
from argentum.tree.nodes import NO_CUT, Branch, Entry, Fetch, Group, Page, is_open

DIGEST_BYTES = 16
INLINE_BYTES = 96
"""An entry of a page up to this size lies in the page's chunk."""
INLINE_ROOT_BYTES = 1024
"""A whole state up to this size lies in its reference."""
_INLINE, _CHUNK, _BRANCH = b"i", b"c", b"b"

MOST_RECENT, RECENT_BYTES = 2000, 4096
"""How many entries a loader remembers, and up to which size: 8 MB at most."""

FEW_NODES = 4096
"""Nodes that a loader finds again before it looks for the first time which of them are gone."""

Chunk = tuple[bytes, bytes]

_KINDS = {int(kind): kind for kind in Kind}
"""Found in a quarter of the time that `Kind(…)` takes."""


def digest_of(payload: bytes) -> bytes:
    """Give a chunk's name."""
    digest: bytes = _blake2b()(payload, digest_size=DIGEST_BYTES).digest()
    return digest


@cache
def _blake2b() -> Any:
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, which only stores need

    return blake2b


def reference_of(entry: Entry, inline_bytes: int = INLINE_BYTES) -> bytes:
    """Give an entry's stored reference."""
    if type(entry) is bytes:
        inline = len(entry) <= inline_bytes
        return _INLINE + entry if inline else _CHUNK + digest_of(entry)
    branch: Branch = entry  # type: ignore[assignment]
    if branch.reference is None:
        top = branch.top.digest or _digest(branch.top)
        one_page = type(branch.top) is Page
        packed = packb([int(branch.kind), branch.head, one_page, top, branch.count, branch.size])
        branch.reference = _BRANCH + packed
    return branch.reference


def _digest_group(group: Group) -> bytes:
    group.digest = digest_of(_group_payload(group))
    return group.digest


def page_digest(page: Page) -> bytes:
    """Give the name of a page's chunk."""
    if page.digest is None:
        page.digest = digest_of(_page_payload(page))
    return page.digest


def _page_payload(page: Page) -> bytes:
    return packb([page.keys, references_of(page), page.closed, page.mark])


def references_of(page: Page) -> list[bytes]:
    """Give the reference of each entry of a page, which has to be open."""
    known = page.refs or [None] * page.count
    if None not in known:
        return known  # type: ignore[return-value] # all known
    refs = [
        reference_of(entry) if ref is None else ref
        for entry, ref in zip(page.entries, known, strict=True)
    ]
    page.refs = list(refs)
    return refs


def _group_payload(group: Group) -> bytes:
    children = group.children
    of_groups = bool(children) and type(children[0]) is Group
    digests = b"".join(child.digest or _digest(child) for child in children)
    numbers = [[getattr(child, name) for child in children] for name in ("count", "size", "mark")]
    return packb([of_groups, digests, *numbers])


def _digest(node: Page | Group) -> bytes:
    return page_digest(node) if type(node) is Page else _digest_group(node)  # type: ignore[arg-type]


def chunks_of(
    entry: Entry, known: Container[bytes], inline_bytes: int = INLINE_BYTES
) -> Iterator[Chunk]:
    """Give each chunk whose digest is not in `known`, children first, as (digest, payload)."""
    if type(entry) is bytes:
        if len(entry) > inline_bytes:
            digest = digest_of(entry)
            if digest not in known:
                yield digest, entry
        return
    reference_of(entry)
    yield from _node_chunks(entry.top, known)  # type: ignore[union-attr]


def _node_chunks(node: Page | Group, known: Container[bytes]) -> Iterator[Chunk]:
    digest = node.digest or _digest(node)
    if digest in known:
        return
    if type(node) is Group:
        for child in node.children:
            yield from _node_chunks(child, known)
        yield digest, _group_payload(node)
        return
    page: Page = node  # type: ignore[assignment]
    for item, ref in zip(page.entries, references_of(page), strict=True):
        if type(item) is Branch:
            yield from _node_chunks(item.top, known)
        elif ref[:1] == _CHUNK and ref[1:] not in known:
            yield ref[1:], item  # type: ignore[misc] # bytes
    yield digest, _page_payload(page)


class Loader:
    """
    Reads trees back, each part when it is first needed.

    Parts with one digest are one object as long as any tree holds it, so a comparison of two
    stored trees skips what they share.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._nodes: dict[bytes, weakref.ref[Any]] = {}
        """The pages and groups that any tree holds, and some that none holds any more."""
        self._most_nodes = FEW_NODES
        self._last: dict[type, dict[bytes, Any]] = {Page: {}, Group: {}}
        """The children of the group read last: one version of a list has most of the next's."""
        self._recent: dict[bytes, bytes] = {}
        """Entries read of late: one version of a page has nearly all of those of the next."""

    def entry(self, reference: bytes) -> Entry:
        """Give the entry of a reference."""
        if reference[:1] == _BRANCH:
            return self._branch(reference)
        return self.entries([reference])[0]

    def entries(self, references: list[bytes]) -> list[Entry]:
        """Give the entries of references, reading what is not known in one question."""
        wanted = [ref[1:] for ref in references if ref[:1] == _CHUNK]
        found = self._chunks(wanted) if wanted else {}
        return [
            ref[1:] if (tag := ref[:1]) == _INLINE
            else found[ref[1:]] if tag == _CHUNK
            else self._branch(ref)
            for ref in references
        ]  # fmt: skip

    def _chunks(self, wanted: list[bytes]) -> dict[bytes, bytes]:
        recent = self._recent  # grows alone; another thread may put a new one in its place
        found = {digest: recent[digest] for digest in wanted if digest in recent}
        missing = [digest for digest in wanted if digest not in found]
        if missing:
            read = self._payloads(missing)
            found.update(read)
            if len(recent) > MOST_RECENT:
                recent = self._recent = {}
            recent.update((one, data) for one, data in read.items() if len(data) <= RECENT_BYTES)
        return found

    def _branch(self, reference: bytes) -> Branch:
        tag, content = reference[:1], reference[1:]
        if tag != _BRANCH:
            message = f"A stored reference starts with {tag!r}; this version knows i, c and b."
            raise FormatError(message)
        kind, head, one_page, top, count, size = unpackb(content)
        stub = self._stub(Page if one_page else Group, top, count, size, NO_CUT)
        branch = Branch(_KINDS[kind], head, stub)
        branch.reference = reference
        return branch

    def _stub(self, cls: Any, digest: bytes, count: int, size: int, mark: int) -> Any:
        """Make a node that fills itself when it is looked into."""
        known = self._nodes.get(digest)
        node = None if known is None else known()
        if type(node) is cls:
            return node
        node = cls.__new__(cls)
        node.digest, node.count, node.size, node.mark, node.source = digest, count, size, mark, self
        if len(self._nodes) >= self._most_nodes:
            held = list(self._nodes.items())  # at once, for other threads add to it
            self._nodes = {one: found for one, found in held if found() is not None}
            self._most_nodes = max(FEW_NODES, 2 * len(self._nodes))
        self._nodes[digest] = weakref.ref(node)
        return node

    def open(self, nodes: list[Page | Group]) -> None:
        """Read what nodes that are not open say of their members, and make none of the members."""
        payloads = self._payloads([node.digest for node in nodes])  # type: ignore[misc] # stored
        for node in nodes:
            content = unpackb(payloads[node.digest])  # type: ignore[index] # stored
            if type(node) is Group:
                content.append({})
                node.content = content
            else:
                page: Page = node  # type: ignore[assignment]
                page.made = {}
                page.keys, page.refs, page.closed, page.mark = content

    def fill(self, nodes: Iterable[Page | Group]) -> None:
        """Read the contents of nodes of one kind in as few questions as possible."""
        todo = [node for node in nodes if not node.is_filled()]
        self.open([node for node in todo if not is_open(node)])
        pages: list[Page] = []
        for node in todo:
            if type(node) is Page:
                pages.append(node)
                continue
            group: Group = node  # type: ignore[assignment]
            content = group.content
            if content is not None:  # else another thread was quicker
                group.children = self._children(content)
                group.content = None
        entries = self.entries([ref for page in pages for ref in page.refs]) if pages else []  # type: ignore[misc,union-attr]
        start = 0
        for page in pages:
            found = entries[start : start + page.count]
            page.branches = Branch in map(type, found)
            page.entries = found  # last: it tells other threads that the page is filled
            start += page.count

    def _children(self, content: list[Any]) -> list[Any]:
        of_groups, together, counts, sizes, marks, made = content
        cls = Group if of_groups else Page
        starts = range(0, len(together), DIGEST_BYTES)
        digests = [together[start : start + DIGEST_BYTES] for start in starts]
        children: list[Any] = list(map(self._last[cls].get, digests))
        for at, child in enumerate(children):
            if child is None:
                children[at] = made.get(at) or self._stub(
                    cls, digests[at], counts[at], sizes[at], marks[at]
                )
        self._last[cls] = dict(zip(digests, children, strict=True))
        return children

    def child(self, content: list[Any], number: int) -> Page | Group:
        """Make one child of an open group, which keeps it."""
        of_groups, together, counts, sizes, marks, made = content
        child: Page | Group | None = made.get(number)
        if child is None:
            digest = together[DIGEST_BYTES * number : DIGEST_BYTES * (number + 1)]
            cls = Group if of_groups else Page
            child = self._stub(cls, digest, counts[number], sizes[number], marks[number])
            made[number] = child
        return child

    def _payloads(self, digests: list[bytes]) -> Mapping[bytes, bytes]:
        found = self._fetch(digests)
        blake2b = _blake2b()
        for digest in digests:
            payload = found.get(digest)
            if payload is None:
                message = (
                    f"Chunk {digest.hex()} is missing: the store is damaged. Run: argentum doctor"
                )
                raise FormatError(message)
            if blake2b(payload, digest_size=DIGEST_BYTES).digest() != digest:
                message = (
                    f"Chunk {digest.hex()} was altered: the store is damaged. Run: argentum doctor"
                )
                raise FormatError(message)
        return found
