"""
The tables, as a list of steps from one format to the next, and the statements that use them.

Statements and types keep to what SQLite and PostgreSQL share, but for the words in `SQLITE`, which
another engine replaces. The number of steps done is the format's number; a step that was ever
released is never edited. A file of a lower format is brought up to date when it is opened.

Events are clustered by their key, so that appending one touches one page. Chunks are not: a row of
a clustered SQLite table that passes a quarter of a page takes pages of its own, which made 11.8 KB
a step where this layout takes 6.7 (a large state, one message and three leaves changed).
"""

# ruff: noqa: S608 - what is put into the statements are constants
from __future__ import annotations

APPLICATION_ID = 0x41726775
"""`Argu`: marks a SQLite file as ours (PRAGMA application_id)."""

SQLITE = {
    "serial": "INTEGER", "integer": "INTEGER", "bytes": "BLOB",
    "table": "STRICT", "clustered": "STRICT, WITHOUT ROWID",
}  # fmt: skip

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE run (
            number {serial} PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            started_at_ns {integer} NOT NULL,
            ended_at_ns {integer},
            status TEXT NOT NULL,
            process TEXT NOT NULL,
            dropped {integer} NOT NULL,
            first_dropped TEXT NOT NULL
        ) {table}
        """,
        """
        CREATE TABLE event (
            run {integer} NOT NULL,
            seq {integer} NOT NULL,
            kind TEXT NOT NULL,
            phase TEXT NOT NULL,
            agent TEXT,
            name TEXT NOT NULL,
            at_ns {integer} NOT NULL,
            span {integer},
            parent {integer},
            body {bytes} NOT NULL,
            PRIMARY KEY (run, seq)
        ) {clustered}
        """,
        "CREATE INDEX snapshot ON event (run, name, seq) WHERE kind = 'snapshot'",
        """
        CREATE TABLE chunk (
            digest {bytes} NOT NULL PRIMARY KEY,
            data {bytes} NOT NULL
        ) {table}
        """,
    ),
    (
        """
        CREATE TABLE receipt (
            handoff_id TEXT NOT NULL,
            number {integer} NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (handoff_id, number)
        ) {clustered}
        """,
    ),
)

FORMAT = len(MIGRATIONS)
"""The format that this version writes."""


def statements(step: int, words: dict[str, str]) -> list[str]:
    """Give the statements that lead from format `step` to the next."""
    return [text.format_map(words) for text in MIGRATIONS[step]]


RUN_COLUMNS = "run_id, name, started_at_ns, ended_at_ns, status, process, dropped, first_dropped"
# Numbers have no gaps, so the last one tells how many there are, at the cost of one look.
RUN_AND_EVENTS = f"""
    SELECT {RUN_COLUMNS}, (SELECT coalesce(max(seq), 0) FROM event WHERE event.run = run.number)
    FROM run
"""
START_RUN = f"""
    INSERT INTO run ({RUN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id) DO NOTHING RETURNING number
"""
FINISH_RUN = """
    UPDATE run SET status = ?, ended_at_ns = ?, dropped = ?, first_dropped = ? WHERE number = ?
"""
RUN = f"{RUN_AND_EVENTS} WHERE number = ?"
RUNS = f"{RUN_AND_EVENTS} ORDER BY started_at_ns DESC, number DESC LIMIT ?"
RUN_NUMBER = "SELECT number FROM run WHERE run_id = ?"
RUN_IDS = "SELECT run_id FROM run ORDER BY number DESC LIMIT 1000"

EVENT_COLUMNS = "seq, kind, phase, agent, name, at_ns, span, parent, body"
APPEND = f"""
    INSERT INTO event (run, {EVENT_COLUMNS})
    VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM event WHERE run = ?), ?, ?, ?, ?, ?, ?, ?, ?)
    RETURNING seq
"""
EVENT = f"SELECT {EVENT_COLUMNS} FROM event WHERE run = ? AND seq = ?"
FIND_SNAPSHOT = f"""
    SELECT {EVENT_COLUMNS} FROM event WHERE run = ? AND name = ? AND kind = 'snapshot'
    ORDER BY seq DESC LIMIT 1
"""
FIND = f"""
    SELECT {EVENT_COLUMNS} FROM event WHERE run = ? AND name = ? AND kind = ?
    ORDER BY seq DESC LIMIT 1
"""

ADD_CHUNK = "INSERT INTO chunk (digest, data) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
CHUNK = "SELECT digest, data FROM chunk WHERE digest IN"
HAS_CHUNK = "SELECT digest, digest FROM chunk WHERE digest IN"
CHUNKS_AFTER = "SELECT digest, data FROM chunk WHERE digest > ? ORDER BY digest LIMIT ?"

GAPS = """
    SELECT run_id, count(*), max(seq) FROM event JOIN run ON run.number = event.run
    GROUP BY run_id HAVING count(*) <> max(seq) OR min(seq) <> 1
"""
ORPHANS = "SELECT count(*) FROM event WHERE run NOT IN (SELECT number FROM run)"


def events_page(kinds: int, *, agent: bool) -> str:
    """Give the statement for a page of events; it takes run, after, each kind, agent, limit."""
    where = "run = ? AND seq > ?"
    if kinds:
        where += f" AND kind IN ({', '.join('?' * kinds)})"
    if agent:
        where += " AND agent = ?"
    return f"SELECT {EVENT_COLUMNS} FROM event WHERE {where} ORDER BY seq LIMIT ?"


RECEIPTS = "SELECT body FROM receipt WHERE handoff_id = ? ORDER BY number"
ADD_RECEIPT = "INSERT INTO receipt (handoff_id, number, body) VALUES (?, ?, ?)"
