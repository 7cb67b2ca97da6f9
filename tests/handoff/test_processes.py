"""Handoffs that several processes accept at once, some of which are killed meanwhile."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from argentum import HandoffProtocol, HmacKey
from argentum.handoff import Inbox
from argentum.store import open_store
from argentum.store.ledger import StoreLedger

KEY = HmacKey("team", b"k" * 32)
ROOT = Path(__file__).resolve().parents[2]
ACCEPT = """
import json, sys
from pathlib import Path
from argentum import HandoffProtocol, HmacKey
from argentum.handoff import Inbox
from argentum.store import open_store
from argentum.store.ledger import StoreLedger

key = HmacKey("team", b"k" * 32)
ledger = StoreLedger(open_store(sys.argv[1]))
inbox = Inbox("bob", protocol=HandoffProtocol(sign_with=key), ledger=ledger)
print("ready", flush=True)
sys.stdin.readline()
for text in Path(sys.argv[2]).read_text().splitlines():
    got = inbox.accept(text)
    print(json.dumps([got.handoff.handoff_id, got.receipt.receipt_id, got.is_new]), flush=True)
"""


def handed_over(folder: Path, count: int) -> Path:
    """Write so many signed handoffs to a file, a line each."""
    protocol = HandoffProtocol(sign_with=KEY)
    made = (protocol.create_handoff("alice", "bob", f"Refund {at}") for at in range(count))
    file = folder / "handoffs.jsonl"
    file.write_text("".join(protocol.to_json(one) + "\n" for one in made), encoding="utf-8")
    return file


def start(store: Path, file: Path) -> subprocess.Popen[str]:
    """Start a process that accepts all handoffs once it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", ACCEPT, str(store), str(file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    """Let it begin."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def answers(process: subprocess.Popen[str]) -> list[Any]:
    """Give what it said until it ended; a line that a kill cut off says nothing."""
    said = process.communicate()[0].splitlines()
    return [json.loads(line) for line in said if line.endswith("]")]


def accept_while_killing(folder: Path, count: int, kills: int, seed: int) -> None:
    """Let two processes accept the same handoffs, kill some of them, and look at what there is."""
    chance = random.Random(seed)
    file, path = handed_over(folder, count), folder / "runs.db"
    open_store(path).close()
    said: list[Any] = []
    for _ in range(kills):
        pair = [start(path, file), start(path, file)]
        for process in pair:
            go(process)
        time.sleep(chance.random() * 0.15)
        pair[0].kill()
        said += [answer for process in pair for answer in answers(process)]

    store = open_store(path)
    ledger = StoreLedger(store)
    inbox = Inbox("bob", protocol=HandoffProtocol(sign_with=KEY), ledger=ledger)
    for text in file.read_text(encoding="utf-8").splitlines():
        got = inbox.accept(text)
        receipts = ledger.receipts(got.handoff.handoff_id)
        mine = [answer for answer in said if answer[0] == got.handoff.handoff_id]
        assert not got.is_new
        assert [receipt.status for receipt in receipts] == ["accepted"]
        assert {receipt_id for _, receipt_id, _ in mine} == {receipts[0].receipt_id}
        assert sum(is_new for *_, is_new in mine) <= 1
    assert sum(is_new for *_, is_new in said) > 0
    assert store.check() == []
    store.close()


def test_two_processes_accept_each_handoff_once(tmp_path: Path) -> None:
    """Whichever is first; one of them is killed in between."""
    accept_while_killing(tmp_path, count=40, kills=3, seed=1)


@pytest.mark.soak
def test_two_processes_accept_each_handoff_once_many_times(tmp_path: Path) -> None:
    """The same at a hundred moments."""
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        accept_while_killing(folder, count=60, kills=10, seed=seed)


def test_a_store_of_the_first_format_gets_receipts(tmp_path: Path) -> None:
    """What was recorded before there were receipts is kept."""
    path = tmp_path / "runs.db"
    store = open_store(path)
    store.close()
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE receipt")
    connection.pragma("user_version", 1)
    connection.close()

    store = open_store(path)
    assert store.add_receipts("hf_1", 0, ["{}"]) == ["{}"]
    assert store.receipts("hf_1") == ["{}"]
    store.close()
