"""
Personal data as a second set of rules, off by default: e-mail, card, IBAN, IP, phone.

What has a checksum is checked by it (Luhn, ISO 7064 mod 97); a phone number counts only where words
near it say so, since long numbers are many.
"""

from __future__ import annotations

import re
from typing import Final

from argentum.security.hits import Hit

_EMAIL: Final = re.compile(rb"[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}(?![A-Za-z0-9])")
_LOCAL: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-"
_CARD: Final = re.compile(
    rb"(?<![\d.+-])[3-6]\d{3}(?:[ -]?\d{4}){2}(?:[ -]?\d{1,7})(?![\d.])"
    rb"|(?<![\d.+-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?!\d)"
)
_IBAN: Final = re.compile(
    rb"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_IPV4: Final = re.compile(
    rb"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w]|\.\d)"
)
_IPV6: Final = re.compile(rb"(?<![\w:.])[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]{3,35}(?![\w:])")
_PHONE: Final = re.compile(
    rb"(?<![\w.])(?:\+|00)?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{2,4}\)?){2,5}(?![\w])"
)
_PHONE_WORDS: Final = re.compile(
    rb"phone|mobile|(?<![a-z])(?:tel|cell|fax|call|text|sms|ring|dial|whatsapp)(?![a-z])",
    re.IGNORECASE,
)
_PHONE_CONTEXT: Final = 40
_CARD_DIGITS: Final = range(13, 20)
_PHONE_DIGITS: Final = range(7, 16)
_IBAN_LENGTHS: Final = range(15, 35)


def personal_hits(data: bytes) -> list[Hit]:
    """Give each place where personal data stands, in order of kind."""
    hits = _emails(data)
    hits += [_hit(m, "card-number", 0.9) for m in _CARD.finditer(data) if is_card(m[0])]
    hits += [_hit(m, "iban", 0.95) for m in _IBAN.finditer(data) if is_iban(m[0])]
    hits += [_hit(m, "ip-address", 0.8) for m in _IPV4.finditer(data)]
    hits += [_hit(m, "ip-address", 0.8) for m in _IPV6.finditer(data) if _is_ipv6(m[0])]
    hits += [_hit(m, "phone-number", 0.6) for m in _PHONE.finditer(data) if _is_phone(data, m)]
    return hits


def _hit(found: re.Match[bytes], rule: str, confidence: float) -> Hit:
    return Hit(found.start(), found.end(), rule, confidence)


def _emails(data: bytes) -> list[Hit]:
    hits = []
    at = data.find(b"@")
    while at >= 0:
        before = data[max(0, at - 64) : at]
        local = len(before) - len(before.rstrip(_LOCAL))
        domain = _EMAIL.match(data, at + 1) if local else None
        if domain is not None:
            hits.append(Hit(at - local, domain.end(), "email-address", 0.9))
        at = data.find(b"@", at + 1)
    return hits


def is_card(text: bytes) -> bool:
    """Tell whether digits are a payment card's number, by Luhn's checksum (ISO/IEC 7812-1)."""
    digits = [digit - 48 for digit in text if 48 <= digit <= 57]  # noqa: PLR2004 - "0" to "9"
    if len(digits) not in _CARD_DIGITS or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_iban(text: bytes) -> bool:
    """Tell whether a text is an IBAN, by its remainder (ISO 13616)."""
    plain = text.replace(b" ", b"").decode()
    if len(plain) not in _IBAN_LENGTHS:
        return False
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _is_ipv6(text: bytes) -> bool:
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415 - rarely needed

    try:
        IPv6Address(text.decode())
    except AddressValueError:
        return False
    return text.count(b":") > 2 and not text.startswith(b"::")  # noqa: PLR2004 - a time of day


def _is_phone(data: bytes, found: re.Match[bytes]) -> bool:
    digits = sum(48 <= one <= 57 for one in found[0])  # noqa: PLR2004 - "0" to "9"
    if digits not in _PHONE_DIGITS:
        return False
    context = data[max(0, found.start() - _PHONE_CONTEXT) : found.start()]
    return found[0].startswith(b"+") or _PHONE_WORDS.search(context) is not None
