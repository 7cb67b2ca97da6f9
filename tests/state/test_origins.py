"""Where a value came from: each rule of following it back, with the smallest run that shows it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from argentum import Run
from argentum.state.blame import blame


@pytest.fixture
def run():
    """Give a run that is kept in memory."""
    with Run("test", run_id="test") as made:
        yield made


def way(run, path, *, agent="a"):
    """Give how sure it is, and the events from the writer back to the origin."""
    found = blame(list(run.events()), path, agent=agent)
    return found.certainty, [step.event.seq for step in found.steps]


def ask(session, output, messages=()):
    """Call a model."""
    with session.model_call("m", list(messages) or None) as call:
        call.output(output)


def use(session, output, **arguments):
    """Call a tool."""
    with session.tool_call("t", arguments) as call:
        call.output(output)


def test_model_that_copied_its_input(run):
    """A model's output that its messages hold goes back to what gave it to the agent."""
    a = run.session("a")  # event 2
    use(a, {"price": 1843}, to="Oslo")  # 3, 4
    ask(a, "It costs 1,843.", [{"role": "tool", "content": '{"price": 1843}'}])  # 5, 6
    a.snapshot("s", {"price": 1843})

    assert ("sure", [6, 4]) == way(run, "price")


def test_model_that_made_it_up(run):
    """A value that is not in a model's messages appeared first in its output, whatever was seen."""
    a = run.session("a")
    use(a, {"price": 1843})
    ask(a, "It costs 1,843.", [{"role": "user", "content": "Guess a price."}])
    a.snapshot("s", {"price": 1843})

    assert [6] == way(run, "price")[1]


@pytest.mark.parametrize("messages", [(), [{"role": "tool", "content": '{"price": 18…'}]])
def test_model_whose_input_was_not_recorded_whole(run, messages):
    """Without all of a model's messages, what was seen before counts, and less surely."""
    a = run.session("a")
    use(a, {"price": 1843})
    ask(a, "It costs 1,843.", messages)
    a.snapshot("s", {"price": 1843})

    assert ("likely", [6, 4]) == way(run, "price")


def test_input_that_nothing_recorded_gave(run):
    """What a model was given, and no event before has, appeared first there."""
    a = run.session("a")
    ask(a, "1,843 it is", [{"role": "user", "content": "Take 1843."}])  # 3, 4
    a.snapshot("s", {"price": 1843})

    assert ("sure", [4, 3]) == way(run, "price")


def test_input_repeats_what_was_seen(run):
    """The writer is the event behind a model's input, not the input that repeats it."""
    a = run.session("a")
    use(a, {"price": 1843})  # 3, 4
    a.snapshot("s", {"price": 0})  # 5
    ask(a, "Thanks.", [{"role": "tool", "content": '{"price": 1843}'}])  # 6, 7
    a.snapshot("t", {"price": 1843})

    assert [4] == way(run, "price")[1]


def test_old_input_is_not_new(run):
    """A message that an earlier call had already is no nearer source than what came since."""
    a = run.session("a")
    question = {"role": "user", "content": "Take 1843."}
    ask(a, "One moment.", [question])  # 3, 4
    a.snapshot("s", {"price": 0})
    use(a, {"price": 1843})  # 6, 7
    ask(a, "Done.", [question, {"role": "tool", "content": "ok"}])
    a.snapshot("t", {"price": 1843})

    assert [7] == way(run, "price")[1]


def test_tool_that_was_told_the_value(run):
    """A tool's output that its arguments hold goes back to the model that asked for it."""
    a = run.session("a")
    ask(a, {"call": {"amount": 1843}}, [{"role": "user", "content": "Pay it."}])  # 3, 4
    use(a, "Paid 1,843 EUR", amount=1843)  # 5, 6
    a.snapshot("s", {"amount": 1843})

    assert ("sure", [6, 5, 4]) == way(run, "amount")


def test_tool_that_found_the_value(run):
    """A tool's output that its arguments do not hold is new, though it was seen before."""
    a = run.session("a")
    use(a, {"price": 1843}, to="Oslo")
    use(a, {"price": 1843}, to="Rome")  # 5, 6
    a.snapshot("s", {"price": 1843})

    assert ("likely", [6]) == way(run, "price")


def test_handoffs(run):
    """A value that came by handoffs goes back through the agents that passed it on."""
    a, b, c = (run.session(name) for name in "abc")  # 2, 3, 4
    use(c, {"price": 1843})  # 5, 6
    c.handoff("b", {"price": 1843})  # 7
    b.handoff("a", "It costs 1,843.")  # 8
    a.snapshot("s", {"price": 1843})

    assert ("sure", [8, 7, 6]) == way(run, "price")


def test_handoff_of_a_state(run):
    """A handoff goes back into the sender's state, and to what gave that its value."""
    a, b = run.session("a"), run.session("b")
    use(b, {"price": 1843})  # 4, 5
    b.snapshot("s", {"found": 1843})  # 6
    b.snapshot("t", {"found": 1843})
    b.handoff("a", {"price": 1843})  # 8
    a.snapshot("s", {"price": 1843})

    assert ("sure", [8, 6, 5]) == way(run, "price")


def test_handoff_of_a_state_that_nobody_wrote(run):
    """If nothing explains the sender's state, the value appeared first there."""
    a, b = run.session("a"), run.session("b")
    b.snapshot("s", {"found": 1843})  # 4
    b.handoff("a", {"price": 1843})  # 5
    a.snapshot("s", {"price": 1843})

    assert ("sure", [5, 4]) == way(run, "price")


def test_copied_within_the_state(run):
    """A value that the state had elsewhere goes back to what wrote it there."""
    a = run.session("a")
    use(a, {"offer": 1843})  # 3, 4
    a.snapshot("s", {"offer": 1843})  # 5
    a.snapshot("t", {"offer": 1843, "price": 1843})

    assert ("sure", [5, 4]) == way(run, "price")


def test_shown_after_the_state_had_a_copy(run):
    """What an event showed the agent goes before an older copy somewhere in its own state."""
    a = run.session("a")
    state = {"flights": {"HAT057": {"number": "HAT057"}}, "booked": {"number": None}}
    a.snapshot("s", state)  # 3
    use(a, '[{"number": "HAT057"}]', to="Oslo")  # 4, 5
    a.snapshot("t", state)
    ask(a, {"call": {"number": "HAT057"}})  # 7, 8
    use(a, {"number": "HAT057"}, number="HAT057")  # 9, 10
    a.snapshot("u", state | {"booked": {"number": "HAT057"}})
    found = blame(list(run.events()), "booked.number")

    assert ("likely", [10, 9, 8, 5]) == way(run, "booked.number")
    assert "the state of 'a' at 's' (event 3) holds it as well" in found.why


def test_copy_made_after_it_was_shown(run):
    """A copy in the state that came after the event that showed the value is a step on the way."""
    a = run.session("a")
    use(a, {"number": "HAT057"}, to="Oslo")  # 3, 4
    a.snapshot("s", {"offers": ["HAT057"]})  # 5
    ask(a, "Other things.")
    a.snapshot("t", {"offers": ["HAT057"], "number": "HAT057"})

    assert ("sure", [5, 4]) == way(run, "number")


@pytest.mark.parametrize("nested,expected", [(False, [11, 10, 8]), (True, [13, 12, 11, 9])])
def test_agent_as_a_tool(run, nested, expected):
    """The result of a tool that is an agent goes back to what that agent got it from."""
    boss, middle, helper = (run.session(name) for name in "abc")  # 2, 3, 4
    boss.snapshot("s", {"price": 0})  # 5
    with boss.tool_call("ask_helper", {"about": "Oslo"}) as asked:  # 6
        with middle.tool_call("ask_on") if nested else nullcontext() as inner:
            use(helper, {"price": 1834.5})
            ask(helper, "It costs 1,834.50.", [{"role": "tool", "content": '{"price": 1834.5}'}])
            if nested:
                inner.output("It costs 1,834.50.")
        asked.output("It costs 1,834.50.")
    boss.snapshot("t", {"price": 1834.5})

    assert ("sure", expected) == way(run, "price")


def test_agent_as_a_tool_that_had_it_in_its_state(run):
    """Where no event of the inner agent holds the value, its state does."""
    boss, helper = run.session("a"), run.session("b")  # 2, 3
    with boss.tool_call("ask_helper", {"about": "Oslo"}) as asked:  # 4
        helper.snapshot("s", {"best": 1834.5})  # 5
        asked.output("It costs 1,834.50.")  # 6
    boss.snapshot("t", {"price": 1834.5})

    assert ("sure", [6, 5]) == way(run, "price")


def test_agent_as_a_tool_that_was_told_the_value(run):
    """A value that the arguments hold was the caller's, whatever happened inside."""
    boss, helper = run.session("a"), run.session("b")  # 2, 3
    with boss.tool_call("ask_helper", {"about": "1834.5"}) as asked:  # 4
        use(helper, {"price": 1834.5})  # 5, 6
        asked.output("It costs 1,834.50.")  # 7
    boss.snapshot("t", {"price": 1834.5})

    assert ("sure", [7, 4]) == way(run, "price")


@pytest.mark.parametrize(
    "output,key,certainty",
    [
        ({"invoice": "INV-4821"}, "amount", "guess"),
        ("Sent as INV-4821 today.", "amount", "guess"),
        ("Order #4821", "amount", "guess"),
        ("Call 555-0192-4821.", "amount", "guess"),
        ({"invoice": "INV-4821"}, "invoice", "likely"),
        ("INV-4821 costs 4,821 EUR.", "amount", "sure"),
        ({"invoice": "INV-4821-7"}, "amount", None),
    ],
)
def test_digits_of_an_identifier(run, output, key, certainty):
    """A number that is only found inside an identifier is a guess at most."""
    a = run.session("a")
    a.snapshot("s", {key: 0})
    use(a, output)
    a.snapshot("t", {key: 4821})
    found = blame(list(run.events()), key)

    assert certainty == (found.certainty if found.writer else None)


@pytest.mark.parametrize(
    "record",
    [
        lambda a, b: use(b, {"price": 1843}),
        lambda a, b: ask(b, "1843"),
        lambda a, b: b.note("1843"),
        lambda a, b: a.handoff("b", {"price": 1843}),
        lambda a, b: b.snapshot("s", {"price": 1843}),
    ],
    ids=["its tool", "its model", "its note", "a handoff to it", "its state"],
)
def test_what_others_saw(run, record):
    """An equal value that the agent could not see explains nothing."""
    a, b = run.session("a"), run.session("b")
    a.snapshot("s", {"price": 0})
    record(a, b)
    a.snapshot("t", {"price": 1843})

    assert "unrecorded" == blame(list(run.events()), "price", agent="a").verdict


@pytest.mark.parametrize("later", [False, True])
def test_nearest_wins(run, later):
    """Of two equal values that the agent could see, the one before the snapshot counts."""
    a = run.session("a")
    use(a, {"price": 1843})  # 3, 4
    a.snapshot("s", {"price": 0})  # 5
    if later:
        a.note("Other things.")
    else:
        use(a, {"cost": 1843})  # 6, 7
    a.snapshot("t", {"price": 1843})

    assert (("likely", [4]) if later else ("sure", [7])) == way(run, "price")


def test_a_rounded_number_is_the_worse_match(run):
    """The number itself is preferred to a rounded one that is nearer."""
    a = run.session("a")
    use(a, {"price": 1843})  # 3, 4
    a.note("About 1.8k, then.")
    a.snapshot("s", {"price": 1843})

    assert ("sure", [4]) == way(run, "price")


def test_nobody_gets_digits_that_were_not_there(run):
    """A value may be rounded on its way, and never gains digits."""
    a = run.session("a")
    a.snapshot("s", {})  # 3
    use(a, {"price": 1843.27, "fare": 2950})  # 4, 5
    a.snapshot("t", {"price": 1843, "fare": 2950.12})
    fare = blame(list(run.events()), "fare")

    assert ("likely", [5]) == way(run, "price")
    assert ("unrecorded", ()) == (fare.verdict, fare.steps)


@pytest.mark.parametrize(
    "output,value,certainty",
    [
        ({"nights": 3}, 3, "likely"),
        ({"rooms": 3}, 3, "guess"),
        ({"rooms": 12}, 12, "likely"),
        ({"rooms": 12, "nights": 11}, 12, None),
        ({"nights": True}, True, "likely"),
        ({"paid": True}, True, "guess"),
        (None, None, "guess"),
        ({"text": "3 nights"}, 3, "likely"),
        ({"rooms": 152}, 152, "likely"),
        ({"nights": 152}, 152, "sure"),
        ({"rooms": 1843}, 1843, "sure"),
    ],
)
def test_common_values_need_their_name_or_their_place(run, output, value, certainty):
    """What is found everywhere counts by its name, or if nothing else holds it; never surely."""
    a = run.session("a")
    a.snapshot("s", {"nights": "?"})
    use(a, output)
    a.snapshot("t", {"nights": value})
    found = blame(list(run.events()), "nights", agent="a")

    expected = ("unrecorded", None) if certainty is None else ("recorded", certainty)
    assert expected == (found.verdict, found.certainty if found.writer else None)


@pytest.mark.parametrize("value", [True, None, 0, 12, "ok", ["x", "y"]])
def test_common_values_of_two_events_are_of_none_of_them(run, value):
    """Where two events between hold a common value, neither is named for sure, nor is neither."""
    a = run.session("a")
    a.snapshot("s", {"nights": "?"})
    use(a, {"rooms": value})
    use(a, {"doors": value})
    a.snapshot("t", {"nights": value})
    found = blame(list(run.events()), "nights", agent="a")

    assert ("unrecorded", "likely") == (found.verdict, found.certainty)
    assert "is too common to trace, and the output of tool call" in found.why


def test_a_crowd_holds_common_values_by_chance(run):
    """In an output of very many values, that a common one is among them is a guess."""
    a = run.session("a")
    a.snapshot("s", {"nights": "?"})
    use(a, {"rooms": list(range(100))})
    a.snapshot("t", {"nights": 57})
    found = blame(list(run.events()), "nights", agent="a")

    assert ("recorded", "guess") == (found.verdict, found.certainty)


@pytest.mark.parametrize("given,form", [(["a", "b"], "before"), (["b"], "now")])
def test_a_list_that_another_agent_changed(run, given, form):
    """Another agent's call that held the list is told of, as it was or as it is now."""
    a, b = run.session("a"), run.session("b")
    a.snapshot("s", {"order": ["a", "b"]})
    use(b, 1, order=given)
    a.snapshot("t", {"order": ["b"]})
    found = blame(list(run.events()), "order[1]", agent="a")
    expected = "Agent 'b' called 't' at 5, which was given order as it "

    assert ("unrecorded", "likely") == (found.verdict, found.certainty)
    assert expected + ("was before." if form == "before" else "is now.") in found.why


def test_notes(run):
    """A note of the whole run is a source of its own; an agent's note repeats what it saw."""
    a = run.session("a")
    use(a, {"price": 1843})  # 3, 4
    run.record("note", "user", {"text": "Take the one for 1,843."})  # 5
    a.snapshot("s", {"price": 1843})
    a.note("The other one was 2,999.")  # 7
    a.snapshot("t", {"price": 1843, "other": 2999})

    assert ("likely", [5]) == way(run, "price")
    assert ("sure", [7]) == way(run, "other")


def test_long_ways_end(run):
    """A value that went round and round comes to an end."""
    a, b = run.session("a"), run.session("b")
    use(a, {"price": 1843})  # 4, 5
    for _ in range(50):
        a.handoff("b", {"price": 1843})
        b.handoff("a", {"price": 1843})
    a.snapshot("s", {"price": 1843})
    certainty, seqs = way(run, "price")

    assert ("sure", 105, 5, 101) == (certainty, seqs[0], seqs[-1], len(seqs))


def test_bodies_that_are_not_needed_are_not_read(run):
    """Where a near event holds the value, bodies of far ones are not looked into."""
    a = run.session("a")
    a.note("Far away.")
    a.snapshot("s", {"price": 0})
    use(a, {"price": 1843})
    a.snapshot("t", {"price": 1843})
    events = list(run.events())
    far = next(event for event in events if event.name == "Far away.")
    object.__setattr__(far, "body", None)

    assert [6] == [step.event.seq for step in blame(events, "price").steps]


class Hostile:
    """Compares, prints and hashes with an error."""

    def __eq__(self, other):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError

    def __hash__(self):
        raise RuntimeError


def test_hostile_values(run):
    """Values that resist comparison, and very deep ones, neither stop nor crash it."""
    deep = []
    for _ in range(300):
        deep = [deep]
    a = run.session("a")
    for value in (Hostile(), float("nan"), 10**5000, deep, {float("nan"): 1}, b"\xff", "\ud800"):
        use(a, {"x": value})
        a.snapshot("s", {"x": value, "again": [value, {"y": value}]})
        for path in ("x", "again", "again[1].y", ""):
            assert blame(list(run.events()), path).agent == "a"
