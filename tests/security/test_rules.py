"""Every rule for a vendor's token is held to its own examples."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from argentum.security.rules import RULES, Rule
from argentum.security.rules.rule import MARK
from argentum.security.secrets import find_secrets

NAMES = [rule.name for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_the_good_example_is_found(rule: Rule):
    """The made token is found by its rule, and by no other, alone and inside JSON."""
    alone = rule.example()
    inside = f'{{"text": "see\\n{alone}\\n"}}'

    assert [rule.name] == [one.rule for one in find_secrets(alone)]
    assert [rule.name] == [one.rule for one in find_secrets(inside)]


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_the_bad_example_is_left(rule: Rule):
    """What is only like a token is none."""
    assert [] == find_secrets(rule.counter_example())


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_the_finding_covers_the_token(rule: Rule):
    """From the prefix, or what is drawn before it, to the last character."""
    text = rule.example()
    [found] = find_secrets(text)

    assert len(text) == found.end
    assert any(prefix in text[found.start :] for prefix in rule.prefixes)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_is_bounded(rule: Rule):
    """No quantifier is without an end, so that no text makes a rule slow."""
    without_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "C", rule.body)
    literal = re.sub(r"\\.", "c", without_classes)

    assert [] == re.findall(r"[*+]|\{\d*,\}", literal)


def test_names_are_unique():
    """A finding's rule says which one it was."""
    assert [] == [name for name, count in Counter(NAMES).items() if count > 1]


def test_examples_are_marked():
    """No example stands in the source as a whole, where a scanner would take it for a live key."""
    assert [] == [rule.name for rule in RULES if MARK not in rule.good]


def test_a_rule_needs_prefixes():
    """A rule that nothing could begin is refused when it is written."""
    with pytest.raises(ValueError, match="needs prefixes"):
        Rule("empty", (), "[a-z]{8}", good="", bad="")


@pytest.mark.parametrize("prefix", ["ghp_", "npm_"])
def test_a_checksum_makes_a_token_certain(prefix: str):
    """A token whose checksum is right is certain; one whose checksum is not is still reported."""
    right = next(rule.example() for rule in RULES if rule.example().startswith(prefix))
    wrong = right[:-1] + ("a" if right[-1] != "a" else "b")

    assert [1.0] == [one.confidence for one in find_secrets(right)]
    assert [0.8] == [one.confidence for one in find_secrets(wrong)]


def test_many_vendors_are_known():
    """The rules cover what the project promises."""
    assert len({name.partition("-")[0] for name in NAMES}) >= 60
