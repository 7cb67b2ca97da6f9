"""Histories in which a condition is known to flip, in ways that are easy and hard to see."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.state.histories import frozen

from argentum.state import Snapshot

KINDS = (
    "monotone", "blip early", "blip late", "gap late", "alternating", "holds at first",
    "holds at both ends", "once", "never", "always",
)  # fmt: skip
MONOTONE = {"monotone", "never", "always"}


def truths(kind: str, count: int, rng: random.Random) -> list[bool]:
    """Say for each of many states whether a condition holds there."""
    begin = rng.randrange(count // 4, 3 * count // 4)
    held = [at >= begin for at in range(count)]
    if kind == "blip early":
        held[rng.randrange(1, begin - 1)] = True
    elif kind == "blip late":
        held[rng.randrange(begin + 1, count - 1)] = False
    elif kind == "gap late":
        at = rng.randrange(begin + 1, count - 11)
        held[at : at + 10] = [False] * 10
    elif kind == "alternating":
        held = [at % 2 == 1 for at in range(count)]
    elif kind == "holds at first":
        held = [at < begin for at in range(count)]
    elif kind == "holds at both ends":
        again = rng.randrange(begin + 1, count - 1)
        held = [at < begin or at >= again for at in range(count)]
    elif kind in ("once", "never"):
        held = [kind == "once" and at == begin for at in range(count)]
    elif kind == "always":
        held = [True] * count
    return held


Make = Callable[[bool, random.Random], dict[str, Any]]

CONDITIONS: dict[str, tuple[Make, Callable[[Any], object]]] = {
    "a flag": (lambda held, _: {"failed": held}, lambda state: state["failed"]),
    "a key that is there or not": (
        lambda held, rng: {"error": str(rng.random())} if held else {},
        lambda state: "error" in state,
    ),
    "a few values": (
        lambda held, rng: {"status": "stuck" if held else rng.choice(["ok", "fine"])},
        lambda state: state["status"] == "stuck",
    ),
    "a number that is always another": (
        lambda held, rng: {"confidence": rng.uniform(0, 0.5) if held else rng.uniform(0.5, 1)},
        lambda state: state["confidence"] < 0.5,
    ),
    "one of a few values beside a counter": (
        lambda held, rng: {"status": "stuck" if held else rng.choice(["ok", "fine"])},
        lambda state: state["step"] >= 0 and state["status"] == "stuck",
    ),
    "a word in a text that is always another": (
        lambda held, rng: {"text": f"{rng.random()} {'error' if held else 'fine'} {rng.random()}"},
        lambda state: "error" in state["text"],
    ),
    "a digest that is always another": (
        lambda held, rng: {"id": rng.getrandbits(60) * 2 + held},
        lambda state: state["id"] % 2,
    ),
}
"""How a state shows whether the condition holds, and the condition."""


def planted(condition: str, held: Sequence[bool], rng: random.Random) -> list[Snapshot]:
    """Make states that also have a counter and noise, which the condition need not read."""
    make = CONDITIONS[condition][0]
    return frozen(
        {"step": step, "noise": rng.random(), **make(one, rng)} for step, one in enumerate(held)
    )
