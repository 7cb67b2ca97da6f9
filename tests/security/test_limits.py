"""States over a limit: refused before anything is kept, or cut and marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import values

import argentum
from argentum import LimitError, SecuritySettings, StateDiff
from argentum.security.limits import Limits
from argentum.security.truncating import digits_of
from argentum.tree import Record, Tree, freeze

ELEVEN_MB = {"messages": ["x" * 1000] * 11_000}


@pytest.fixture(autouse=True)
def default_settings() -> Iterator[None]:
    """Begin and end with the settings that nobody changed."""
    argentum.configure_security()
    yield
    argentum.configure_security()


def kept(value: object, **settings: Any) -> Any:
    """Give what is kept of a value where limits cut."""
    limits = Limits(SecuritySettings(at_limit="truncate", **settings))
    return limits.within(freeze(value)).thaw()


def refusal(value: object, **settings: Any) -> str:
    """Give the message with which a value is refused."""
    with pytest.raises(LimitError) as caught:
        Limits(SecuritySettings(**settings)).within(freeze(value))
    return str(caught.value)


# ---------------------------------------------------------------- the whole size


def test_too_large_for_the_process():
    """11 MB against 10 MB raises with both numbers and leaves the history as it was."""
    argentum.configure_security(max_state_size_mb=10)
    history = StateDiff()
    history.snapshot("before", {"step": 1})

    with pytest.raises(LimitError) as caught:
        history.snapshot("large", ELEVEN_MB)
    history.snapshot("after", {"step": 2})

    assert f"{freeze(ELEVEN_MB).size_bytes:,} bytes" in str(caught.value)
    assert "10,000,000 are allowed (`max_state_size_mb`)" in str(caught.value)
    assert ["before", "after"] == history.labels
    assert {"step": {"from": 1, "to": 2}} == history.get_changes("before", "after")


def test_too_large_for_a_history():
    """A history may have limits of its own."""
    own = StateDiff(security=SecuritySettings(max_state_size_mb=0.001))

    with pytest.raises(LimitError):
        own.snapshot("a", "x" * 1001)
    StateDiff().snapshot("a", "x" * 1001)

    assert 0 == len(own)


def test_just_within():
    """A state of just so many bytes as are allowed is kept."""
    limits = Limits(SecuritySettings(max_state_size_mb=0.001))
    fitting = freeze("x" * 997)

    assert 1000 == fitting.size_bytes
    assert fitting is limits.within(fitting)
    with pytest.raises(LimitError):
        limits.within(freeze("x" * 998))


def test_settings_that_come_later():
    """A history that is there already heeds what the process says later."""
    history = StateDiff()
    history.snapshot("a", [1, 2, 3])
    argentum.configure_security(max_items=2)

    with pytest.raises(LimitError):
        history.snapshot("b", [1, 2, 3])


# ---------------------------------------------------------------- the other limits


@pytest.mark.parametrize(
    "value, settings, said",
    [
        ({"a": ["x" * 51]}, {"max_string_chars": 50}, "51 characters in a text at 'a[0]'; 50"),
        ({"a": b"x" * 51}, {"max_string_chars": 50}, "51 bytes in a value at 'a'; 50"),
        ({"a": [0] * 51}, {"max_items": 50}, "51 members at 'a'; 50"),
        ({"a": {str(n): n for n in range(51)}}, {"max_items": 50}, "51 members at 'a'; 50"),
        ({"a": {"k" * 51: 1}}, {"max_key_chars": 50}, "51 characters in a key at 'a'; 50"),
        ({"a": [10**50]}, {"max_integer_digits": 50}, "51 digits in an integer at 'a[0]'; 50"),
        ([[[[]]]], {"max_depth": 3}, "4 levels at '[0][0][0]'; 3"),
        ({1: [2, 3]}, {"max_items": 1}, "2 members at '{1}'; 1"),
        ((1, {2, 3, 4}), {"max_items": 2}, "3 members at '[1]'; 2"),
        (Record("m:C", {"text": "x" * 51}), {"max_string_chars": 50}, "at 'text'"),
    ],
)  # fmt: skip
def test_each_limit(value: object, settings: dict, said: str):
    """Each limit names what is over it, where, and how much is allowed."""
    assert said in refusal(value, **settings)


@pytest.mark.parametrize(
    "value, settings",
    [
        ({"a": ["x" * 50]}, {"max_string_chars": 50}),
        ({"a": [0] * 50}, {"max_items": 50}),
        ({"a": {"k" * 50: 1}}, {"max_key_chars": 50}),
        ({"a": [10**50 - 1, 1 - 10**50]}, {"max_integer_digits": 50}),
        ([[[1]]], {"max_depth": 3}),
    ],
)
def test_each_limit_is_allowed(value: object, settings: dict):
    """Just as much as a limit allows is kept as it is."""
    tree = freeze(value)

    assert tree is Limits(SecuritySettings(**settings)).within(tree)


@pytest.mark.parametrize("many", [1, 5000])
def test_limits_in_large_states(many: int):
    """What is over a limit is found wherever it lies in a large state."""
    state = {"messages": [{"id": n, "text": "y" * 90} for n in range(many)]}
    limits = Limits(SecuritySettings(max_string_chars=100))
    tree = limits.within(freeze(state))
    state["messages"][many // 2]["text"] = "z" * 101

    with pytest.raises(LimitError) as caught:
        limits.within(freeze(state, tree))

    assert f"at 'messages[{many // 2}].text'" in str(caught.value)


def test_large_keys_and_counts_of_large_containers():
    """Keys and counts of containers that are kept in pages are checked too."""
    many = {f"{n}": "v" * 200 for n in range(1000)}

    assert "1,000 members" in refusal(many, max_items=999)
    assert "5,000 characters in a key" in refusal(many | {"k" * 5000: 1}, max_key_chars=4999)


def test_a_refused_state_is_refused_again():
    """What was over a limit once is so the next time, even as the very same tree."""
    limits = Limits(SecuritySettings(max_string_chars=1000))
    tree = freeze({"a": ["x" * 900] * 1000 + ["x" * 1001]})
    for _ in range(3):
        with pytest.raises(LimitError):
            limits.within(tree)


@given(st.integers(min_value=-(10**60), max_value=10**60))
def test_digits(number: int):
    """Digits are counted as a person would."""
    assert len(str(abs(number))) == digits_of(number)


# ---------------------------------------------------------------- cut forms


def test_cut_to_size():
    """A state over the size is cut where it is large, keeps what is small, and says both."""
    cut = kept({"step": 3, "log": "x" * 2_000_000, "user": "Ann"}, max_state_size_mb=1)

    assert 3 == cut["step"]
    assert "Ann" == cut["user"]
    assert cut["log"].startswith("x" * 900_000)
    assert cut["log"].endswith("… [truncated: 2,000,000 characters]")
    assert f"[truncated: {freeze({'step': 3, 'log': 'x' * 2_000_000, 'user': 'Ann'}).size_bytes:,} bytes]" == cut["[truncated]"]  # fmt: skip  # noqa: E501
    assert freeze(cut).size_bytes <= 1_000_000


def test_cut_lists_keep_both_ends():
    """A long list keeps its first and last items, whole, and says how many there were."""
    cut = kept([{"id": n, "text": "x" * 100} for n in range(1000)], max_state_size_mb=0.02)

    assert {"id": 0, "text": "x" * 100} == cut[0]
    assert {"id": 999, "text": "x" * 100} == cut[-1]
    assert 1 == cut.count("[truncated: 1,000 items]")


@pytest.mark.parametrize(
    "value, settings, cut",
    [
        ([1, 2, 3, 4, 5], {"max_items": 4}, [1, 2, "[truncated: 5 items]", 5]),
        ({"a": 1, "b": 2, "c": 3}, {"max_items": 3}, {"a": 1, "b": 2, "c": 3}),
        (10**50, {"max_integer_digits": 50}, "[truncated: an integer of 51 digits]"),
        ([[["x" * 9]]], {"max_depth": 2}, [["[truncated: list, 11 bytes]"]]),
        ({1, 2, 3}, {"max_items": 2}, "[truncated: set, 6 bytes]"),
        ((1, 2, 3), {"max_items": 2}, (1, "[truncated: 3 items]")),
    ],
)
def test_cut_forms(value: object, settings: dict, cut: object):
    """Each kind has its cut form, with the true number in it."""
    assert cut == kept(value, **settings)


def test_nothing_is_cut_within_limits():
    """A state within its limits is the same tree."""
    tree = freeze({"a": [1, 2]})

    assert tree is Limits(SecuritySettings.production(at_limit="truncate")).within(tree)


TIGHT = SecuritySettings(
    max_state_size_mb=0.001, max_depth=3, max_items=4, max_string_chars=40,
    max_integer_digits=20, max_key_chars=40, at_limit="truncate",
)  # fmt: skip


@given(values)
def test_cut_is_within(value: object):
    """The cut form of any value is within the limits, and says that it was cut."""
    tree = freeze(value)
    limits = Limits(TIGHT)

    cut = limits.within(tree)

    assert limits.broken(cut) is None
    assert cut is tree or "truncated" in repr(cut.thaw(live=False))


@given(values)
def test_limits_do_not_depend_on_what_came_before(value: object):
    """What is over a limit is so whether or not the checker saw like states before."""
    fresh, used = Limits(TIGHT), Limits(TIGHT)
    state = {"one": value, "many": [value] * 3}
    before: Tree | None = None
    for tree in (freeze(value), freeze([value]), freeze(state)):
        used.broken(tree if before is None else freeze(tree.thaw(), before))
        before = tree

    assert fresh.broken(before) == used.broken(before)
