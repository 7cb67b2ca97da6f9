"""Handing work from one agent to another, so that both sides can check what arrived."""

from argentum.handoff.facts import Fact

__all__ = ["Fact"]
