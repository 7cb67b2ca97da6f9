"""
The tables, as a list of steps from one format to the next.

Statements and types keep to what SQLite and PostgreSQL share, but for the two type names that
differ (`{serial}`, `{bytes}`). The number of steps done is the format's number; a step that was
ever released is never edited. A file of a lower format is brought up to date when it is opened.
"""

APPLICATION_ID = 0x41726775
"""`Argu`: marks a SQLite file as ours (PRAGMA application_id)."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE run (
            number {serial} PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            started_at_ns BIGINT NOT NULL,
            ended_at_ns BIGINT,
            status TEXT NOT NULL,
            process TEXT NOT NULL,
            dropped BIGINT NOT NULL,
            first_dropped TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE event (
            run BIGINT NOT NULL,
            seq BIGINT NOT NULL,
            kind TEXT NOT NULL,
            phase TEXT NOT NULL,
            agent TEXT,
            name TEXT NOT NULL,
            at_ns BIGINT NOT NULL,
            span BIGINT,
            parent BIGINT,
            body {bytes} NOT NULL,
            PRIMARY KEY (run, seq)
        )
        """,
        """
        CREATE TABLE chunk (
            digest {bytes} NOT NULL PRIMARY KEY,
            data {bytes} NOT NULL
        )
        """,
    ),
)

FORMAT = len(MIGRATIONS)


def statements(step: int, *, serial: str, bytes_type: str) -> list[str]:
    """Give the statements that lead from format `step` to the next."""
    return [text.format(serial=serial, bytes=bytes_type) for text in MIGRATIONS[step]]
