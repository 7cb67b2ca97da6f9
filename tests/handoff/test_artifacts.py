"""Artifacts: hashed when they are handed over, and again on arrival."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum import HandoffProtocol, InputError, VerificationError
from argentum.handoff import ArtifactRef, artifact_faults, check_artifacts, hash_artifact

PROTOCOL = HandoffProtocol()


def handed_over(folder: Path, **files: bytes):
    """Hand files over."""
    refs = []
    for name, data in files.items():
        (folder / name).write_bytes(data)
        refs.append(hash_artifact(folder, name))
    return PROTOCOL.create_handoff("a", "b", "s", artifact_refs=refs)


def test_hashing_a_file(tmp_path: Path):
    """Digest, size and media type are those of the file."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_bytes(b"<p>")

    assert ArtifactRef(
        "out/report.html",
        f"sha256:{hashlib.sha256(b'<p>').hexdigest()}",
        3,
        "text/html",
        "output",
    ) == hash_artifact(tmp_path, "out/report.html", role="output")
    assert hash_artifact({"x": b""}, "x").media_type is None
    assert "text/x-own" == hash_artifact({"x": b""}, "x", media_type="text/x-own").media_type


def test_names_are_added(tmp_path: Path):
    """Hashed artifacts are named for readers who know only names."""
    assert ["x", "y"] == handed_over(tmp_path, x=b"1", y=b"2").artifacts


def test_what_became_of_files(tmp_path: Path):
    """Each file that is missing or not what it was is named, with what became of it."""
    handoff = handed_over(tmp_path, a=b"12", b=b"12", c=b"12", d=b"12", e=b"12")
    assert [] == artifact_faults(handoff, tmp_path)
    (tmp_path / "a").unlink()
    (tmp_path / "b").write_bytes(b"21")
    (tmp_path / "c").write_bytes(b"123")
    (tmp_path / "d").write_bytes(b"")

    faults = artifact_faults(handoff, tmp_path)

    assert [
        ("artifact_refs[0]", "artifact_missing"),
        ("artifact_refs[1]", "artifact_changed"),
        ("artifact_refs[2]", "artifact_changed"),
        ("artifact_refs[3]", "artifact_changed"),
    ] == [(fault.part, fault.code) for fault in faults]
    assert "The artifact 'a' is missing: " in faults[0].message
    assert "The artifact 'b' was changed: its digest is sha256:" in faults[1].message
    assert "The artifact 'c' grew from 2 bytes to more." == faults[2].message
    assert "The artifact 'd' shrank from 2 bytes to 0." == faults[3].message
    with pytest.raises(VerificationError, match="'a' is missing.*'d' shrank"):
        check_artifacts(handoff, tmp_path)


def test_a_name_without_digest(tmp_path: Path):
    """A name among hashed artifacts that has no digest is named; names alone have no faults."""
    (tmp_path / "x").write_bytes(b"1")
    mixed = PROTOCOL.create_handoff(
        "a", "b", "s", ["y"], artifact_refs=[hash_artifact(tmp_path, "x")]
    )
    names = PROTOCOL.create_handoff("a", "b", "s", ["y", "z"])

    assert [("artifacts[0]", "artifact_unhashed")] == [
        (fault.part, fault.code) for fault in artifact_faults(mixed, tmp_path)
    ]
    assert [] == artifact_faults(names, tmp_path)


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret", "link"])
def test_names_lead_nowhere_else(name: str, tmp_path: Path):
    """A name from a document reads no file outside the folder."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"1")
    (folder / "link").symlink_to(tmp_path / "secret")
    ref = hash_artifact({name: b"1"}, name)
    handoff = PROTOCOL.create_handoff("a", "b", "s", artifact_refs=[ref])

    assert ["artifact_missing"] == [fault.code for fault in artifact_faults(handoff, folder)]
    with pytest.raises(InputError):
        hash_artifact(folder, name)


def test_a_folder_in_place_of_a_file(tmp_path: Path):
    """What is no file cannot be what was handed over."""
    handoff = handed_over(tmp_path, x=b"1")
    (tmp_path / "x").unlink()
    (tmp_path / "x").mkdir()

    assert ["artifact_missing"] == [fault.code for fault in artifact_faults(handoff, tmp_path)]


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_only_the_same_bytes_pass(before: bytes, after: bytes):
    """An artifact has no fault if and only if it is byte for byte what it was."""
    ref = hash_artifact({"x": before}, "x")
    handoff = PROTOCOL.create_handoff("a", "b", "s", artifact_refs=[ref])

    assert (before == after) == (artifact_faults(handoff, {"x": after}) == [])


def test_large_files_are_read_in_blocks(tmp_path: Path):
    """A file of several blocks has the digest of the whole."""
    data = bytes(range(256)) * 10_000
    (tmp_path / "x").write_bytes(data)

    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == hash_artifact(tmp_path, "x").digest


def test_verify_looks_at_artifacts(tmp_path: Path):
    """`verify` refuses a handoff whose artifacts are not what was handed over."""
    text = PROTOCOL.to_json(handed_over(tmp_path, x=b"1"))
    PROTOCOL.verify(text, artifacts_in=tmp_path)
    (tmp_path / "x").write_bytes(b"2")

    with pytest.raises(VerificationError) as caught:
        PROTOCOL.verify(text, artifacts_in=tmp_path)
    assert "artifact_refs[0]" == caught.value.part
