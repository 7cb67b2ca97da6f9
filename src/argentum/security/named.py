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
_OPERATORS = frozenset({b"=", b":", b">", b",", b"|", b"(", NAMES_VALUE})
_QUOTES: Final = b" \t\"'`\\"
_AROUND_VALUE: Final = _QUOTES + b"\r\n"
_AROUND_OPERATOR: Final = b":=>,|(" + NAMES_VALUE + _QUOTES + b"])"
_SCHEMES = (b"bearer", b"basic", b"token", b"apikey", b"api-key")
_NAME_CHARACTERS = WORD + b". "
_NAME_BYTES = 40
_LOOSE_SPREAD = 0.3
_LOOSE_BYTES = 20
_MAX_NAMED_BYTES = 600


def named_key(data: bytes, start: int, end: int) -> Hit | None:
    """Find a key by what stands before it: a name and an operator, or at least the words for it."""
    length = end - start
    if length > _MAX_NAMED_BYTES or data[start : start + 2] == b"//":
        return None
    if length < _LOOSE_BYTES and _DIGIT.search(data, start, end) is None:
        return None
    following = data[end : end + 1]
    if following in _CALLS or (following == b"." and _METHOD.match(data, end)):
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
    name, direct = _name_in(context)
    if name.strip(b" ").lower() in _VALUE_NAMES:
        name = _sibling_name(data, begin) or name
    run = data[start:end]
    key = run.lstrip(b"/-")
    confidence = _confidence(key.rstrip(b"-"), name, direct, context)
    if not confidence:
        return None
    if begin == start:
        begin = end - len(key)
    while data[end : end + 1] == b"=" and end - start - len(run) < 2:  # noqa: PLR2004 - base64
        end += 1
    return Hit(begin, end, "named-key", confidence)


def _confidence(value: bytes, name: bytes, direct: str, context: bytes) -> float:
    if direct:
        strength = "strong" if direct == _SCHEME else strength_of(name)
        return _CONFIDENCE[strength] if is_key_like(value, strength) else 0.0
    loose = mentions_credential(context[-_LINE_CONTEXT:]) and _stands_out(value)
    return 0.5 if loose else 0.0


_CONFIDENCE = {"strong": 0.8, "provider": 0.6, "weak": 0.6}
_SCHEME = "scheme"
_VALUE_NAMES = frozenset({b"value", b"val", b"default", b"data", b"content"})
_SIBLING = re.compile(
    rb"""
    (?:name|key|id|variable|header)\\{0,7}["']?\s{0,4}[:=\x01]\s{0,4}
    \\{0,7}["']?([\w.\- ]{2,60})\\{0,7}["']?(?:[\s,\x00}{]|\\{1,7}[nrt]){1,30}
    \\{0,7}["']?(?:value|val|default|data|content)\\{0,7}["']?\s{0,4}[:=\x01]\s{0,4}
    \\{0,7}["']?\Z
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
    core = context.rstrip(_AROUND_VALUE)
    if core[-7:].lower().endswith(_SCHEMES) and core[-7:].lower().strip(_QUOTES) != core.lower():
        scheme = core.lower().rpartition(b" ")[2].rpartition(b'"')[2]
        if scheme in (b"bearer", b"basic", b"token"):
            return core, _SCHEME
    if core[-1:] not in _OPERATORS:
        if core.endswith((b" is", b" is:")):
            return core[-48:], "told" if strength_of(core[-48:]) == "strong" else ""
        flag = core.rpartition(b" ")[2]
        return flag, "flag" if flag.startswith(b"--") else ""
    named = core.rstrip(_AROUND_OPERATOR)
    named = named[-_NAME_BYTES:]
    return named[len(named.rstrip(_NAME_CHARACTERS)) :], "assigned"


_NOT_HEX = re.compile(rb"[g-zG-Z]")


def _stands_out(value: bytes) -> bool:
    """Tell a drawn token where only words near it name a credential."""
    return (
        len(value) >= _LOOSE_BYTES
        and value.find(b"/") < 0
        and spread(value) >= _LOOSE_SPREAD
        and _NOT_HEX.search(value) is not None
        and not is_uuid(value)
        and not is_placeholder(value)
    )
