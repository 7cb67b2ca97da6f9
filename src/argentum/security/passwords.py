"""Find passwords: behind the words that name them, and in the logins of URLs."""

from __future__ import annotations

import re

from argentum.security.hits import WORD, Hit, places_of
from argentum.security.judging import is_password_like, is_placeholder, is_reference
from argentum.security.screening import PASSWORD_WORDS

_ASSIGNED = re.compile(
    rb"""
    [A-Za-z0-9_.\-]{0,40}+
    (?:\\{0,3}+["'`\])]){0,3}+
    (?:\s{0,4}:[ ]?[A-Za-z]{2,12}(?=[ ]{0,2}=)|[ ](?:string|str|String)(?=[ ]{0,2}=))?
    [ \t]{0,8}
    (?: (?P<leaf>\x01) | => | := | ==?=? | ![ ]?= | : | > | \( | \|\| | [ ]is:?[ ] )
    [ \t]{0,8}
    (?: (?P<escaped>\\{1,3})["'](?P<in_escaped>[^"'\\\x00\x01\r\n]{4,120})\\{1,3}["']
      | "(?P<in_double>(?:[^"\\\x00\x01\r\n]|\\.){4,120})"
      | '(?P<in_single>(?:[^'\\\x00\x01\r\n]|\\.){4,120})'
      | `(?P<in_back>[^`\\\x00\x01\r\n]{4,120})`
      | (?P<bare>[^\s"'`,;&<>\\\x00\x01]{4,120})
    )?
    """,
    re.VERBOSE,
)
_LEAF = re.compile(rb"[^\x00]{4,300}")
_PASSWORD_FLAG = re.compile(
    rb"[A-Za-z\-]{0,20}[ ]([^\s\"'`,;&<>\\\x00\x01-][^\s\"'`,;&<>\\\x00\x01]{5,200})"
)


def passwords(data: bytes, lower: bytes) -> list[Hit]:
    """Give the values behind words that name passwords."""
    hits = []
    for word in PASSWORD_WORDS:
        done = 0
        for at in places_of(word, lower):
            found = _ASSIGNED.match(data, at) if at >= done else None
            if found is not None:
                hit = _assigned_password(data, at, found)
            else:
                hit = _password_after_flag(data, at) if data[at - 2 : at] == b"--" else None
            if hit is not None:
                hits.append(hit)
                done = hit.end
            elif found is not None:  # what names the same value again says no more
                done = found.start(found.lastgroup or 0)
    return hits


def _assigned_password(data: bytes, at: int, found: re.Match[bytes]) -> Hit | None:
    group, span = found.lastgroup, found.span(found.lastgroup or 0)
    if found["leaf"] is not None:
        leaf = _LEAF.match(data, found.end("leaf"))
        if leaf is None:
            return None
        group, span = "leaf", leaf.span()
    elif group is None or group == "escaped":
        return None
    value = data[span[0] : span[1]]
    if group == "bare":
        value = value.rstrip(b".:)]}")
        span = (span[0], span[0] + len(value))
    if is_password_like(value, _name_around(data, at), quoted=group != "bare"):
        return Hit(*span, "password", 0.7 if group != "bare" else 0.6)
    return None


def _password_after_flag(data: bytes, at: int) -> Hit | None:
    """Find the value of `--password hunter22`."""
    found = _PASSWORD_FLAG.match(data, at)
    name = _name_around(data, at)
    if found is None or not name.startswith(b"--"):
        return None
    if is_password_like(found[1], name, quoted=False):
        return Hit(*found.span(1), "password", 0.6)
    return None


def _name_around(data: bytes, at: int) -> bytes:
    """Give the whole identifier that a word is part of."""
    before = data[max(0, at - 40) : at]
    start = at - (len(before) - len(before.rstrip(WORD)))
    after = data[at : at + 40]
    return data[start : at + len(after) - len(after.lstrip(WORD))]


_LOGIN = re.compile(
    rb"""://([^\s:/@"'<>?\#\\\x00\x01]{0,100}):([^\s/@"'<>\\\x00\x01]{3,200})@[\w\[{$%]"""
)
_LOGIN_BYTES = 304
_STAND_INS_IN_URLS = re.compile(
    rb"(?:user(?:name)?|login|u|usr|foo|me|bob|alice)?:?(?:pass(?:word|wd)?|pwd|secret|p|bar|token|\*+)$",
    re.IGNORECASE,
)


def passwords_in_urls(data: bytes) -> list[Hit]:
    """Give the passwords in `scheme://user:password@host`."""
    hits = []
    at = data.find(b"@")
    while at >= 0:
        start = data.rfind(b"://", max(0, at - _LOGIN_BYTES), at)
        found = _LOGIN.match(data, start) if start >= 0 else None
        if found is not None and found.end(2) == at and not _is_stand_in(found[2]):
            hits.append(Hit(*found.span(2), "password-in-url", 0.85))
        at = data.find(b"@", at + 1)
    return hits


def _is_stand_in(password: bytes) -> bool:
    return (
        _STAND_INS_IN_URLS.fullmatch(password) is not None
        or is_reference(password)
        or is_placeholder(password)
        or password.startswith((b"$", b"<", b"{", b"%"))
        or (password.isdigit() and len(password) <= 5)  # noqa: PLR2004 - a port
    )
