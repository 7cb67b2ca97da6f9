import argentum
session = argentum.create_agent_session("production_agent")
alerts = session.get("alerts")
if alerts:
    # Configure alerts (works immediately)
    alerts.add_webhook(
        url="https://hooks.slack.com/your-webhook", # Needs real endpoint
        threshold=0.8, # 80% of budget
        message="🚨 AI costs approaching limit!"
    )
    # Check thresholds (works with estimates)
    triggered = alerts.check_thresholds(
        current_cost=450,
        budget=500,
        agent_id="production_system"
    )
