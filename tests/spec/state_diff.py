from argentum import StateDiff
# Track an agent processing a user query
diff = StateDiff()
# Initial state
diff.snapshot("start", {
    "user_query": "What is machine learning?",
    "knowledge": [],
    "confidence": 0.0,
    "processing_steps": 0
})
# After web search
diff.snapshot("searched", {
    "user_query": "What is machine learning?",
    "knowledge": ["ML is a subset of AI", "Uses algorithms to learn patterns"],
    "confidence": 0.7,
    "processing_steps": 1
})
# See what changed
changes = diff.get_changes("start", "searched")
print(changes["knowledge"]) # {'added': ['ML is a subset of AI', 'Uses algorithms to learn patterns']}
print(changes["confidence"]) # {'from': 0.0, 'to': 0.7}
# Analyze the full evolution
sequence = diff.get_sequence_changes()
for step in sequence:
    print(f"{step['from']} → {step['to']}: {len(step['changes'])} changes")
