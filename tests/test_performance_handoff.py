"""
What it costs to make, sign, verify and accept a handoff: `make bench`.

Nothing here fails because a machine is slow; the figures and their targets are printed.
"""

from __future__ import annotations

import pytest
from tests.figures import figure, final_table  # noqa: F401 - a fixture for the module
from tests.handoff.makers import HMAC, SIGNERS, full_handoff

from argentum import HandoffProtocol
from argentum.handoff import Hop, Inbox, find_loop

AUDIENCE = "bob"
VERIFY_US = 200


def spec_handoff(protocol: HandoffProtocol):
    """Make the handoff of the specification's page."""
    return protocol.create_handoff(
        "research_agent",
        "writing_agent",
        "Analyzed 50 customer reviews, identified 3 main themes",
        ["analysis_results.json", "theme_breakdown.csv"],
        0.92,
        "generate_executive_summary",
        {"analysis_method": "sentiment_analysis", "sample_size": 50, "processing_time": "2.3s"},
    )


HANDOFFS = {"spec": spec_handoff, "full": full_handoff}


@pytest.mark.parametrize("how", SIGNERS)
@pytest.mark.parametrize("what", HANDOFFS)
def test_verify(benchmark, how: str, what: str):
    """A text that arrived, until it is known to be signed, well formed, in time and for us."""
    signer, verifier = SIGNERS[how]
    text = HANDOFFS[what](HandoffProtocol(sign_with=signer)).signed.to_json()
    reader = HandoffProtocol(verify_with=[verifier])

    benchmark.pedantic(lambda: reader.verify(text), rounds=3000, warmup_rounds=50)

    median_us = benchmark.stats.stats.median * 1e6
    name = f"verify, {how}, {what} ({len(text):,} characters)"
    figure(name, median_us, VERIFY_US, "µs", at_least=False)


@pytest.mark.parametrize("how", SIGNERS)
def test_create(benchmark, how: str):
    """A handoff of the specification's kind, made and signed."""
    protocol = HandoffProtocol(sign_with=SIGNERS[how][0])

    benchmark.pedantic(lambda: spec_handoff(protocol), rounds=2000, warmup_rounds=50)

    figure(f"create and sign, {how}", benchmark.stats.stats.median * 1e6, 300, "µs", at_least=False)


def test_accept(benchmark):
    """A new handoff that arrives, until its signed receipt is kept."""
    protocol = HandoffProtocol(sign_with=HMAC)
    texts = iter([full_handoff(protocol).signed.to_json() for _ in range(1100)])
    box = Inbox(AUDIENCE, protocol=protocol)

    benchmark.pedantic(lambda: box.accept(next(texts)), rounds=1000, warmup_rounds=50)

    figure("accept, hmac", benchmark.stats.stats.median * 1e6, 500, "µs", at_least=False)


def test_loops(benchmark):
    """A way of 50 hops, looked through for loops from its beginning."""
    way = [Hop(f"a{at % 7}", f"a{(at + 1) % 7}", f"news {at}") for at in range(50)]

    benchmark.pedantic(lambda: find_loop(way), rounds=500, warmup_rounds=10)

    figure(
        "look for loops, a hop", benchmark.stats.stats.median / 50 * 1e6, 20, "µs", at_least=False
    )
