"""Reading documents: plain ones, and signed ones whose signature is checked elsewhere, or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from argentum.errors import FormatError, InputError, shown
from argentum.handoff import canonical, document, receipts
from argentum.handoff import fields as of
from argentum.handoff.document import Handoff
from argentum.handoff.receipts import Receipt
from argentum.handoff.signing import MEMBERS, Signed

Data = str | bytes | Signed
"""A text, its bytes, or a payload with the signature that came beside it."""
ENVELOPE = replace(canonical.LIMITS, max_bytes=2 * canonical.LIMITS.max_bytes + 8192)
"""A payload is text in the signed form: each quote in it takes two bytes."""
_Document = TypeVar("_Document", Handoff, Receipt)


def unverified_handoff(data: Data) -> Handoff:
    """
    Read a handoff without a look at its signature, as for showing what was kept.

    Raises:
        FormatError: it is no handoff.
        VerificationError: it is a signed document that has lost a member.
    """
    found = opened(data)
    if isinstance(found, Signed):
        return with_signature(as_handoff(canonical.read(found.payload)), found)
    return as_handoff(found)


def unverified_receipt(data: Data) -> Receipt:
    """Read a receipt without a look at its signature; raises as `unverified_handoff`."""
    found = opened(data)
    if isinstance(found, Signed):
        return with_signature(as_receipt(canonical.read(found.payload)), found)
    return as_receipt(found)


def opened(data: Data) -> Any:
    """Give what is signed as `Signed`, and any other document as the JSON value that it is."""
    if isinstance(data, Signed):
        return data
    value = canonical.read(data, ENVELOPE)
    return Signed.from_members(value) if _is_envelope(value) else value


def as_handoff(value: Any) -> Handoff:
    """Make a handoff from a JSON value; `FormatError` if it is none."""
    return _made(Handoff, document.CHECKS, value)


def as_receipt(value: Any) -> Receipt:
    """Make a receipt from a JSON value; `FormatError` if it is none."""
    return _made(Receipt, receipts.CHECKS, value)


def with_signature(made: _Document, signed: Signed) -> _Document:
    """Give a document the bytes that it was read from, or signed as."""
    object.__setattr__(made, "signed", signed)
    return made


def _is_envelope(value: object) -> bool:
    """Tell whether it is, or was, a signed document; one of its members may be altered."""
    if not isinstance(value, dict):
        return False
    return bool(MEMBERS & value.keys()) and not {"from_agent", "handoff_id"} & value.keys()


def _made(kind: type[_Document], checks: of.Checks, value: Any) -> _Document:
    name = kind.__name__.lower()
    if not isinstance(value, dict):
        raise FormatError(f"{shown(value)} is no {name}; a JSON object would work.")
    try:
        return of.read(kind, checks, value)
    except InputError as error:
        raise FormatError(f"The {name} cannot be used: {error}") from error
