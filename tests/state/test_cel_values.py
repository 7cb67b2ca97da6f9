"""Tests of values as CEL has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import InputError
from argentum.state.cel_values import DEEPEST, as_cel

EDGES = [0, 1, 2**53, 2**63, 2**64, 0.5, float("nan"), True, None, "", "é", "\ud800", b"x"]
PLAIN = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.none(), st.text(), st.binary(max_size=3),
    st.sampled_from(EDGES), st.just(bytearray(b"y")), st.tuples(st.integers()),
)  # fmt: skip
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.text(), PLAIN.filter(
            lambda key: type(key) in (int, str, bool))), inner, max_size=4),
    ),
)  # fmt: skip


@given(VALUES)
def test_containers_are_what_their_parts_are(value: Any) -> None:
    """Large ones are looked at in C first, which must not let through what CEL lacks."""
    assert repr(as_cel(value)) == repr(part_by_part(value))


def part_by_part(value: Any) -> Any:
    """Convert each part alone."""
    if type(value) is list:
        return [part_by_part(item) for item in value]
    if type(value) is dict:
        keys = [next(iter(as_cel({key: None}))) for key in value]
        return dict(zip(keys, map(part_by_part, value.values()), strict=True))
    return as_cel(value)


def test_depth() -> None:
    """CEL would crash far down."""
    value: Any = 1
    for _ in range(DEEPEST + 1):
        value = [value]
    assert repr(as_cel(value)) == repr(value)

    with pytest.raises(InputError, match="levels deep"):
        as_cel([value])
