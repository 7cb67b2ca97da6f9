"""
Artifacts as they were when they were handed over: hashed by the sender, hashed again on arrival.

A name is a path below a folder that you name; none leads out of it (see `security/paths.py`).
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from mimetypes import MimeTypes
from typing import IO, Any

from argentum.errors import InputError, VerificationError, shown
from argentum.handoff.document import ArtifactRef, Handoff
from argentum.security.paths import open_under

Source = str | os.PathLike[str] | Mapping[str, bytes]
"""A folder, or the contents by name."""
_BLOCK_BYTES = 1 << 20
_TYPES = MimeTypes(filenames=())  # those of the system would differ from one to the next


@dataclass(frozen=True, slots=True)
class ArtifactFault:
    """What is wrong with an artifact."""

    part: str
    """Which one, such as `artifact_refs[0]`."""
    code: str
    """`artifact_missing`, `artifact_changed` or `artifact_unhashed`."""
    message: str


def hash_artifact(
    source: Source, name: str, *, media_type: str | None = None, role: str | None = None
) -> ArtifactRef:
    """
    Say what an artifact is: its digest, its size and its media type.

    Args:
        media_type: by default guessed from the name.
        role: `input`, `output` or `evidence`.

    Raises:
        InputError: there is no such file, or its name leads out of the folder.
    """
    with _opened(source, name) as file:
        size, found = _hashed(file, None)
    guessed = media_type or _TYPES.guess_type(name)[0]
    return ArtifactRef(name, found, size, guessed, role)


def artifact_faults(handoff: Handoff, source: Source) -> list[ArtifactFault]:
    """
    Hash the artifacts again and name those that are missing or not what was handed over.

    A handoff whose artifacts have names only has nothing to compare with, and no faults.
    """
    faults = []
    for index, ref in enumerate(handoff.artifact_refs):
        fault = _fault(ref, source)
        if fault:
            faults.append(ArtifactFault(f"artifact_refs[{index}]", *fault))
    return faults + _unhashed(handoff)


def check_artifacts(handoff: Handoff, source: Source) -> None:
    """
    Refuse a handoff of which an artifact is missing or not what was handed over.

    Raises:
        VerificationError: `part` names the first of them, the message all.
    """
    faults = artifact_faults(handoff, source)
    if faults:
        raise VerificationError(" ".join(fault.message for fault in faults), faults[0].part)


def _fault(ref: ArtifactRef, source: Source) -> tuple[str, str] | None:
    try:
        with _opened(source, ref.name) as file:
            size, found = _hashed(file, ref.size)
    except InputError as error:
        return "artifact_missing", f"The artifact {shown(ref.name)} is missing: {error}"
    except OSError as error:
        return "artifact_missing", f"The artifact {shown(ref.name)} cannot be read: {error}."
    if size != ref.size:
        way = "grew" if size > ref.size else "shrank"
        to = "more" if size > ref.size else f"{size:,}"
        return (
            "artifact_changed",
            f"The artifact {shown(ref.name)} {way} from {ref.size:,} bytes to {to}.",
        )
    if found != ref.digest:
        return (
            "artifact_changed",
            f"The artifact {shown(ref.name)} was changed: "
            f"its digest is {found}, {ref.digest} was handed over.",
        )
    return None


def _unhashed(handoff: Handoff) -> list[ArtifactFault]:
    hashed = {ref.name for ref in handoff.artifact_refs}
    return [
        ArtifactFault(
            f"artifacts[{index}]",
            "artifact_unhashed",
            f"The artifact {shown(name)} has no digest in artifact_refs, as others have.",
        )
        for index, name in enumerate(handoff.artifacts)
        if hashed and name not in hashed
    ]


def _opened(source: Source, name: str) -> IO[Any]:
    if not isinstance(source, Mapping):
        return open_under(source, name, "rb")
    if name not in source:
        raise InputError(f"No contents are given for {shown(name)}.")
    return io.BytesIO(source[name])


def _hashed(file: IO[Any], enough: int | None) -> tuple[int, str]:
    """Give size and digest; a file that has more than `enough` bytes is not read to its end."""
    hashing, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK_BYTES):
        hashing.update(block)
        size += len(block)
        if enough is not None and size > enough:
            break
    return size, "sha256:" + hashing.hexdigest()
