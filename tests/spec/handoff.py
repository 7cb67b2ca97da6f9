from argentum import HandoffProtocol
protocol = HandoffProtocol()
# Research agent hands off to writing agent
handoff = protocol.create_handoff(
    from_agent="research_agent",
    to_agent="writing_agent",
    context_summary="Analyzed 50 customer reviews, identified 3 main themes",
    artifacts=["analysis_results.json", "theme_breakdown.csv"],
    confidence=0.92,
    suggested_next_action="generate_executive_summary",
    metadata={
        "analysis_method": "sentiment_analysis",
        "sample_size": 50,
        "processing_time": "2.3s"
    }
)
# Serialize for network transfer
json_data = protocol.to_json(handoff)
# Receiving agent recreates the handoff
received = protocol.from_json(json_data)
print(f"Received handoff: {received.context_summary}")
print(f"Next action: {received.suggested_next_action}")
# Generate receipt for confirmation
receipt = protocol.generate_receipt(received, "accepted")
