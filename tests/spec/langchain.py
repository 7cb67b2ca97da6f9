import argentum
# LangChain integration
from langchain.agents import Agent
agent = Agent(...)
session = argentum.create_agent_session("langchain_agent")
session['state_diff'].snapshot("before", agent.memory)
result = agent.run("What is the weather?")
session['state_diff'].snapshot("after", agent.memory)
