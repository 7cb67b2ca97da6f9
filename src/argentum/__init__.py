"""
A flight recorder and debugger for AI agents.

    session = argentum.create_agent_session("my_agent")
    diff = session["state_diff"]
    diff.snapshot("start", {"memory": []})
    diff.snapshot("progress", {"memory": ["fact1"]})
    diff.get_changes("start", "progress")  # {'memory': {'added': ['fact1']}}

Every name is loaded when it is first used, so that `import argentum` costs next to nothing.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from argentum.errors import (
        ArgentumError,
        FormatError,
        InputError,
        LimitError,
        MissingExtraError,
        NotFoundError,
        StoreError,
        VerificationError,
    )
    from argentum.handoff import (
        ArtifactRef,
        Ed25519Key,
        Fact,
        Handoff,
        HandoffProtocol,
        HmacKey,
        Receipt,
    )
    from argentum.record import AgentSession, Run, create_agent_session
    from argentum.security.settings import (
        SecuritySettings,
        configure_security,
        security_settings,
    )
    from argentum.state import StateDiff, diff, snapshots_of
    from argentum.state.bisect import bisect
    from argentum.state.blame import blame
    from argentum.state.compare import compare
    from argentum.state.history import history
    from argentum.state.watch import Watch, watch_history
    from argentum.store import open_store

    __version__: str

__all__ = [
    "AgentSession",
    "ArgentumError",
    "ArtifactRef",
    "Ed25519Key",
    "Fact",
    "FormatError",
    "Handoff",
    "HandoffProtocol",
    "HmacKey",
    "InputError",
    "LimitError",
    "MissingExtraError",
    "NotFoundError",
    "Receipt",
    "Run",
    "SecuritySettings",
    "StateDiff",
    "StoreError",
    "VerificationError",
    "Watch",
    "__version__",
    "bisect",
    "blame",
    "compare",
    "configure_security",
    "create_agent_session",
    "diff",
    "history",
    "open_store",
    "security_settings",
    "snapshots_of",
    "watch_history",
]

_HOMES = {
    "AgentSession": "argentum.record",
    "ArgentumError": "argentum.errors",
    "ArtifactRef": "argentum.handoff",
    "Ed25519Key": "argentum.handoff",
    "Fact": "argentum.handoff",
    "FormatError": "argentum.errors",
    "Handoff": "argentum.handoff",
    "HandoffProtocol": "argentum.handoff",
    "HmacKey": "argentum.handoff",
    "InputError": "argentum.errors",
    "LimitError": "argentum.errors",
    "MissingExtraError": "argentum.errors",
    "NotFoundError": "argentum.errors",
    "Receipt": "argentum.handoff",
    "Run": "argentum.record",
    "SecuritySettings": "argentum.security.settings",
    "StateDiff": "argentum.state",
    "StoreError": "argentum.errors",
    "VerificationError": "argentum.errors",
    "Watch": "argentum.state.watch",
    "bisect": "argentum.state.bisect",
    "blame": "argentum.state.blame",
    "compare": "argentum.state.compare",
    "configure_security": "argentum.security.settings",
    "create_agent_session": "argentum.record",
    "diff": "argentum.state",
    "history": "argentum.state.history",
    "open_store": "argentum.store",
    "security_settings": "argentum.security.settings",
    "snapshots_of": "argentum.state",
    "watch_history": "argentum.state.watch",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first used, and keep it."""
    if name in _HOMES:
        value: object = getattr(_import_module(_HOMES[name]), name)
    elif name == "__version__":
        value = _import_module("importlib.metadata").version("argentum-agent")
    else:
        message = f"module 'argentum' has no attribute {name!r}"
        raise AttributeError(message, name=name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
