"""What only a file can meet: other programs, other versions, damage, locks, full disks."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw
import pytest

from argentum.errors import InputError, StoreError
from argentum.events import RunInfo
from argentum.store import files, handle
from argentum.store.schema import APPLICATION_ID, FORMAT
from argentum.store.sqlite import SqliteStore
from argentum.tree import freeze

LARGE = {"messages": [{"role": "user", "content": f"Message {at}. " * 20} for at in range(300)]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / "runs.db"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make writers give up after 50 ms."""
    monkeypatch.setattr(handle, "PATIENCE_NS", 50_000_000)
    monkeypatch.setattr(files, "PATIENCE_NS", 50_000_000)


def recorded(path: Path, body: object = None, events: int = 1) -> SqliteStore:
    """Give an open store with one run `r`."""
    store = SqliteStore(path)
    store.start_run(RunInfo(run_id="r", name="A run", started_at_ns=1))
    for _ in range(events):
        note(store, body)
    return store


def note(store: SqliteStore, body: object = None, name: str = "said", at_ns: int = 1) -> int:
    """Record a note in the run `r`."""
    return store.append("r", kind="note", name=name, at_ns=at_ns, body=freeze({"value": body}))


def refused_unaltered(path: Path, reason: str) -> None:
    """Check that a file is refused for a reason and that nothing in its folder changed."""
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    with pytest.raises(StoreError, match=reason):
        SqliteStore(path)
    assert before == {one.name: one.read_bytes() for one in path.parent.iterdir()}


def python_as_nobody(code: str, *arguments: object) -> str:
    """Run Python code as a user who may not write what belongs to root; give what it prints."""
    lead_in = """
import os, sys
from pathlib import Path
from argentum.errors import StoreError
from argentum.events import RunInfo
from argentum.store.sqlite import SqliteStore
if os.getuid() == 0:
    os.setuid(65534)
"""
    command = [sys.executable, "-c", lead_in + code, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---------------------------------------------------------------- other files


def test_recorded_run_is_there_when_the_file_is_opened_again(path: Path) -> None:
    """Closing and opening keeps everything and leaves one file and no log behind."""
    recorded(path, LARGE).close()
    assert ["runs.db"] == [one.name for one in path.parent.iterdir()]
    store = SqliteStore(path)
    assert LARGE == store.event("r", 1).body.get("value")
    store.close()


def test_file_of_a_newer_format_is_refused(path: Path) -> None:
    """The message tells both formats and to upgrade, and the file stays as it is."""
    recorded(path).close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 7)
    connection.close()
    refused_unaltered(path, f"Database is format 7; this argentum reads up to {FORMAT}. Upgrade")


def test_file_of_an_older_format_is_brought_up_to_date(path: Path) -> None:
    """A marked file without tables, as if from before the first format, gets them."""
    connection = apsw.Connection(str(path))
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()
    recorded(path).close()
    assert (APPLICATION_ID, FORMAT) == files._marks(apsw.Connection(str(path)))


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_database_of_another_program_is_refused(path: Path, mode: str) -> None:
    """A SQLite file without our mark is left as it is, with or without a log."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    refused_unaltered(path, "another program")


@pytest.mark.parametrize("content", [b"Not a database.\n" * 500, b"SQLite format 3\0", b"\0"])
def test_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    """Text, a lone magic word or a byte are no store."""
    path.write_bytes(content)
    refused_unaltered(path, "not a SQLite file")


def test_random_bytes_are_refused(path: Path) -> None:
    """Noise is no store."""
    path.write_bytes(os.urandom(20_000))
    refused_unaltered(path, "not a SQLite file")


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.99])
def test_truncated_file_is_refused(path: Path, kept: float) -> None:
    """A file that lost its end is named as damaged, with how much is left."""
    recorded(path, LARGE).close()
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    refused_unaltered(path, f"damaged: of {len(content)} bytes")


def test_folder_is_refused(tmp_path: Path) -> None:
    """A folder is answered with the file that it could hold."""
    with pytest.raises(StoreError, match=r"is a folder\. Name a file in it, such as .*runs\.db"):
        SqliteStore(tmp_path)


def test_empty_file_becomes_a_store(path: Path) -> None:
    """A file that `mktemp` made may be used."""
    path.touch()
    store = recorded(path)
    assert [] == store.check()
    store.close()


def test_old_sqlite_is_refused() -> None:
    """A SQLite whose log two writers can corrupt is refused with the cure."""
    with pytest.raises(StoreError, match=r"3\.51\.2.*pip install --upgrade apsw"):
        files.refuse_old_sqlite("3.51.2")
    files.refuse_old_sqlite("3.51.3")


# ---------------------------------------------------------------- damage inside


def damaged(path: Path, statement: str) -> list[str]:
    """Alter a store with SQL and give what a check finds."""
    recorded(path, LARGE, events=3).close()
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
    store = SqliteStore(path)
    found = store.check()
    store.close()
    return found


def test_check_finds_an_altered_chunk(path: Path) -> None:
    """A chunk that is not what its name says is named."""
    first = "(SELECT min(digest) FROM chunk)"
    found = damaged(path, f"UPDATE chunk SET data = x'0001' WHERE digest = {first}")
    assert ["was altered"] == [text[-12:-1] for text in found if text.startswith("Chunk")]


def test_check_finds_a_missing_chunk(path: Path) -> None:
    """An event of which a part is gone is named by run and number."""
    found = damaged(path, "DELETE FROM chunk WHERE digest = (SELECT min(digest) FROM chunk)")
    assert found
    assert all(text.startswith("Event r@") for text in found)


def test_check_finds_a_lost_event(path: Path) -> None:
    """Numbers have no gaps, so a missing event is seen."""
    found = damaged(path, "DELETE FROM event WHERE seq = 2")
    assert ["Run 'r' has 2 events, but its last is number 3."] == found


def test_check_finds_damaged_pages(path: Path) -> None:
    """Noise in the middle of the file is found, as a list and not as an exception."""
    recorded(path, LARGE).close()
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 8))
    store = SqliteStore(path)
    assert store.check()
    store.close()


# ---------------------------------------------------------------- what cannot be written


def test_full_disk_is_told_and_what_was_recorded_is_kept(path: Path) -> None:
    """When the file cannot grow, the event is refused whole and earlier ones stay."""
    store = recorded(path)
    pages = store._handle.connection.execute("PRAGMA page_count").get
    store._handle.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        note(store, LARGE)
    store._handle.connection.execute("PRAGMA max_page_count = 1000000")
    assert 2 == note(store, LARGE)
    assert [] == store.check()
    store.close()


def test_read_only_file_can_be_read_and_not_written() -> None:
    """Another user's file, in a folder that cannot be written, shows its runs all the same."""
    code = """
store = SqliteStore(Path(sys.argv[1]))
print(len(store.event("r", 1).body.get("value.messages")), store.check())
try:
    store.start_run(RunInfo(run_id="s", name="", started_at_ns=1))
except StoreError as error:
    print(error)
"""
    # pytest's own folders are closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        recorded(path, LARGE).close()
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        read, refused = python_as_nobody(code, path).splitlines()
        Path(folder).chmod(0o755)
    assert "300 []" == read
    assert f"The store {str(path)!r} cannot be written: the file, its folder" in refused


def test_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """The message names the folder and what to set instead."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="ARGENTUM_STORE"):
        SqliteStore(tmp_path / "file" / "runs.db")


def test_file_that_stays_locked_is_given_up(path: Path, impatient: None) -> None:
    """A lock that another process keeps is waited for, then told; later events go on."""
    store = recorded(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    for body in (None, LARGE):
        with pytest.raises(StoreError, match="locked by another process"):
            note(store, body)
    other.execute("ROLLBACK")
    assert 2 == note(store, LARGE)
    other.close()
    store.close()


def test_file_that_stays_locked_cannot_be_made_a_store(path: Path, impatient: None) -> None:
    """Opening does not wait for ever either."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another process"):
        SqliteStore(path)
    other.close()


def test_lock_is_waited_for(path: Path) -> None:
    """A writer that lets go after a moment costs a moment and no event."""
    store = recorded(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.05, other.execute, ["COMMIT"])
    timer.start()
    assert 2 == note(store)
    timer.join()
    other.close()
    store.close()


def test_closed_store_says_so(path: Path) -> None:
    """Using a closed store is told as that; closing it twice is fine."""
    store = recorded(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="was closed"):
        note(store)
    assert [] == [one for one in path.parent.iterdir() if one != path]


def test_recording_from_inside_of_recording_is_refused(path: Path) -> None:
    """A signal handler that records while its thread records is told so, and does not hang."""
    store = recorded(path)
    with store._handle, pytest.raises(StoreError, match="signal handler"):
        note(store)
    assert 2 == note(store)
    store.close()


def test_thread_that_never_lets_go_is_not_waited_for_forever(path: Path, impatient: None) -> None:
    """A thread in an endless batch makes the others fail in bounded time."""
    store = recorded(path)
    failures: list[StoreError] = []

    def record() -> None:
        try:
            note(store)
        except StoreError as error:
            failures.append(error)

    with store.batch():
        thread = threading.Thread(target=record)
        thread.start()
        thread.join()
    assert [True] == ["kept busy by another thread" in str(error) for error in failures]
    store.close()


# ---------------------------------------------------------------- values and batches


@pytest.mark.parametrize("at_ns", [2**63, -(2**63) - 1, "noon", None, 1.5])
def test_value_that_no_column_can_hold_is_refused(path: Path, at_ns: object) -> None:
    """A time that is no 64-bit integer is the caller's mistake, and leaves nothing behind."""
    store = recorded(path)
    for body in (None, LARGE):
        with pytest.raises(InputError, match="cannot keep these values"):
            note(store, body, at_ns=at_ns)  # type: ignore[arg-type] # it is wrong
    assert 1 == store.run("r").events
    store.close()


def test_lone_surrogates_are_escaped(path: Path) -> None:
    """A name that UTF-8 cannot hold is recorded with escapes, and found by the same name."""
    store = recorded(path)
    note(store, name="half \ud83d")
    found = store.find("r", kind="note", name="half \ud83d")
    assert found is not None
    assert "half \\ud83d" == found.name
    store.close()


def test_failed_batch_keeps_nothing(path: Path) -> None:
    """An exception inside a batch undoes it whole, and what was shared in it is stored anew."""
    store = recorded(path)

    def add_and_fail() -> None:
        with store.batch():
            store.start_run(RunInfo(run_id="s", name="", started_at_ns=2))
            store.append("s", kind="note", name="x", at_ns=1, body=freeze(LARGE))
            note(store, LARGE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()
    assert ["r"] == [run.run_id for run in store.runs()]
    assert 2 == note(store, LARGE)
    assert [] == store.check()
    store.close()


def test_batch_of_one_thread_does_not_show_in_another(path: Path) -> None:
    """Chunks that a batch may yet undo are not relied on by other threads."""
    store = recorded(path)
    seqs: list[int] = []
    thread = threading.Thread(target=lambda: seqs.append(note(store, LARGE)))

    def add_and_fail() -> None:
        with store.batch():
            note(store, LARGE)
            thread.start()
            time.sleep(0.05)  # the thread has looked for chunks and waits
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add_and_fail()
    thread.join()
    assert [2] == seqs
    assert [] == store.check()
    store.close()


def test_chunks_are_kept_once_for_all_stores(path: Path) -> None:
    """A second process, here a second store, adds no chunk that is in the file."""
    first = recorded(path, LARGE)
    second = SqliteStore(path)
    note(second, LARGE)
    chunks = apsw.Connection(str(path)).execute(
        "SELECT count(*), count(DISTINCT digest) FROM chunk"
    )
    count, distinct = chunks.fetchall()[0]
    assert len(list(freeze({"value": LARGE}).chunks(()))) == count == distinct
    second.close()
    first.close()


def test_known_digests_are_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a store remembers of the file is forgotten in time and then read again."""
    monkeypatch.setattr("argentum.store.sqlite.KNOWN_DIGESTS", 10)
    store = recorded(path, LARGE, events=3)
    assert [] == store.check()
    note(store, [LARGE, "more"])
    assert len(store._known) <= 10 + len(list(freeze({"value": [LARGE, "more"]}).chunks(())))
    store.close()


def test_durable_store_waits_for_the_disk(path: Path) -> None:
    """`durable` is SQLite's synchronous FULL (2) in place of NORMAL (1)."""
    levels = []
    for durable in (False, True):
        store = SqliteStore(path, durable=durable)
        levels.append(store._handle.connection.execute("PRAGMA synchronous").get)
        store.close()
    assert [1, 2] == levels


def test_folder_of_the_store_is_private_and_not_for_git(tmp_path: Path) -> None:
    """A new `.argentum` is for its owner only and ignores itself."""
    SqliteStore(tmp_path / ".argentum" / "runs.db").close()
    folder = tmp_path / ".argentum"
    assert "*\n" == (folder / ".gitignore").read_text()
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)


def test_reader_does_not_hold_up_the_log(path: Path) -> None:
    """While a reader stands in the middle of a run, the log can still be emptied."""
    store = recorded(path, events=600)
    reader = SqliteStore(path)
    reading = reader.events("r")
    next(reading)
    note(store, LARGE)
    busy = apsw.Connection(str(path)).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
    assert 0 == busy
    assert 0 == Path(f"{path}-wal").stat().st_size
    reader.close()
    store.close()


def test_statements_are_compiled_once(tmp_path: Path) -> None:
    """Whatever is bound to them; SQLite asks the authorizer while it compiles, and only then."""
    store = recorded(tmp_path / "runs.db", events=2)
    asked: list[int] = []

    def allow(*about: object) -> int:
        asked.append(len(about))
        return apsw.SQLITE_OK

    with store._handle:
        store._handle.connection.authorizer = allow
    note(store, "first", at_ns=2)
    store.event("r", 1)
    assert asked  # a new authorizer makes it compile once more
    asked.clear()

    note(store, "second", name="heard", at_ns=3)
    assert store.event("r", 3).name == "said"
    assert asked == []
