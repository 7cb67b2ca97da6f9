"""
The interchange format of runs: JSON Lines, versioned, without loss (see `docs/interchange.md`).

Each line is one record: `run` opens a run, `event` adds to it, `end` closes it. States are written
whole (`state`) or as JSON Patch against the agent's state before (`state_patch`); values that JSON
lacks are written as `argentum.state.jsonable` does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from argentum.clock import as_datetime, now_ns
from argentum.errors import FormatError, shown
from argentum.events import KINDS, PHASES, POINT, Event, RunInfo
from argentum.record.redacting import Protection
from argentum.state import apply_json_patch, from_jsonable, json_patch, to_jsonable
from argentum.state.jsonable import has_types
from argentum.store import Store
from argentum.tree import Tree, freeze

FORMAT = "argentum.run"
VERSION = 1
MAX_NS = 2**63 - 1
"""The year 2262: times are kept in 64 bits."""

Record = dict[str, Any]


def recognises(first: Any) -> bool:
    """Tell whether a file that starts with this value is in the format."""
    return isinstance(first, dict) and str(first.get("format", "")).partition("/")[0] == FORMAT


def check_version(record: Record) -> None:
    """
    Refuse a record of a version that is not known.

    Raises:
        FormatError: it has one.
    """
    version = str(record.get("format", f"{FORMAT}/{VERSION}")).partition("/")[2]
    if version != str(VERSION):
        message = (
            f"The file has version {shown(version)} of {FORMAT}; this version reads {VERSION}. "
            "Run: pip install --upgrade argentum-agent"
        )
        raise FormatError(message)


# ---------------------------------------------------------------- out


def exported(store: Store, run_id: str) -> Iterator[str]:
    """Give the lines of a run's file, without secrets even where the run is still in memory."""
    info = store.run(run_id)
    leaving = Protection(store, leaving=True)
    text = leaving.way(None).text
    yield _line({
        "format": f"{FORMAT}/{VERSION}",
        "type": "run",
        "run_id": info.run_id,
        "name": text(info.name),
        "started_at_ns": info.started_at_ns,
        "process": info.process,
    })  # fmt: skip
    states: dict[str | None, Tree] = {}
    for event in store.events(run_id):
        yield _line(_event_record(leaving.event(event), states))
    yield _line({
        "type": "end",
        "status": info.status,
        "ended_at_ns": info.ended_at_ns,
        "dropped": info.dropped,
        "first_dropped": text(info.first_dropped),
    })  # fmt: skip


def _line(record: Record) -> str:
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates have a form in JSON, but none in UTF-8
        text = json.dumps(record, separators=(",", ":"), allow_nan=False)
    return text


def _event_record(event: Event, states: dict[str | None, Tree]) -> Record:
    record: Record = {"type": "event", "kind": event.kind, "name": event.name, "at_ns": event.at_ns}
    if event.phase != POINT:
        record["phase"] = event.phase
    for field in ("agent", "span", "parent"):
        if getattr(event, field) is not None:
            record[field] = getattr(event, field)
    if event.kind != "snapshot":
        record["body"] = to_jsonable(event.body.thaw(live=False))
        return record
    before = states.get(event.agent)
    if before == event.body:
        record["state_patch"] = []
    elif before is not None and (patch := _exact_patch(before, event.body)) is not None:
        record["state_patch"] = patch
    else:
        record["state"] = to_jsonable(event.body.thaw(live=False))
    states[event.agent] = event.body
    return record


def _exact_patch(before: Tree, after: Tree) -> list[dict[str, Any]] | None:
    """Give the patch between two states, or None if it would lose the order of keys."""
    patch = json_patch(before, after)
    old, new = (to_jsonable(tree.thaw(live=False)) for tree in (before, after))
    return patch if _line(apply_json_patch(old, patch)) == _line(new) else None


# ---------------------------------------------------------------- in


class Reader:
    """Puts records into a store, one after the other; each agent's state is carried along."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._protection = Protection(store)
        self.run_ids: list[str] = []
        self.events = 0
        self._taken = {info.run_id for info in store.runs()}
        self._run: RunInfo | None = None
        self._states: dict[str | None, tuple[Any, Tree]] = {}
        self._whole: tuple[Any, Tree | None, bool] = (None, None, False)
        """The last state given whole: a format may give one object as the start of all runs."""
        self._typed: set[str | None] = set()
        """Agents whose state has a `$type` somewhere."""
        self._seqs: dict[int, int] = {}
        """Where a span's number in the file ended up, if a line before it was lost."""
        self._in_file = 0
        self._last_at_ns = 0

    def add(self, record: Any) -> None:
        """
        Add one record.

        Raises:
            FormatError: it is no record, or does not fit what came before.
        """
        kind = record.get("type") if isinstance(record, dict) else None
        if kind == "run":
            self._start(record)
        elif kind == "event":
            self._in_file += 1
            self._event(record)
        elif kind == "end":
            self._end(record)
        else:
            message = f"{shown(record)} is no record; its `type` should be run, event or end."
            raise FormatError(message)

    def lost(self) -> None:
        """Count a line that could not be read as an event, so that numbers of spans still fit."""
        self._in_file += 1

    def _start(self, record: Record) -> None:
        check_version(record)
        started = _nanoseconds(record, "started_at", now_ns())
        run_id = _text(record, "run_id").replace("@", "_")
        self.close()
        unique, number = run_id, 2
        while unique in self._taken:
            unique, number = f"{run_id}.{number}", number + 1
        self._taken.add(unique)
        self._run = RunInfo(
            run_id=unique,
            name=str(record.get("name") or run_id),
            started_at_ns=started,
            process=str(record.get("process", "")),
        )
        kept_name = self._protection.way(None).text(self._run.name)
        self.store.start_run(replace(self._run, name=kept_name))
        self.run_ids.append(unique)
        self._states, self._seqs, self._in_file, self._last_at_ns = {}, {}, 0, started

    def _event(self, record: Record) -> None:
        run = self._opened()
        kind, phase = _text(record, "kind"), str(record.get("phase", POINT))
        for value, known, what in ((kind, KINDS, "kind"), (phase, PHASES, "phase")):
            if value not in known:
                message = f"An event has the {what} {shown(value)}; known: {', '.join(known)}."
                raise FormatError(message)
        agent = record.get("agent")
        body = self._state(agent, record) if kind == "snapshot" else _body(record)
        way = self._protection.way(None if agent is None else str(agent))
        self._last_at_ns = _nanoseconds(record, "at", self._last_at_ns)
        seq = self.store.append(
            run.run_id, kind=kind, phase=phase, name=way.text(str(record.get("name", kind))),
            agent=None if agent is None else way.text(str(agent)), at_ns=self._last_at_ns,
            body=way.tree(body, kind),
            span=self._span(record, "span"), parent=self._span(record, "parent"),
        )  # fmt: skip
        self._seqs[self._in_file] = seq
        self.events += 1

    def _span(self, record: Record, field: str) -> int | None:
        number = record.get(field)
        if number is None:
            return None
        if not isinstance(number, int):
            message = (
                f"The {field} of an event is {shown(number)}; it should be the number of an event."
            )
            raise FormatError(message)
        return self._seqs.get(number)

    def _state(self, agent: Any, record: Record) -> Tree:
        document, before = self._states.get(agent, (None, None))
        if "state" in record:
            document = record["state"]
        elif "state_patch" in record:
            if before is None:
                message = f"A `state_patch` of agent {shown(agent)} comes before any `state` of it."
                raise FormatError(message)
            document = apply_json_patch(document, record["state_patch"])
        elif before is None:
            message = "A snapshot has neither `state` nor `state_patch`."
            raise FormatError(message)
        if before is not None and document is self._states[agent][0]:
            return before
        tree, typed = self._frozen(document, agent, before, record)
        if "state" in record:
            self._whole = (document, tree, typed)
        self._states[agent] = (document, tree)
        (self._typed.add if typed else self._typed.discard)(agent)
        return tree

    def _frozen(
        self, document: Any, agent: Any, before: Tree | None, record: Record
    ) -> tuple[Tree, bool]:
        """Make the tree of a document, and tell whether it has a `$type` to decode."""
        whole, tree, typed = self._whole
        if tree is not None and document is whole:
            return tree, typed
        patched = "state" not in record and agent not in self._typed
        if not has_types(record.get("state_patch") if patched else document):
            return freeze(document, before), False
        return _typed_tree(document, before), True

    def _end(self, record: Record) -> None:
        run = self._opened()
        self.store.finish_run(
            run.run_id,
            status=str(record.get("status", "done")),
            ended_at_ns=_nanoseconds(record, "ended_at", None),
            dropped=int(record.get("dropped", 0)),
            first_dropped=self._protection.way(None).text(str(record.get("first_dropped", ""))),
        )
        self._run = None

    def close(self) -> None:
        """End a run whose file ended before its `end`."""
        if self._run is not None:
            self._end({"status": "incomplete", "ended_at_ns": self._last_at_ns})

    def _opened(self) -> RunInfo:
        if self._run is None:
            message = "An event comes before its run; a file starts with a record of type run."
            raise FormatError(message)
        return self._run


def _body(record: Record) -> Tree:
    document = record.get("body", {})
    return _typed_tree(document) if has_types(document) else freeze(from_jsonable(document))


def _typed_tree(document: Any, before: Tree | None = None) -> Tree:
    """Freeze what was written with its types, and look whether it can be read again."""
    tree = freeze(from_jsonable(document), before)
    tree.thaw()  # raises if it cannot
    if freeze(tree.thaw(live=False)) != tree:
        message = f"{shown(document)} has a `$type` with a value that does not fit it."
        raise FormatError(message)
    return tree


def _text(record: Record, field: str) -> str:
    value = record.get(field)
    if not isinstance(value, str) or not value:
        message = (
            f"A record of type {record.get('type')} has the {field} {shown(value)}; give a text."
        )
        raise FormatError(message)
    return value


def _nanoseconds(record: Record, field: str, default: Any) -> Any:
    """Read a time: `<field>_ns` since 1970, or `<field>` as ISO 8601 (RFC 3339)."""
    exact = record.get(f"{field}_ns")
    if isinstance(exact, int):
        if abs(exact) > MAX_NS:
            message = f"{field}_ns is {shown(exact)}; it counts nanoseconds since 1970."
            raise FormatError(message)
        return exact
    text = record.get(field)
    if text is None:
        return default
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        message = f"{field} is {shown(text)}; write times like {as_datetime(0).isoformat()}."
        raise FormatError(message) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - as_datetime(0)) // timedelta(microseconds=1) * 1000
