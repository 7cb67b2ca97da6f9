"""Handing on: how a handoff follows the one by which its sender got the work."""

from __future__ import annotations

from dataclasses import replace

from argentum.errors import InputError, LimitError, shown
from argentum.handoff.canonical import canonical, digest
from argentum.handoff.document import Budget, Chain, Handoff


def following(parent: Handoff, handoff: Handoff) -> Handoff:
    """
    Place a handoff behind its parent: one hop on in the chain, one hop less in the budget.

    Raises:
        InputError: it does not come from the agent that the parent went to.
        LimitError: the parent's budget has no hop left.
    """
    if handoff.from_agent not in (parent.to_agent, parent.audience):
        raise InputError(
            f"from_agent is {shown(handoff.from_agent)}, but the parent went to "
            f"{shown(parent.to_agent)}; to try again, give the parent of the one that failed."
        )
    before = chain_of(parent)
    chain = Chain(
        root=before.root,
        parent=parent.handoff_id,
        parent_digest=digest(parent.canonical()),
        hop=before.hop + 1,
        path=(*before.path, handoff.to_agent),
        facts_digests=(*before.facts_digests, facts_digest(handoff)),
    )
    return replace(handoff, chain=chain, budget=_spent(parent, handoff))


def chain_of(handoff: Handoff) -> Chain:
    """Give a handoff's chain; without one it is the first."""
    return handoff.chain or Chain(
        root=handoff.handoff_id,
        path=(handoff.from_agent, handoff.to_agent),
        facts_digests=(facts_digest(handoff),),
    )


def facts_digest(handoff: Handoff) -> str:
    """
    Give one digest for what a handoff carries: equal ones bring nothing new.

    That is its facts and the contents of its artifacts; if it has neither, its summary and the
    names of its artifacts.
    """
    carried: list[list[str]] = [[fact.path, fact.type, fact.value] for fact in handoff.facts]
    carried += [[ref.name, "sha256", ref.digest] for ref in handoff.artifact_refs]
    if not carried:
        carried = [[handoff.context_summary], *([name] for name in handoff.artifacts)]
    return digest(canonical(sorted(carried)))


def _spent(parent: Handoff, handoff: Handoff) -> Budget | None:
    left = parent.budget.hops_left if parent.budget else None
    if left is None:
        return handoff.budget
    if left == 0:
        way = " → ".join(chain_of(parent).path)
        raise LimitError(
            f"The budget of hops is spent after {way}; finish the work there, or escalate it."
        )
    own = handoff.budget or Budget()  # what is left of the rest, only the sender knows
    hops = left - 1 if own.hops_left is None else min(left - 1, own.hops_left)
    return replace(own, hops_left=hops)
