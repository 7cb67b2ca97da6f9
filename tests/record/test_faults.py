"""Tests of how exceptions are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import argentum
from argentum.store import open_store

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_in_an_exception_has_the_token_that_it_has_in_the_state(tmp_path: Path) -> None:
    """So that a reader sees which key a call was refused with."""
    path = tmp_path / "runs.db"
    with argentum.Run("r", store=path) as run:
        session = run.session("a")
        session.snapshot("s", {"key": TOKEN})
        with pytest.raises(ValueError, match="bad key"), session.tool_call("t"):
            raise ValueError(f"bad key {TOKEN} " + "." * 1000)
    store = open_store(path)
    found = [repr(event.body.thaw()) for event in store.events(run.run_id)]
    store.close()

    tokens = {token for text in found for token in re.findall(r"\[redacted:[^]]*]", text)}
    assert 1 == len(tokens)
    assert 3 == sum(text.count(token) for text in found for token in tokens)
    assert not any(TOKEN[4:12] in text for text in found)
