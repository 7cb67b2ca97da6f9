"""
No secret leaves memory by any way there is: the leak test.

States with planted secrets are recorded, logged, shown, printed and exported; then every place
where something of them came out is searched for any piece of 8 characters of any of the secrets:
plain, as JSON or a URL escapes it, and in base64. A part that opens a new way out adds it to
`Places`. 300 states in `make test`, a million (or `LEAK_STATES`) in `make soak`.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
import pytest
from tests.cli.running import Finished, in_process
from tests.security.corpus import Sample, positives, vendors

import argentum
from argentum import ArgentumError, Run
from argentum.ingest.interchange import exported
from argentum.security.redacting import Redactor
from argentum.security.rules import RULES
from argentum.store import open_store
from argentum.store.packing import unpacked
from argentum.tree import Record

PIECE = 8
PIECE_OF_BASE64 = 10
"""Characters of base64 that hold fewer than 8 of the text."""
STATES_A_RUN = 50
STATES = 300
SOAK_STATES = int(os.environ.get("LEAK_STATES", "1000000"))
LEAST_FOUND = 0.97
PROSE = "The agent looked for flights from Oslo to Lima and compared what they cost. " * 4
Command = Callable[..., Finished]


# ---------------------------------------------------------------- what is planted


@dataclass
class Account:
    """An object of the host's."""

    owner: str
    note: str


class Planter:
    """Makes states with secrets in them, always the same for one seed."""

    def __init__(self, samples: list[Sample], seed: int) -> None:
        self.random = random.Random(seed)
        self.samples = samples
        self.planted: set[str] = set()

    def text(self) -> str:
        """Give a text with a secret."""
        sample = self.random.choice(self.samples)
        self.planted.add(sample.secret)
        return sample.text

    def state(self) -> dict[str, Any]:
        """Give a state with one to three secrets, small or large, in any kind of place."""
        state: dict[str, Any] = {
            "step": self.random.randrange(1000),
            "goal": "find a flight",
            "facts": [{"key": f"k{n}", "fact": PROSE[n : n + 60]} for n in range(3)],
        }
        if self.random.random() < 0.2:  # large enough to be kept in pages
            state["messages"] = [{"role": "user", "text": PROSE, "n": n} for n in range(40)]
        for _ in range(self.random.randrange(1, 4)):
            self.random.choice(PLACES)(self, state)
        return state


def _value(plant: Planter, state: dict[str, Any]) -> None:
    state[f"result{plant.random.randrange(9)}"] = plant.text()


def _in_prose(plant: Planter, state: dict[str, Any]) -> None:
    state["log"] = f"{PROSE}\n{plant.text()}\n{PROSE * 10}"


def _in_message(plant: Planter, state: dict[str, Any]) -> None:
    messages = state.setdefault("messages", [])
    at = plant.random.randrange(len(messages) + 1)
    messages.insert(at, {"role": "tool", "text": plant.text(), "meta": {"tokens": at}})


def _deep(plant: Planter, state: dict[str, Any]) -> None:
    inner: Any = plant.text()
    for depth in range(plant.random.randrange(2, 12)):
        inner = {"inner": inner} if depth % 2 else [depth, inner]
    state["deep"] = inner


def _key(plant: Planter, state: dict[str, Any]) -> None:
    state.setdefault("seen", {})[plant.text()] = True


def _object(plant: Planter, state: dict[str, Any]) -> None:
    state["account"] = Account("Ann", plant.text())


def _record(plant: Planter, state: dict[str, Any]) -> None:
    state["record"] = Record("app:Gone", {"note": plant.text()})


def _tuple_and_set(plant: Planter, state: dict[str, Any]) -> None:
    state["pair"] = (1, plant.text())
    state["set"] = {plant.text(), "other"}


def _bytes(plant: Planter, state: dict[str, Any]) -> None:
    state["body"] = plant.text().encode()


def _json_text(plant: Planter, state: dict[str, Any]) -> None:
    state["response"] = json.dumps({"status": 200, "body": plant.text()})


PLACES = (
    _value, _in_prose, _in_message, _deep, _key, _object, _record, _tuple_and_set, _bytes,
    _json_text,
)  # fmt: skip


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Give the corpus's texts whose secret the scanner knows; other tests say which it must."""
    redactor = Redactor()
    made = positives(seed=77, per_vendor=24)
    public = public_pieces(made)
    known = [
        one
        for one in made
        if not found_pieces(wanted_pieces([one.secret], public), ways_to_hide(redactor, one.text))
    ]
    assert len(known) >= LEAST_FOUND * len(made)
    return known


def ways_to_hide(redactor: Redactor, text: str) -> list[str]:
    """Redact a text as it is, and as JSON in a text."""
    return [redactor.redact_text(one) for one in (text, json.dumps({"status": 200, "body": text}))]


# ---------------------------------------------------------------- where it may come out


class Places(NamedTuple):
    """All that came out of one run, by the way it took."""

    out: dict[str, list[str | bytes]]

    def add(self, way: str, *texts: str | bytes) -> None:
        self.out.setdefault(way, []).extend(texts)


class Leaks:
    """Records runs of planted states and collects what comes out of each."""

    def __init__(self, samples: list[Sample], folder: Path, command: Command, log: Any) -> None:
        self.samples = samples
        self.public = public_pieces(samples)
        self.folder = folder
        self.command = command
        self.log = log

    def leaked(self, seed: int) -> dict[str, set[str]]:
        """Record one run; give the pieces of secrets that came out, by the way they took."""
        plant = Planter(self.samples, seed)
        places = Places({})
        self.log.clear()
        file = self.folder / ".argentum" / "runs.db"
        run = Run(f"job {plant.text()}", store=file, run_id=f"r{seed}")
        in_memory = Run(f"job {plant.text()}")
        for one in (run, in_memory):
            self._act(one, plant, places)
        run.finish()
        in_memory.finish()
        places.add("log", *(record.getMessage() for record in self.log.records))
        places.add("export from memory", *exported(in_memory.store, in_memory.run_id))
        self._read(run, places)
        for path in file.parent.glob("runs.db*"):  # the log is emptied when the file is closed
            places.add("files", path.read_bytes())
        run.store.close()
        for path in file.parent.glob("runs.db*"):
            places.add("files", path.read_bytes())
            path.unlink()
        wanted = wanted_pieces(plant.planted, self.public)
        found = {way: found_pieces(wanted, texts) for way, texts in places.out.items()}
        return {way: pieces for way, pieces in found.items() if pieces}

    def _act(self, run: Run, plant: Planter, places: Places) -> None:
        session = run.session(f"agent {plant.text()}" if plant.random.random() < 0.1 else "a")
        session.watch(lambda _: False, name=f"w {plant.text()}", on_break="log")
        for number in range(STATES_A_RUN // 2):
            label = f"s{number}" if number % 5 else f"s{number} {plant.text()}"
            session.snapshot(label, plant.state())
            if number % 5 == 0:
                self._speak(run, session, plant)
            if number % 10 == 0:
                self._fail(run, session, plant, places)
        places.add("repr", repr(run), repr(session), repr(session.state_diff))
        places.add("repr", *map(repr, run.events()) if run.is_kept else ())

    def _speak(self, run: Run, session: Any, plant: Planter) -> None:
        """Record events of every other kind."""
        with session.model_call("gpt", [{"role": "user", "content": plant.text()}]) as call:
            call.output({"content": plant.text()})
        with session.tool_call("search", {"q": plant.text()}) as call:
            call.output(plant.text())
        session.note(plant.text(), detail=plant.text())
        session.note(PROSE[: plant.random.randrange(60)] + " " + plant.text())
        session.handoff("b", {"facts": [plant.text()]})
        session.error(ValueError(plant.text()))
        run.drop(ValueError(f"{PROSE[: plant.random.randrange(300)]} {plant.text()}"))

    def _fail(self, run: Run, session: Any, plant: Planter, places: Places) -> None:
        """Make mistakes whose messages show what was given."""
        mistakes = (
            session.restore,
            lambda text: session.state_diff.tree(f"{PROSE[: plant.random.randrange(80)]} {text}"),
            session.state_diff.history,
            lambda text: session.snapshot([text], {}),
            lambda text: argentum.configure_security(at_limit=text),
            lambda text: Run.fork(f"{run.run_id}@{text}", store=run.store),
            lambda text: open_store(f"postgresql:{text}"),
        )
        for mistake in mistakes:
            try:
                mistake(plant.text())
            except ArgentumError as error:
                places.add("exception", str(error), repr(error))

    def _read(self, run: Run, places: Places) -> None:
        """Read the run as people and programs do, and its file as one who looks for secrets."""
        last = [event.seq for event in run.store.events(run.run_id, kinds=("snapshot",))][-2:]
        one, other = (f"{run.run_id}@{seq}" for seq in last)
        for arguments in (
            ("runs",), ("runs", "--json"), ("log", run.run_id), ("log", run.run_id, "--json"),
            ("show", one), ("show", one, "--json"), ("diff", one, other),
            ("diff", one, other, "--json"), ("export", run.run_id), ("history", "step", run.run_id),
        ):  # fmt: skip
            done = self.command(*arguments)
            places.add(f"argentum {' '.join(arguments)}", done.out, done.err)
        places.add("export", *exported(run.store, run.run_id))
        places.add("columns", *columns(Path(run.store.location)))


def columns(file: Path) -> Iterator[str | bytes]:
    """Give all that a file's tables hold, inflated."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    for (data,) in connection.execute("SELECT data FROM chunk UNION ALL SELECT body FROM event"):
        yield unpacked(data)
    for row in connection.execute("SELECT kind, name, agent FROM event"):
        yield json.dumps(row)
    for row in connection.execute("SELECT name, first_dropped, process FROM run"):
        yield json.dumps(row)
    connection.close()


# ---------------------------------------------------------------- what is looked for


def pieces_of(text: str, *, whole: bool = False) -> set[bytes]:
    """
    Give all pieces of a text in every form in which it could be written.

    Args:
        whole: with the characters of base64 that depend on what stands around the text.
    """
    plain = text.encode()
    forms = {plain, json.dumps(text).strip('"').encode(), quote(text, safe="").encode()}
    ends = slice(None) if whole else slice(4, -4)
    encoded = {
        encode(b"\0" * lead + plain)[ends]
        for lead in range(3)
        for encode in (base64.b64encode, base64.urlsafe_b64encode)
    }
    return windows(forms, PIECE) | windows(encoded, PIECE_OF_BASE64)


def windows(texts: Iterable[bytes], size: int) -> set[bytes]:
    """Give all parts of just that many bytes."""
    return {text[at : at + size] for text in texts for at in range(len(text) - size + 1)}


def public_pieces(samples: list[Sample]) -> set[bytes]:
    """Give what is no secret: what vendors put into all tokens, rules' names, what is around."""
    shapes = [one for shapes in vendors(held_out=False).values() for one in shapes]
    literals = {literal for shape in shapes for literal in re.split(r"\{\w+\}", shape)}
    names = {f"[redacted:{rule.name}:" for rule in RULES}
    around = {
        part for one in samples if one.secret in one.text for part in one.text.split(one.secret)
    }
    return set[bytes]().union(*(pieces_of(text, whole=True) for text in literals | names | around))


def wanted_pieces(secrets: Iterable[str], public: AbstractSet[bytes] = frozenset()) -> set[bytes]:
    """Give what is looked for."""
    return set[bytes]().union(*map(pieces_of, secrets)) - public


def found_pieces(wanted: AbstractSet[bytes], texts: Iterable[str | bytes]) -> set[str]:
    """Give the pieces that stand in texts."""
    found = set()
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        found |= wanted & windows([data], PIECE)
        found |= wanted & windows([data], PIECE_OF_BASE64)
    return {piece.decode("latin-1") for piece in found}


# ---------------------------------------------------------------- the tests


@pytest.fixture
def leaks(
    samples: list[Sample],
    own_place: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Leaks:
    """Give what records runs and looks for leaks."""
    argentum.configure_security()
    monkeypatch.setenv("ARGENTUM_STRICT", "0")
    monkeypatch.setenv("COLUMNS", "400")
    caplog.set_level(logging.DEBUG, logger="argentum")
    return Leaks(samples, own_place, in_process(monkeypatch, capsys), caplog)


def test_no_leaks(leaks: Leaks):
    """Nothing of a secret comes out by any way."""
    for seed in range(STATES // STATES_A_RUN):
        assert {} == leaks.leaked(seed)


@pytest.mark.soak
def test_no_leaks_in_long_runs(leaks: Leaks):
    """The same, many times."""
    for seed in range(SOAK_STATES // STATES_A_RUN):
        assert {} == leaks.leaked(1_000_000 + seed)


def test_a_leak_would_be_seen(leaks: Leaks):
    """With redaction switched off, secrets come out by every way."""
    argentum.configure_security(redact_secrets=False)
    try:
        seen = leaks.leaked(1)
    finally:
        argentum.configure_security()

    ways = {"columns", "log", "exception", "repr", "export", "export from memory", "files"}
    assert ways <= set(seen)
    assert {"argentum log r1", "argentum log r1 --json", "argentum export r1"} <= set(seen)


@pytest.mark.parametrize(
    "written",
    ["x{}y", "x%s", "b64"],
)
def test_pieces_are_found_in_any_form(written: str):
    """What is looked for is found where it is."""
    secret = 'Kp9"wQ/7zL+m2=Xc4'
    texts = {
        "x{}y": f"x{secret[3:11]}y",
        "x%s": quote(secret[2:12], safe=""),
        "b64": base64.b64encode(f"user:{secret}!".encode()).decode(),
    }

    wanted = wanted_pieces([secret])
    assert found_pieces(wanted, [texts[written]])
    assert not found_pieces(wanted, [texts[written][:7]])
