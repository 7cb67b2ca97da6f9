import argentum
# Create an agent session with all debugging tools
session = argentum.create_agent_session("my_agent")
# Manage agent memory with natural decay
context = session["context_decay"]
context.add("user_name", "Alice", importance=0.9)
context.add("temp_data", "processing...", importance=0.3)
context.step() # time passes
active = context.get_active() # important stuff survives, temp data fades
