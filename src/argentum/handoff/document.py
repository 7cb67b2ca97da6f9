"""
The document of a handoff: what one agent tells the next, `argentum.handoff/2`.

The first nine fields are all that a handoff needs; a document that has only these stays valid for
ever. Everything else is optional. Fields of a later version are kept in `extra`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from argentum.errors import InputError, shown
from argentum.handoff import fields as of
from argentum.handoff.canonical import canonical, refused, text
from argentum.handoff.facts import Fact

if TYPE_CHECKING:
    from argentum.handoff.signing import Signed

SCHEMA = "argentum.handoff/2"
MODES = ("transfer", "delegate", "return", "escalate")
_SCHEMA = re.compile(r"argentum\.handoff/[1-9]\d{0,3}")


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """What an artifact was when it was handed over; see `argentum.handoff.artifacts`."""

    name: str
    digest: str
    """`sha256:` and 64 hexadecimal digits."""
    size: int
    """Bytes."""
    media_type: str | None = None
    role: str | None = None
    """`input`, `output` or `evidence`."""
    uri: str | None = None
    """Where it can be had, if not as a file of its name."""
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the receiver must keep to."""

    id: str
    kind: str
    """`must`, `must_not`, `budget` or `deadline`."""
    text: str
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Budget:
    """What is left to spend."""

    tokens_left: int | None = None
    cost_left_usd: str | None = None
    """Decimal text; a `Decimal` is taken too."""
    hops_left: int | None = None
    """How many times the work may be handed on after this handoff."""
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a handoff stands among those before it."""

    root: str
    """The id of the first handoff."""
    parent: str | None = None
    parent_digest: str | None = None
    hop: int = 1
    """1 for the first handoff."""
    path: tuple[str, ...] = ()
    """The agents so far, first sender to present receiver."""
    facts_digests: tuple[str, ...] = ()
    """What each hop carried, for finding loops; see `argentum.handoff.loops`."""
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class StateRef:
    """The sender's state at the handoff, in a recorded run."""

    run_id: str
    seq: int
    snapshot: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class HistoryRef:
    """The sender's messages at the handoff."""

    digest: str | None = None
    messages: int | None = None
    open_tool_calls: tuple[str, ...] = ()
    """Ids of calls that have no result yet."""
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """The span that handed over, by W3C Trace Context."""

    traceparent: str
    tracestate: str | None = None
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Privacy:
    """What was taken out before sending."""

    redacted_paths: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff:
    """
    What one agent hands to another.

    Make one with `HandoffProtocol.create_handoff`. Two are equal if all their fields are, however
    they came about.

    Raises:
        InputError: a field cannot be used; the message says which, its value and what would do.
    """

    from_agent: str
    to_agent: str
    context_summary: str
    artifacts: list[str] = field(default_factory=list, hash=False)
    """Names of what was made, such as files."""
    confidence: float = 1.0
    """From 0 to 1."""
    suggested_next_action: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)
    """Anything that JSON carries exactly."""
    handoff_id: str = ""
    """Unique; without one, it is made from the contents."""
    timestamp: str | None = None
    """When it was made, RFC 3339."""

    schema: str | None = None
    mode: str | None = None
    """`transfer`, `delegate`, `return` or `escalate`."""
    artifact_refs: tuple[ArtifactRef, ...] = ()
    state_ref: StateRef | None = None
    history_ref: HistoryRef | None = None
    facts: tuple[Fact, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    open_items: tuple[str, ...] = ()
    """What is still to be done."""
    budget: Budget | None = None
    chain: Chain | None = None
    audience: str | None = None
    """Who may accept it, if not just `to_agent`."""
    not_before: str | None = None
    ack_by: str | None = None
    """When it must be accepted or rejected; later it is overdue."""
    complete_by: str | None = None
    """When accepted work must have ended; later it is overdue."""
    expires_at: str | None = None
    """When it can no longer be accepted."""
    nonce: str | None = None
    trace: Trace | None = None
    privacy: Privacy | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False, hash=False)
    signed: Signed | None = field(init=False, default=None, compare=False, repr=False)
    """The bytes that were signed, and the signature; None if it is not signed."""

    def __post_init__(self) -> None:
        of.settle(self, CHECKS)
        _refuse_duplicates(self)
        if self.chain:
            _refuse_wrong_chain(self, self.chain)
        if not self.handoff_id:
            bare = hashlib.sha256(self.canonical()).hexdigest()
            object.__setattr__(self, "handoff_id", f"hf_{bare[:32]}")

    def as_document(self) -> dict[str, Any]:
        """Give it as an object of JSON; optional fields that hold nothing are left out."""
        return of.write(self, ALWAYS)

    def canonical(self) -> bytes:
        """Give its canonical bytes (RFC 8785), or exactly those that were signed."""
        return self.signed.payload if self.signed else canonical(self.as_document())


_optional_text = of.optional(text)
_optional_name = of.optional(of.name)
_names = of.tuple_of(of.name)
_optional_count = of.optional(of.count)
_optional_sha256 = of.optional(of.sha256)
_optional_moment = of.optional(of.moment)

ARTIFACT_REF: of.Checks = {
    "name": of.name,
    "digest": of.sha256,
    "size": of.count,
    "media_type": _optional_name,
    "role": of.optional(of.one_of("input", "output", "evidence")),
    "uri": _optional_name,
}
FACT: of.Checks = {
    "id": of.name,
    "path": text,
    "type": of.name,
    "value": text,
    "must_carry": of.boolean,
    "source_seq": _optional_count,
}
CONSTRAINT: of.Checks = {
    "id": of.name,
    "kind": of.one_of("must", "must_not", "budget", "deadline"),
    "text": of.name,
}
BUDGET: of.Checks = {
    "tokens_left": _optional_count,
    "cost_left_usd": of.optional(of.amount),
    "hops_left": _optional_count,
}
CHAIN: of.Checks = {
    "root": of.name,
    "parent": _optional_name,
    "parent_digest": _optional_sha256,
    "hop": of.count,
    "path": _names,
    "facts_digests": of.tuple_of(of.sha256),
}
STATE_REF: of.Checks = {"run_id": of.name, "seq": of.count, "snapshot": _optional_name}
HISTORY_REF: of.Checks = {
    "digest": _optional_sha256,
    "messages": _optional_count,
    "open_tool_calls": _names,
}
TRACE: of.Checks = {"traceparent": of.traceparent, "tracestate": _optional_text}
PRIVACY: of.Checks = {"redacted_paths": of.tuple_of(text)}


def _schema(value: Any, where: str) -> str:
    if type(value) is not str or not _SCHEMA.fullmatch(value):
        raise refused(where, value, f"{SCHEMA!r}")
    return value


def _artifacts(value: Any, where: str) -> list[str]:
    if isinstance(value, str):
        raise refused(where, value, f"a list of names, such as [{shown(value)}],")
    listed: list[str] = of.list_of(of.artifact_name)(value, where)
    return listed


CHECKS: of.Checks = {
    "from_agent": of.name,
    "to_agent": of.name,
    "context_summary": text,
    "artifacts": _artifacts,
    "confidence": of.share,
    "suggested_next_action": _optional_text,
    "metadata": of.json_object,
    "handoff_id": text,
    "timestamp": _optional_moment,
    "schema": of.optional(_schema),
    "mode": of.optional(of.one_of(*MODES)),
    "artifact_refs": of.tuple_of(of.object_of(ArtifactRef, ARTIFACT_REF)),
    "state_ref": of.optional(of.object_of(StateRef, STATE_REF)),
    "history_ref": of.optional(of.object_of(HistoryRef, HISTORY_REF)),
    "facts": of.tuple_of(of.object_of(Fact, FACT)),
    "constraints": of.tuple_of(of.object_of(Constraint, CONSTRAINT)),
    "open_items": of.tuple_of(of.name),
    "budget": of.optional(of.object_of(Budget, BUDGET)),
    "chain": of.optional(of.object_of(Chain, CHAIN)),
    "audience": _optional_name,
    "not_before": _optional_moment,
    "ack_by": _optional_moment,
    "complete_by": _optional_moment,
    "expires_at": _optional_moment,
    "nonce": _optional_name,
    "trace": of.optional(of.object_of(Trace, TRACE)),
    "privacy": of.optional(of.object_of(Privacy, PRIVACY)),
}
ALWAYS = frozenset(
    {
        "from_agent",
        "to_agent",
        "context_summary",
        "artifacts",
        "confidence",
        "suggested_next_action",
        "metadata",
    }
)


def _refuse_duplicates(handoff: Handoff) -> None:
    """Refuse two parts of one name, of which a receiver could not tell which one counts."""
    for where in ("artifact_refs", "facts", "constraints"):
        key = "name" if where == "artifact_refs" else "id"
        seen: set[str] = set()
        for index, part in enumerate(getattr(handoff, where)):
            found = getattr(part, key)
            if found in seen:
                raise InputError(
                    f"{where}[{index}].{key} is {shown(found)}, as of one before; "
                    f"another {key} for each would work."
                )
            seen.add(found)


def _refuse_wrong_chain(handoff: Handoff, chain: Chain) -> None:
    """Refuse a chain that does not lead here."""
    ends = (handoff.from_agent, handoff.to_agent)
    if chain.path and (chain.path[-2:] != ends or len(chain.path) != chain.hop + 1):
        raise InputError(
            f"chain.path is {shown(chain.path)}; the agents from the first to "
            f"{ends[0]!r} and {ends[1]!r}, one more than {chain.hop} hops, would work."
        )
    if chain.facts_digests and len(chain.facts_digests) != chain.hop:
        raise InputError(
            f"chain.facts_digests has {len(chain.facts_digests)} of {chain.hop} hops; "
            "one for each hop would work."
        )
