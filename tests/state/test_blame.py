"""Which event gave a path its value, and since when: the smallest case of each rule, and laws."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.ingest.test_tau import airline  # noqa: F401 - a fixture
from tests.state.histories import found_in, frozen, paths_into, reloaded, states
from tests.tree.values import Bag, entries_up_to, sizes

from argentum import Run
from argentum.errors import InputError, NotFoundError
from argentum.events import Event
from argentum.state import Snapshot, snapshots_of
from argentum.state.blame import VERDICTS, blame, blame_all, blame_parts
from argentum.state.weighing import CERTAINTIES
from argentum.tree import Path, diff, freeze, same


@pytest.fixture
def run():
    """Give a run that is kept in memory."""
    with Run("test", run_id="test") as made:
        yield made


@pytest.fixture
def session(run):
    """Give the only agent of a run."""
    return run.session("a")


def told(found):
    """Give the verdict, and the numbers of the event that wrote the value and of the first one."""
    return found.verdict, found.writer and found.writer.seq, found.origin and found.origin.seq


def blamed(run, path, **options):
    """Blame a path of what was recorded."""
    return blame(list(run.events()), path, **options)


# ------------------------------------------------------------------ verdicts


def test_recorded(session):
    """What a tool gave between two snapshots was written by its call."""
    session.snapshot("before", {"price": 0})
    with session.tool_call("quote", {"to": "Oslo"}) as call:
        call.output({"price": 1843})
    session.snapshot("after", {"price": 1843})
    found = blamed(session.run, "price")

    assert ("recorded", 5, 5) == told(found)
    assert ("sure", 1843, "price", "a", True) == (
        found.certainty, found.value, found.path, found.agent, found.present
    )  # fmt: skip
    assert ("after", "before") == (found.snapshot.label, found.before.label)
    assert [("same value", "output.price")] == [(step.how, step.where) for step in found.steps]
    assert [0] == [value.thaw() for value in found.earlier]
    assert "The output of tool call 'quote' (event 5) holds it (same value)." == found.why


def test_initial(session):
    """What the first snapshot has, and nothing explains, was there from the start."""
    session.snapshot("start", {"price": 1843})
    session.snapshot("later", {"price": 1843})

    assert ("initial", None, None) == told(blamed(session.run, "price"))


def test_first_snapshot_can_be_explained(session):
    """What was seen before the first snapshot explains what is in it."""
    session.note("The price is 1,843.")
    session.snapshot("start", {"price": 1843})

    assert ("recorded", 3, 3) == told(blamed(session.run, "price"))


def test_unrecorded(session):
    """A change that no event explains is an unrecorded one; the only call between is named."""
    session.snapshot("before", {"price": 1843})
    with session.tool_call("ping") as call:
        call.output("pong")
    session.snapshot("after", {"price": 1999})
    found = blamed(session.run, "price")

    assert ("unrecorded", None, None, "sure", ()) == (*told(found), found.certainty, found.steps)
    assert "a's only call between 'before' (3) and 'after' (6)" in found.why
    assert "tool call 'ping' (event 5)" in found.why


def test_unrecorded_with_nothing_between(session):
    """If nothing was recorded between two snapshots, the reason says so."""
    session.snapshot("before", {"price": 1843})
    session.snapshot("after", {"price": 1999})

    assert "nothing was recorded between" in blamed(session.run, "price").why


def test_text_put_together(session):
    """A text that the program put together is unrecorded; where parts of it stand is said."""
    with session.tool_call("search") as call:
        call.output("Helium is noble.")
    session.handoff("b", {"facts": ["Helium is noble.", "Who makes mistakes learns."]})  # 5
    writer = session.run.session("b")
    writer.snapshot("before", {"draft": ""})
    writer.note("Neon is noble, too. Or is it not?")  # 8
    writer.snapshot("after", {"draft": "Dear all, helium is noble. Neon is noble, too. Bye."})
    found = blamed(session.run, "draft")

    assert ("unrecorded", None, None) == told(found)
    assert [("Helium is noble.", [5, 4]), ("Neon is noble, too.", [8])] == [
        (piece.text, [step.event.seq for step in piece.steps]) for piece in found.pieces
    ]
    assert "though parts of it stand in the handoff from 'a' to 'b' (event 5) and 1 more" in (
        found.why
    )


def test_value_put_back(session):
    """A value that returns with nothing recorded between was put back by an unrecorded hand."""
    with session.tool_call("quote") as call:
        call.output({"price": 1843})
    session.snapshot("one", {"price": 1843})
    session.note("Now it is 1999.")
    session.snapshot("two", {"price": 1999})
    session.snapshot("three", {"price": 1843})
    found = blamed(session.run, "price")

    assert ("unrecorded", None, None) == told(found)
    assert "had this value before" in found.why


def test_removed(session):
    """A path that is gone is blamed for its going."""
    session.snapshot("before", {"price": 1843, "a": 1})
    session.snapshot("after", {"a": 1})
    found = blamed(session.run, "price")

    assert (False, None, "unrecorded", "after") == (
        found.present, found.value, found.verdict, found.snapshot.label
    )  # fmt: skip
    assert [1843] == [value.thaw() for value in found.earlier]


def test_at(session):
    """An earlier moment has its own answer; what was recorded later is not looked at."""
    session.snapshot("one", {"price": 1843})
    session.note("Now it is 1999.")
    session.snapshot("two", {"price": 1999})

    assert ("initial", "one") == (
        (found := blamed(session.run, "price", at=4)).verdict, found.snapshot.label
    )  # fmt: skip
    assert ("recorded", 4, 4) == told(blamed(session.run, "price", at=5))


# ------------------------------------------------------------------ the call around a snapshot


def test_snapshot_inside_a_call(session):
    """A snapshot that was taken inside a call shows what the call wrote."""
    session.snapshot("before", {"balance": 500})
    with session.tool_call("pay", {"amount": 120}) as call:
        session.snapshot("paid", {"balance": 380})
        call.output("ok")
    found = blamed(session.run, "balance")

    assert ("recorded", 6, 6, "likely") == (*told(found), found.certainty)


def at_times(run, *times_ns):
    """Give the events of a run as if they had been recorded at these times."""
    events = zip(run.events(), times_ns, strict=True)
    return [replace(event, at_ns=at_ns) for event, at_ns in events]


@pytest.mark.parametrize(
    "times_ns,verdict",
    [
        ((1, 1, 2, 3, 4, 4), "recorded"),  # the state was recorded as the call ended
        ((1, 1, 2, 3, 4, 5), "unrecorded"),  # later: anything may have happened between
        ((1, 1, 1, 1, 1, 1), "unrecorded"),  # the times say nothing
    ],
)
def test_state_of_the_moment_at_which_a_call_ended(session, times_ns, verdict):
    """A state of the very moment at which a call ended is the call's, even if it is not told."""
    session.snapshot("before", {"balance": 500})
    with session.tool_call("pay", {"amount": 120}) as call:
        call.output("ok")
    session.snapshot("after", {"balance": 380})
    found = blame(at_times(session.run, *times_ns), "balance")

    assert verdict == found.verdict
    assert found.writer is None or found.writer.seq == 5


# ------------------------------------------------------------------ containers and lists


def test_container_is_explained_by_its_parts(session):
    """A container comes from where its parts come from."""
    session.snapshot("before", {})
    with session.tool_call("book") as call:
        call.output({"booking": {"id": "HAT001", "guest": "Jonas Tanaka", "paid": True}})
    session.snapshot("after", {"trip": {"id": "HAT001", "guest": "Jonas Tanaka", "paid": True}})

    assert ("recorded", 5, 5) == told(blamed(session.run, "trip"))


def test_container_with_an_unexplained_part(session):
    """A container of which one part is in no event is not explained; the part is named."""
    session.snapshot("before", {})
    with session.tool_call("book") as call:
        call.output({"id": "HAT001", "guest": "Jonas Tanaka"})
    session.snapshot("after", {"trip": {"id": "HAT001", "guest": "Aiko Haugen"}})
    found = blamed(session.run, "trip")

    assert "unrecorded" == found.verdict
    assert "trip.guest = 'Aiko Haugen'" in found.why


def test_only_what_is_new_in_a_container(session):
    """What a container had before needs no explanation."""
    session.snapshot("before", {"facts": ["known for ever"]})
    session.note("A fact: Helium is noble.")
    session.snapshot("after", {"facts": ["known for ever", "Helium is noble"]})

    assert ("recorded", 4, 4) == told(blamed(session.run, "facts"))


@pytest.mark.parametrize("left", [[], {}, (), "", None, [1], {"a": 1}], ids=repr)
def test_emptied(session, left):
    """What a tool returned under the same name explains a value that it emptied or made shorter."""
    session.snapshot("before", {"v": {"a": 1, "b": 2} if isinstance(left, dict) else [1, 2]})
    with session.tool_call("clear") as call:
        call.output({"v": left, "w": left})
    session.snapshot("after", {"v": left})
    found = blamed(session.run, "v")

    assert ("recorded", 5, 5, "likely") == (*told(found), found.certainty)
    assert ["output.v"] == [step.where for step in found.steps]


@pytest.mark.parametrize("output", [{"w": []}, {"v": [1]}, "[]", None])
def test_emptied_by_nobody(session, output):
    """An empty value under another name explains none, nor does one that was given long before."""
    with session.tool_call("early") as call:
        call.output({"v": []})
    session.snapshot("before", {"v": [1, 2]})
    with session.tool_call("clear") as call:
        call.output(output)
    session.snapshot("after", {"v": []})
    session.snapshot("end", {"v": []})

    assert "unrecorded" == blamed(session.run, "v").verdict


def test_something_removed(session):
    """Of a container from which something went, the reason says so."""
    session.snapshot("before", {"v": [1, 2]})
    session.snapshot("after", {"v": [1]})
    found = blamed(session.run, "v")

    assert "unrecorded" == found.verdict
    assert found.why.startswith("Something was removed from it, and no recorded event")


def test_item_of_a_trimmed_list(session):
    """An item is followed to the snapshot that brought it, not to the one that trimmed the list."""
    session.snapshot("one", {"messages": ["first of all", "Where to?"]})
    session.note("To Rome, please")
    session.snapshot("two", {"messages": ["first of all", "Where to?", "To Rome, please"]})
    session.snapshot("three", {"messages": ["Where to?", "To Rome, please"]})
    found = blamed(session.run, "messages[1]")

    assert ("recorded", 4, 4, "two") == (*told(found), found.snapshot.label)
    assert found.why.endswith("It stood at messages[2] then.")


def test_inside_an_item_that_moved(session):
    """A part of an item is followed, too, from either end."""
    session.snapshot("one", {"m": [{"id": 1, "text": "alpha beta"}, {"id": 2, "text": "x"}]})
    session.snapshot("two", {"m": [{"id": 2, "text": "x"}, {"id": 1, "text": "alpha beta"}]})

    for path in ("m[1].text", "m[-1].text"):
        found = blamed(session.run, path)
        assert ("initial", "one", "alpha beta") == (
            found.verdict, found.snapshot.label, found.value
        )  # fmt: skip


# ------------------------------------------------------------------ whose state


def test_the_only_agent_that_has_the_path(run):
    """Without a name, the agent is the one that has the path, or else the one that had it."""
    run.session("a").snapshot("s", {"x": 1, "z": 1})
    run.session("b").snapshot("s", {"y": 1})
    run.session("a").snapshot("t", {"x": 1})

    assert ["a", "b", "a"] == [blamed(run, path).agent for path in ("x", "y", "z")]


def test_several_agents_have_the_path(run):
    """If several agents have the path, the error names them."""
    run.session("a").snapshot("s", {"x": 1})
    run.session("b").snapshot("s", {"x": 1})

    with pytest.raises(InputError, match=r"'x' is in the state of 2 agents: 'a', 'b'\. Say whose"):
        blamed(run, "x")
    assert "b" == blamed(run, "x", agent="b").agent


@pytest.mark.parametrize(
    "path,options,kind,message",
    [
        ("pric", {}, NotFoundError, "Did you mean 'price'"),
        ("pric", {"agent": "a"}, NotFoundError, "Did you mean 'price'"),
        ("price", {"agent": "aa"}, NotFoundError, "Did you mean 'a'"),
        ("price", {"at": 1}, NotFoundError, "no snapshot up to event 1"),
        ("pri..ce", {}, InputError, "is not a path"),
    ],
)
def test_errors(session, path, options, kind, message):
    """An error says what would have worked."""
    session.snapshot("s", {"price": 1})

    with pytest.raises(kind, match=message):
        blamed(session.run, path, **options)
    with pytest.raises(kind):
        blame_parts(list(session.run.events()), path, **options)


# ------------------------------------------------------------------ many parts


def test_parts(session):
    """Each part is blamed for itself."""
    session.snapshot("one", {"a": {"x": 1, "y": 2}, "b": []})
    session.note("It weighs 1,843 kg.")
    session.snapshot("two", {"a": {"x": 1, "y": 1843}, "b": []})
    parts = blame_parts(list(session.run.events()))

    assert [("a.x", 1, "one"), ("a.y", 1843, "two"), ("b", [], "one")] == [
        (part.path, part.value, part.snapshot.label) for part in parts
    ]
    assert ["a.x", "a.y"] == [part.path for part in blame_parts(list(session.run.events()), "a")]


def test_parts_are_limited(session):
    """Where there would be too many parts, they stay together."""
    session.snapshot("one", {"a": {"x": 1, "y": 2}, "b": 3})

    assert ["a", "b"] == [part.path for part in blame_parts(list(session.run.events()), most=2)]
    assert [""] == [part.path for part in blame_parts(list(session.run.events()), most=1)]


def test_parts_of_nothing(session):
    """A path that is gone has no parts."""
    session.snapshot("one", {"a": 1})
    session.snapshot("two", {})

    with pytest.raises(NotFoundError, match="There is nothing at 'a'"):
        blame_parts(list(session.run.events()), "a")


def test_snapshots_that_no_agent_took():
    """Snapshots without an agent are asked about by leaving the agent out, and stay without."""
    taken = [freeze({"a": 1}), freeze({"a": 1843})]
    events = [replace(one, agent=None) for one in as_events(
        [Snapshot(f"s{number}", tree, number, number, "a") for number, tree in enumerate(taken, 1)]
    )]  # fmt: skip

    assert (None, "unrecorded") == (blame(events, "a").agent, blame(events, "a").verdict)
    assert [None] == [part.agent for part in blame_parts(events)]


@pytest.mark.parametrize("ask", [blame, blame_parts, blame_all])
@pytest.mark.parametrize("given", ["20270115-080000-bbbb", 7, None, [1], ["a"]])
def test_what_is_no_events(ask, given):
    """A run's id or anything else that is no events is refused, with what to give instead."""
    with pytest.raises(InputError, match=r"Give run\.events\(\)"):
        ask(given, "a")


def test_any_iterable_of_events_will_do(session):
    """A generator of events is as good as a list."""
    session.snapshot("one", {"a": 1843})
    events = list(session.run.events())

    assert blame(events, "a") == blame(iter(events), "a")


def test_all_is_parts_or_one(session):
    """What has parts is blamed part by part, and all else as one."""
    session.snapshot("one", {"a": {"b": 1, "c": 2}, "d": {}})
    events = list(session.run.events())

    assert ["a.b", "a.c"] == [part.path for part in blame_all(events, "a")]
    assert "d" == blame_all(events, "d").path
    assert "a.b" == blame_all(events, "a.b").path


# ------------------------------------------------------------------ laws


def as_events(snapshots):
    """Make a run of nothing but snapshots."""
    return [
        Event(run_id="r", seq=one.seq, kind="snapshot", name=one.label, at_ns=one.at_ns,
              body=one.tree, agent="a")
        for one in snapshots
    ]  # fmt: skip


def naive_since(snapshots, path):
    """Carry a path back through every pair of states, by the changes as they are listed."""
    steps = list(path.parts)
    for depth, step in enumerate(steps):
        if isinstance(step, int) and step < 0:
            steps[depth] += found_in(snapshots[-1].tree, Path.of(steps[:depth])).count()
    listed = next((at for at, step in enumerate(steps) if isinstance(step, int)), len(steps))
    head, rest = Path.of(steps[:listed]), tuple(steps[listed:])
    for older, newer in reversed(list(pairwise(snapshots))):
        old, new = found_in(older.tree, head), found_in(newer.tree, head)
        if old is None or new is None:
            rest = rest if old is new else None
        elif not rest:
            rest = () if same(old, new) else None
        else:
            rest = naive_steps_before(old, new, rest)
        if rest is None:
            return newer.seq
    return snapshots[0].seq


def naive_steps_before(old, new, rest):
    """Give where a value was, by doing the changes to the list of the old places."""
    changes = diff(old, new)
    for change in changes:
        here = change.path.parts
        inside = here[: len(rest)] == rest and len(here) > len(rest)
        if inside or (change.kind in ("added", "changed") and rest[: len(here)] == here):
            return None
    found = list(rest)
    source = ()
    for depth, step in enumerate(rest):
        if isinstance(step, int):
            there = [one for one in changes if one.path.parts[:-1] == rest[:depth]
                     and one.path.parts and isinstance(one.path.parts[-1], int)]  # fmt: skip
            places = list(range(found_in(old, Path.of(source)).count()))
            gone = {one.source.parts[-1] for one in there if one.kind in ("removed", "moved")}
            places = [place for place in places if place not in gone]
            for one in sorted(there, key=lambda one: one.path.parts[-1]):
                if one.kind in ("added", "moved"):
                    moved = one.source.parts[-1] if one.kind == "moved" else None
                    places.insert(one.path.parts[-1], moved)
            found[depth] = places[step]
        source = (*source, found[depth])
    return tuple(found)


@given(st.data(), states(), sizes)
def test_the_snapshot_agrees_with_a_walk_over_whole_states(data, taken, size):
    """In memory and from a store, the snapshot is the one that a naive walk finds."""
    path = data.draw(paths_into(taken))
    with entries_up_to(size):
        kept = frozen(taken)
        for snapshots in (kept, reloaded(kept)):
            if found_in(kept[-1].tree, path) is None:
                continue
            found = blame(as_events(snapshots), path)
            assert naive_since(kept, path) == found.snapshot.seq
            assert found.verdict in VERDICTS
            assert found.certainty in CERTAINTIES


def holds_attributes(value):
    """Tell whether a dict with attributes is anywhere in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, Bag) or any(map(holds_attributes, inner))


@given(states(), sizes)
def test_parts_agree_with_one_blame_each(taken, size):
    """
    The one walk for all parts gives each the snapshot that a blame of its own gives.

    Not where an attribute becomes a key of the same name and value: one blame takes them for one.
    """
    assume(not any(map(holds_attributes, taken)))
    with entries_up_to(size):
        events = as_events(frozen(taken))
        for part in blame_parts(events, most=60):
            alone = blame(events, part.path)
            assert (part.path, alone.snapshot.seq) == (part.path, part.snapshot.seq)
            assert freeze(alone.value) == freeze(part.value)


# ------------------------------------------------------------------ the real runs


def test_every_change_of_the_airline_names_the_call_that_wrote_it(airline):  # noqa: F811
    """In all hundred runs, blame of every changed path names the tool call that changed it."""
    wrong = []
    changes = 0
    for run in airline.runs:
        events = list(airline.store.events(run["run"]))
        for before, after in pairwise(snapshots_of(events)):
            call = next(one for one in events if one.seq == after.seq - 1)
            for change in diff(before.tree, after.tree):
                changes += 1
                found = blame(events, change.path, at=after.seq)
                if found.writer is None or found.writer.seq not in (call.seq, call.span):
                    wrong.append((run["run"], change.path, found.why))

    assert ([], 294) == (wrong, changes)
