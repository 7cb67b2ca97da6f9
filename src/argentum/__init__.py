"""
A flight recorder and debugger for AI agents.

Start with `create_agent_session`, or run a program as it is under `argentum run`.
"""

from __future__ import annotations

from argentum.errors import (
    ArgentumError,
    FormatError,
    InputError,
    LimitError,
    MissingExtraError,
    NotFoundError,
    StoreError,
)
from argentum.record import AgentSession, Run, create_agent_session
from argentum.state import StateDiff, diff
from argentum.store import open_store

__all__ = [
    "AgentSession",
    "ArgentumError",
    "FormatError",
    "InputError",
    "LimitError",
    "MissingExtraError",
    "NotFoundError",
    "Run",
    "StateDiff",
    "StoreError",
    "create_agent_session",
    "diff",
    "open_store",
]


def __getattr__(name: str) -> str:
    """Read `__version__` from the package's metadata when it is asked for."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely needed

        return version("argentum-agent")
    message = f"module 'argentum' has no attribute {name!r}"
    raise AttributeError(message)
