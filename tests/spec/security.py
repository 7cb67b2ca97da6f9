import argentum
# Configure security for production
argentum.configure_security(
    max_state_size_mb=10, # Prevent memory exhaustion
    max_context_items=5000, # Limit context growth
    enable_all_protections=True # Input validation, XSS prevention, etc.
)
# Create secure session
session = argentum.create_agent_session("production_agent", secure=True)
