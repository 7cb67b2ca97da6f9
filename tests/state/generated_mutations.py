"""The stories of values that no event explains, one each, with the truth about them."""

from __future__ import annotations

from typing import Any

from tests.state.generated_stories import KINDS, begun, kind, unrecorded
from tests.state.generated_world import Question, World

__all__ = ["KINDS"]


@kind
def mutated_unknown(w: World) -> Any:
    """Set a value that no event holds; at most one that looks like it (`12343` beside `1234`)."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield from begun(w, actor)
    if w.chance(0.7):
        w.source(actor, key, w.fresh.near(value))
        yield
    return (yield from unrecorded(w, actor, path, value))


@kind
def mutated_unseen(w: World) -> Any:
    """Set a value that only others hold in private, or that the agent meets only afterwards."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield from begun(w, actor)
    w.elsewhere(value, actor, share=1)
    yield
    question = yield from unrecorded(w, actor, path, value)
    w.source(actor, key, value)
    return question


@kind
def mutated_leaf(w: World) -> Any:
    """Change one leaf of a dict that a tool gave: the tool said something else for it."""
    actor, f = w.anyone(), w.fresh
    made = {"booking_id": f.code(), "guest": f.draw("name"), "price": f.money(), "paid": False}
    path = actor.slot("booking")
    yield from begun(w, actor)
    actor.tool({"status": "ok", "booking": dict(made)})
    actor.put(path, made)
    actor.snapshot()
    yield
    leaf = w.rng.choice(("booking_id", "guest", "price"))
    value = f.draw("name") if leaf == "guest" else f.like(made[leaf])
    return (yield from unrecorded(w, actor, f"{path}.{leaf}", value))


@kind
def mutated_after_tool(w: World) -> Any:
    """Set another value than the tool call just before gave under the same key."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    yield from begun(w, actor)
    actor.tool(w.result(key, w.fresh.like(value)))
    return (yield from unrecorded(w, actor, path, value))


@kind
def derived(w: World) -> Any:
    """Calculate with the results of two tools: what comes out is in no event."""
    actor, f = w.anyone(), w.fresh
    path, parts = actor.slot("total"), (f.money(), f.money())
    while not f.reserve(sum(parts)):
        parts = (f.money(), f.money())
    yield from begun(w, actor)
    for part in parts:
        actor.tool(w.result("price", part))
        yield
    return (yield from unrecorded(w, actor, path, round(sum(parts), 2)))


@kind
def counted(w: World) -> Any:
    """Count up from snapshot to snapshot, between numbers that no event holds."""
    actor, value = w.anyone(), w.rng.randrange(130, 900)
    path = actor.slot("tokens_used")
    yield from begun(w, actor)
    for _ in range(w.rng.randint(2, 5)):
        value += w.rng.randint(1, 9)
        actor.put(path, value)
        actor.snapshot()
        yield
    return Question(actor.name, path, value, "unrecorded")


@kind
def initial(w: World) -> Any:
    """Have a value from the first snapshot on, before any event that the agent sees holds it."""
    actor, (key, value) = w.anyone(), w.fresh.any()
    path = actor.slot(key)
    actor.put(path, value)
    yield
    w.elsewhere(value, actor)
    actor.start()
    yield
    w.later(actor, value)
    return Question(actor.name, path, value, "initial")
