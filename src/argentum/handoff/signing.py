"""
Signatures over documents: JWS (RFC 7515) whose payload stays as it is (RFC 7797).

The canonical bytes of a document are signed once and kept, and what arrives is verified as it
arrived: nothing is ever written anew for that. Two forms carry the same signature:

- one JSON text, `{"payload": "{…}", "protected": …, "signature": …}`, the flattened form;
- the payload's bytes on their own and beside them `protected..signature`, the detached form.

The header names the digest of the payload, so that verification tells an altered payload from an
altered signature.
"""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argentum.errors import ArgentumError, VerificationError, not_found, shown
from argentum.handoff.canonical import canonical, digest, read
from argentum.handoff.keys import ALGORITHMS, Key
from argentum.security.documents import DocumentLimits

MEMBERS = {"payload", "protected", "signature"}
_HEADER_LIMITS = DocumentLimits(max_bytes=2048, max_depth=2, max_values=32)
_MAX_SIGNATURE_CHARACTERS = 1024


@dataclass(frozen=True, slots=True)
class Signed:
    """Bytes with a signature over them, which may or may not hold."""

    payload: bytes
    protected: str
    """The header, base64url."""
    signature: str
    """Base64url."""

    def to_json(self) -> str:
        """Write it as one JSON text (flattened JWS)."""
        members = {
            "payload": self.payload.decode(),
            "protected": self.protected,
            "signature": self.signature,
        }
        return json.dumps(members, ensure_ascii=False, separators=(",", ":"))

    @property
    def jws(self) -> str:
        """The signature to send beside the payload (detached, compact)."""
        return f"{self.protected}..{self.signature}"

    @property
    def digest(self) -> str:
        """The digest of all of it, payload and signature."""
        return digest(self.to_json().encode())

    @classmethod
    def detached(cls, payload: bytes, jws: str) -> Signed:
        """
        Join a payload and the signature that came beside it.

        Raises:
            VerificationError: that is no detached signature.
        """
        parts = jws.split(".")
        if len(parts) != 3 or parts[1]:  # noqa: PLR2004 - header, nothing, signature
            raise VerificationError(
                f"{shown(jws)} is no detached signature; 'header..signature' would work.",
                "envelope",
            )
        return cls(payload, parts[0], parts[2])

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Signed:
        """
        Take the members of a flattened JWS.

        Raises:
            VerificationError: a member is missing, is no text or is not known.
        """
        texts = {key for key, value in members.items() if type(value) is str}
        wrong = sorted((MEMBERS ^ texts) | (members.keys() - texts))
        if wrong:
            raise VerificationError(
                f"Its member {shown(wrong[0])} is missing, unknown or no text; "
                "a signed document has the texts 'payload', 'protected' and 'signature'.",
                "envelope",
            )
        try:
            payload = members["payload"].encode()
        except UnicodeEncodeError as error:
            raise VerificationError(f"The payload is not UTF-8: {error}.", "digest") from error
        return cls(payload, members["protected"], members["signature"])


def sign(payload: bytes, key: Key, typ: str) -> Signed:
    """Sign bytes; `typ` says what they are, so that nothing else passes for it."""
    header = canonical(
        {
            "alg": key.alg,
            "b64": False,
            "crit": ["b64"],
            "digest": digest(payload),
            "kid": key.kid,
            "typ": typ,
        }
    )
    protected = _base64(header)
    return Signed(payload, protected, _base64(key.sign(_signed_bytes(protected, payload))))


def verify(
    signed: Signed,
    keys: Mapping[str, Key],
    typ: str,
    algorithms: tuple[str, ...] = ALGORITHMS,
) -> Key:
    """
    Check a signature; give the key that made it.

    Raises:
        VerificationError: it does not hold. `part` is `header`, `alg`, `typ`, `kid`, `digest` (the
            payload is not the one that was signed) or `signature`.
    """
    header = _header(signed.protected)
    key = _key(header, keys, typ, algorithms)
    found = digest(signed.payload)
    if not hmac.compare_digest(found, header["digest"]):
        raise VerificationError(
            f"The payload has the digest {found}, but {header['digest']} was signed: "
            "it was altered.",
            "digest",
        )
    given = _unbase64(signed.signature, "signature", _MAX_SIGNATURE_CHARACTERS)
    if not key.holds(_signed_bytes(signed.protected, signed.payload), given):
        raise VerificationError(
            f"The signature is not one of key {shown(key.kid)}: "
            "header or signature were altered, or another key of that name made it.",
            "signature",
        )
    return key


def _header(protected: str) -> dict[str, Any]:
    try:
        header = read(_unbase64(protected, "header", _HEADER_LIMITS.max_bytes), _HEADER_LIMITS)
    except VerificationError:
        raise
    except ArgentumError as error:
        raise VerificationError(f"The header cannot be read: {error}", "header") from error
    wanted = {"b64": False, "crit": ["b64"]}
    if not isinstance(header, dict) or any(
        type(header.get(name)) is not str for name in ("alg", "digest", "kid", "typ")
    ):
        raise VerificationError(
            "The header has to be an object with the texts 'alg', 'digest', 'kid' and 'typ'.",
            "header",
        )
    for name, value in wanted.items():
        if header.get(name) != value or type(header[name]) is not type(value):
            raise VerificationError(
                f"The header's {name} is {shown(header.get(name))}; {value} would work.", "header"
            )
    return header


def _key(
    header: dict[str, Any], keys: Mapping[str, Key], typ: str, algorithms: tuple[str, ...]
) -> Key:
    if header["typ"] != typ:
        raise VerificationError(
            f"A signature of type {shown(header['typ'])} was found; {typ!r} is wanted.", "typ"
        )
    if header["alg"] not in algorithms:
        raise VerificationError(
            f"The algorithm {shown(header['alg'])} is not allowed; "
            f"allowed: {', '.join(algorithms)}.",
            "alg",
        )
    key = keys.get(header["kid"])
    if key is None:
        raise VerificationError(str(not_found("key", header["kid"], keys)), "kid")
    if key.alg != header["alg"]:
        raise VerificationError(
            f"The header says {header['alg']}, but the key {shown(key.kid)} is for {key.alg}.",
            "alg",
        )
    return key


def _signed_bytes(protected: str, payload: bytes) -> bytes:
    return protected.encode("ascii") + b"." + payload


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _unbase64(text: str, part: str, most: int) -> bytes:
    """Read base64url; of the forms that decode alike, only the one that is written passes."""
    try:
        if len(text) <= most:
            data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
            if _base64(data) == text:
                return data
    except ValueError:
        pass
    raise VerificationError(
        f"The {part} {shown(text)} is no base64url of at most {most} characters.", part
    )
