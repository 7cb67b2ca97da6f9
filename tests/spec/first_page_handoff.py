import argentum
# Hand off context between agents
protocol = argentum.HandoffProtocol()
handoff = protocol.create_handoff(
    from_agent="researcher",
    to_agent="writer",
    context_summary="Found 3 key sources on quantum computing",
    artifacts=["research_notes.json"],
    confidence=0.85
)
