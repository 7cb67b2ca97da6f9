"""Agent states of three sizes, and the steps of an agent that changes them in place."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pydoc_data.topics import topics
from typing import Any

TEXT = " ".join(" ".join(topics.values()).split())
WINDOW = 24
"""Messages that the medium agent keeps: it trims its context from the front."""

State = dict[str, Any]


class Agent:
    """Makes a state and changes it: three leaves and one new message a step."""

    def __init__(self, size: str, *, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.number = 0
        self.state: State = _SIZES[size](self)

    def prose(self, length: int) -> str:
        start = self.random.randrange(len(TEXT) - length)
        return TEXT[start : start + length]

    def message(self) -> State:
        self.number += 1
        made: State = {
            "id": f"msg_{self.number}",
            "role": ("user", "assistant", "tool")[self.number % 3],
            "content": self.prose(self.random.randrange(400, 1600)),
            "meta": {"tokens": self.number, "latency_ms": self.random.random(), "ok": True,
                     "model": "gpt-x", "tags": ["a", "b", str(self.number)]},
        }  # fmt: skip
        if self.number % 2:
            made["tool_calls"] = [self._call(place) for place in range(3)]
        return made

    def _call(self, place: int) -> State:
        return {
            "id": f"call_{self.number}_{place}", "name": "search",
            "arguments": {"query": self.prose(40), "limit": 10, "page": place, "exact": False},
            "result": {"status": "ok", "score": self.random.random(), "cached": None,
                       "items": [self.prose(60), self.prose(60)]},
        }  # fmt: skip

    def step(self) -> State:
        """Change three leaves and append one message, or in a small state one memory."""
        state = self.state
        state["step"] += 1
        state["confidence"] = self.random.random()
        if self.size == "small":
            state["budget"]["tokens"] += 1
            state["memory"] = [*state["memory"][1:], {"k": self.prose(12), "v": state["step"]}]
            return state
        self.random.choice(state["messages"])["meta"]["tokens"] += 1
        state["messages"].append(self.message())
        if self.size == "medium" and len(state["messages"]) > WINDOW:
            del state["messages"][:4]
        return state


def _small(agent: Agent) -> State:
    return {
        "query": "What is machine learning?", "step": 0, "confidence": 0.0, "goals": ["a", "b"],
        "memory": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c", "v": 3}],
        "plan": {"steps": [{"id": 1, "done": False}, {"id": 2, "done": False}], "next": None},
        "budget": {"usd": 1.0, "tokens": 100}, "flags": [True, False, None, "x", 2.5],
        "note": agent.prose(80),
    }  # fmt: skip


def _with_messages(count: int, facts: int) -> Callable[[Agent], State]:
    def make(agent: Agent) -> State:
        return {
            "agent": "a", "step": 0, "confidence": 0.0, "budget": {"usd": 1.0, "tokens": 100},
            "messages": [agent.message() for _ in range(count)],
            "memory": [{"key": f"k{n}", "fact": agent.prose(80), "weight": agent.random.random()}
                       for n in range(facts)],
        }  # fmt: skip

    return make


_SIZES: dict[str, Callable[[Agent], State]] = {
    "small": _small,
    "medium": _with_messages(22, 20),
    "large": _with_messages(2000, 200),
}


def leaves(value: object) -> Iterator[object]:
    """Go through the values that are no containers."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value
