"""
Loops: agents that hand the same work round and round.

A way is a loop when the same agents follow each other in three rounds, of 1 to 6 hops each, and
either each round carries what the last one did, or none carries anything that was not carried
before. What a hop carries is the digest of `chaining.facts_digest`. Six hops are the least. So a
ping-pong is named at its sixth hop and a cycle of three at its ninth; two attempts that come back
without news are no loop, and neither is any number of rounds of which each brings something.

Agents that change their words at every hop and carry no facts look busy; a budget of hops stops
those.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from argentum.handoff.chaining import facts_digest
from argentum.handoff.document import Handoff

LONGEST_CYCLE = 6
ROUNDS = 3
LEAST_HOPS = 6


@dataclass(frozen=True, slots=True)
class Hop:
    """One handoff, as far as loops are concerned."""

    from_agent: str
    to_agent: str
    carried: str
    """Equal for hops that carry the same; see `facts_digest`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Agents that hand the same work round."""

    hop: int
    """The hop at which it is certain, from 1, further attempts counted."""
    agents: tuple[str, ...]
    """One round."""
    hops_without_news: int
    reason: str


@dataclass(slots=True)
class Trail:
    """
    The way of one piece of work from agent to agent.

    A handoff from the same agent as the one before is another attempt at that hop, or the work's
    other branch; it closes no cycle.
    """

    _hops: list[Hop] = field(default_factory=list)
    _begin: int = 0
    """Where the unbroken way to the present agent begins."""
    _last_news: int = 0
    _seen: set[str] = field(default_factory=set)
    _added: int = 0

    def add(self, hop: Hop) -> Loop | None:
        """Add a hop; give the loop that it closes."""
        self._added += 1
        last = self._hops[-1] if self._hops else None
        if last and _again(last, hop):
            self._hops.pop()
        elif last and last.to_agent != hop.from_agent:
            self._begin = len(self._hops)
        self._hops.append(hop)
        if hop.carried not in self._seen:
            self._seen.add(hop.carried)
            self._last_news = len(self._hops)
        for length in range(1, LONGEST_CYCLE + 1):
            if self._turns(length):
                return self._loop(length)
        return None

    def _turns(self, length: int) -> bool:
        hops = max(ROUNDS * length, LEAST_HOPS)
        if len(self._hops) - self._begin < hops:
            return False
        rounds = self._hops[-hops:]
        if rounds[length:] == rounds[:-length]:
            return True
        ways = [(hop.from_agent, hop.to_agent) for hop in rounds]
        return len(self._hops) - self._last_news >= hops and ways[length:] == ways[:-length]

    def _loop(self, length: int) -> Loop:
        agents = tuple(hop.from_agent for hop in self._hops[-length:])
        stale = len(self._hops) - self._last_news
        reason = (
            f"The work goes round {' → '.join((*agents, agents[0]))}: up to hop {self._added}, "
            f"{stale} in a row carried nothing new. "
            "Give the work to another agent, or finish it with what there is."
        )
        return Loop(self._added, agents, stale, reason)


def find_loop(hops: Iterable[Hop]) -> Loop | None:
    """Give the first loop on the way of one piece of work, or None."""
    trail = Trail()
    return next((loop for hop in hops if (loop := trail.add(hop))), None)


def loop_of(handoff: Handoff) -> Loop | None:
    """Give the loop that a handoff closes, from the chain that it carries."""
    chain = handoff.chain
    if chain is None or chain.hop < LEAST_HOPS:
        return None
    ways = zip(chain.path, chain.path[1:], chain.facts_digests, strict=False)
    return find_loop(Hop(*way) for way in ways)


def hops_of(handoffs: Iterable[Handoff]) -> list[Hop]:
    """Give the hops of handoffs in their order, as they were recorded."""
    return [Hop(one.from_agent, one.to_agent, facts_digest(one)) for one in handoffs]


def _again(last: Hop, hop: Hop) -> bool:
    one_way = (last.from_agent, last.to_agent) == (hop.from_agent, hop.to_agent)
    return one_way and hop.from_agent != hop.to_agent
