"""
Keys that sign and verify; they come from you, never from a document.

`HmacKey` needs nothing else and suits agents that trust each other: who can verify can also sign.
`Ed25519Key` needs `pip install "argentum-agent[sign]"`; its public half only verifies.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from argentum.errors import InputError, MissingExtraError, shown
from argentum.handoff import fields as of

ALGORITHMS = ("HS256", "EdDSA")
SMALLEST_SECRET_BYTES = 32
_RAW_BYTES = 32


class Key(Protocol):
    """What signs and verifies under a name."""

    @property
    def kid(self) -> str:
        """The key's name, which signatures carry."""

    @property
    def alg(self) -> str:
        """The algorithm, by its name in JWS."""

    @property
    def agents(self) -> frozenset[str] | None:
        """The agents in whose name it may sign; None for any."""

    def sign(self, data: bytes) -> bytes:
        """Sign; `InputError` if it can only verify."""

    def holds(self, data: bytes, signature: bytes) -> bool:
        """Tell whether a signature is of this key over these bytes."""


@dataclass(frozen=True, slots=True)
class HmacKey:
    """A secret that both sides know: HMAC-SHA256 (`HS256`)."""

    kid: str
    secret: bytes = field(repr=False)
    """At least 32 random bytes, such as `secrets.token_bytes(32)`."""
    agents: frozenset[str] | None = None
    """The agents in whose name it may sign; None for any."""
    alg: str = field(default="HS256", init=False)

    def __post_init__(self) -> None:
        of.name(self.kid, "kid")
        object.__setattr__(self, "agents", _agents(self.agents))
        if type(self.secret) is not bytes or len(self.secret) < SMALLEST_SECRET_BYTES:
            raise InputError(  # the value is not shown: it is a secret
                f"The secret of key {shown(self.kid)} is a short or unsuitable "
                f"{type(self.secret).__name__}; at least {SMALLEST_SECRET_BYTES} random bytes, "
                "such as secrets.token_bytes(32), would work."
            )

    def sign(self, data: bytes) -> bytes:
        """Give the 32 bytes that show that its owner wrote these."""
        return hmac.digest(self.secret, data, "sha256")

    def holds(self, data: bytes, signature: bytes) -> bool:
        """Tell whether a signature is of this key over these bytes."""
        return hmac.compare_digest(self.sign(data), signature)


class Ed25519Key:
    """
    A key pair, or its public half alone: Ed25519 (`EdDSA`).

    Args:
        private: 32 raw bytes, PEM, or a private key of `cryptography`.
        public: the same for the public half; a private key has it in itself.
        agents: the agents in whose name it may sign; None for any.

    Raises:
        InputError: neither or both are given, or it is no Ed25519 key.
        MissingExtraError: `cryptography` is not installed.
    """

    __slots__ = ("_invalid", "_private", "_public", "agents", "alg", "kid")

    def __init__(
        self,
        kid: str,
        *,
        private: Any = None,
        public: Any = None,
        agents: Iterable[str] | None = None,
    ) -> None:
        self.kid, self.alg, self.agents = of.name(kid, "kid"), "EdDSA", _agents(agents)
        if (private is None) == (public is None):
            raise InputError(f"The key {shown(kid)} needs either private= or public=.")
        self._invalid = _invalid_signature()
        self._private = None if private is None else _loaded(private, kid, "private")
        self._public = (
            self._private.public_key() if self._private else _loaded(public, kid, "public")
        )

    def __repr__(self) -> str:
        half = "private" if self._private else "public"
        return f"Ed25519Key({self.kid!r}, {half}=…)"

    def public_bytes(self) -> bytes:
        """Give the 32 bytes of the public half, for who verifies."""
        raw: bytes = self._public.public_bytes_raw()
        return raw

    def sign(self, data: bytes) -> bytes:
        """Give the 64 bytes that show that the owner of the private half wrote these."""
        if self._private is None:
            raise InputError(f"The key {shown(self.kid)} is public and cannot sign; give private=.")
        signature: bytes = self._private.sign(data)
        return signature

    def holds(self, data: bytes, signature: bytes) -> bool:
        """Tell whether a signature is of this key over these bytes."""
        try:
            self._public.verify(signature, data)
        except self._invalid:
            return False
        return True


def _agents(given: Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise InputError(f"agents is {shown(given)}; a list such as [{shown(given)}] would work.")
    return frozenset(of.name(agent, "agents") for agent in given)


def _invalid_signature() -> type[Exception]:
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(
            "Ed25519 needs the library cryptography. Run: pip install 'argentum-agent[sign]'"
        ) from error
    return InvalidSignature


def _loaded(given: Any, kid: str, half: str) -> Any:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

    private = half == "private"
    kind: Any = ed25519.Ed25519PrivateKey if private else ed25519.Ed25519PublicKey
    key = given
    try:
        if isinstance(given, bytes) and len(given) == _RAW_BYTES:
            key = kind.from_private_bytes(given) if private else kind.from_public_bytes(given)
        elif isinstance(given, (bytes, str)):
            pem = given.encode() if isinstance(given, str) else given
            key = (
                serialization.load_pem_private_key(pem, None)
                if private
                else serialization.load_pem_public_key(pem)
            )
    except (ValueError, TypeError) as error:
        key = error
    if not isinstance(key, kind):
        # The value is not shown: it may be a secret.
        raise InputError(
            f"What was given as {half}= for {shown(kid)} is no {half} Ed25519 key; "
            "32 raw bytes, PEM without a password, or a key of cryptography would work."
        )
    return key
