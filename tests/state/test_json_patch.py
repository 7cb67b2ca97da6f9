"""JSON Patches, made and applied."""

from __future__ import annotations

import copy
import json

import jsonpatch
import jsonpointer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import edits, entries_up_to, exactly_equal, json_edits, sizes

from argentum.errors import FormatError
from argentum.state import apply_json_patch, json_patch, to_jsonable
from argentum.state.json_patch import pointer
from argentum.tree import freeze


@given(json_edits, sizes)
def test_a_patch_leads_to_the_state_after(states, size):
    """Applied by the `jsonpatch` package and by us, a patch gives the state after."""
    before, after = map(to_jsonable, states)
    with entries_up_to(size):
        patch = json_patch(freeze(states[0]), freeze(states[1]))
    ours = apply_json_patch(before, patch)
    theirs = jsonpatch.apply_patch(copy.deepcopy(before), json.loads(json.dumps(patch)))

    assert exactly_equal(after, ours, zeros=True, order=False)
    assert exactly_equal(after, theirs, zeros=True, order=False)


@given(edits)
def test_a_patch_of_any_values(states):
    """What JSON lacks is replaced whole, in its JSON form."""
    before, after = map(to_jsonable, states)
    patch = json_patch(*map(freeze, states))

    assert exactly_equal(after, apply_json_patch(before, patch), zeros=True, order=False)


@given(json_edits)
def test_applying_leaves_the_document_alone(states):
    """The given document is not changed."""
    before = to_jsonable(states[0])
    kept = json.dumps(before)
    apply_json_patch(before, json_patch(*map(freeze, states)))

    assert kept == json.dumps(before)


@given(st.lists(st.text(max_size=5) | st.sampled_from(["~", "/", "~1", "~01", "a/b~c"])))
def test_pointers_are_escaped(steps):
    """A pointer has the steps that it was made of, by the `jsonpointer` package's reading."""
    assert steps == jsonpointer.JsonPointer(pointer(steps)).parts


documents = st.sampled_from([{}, [], 1, {"a": [1, 2]}, {"a": {"b": 1}}, [[1], {"a": 2}]])
pointers = st.sampled_from(
    ["", "/", "/a", "/a/b", "/a/0", "/0", "/0/0", "/-", "/01", "/a/-", "a", "/1/a"]
)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "replace", "remove", "move", "copy", "test", "?"])},
    optional={"path": pointers, "from": pointers, "value": st.sampled_from([1, 2, [1], None])},
)


@given(documents, st.lists(operations, max_size=3))
def test_any_operations_are_done_or_refused(document, patch):
    """Whatever the patch asks for, it is done or is a `FormatError`; what both do, we do alike."""
    try:
        ours = apply_json_patch(document, patch)
    except FormatError as error:
        assert "cannot be done" in str(error)
        return
    if all(one.get("path") and one.get("from", "/") for one in patch):
        assert ours == jsonpatch.apply_patch(copy.deepcopy(document), patch)


@pytest.mark.parametrize(
    "document, operation, expected",
    [
        ([1, 3], {"op": "add", "path": "/1", "value": 2}, [1, 2, 3]),
        ([1], {"op": "add", "path": "/-", "value": 2}, [1, 2]),
        ({"a": 1}, {"op": "move", "from": "/a", "path": "/b"}, {"b": 1}),
        ({"a": [1, 2]}, {"op": "move", "from": "/a/0", "path": "/a/1"}, {"a": [2, 1]}),
        ({"a": 1}, {"op": "copy", "from": "/a", "path": "/b"}, {"a": 1, "b": 1}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": 1}, {"a": 1}),
        ({"a": 1}, {"op": "replace", "path": "", "value": [1]}, [1]),
        ({"a/b": {"~": 1}}, {"op": "remove", "path": "/a~1b/~0"}, {"a/b": {}}),
    ],
)
def test_operations(document, operation, expected):
    """Each operation of RFC 6902 does what it says there."""
    assert expected == apply_json_patch(document, [operation])


@pytest.mark.parametrize(
    "document, operation",
    [
        ({"a": 1}, {"op": "test", "path": "/a", "value": True}),
        ({"a": 1}, {"op": "test", "path": "/a", "value": 1.0}),
        ({"a": 1}, {"op": "replace", "path": "/b", "value": 1}),
        ({"a": 1}, {"op": "remove", "path": "/b"}),
        ({"a": {}}, {"op": "move", "from": "/a", "path": "/a/b"}),
        ([1], {"op": "add", "path": "/2", "value": 1}),
        ([1], {"op": "remove", "path": "/-"}),
        ([1, 2], {"op": "remove", "path": "/01"}),
        ([1], {"op": "remove", "path": "/-1"}),
        ({}, {"op": "remove", "path": ""}),
        ({}, {"op": "invent", "path": "/a"}),
        ({}, {"op": "add", "path": "a", "value": 1}),
        (5, {"op": "add", "path": "/a", "value": 1}),
        ({}, {"path": "/a"}),
        ({}, "no operation"),
    ],
)
def test_operations_that_cannot_be_done(document, operation):
    """A wrong operation is a `FormatError` that names it by its number."""
    with pytest.raises(FormatError, match=r"JSON Patch operation 0, .* cannot be done"):
        apply_json_patch(document, [operation])
