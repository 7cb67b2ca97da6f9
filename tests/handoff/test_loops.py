"""Loops: named in time, and never where work goes on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.handoff.makers import walked

from argentum import HandoffProtocol
from argentum.handoff import ArtifactRef, Fact, Hop, Loop, facts_digest, find_loop, hops_of, loop_of
from argentum.handoff.canonical import digest

AGENTS = "abcdefgh"


def loop(way: str, carried: str) -> Loop | None:
    """Look for a loop on a way, one letter for each agent and for what each hop carries."""
    return find_loop(Hop(*hop) for hop in walked(way, carried))


@pytest.mark.parametrize(
    "way, carried, hop, agents",
    [
        ("abababababa", "x" * 10, 6, "ab"),
        ("abababababa", "xyxyxyxyxy", 6, "ab"),
        ("zabababababab", "wxxxxxxxxxxx", 7, "ab"),
        ("abcabcabcabca", "x" * 12, 9, "abc"),
        ("abcdabcdabcdabcd", "x" * 15, 12, "abcd"),
        ("abcadeabcadeabcadea", "x" * 18, 18, "abcade"),
        ("aaaaaaaaaa", "x" * 9, 6, "a"),
        ("ababababababa", "xyzxyzxyzxyz", 9, "ab"),
        ("abcbabcbabcba", "x" * 12, 12, "abcb"),
    ],
)
def test_loops(way: str, carried: str, hop: int, agents: str):
    """A cycle is named at its third round, with the agents of one."""
    found = loop(way, carried)

    assert (hop, set(agents), len(agents)) == (found.hop, set(found.agents), len(found.agents))
    assert f"up to hop {hop}, {found.hops_without_news} in a row" in found.reason


@pytest.mark.parametrize(
    "way, carried",
    [
        ("ababab", "xxxxx"),  # two attempts came back, the third goes on
        ("abababa", "xxxxxy"),  # and brings something
        ("abababababab", "xaxbxcxdxex"),  # the same order again and again, a new result each time
        ("abcabcab", "xxxxxxx"),
        ("ababababab", "xrxxxxxsx"),  # a result, then two attempts without one
        ("abcdefgh", "xxxxxxx"),  # one fact through many hands
        ("abacadaeafagaha", "xxxxxxxxxxxxxx"),  # asking around
    ],
)
def test_no_loops(way: str, carried: str):
    """What goes on somewhere, or brings something, is no loop."""
    assert None is loop(way, carried)


def test_attempts_are_no_rounds():
    """The same hop tried again and again, without a return, closes no cycle."""
    hops = [Hop("a", "b", "x")] * 20 + [Hop("b", "a", "x")] + [Hop("a", "b", "x")] * 20

    assert None is find_loop(hops)
    assert 44 == find_loop([*hops, *[Hop("b", "a", "x"), Hop("a", "b", "x")] * 4]).hop


def test_a_broken_way_begins_anew():
    """A hop that does not begin where the last one ended is no part of the cycle before."""
    ping, pong = Hop("a", "b", "x"), Hop("b", "a", "x")

    assert None is find_loop([ping, pong, ping, pong, Hop("c", "a", "x"), ping, pong, ping, pong])
    assert find_loop([ping, pong] * 3)


@given(st.data())
def test_every_loop_is_named_in_time(data: st.DataObject):
    """After any way there, a cycle without news is named by its third round (by hop 6 at least)."""
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    length = data.draw(st.integers(2, 6))
    before = legitimate(chance) if data.draw(st.booleans()) else []
    hops, agent = list(before), before[-1].to_agent if before else "a"
    round_ = [agent, *(f"{chance.choice(AGENTS)}{index}" for index in range(length - 1))]
    carried = [f"loop {chance.randrange(2)}" for _ in range(length)]
    for turn in range(4 * length):
        at = turn % length
        hops.append(Hop(round_[at], round_[(at + 1) % length], carried[at]))

    found = find_loop(hops)

    assert found
    assert len(before) < found.hop <= len(before) + max(3 * length, 6)


def legitimate(chance: random.Random) -> list[Hop]:
    """
    Make a way of real work: pipelines, delegation, returns, reviews, failures and attempts.

    What is not real work: to give a task back, as it is, to who just gave it.
    """
    hops: list[Hop] = []
    here, task = chance.choice(AGENTS), "task 0"
    for _ in range(chance.randrange(2, 9)):
        giver = hops[-1].from_agent if hops else ""
        other = chance.choice(AGENTS.replace(here, "").replace(giver or here, ""))
        kind = chance.choice(["pass", "pass on", "delegate", "review", "return", "attempts"])
        hops += worked(chance, kind, Hop(here, other, task), len(hops))
        if kind in ("pass", "pass on", "attempts"):
            here, task = hops[-1].to_agent, hops[-1].carried
    return hops


def worked(chance: random.Random, kind: str, order: Hop, news: int) -> list[Hop]:
    """Make the hops of one piece of work; `news` is a number that none before had."""
    here, other, task = order.from_agent, order.to_agent, order.carried
    if kind == "pass":  # with something new
        return [Hop(here, other, f"task {news}")]
    if kind == "pass on":  # as it is, to one who never had it
        return [Hop(here, f"{other}{news}", task)]
    if kind == "delegate":  # the same order over and over, with a new result each time
        results = range(news, news + chance.randrange(1, 8))
        return [hop for at in results for hop in (order, Hop(other, here, f"result {at}"))]
    if kind == "review":
        drafts = range(news, news + chance.randrange(1, 6))
        return [
            hop
            for at in drafts
            for hop in (Hop(here, other, f"draft {at}"), Hop(other, here, f"remark {at}"))
        ]
    if kind == "return":  # without success up to two times, then with it
        failed = [order, Hop(other, here, task)] * chance.randrange(3)
        return [*failed, order, Hop(other, here, f"result {news}")]
    return [order] * chance.randrange(1, 6)  # no answer at first


@pytest.mark.parametrize("chains", [1000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_no_false_alarm(chains: int):
    """No way of real work, with returns and attempts, is called a loop."""
    ways = [legitimate(random.Random(seed)) for seed in range(chains)]

    assert [] == [seed for seed, way in enumerate(ways) if find_loop(way)]
    revisits = sum(
        any(hop.to_agent in {one.from_agent for one in way[:at]} for at, hop in enumerate(way))
        for way in ways
    )
    assert revisits > chains / 2, "most ways should come back to an agent"


def test_what_counts_as_news():
    """Facts and contents of artifacts are news; words are only if there is neither."""
    protocol = HandoffProtocol()
    fact, other = Fact("1", "/a", "int", "3"), Fact("2", "/a", "int", "4")
    ref = ArtifactRef("x", digest(b"1"), 1)

    def carried(summary: str, **details) -> str:
        return facts_digest(protocol.create_handoff("a", "b", summary, **details))

    assert carried("s", facts=[fact]) == carried("t", facts=[Fact("9", "/a", "int", "3")])
    assert carried("s", facts=[fact]) != carried("s", facts=[other])
    assert carried("s", facts=[fact, other]) == carried("s", facts=[other, fact])
    assert carried("s", artifact_refs=[ref]) != carried("s")
    assert carried("s") == carried("s")
    assert carried("s") != carried("t")


def test_from_handoffs():
    """A loop is found from recorded handoffs, and from the chain that the last one carries."""
    protocol = HandoffProtocol()
    handoffs = [protocol.create_handoff("a", "b", "yours")]
    for _ in range(5):
        last = handoffs[-1]
        words = "yours" if last.to_agent == "a" else "no, yours"
        other = last.from_agent
        handoffs.append(protocol.create_handoff(last.to_agent, other, words, parent=last))

    assert None is loop_of(handoffs[4])
    assert loop_of(handoffs[5]) == find_loop(hops_of(handoffs))
    assert 6 == loop_of(handoffs[5]).hop
