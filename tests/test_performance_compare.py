"""
What a comparison of two long runs costs: `make bench`.

Nothing here fails because a machine is slow; the figure and its target are printed.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from argentum import Run
from argentum.state.compare import OTHER_RESULT, compare
from argentum.store import open_store

EVENTS = 10_000
TARGET_S = 2.0
TURN = 5
"""Events of a turn: the two of a model call, the two of a tool call, one snapshot."""
WINDOW = 12


def record(file: Path, run_id: str, *, seed: int) -> None:
    """Record a run of two agents that take turns by chance, with a retry here and there."""
    chance = random.Random(seed)
    store = open_store(file)
    with store.batch(), Run("long", store=store, run_id=run_id) as run:
        agents = [Agent(run.session(name)) for name in ("one", "two")]
        todo = [agent for agent in agents for _ in range(EVENTS // TURN // len(agents))]
        chance.shuffle(todo)
        for number, agent in enumerate(todo):
            slips = seed > 0 and number > len(todo) // 3 and chance.random() < 0.02
            agent.turn(slips=slips)
    store.close()


class Agent:
    """Asks a model, calls a tool and notes what came out, with growing messages and state."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.random = random.Random(session.agent_id)
        self.messages: list[Any] = [{"role": "system", "content": "Be kind. " * 40}]
        self.state: dict[str, Any] = {"step": 0, "facts": [], "notes": {"a": "x" * 500}}

    def turn(self, *, slips: bool) -> None:
        session, number = self.session, self.random.randrange(10**6)
        with session.model_call("m", self.messages[-WINDOW:]) as call:
            call.output({"role": "assistant", "content": f"Look up {number}. " * 10})
        with session.tool_call("look_up", {"number": number, "limit": 3}) as call:
            result = "timeout" if slips else [f"fact {number}"] * 3
            call.output(result)
        self.messages.append({"role": "tool", "content": str(result) * 10})
        self.state["step"] += 1
        self.state["facts"].append(result)
        session.snapshot("turn", self.state)


def test_compare_long_runs(benchmark: Any, tmp_path: Path) -> None:
    """Two runs of 10,000 events, read from their store and compared."""
    file = tmp_path / "runs.db"
    record(file, "a", seed=0)
    record(file, "b", seed=1)

    def both() -> str:
        store = open_store(file)
        events = [list(store.events(name)) for name in ("a", "b")]
        found = compare(*events)
        store.close()
        return found.kind

    kind = benchmark.pedantic(both, rounds=3)
    median = benchmark.stats.stats.median
    reached = "" if median <= TARGET_S else "  MISSED"
    print(f"\ncompare of two runs of {EVENTS:,} events: {median:.3g} s (≤ {TARGET_S} s){reached}")
    assert OTHER_RESULT == kind
