"""
What looking for secrets costs, against a named peer in the same run: `make bench`.

Nothing here fails because a machine is slow; the figures and their targets are printed. Times are
processor time, the least of several rounds, so that other programs disturb them little.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import detect_secrets
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
from tests.figures import figure, final_table  # noqa: F401 - a fixture for all tests here
from tests.security import corpus
from tests.security.corpus import Maker
from tests.workload import Agent

import argentum
from argentum import security
from argentum.security.redacting import Redactor
from argentum.security.secrets import find_secrets
from argentum.tree import Tree, freeze
from argentum.tree.nodes import Branch, Group, Page

TRACE_BYTES = 5_000_000
DENSE_BYTES = 1_000_000
PEER_BYTES = 500_000
"""The peer is slow: it gets a tenth of the trace."""


def seconds(function: Callable[[], object], rounds: int = 5) -> float:
    """Give the processor time of a call, the least of several."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return min(taken)


def trace(size: int, *, planted: int = 40) -> str:
    """Make a JSON trace of an agent's messages and tool calls, with secrets in some of them."""
    agent, chance = Agent("large"), random.Random(3)
    secrets = chance.sample(corpus.positives(), planted)
    messages: list[Any] = []
    length = 0
    while length < size:
        message = agent.message()
        message["id"] = f"call_{Maker(length).drawn('w', 24)}"
        messages.append(message)
        length += len(json.dumps(message, indent=1)) + 60
    for sample in secrets:
        chance.choice(messages)["content"] += f"\n{sample.text}\n"
    return json.dumps({"messages": messages}, indent=1)[:size]


def dense(size: int) -> str:
    """Make a text without a space: drawn characters, and words that name secrets everywhere."""
    chance = random.Random(4)
    words = [
        "api_key",
        "password",
        "secret=",
        "token:",
        "://",
        "-----BEGIN",
        "ghp_",
        "sk-",
        "eyJ",
        "%3D",
        "\\u00",
    ]
    pieces = []
    length = 0
    while length < size:
        pieces += (chance.choice(words), Maker(length).drawn("s", chance.randrange(20, 80)))
        length += len(pieces[-1]) + len(pieces[-2])
    return "".join(pieces)[:size]


def peer_findings(file: Path) -> int:
    """Scan a file with detect-secrets as it comes."""
    collection = SecretsCollection()
    with default_settings():
        collection.scan_file(str(file))
    return len(list(collection))


def test_trace(benchmark: Any, tmp_path: Path) -> None:
    """A JSON trace of 5 MB as text and as values, and a part of it by detect-secrets."""
    text = trace(TRACE_BYTES)
    found = find_secrets(text)
    ours = len(text) / seconds(lambda: find_secrets(text)) / 1e6
    figure(
        f"JSON trace, text of {len(text) / 1e6:.1f} MB, {len(found)} found",
        ours,
        60,
        "MB/s",
        at_least=True,
    )
    values = json.loads(trace(TRACE_BYTES + 2)[:-2].rpartition("\n  },")[0] + "}]}")
    size = len(json.dumps(values, indent=1))
    figure(
        "JSON trace, values",
        size / seconds(lambda: find_secrets(values)) / 1e6,
        20,
        "MB/s",
        at_least=True,
    )

    file = tmp_path / "trace.json"
    file.write_text(trace(PEER_BYTES, planted=4), encoding="utf-8")
    theirs = PEER_BYTES / seconds(lambda: peer_findings(file), rounds=1) / 1e6
    figure(
        f"JSON trace: faster than detect-secrets ({theirs:.3f} MB/s)",
        ours / theirs,
        300,
        "x",
        at_least=True,
    )
    benchmark.pedantic(lambda: find_secrets(text), rounds=3)


def scanner_source() -> str:
    """Give the source and the documents of secret scanners: the densest text that people write."""
    root = Path(__file__).parent.parent
    here = [root / "docs" / "security.md", root / "SECURITY.md", *(root / "tests").rglob("*.py")]
    folders = [Path(package.__file__ or "").parent for package in (detect_secrets, security)]
    files = here + [file for folder in folders for file in folder.rglob("*.py")]
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(files))


def test_dense(benchmark: Any) -> None:
    """Text in which much looks like a secret, and text that is nothing else."""
    source = scanner_source()
    speed = len(source) / seconds(lambda: find_secrets(source), 3) / 1e6
    name = f"dense text: source of scanners, {len(source) / 1e6:.1f} MB"
    figure(name, speed, 5, "MB/s", at_least=True)
    text = dense(DENSE_BYTES)
    speed = len(text) / seconds(lambda: find_secrets(text), 3) / 1e6
    figure("a token, and a word for one, each 53 characters", speed, 1, "MB/s", at_least=True)
    plain = Maker(5).drawn("s", DENSE_BYTES)
    figure(
        "base64",
        len(plain) / seconds(lambda: find_secrets(plain), 3) / 1e6,
        5,
        "MB/s",
        at_least=True,
    )
    benchmark.pedantic(lambda: find_secrets(text), rounds=1)


HOSTILE = (
    "api_key_",
    "password",
    "password=",
    "-----BEGIN PRIVATE KEY-----",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "sk-proj-",
    "ghp_a1",
    "://a:",
    "%41",
    "\\u0041",
    "a1B2-",
    '"password": "',
    'password: \\"',
    "A3-",
    "xoxb-1-",
    "hvs.a1",
    "Basic ",
    "secret ",
    "x1x1x1x1x1x1x1x1=",
    "passpasspass:::",
    "aGVsbG8gd29ybGQh",
    "68656c6c6f",
    "--password ",
    "SK1a",
    "\x00",
    "\x01",
    "a1:" * 8,
    "key: ",
    "token=",
    "Q~a1",
    "\\n",
    "{{",
    "${",
    "@",
)


def test_hostile(benchmark: Any) -> None:
    """Text made to be slow: twice as much takes about twice as long."""
    worst, text = 0.0, ""
    for piece in HOSTILE:
        small, large = (piece * (size // len(piece)) for size in (200_000, 400_000))
        # The least of pairs: a disturbance makes one ratio wrong, not all of them.
        ratio = min(
            seconds(lambda large=large: find_secrets(large), 2)
            / max(seconds(lambda small=small: find_secrets(small), 2), 1e-4)
            for _ in range(3)
        )
        if ratio > worst:
            worst, text = ratio, piece
    figure(f"twice a hostile text ({text!r}): time", worst, 2.3, "x", at_least=False)
    benchmark.pedantic(lambda: None, rounds=1)


def new_entries(new: Tree, old: Tree) -> list[bytes]:
    """Give the entries of a tree that are not in the one before."""
    known = {id(entry) for entry in entries_of(old.root)}
    return [entry for entry in entries_of(new.root) if id(entry) not in known]


def entries_of(entry: Any) -> Iterator[bytes]:
    """Go through the encoded entries of a tree."""
    todo = [entry]
    while todo:
        at = todo.pop()
        if isinstance(at, bytes):
            yield at
        elif isinstance(at, Branch):
            todo.append(at.top)
        elif isinstance(at, Group):
            todo += at.children
        elif isinstance(at, Page):
            todo += at.entries


def test_redaction_of_a_step(benchmark: Any, tmp_path: Path) -> None:
    """A recorded step of the large state, and what redacting its new entries adds."""
    agent, redactor = Agent("large"), Redactor()
    session = argentum.Run("bench", store=tmp_path / "runs.db").session("a")
    trees = [freeze(agent.step())]
    steps, redactions, sizes = [], [], []
    for _ in range(60):
        state = agent.step()
        start = time.process_time()
        session.snapshot("step", state)
        steps.append(time.process_time() - start)
        trees.append(freeze(state, trees[-1]))
        entries = new_entries(trees[-1], trees[-2])
        sizes.append(sum(map(len, entries)))
        start = time.process_time()
        for entry in entries:
            redactor.redact_entry(entry)
        redactions.append(time.process_time() - start)
    step, redaction = sorted(steps)[30], sorted(redactions)[30]
    name = f"a step of the large state ({step * 1e3:.2f} ms) with redaction"
    figure(name, (step + redaction) / step, 1.3, "x", at_least=False)
    name = f"redacting what is new ({sorted(sizes)[30] / 1e3:.1f} kB)"
    figure(name, redaction * 1e6 / (sorted(sizes)[30] / 1e3), 20, "us/kB", at_least=False)
    benchmark.pedantic(lambda: None, rounds=1)


def test_quality(benchmark: Any, tmp_path: Path) -> None:
    """What is found and what is wrongly flagged, by both, on the same files."""
    parts = {
        "known vendors": corpus.positives(),
        "vendors held out": corpus.positives(per_vendor=40, held_out=True),
        "no secrets": corpus.negatives(),
    }
    targets = {"known vendors": 99.9, "vendors held out": 99.3, "no secrets": 0}
    for part, samples in parts.items():
        ours = sum(bool(find_secrets(sample.text)) for sample in samples) / len(samples)
        theirs = 0
        for number, sample in enumerate(samples):
            file = tmp_path / f"{number}.txt"
            file.write_text(sample.text, encoding="utf-8")
            theirs += bool(peer_findings(file))
        flagged = part == "no secrets"
        name = f"{len(samples)} {part} (detect-secrets: {theirs / len(samples):.1%})"
        figure(name, ours * 100, targets[part], "%", at_least=not flagged)
    benchmark.pedantic(lambda: None, rounds=1)
