"""Find keys that have no shape of their own by what stands before them: a name, a scheme, words."""

from __future__ import annotations

import re
from typing import Final

from argentum.security.hits import ENDS_LEAF, NAMES_VALUE, WORD, Hit
from argentum.security.judging import is_key_like, is_placeholder, is_uuid, spread
from argentum.security.names import mentions_credential, strength_of

_CONTEXT: Final = 80
_LINE_CONTEXT: Final = 60
_BEFORE_RUN: Final = 32

_DIGIT = re.compile(rb"[0-9]")
_OPERATORS = (b"=", b":", b">", b",", b"|", b"(", NAMES_VALUE)
_QUOTES: Final = b" \t\"'`\\"
_SCHEMES = (b"bearer", b"basic", b"token", b"apikey", b"api-key")
_NAME_CHARACTERS = WORD + b". "
_NAME_BYTES = 40
_LOOSE_SPREAD = 0.3
_LOOSE_BYTES = 20
_MAX_NAMED_BYTES = 600


def named_key(data: bytes, start: int, end: int) -> Hit | None:
    """Find a key by what stands before it: a name and an operator, or at least the words for it."""
    if end - start > _MAX_NAMED_BYTES or data[start : start + 2] == b"//":
        return None
    if _DIGIT.search(data, start, end) is None and end - start < _LOOSE_BYTES:
        return None
    if data[end : end + 1] in _CALLS or _METHOD.match(data, end):
        return None
    found = _named_by(data, start, start, end)
    if found is None and data[start - 1 : start] in _JOINTS:
        before = data[max(0, start - _BEFORE_RUN) : start]
        begin = start - len(before) + len(before.rstrip(WORD + b"".join(_JOINTS)))
        found = _named_by(data, begin, start, end)
    return found


_CALLS = frozenset({b"(", b"["})
_JOINTS = frozenset({b":", b".", b"~", b"|"})
"""Between the parts of a key, as in `prod:…`."""
_METHOD = re.compile(rb"\.[A-Za-z_]{1,40}\(")


def _named_by(data: bytes, begin: int, start: int, end: int) -> Hit | None:
    """Judge a key by what stands before `begin`; its long run lies from `start` to `end`."""
    context = _line_before(data, begin)
    if not context:
        return None
    run = data[start:end]
    value = run.lstrip(b"/-").rstrip(b"-")
    if begin == start:
        begin = end - len(run.lstrip(b"/-"))
    padded = end
    while data[padded : padded + 1] == b"=" and padded - end < 2:  # noqa: PLR2004 - base64
        padded += 1
    name, direct = _name_in(context)
    if name.strip(b" ").lower() in _VALUE_NAMES:
        name = _sibling_name(data, begin) or name
    if direct:
        strength = "strong" if direct == _SCHEME else strength_of(name)
        if is_key_like(value, strength):
            return Hit(begin, padded, "named-key", _CONFIDENCE[strength])
    elif _stands_out(value) and mentions_credential(context[-_LINE_CONTEXT:]):
        return Hit(begin, padded, "named-key", 0.5)
    return None


_CONFIDENCE = {"strong": 0.8, "provider": 0.6, "weak": 0.6}
_SCHEME = "scheme"
_VALUE_NAMES = frozenset({b"value", b"val", b"default", b"data", b"content"})
_SIBLING = re.compile(
    rb"""
    (?:name|key|id|variable|header)["']?\s{0,4}[:=\x01]\s{0,4}
    ["']?([\w.\- ]{2,60})["']?[\s,\x00}{]{1,30}
    ["']?(?:value|val|default|data|content)["']?\s{0,4}[:=\x01]\s{0,4}["']?\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _sibling_name(data: bytes, start: int) -> bytes:
    """Give the name in `{"name": "API_KEY", "value": …}`."""
    found = _SIBLING.search(data, max(0, start - 2 * _CONTEXT), start)
    return found[1] if found else b""


def _line_before(data: bytes, start: int) -> bytes:
    before = data[max(0, start - _CONTEXT) : start]
    leaf = before.rfind(ENDS_LEAF)
    line = before.rfind(b"\n", 0, len(before.rstrip()))
    return before[max(leaf, line) + 1 :]


def _name_in(context: bytes) -> tuple[bytes, str]:
    """Give the name before an operator, and how the value is tied to it ("" if it is not)."""
    core = context.rstrip(_QUOTES + b"\r\n")
    if core.lower().endswith(_SCHEMES) and core[-7:].lower().strip(_QUOTES) != core.lower():
        scheme = core.lower().rpartition(b" ")[2].rpartition(b'"')[2]
        if scheme in (b"bearer", b"basic", b"token"):
            return core, _SCHEME
    if core.endswith((b" is", b" is:")):
        return core[-48:], "told" if strength_of(core[-48:]) == "strong" else ""
    if not core.endswith(_OPERATORS):
        flag = core.rpartition(b" ")[2]
        return flag, "flag" if flag.startswith(b"--") else ""
    named = core.rstrip(b":=>,|(" + NAMES_VALUE + _QUOTES + b"])")
    named = named[-_NAME_BYTES:]
    return named[len(named.rstrip(_NAME_CHARACTERS)) :], "assigned"


def _stands_out(value: bytes) -> bool:
    """Tell a drawn token where only words near it name a credential."""
    return (
        len(value) >= _LOOSE_BYTES
        and b"/" not in value
        and spread(value) >= _LOOSE_SPREAD
        and re.search(rb"[g-zG-Z]", value) is not None
        and not is_uuid(value)
        and not is_placeholder(value)
    )
