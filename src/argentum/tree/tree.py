"""A state at a moment, immutable: made by `freeze`, kept by its reference and chunks."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from argentum.errors import InputError, LimitError, not_found
from argentum.tree.building import build, build_object, build_subclass
from argentum.tree.chunks import INLINE_ROOT_BYTES, Chunk, Loader, chunks_of, reference_of
from argentum.tree.encoding import pack, unpack
from argentum.tree.freezing import Freezer
from argentum.tree.kinds import Kind, Record
from argentum.tree.nodes import Branch, Entry, Fetch, fill_all, pages_of, size_of
from argentum.tree.paging import SMALL_BYTES
from argentum.tree.paths import Key, Path, Step

ATTEMPTS = 3
_ARRAY = b"\xdc"
"""How MessagePack begins an array of up to 65,535 members; their count follows in two bytes."""


class Tree:
    """
    An immutable value that shares with other trees what it has in common with them.

    Made by `freeze` of a live value or by `load` of a stored one. Nothing that happens to the live
    value later shows in it.
    """

    __slots__ = ("_loader", "_reference", "root")

    root: Entry
    """The whole value as one entry; of a stored tree it is read when it is first asked for."""

    def __init__(
        self, root: Entry | None, reference: bytes | None = None, loader: Loader | None = None
    ) -> None:
        if root is not None:
            self.root = root
        self._reference = reference
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        """Read the root of a stored tree; as a slot it takes a quarter of the time later."""
        if name != "root" or self._loader is None or self._reference is None:
            raise AttributeError(name, name=name, obj=self)
        self.root = self._loader.entry(self._reference)
        return self.root

    def __repr__(self) -> str:
        """Show the size."""
        return f"<Tree of {self.size_bytes} bytes>"

    def __eq__(self, other: object) -> bool:
        """Tell whether the values are exactly the same, the order of keys included."""
        return isinstance(other, Tree) and self.reference() == other.reference()

    def __hash__(self) -> int:
        """Hash the value."""
        return hash(self.reference())

    @property
    def size_bytes(self) -> int:
        """The encoded size of the whole value in bytes, shared parts included."""
        return size_of(self.root)

    def thaw(self, *, live: bool = True) -> Any:
        """
        Give the value back, new and with its exact types.

        Args:
            live: make instances of classes that are loaded and plain data (see
                `argentum.tree.encoding.unpack`); else `Record`s stand for them.
        """
        return thaw_entry(self.root, live=live)

    def get(self, path: str, *, live: bool = True) -> Any:
        """
        Give the value at a path; only the parts on the way are read.

        Raises:
            InputError: the text is not a path.
            NotFoundError: there is nothing at the path; the message names what is near.
        """
        return thaw_entry(self._descend(Path(path).parts), live=live)

    def _descend(self, parts: tuple[Step, ...]) -> Entry:
        entry: Entry = self.root
        for depth, step in enumerate(parts):
            if type(entry) is bytes:
                return pack(step_into(unpack(entry), parts[depth:], parts[:depth]))
            entry = child_of(entry, step, parts[:depth])  # type: ignore[arg-type]
        return entry

    def count(self, path: str = "") -> int:
        """
        Count the members of the container at a path, mostly without reading them.

        Raises:
            NotFoundError: there is nothing at the path.
        """
        entry = self._descend(Path(path).parts)
        if type(entry) is Branch and entry.kind is not Kind.SUBCLASS:
            return entry.count
        return _count(thaw_entry(entry, live=False))

    def reference(self) -> bytes:
        """Give the short form by which `load` finds the tree; small states are wholly in it."""
        if self._reference is None:
            self._reference = reference_of(self.root, INLINE_ROOT_BYTES)
        return self._reference

    def chunks(self, known: Container[bytes]) -> Iterator[Chunk]:
        """Give the chunks that a store lacks, children before parents, as (digest, payload)."""
        return chunks_of(self.root, known, INLINE_ROOT_BYTES)


def freeze(value: object, previous: Tree | None = None) -> Tree:
    """
    Make a tree of a live value.

    Args:
        previous: a tree of an earlier state; what is equal is shared, which makes the new one
            quick and small.

    Raises:
        LimitError: the value nests so deep that this thread's recursion limit is reached.
        InputError: another thread kept changing the value.
    """
    for _ in range(ATTEMPTS):
        try:
            before = None if previous is None else previous.root
            root = Freezer().entry(value, before, SMALL_BYTES)
        except RuntimeError as error:
            if isinstance(error, RecursionError):
                message = "The state nests too deep for the recursion limit of this thread."
                raise LimitError(message) from error
            continue  # a container changed its size while it was read
        return previous if previous is not None and root is before else Tree(root)
    message = (
        f"The state (a {type(value).__name__}) was changed by another thread during each of "
        f"{ATTEMPTS} attempts to read it. Hold a lock, or give a copy."
    )
    raise InputError(message)


def load(reference: bytes, fetch: Fetch | Loader) -> Tree:
    """
    Give the tree of a stored reference; parts are read when they are first needed.

    Args:
        fetch: a function from digests to `{digest: payload}`, or a `Loader` that several trees
            share.

    Raises:
        FormatError: later, when a part is needed that is missing or was altered.
    """
    loader = fetch if isinstance(fetch, Loader) else Loader(fetch)
    return Tree(None, reference, loader)


def thaw_entry(entry: Entry, *, live: bool) -> Any:
    """Give the value of an entry."""
    if type(entry) is bytes:
        return unpack(entry, live=live)
    branch: Branch = entry  # type: ignore[assignment]
    pages = pages_of(branch)
    fill_all(pages)
    values: list[Any] = []
    for page in pages:
        if page.branches:
            values += [thaw_entry(item, live=live) for item in page.entries]
        else:
            values += _unpack_all(page.entries, live=live)  # type: ignore[arg-type] # bytes
    return assemble(branch, values, live=live)


def _unpack_all(parts: list[bytes], *, live: bool) -> list[Any]:
    """Decode the parts of a page as one array, which takes half of the time."""
    values: list[Any] = unpack(_ARRAY + len(parts).to_bytes(2) + b"".join(parts), live=live)
    return values


def assemble(branch: Branch, values: list[Any], *, live: bool) -> Any:
    """Put the thawed entries of a branch together."""
    kind = branch.kind
    if kind is Kind.LIST:
        return values
    if kind in (Kind.TUPLE, Kind.SET, Kind.FROZENSET):
        return build(kind, values, live=live)
    if kind is Kind.DEQUE:
        return build(kind, [branch.head, *values], live=live)
    keys = [key for page in pages_of(branch) for key in _unpack_all(page.keys or [], live=live)]
    fields = dict(zip(keys, values, strict=True))
    if kind is Kind.OBJECT:
        return build_object(str(branch.head), fields, live=live)
    return build_subclass(str(branch.head), fields, live=live) if kind is Kind.SUBCLASS else fields


def child_of(branch: Branch, step: Step, before: tuple[Step, ...]) -> Entry:
    """Find the entry of one step below a branch."""
    pages = pages_of(branch)
    if branch.kind in (Kind.LIST, Kind.TUPLE, Kind.DEQUE):
        at = step if isinstance(step, int) else None
        if at is not None and -branch.count <= at < branch.count:
            at += branch.count if at < 0 else 0
            for page in pages:
                if at < page.count:
                    return page.entries[at]
                at -= page.count
        raise _no_place(step, before, branch.count)
    if branch.kind is Kind.SUBCLASS and step == "":
        return _inner(branch, step, before)
    wanted = pack(step.value if isinstance(step, Key) else step)
    for page in pages:
        if page.keys is not None and wanted in page.keys:
            return page.entries[page.keys.index(wanted)]
    if branch.kind is Kind.SUBCLASS:
        return _inner(branch, step, before)
    raise not_found(f"key in {Path.of(before) or 'the state'}", _plain(step), _names(branch, pages))


def _inner(branch: Branch, step: Step, before: tuple[Step, ...]) -> Entry:
    """Find the entry of one step below the built-in value of a subclass's instance."""
    named_nothing = pack("")
    inner = next(
        entry
        for page in pages_of(branch)
        for key, entry in zip(page.keys or (), page.entries, strict=True)
        if key == named_nothing
    )
    if type(inner) is Branch:
        return child_of(inner, step, before)
    return pack(step_into(unpack(inner), (step,), before))  # type: ignore[arg-type]


def _names(branch: Branch, pages: list[Any]) -> list[str]:
    if branch.kind in (Kind.SET, Kind.FROZENSET):
        return []
    return [str(unpack(key)) for page in pages for key in page.keys or ()]


def _plain(step: Step) -> object:
    return step.value if isinstance(step, Key) else step


def _no_place(step: Step, before: tuple[Step, ...], count: int) -> Exception:
    where = Path.of(before) or "the state"
    places = [f"[{at}]" for at in (0, count - 1) if 0 <= at < count]
    return not_found(f"item of {where}, which has {count},", _plain(step), places)


def step_into(value: Any, parts: tuple[Step, ...], before: tuple[Step, ...]) -> Any:
    """
    Walk down a thawed value.

    Raises:
        NotFoundError: there is nothing at a step.
    """
    for depth, step in enumerate(parts):
        value = _step_down(value, step, (*before, *parts[:depth]))
    return value


def _step_down(value: Any, step: Step, before: tuple[Step, ...]) -> Any:
    found = part_of(value, step)
    if found is not NOTHING:
        return found
    while isinstance(value, Record):
        inner = value.fields.get("", NOTHING)
        value = value.fields if inner is NOTHING else inner
    if isinstance(value, dict):
        where = f"key in {Path.of(before) or 'the state'}"
        raise not_found(where, _plain(step), map(str, value))
    if isinstance(step, int) and _has_places(value):
        raise _no_place(step, before, len(value))
    raise not_found(f"part of {Path.of(before) or 'the state'}", _plain(step), ())


def part_of(value: Any, step: Step) -> Any:
    """Give what lies one step below a thawed value, or `NOTHING`."""
    if isinstance(value, Record):
        fields = value.fields
        if "" in fields and (step == "" or step not in fields):
            return part_of(fields[""], step)
        value = fields
    if isinstance(value, dict):
        key = _plain(step)
        items = ((known, item) for known, item in value.items() if type(known) is type(key))
        return next((item for known, item in items if known == key), NOTHING)
    if isinstance(step, int) and _has_places(value):
        return value[step] if -len(value) <= step < len(value) else NOTHING
    if isinstance(step, str):
        return getattr(value, "__dict__", {}).get(step, NOTHING)
    return NOTHING


def _has_places(value: object) -> bool:
    if isinstance(value, str | bytes) or getattr(value, "shape", None) == ():
        return False  # an array of no dimension has no length
    return hasattr(value, "__getitem__")


def _count(value: Any) -> int:
    if isinstance(value, Record):
        return _count(value.fields[""]) if "" in value.fields else len(value.fields)
    return len(value)


NOTHING = object()
"""What `part_of` gives where there is nothing."""
