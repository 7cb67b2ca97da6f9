"""
Digests of values, without what makes no difference: fields to leave out, and made-up names.

A made-up name is a UUID, call id, run id or address. A placeholder stands for it in the digest; the
name itself is given beside it, so that the caller can see whether the same one stands for it
throughout. Names in a large part (a `Branch`) are not given.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from operator import itemgetter
from typing import Any
from uuid import UUID

from ormsgpack import packb

from argentum.tree import Record, Tree
from argentum.tree.chunks import DIGEST_BYTES
from argentum.tree.encoding import pack, unpack
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry, Group, Page, fill_all, pages_of
from argentum.tree.sameness import Packed

GIVEN = frozenset({"args", "arguments", "input", "kwargs"})
"""Below these, every field is the user's own."""
_IDS = re.compile(
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b(?:call|chatcmpl|fc|msg|req|resp|run|toolu)[_-][A-Za-z0-9]{16,}\b"
    r"|\b\d{8}-\d{6}-[0-9a-f]{4}\b"
    r"|\b0x[0-9a-f]{8,16}\b"
)
_PLACE = "\0id"
_SHORTEST_ID = 10
_ONLY_TEXT = frozenset({str})
_IN_ORDER = (Kind.LIST, Kind.TUPLE, Kind.DEQUE)

Drop = frozenset[str]
"""Names of fields that are left out, at any depth."""


class Essences:
    """Digests many values; large parts that they share are read once."""

    def __init__(self, ignore: Drop = frozenset()) -> None:
        """
        Start.

        Args:
            ignore: what is left out even where every field is the user's own.
        """
        self.ignore = ignore
        self._pages: dict[tuple[Page, Drop], list[bytes]] = {}
        self._entries: dict[tuple[bytes, Drop], bytes] = {}

    def of(self, value: object, drop: Drop, ids: list[str]) -> bytes:
        """
        Digest a value, `Packed` or not; empty for None, which is as good as nothing.

        Args:
            ids: gets the made-up names inside, in their order.
        """
        if type(value) is Packed:
            entry = value.entry
            if type(entry) is not bytes:
                return self._of_branch(entry, drop)  # type: ignore[arg-type] # not bytes
            value = unpack(entry)
        if value is None:
            return b""
        try:
            return digest(pack(self._plain(value, drop, ids)))
        except RecursionError:  # too deep to look for names inside
            return digest(pack(value))

    # ------------------------------------------------------------ large parts

    def _of_branch(self, branch: Branch, drop: Drop) -> bytes:
        """Digest a large part by its entries, whatever pages they lie on."""
        digests = [one for page in pages_of(branch) for one in self._of_page(page, drop)]
        if branch.kind not in _IN_ORDER:
            digests.sort()
        return digest(str(int(branch.kind)), str(branch.head), b"".join(digests))

    def _of_page(self, page: Page, drop: Drop) -> list[bytes]:
        known = self._pages.get((page, drop))
        if known is None:
            known = self._pages[page, drop] = list(self._of_entries(page, drop))
        return known

    def _of_entries(self, page: Page, drop: Drop) -> Iterator[bytes]:
        if page.keys is None:
            yield from [self._of_entry(entry, drop) for entry in page.entries]
            return
        for key, entry in zip(page.keys, page.entries, strict=True):
            name = unpack(key)
            if type(name) is not str:
                yield digest(key, self._of_entry(entry, drop))
            elif name not in drop:
                yield digest(key, self._of_entry(entry, self._below(name, drop)))

    def _of_entry(self, entry: Entry, drop: Drop) -> bytes:
        if type(entry) is not bytes:
            return self._of_branch(entry, drop)  # type: ignore[arg-type] # not bytes
        known = self._entries.get((entry, drop))
        if known is None:
            known = self._entries[entry, drop] = self.of(Packed(entry), drop, [])
        return known

    # ------------------------------------------------------------ values

    def _below(self, name: str, drop: Drop) -> Drop:
        return self.ignore if name in GIVEN else drop

    def _plain(self, value: Any, drop: Drop, ids: list[str]) -> Any:
        """Give a value that is encoded alike for all that differ in nothing that counts."""
        kind = type(value)
        if kind is str:
            return _without_ids(value, ids)
        if kind is dict:
            return self._plain_dict(value, drop, ids)
        if kind is list:
            return [self._plain(item, drop, ids) for item in value]
        if kind is float:
            return math.nan if math.isnan(value) else value + 0.0
        if kind is tuple or kind is deque:
            return kind.__name__, [self._plain(item, drop, ids) for item in value]
        if kind is Record:
            return "record", value.type_name, self._plain_dict(value.fields, drop, ids)
        if kind is UUID:
            ids.append(str(value))
            return _PLACE
        return value

    def _plain_dict(self, value: dict[Any, Any], drop: Drop, ids: list[str]) -> Any:
        if _ONLY_TEXT.issuperset(map(type, value)):
            return {
                key: self._plain(value[key], self._below(key, drop), ids)
                for key in sorted(value)
                if key not in drop
            }
        pairs = sorted(((pack(key), key) for key in value), key=itemgetter(0))
        return "pairs", [(packed, self._plain(value[key], drop, ids)) for packed, key in pairs]


def _without_ids(text: str, ids: list[str]) -> str:
    # A quick look tells of most texts that no made-up name is inside.
    if len(text) < _SHORTEST_ID or not ("-" in text or "_" in text or "0x" in text):
        return text
    found = _IDS.findall(text)
    if not found:
        return text
    ids += found
    return _IDS.sub(_PLACE, text)


def essence_of(value: object) -> bytes:
    """Give bytes that are equal for values that differ at most in made-up names."""
    return Essences().of(value, frozenset(), [])


def digest(*parts: bytes | str | None) -> bytes:
    """Digest parts of any length, so that no two lists of such parts have the same digest."""
    try:
        data = packb(parts)
    except TypeError:  # a lone surrogate
        data = packb([_text_as_bytes(part) for part in parts])
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _text_as_bytes(part: bytes | str | None) -> Any:
    return [part.encode("utf-8", "surrogatepass")] if type(part) is str else part


# ---------------------------------------------------------------- bodies


def fields_of(body: Tree) -> dict[str, Any]:
    """Take a body apart, without reading its large parts; what is no dict is one field."""
    root = body.root
    if type(root) is not bytes and root.kind is Kind.DICT:  # type: ignore[union-attr]
        return {
            unpack(key): Packed(entry)
            for page in pages_of(root)  # type: ignore[arg-type]
            for key, entry in zip(page.keys or (), page.entries, strict=True)
        }
    if type(root) is bytes:
        value = unpack(root)
        if type(value) is dict and _ONLY_TEXT.issuperset(map(type, value)):
            return value
        return {"": value}
    return {"": Packed(root)}


def read_whole(bodies: Iterable[Tree]) -> None:
    """Read all parts of many bodies from their stores, level by level, in few questions."""
    nodes = [body.root.top for body in bodies if type(body.root) is Branch]
    while nodes:
        waiting: dict[tuple[type, int], list[Page | Group]] = {}
        for node in nodes:
            if not node.is_filled():
                waiting.setdefault((type(node), id(node.source)), []).append(node)
        for alike in waiting.values():
            fill_all(alike)
        nodes = list(dict.fromkeys(below for node in nodes for below in _below(node)))


def _below(node: Page | Group) -> list[Page | Group]:
    if type(node) is Group:
        return node.children
    page: Page = node  # type: ignore[assignment] # no group
    entries = page.entries if page.branches else ()
    return [entry.top for entry in entries if type(entry) is Branch]
