import argentum
# Create an agent session with all debugging tools
session = argentum.create_agent_session("my_agent")
# Track state changes over time
diff = session["state_diff"]
diff.snapshot("start", {"memory": [], "goals": ["research topic"]})
# ... agent processes ...
diff.snapshot("progress", {"memory": ["fact1", "fact2"], "goals": ["write summary"]})
# See exactly what changed
changes = diff.get_changes("start", "progress")
# {'memory': {'added': ['fact1', 'fact2']}, 'goals': {'from': ['research topic'], 'to': ['write summary']}}
