"""
What agents did, told from a run's events so that two runs can be compared.

An act is one step: a call of a model or tool (both events of its span), a handoff, a note, an
error, a change of memory or plan, or the state that an agent had. Two acts are told apart by what
went in and what came out, never by when they happened or by which names a machine made up:

* `at_ns`, `seq`, `span` and `parent` of events, and whether a run was recorded under another id;
* `MEASURED` fields of a body (`elapsed_ms`, `usage`, `tool_call_id`, …) and tracebacks;
* in what goes to a model and comes from it, those and `MADE_UP` fields (`id`, `created`, …),
  wherever they stand outside of the arguments of calls;
* which UUID, call id, run id or address stands in a text, as long as the same one stands for it
  throughout (see `Act.ids`);
* the order of a dict's keys.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import Any
from uuid import UUID

from argentum.events import CLOSE, OPEN, Event
from argentum.tree import Record, Tree
from argentum.tree.chunks import DIGEST_BYTES, page_digest
from argentum.tree.encoding import pack, unpack
from argentum.tree.kinds import Kind
from argentum.tree.nodes import Branch, Entry, Page, fill_all, pages_of

KINDS_OF_ACTS = (
    "model_call", "tool_call", "handoff", "note", "snapshot", "error", "memory", "plan", "receipt",
)  # fmt: skip
"""`agent`, `usage` and `alert` tell of the recording; of `run`, only how it ended is an act."""
MEASURED = frozenset({
    "call_id", "duration_ms", "elapsed_ms", "latency_ms", "request_id", "response_id", "run_id",
    "span_id", "tool_call_id", "trace_id", "traceback", "usage",
})  # fmt: skip
MADE_UP = MEASURED | {"created", "created_at", "id", "system_fingerprint"}
GIVEN = frozenset({"args", "arguments", "input", "kwargs"})
"""Below these, every field is the user's own."""
RESULTS = frozenset({"output", "error"})
CONTEXT = "messages"
IDS = re.compile(
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b(?:call|chatcmpl|fc|msg|req|resp|run|toolu)[_-][A-Za-z0-9]{16,}\b"
    r"|\b\d{8}-\d{6}-[0-9a-f]{4}\b"
    r"|\b0x[0-9a-f]{8,16}\b"
)
_PLACE = "\0id"
_SHORTEST_ID = 10
_UNFINISHED = b"never ended"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that an agent did, or that came from outside."""

    opening: Event
    """The event that tells it; of a span the first, as far as it was recorded."""
    closing: Event | None
    """The event that ended the span; None for a point, and for a span that never ended."""
    context: bytes
    """A digest of the messages that a model was given; empty if there are none."""
    call: bytes
    """A digest of what was asked of whom: the arguments, or all of a note or handoff."""
    whole: bytes
    """A digest of what was asked and of what came out."""
    ids: tuple[str, ...]
    """The made-up names inside, in their order: not in the digests."""

    @property
    def kind(self) -> str:
        """One of `KINDS_OF_ACTS`, or `run` for the end of the run."""
        return self.opening.kind

    @property
    def name(self) -> str:
        """The tool's or model's name, a snapshot's label."""
        return self.opening.name

    @property
    def agent(self) -> str | None:
        """Who did it; None if it came from outside."""
        return self.opening.agent

    @property
    def seq(self) -> int:
        """The number of its first event."""
        return self.opening.seq

    @property
    def last_seq(self) -> int:
        """The number of its last event."""
        return self.opening.seq if self.closing is None else self.closing.seq

    @property
    def is_open(self) -> bool:
        """Whether it is a span that never ended."""
        return self.closing is None and self.opening.phase == OPEN

    def __repr__(self) -> str:
        """Show which it is."""
        return f"<Act {self.seq} {self.kind} {self.name!r} of {self.agent!r}>"


def acts_of(
    events: Iterable[Event], *, kinds: Collection[str] = (), ignore: Collection[str] = ()
) -> list[Act]:
    """
    Give what was done in a run, in the order in which it began.

    Args:
        kinds: only acts of these kinds; all by default.
        ignore: names of further fields that make no difference, wherever they stand.
    """
    wanted = frozenset(kinds or (*KINDS_OF_ACTS, "run"))
    kept = [event for event in events if event.kind in wanted]
    opened = {event.seq for event in kept if event.phase == OPEN}
    closings = {event.span: event for event in kept if event.phase == CLOSE}
    reader = _Reader(frozenset(ignore))
    return [
        reader.act(event, closings.get(event.seq) if event.phase == OPEN else None)
        for event in kept
        if _begins(event, opened)
    ]


def _begins(event: Event, opened: Collection[int]) -> bool:
    """Tell whether an act begins here; of a run, its end is the act."""
    if event.kind == "run":
        return event.phase == CLOSE
    return event.phase != CLOSE or event.span not in opened


class _Reader:
    """Reads bodies; large parts that many bodies share are read once."""

    def __init__(self, ignore: frozenset[str]) -> None:
        self.ignore = ignore
        self.pages: dict[tuple[bytes, frozenset[str]], list[bytes]] = {}
        self.entries: dict[tuple[bytes, frozenset[str]], bytes] = {}

    def act(self, opening: Event, closing: Event | None) -> Act:
        if opening.kind == "snapshot":
            call = _digest(opening.kind, opening.agent, opening.name)
            state = _digest(opening.kind, opening.agent, opening.body.reference())
            return Act(opening, None, b"", call, state, ())
        of_model = opening.kind == "model_call"
        drop = (MADE_UP if of_model else MEASURED) | self.ignore
        essence = _Essence(drop, self, everywhere=of_model)
        before = _fields(opening.body)
        if opening.kind == "run":
            ended = essence.of_fields({"status": before.get("status")})
            return Act(opening, None, b"", _digest("run"), _digest("run", ended), ())
        after = {} if closing is None else _fields(closing.body)
        given = {name: item for name, item in before.items() if name not in RESULTS}
        context = essence.of(given.pop(CONTEXT)) if _has_context(opening, given) else b""
        title = "" if _is_text(opening) else opening.name
        call = _digest(opening.kind, opening.agent, title, context, essence.of_fields(given))
        came = essence.of_fields({**before, **after}, RESULTS)
        unfinished = closing is None and opening.phase == OPEN
        whole = _digest(call, _UNFINISHED if unfinished else came)
        return Act(opening, closing, context, call, whole, tuple(essence.ids))

    def branch(self, branch: Branch, drop: frozenset[str]) -> bytes:
        """Digest a large part by its entries, whatever pages they lie on."""
        pages = pages_of(branch)
        fill_all(pages)
        digests = [one for page in pages for one in self.page(page, drop)]
        if branch.kind not in (Kind.LIST, Kind.TUPLE, Kind.DEQUE):
            digests.sort()
        return _digest(str(int(branch.kind)), str(branch.head), b"".join(digests))

    def page(self, page: Page, drop: frozenset[str]) -> list[bytes]:
        known = (page_digest(page), drop)
        if known not in self.pages:
            self.pages[known] = list(self._entries(page, drop))
        return self.pages[known]

    def _entries(self, page: Page, drop: frozenset[str]) -> Iterator[bytes]:
        if page.keys is None:
            yield from [self._entry(entry, drop) for entry in page.entries]
            return
        for key, entry in zip(page.keys, page.entries, strict=True):
            name = unpack(key, live=False)
            if type(name) is not str or name not in drop:
                given = type(name) is str and name in GIVEN
                yield _digest(key, self._entry(entry, self.ignore if given else drop))

    def _entry(self, entry: Entry, drop: frozenset[str]) -> bytes:
        if type(entry) is not bytes:
            return _Essence(drop, self).of(_Packed(entry))
        known = (_digest_of(entry), drop)
        if known not in self.entries:
            self.entries[known] = _Essence(drop, self).of(_Packed(entry))
        return self.entries[known]


def _digest(*parts: bytes | str | None) -> bytes:
    """Digest parts of any length, so that no two lists of parts have the same digest."""
    packed = [b"-" if one is None else one if type(one) is bytes else pack(one) for one in parts]
    return _digest_of(b"".join([b"%d:%b" % (len(one), one) for one in packed]))


def _digest_of(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _fields(body: Tree) -> dict[str, Any]:
    """Take a body apart, without reading its large parts; what is no dict is one field."""
    root = body.root
    if type(root) is Branch and root.kind is Kind.DICT:
        pages = pages_of(root)
        fill_all(pages)
        return {
            unpack(key): _Packed(entry)
            for page in pages
            for key, entry in zip(page.keys or (), page.entries, strict=True)
        }
    if type(root) is bytes:
        value = unpack(root, live=False)
        if type(value) is dict and all(type(key) is str for key in value):
            return value
        return {"": value}
    return {"": _Packed(root)}


def _has_context(event: Event, given: dict[str, Any]) -> bool:
    return event.kind == "model_call" and given.get(CONTEXT) is not None


def _is_text(event: Event) -> bool:
    """Tell whether the name only repeats the first words of the body, made-up names included."""
    return event.kind in ("note", "error")


@dataclass(frozen=True, slots=True)
class _Packed:
    """An entry of a tree that was not thawed yet."""

    entry: Entry


class _Essence:
    """Digests of values without what makes no difference."""

    def __init__(self, drop: frozenset[str], reader: _Reader, *, everywhere: bool = True) -> None:
        self.drop = drop
        self.reader = reader
        self.everywhere = everywhere
        """Whether fields are dropped inside of values, too, not only from the body itself."""
        self.ids: list[str] = []

    def of_fields(self, fields: dict[str, Any], only: Collection[str] | None = None) -> bytes:
        """Digest some fields of a body; those that lie in packed form are read one by one."""
        parts: list[bytes | str] = []
        for name in sorted(fields):
            if name in self.drop or (only is not None and name not in only):
                continue
            free = name in GIVEN or not (self.everywhere or name == "error")
            digest = self.of(fields[name], free=free)
            parts += [name, digest] if digest else []
        return _digest(*parts)

    def of(self, value: Any, *, free: bool = False) -> bytes:
        """Digest a value, packed or not; empty for None, which is as good as nothing."""
        if type(value) is _Packed:
            if type(value.entry) is Branch:
                return self.reader.branch(value.entry, self._below(free=free))
            value = unpack(value.entry, live=False)  # type: ignore[arg-type] # bytes
        if value is None:
            return b""
        try:
            return _digest_of(pack(self._plain(value, free=free)))
        except RecursionError:  # too deep to look for names inside
            return _digest_of(pack(value))

    def _below(self, *, free: bool) -> frozenset[str]:
        return self.reader.ignore if free else self.drop

    def _plain(self, value: Any, *, free: bool) -> Any:
        kind = type(value)
        if kind is str:
            return IDS.sub(self._id, value) if _may_hold_ids(value) else value
        if kind is dict:
            return self._dict(value, free=free)
        if kind is list:
            return [self._plain(item, free=free) for item in value]
        if kind is float:
            return math.nan if math.isnan(value) else value + 0.0
        if kind is tuple or kind is deque:
            return kind.__name__, [self._plain(item, free=free) for item in value]
        if kind is Record:
            return "record", value.type_name, self._dict(value.fields, free=free)
        if kind is UUID:
            self.ids.append(str(value))
            return _PLACE
        return value

    def _dict(self, value: dict[Any, Any], *, free: bool) -> Any:
        drop = self._below(free=free)
        if all(type(key) is str for key in value):
            return {
                key: self._plain(value[key], free=free or key in GIVEN)
                for key in sorted(value)
                if key not in drop
            }
        pairs = sorted(((pack(key), key) for key in value), key=itemgetter(0))
        return "pairs", [(packed, self._plain(value[key], free=free)) for packed, key in pairs]

    def _id(self, found: re.Match[str]) -> str:
        self.ids.append(found[0])
        return _PLACE


def _may_hold_ids(text: str) -> bool:
    """Tell quickly, for most texts, that no made-up name is inside."""
    return len(text) >= _SHORTEST_ID and ("-" in text or "_" in text or "0x" in text)


def essence_of(value: object) -> bytes:
    """Give bytes that are equal for values that differ at most in made-up names."""
    return _Essence(frozenset(), _Reader(frozenset())).of(value)
