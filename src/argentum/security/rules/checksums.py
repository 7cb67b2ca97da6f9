"""Checksums that vendors document, so that a token that carries one is certain."""

from __future__ import annotations

import string
from zlib import crc32

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_CHECKSUM_DIGITS = 6


def has_base62_crc32(token: str) -> bool:
    """
    Tell whether the last six characters are the CRC32 of those between prefix and them.

    GitHub and npm write it so (https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/).
    """
    body = token.partition("_")[2]
    number = crc32(body[:-_CHECKSUM_DIGITS].encode())
    digits = ""
    for _ in range(_CHECKSUM_DIGITS):
        number, digit = divmod(number, len(_BASE62))
        digits = _BASE62[digit] + digits
    return digits == body[-_CHECKSUM_DIGITS:]
