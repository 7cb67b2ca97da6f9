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
from argentum.security.screening import is_drawn, long_runs, may_hold_secret

MAX_DEPTH: Final = 2
"""Levels of encoding that are looked through, like base64 of URL-encoded text."""
_BEFORE_RUN: Final = 32
"""Bytes of a token that may stand before its first long run, as in `hooks.slack.com/…`."""

_LETTER_OR_DIGIT = frozenset(LETTERS_AND_DIGITS)


Shape = tuple[Rule, re.Pattern[bytes]]


class Ruleset:
    """Rules made ready: one search for all prefixes, then the bodies of those that begin so."""

    __slots__ = ("_first", "_rules", "_shapes", "_starts")

    def __init__(self, rules: Sequence[Rule]) -> None:
        prefixes = {one.encode() for rule in rules for one in rule.prefixes}
        self._starts = re.compile(_starts_of(prefixes))
        self._first = re.compile(b"(" + _any_of(prefixes) + b")")
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

    def next_prefix(self, data: bytes, at: int, end: int) -> re.Match[bytes] | None:
        """Find the next prefix that starts a word; its last group is what starts one."""
        found = self._first.match(data, 0, end) if at == 0 else None
        return found or self._starts.search(data, at - 1 if at else 0, end)

    def shapes(self, prefix: bytes) -> list[Shape]:
        """Give the rules that a prefix may begin, each with its whole expression."""
        shapes = self._shapes.get(prefix)
        if shapes is None:  # compiled when first met: most vendors are never met
            shapes = self._shapes[prefix] = [
                (rule, re.compile(re.escape(begin) + rule.body.encode()))
                for begin, rule in self._rules[prefix]
            ]
        return shapes


def _starts_of(prefixes: set[bytes]) -> bytes:
    """
    Write what finds the start of a word, by the character before it, and a prefix there.

    The `n` of a newline in JSON is no part of a word. A prefix that is joined to the word before
    it begins with such a character itself.
    """
    joined = [one for one in prefixes if one.startswith(_JOINTS)]
    words = prefixes.difference(joined)
    next_ones = {one[:1] for one in words} | {one[1:2] for one in joined}
    forks = [b"(?<=(" + re.escape(one[:1]) + b"))" + re.escape(one[1:]) for one in joined]
    if words:
        any_word = b"(" + _any_of(words) + b")"
        forks += [any_word, rb"(?<=\\)[nrtbf]" + any_word]
        next_ones |= {b"nrtbf"}
    if not forks:
        return b"(?!)"
    ahead = b"(?=[" + re.escape(b"".join(sorted(next_ones))) + b"])"  # most places end here
    if b"" in next_ones:  # a prefix that is one such character
        ahead = b""
    return b"[^A-Za-z0-9]" + ahead + b"(?:" + b"|".join(forks) + b")"


_JOINTS = (b".", b":")


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
    hits: list[Hit] = []
    for seen, start, end in long_runs(data):
        if not is_drawn(data[start:end]):
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
    while (found := ruleset.next_prefix(data, at, end)) is not None:
        start = found.start(found.lastindex or 0)
        at = max(start + 1, found.start() + 2)
        prefix = data[start : found.end()]
        for rule, shape in ruleset.shapes(prefix):
            token = shape.match(data, start)
            if token is None or not _ends_token(data, token.end()):
                continue
            body = token[0][len(prefix) :]
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
    if data[end : end + 1] == b".":
        header = data.find(b"eyJ", start, end)
        parts = _TOKEN_PARTS.match(data, end)
        if header >= 0 and parts is not None and is_json_web_token(data[header:end]):
            return Hit(header, parts.end(), "json-web-token", 0.9)
        bot = _BOT_TOKEN.match(data, start)
        if bot is not None:
            return Hit(start, bot.end(), "discord-bot-token", 0.9)
    if data[start - 1 : start] == b"~" or data[start - 2 : start] == b"Q~":
        tilde = data.rfind(b"Q~", max(0, start - _BEFORE_RUN), start)
        secret = _AZURE_SECRET.match(data, tilde - 4) if tilde >= 4 else None  # noqa: PLR2004
        if secret is not None:
            return Hit(tilde - 4, secret.end(), "azure-client-secret", 0.9)
    if data[start + 32 : start + 35] != b"-us":
        return None
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
