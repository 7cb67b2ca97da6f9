"""What is packed comes back, and what was not packed is refused."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import FormatError
from argentum.store.packing import packed, unpacked


@given(st.binary(max_size=2000), st.integers(0, 1000))
def test_packed_bytes_come_back(content: bytes, from_bytes: int) -> None:
    """Whatever the bytes and the threshold, unpacking gives the same."""
    assert content == unpacked(packed(content, from_bytes))


def test_packing_makes_text_smaller_and_noise_only_a_byte_longer() -> None:
    """What deflating would make longer is kept plain."""
    noise = os.urandom(1000)
    assert len(packed(b"to be or not to be " * 50, 128)) < 100
    assert 1001 == len(packed(noise, 128))


def test_short_content_is_not_deflated() -> None:
    """Below the threshold no time is spent."""
    assert b"\x00" + b"a" * 127 == packed(b"a" * 127, 128)


@pytest.mark.parametrize(
    "column", [b"", b"\x07abc", b"\x01not deflated", packed(b"a" * 500, 1)[:-3]]
)
def test_foreign_bytes_are_refused(column: bytes) -> None:
    """A column that was damaged or never packed is a `FormatError`, not a crash."""
    with pytest.raises(FormatError):
        unpacked(column)
