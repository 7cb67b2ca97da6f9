"""
The ways in which a value comes to be in a state, one story each, with the truth about its origin.

A story makes one value come to be in one place of one agent's state and ends with the question
where it came from. What comes before its first `yield` is before any event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from tests.state.generated_world import REFORMATS, STATUSES, Actor, Booking, Question, World

Story = Iterator[None]
Kind = Callable[["World"], Any]
KINDS: dict[str, Kind] = {}


def kind(story: Kind) -> Kind:
    """Enter a story in the table; its docstring says why its truth is the truth."""
    KINDS[story.__name__] = story
    return story


# --------------------------------------------------------------------- the parts of stories


def settled(w: World, actor: Actor, path: str, value: Any) -> Story:
    """Write a value, at once or later, and see it in a snapshot; equal ones come after it."""
    if w.chance(0.3):
        actor.snapshot()
        yield
    actor.put(path, value)
    if w.chance(0.4):
        yield
    actor.snapshot()
    yield
    w.later(actor, value)


def recorded(w: World, actor: Actor, path: str, value: Any, *origins: int) -> Any:
    """End a story whose value came from an event."""
    yield from settled(w, actor, path, value)
    return Question(actor.name, path, value, "recorded", frozenset(origins))


def unrecorded(w: World, actor: Actor, path: str, value: Any) -> Any:
    """End a story whose value the host program wrote without telling the recorder."""
    yield from settled(w, actor, path, value)
    return Question(actor.name, path, value, "unrecorded")


def begun(w: World, actor: Actor) -> Story:
    """Let time pass after the place was claimed, and see to it that a snapshot shows it before."""
    yield
    actor.start()
    yield


def passed_on(w: World, chain: list[Actor], key: str, forms: tuple[Any, ...]) -> Story:
    """Hand a value from agent to agent, in any of its forms; some repeat it or keep it."""
    for giver, taker in pairwise(chain):
        form = w.rng.choice(forms)
        told = w.sentence(key, form)
        giver.hand(taker, w.rng.choice(({"task": "Go on.", key: form}, {"facts": [told]}, told)))
        yield
        if w.chance(0.3):
            taker.say(key, form)
        if w.chance(0.3):
            taker.put(taker.slot(f"{key}_seen"), form)
            taker.snapshot()


def any_forms(w: World) -> tuple[str, Any, Any]:
    """Give a key, a value as it comes up, and as it is stored: the same, or reformatted."""
    if w.chance(0.5):
        return w.rng.choice(REFORMATS)(w.fresh)
    key, value = w.fresh.any()
    return key, value, value


# --------------------------------------------------------------------- recorded in one agent


@kind
def copied_from_tool(w: World) -> Any:
    """Copy a value of a tool's result; the agent saw it nowhere else before."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield
    w.elsewhere(value, actor)
    call = actor.tool(w.result(key if w.chance(0.6) else "value", value))
    return (yield from recorded(w, actor, path, value, call))


@kind
def common_from_tool(w: World) -> Any:
    """
    Copy a value that is everywhere (`"done"`, `True`).

    One result has it under this very key, just before the first snapshot that shows it.
    """
    actor, value = w.anyone(), w.rng.choice(STATUSES)
    key = f"{w.rng.choice(('payment', 'visa', 'refund', 'approval'))}_state"
    path = actor.slot(key)
    actor.put(path, "none yet")
    yield from begun(w, actor)
    call = actor.tool(w.result(key, value), {"query": "state", "ok": True})
    actor.put(path, value)
    if w.chance(0.5):
        actor.tool({"ok": True, "status": "done", "count": 1})
    actor.snapshot()
    yield
    return Question(actor.name, path, value, "recorded", frozenset({call}), is_distinctive=False)


@kind
def copied_from_model(w: World) -> Any:
    """Copy what a model answered, whole or a field of it; its input does not have it."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield
    w.elsewhere(value, actor)
    if w.chance(0.4):
        value = w.sentence(key, value)
        call = actor.model(value)
    else:
        call = actor.model({"role": "assistant", "content": "ok", "parsed": {key: value}})
    return (yield from recorded(w, actor, path, value, call))


@kind
def parsed_from_text(w: World) -> Any:
    """Read a number, name or date out of a model's sentence; its input does not have it."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield
    w.elsewhere(value, actor)
    return (yield from recorded(w, actor, path, value, actor.say(key, value)))


@kind
def reformatted(w: World) -> Any:
    """Spell a recorded value another way; no other event has it in any spelling."""
    actor, (key, raw, value) = w.anyone(), w.rng.choice(REFORMATS)(w.fresh)
    path = actor.slot(key)
    yield
    w.elsewhere(value, actor)
    if w.chance(0.7) or not isinstance(raw, str):
        call = actor.tool(w.result(key, raw))
    else:
        call = actor.say(key, raw)
    return (yield from recorded(w, actor, path, value, call))


@kind
def echoed_by_model(w: World) -> Any:
    """
    Take from a model what a tool told the same agent before: the tool is the first source.

    The model's input has it where that is recorded; the agent's past has it in any case.
    """
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield
    call = actor.tool(w.result(key, value))
    yield
    w.elsewhere(value, actor)
    if w.chance(0.5):
        actor.snapshot()
    actor.say(key, value)
    return (yield from recorded(w, actor, path, value, call))


@kind
def argument_of_model(w: World) -> Any:
    """Store from a tool's result what the model chose as its argument: the model brought it up."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield
    w.elsewhere(value, actor)
    arguments = {key: value, "confirm": True}
    function = {"name": "book", "arguments": w.rng.choice((arguments, json.dumps(arguments)))}
    call = actor.model({"role": "assistant", "content": None, "tool_calls": [function]})
    if w.chance(0.3):
        yield
    actor.tool(w.result(key, value), arguments, name="book")
    return (yield from recorded(w, actor, path, value, call))


@kind
def list_item(w: World) -> Any:
    """Append facts one by one, trim or extend the front: an item keeps the call that brought it."""
    actor, rows = w.anyone(), [w.fresh.draw("prose") for _ in range(w.rng.randrange(4))]
    path, asked, call = actor.slot("facts"), None, 0
    actor.put(path, rows)
    yield
    for turn in range(count := w.rng.randint(3, 5)):
        key, value = w.fresh.any()
        origin = w.source(actor, key, value)
        rows.append({"text": value, "ok": True} if w.chance(0.4) else value)
        if asked is None and (w.chance(0.5) or turn == count - 2):
            asked, call = rows[-1], origin
        elif w.chance(0.5) and rows[0] is not asked:
            del rows[0]
        elif w.chance(0.3):
            rows.insert(0, w.fresh.draw("prose"))
        actor.snapshot()
        yield
    inner = ".text" if isinstance(asked, dict) else ""
    value = asked["text"] if inner else asked
    where = f"{path}[{rows.index(asked)}]{inner}"
    return Question(actor.name, where, value, "recorded", frozenset({call}))


@kind
def whole_sub_dict(w: World) -> Any:
    """Keep a tool's result, or a part of it, whole; asked is all of it or one leaf inside."""
    actor, f = w.anyone(), w.fresh
    made: Any = Booking(f.code(), f.draw("name"), f.draw("city"), f.money())
    if as_dict := w.chance(0.7):
        made = {**vars(made), "stay": {"from": f.draw("date").isoformat(), "nights": 1}}
    path = actor.slot("booking")
    yield
    w.elsewhere(made, actor)
    call = actor.tool(w.rng.choice((made, {"status": "ok", "booking": made})))
    yield from settled(w, actor, path, made)
    leaf = w.rng.choice(("", "guest", "price", "paid", "stay.nights" if as_dict else "city"))
    value = made
    for step in filter(None, leaf.split(".")):
        value = value[step] if isinstance(value, dict) else getattr(value, step)
    where, is_common = f"{path}.{leaf}".rstrip("."), leaf in ("paid", "stay.nights")
    return Question(
        actor.name, where, value, "recorded", frozenset({call}), is_distinctive=not is_common
    )


@kind
def overwritten(w: World) -> Any:
    """
    Write one place again and again, from a tool call each: the last one gave what is there.

    It does so even if an earlier one said the same (A, B, A); it did not hear it from that one.
    """
    actor, (key, first) = w.anyone(), w.fresh.any()
    values = [first, *(w.fresh.like(first) for _ in range(w.rng.randint(1, 2)))]
    if w.chance(0.3):
        key, values = "delivery_state", w.rng.sample(STATUSES[:5], 2)
    if is_back := w.chance(0.5) or key == "delivery_state":
        values.append(values[0])
    path = actor.slot(key)
    yield from begun(w, actor)
    w.elsewhere(values[-1], actor)
    for value in values:
        call = actor.tool(w.result(key, value))
        actor.put(path, value)
        actor.snapshot()
        yield
    w.later(actor, values[-1])
    return Question(
        actor.name, path, values[-1], "recorded", frozenset({call}), is_distinctive=not is_back
    )


@kind
def user_message(w: World) -> Any:
    """Take over what the user wrote: in a note of the run or the agent, or in a prompt only."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path, text = actor.slot(key), w.sentence(key, value)
    yield
    w.elsewhere(value, actor)
    actor.hear("user", text)
    if w.detail == "full" and w.chance(0.3):
        origin = actor.say(key, value) if w.chance(0.5) else actor.model("I will see to it.")
        return (yield from recorded(w, actor, path, value, origin))
    to = w.rng.choice((w.run, actor.session))
    data = w.rng.choice(({}, {"role": "user"}, {"wanted": {key: value}}))
    origin = to.note(text if len(data) == 0 or w.chance(0.5) else f"User: {text}", **data)
    yield
    if w.chance(0.5):
        actor.say(key, value)
    return (yield from recorded(w, actor, path, value, origin))


# --------------------------------------------------------------------- recorded, by way of others


@kind
def one_handoff(w: World) -> Any:
    """Get a value from another agent, who got it from an event: that event is where it began."""
    (giver, taker), (key, value) = w.rng.sample(w.actors, 2), w.fresh.any()
    path = taker.slot(key)
    yield
    w.elsewhere(value, giver, taker)
    call = w.source(giver, key, value)
    yield from passed_on(w, [giver, taker], key, (value,))
    return (yield from recorded(w, taker, path, value, call))


@kind
def first_in_handoff(w: World) -> Any:
    """
    Get a value that the giver had in its state from the start.

    The handoff is the first event that tells it, the giver's first snapshot the first that shows
    it: both are right.
    """
    (giver, taker), (key, value) = w.rng.sample(w.actors, 2), w.fresh.any()
    path = taker.slot(key)
    giver.put(giver.slot("own"), value)
    yield
    giver.start()
    w.elsewhere(value, giver, taker)
    handoff = giver.hand(taker, {"task": "Go on.", key: value})
    yield
    return (yield from recorded(w, taker, path, value, handoff, giver.first_seq))


@kind
def several_handoffs(w: World) -> Any:
    """Get a value over two or three handoffs, maybe reformatted: it began with the first agent."""
    key, raw, value = any_forms(w)
    chain = w.rng.sample(w.actors, min(len(w.actors), w.rng.randint(3, 4)))
    chain += chain[:1] if len(chain) == 2 else []
    path = chain[-1].slot(key)
    yield
    w.elsewhere(value, *chain)
    call = chain[0].tool(w.result(key, raw))
    yield from passed_on(w, chain, key, (raw, value))
    return (yield from recorded(w, chain[-1], path, value, call))


@kind
def summed_up(w: World) -> Any:
    """Read a value out of the summary that a model made of tools' results and another agent got."""
    (giver, taker), (key, value), (other_key, other) = (
        w.rng.sample(w.actors, 2), w.fresh.any(), w.fresh.any()
    )  # fmt: skip
    path = taker.slot(key)
    yield
    call = giver.tool(w.result(key, value))
    yield
    giver.tool(w.result(other_key, other))
    w.elsewhere(value, giver, taker)
    text = f"{w.sentence(other_key, other)}\n{w.sentence(key, value)}"
    giver.model(text)
    giver.hand(taker, w.rng.choice((text, {"summary": text, "status": "done"})))
    yield
    return (yield from recorded(w, taker, path, value, call))


@kind
def summary_kept(w: World) -> Any:
    """Keep a model's summary whole: the model wrote the text, whoever brought up what it tells."""
    actor, (key, value), (other_key, other) = w.anyone(), w.fresh.any(), w.fresh.any()
    path = actor.slot("summary")
    yield
    actor.tool(w.result(key, value))
    yield
    actor.tool(w.result(other_key, other))
    text = f"{w.sentence(other_key, other)}\n{w.sentence(key, value)}"
    call = actor.model(text)
    actor.put(path, text)
    actor.snapshot()
    yield
    actor.model(f"As I said: {text}")
    return Question(actor.name, path, text, "recorded", frozenset({call}), is_distinctive=False)
