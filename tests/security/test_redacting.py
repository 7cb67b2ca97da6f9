"""Redaction takes secrets out, and leaves type, shape and everything else."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections import OrderedDict, deque
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security import corpus
from tests.security.corpus import Maker

from argentum.errors import ArgentumError, InputError
from argentum.security.redacting import TOKEN as MARK
from argentum.security.redacting import Redactor
from argentum.security.secrets import find_secrets
from argentum.tree.encoding import pack, unpack

MAKE = Maker(12)
KEY = MAKE.token("sk-proj-{w48}")
PASSWORD = "tr0ub4dor!3"
REDACTOR = Redactor(key=b"k" * 32)
TOKEN = REDACTOR.token("openai-key", KEY)


@dataclass
class Login:
    user: str
    password: str


class Pair(NamedTuple):
    name: str
    token: str


class Client:
    def __init__(self, key: str) -> None:
        self.key = key
        self.calls = 3


class Secretive:
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Secretive {KEY}>"


# ---------------------------------------------------------------- texts


def test_a_text():
    """Only the secret goes; what is around it stays."""
    assert f"use {TOKEN}, please" == REDACTOR.redact_text(f"use {KEY}, please")


def test_a_clean_text_is_the_same_object():
    """A text without a secret is given back as it is."""
    text = "nothing of note here"

    assert REDACTOR.redact_text(text) is text


def test_tokens_are_stable_and_keyed():
    """The same secret gives the same token under one key, and another one under another."""
    other = Redactor(key=b"o" * 32)

    assert REDACTOR.redact_text(KEY) == Redactor(key=b"k" * 32).redact_text(KEY)
    assert REDACTOR.redact_text(KEY) != other.redact_text(KEY)
    assert Redactor().redact_text(KEY) != Redactor().redact_text(KEY)


def test_a_changed_secret_shows():
    """Another secret gives another token, so that a diff shows the change."""
    assert REDACTOR.redact_text(KEY) != REDACTOR.redact_text(KEY[:-1] + "x")


def test_tokens_tell_no_length():
    """Tokens for short and long secrets are alike."""
    assert len(REDACTOR.token("password", "a")) == len(REDACTOR.token("password", "a" * 999))


@pytest.mark.parametrize("frame", ['{{"password": "{}"}}', "api_key={}", "Bearer {}", "secret: {}"])
def test_redacting_twice_is_redacting_once(frame: str):
    """A token is never taken for a secret, also where a secret is looked for."""
    once = REDACTOR.redact_text(frame.format(KEY))

    assert KEY not in once
    assert once == REDACTOR.redact_text(once)
    assert [] == find_secrets(once)


def test_json_stays_json():
    """A redacted JSON text can still be read."""
    text = json.dumps({"a": f"password={PASSWORD}", "b": [KEY], "password": PASSWORD})
    value = json.loads(REDACTOR.redact_text(text))

    assert ["a", "b", "password"] == list(value)
    assert MARK.fullmatch(value["password"])


def test_every_form_of_the_corpus_goes():
    """No sample that is found leaves an 8-character piece of its secret."""
    leaks = []
    for sample in corpus.positives(seed=8, per_vendor=6):
        if find_secrets(sample.text):
            leaks += [
                sample
                for left in (REDACTOR.redact_text(sample.text),)
                if sample.secret[-12:-4] in left
            ]

    assert [] == leaks


@pytest.mark.parametrize(
    "hide",
    [
        lambda text: base64.b64encode(text.encode()).decode(),
        lambda text: text.encode().hex(),
        lambda text: urllib.parse.quote(text, safe=""),
        json.dumps,
    ],
    ids=["base64", "hex", "url", "json"],
)
def test_hidden_secrets_go(hide: Any):
    """What is encoded goes in its encoded form."""
    hidden = hide(f'{{"key": "{KEY}"}}')
    left = REDACTOR.redact_text(f"data {hidden} end")

    assert hidden not in left
    assert left.startswith("data ")
    assert left.endswith(" end")
    assert KEY[10:18] not in left


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    "value, redacted",
    [
        ([KEY, 1, None], [TOKEN, 1, None]),
        ((KEY, 2.5), (TOKEN, 2.5)),
        ({KEY}, {TOKEN}),
        (frozenset({KEY}), frozenset({TOKEN})),
        ({KEY: 1}, {TOKEN: 1}),
        ({(KEY, 1): 2}, {(TOKEN, 1): 2}),
        (deque([KEY], maxlen=3), deque([TOKEN], maxlen=3)),
        (OrderedDict(a=KEY), OrderedDict(a=TOKEN)),
        (KEY.encode(), TOKEN.encode()),
        (bytearray(KEY.encode()), bytearray(TOKEN.encode())),
        (PurePosixPath("/a", KEY), PurePosixPath("/a", TOKEN)),
        (Login("ann", KEY), Login("ann", TOKEN)),
        (Pair("n", KEY), Pair("n", TOKEN)),
        ({"a": {"b": [{"c": (KEY,)}]}}, {"a": {"b": [{"c": (TOKEN,)}]}}),
    ],
    ids=str.split(
        "list tuple set frozenset key tuple-key deque ordered bytes bytearray path dataclass"
        " namedtuple deep"
    ),
)
def test_type_and_shape_stay(value: object, redacted: object):
    """Each container comes back as its own type."""
    given_back = REDACTOR.redact_value(value)

    assert redacted == given_back
    assert type(value) is type(given_back)


def test_what_holds_no_secret_is_shared():
    """Parts without a secret are the same objects, and nothing is changed in place."""
    clean = {"messages": ["hello"]}
    value = {"clean": clean, "dirty": [KEY]}
    redacted = REDACTOR.redact_value(value)

    assert redacted["clean"] is clean
    assert {"clean": clean, "dirty": [KEY]} == value
    assert REDACTOR.redact_value(clean) is clean


def test_a_name_is_context():
    """A value goes because of the key that it lies under."""
    assert {"user": "ann", "password": REDACTOR.token("password", PASSWORD)} == (
        REDACTOR.redact_value({"user": "ann", "password": PASSWORD})
    )


def test_an_object_becomes_a_record():
    """An object that cannot be made again is kept by its fields, without the secret."""
    redacted = REDACTOR.redact_value({"client": Client(KEY)})["client"]

    assert {"key": TOKEN, "calls": 3} == redacted.fields


def test_the_repr_of_what_cannot_be_kept():
    """What stands for a value that cannot be kept shows no secret of its repr."""
    redacted = REDACTOR.redact_value([Secretive()])

    assert KEY not in repr(redacted)
    assert TOKEN in repr(redacted)


def test_cycles_stay_cycles():
    """A list that holds itself holds its redacted self."""
    value: list[Any] = [KEY]
    value.append(value)
    redacted = REDACTOR.redact_value(value)

    assert TOKEN == redacted[0]
    assert redacted[1] is redacted


def test_cycles_through_objects_leak_nothing():
    """Where a cycle cannot be made again a mark stands in it, and never the original."""
    client = Client(KEY)
    client.back = (client,)
    redacted = REDACTOR.redact_value([client])

    assert KEY not in repr(redacted)


def test_shared_parts_stay_shared():
    """What lies at two places is redacted once and lies at both."""
    shared = [KEY]
    redacted = REDACTOR.redact_value({"a": shared, "b": [shared]})

    assert [TOKEN] == redacted["a"]
    assert redacted["a"] is redacted["b"][0]


def test_deep_values():
    """A secret under a thousand lists goes."""
    value: Any = [KEY]
    for _ in range(1000):
        value = [value]
    redacted = REDACTOR.redact_value(value)
    for _ in range(1000):
        [redacted] = redacted

    assert [TOKEN] == redacted


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError


def test_hostile_objects_do_no_harm():
    """Code of a value's class is not run."""
    hostile = Hostile()
    redacted = REDACTOR.redact_value([hostile, float("nan"), 10**5000, "\ud800", KEY])

    assert redacted[0] is hostile
    assert TOKEN == redacted[4]


# ---------------------------------------------------------------- entries


@pytest.mark.parametrize(
    "value",
    [
        KEY,
        [KEY],
        {"password": PASSWORD},
        {KEY: 1},
        (KEY,),
        KEY.encode(),
        Login("a", KEY),
        Client(KEY),
        {1: KEY},
        [Secretive()],
        {"log": f"start\n{KEY}\nend"},
        f"\ud800 {KEY}",
        PurePosixPath(KEY),
        {"deep": [[[{"x": (KEY, {KEY})}]]]},
    ],
    ids=str.split(
        "str list named key tuple bytes dataclass object number-key opaque text"
        " surrogates path deep"
    ),
)
def test_an_encoded_entry(value: object):
    """The bytes that are kept hold no piece of the secret, and read back to the same shape."""
    data = pack(value)
    redacted = REDACTOR.redact_entry(data)

    assert redacted is not None
    assert KEY[12:20].encode() not in redacted
    assert PASSWORD.encode() not in redacted
    assert type(unpack(data)) is type(unpack(redacted))
    assert REDACTOR.redact_entry(redacted) is None


@pytest.mark.parametrize(
    "value",
    [None, 1, "hello", {"a": [1, 2.5, "x"]}, b"\x00\xff" * 50, {"tokens": 128}, Login("a", "b")],
)
def test_a_clean_entry_is_none(value: object):
    """None tells that an entry can be kept as it is."""
    assert REDACTOR.redact_entry(pack(value)) is None


def test_an_entry_of_a_page_knows_its_key():
    """The steps to an entry say that a short text is a password."""
    data = pack(PASSWORD)

    assert REDACTOR.redact_entry(data) is None
    assert REDACTOR.token("password", PASSWORD) == unpack(
        REDACTOR.redact_entry(data, at=("login", "password")) or b""
    )


def test_an_entry_under_a_path():
    """Steps that lead to an entry count for redacted paths."""
    redactor = Redactor(paths=["user.*.city"], key=b"k")
    data = pack({"city": "Aachen", "zip": 52062})

    assert {"city": redactor.token("path", "Aachen"), "zip": 52062} == unpack(
        redactor.redact_entry(data, at=("user", "home")) or b""
    )
    assert redactor.redact_entry(data, at=("agent", "home")) is None


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.binary(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=12), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_clean_values_are_untouched(value: object):
    """What holds no secret is the same object, as value and as entry."""
    assert REDACTOR.redact_value(value) is value
    assert REDACTOR.redact_entry(pack(value)) is None


@given(VALUES, VALUES, st.sampled_from(["plain", "in text", "as key", "bytes"]))
def test_entries_and_values_agree(before: object, after: object, how: str):
    """Redacting the value and redacting its bytes is the same, and leaves no secret."""
    secret: object = {
        "plain": KEY,
        "in text": f"<{KEY}>",
        "as key": {KEY: 1},
        "bytes": KEY.encode(),
    }[how]
    value = {"before": before, "secret": secret, "after": [after]}
    data = REDACTOR.redact_entry(pack(value))

    assert data == pack(REDACTOR.redact_value(value))
    assert KEY[12:20].encode() not in (data or b"")


# ---------------------------------------------------------------- settings


def test_paths():
    """Whole places go by name, with `*` for any one step, and keep their types."""
    redactor = Redactor(paths=["user.address", "messages[*].headers", "*.pin"], key=b"k")
    value = {
        "user": {"name": "Ann", "address": {"street": "Elm St", "number": 4, "private": True}},
        "messages": [{"headers": ["a", "b"], "body": "hi"}],
        "card": {"pin": 1234, "score": 0.5},
    }
    mark = redactor.token

    assert {
        "user": {
            "name": "Ann",
            "address": {"street": mark("path", "Elm St"), "number": 0, "private": True},
        },
        "messages": [{"headers": [mark("path", "a"), mark("path", "b")], "body": "hi"}],
        "card": {"pin": 0, "score": 0.5},
    } == redactor.redact_value(value)


def test_own_patterns():
    """An own pattern goes under its own name."""
    redactor = Redactor(patterns=[("employee-id", r"EMP-\d{6}")], key=b"k")

    assert f"by {redactor.token('employee-id', 'EMP-123456')}" == redactor.redact_text(
        "by EMP-123456"
    )


def test_allowed_texts():
    """What is allowed stays, whatever it looks like."""
    assert KEY == Redactor(allowed=[KEY]).redact_text(KEY)


def test_least_confidence():
    """What is not sure enough stays."""
    assert f"password={PASSWORD}" == Redactor(least_confidence=0.9).redact_text(
        f"password={PASSWORD}"
    )


@pytest.mark.parametrize(
    "rule, text, gone",
    [
        ("email-address", "write to ann.b+c@mail.example.org!", "ann.b+c@mail.example.org"),
        ("card-number", "card 4111 1111 1111 1111 ok", "4111 1111 1111 1111"),
        ("card-number", "378282246310005", "378282246310005"),
        ("iban", "pay DE89 3704 0044 0532 0130 00 now", "DE89 3704 0044 0532 0130 00"),
        ("ip-address", "from 203.0.113.7:80", "203.0.113.7"),
        ("ip-address", "at 2001:db8::8a2e:370:7334 up", "2001:db8::8a2e:370:7334"),
        ("phone-number", "call +49 241 5551234", "+49 241 5551234"),
        ("phone-number", "phone: (555) 867-5309", "(555) 867-5309"),
    ],
)
def test_personal_data(rule: str, text: str, gone: str):
    """Personal data goes if asked for, and stays by default."""
    redactor = Redactor(personal=True, key=b"k")

    assert text == REDACTOR.redact_text(text)
    assert text.replace(gone, redactor.token(rule, gone)) == redactor.redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "version 1.2.3.4.5",
        "at 10:30:00",
        "order 555 867 5309",
        "2026-01-02 03:04:05",
        "a@b",
        "0.1234567890123456",
        "user@",
    ],
)
def test_what_is_no_personal_data(text: str):
    """A wrong checksum, a version, a time and a bare number stay."""
    assert text == Redactor(personal=True).redact_text(text)


def test_a_dry_run():
    """A dry run says where and why, changes nothing and shows nothing."""
    redactor = Redactor(paths=["note"], key=b"k")
    value = {"password": PASSWORD, "a": [KEY], "note": "private"}
    found = redactor.dry_run(value)

    assert {("password", "password"), ("a[0]", "openai-key"), ("note", "path")} == {
        (one.path, one.rule) for one in found
    }
    assert KEY[8:16] not in repr(found)


def test_settings_show_no_key():
    """Neither the key of the hash nor allowed texts are in the repr."""
    assert "6b6b" not in repr(Redactor(key=b"kkkk", allowed=[KEY]))
    assert KEY not in repr(Redactor(allowed=[KEY]))
    assert "kkkk" not in repr(Redactor(key=b"kkkk"))


@pytest.mark.parametrize(
    "settings",
    [
        {"paths": ["a..b"]},
        {"patterns": [("x", "(")]},
        {"patterns": [("No Name", "x")]},
        {"key": b""},
    ],
)
def test_mistakes_show_at_once(settings: dict[str, Any]):
    """A setting that cannot be used is refused when it is given."""
    with pytest.raises(InputError) as caught:
        Redactor(**settings)

    assert isinstance(caught.value, ArgentumError)
