"""The optional fields that `create_handoff` and `generate_receipt` take, for editors and mypy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

from argentum.handoff.document import (
    ArtifactRef,
    Budget,
    Constraint,
    HistoryRef,
    Privacy,
    StateRef,
    Trace,
)
from argentum.handoff.facts import Fact


class HandoffDetails(TypedDict, total=False):
    """See the fields of `Handoff`."""

    handoff_id: str
    timestamp: str | datetime
    mode: str
    artifact_refs: Sequence[ArtifactRef]
    state_ref: StateRef
    history_ref: HistoryRef
    facts: Sequence[Fact]
    constraints: Sequence[Constraint]
    open_items: Sequence[str]
    budget: Budget
    audience: str
    not_before: str | datetime
    ack_by: str | datetime
    complete_by: str | datetime
    expires_at: str | datetime
    nonce: str
    trace: Trace
    privacy: Privacy
    extra: dict[str, Any]


class ReceiptDetails(TypedDict, total=False):
    """See the fields of `Receipt`."""

    agent: str
    reason_code: str
    reason: str
    result_refs: Sequence[ArtifactRef]
    no_output: bool
    coverage: str | Decimal
    cost_usd: str | Decimal
    extra: dict[str, Any]
