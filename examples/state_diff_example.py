"""
A reasoning agent with its state tracked: what changed at each step, and a state given back.

    python examples/state_diff_example.py
"""

from __future__ import annotations

from typing import Any

from argentum import StateDiff

diff = StateDiff()

# An agent processes a user's question; it changes its state in place, as agents do.
state: dict[str, Any] = {
    "user_query": "What is machine learning?",
    "knowledge": [],
    "confidence": 0.0,
    "processing_steps": 0,
}
diff.snapshot("start", state)

state["knowledge"] += ["ML is a subset of AI", "Uses algorithms to learn patterns"]
state["confidence"] = 0.7
state["processing_steps"] += 1
diff.snapshot("searched", state)

state["knowledge"].remove("Uses algorithms to learn patterns")
state["confidence"] = 0.4
state["processing_steps"] += 1
diff.snapshot("doubted", state)

# What changed between any two points?
changes = diff.get_changes("start", "searched")
print(changes["knowledge"])
print(changes["confidence"])

# And along the way?
for step in diff.get_sequence_changes():
    print(f"{step['from']} → {step['to']}: {len(step['changes'])} changes")
    for path, change in step["changes"].items():
        print(f"    {path}: {change}")

# Back to the moment before the doubt, with its exact types.
print(diff.restore("searched")["knowledge"])
