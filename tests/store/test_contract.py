"""The contract that every store keeps; a new store joins by one line in `STORES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from argentum.errors import InputError, NotFoundError
from argentum.events import Event, RunInfo
from argentum.store import Store
from argentum.store.memory import MemoryStore
from argentum.store.sqlite import SqliteStore
from argentum.tree import Tree, freeze

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite in a file": lambda folder: SqliteStore(folder / "runs.db"),
    "sqlite in memory": lambda _: SqliteStore(":memory:"),
}
LARGE = {"messages": [{"role": "user", "content": f"Message {at}. " * 20} for at in range(300)]}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Give each kind of store, empty."""
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def info(run_id: str, started_at_ns: int = 1) -> RunInfo:
    """Give a run to start."""
    return RunInfo(run_id=run_id, name="A run", started_at_ns=started_at_ns, process="host:1:2")


def note(store: Store, run_id: str, body: object = None, **fields) -> int:
    """Record a note, or what the fields say."""
    given = {"kind": "note", "name": "said", "at_ns": 5, **fields}
    tree = body if isinstance(body, Tree) else freeze({"value": body})
    return store.append(run_id, body=tree, **given)


def test_run_comes_back_as_it_was_started(store: Store) -> None:
    """A run that was started is given back with every field."""
    store.start_run(info("r"))
    assert info("r") == store.run("r")


def test_run_comes_back_as_it_was_finished(store: Store) -> None:
    """What is known only at the end replaces what was there."""
    store.start_run(info("r"))
    store.finish_run("r", status="failed", ended_at_ns=9, dropped=3, first_dropped="Disk full.")
    run = store.run("r")
    assert ("failed", 9, 3, "Disk full.") == (
        run.status, run.ended_at_ns, run.dropped, run.first_dropped,
    )  # fmt: skip


def test_second_run_of_one_id_is_refused(store: Store) -> None:
    """Two runs of one id are a mistake of the caller, who is told the id."""
    store.start_run(info("r"))
    with pytest.raises(InputError, match="'r'"):
        store.start_run(info("r"))
    assert 1 == len(store.runs())


def test_runs_are_listed_newest_first(store: Store) -> None:
    """The list is by start, of two at one moment the later entered first, and can be cut."""
    for run_id, started in (("a", 5), ("b", 9), ("c", 5)):
        store.start_run(info(run_id, started))
    assert ["b", "c", "a"] == [run.run_id for run in store.runs()]
    assert ["b", "c"] == [run.run_id for run in store.runs(limit=2)]


def test_run_tells_how_many_events_it_has(store: Store) -> None:
    """The number of events is filled in by the store, for one run and in the list."""
    store.start_run(info("r"))
    for _ in range(3):
        note(store, "r")
    assert (3, 3) == (store.run("r").events, store.runs()[0].events)


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.run("rum"),
        lambda store: list(store.events("rum")),
        lambda store: store.event("rum", 1),
        lambda store: store.find("rum", kind="note", name="x"),
        lambda store: note(store, "rum"),
        lambda store: store.finish_run(
            "rum", status="done", ended_at_ns=1, dropped=0, first_dropped=""
        ),
    ],
    ids=["run", "events", "event", "find", "append", "finish_run"],
)
def test_unknown_run_is_named_with_what_is_near(
    store: Store, call: Callable[[Store], object]
) -> None:
    """Each method that takes a run id says which run was perhaps meant."""
    store.start_run(info("run"))
    with pytest.raises(NotFoundError, match=r"No run 'rum'\. Did you mean 'run'\?"):
        call(store)


def test_event_comes_back_as_it_was_recorded(store: Store) -> None:
    """Every field of an event is kept, and the body by its exact types."""
    store.start_run(info("r"))
    note(store, "r")
    body = freeze({"tuple": (1, True, 1.0), "bytes": b"\0"})
    fields = {
        "kind": "tool_call", "name": "Suche \N{SNOWMAN}", "at_ns": 2**62, "agent": "writer",
        "phase": "close", "span": 1, "parent": 1,
    }  # fmt: skip
    seq = note(store, "r", body, **fields)
    event = store.event("r", seq)
    assert {**fields, "run_id": "r", "seq": 2} == {
        name: getattr(event, name) for name in Event.__slots__ if name != "body"
    }
    assert {"tuple": (1, True, 1.0), "bytes": b"\0"} == event.body.thaw()


def test_events_are_numbered_per_run_without_gaps(store: Store) -> None:
    """Two runs that are recorded in turns are each numbered from 1."""
    for run_id in "ab":
        store.start_run(info(run_id))
    seqs = [(run_id, note(store, run_id)) for run_id in "abbaab"]
    assert [("a", 1), ("b", 1), ("b", 2), ("a", 2), ("a", 3), ("b", 3)] == seqs


def test_events_come_in_order_over_many_pages(store: Store) -> None:
    """However many events there are, each comes once and in order."""
    store.start_run(info("r"))
    with store.batch():
        for _ in range(600):
            note(store, "r")
    assert list(range(1, 601)) == [event.seq for event in store.events("r")]


def test_events_can_be_chosen(store: Store) -> None:
    """Events can be asked for from a place on, by kinds and by agent, or all of it at once."""
    store.start_run(info("r"))
    for kind, agent in (
        ("note", "a"),
        ("error", "a"),
        ("note", "b"),
        ("usage", "a"),
        ("note", "a"),
    ):
        note(store, "r", kind=kind, agent=agent)

    def seqs(**chosen) -> list[int]:
        return [event.seq for event in store.events("r", **chosen)]

    assert [3, 4, 5] == seqs(after=2)
    assert [2, 4] == seqs(kinds=["error", "usage"])
    assert [3] == seqs(agent="b")
    assert [5] == seqs(after=1, kinds=["note"], agent="a")
    assert [] == seqs(kinds=[])


def test_events_that_are_recorded_meanwhile_come_too(store: Store) -> None:
    """A reader in the middle of a run does not keep others from recording."""
    store.start_run(info("r"))
    note(store, "r")
    reading = store.events("r")
    next(reading)
    note(store, "r")
    assert [1, 2] == [event.seq for event in store.events("r")]


@pytest.mark.parametrize("seq", [0, -1, 2, 2**70])
def test_unknown_event_is_refused_with_what_there_is(store: Store, seq: int) -> None:
    """A number beyond the run is answered by how many events the run has."""
    store.start_run(info("r"))
    note(store, "r")
    with pytest.raises(NotFoundError, match="which has 1"):
        store.event("r", seq)


@pytest.mark.parametrize("kind", ["snapshot", "note"])
def test_newest_event_of_a_name_is_found(store: Store, kind: str) -> None:
    """Of several events of one kind and name the last counts, in its own run only."""
    for run_id in "ab":
        store.start_run(info(run_id))
        for name in ("x", "x", "y"):
            note(store, run_id, kind=kind, name=name)
    found = store.find("a", kind=kind, name="x")
    assert found is not None
    assert ("a", 2, "x") == (found.run_id, found.seq, found.name)
    assert store.find("a", kind="error", name="x") is None


def test_large_states_come_back_and_share_their_chunks(store: Store) -> None:
    """States that are kept in chunks are restored, the second as well as the first."""
    store.start_run(info("r"))
    first = freeze(LARGE)
    second = freeze({"messages": [*LARGE["messages"], {"role": "user", "content": "new"}]}, first)
    for tree in (first, second):
        note(store, "r", tree)
    assert [first.thaw(), second.thaw()] == [event.body.thaw() for event in store.events("r")]


def test_unknown_digest_is_left_out(store: Store) -> None:
    """Asking for a chunk that is not there is no error."""
    assert {} == store.chunks([b"x" * 16])


def test_batch_keeps_what_was_added_inside(store: Store) -> None:
    """After a batch, events and chunks are there, and numbering went on; a batch may nest."""
    store.start_run(info("r"))
    note(store, "r")
    with store.batch():
        assert 2 == note(store, "r", LARGE)
        with store.batch():
            assert 3 == note(store, "r", LARGE)
    assert 4 == note(store, "r", LARGE)
    assert [LARGE] * 3 == [event.body.get("value") for event in store.events("r", after=1)]


def test_sound_store_has_no_problems(store: Store) -> None:
    """A check of what was properly recorded finds nothing."""
    store.start_run(info("r"))
    note(store, "r", LARGE)
    assert [] == store.check()


def test_unknown_kind_and_phase_are_refused(store: Store) -> None:
    """A word that is not in the vocabulary is answered with the words that are."""
    store.start_run(info("r"))
    with pytest.raises(InputError, match=r"kind 'thought'.* note"):
        note(store, "r", kind="thought")
    with pytest.raises(InputError, match=r"phase 'middle'.* open"):
        note(store, "r", phase="middle")
    assert 0 == store.run("r").events


def test_receipts_are_added_by_who_knows_all_others(store: Store) -> None:
    """Who knows fewer or more than there are adds nothing and learns what there is."""
    assert [] == store.receipts("hf_1")
    assert ["a", "b"] == store.add_receipts("hf_1", 0, ["a", "b"])
    assert ["a", "b"] == store.add_receipts("hf_1", 0, ["x"])
    assert ["a", "b"] == store.add_receipts("hf_1", 3, ["x"])
    assert ["a", "b", "c"] == store.add_receipts("hf_1", 2, ["c"])
    assert ["a", "b", "c"] == store.receipts("hf_1")
    assert [] == store.receipts("hf_2")
