"""
Find secrets in a text or in a value: `find_secrets`.

A finding says where a secret is and by which rule, and never holds the secret itself, so it can be
logged, shown and stored. `scanning` says how they are found, `rules/` which
vendors' tokens are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from argentum.security.hits import ENDS_LEAF, Hit
from argentum.security.leaves import Leaves, leaf_at
from argentum.security.rules import RULES, Rule
from argentum.security.scanning import Ruleset, ruleset_of, scan
from argentum.tree.paths import Path, Step

LEAST_CONFIDENCE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is; the secret itself is not kept."""

    rule: str
    start: int
    """Where it begins in the text, or in the text at `path`."""
    end: int
    confidence: float
    path: Path | None = None
    """Where in a value; None if a text was searched."""
    in_key: bool = False
    """Whether it is a part of the last step's key."""
    encoding: str = ""
    """What it is hidden under: base64, hex, url or json."""


def find_secrets(
    value: object,
    *,
    rules: Sequence[Rule] = RULES,
    at: Sequence[Step] = (),
    least_confidence: float = LEAST_CONFIDENCE,
) -> list[Secret]:
    """
    List the secrets in a text, or in all texts and keys of a value of any type.

    Args:
        rules: which vendors' tokens are known; passwords, named keys, private keys, web tokens and
            logins in URLs are always looked for.
        at: the steps that lead to the value, so that `"hunter22"` at `password` is one.
        least_confidence: from 0 to 1; 0.9 leaves only what has a vendor's shape.
    """
    ruleset = ruleset_of(tuple(rules))
    if type(value) is str and not at:
        found = [_secret(hit) for hit in scan(as_ascii(value), ruleset)]
    else:
        leaves = Leaves(value, at=tuple(at))
        found = secrets_in(leaves, hits_in_leaves(leaves, ruleset))
    return [one for one in found if one.confidence >= least_confidence]


def secrets_in(leaves: Leaves, hits: list[tuple[int, Hit]]) -> list[Secret]:
    """Say where hits are; a path shows no key that holds one."""
    for number, hit in hits:
        slot = leaves.slot_of(number)
        if slot[1] < 0:
            leaves.hidden_keys[slot] = f"[{hit.rule}]"
    found = []
    for number, hit in hits:
        slot = leaves.slot_of(number)
        found.append(_secret(hit, leaves.path_to(slot), in_key=slot[1] < 0))
    return found


def as_ascii(text: str) -> bytes:
    """Give one byte per character, so that places in the bytes are places in the text."""
    return text.encode("ascii", "replace")


def hits_in_leaves(leaves: Leaves, ruleset: Ruleset) -> list[tuple[int, Hit]]:
    """Scan all texts of a value at once; give each hit with the number of its leaf."""
    return places_in_leaves(leaves, scan(as_ascii("".join(leaves.pieces)), ruleset))


def places_in_leaves(leaves: Leaves, hits: list[Hit]) -> list[tuple[int, Hit]]:
    """Take hits in the joined text back to the leaves' own texts."""
    found: list[tuple[int, Hit]] = []
    if not hits:
        return found
    starts = leaves.starts()
    for hit in hits:
        number = leaf_at(starts, hit.start)
        begin = starts[number] + leaves.label_length(number)
        length = starts[number + 1] - begin - len(ENDS_LEAF)
        start, end = max(hit.start - begin, 0), min(hit.end - begin, length)
        if start < end:
            found.append((number, hit._replace(start=start, end=end)))
    return found


def _secret(hit: Hit, path: Path | None = None, *, in_key: bool = False) -> Secret:
    return Secret(hit.rule, hit.start, hit.end, hit.confidence, path, in_key, hit.encoding)
