"""What can be wrong with a store: rows, their order, and chunks that are damaged or missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argentum.errors import FormatError, NotFoundError, StoreError
from argentum.store import schema
from argentum.store.handle import Handle
from argentum.store.packing import unpacked
from argentum.store.protocol import Store
from argentum.tree import digest_of

PAGE_CHUNKS = 512
WHOLE_BYTES = 16_384
"""Bodies up to this size are decoded by the check, larger ones only walked."""


def problems(store: Store, handle: Handle) -> Iterator[str]:
    """Give what is wrong with a SQLite store, one sentence each."""
    for part in (_in_file(handle), _in_order(handle), _in_chunks(handle), _in_bodies(store)):
        try:
            yield from part
        except StoreError as error:
            yield str(error)


def _in_file(handle: Handle) -> Iterator[str]:
    """Let SQLite read every page of the file and every entry of its indexes."""
    with handle as execute:
        answers = execute("PRAGMA integrity_check").fetchall()
    yield from (f"SQLite finds: {answer}." for (answer,) in answers if answer != "ok")


def _in_order(handle: Handle) -> Iterator[str]:
    with handle as execute:
        gaps = execute(schema.GAPS).fetchall()
        orphans = execute(schema.ORPHANS).get
    for run_id, count, last in gaps:
        yield f"Run {run_id!r} has {count} events, but its last is number {last}."
    if orphans:
        yield f"{orphans} events belong to runs that are not there."


def _in_chunks(handle: Handle) -> Iterator[str]:
    """Compare each chunk with its name, which is its digest."""
    after = b""
    while True:
        with handle as execute:
            rows: list[Any] = execute(schema.CHUNKS_AFTER, (after, PAGE_CHUNKS)).fetchall()
        for digest, column in rows:
            if not _is_sound(digest, column):
                yield f"Chunk {digest.hex()} was altered."
            after = digest
        if len(rows) < PAGE_CHUNKS:
            return


def _is_sound(digest: bytes, column: bytes) -> bool:
    try:
        return digest_of(unpacked(column)) == digest
    except FormatError:
        return False


def _in_bodies(store: Store) -> Iterator[str]:
    """Look in each event for what is damaged or not there; a shared chunk is read once."""
    sound: set[bytes] = set()
    for info in store.runs():
        for seq in range(1, info.events + 1):
            try:
                body = store.event(info.run_id, seq).body
                if body.size_bytes <= WHOLE_BYTES:  # perhaps in the event's row, without a digest
                    body.thaw(live=False)
                sound.update(digest for digest, _ in body.chunks(sound))
            except NotFoundError:  # a gap, which `_in_order` tells
                continue
            except (ValueError, LookupError, TypeError) as error:
                yield f"Event {info.run_id}@{seq} cannot be read whole: {error}"
