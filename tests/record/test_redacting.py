"""What is kept in a file has no secrets; what the program holds in memory stays as it is."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import argentum
from argentum import LimitError, Run, SecuritySettings, create_agent_session
from argentum.ingest.interchange import Reader, exported
from argentum.record import redacting
from argentum.record.redacting import key_beside
from argentum.state import diff
from argentum.store import Store, open_store

PASSWORD = "correct-horse-77-battery"
STATE = {"user": "Ann", "password": PASSWORD, "step": 1}


@pytest.fixture(autouse=True)
def default_settings() -> Iterator[None]:
    """Begin and end with the settings that nobody changed."""
    argentum.configure_security()
    yield
    argentum.configure_security()


def kept(store: Store, run_id: str = "r", kind: str = "snapshot") -> list[Any]:
    """Give the bodies of a run's events as they come back from its file."""
    return [event.body.thaw() for event in store.events(run_id, kinds=(kind,))]


def words(file: Path) -> bytes:
    """Give all bytes that lie in a store's folder."""
    return b"".join(path.read_bytes() for path in sorted(file.parent.iterdir()) if path.is_file())


# ---------------------------------------------------------------- what is kept


def test_secrets_stay_in_memory(file: Path, reader: Store, started: Callable[..., Run]):
    """A state's secret is in the program's history and not in the file."""
    session = started(run_id="r", store=file).session("a")
    session.snapshot("one", STATE)

    (state,) = kept(reader)
    assert STATE == session.restore("one")
    assert STATE | {"password": state["password"]} == state
    assert state["password"].startswith("[redacted:password:")
    assert PASSWORD.encode() not in words(file)


def test_a_changed_secret_shows(reader: Store, file: Path, started: Callable[..., Run]):
    """The same secret has the same token, another one another, in every run of a store."""
    for run_id in ("r", "s"):
        session = started(run_id=run_id, store=file).session("a")
        session.snapshot("one", STATE)
        session.snapshot("two", STATE | {"step": 2})
        session.snapshot("three", STATE | {"password": PASSWORD + "x"})

    one, two, three = kept(reader)
    assert [one, two, three] == kept(reader, "s")
    assert ["step"] == [str(change.path) for change in diff(one, two)]
    assert {"password", "step"} == {str(change.path) for change in diff(two, three)}


def test_large_states(reader: Store, file: Path, started: Callable[..., Run]):
    """In a large state secrets are found wherever they are new, also by their names."""
    session = started(run_id="r", store=file).session("a")
    state: dict[str, Any] = {"messages": [{"text": "hello " * 100} for _ in range(500)]}
    session.snapshot("one", state)
    state["messages"].append({"text": "x" * 5000, "login": {"password": PASSWORD}})
    state["credentials"] = {"password": PASSWORD + "2", "more": ["y" * 5000]}
    session.snapshot("two", state)
    state["step"] = 3
    session.snapshot("three", state)

    _, two, three = kept(reader)
    assert PASSWORD not in json.dumps([two, three])
    assert two | {"step": 3} == three
    assert state["messages"][:500] == three["messages"][:500]


def test_every_kind_of_event(reader: Store, file: Path, started: Callable[..., Run]):
    """Calls, notes, handoffs, errors, names and labels are protected alike."""
    run = started(f"job password={PASSWORD}", run_id="r", store=file)
    session = run.session("a")
    said = {"text": f"password: {PASSWORD}"}
    with session.model_call("gpt", [said]) as call:
        call.output(said)
    with session.tool_call("search", said) as call:
        call.output(said)
    session.note(f"try password={PASSWORD}")
    session.handoff("b", said)
    session.error(ValueError(f"password={PASSWORD} was refused"))
    session.snapshot(f"password={PASSWORD}", said)
    run.finish()
    run.store.close()

    assert 11 == len(list(reader.events("r")))
    assert b"correct-horse" not in words(file)
    assert "correct-horse" not in repr(reader.run("r"))


def test_command_line(reader: Store, file: Path, started: Callable[..., Run], monkeypatch: Any):
    """What follows `--password` on the command line is one."""
    monkeypatch.setattr(sys, "argv", ["job.py", "--password", PASSWORD, "--name", "Ann"])
    started(run_id="r", store=file)

    arguments = kept(reader, kind="run")[0]["arguments"]
    assert ["job.py", "--password", "--name", "Ann"] == [*arguments[:2], *arguments[3:]]
    assert arguments[2].startswith("[redacted:")


def test_switched_off(reader: Store, file: Path, started: Callable[..., Run]):
    """A process may keep everything as it is."""
    argentum.configure_security(redact_secrets=False)
    started(run_id="r", store=file).session("a").snapshot("one", STATE)

    assert [STATE] == kept(reader)


def test_settings_that_come_later(reader: Store, file: Path, started: Callable[..., Run]):
    """A run that is open already heeds what the process says later: the starter comes first."""
    session = started(run_id="r", store=file).session("a")
    argentum.configure_security(redact_paths=["user"])
    session.snapshot("one", STATE)

    assert kept(reader)[0]["user"].startswith("[redacted:path:")


def test_paths_patterns_and_allowed_texts(reader: Store, file: Path, started: Callable[..., Run]):
    """A process names what else goes, and what stays."""
    argentum.configure_security(
        redact_paths=["messages[*].headers"],
        redact_patterns=[("employee", "EMP-[0-9]{6}")],
        allow=[PASSWORD],
    )
    state = {
        "messages": [{"headers": {"x": "y" * 90_000}, "text": "of EMP-123456"}],
        "password": PASSWORD,
    }
    started(run_id="r", store=file).session("a").snapshot("one", state)

    (found,) = kept(reader)
    assert found["messages"][0]["headers"]["x"].startswith("[redacted:path:")
    assert found["messages"][0]["text"].startswith("of [redacted:employee:")
    assert PASSWORD == found["password"]


def test_personal_data_of_one_session(reader: Store, file: Path, started: Callable[..., Run]):
    """A secure session's own settings count for its agent alone."""
    run = started(run_id="r", store=file)
    run.session("plain").snapshot("one", {"mail": "ann@example.org"})
    run.session("safe", secure=True).snapshot("one", {"mail": "ann@example.org"})

    plain, safe = kept(reader)
    assert {"mail": "ann@example.org"} == plain
    assert safe["mail"].startswith("[redacted:email-address:")


def test_restore_of_a_forgotten_label(file: Path, started: Callable[..., Run], monkeypatch: Any):
    """A snapshot that is no longer in memory is found in the file, by a label with a secret too."""
    monkeypatch.setattr("argentum.record.session.KEPT_IN_MEMORY", 1)
    session = started(run_id="r", store=file).session("a")
    session.snapshot(f"password={PASSWORD}", STATE)
    session.snapshot("two", STATE)

    assert session.restore(f"password={PASSWORD}")["password"].startswith("[redacted:password:")


def test_a_fault_keeps_the_event_out(
    file: Path, reader: Store, started: Callable[..., Run], lenient: None, monkeypatch: Any
):
    """What could not be searched for secrets is not kept, and that is counted."""
    run = started(run_id="r", store=file)
    session = run.session("a")

    def broken(*arguments: object, **options: object) -> None:
        raise RecursionError

    monkeypatch.setattr("argentum.security.redacting.Redactor.redact_entry", broken)
    session.snapshot("one", STATE)

    assert 1 == run.dropped
    assert [] == kept(reader)


# ---------------------------------------------------------------- limits in runs


def test_a_limit_reaches_the_program(file: Path, reader: Store, lenient: None):
    """Who asked for a limit hears of it, though the recorder's faults do not reach a program."""
    session = create_agent_session("a", secure=True, store=file)
    session.snapshot("one", {"step": 1})
    with pytest.raises(LimitError, match="10,000,000 are allowed"):
        session.snapshot("two", {"log": ["x" * 1000] * 11_000})
    session.run.finish()

    assert ["one"] == session.state_diff.labels
    assert [{"step": 1}] == kept(reader, session.run.run_id)
    assert 0 == session.run.dropped


def test_other_events_over_a_limit_are_dropped(started: Callable[..., Run], lenient: None):
    """A tool's result over a limit does not disturb the tool; it is dropped and counted."""
    run = started()
    session = run.session("a", secure=SecuritySettings(max_string_chars=1000))

    @session.tool
    def read() -> str:
        return "x" * 1001

    assert "x" * 1001 == read()
    assert 1 == run.dropped
    assert "body of a tool_call event has 1,001 characters" in run.first_dropped


def test_other_events_are_cut(started: Callable[..., Run]):
    """With `at_limit="truncate"` they are kept in a cut and marked form."""
    run = started()
    settings = SecuritySettings(max_string_chars=100, at_limit="truncate")
    run.session("a", secure=settings).note("see", log="x" * 101)

    (body,) = [event.body.thaw() for event in run.events() if event.kind == "note"]
    assert body["log"].endswith("… [truncated: 101 characters]")


# ---------------------------------------------------------------- what leaves otherwise


def test_export_from_memory(started: Callable[..., Run]):
    """A run that is only in memory has no secrets when it leaves, by its session's settings."""
    run = started(f"password={PASSWORD}")
    session = run.session("a", secure=True)
    session.snapshot("one", STATE | {"mail": "ann@example.org"})
    session.snapshot("two", STATE | {"mail": "bob@example.org"})
    session.note(f"password={PASSWORD}")

    text = "\n".join(exported(run.store, run.run_id))
    assert "correct-horse" not in text
    assert "example.org" not in text
    assert STATE | {"mail": "ann@example.org"} == session.restore("one")


def test_export_of_an_unprotected_file(file: Path, store: Store, started: Callable[..., Run]):
    """A file that was kept as it is does not leave so, and leaving makes no file."""
    argentum.configure_security(redact_secrets=False)
    started(run_id="r", store=file).session("a").snapshot("one", STATE)
    argentum.configure_security()

    assert "correct-horse" not in "\n".join(exported(store, "r"))
    assert not Path(f"{file}-key").exists()


def test_import_into_a_file(file: Path, store: Store):
    """What is imported into a file has no secrets either."""
    lines = (
        {"format": "argentum.run/1", "type": "run", "run_id": "r", "name": f"password={PASSWORD}"},
        {"type": "event", "kind": "snapshot", "name": "one", "agent": "a", "state": STATE},
        {"type": "event", "kind": "note", "name": f"password={PASSWORD}", "body": STATE},
        {"type": "end"},
    )
    importer = Reader(store)
    for line in lines:
        importer.add(line)
    store.close()

    assert 2 == importer.events
    assert b"correct-horse" not in words(file)


def test_reprs(started: Callable[..., Run]):
    """No repr of what a program holds shows a secret."""
    run = started(f"password={PASSWORD}")
    session = run.session(f"password={PASSWORD}")
    session.snapshot(f"password={PASSWORD}", STATE)

    for one in (run, session, session.state_diff, session.state_diff.tree(f"password={PASSWORD}")):
        assert "correct-horse" not in repr(one)


# ---------------------------------------------------------------- the key


def test_key_lies_beside_the_store(file: Path, started: Callable[..., Run]):
    """The key is its owner's alone, and is not in the store."""
    started(run_id="r", store=file)
    key = Path(f"{file}-key")

    assert 0o600 == stat.S_IMODE(key.stat().st_mode)
    assert 32 == key.stat().st_size
    assert key.read_bytes() not in file.read_bytes()


def test_one_key_for_all_that_start_at_once(tmp_path: Path):
    """Threads that make the key at the same time all get the first one."""
    file = tmp_path / "runs.db"
    file.touch()
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: key_beside(str(file)), range(64)))

    assert 1 == len(keys)
    assert ["runs.db", "runs.db-key"] == sorted(path.name for path in tmp_path.iterdir())


def test_other_processes_have_the_same_tokens(file: Path, started: Callable[..., Run]):
    """A second process that records in the store gives a secret the same token."""
    started(run_id="r", store=file).session("a").snapshot("one", STATE)
    script = (
        f"import argentum; run = argentum.Run(run_id='s', store={str(file)!r});"
        f"run.session('a').snapshot('one', {STATE!r})"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

    with_store = open_store(file)
    assert kept(with_store) == kept(with_store, "s")
    with_store.close()


def test_without_the_key_all_can_be_read(file: Path, reader: Store, started: Callable[..., Run]):
    """Who removes the key, or gets a copy without it, reads as before; new tokens differ."""
    started(run_id="r", store=file).session("a").snapshot("one", STATE)
    Path(f"{file}-key").unlink()
    started(run_id="s", store=file).session("a").snapshot("one", STATE)

    (before,), (after,) = kept(reader), kept(reader, "s")
    assert ["password"] == [str(change.path) for change in diff(before, after)]


def test_a_damaged_key_is_left_alone(tmp_path: Path):
    """A key that is none is not overwritten; the process uses one of its own."""
    file = tmp_path / "runs.db"
    file.touch()
    Path(f"{file}-key").write_bytes(b"short")

    assert redacting.process_key() == key_beside(str(file))
    assert b"short" == Path(f"{file}-key").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="no such links on Windows")
def test_where_no_links_can_be_made(tmp_path: Path, monkeypatch: Any):
    """On a file system without links the key is put in place by a rename."""
    file = tmp_path / "runs.db"
    file.touch()

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)

    assert key_beside(str(file)) == key_beside(str(file))
    assert 2 == len(list(tmp_path.iterdir()))
