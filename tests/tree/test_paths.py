"""Paths as text and as steps."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import texts

from argentum.errors import InputError
from argentum.tree import Key, Path
from argentum.tree.encoding import pack

literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary(max_size=4) | st.text(max_size=4)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda children: st.tuples(children) | st.tuples(children, children),
    max_leaves=4,
)  # fmt: skip
steps = (
    st.text(max_size=6)
    | texts
    | st.sampled_from(["a.b", "a/b", 'a"b', "a'b", "a]b", "{a}", "\\", "", "-", "1", "[0]", "é"])
    | st.integers(-99, 99)
    | literals.filter(lambda value: type(value) is not str).map(Key)
)


@given(st.lists(steps, max_size=6))
def test_text_reads_back(parts):
    """A path's text gives the same typed steps again."""
    path = Path.of(parts)
    again = Path(str(path))

    assert tuple(parts) == again.parts
    assert [pack(getattr(one, "value", one)) for one in parts] == [
        pack(getattr(one, "value", one)) for one in again.parts
    ]
    assert str(path) == str(again)


@given(st.lists(steps, max_size=4), st.lists(steps, max_size=4))
def test_different_steps_have_different_text(one, other):
    """No two paths share a text."""
    assert (Path.of(one).parts == Path.of(other).parts) == (Path.of(one) == Path.of(other))


@given(st.text(max_size=12) | st.text('.[]{}"\\-01ab,:() ', max_size=12))
def test_any_text_is_a_path_or_an_input_error(text):
    """Reading never fails in another way, and what was read reads back."""
    try:
        path = Path(text)
    except InputError:
        return
    assert path.parts == Path(str(path)).parts


@pytest.mark.parametrize(
    "parts, text",
    [
        ((), ""),
        (("messages", 3, "content"), "messages[3].content"),
        (("a.b", "c"), '["a.b"].c'),
        (("scores", Key(1)), "scores{1}"),
        (("1",), "1"),
        ((1,), "[1]"),
        ((Key(1),), "{1}"),
        ((Key(True),), "{True}"),
        ((Key((1, "}")),), "{(1, '}')}"),
        (("snake_case", "kebab-case"), "snake_case.kebab-case"),
        (("\ud800",), '["\\ud800"]'),
    ],
)
def test_text(parts, text):
    """Plain words stand bare, odd keys are quoted, and other keys stand in braces."""
    assert text == Path.of(parts)
    assert parts == Path(text).parts


@pytest.mark.parametrize(
    "text",
    [
        ".a", "a.", "a..b", "a b", "[", "[a]", "[1", '["a]', "{", "{nan}", "{x}", "a[0]b",
        "[0].[1]",
        '["\\q"]', "{{[]: 1}}", "[" + "9" * 5000 + "]", "{" + "(" * 1000 + "}",
    ],
)  # fmt: skip
def test_unreadable_text(text):
    """What is no path is refused with the place and an example."""
    with pytest.raises(InputError, match=r"is not a path: .* cannot be read\. Write keys"):
        Path(text)


def test_keys_compare_by_type():
    """`1`, `1.0` and `True` are three keys."""
    assert 3 == len({Key(1), Key(1.0), Key(True), Key(1)})
    assert Key(1) != 1


def test_a_key_whose_repr_raises():
    """A foreign key that cannot be shown is a question mark in the text."""

    class Shy:
        def __repr__(self):
            raise ZeroDivisionError

    assert "{?}" == Path.of([Key(Shy())])


def test_paths_are_text_and_copy():
    """A path is a `str`, and copies and pickles with its steps."""
    path = Path("a[0]{1}")

    assert isinstance(path, str)
    assert path is Path(path)
    assert path.parts == copy.deepcopy(path).parts == pickle.loads(pickle.dumps(path)).parts
