"""The flight recorder: runs, the sessions of their agents, and the starter of programs."""

from argentum.record.liveness import status_now
from argentum.record.run import Run, current_run
from argentum.record.session import AgentSession, create_agent_session
from argentum.record.span import Span

__all__ = ["AgentSession", "Run", "Span", "create_agent_session", "current_run", "status_now"]
