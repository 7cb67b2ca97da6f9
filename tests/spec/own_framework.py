import argentum
# Custom framework integration
class MyAgent:
    def __init__(self):
        self.session = argentum.create_agent_session("my_agent")
        self.context = self.session['context_decay']
        self.state_diff = self.session['state_diff']
    def process(self, input_data):
        self.state_diff.snapshot("start", self.state)
        self.context.add("last_input", input_data, importance=0.8)
        # ... your agent logic ...
        self.state_diff.snapshot("end", self.state)
        return result
