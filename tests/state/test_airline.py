"""The hundred real airline runs: what the debugger says of them, against their labels."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from argentum.events import Event
from argentum.ingest import import_file
from argentum.state import snapshots_of
from argentum.state.bisect import bisect_snapshots
from argentum.state.compare import compare
from argentum.state.separating import separate
from argentum.state.writes import RunWrites, Verdict, judge, unseen_in, writes_of
from argentum.store import Store, open_store


@dataclass(frozen=True)
class Airline:
    """The runs in a store, and their labels."""

    store: Store
    runs: dict[str, dict[str, Any]]
    """The lines of the data set by the names of the runs."""
    writes: dict[str, RunWrites]

    def events(self, name: str) -> list[Event]:
        return list(self.store.events(name))

    def passing_siblings(self, name: str) -> list[str]:
        """List the other runs of a run's task that were done right."""
        return [
            other
            for other, line in self.runs.items()
            if line["task"] == self.runs[name]["task"] and line["reward"] == 1.0 and other != name
        ]

    def verdict(self, name: str) -> Verdict:
        """Judge a run by its passing siblings."""
        siblings = {other: self.writes[other] for other in self.passing_siblings(name)}
        return judge(self.writes[name], siblings)

    def labelled(self) -> dict[str, str]:
        """Give the label of the first wrong write of each run that has one and can be judged."""
        return {
            name: f"step {line['first_wrong_write']}"
            for name, line in self.runs.items()
            if line["first_wrong_write"] is not None and self.passing_siblings(name)
        }


@pytest.fixture(scope="module")
def airline(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airline]:
    """Import all runs."""
    folder = shared_data / "tau-airline"
    store = open_store(tmp_path_factory.mktemp("airline") / "runs.db")
    import_file(folder / "runs.jsonl.gz", store, state=folder / "initial_state.json.gz")
    with gzip.open(folder / "runs.jsonl.gz") as source:
        runs = {line["run"]: line for line in map(json.loads, source)}
    writes = {name: writes_of(list(store.events(name))) for name in runs}
    yield Airline(store, runs, writes)
    store.close()


def test_the_labelled_first_wrong_write_is_named(airline):
    """In each of the 18 runs with a label and a passing sibling, that write is named."""
    named = {name: airline.verdict(name).first_wrong for name in airline.labelled()}

    assert 18 == len(named)
    assert airline.labelled() == {
        name: None if write is None else write.after.label for name, write in named.items()
    }
    assert {"tool_call"} == {write.act.kind for write in named.values()}


def test_bisecting_by_unseen_states_names_the_same_step(airline):
    """A search for the first state that no passing sibling had finds the labelled write."""
    found = {}
    for name in airline.labelled():
        nowhere = unseen_in(airline.writes[other] for other in airline.passing_siblings(name))
        snapshots = snapshots_of(airline.events(name))
        found[name] = bisect_snapshots(snapshots, nowhere).first.label
        scanned = next(one for one in snapshots if nowhere(one)).label
        assert scanned == found[name]

    assert airline.labelled() == found


def test_no_false_alarms(airline):
    """No wrong write is named in a passing run that is compared with its passing siblings."""
    passing = [
        name
        for name, line in airline.runs.items()
        if line["reward"] == 1.0 and airline.passing_siblings(name)
    ]

    assert 35 == len(passing)
    assert {} == {
        name: verdict.first_wrong.after.label
        for name in passing
        if (verdict := airline.verdict(name)).first_wrong is not None
    }


def test_failed_runs_without_a_wrong_write(airline):
    """None is named either in failed runs whose label says that their writes were right."""
    failed = [
        name
        for name, line in airline.runs.items()
        if line["reward"] == 0.0
        and line["first_wrong_write"] is None
        and airline.passing_siblings(name)
    ]
    verdicts = {name: airline.verdict(name) for name in failed}

    assert 15 == len(failed)
    assert set() == {name for name, one in verdicts.items() if one.first_wrong is not None}
    # One made a right write before those that came first in its sibling; the others are missing.
    assert ["update_reservation_passengers", "update_reservation_baggages"] == [
        write.act.name for write in verdicts["airline-5-0"].missing
    ]


def test_what_separates_failed_from_passed(airline):
    """Where all failed runs of a task wrote and no passing one did, that comes first."""
    by_outcome: dict[bool, dict[str, list[Event]]] = defaultdict(dict)
    for name, line in airline.runs.items():
        if line["task"] == 17:
            by_outcome[line["reward"] == 1.0][name] = airline.events(name)
    found = separate(by_outcome[False], by_outcome[True])

    first = found.acts[0]
    assert ("tool", "update_reservation_flights", 1.0) == (first.what, first.act.name, first.score)
    assert "reservations.4NQLHD.flights[0].date" == found.values[0].place
    assert {} == found.alarms


def test_compared_from_either_side(airline):
    """Of any two runs of a task, the same is aligned and the same place found from either side."""
    names = list(airline.runs)
    for one, other in pairwise(names):
        if airline.runs[one]["task"] == airline.runs[other]["task"]:
            a, b = airline.events(one), airline.events(other)
            there, back = compare(a, b), compare(b, a)
            assert there.kind == back.kind
            assert sorted((p.a.seq, p.b.seq) for p in there.pairs()) == sorted(
                (p.b.seq, p.a.seq) for p in back.pairs()
            )
        assert "same" == compare(airline.events(one), airline.events(one)).kind
