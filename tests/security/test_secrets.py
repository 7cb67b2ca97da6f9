"""Secrets are found where they are, and nothing else is."""

from __future__ import annotations

import base64
import gzip
import json
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security import corpus
from tests.security.corpus import Maker, Sample

from argentum.security.rules import Rule
from argentum.security.secrets import Secret, find_secrets

MAKE = Maker(11)
TOKEN = MAKE.token("ghp_{crc}")
KEY = MAKE.token("{w32}")


def texts(value: object) -> list[str]:
    """Give what was found in a text."""
    return [value[one.start : one.end] for one in find_secrets(value)]


def is_found(sample: Sample) -> bool:
    """Tell whether a finding covers the secret, or what hides it."""
    return any(
        one.encoding or sample.secret in sample.text[one.start : one.end]
        for one in find_secrets(sample.text)
    )


def share_found(samples: Iterable[Sample]) -> float:
    """Give the share of secrets that are found."""
    found = [is_found(sample) for sample in samples]
    return sum(found) / len(found)


# ---------------------------------------------------------------- how well


def test_known_vendors_are_found():
    """At least 97 of 100 secrets of known vendors are found, in whatever text they stand."""
    samples = corpus.positives(seed=5)

    assert len(samples) >= 2000
    assert len({sample.vendor for sample in samples}) >= 60
    assert share_found(samples) >= 0.97


def test_vendors_held_out_are_found():
    """Keys of vendors that have no rule are found by what names them."""
    samples = corpus.positives(seed=5, per_vendor=40, held_out=True)

    assert len(corpus.HELD_OUT) * 10 >= len(corpus.vendors(held_out=False))
    assert share_found(samples) >= 0.97


def test_what_looks_like_a_secret_is_left():
    """At most 1 of 100 hashes, ids, references, placeholders and lines of code is taken for one."""
    samples = corpus.negatives(seed=6, count=1600)
    flagged = [sample for sample in samples if find_secrets(sample.text)]

    assert len(samples) >= 1000
    assert len(flagged) <= len(samples) * 0.01


@pytest.mark.parametrize("text", corpus.NOT_SECRET)
def test_a_hard_negative_is_left(text: str):
    """Each kind of placeholder, reference and mention on its own."""
    assert [] == texts(text)


def test_real_plans_hold_only_their_passwords(shared_data: Path):
    """In 2,300 real plans only literals under a key `password` are found."""
    with gzip.open(shared_data / "plans" / "gold.jsonl.gz", "rt", encoding="utf-8") as lines:
        plans = [json.loads(line) for line in lines]
    found = find_secrets(plans)

    assert {("password", "password")} == {(one.rule, one.path.parts[-1]) for one in found}
    assert len(found) < 20


def test_real_meetings_hold_nothing(shared_data: Path):
    """In 35 long meetings nothing is found."""
    with gzip.open(shared_data / "qmsum" / "val.jsonl.gz", "rt", encoding="utf-8") as lines:
        assert [] == find_secrets(lines.read())


# ---------------------------------------------------------------- where


def test_a_place_in_a_text():
    """Places count characters, whatever characters stand before."""
    text = f"Schlüssel 🔑 ist {TOKEN}!"
    [found] = find_secrets(text)

    assert TOKEN == text[found.start : found.end]
    assert Secret("github-token", found.start, found.end, 1.0) == found


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("depth", range(4))
def test_a_value_beside_its_name(depth: int, indent: int | None):
    """A key in `{"name": …, "value": …}` is found in JSON, and in JSON in a string of JSON."""
    text = json.dumps({"env": [{"name": "X_SECRET_KEY", "value": KEY}]}, indent=indent)
    for _ in range(depth):
        text = json.dumps({"arguments": text}, indent=indent)

    assert [KEY] == texts(text)


@pytest.mark.parametrize("key", ["\\u0050assword%3D", "%50assword\\u003d"])
def test_two_kinds_of_escapes_in_one_word(key: str):
    """A word may hold URL and JSON escapes; places are those of the text as it is written."""
    [found] = find_secrets(f"see \\u002f%2f{key}hunter22x9 there")

    assert "hunter22x9" == f"see \\u002f%2f{key}hunter22x9 there"[found.start : found.end]


def test_a_place_in_a_value():
    """In a value a path leads to the text."""
    value = {"calls": [{"headers": {"authorization": f"Bearer {KEY}"}}]}
    [found] = find_secrets(value)

    assert "calls[0].headers.authorization" == found.path
    assert ("named-key", 7, 39) == (found.rule, found.start, found.end)


def test_a_place_in_a_key():
    """A secret that is a key is found, and the path does not show it."""
    [found] = find_secrets({"seen": {TOKEN: 3}})

    assert found.in_key
    assert 'seen["[github-token]"]' == found.path


def test_what_lies_under_a_secret_key():
    """A path through a key that is a secret does not show it either."""
    found = find_secrets({TOKEN: {"password": "hunter2!"}})

    assert ['["[github-token]"]', '["[github-token]"].password'] == [one.path for one in found]


def test_a_finding_shows_no_secret():
    """Neither `repr` nor `str` holds a piece of what was found."""
    for value in (TOKEN, {TOKEN: TOKEN}, [{"password": TOKEN}]):
        shown = repr(find_secrets(value)) + str(find_secrets(value))

        assert TOKEN[4:12] not in shown


def test_leading_steps_give_context():
    """A bare text is a password if the steps to it say so."""
    assert [] == find_secrets("hunter2!")
    assert ["users[0].password"] == [
        one.path for one in find_secrets("hunter2!", at=("users", 0, "password"))
    ]


@dataclass
class Login:
    user: str
    password: str


@pytest.mark.parametrize(
    "value",
    [
        (TOKEN,),
        {TOKEN},
        frozenset({TOKEN}),
        {"a": [TOKEN]},
        {1: TOKEN},
        {(TOKEN, 1): 2},
        TOKEN.encode(),
        bytearray(TOKEN.encode()),
        Path(TOKEN),
        Login("ann", "hunter2!"),
        ValueError(TOKEN),
        {"x": {"y": {"z": TOKEN}}},
    ],
    ids=str.split(
        "tuple set frozenset list number-key tuple-key bytes bytearray path dataclass error deep"
    ),
)
def test_any_type_of_value(value: object):
    """Texts are found inside whatever holds them."""
    assert 1 == len(find_secrets(value))


def test_values_with_cycles():
    """A value that holds itself is searched once."""
    value: dict[str, object] = {"password": "hunter2!"}
    value["self"] = value

    assert ["password"] == [one.path for one in find_secrets(value)]


def test_a_value_of_many_paths():
    """Thirty levels that each hold the next one twice are not searched a billion times."""
    value: object = [TOKEN]
    for _ in range(30):
        value = [value, value]

    assert 1 == len(find_secrets(value))


# ---------------------------------------------------------------- context


@pytest.mark.parametrize(
    "frame",
    [
        'api_key = "{}"',
        "API_KEY={}",
        '{{"apiKey":"{}"}}',
        "x-api-key: {}",
        "Authorization: Bearer {}",
        "?access_token={}&a=1",
        "<secretKey>{}</secretKey>",
        "--token {}",
        'config["client_secret"] = "{}"',
        "os.getenv('API_KEY', '{}')",
        "the api key is {}",
        '{{\\"token\\":\\"{}\\"}}',
        "api_token: |-\n  {}",
        "DATADOG={}",
        "setAuthToken('{}')",
    ],
)
def test_a_name_makes_a_key(frame: str):
    """A drawn text is a key where its name says so."""
    assert [KEY] == texts(frame.format(KEY))


@pytest.mark.parametrize(
    "frame",
    [
        "commit {}",
        "next_page_token={}",
        "api_key_id: {}",
        "public_key: {}",
        "sha256:{}",
        "cache_key = {}",
        "call_{}",
        "/v1/objects/{}/content",
        "key_hash={}",
        "token_type: {}",
    ],
)
def test_another_name_makes_none(frame: str):
    """The same text is none under a name that says otherwise."""
    assert [] == texts(frame.format(KEY))


@pytest.mark.parametrize("frame", corpus.PASSWORDS)
def test_passwords(frame: str):
    """A password is found by its name or in a URL, whatever it looks like."""
    assert ["tr0ub4dor&3".replace("&", "_")] == texts(frame.format("tr0ub4dor_3"))


def test_a_key_and_its_value_side_by_side():
    """A list of names and values is read as names of values."""
    assert 1 == len(find_secrets({"env": [{"name": "STRIPE_SECRET_KEY", "value": KEY}]}))
    assert [] == find_secrets({"env": [{"name": "COMMIT", "value": KEY}]})


def test_items_of_a_named_list():
    """What a list is called holds for its items."""
    assert ["passwords[0]", "passwords[1]"] == [
        one.path for one in find_secrets({"passwords": ["hunter2!", "swordf1sh"]})
    ]


def test_a_private_key_goes_whole():
    """From its first line to its last one, as text and inside JSON."""
    make = Maker(3)
    key = "\n".join(
        [
            "-----BEGIN RSA PRIVATE KEY-----",
            *(make.drawn("s", 64) for _ in range(9)),
            "-----END RSA PRIVATE KEY-----",
        ]
    )

    assert [key] == texts(f"this\n{key}\nthat")
    assert [json.dumps(key)[1:-1]] == texts(json.dumps({"pem": key}))


def test_a_private_key_cut_short():
    """Without its last line it goes as far as its lines go."""
    make = Maker(4)
    lines = "\n".join(make.drawn("s", 64) for _ in range(5))
    [found] = find_secrets(f"-----BEGIN PRIVATE KEY-----\n{lines}")

    assert ("private-key", 0) == (found.rule, found.start)
    assert found.end >= 5 * 64


# ---------------------------------------------------------------- encodings


@pytest.mark.parametrize(
    "encoding, text",
    [
        ("base64", base64.b64encode(f"token={TOKEN}".encode()).decode()),
        ("base64", base64.urlsafe_b64encode(f"??>>{TOKEN}".encode()).decode().rstrip("=")),
        ("hex", f"token={TOKEN}".encode().hex()),
        ("url", urllib.parse.quote(f"/a?b={{'password':'{KEY}'}}", safe="")),
        ("json", f"https:\\/\\/svc:{KEY}@db.internal\\/x"),
        ("json", f"pass\\u0077ord={KEY}"),
        ("base64", base64.b64encode(base64.b64encode(f"token={TOKEN}".encode())).decode()),
    ],
)
def test_encodings_are_looked_through(encoding: str, text: str):
    """A secret under an encoding is found, and the finding says which."""
    assert [encoding] == [one.encoding for one in find_secrets(f"x {text} y")]


def test_what_is_encoded_goes_whole():
    """A run of base64 is reported from its first to its last character."""
    text = base64.b64encode(f"my token is {TOKEN}.".encode()).decode()

    assert [text] == texts(f"data: {text} end")


def test_escapes_keep_places():
    """Behind escapes the place is that of the text as it is written."""
    text = f"go to %22x%22%20and%20use%20{TOKEN}%20now"

    assert TOKEN in texts(text)[0]


def test_images_hold_nothing():
    """Long base64 of what is no text is left."""
    image = base64.b64encode(Maker(9).random.randbytes(50_000)).decode()

    assert [] == texts(f"data:image/png;base64,{image}")


# ---------------------------------------------------------------- options


def test_own_rules():
    """A rule of one's own is used like the ones that come along."""
    rule = Rule("acme-key", ("acme_",), "[a-z0-9]{20}", good="acme_", bad="")
    text = f"acme_{MAKE.token('{l20}')}"

    assert [] == find_secrets(text)
    assert ["acme-key"] == [one.rule for one in find_secrets(text, rules=[rule])]


def test_least_confidence():
    """Only what is sure enough is given."""
    value = {"password": "hunter2!", "note": TOKEN}

    assert ["github-token"] == [one.rule for one in find_secrets(value, least_confidence=0.9)]


@given(st.text(max_size=300))
def test_any_text(text: str):
    """No text makes the search fail, and places lie within it."""
    assert all(0 <= one.start < one.end <= len(text) for one in find_secrets(text))


@given(st.text(alphabet="=:\"'\\%u0041/+-_.eyJAKIAghpsk{}<>\x00\x01\n password", max_size=200))
def test_texts_of_marks(text: str):
    """Nor does one made of the marks that the search goes by."""
    assert all(0 <= one.start < one.end <= len(text) for one in find_secrets(text))


@given(
    st.recursive(
        st.text(max_size=40) | st.none() | st.binary(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    st.data(),
)
def test_a_planted_token_is_found_at_its_path(value: object, data: st.DataObject):
    """Whatever stands around it, a token is found at the path where it was put."""
    around = {"before": value, "planted": [value, f"({TOKEN})"], "after": value}

    assert "planted[1]" in [one.path for one in find_secrets(around)]
