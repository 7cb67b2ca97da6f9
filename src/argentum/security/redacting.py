"""
Take secrets out of texts, values and encoded entries: `Redactor`.

What is taken out leaves a token like `[redacted:github-token:3f9a1c2b7d10]`: the rule, and a keyed
hash of the secret. The same secret under the same key gives the same token, so a diff shows that a
key changed and blame shows since when; without the key a token tells nothing about the secret, not
even its length. A token is never taken for a secret, so redacting twice is redacting once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

from argentum.clock import random_hex
from argentum.errors import InputError, shown
from argentum.security.hits import Hit, merged
from argentum.security.leaves import Leaves, Slot, changed_leaf
from argentum.security.names import strength_of
from argentum.security.personal import personal_hits
from argentum.security.rules import RULES, Rule
from argentum.security.scanning import Ruleset, ruleset_of, scan
from argentum.security.screening import may_hold_secret
from argentum.security.secrets import (
    LEAST_CONFIDENCE,
    Secret,
    as_ascii,
    places_in_leaves,
    secrets_in,
)
from argentum.tree.encoding import pack, unpack
from argentum.tree.paths import Step, parse

TOKEN: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{12}\]")
_TOKEN_BYTES: Final = 6
_ANY: Final = "ǁanyǁ"
_WILDCARD: Final = re.compile(r"\[\*\]|\.\*(?=[.\[]|$)|^\*(?=[.\[]|$)")
_KEY_BYTES: Final = 32

Steps = tuple[Step, ...]
Changes = dict[Slot, object]


@dataclass(frozen=True)
class Redactor:
    """
    Settings of redaction, and redaction by them; safe to share between threads.

    Raises:
        InputError: a path or a pattern cannot be read, or the key is empty.
    """

    rules: Sequence[Rule] = field(default=RULES, repr=False)
    paths: Sequence[str] = ()
    """Places whose whole content goes, like `user.address` or `messages[*].headers`."""
    patterns: Sequence[tuple[str, str]] = ()
    """Own rules as (name, regular expression)."""
    allowed: Sequence[str] = field(default=(), repr=False)
    """Texts that are no secrets, whatever they look like."""
    personal: bool = False
    """Whether personal data goes too."""
    key: bytes = field(default_factory=lambda: bytes.fromhex(random_hex(64)), repr=False)
    """The key of the hash in tokens; one per store, kept where its readers cannot read it."""
    least_confidence: float = LEAST_CONFIDENCE

    def __post_init__(self) -> None:
        """Read what was given, so that a mistake shows at once."""
        _ = self._paths, self._patterns, self._ruleset
        if not self.key:
            raise InputError(
                "The key of a Redactor is empty. Give 16 to 64 random bytes, or none for new ones."
            )

    # ------------------------------------------------------------ what a program calls

    def redact_text(self, text: str) -> str:
        """Give a text without its secrets."""
        data = as_ascii(text)
        if self._is_clean(data):
            return text
        return self._without(text, self._wanted(text, self._scan(data)))

    def redact_value(self, value: Any, *, at: Sequence[Step] = ()) -> Any:
        """
        Give a value without its secrets, of the same type and shape.

        What holds no secret is the same object as before; nothing is changed in place. Numbers
        at redacted `paths` become 0. An object that cannot be made again is kept as a `Record`.

        Args:
            at: the steps that lead to the value.
        """
        if type(value) is str and not at and not self._paths:
            return self.redact_text(value)
        leaves = Leaves(value, at=tuple(at))
        return self._redacted(leaves, value, live=True)

    def redact_entry(self, data: bytes, *, at: Sequence[Step] = ()) -> bytes | None:
        """
        Give the bytes of an encoded entry of a tree without its secrets, or None if it has none.

        A text lies whole in one entry, so no secret is cut by the border of an entry.

        Args:
            data: what `argentum.tree.encoding.pack` gives.
            at: the steps that lead to the entry.
        """
        if self._looks_at_texts_alone and not at and not may_hold_secret(data):
            return (
                None  # before all else: most calls end here, with all that they touch out of cache
            )
        steps = tuple(at)
        if self._is_clean(data) and not self._names_secret(steps) and not self._reaches(steps):
            return None
        value = unpack(data)
        redacted = self._redacted(Leaves(value, at=steps), value, live=False)
        return None if redacted is value else pack(redacted)

    def dry_run(self, value: object, *, at: Sequence[Step] = ()) -> list[Secret]:
        """List what would go from a text or a value: where and by which rule, never what."""
        leaves = Leaves(value, at=tuple(at))
        return secrets_in(leaves, self._found(leaves))

    def token(self, rule: str, secret: str) -> str:
        """Give what stands for a secret."""
        data = secret.encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=_TOKEN_BYTES, key=self.key[:64]).hexdigest()
        return f"[redacted:{rule}:{digest}]"

    # ------------------------------------------------------------ finding

    @cached_property
    def _ruleset(self) -> Ruleset:
        return ruleset_of(tuple(self.rules))

    @cached_property
    def _paths(self) -> tuple[Steps, ...]:
        return tuple(parse(_WILDCARD.sub(f".{_ANY}", path).lstrip(".")) for path in self.paths)

    @cached_property
    def _patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((_checked_name(name), _compiled(name, one)) for name, one in self.patterns)

    @cached_property
    def _allowed(self) -> frozenset[str]:
        return frozenset(self.allowed)

    @cached_property
    def _looks_at_texts_alone(self) -> bool:
        return not (self.personal or self.patterns or self.paths)

    def _is_clean(self, data: bytes) -> bool:
        return not (self.personal or self.patterns or may_hold_secret(data))

    def _scan(self, data: bytes) -> list[Hit]:
        hits = scan(data, self._ruleset)
        if self.personal:
            hits += personal_hits(data)
        return hits

    def _wanted(self, text: str, hits: list[Hit]) -> list[Hit]:
        """Add what own patterns find, and leave out what is allowed, unsure or redacted already."""
        for name, pattern in self._patterns:
            hits += [Hit(*one.span(), name, 1.0) for one in pattern.finditer(text) if one[0]]
        wanted = [
            hit
            for hit in merged(hits)
            if hit.confidence >= self.least_confidence
            and text[hit.start : hit.end] not in self._allowed
        ]
        if "[redacted:" not in text:
            return wanted
        kept = [one.span() for one in TOKEN.finditer(text)]
        return [hit for hit in wanted if not any(a < hit.end and hit.start < b for a, b in kept)]

    def _found(self, leaves: Leaves) -> list[tuple[int, Hit]]:
        joined = "".join(leaves.pieces)
        found = places_in_leaves(leaves, self._wanted(joined, self._scan(as_ascii(joined))))
        if not self._paths:
            return found
        whole = self._named_leaves(leaves)
        named = [(number, Hit(0, len(text), "path", 1.0)) for number, text in whole.items()]
        return [one for one in found if one[0] not in whole] + named

    def _named_leaves(self, leaves: Leaves) -> dict[int, str]:
        """Give each leaf at or under one of the paths that is not redacted already."""
        named = {}
        for number in range(len(leaves.pieces)):
            slot = leaves.slot_of(number)
            if slot[1] >= 0 and self._is_named(leaves.steps_to(slot)):
                text = leaves.text_at(number)
                if text and not TOKEN.fullmatch(text):
                    named[number] = text
        return named

    # ------------------------------------------------------------ paths

    def _is_named(self, steps: Steps) -> bool:
        """Tell whether a place lies at or under one of the paths."""
        return any(len(path) <= len(steps) and _fits(path, steps) for path in self._paths)

    def _reaches(self, steps: Steps) -> bool:
        """Tell whether any of the paths lies at, above or under a place."""
        return any(_fits(path, steps) for path in self._paths)

    @staticmethod
    def _names_secret(steps: Steps) -> bool:
        name = next((step for step in reversed(steps) if isinstance(step, str)), "")
        return bool(name) and bool(strength_of(as_ascii(name)))

    # ------------------------------------------------------------ replacing

    def _without(self, text: str, hits: list[Hit]) -> str:
        pieces: list[str] = []
        at = 0
        for hit in sorted(hits):
            pieces += (text[at : hit.start], self.token(hit.rule, text[hit.start : hit.end]))
            at = hit.end
        pieces.append(text[at:])
        return "".join(pieces)

    def _redacted(self, leaves: Leaves, value: object, *, live: bool) -> object:
        by_leaf: dict[int, list[Hit]] = {}
        for number, hit in self._found(leaves):
            by_leaf.setdefault(number, []).append(hit)
        changes: Changes = {}
        for number, hits in by_leaf.items():
            slot = leaves.slot_of(number)
            text = self._without(leaves.text_at(number), hits)
            changes[slot] = changed_leaf(leaves.value_at(slot), text)
        if self._paths:
            for slot, value_there in leaves.numbers():
                if value_there and self._is_named(leaves.steps_to(slot)):
                    changes[slot] = 0 if type(value_there) is int else 0.0
        return leaves.rebuilt(changes, live=live) if changes else value


def _fits(path: Steps, steps: Steps) -> bool:
    return all(one in (_ANY, step) for one, step in zip(path, steps, strict=False))


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"{shown(name)} cannot name a pattern: use lower-case letters, digits and dashes, "
            "like employee-id."
        )
    return name


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(
            f"The pattern {shown(pattern)} of {shown(name)} cannot be read: {error}."
        ) from error
