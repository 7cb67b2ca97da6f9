import argentum
# Available via session (recommended)
session = argentum.create_agent_session("my_agent")
tracker = session.get("cost_tracker")
if tracker:
    # Record token usage (works with estimates)
    tracker.record_usage(
        operation="completion",
        tokens_used=1500,
        agent_id="research_agent",
        model="gpt-4"
    )
    # Get cost reports
    report = tracker.get_cost_report()
    print(f"Total estimated cost: ${report.total_cost:.4f}")
    print(f"Cost by agent: {report.breakdown.by_agent}")
