"""What the quick screen lets through to the scan: never too little."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.security import corpus

from argentum.security.redacting import Redactor
from argentum.security.screening import long_runs, may_hold_secret
from argentum.security.secrets import find_secrets
from argentum.tree.encoding import pack

KEY = "T3stDrawn9Qx7LmZp2Vw"


def shapes(text: str) -> list[Any]:
    """Give values that hold a text in different places."""
    return [text, {"content": text}, ["é", text, 7], {"a": {"deep": (text,)}}, {text: 1}]


def test_screen_stops_no_planted_secret() -> None:
    """Whatever the scan finds in a sample, the screen lets through, as a text and encoded."""
    missed = [
        (sample.text, value)
        for sample in corpus.positives()
        for value in shapes(sample.text)
        if find_secrets(value) and not may_hold_secret(pack(value))
    ]
    assert missed == []


pieces = st.sampled_from(
    (
        *("password", "pass", "Secret", "pwd", "--pass", "_hash", "api_key", "token", "is", "str"),
        *("=", ": ", " = ", "\t:", "(", ">", "|", "||", "!=", '"', "'", "\\", '\\"', " is ", "."),
        *("://", "@", "bob:", "host", "%41", "%3D", "\\u0041", "\\/", "%", "é", "\U0001f511", "\0"),
        *("hunter22", "Tr0ub4dor&3", KEY, "passenger", " ", "  ", "\n", ",", "]", "-----BEGIN "),
    )
)
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts, texts)
@example("password", "hunter22")
@example("password é", "hunter22")
@example("", "password        = hunter22")
@example("", r"https:\/\/bob:hunter22x9@db.host\/x")
@example("", "://" + "é" * 100 + ":" + "é" * 198 + "p1@host")
def test_screen_stops_nothing_that_the_scan_finds(key: str, text: str) -> None:
    """A secret in a text, and in a value under a name, gets through the screen."""
    for value in (text, {key: text}, {key: [1, text]}, {key: {"a": 1}, "b": text}):
        if find_secrets(value):
            assert may_hold_secret(pack(value))


@given(st.lists(st.sampled_from((b"a", b"Z9", b"_-+/", b"x" * 15, b" ", b".", b"\xc3"))))
def test_long_runs_are_those_of_an_expression(parts: list[bytes]) -> None:
    """Each longest run of 16 token characters or more is given, with the end of the one before."""
    data = b"".join(parts)
    expected = [one.span() for one in re.finditer(rb"[A-Za-z0-9_\-+/]{16,}", data)]
    ends = [0, *(end for _, end in expected)]

    runs = list(long_runs(data))[::-1]
    assert expected == [(start, end) for _, start, end in runs]
    assert ends[:-1] == [before for before, _, _ in runs]


@pytest.mark.parametrize(
    "text",
    [
        "The passenger passed the secretary a compass.",
        "see https://docs.example.org/library/functions and 50% of it",
        "+------------------+-----------------+ internationalization counter-revolutionaries",
        "class Meta(type): pass class MyClass(metaclass=Meta): pass",
        "reply to bob@example.org",
    ],
)
def test_ordinary_texts_stop_at_the_screen(text: str) -> None:
    """Words like `passenger`, addresses, percentages and rules of tables need no scan."""
    assert not may_hold_secret(pack({"role": "user", "content": text}))


def test_slashes_escaped_in_json_hide_no_login() -> None:
    r"""A login in a URL written `https:\/\/…` goes too."""
    redacted = Redactor().redact_text(r"https:\/\/bob:hunter22x9@db.host\/x")
    assert "hunter22x9" not in redacted
