"""
Find secrets in one text, in linear time and with next to no cost where there are none.

A drawn token is a long run of letters and digits, and prose has few of those. So the text is first
reduced to a mask of one byte per character, in which long runs are found by one C-level search, and
only runs are looked at: does one start like a vendor's token (`rules/`), does what stands before it
name a credential (`judging`), or is it something encoded (`decoding`)? Only passwords are short;
they are looked for at the few words that name them. Every quantifier is bounded and every look
backwards has a fixed length, so hostile text costs a bounded amount per character.

The text comes as bytes, one per character, with `?` for what is not ASCII: places in it are places
in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from argentum.security.decoding import decoded_parts, decoded_run, is_json_web_token
from argentum.security.hits import LETTERS_AND_DIGITS, Hit, merged
from argentum.security.judging import is_plain_repetition, spread
from argentum.security.named import named_key
from argentum.security.passwords import passwords, passwords_in_urls
from argentum.security.private_keys import private_keys
from argentum.security.rules.rule import Rule
from argentum.security.screening import DRAWN, LEAST_RUN, LONG, RUN_MASK, may_hold_secret

MAX_DEPTH: Final = 2
"""Levels of encoding that are looked through, like base64 of URL-encoded text."""
_BEFORE_RUN: Final = 32
"""Bytes of a token that may stand before its first long run, as in `hooks.slack.com/…`."""

_LETTER_OR_DIGIT = frozenset(LETTERS_AND_DIGITS)


Shape = tuple[Rule, re.Pattern[bytes]]


class Ruleset:
    """Rules made ready: one search for all prefixes, then the bodies of those that begin so."""

    __slots__ = ("_rules", "_shapes", "prefixes")

    def __init__(self, rules: Sequence[Rule]) -> None:
        prefixes = {one.encode() for rule in rules for one in rule.prefixes}
        self.prefixes = re.compile(_any_of(prefixes))
        self._rules = {
            prefix: [
                (one.encode(), rule)
                for rule in rules
                for one in rule.prefixes
                if prefix.startswith(one.encode())
            ]
            for prefix in prefixes
        }
        self._shapes: dict[bytes, list[Shape]] = {}

    def shapes(self, prefix: bytes) -> list[Shape]:
        """Give the rules that a prefix may begin, each with its whole expression."""
        shapes = self._shapes.get(prefix)
        if shapes is None:  # compiled when first met: most vendors are never met
            shapes = self._shapes[prefix] = [
                (rule, re.compile(re.escape(begin) + rule.body.encode()))
                for begin, rule in self._rules[prefix]
            ]
        return shapes


def _any_of(prefixes: set[bytes]) -> bytes:
    """Write an alternation, longest first, that forks on the first character."""
    by_first: dict[bytes, list[bytes]] = {}
    for prefix in sorted(prefixes, key=len, reverse=True):
        by_first.setdefault(prefix[:1], []).append(re.escape(prefix[1:]))
    forks = [re.escape(first) + b"(?:" + b"|".join(rest) + b")" for first, rest in by_first.items()]
    return b"(?:" + b"|".join(forks or [b"(?!)"]) + b")"


@lru_cache(maxsize=8)
def ruleset_of(rules: tuple[Rule, ...]) -> Ruleset:
    """Make rules ready, once."""
    return Ruleset(rules)


def scan(data: bytes, ruleset: Ruleset, depth: int = 0) -> list[Hit]:
    """Give each place where a secret stands, in order and without overlap."""
    lower = data.lower()
    hits = _in_runs(data, ruleset, depth)
    hits += passwords(data, lower)
    hits += passwords_in_urls(data)
    hits += private_keys(data)
    if depth < MAX_DEPTH:
        hits += _in_escaped(data, ruleset, depth)
    return merged(hits) if len(hits) > 1 else hits


# ---------------------------------------------------------------- long runs


def _in_runs(data: bytes, ruleset: Ruleset, depth: int) -> list[Hit]:
    mask = data.translate(RUN_MASK)
    hits: list[Hit] = []
    end = 0
    while (start := mask.find(LONG, end)) >= 0:
        seen = end
        end = mask.find(b" ", start + LEAST_RUN)
        if end < 0:
            end = len(mask)
        if DRAWN.search(data, start, end) is None:
            continue
        begin = max(start - _BEFORE_RUN, seen)
        found = _vendor_tokens(data, begin, end, ruleset)
        token = None if found else _web_token(data, start, end)
        if token is not None:
            found = [token]
        if found:
            hits += found
            continue
        named = named_key(data, start, end)
        if named is not None:
            hits.append(named)
        elif depth < MAX_DEPTH:
            hits += _in_encoded(data, start, end, ruleset, depth)
    return hits


def _vendor_tokens(data: bytes, begin: int, end: int, ruleset: Ruleset) -> list[Hit]:
    hits = []
    at = begin
    while (prefix := ruleset.prefixes.search(data, at, end)) is not None:
        at = prefix.start() + 1
        if not _starts_token(data, prefix.start()):
            continue
        for rule, shape in ruleset.shapes(prefix[0]):
            token = shape.match(data, prefix.start())
            if token is None or not _ends_token(data, token.end()):
                continue
            body = token[0][len(prefix[0]) :]
            if spread(body) < _LEAST_SPREAD or is_plain_repetition(body):
                continue
            hits.append(_vendor_hit(data, rule, token))
            at = token.end()
            break
    return hits


_LEAST_SPREAD = 0.12


def _vendor_hit(data: bytes, rule: Rule, token: re.Match[bytes]) -> Hit:
    start, confidence = token.start(), 0.95
    if rule.checksum is not None:
        confidence = 1.0 if rule.checksum(token[0].decode()) else 0.8
    if data[start : start + 1] in (b":", b"."):  # the part before it is drawn too
        before = data[max(0, start - _BEFORE_RUN) : start]
        start -= len(before) - len(before.rstrip(LETTERS_AND_DIGITS))
    return Hit(start, token.end(), rule.name, confidence)


def _starts_token(data: bytes, start: int) -> bool:
    """Tell whether a word starts here; the `n` of a newline in JSON is no part of one."""
    if start == 0 or data[start - 1] not in _LETTER_OR_DIGIT or data[start] in b".:":
        return True
    return data[start - 2 : start] in _ESCAPED_SPACES


_ESCAPED_SPACES = frozenset({b"\\n", b"\\r", b"\\t", b"\\b", b"\\f"})


def _ends_token(data: bytes, end: int) -> bool:
    return end >= len(data) or data[end] not in _LETTER_OR_DIGIT


_TOKEN_PARTS = re.compile(rb"\.([A-Za-z0-9_-]{6,4000})(?:\.([A-Za-z0-9_-]{10,1000}))?")
_BOT_TOKEN = re.compile(
    rb"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9])"
)
_AZURE_SECRET = re.compile(rb"[A-Za-z0-9_.~-]{3}[0-9]Q~[A-Za-z0-9_.~-]{31,34}(?![A-Za-z0-9])")
_MAILCHIMP_KEY = re.compile(rb"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])")


def _web_token(data: bytes, start: int, end: int) -> Hit | None:
    """Find a token that has no literal prefix but a frame: JWT, Discord, Azure, Mailchimp."""
    following = data[end : end + 1]
    if following == b".":
        header = data.find(b"eyJ", start, end)
        parts = _TOKEN_PARTS.match(data, end)
        if header >= 0 and parts is not None and is_json_web_token(data[header:end]):
            return Hit(header, parts.end(), "json-web-token", 0.9)
        bot = _BOT_TOKEN.match(data, start)
        if bot is not None:
            return Hit(start, bot.end(), "discord-bot-token", 0.9)
    if data[start - 2 : start] == b"Q~" or data[start - 1 : start] == b"~":
        tilde = data.rfind(b"Q~", max(0, start - _BEFORE_RUN), start)
        secret = _AZURE_SECRET.match(data, tilde - 4) if tilde >= 4 else None  # noqa: PLR2004
        if secret is not None:
            return Hit(tilde - 4, secret.end(), "azure-client-secret", 0.9)
    mailchimp = _MAILCHIMP_KEY.match(data, start)
    return mailchimp and Hit(start, mailchimp.end(), "mailchimp-key", 0.95)


# ---------------------------------------------------------------- what is encoded


def _in_encoded(data: bytes, start: int, end: int, ruleset: Ruleset, depth: int) -> list[Hit]:
    """Look into a run of base64 or hex; what is found covers the whole run."""
    decoded = decoded_run(data, start, end)
    if decoded is None or not may_hold_secret(decoded.text):
        return []
    inside = scan(decoded.text, ruleset, depth + 1)
    return [
        Hit(decoded.start, decoded.end, hit.rule, hit.confidence, decoded.encoding)
        for hit in inside[:1]
    ]


def _in_escaped(data: bytes, ruleset: Ruleset, depth: int) -> list[Hit]:
    """Look under URL and JSON escapes; places are taken back to the text as it is written."""
    hits: list[Hit] = []
    for part in decoded_parts(data):
        if may_hold_secret(part.text):
            found = scan(part.text, ruleset, depth + 1)
            place = part.places() if found else int
            hits += [
                Hit(place(hit.start), place(hit.end), hit.rule, hit.confidence, part.encoding)
                for hit in found
            ]
    return hits
