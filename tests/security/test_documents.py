"""Documents from outside: limits, one answer for each odd case, and a fuzz of it all."""

from __future__ import annotations

import io
import json
import os
import random
import sys
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.clock import elapsed_ns
from argentum.errors import ArgentumError, FormatError, InputError, LimitError
from argentum.security.documents import (
    DocumentLimits,
    read_json,
    read_limited,
    read_msgpack,
)
from argentum.state import from_jsonable, to_jsonable

SMALL = DocumentLimits(
    max_bytes=1000, max_depth=5, max_values=50, max_string_characters=20, max_key_characters=10,
    max_integer_digits=12,
)  # fmt: skip
FUZZ_SECONDS = float(os.environ.get("FUZZ_SECONDS", "600"))

texts = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)  # fmt: skip


@given(json_values)
def test_what_is_within_limits_reads_back_exactly(value: Any):
    """Both formats give the value, with types and the order of keys."""
    for back in (
        read_json(json.dumps(value)),
        read_json(json.dumps(value, ensure_ascii=False).encode()),
        read_json(json.dumps(value, indent=2)),
        read_msgpack(ormsgpack.packb(value)),
    ):
        assert repr(value) == repr(back)


@pytest.mark.parametrize(
    "within, over, words",
    [
        ("[" * 5 + "]" * 5, "[" * 6 + "]" * 6, "6 levels; 5 are"),
        ('{"a":' * 5 + "1" + "}" * 5, '{"a":' * 6 + "1" + "}" * 6, "6 levels; 5 are"),
        ("[" + "1," * 48 + "1]", "[" + "1," * 49 + "1]", "51 values; 50 are"),
        ("[" + "[]," * 24 + "1]", "[" + "[]," * 40 + "1]", "values; 50 are"),
        ('"' + "x" * 20 + '"', '"' + "x" * 21 + '"', "21 characters in a string; 20 are"),
        ('"' + "\\u00e9" * 20 + '"', '"' + "\\u00e9" * 21 + '"', "21 characters in a string"),
        ('["' + "é" * 20 + '"]', '["' + "é" * 21 + '"]', "21 characters in a string"),
        ('{"' + "k" * 10 + '":1}', '{"' + "k" * 11 + '":1}', "11 characters in a key; 10 are"),
        ("9" * 12, "9" * 13, "13 digits in a number; 12 are"),
        ("-" + "9" * 12, "-" + "9" * 13, "13 digits in a number"),
        (" " * 999 + "1", " " * 1000 + "1", "1,001 bytes; 1,000 are"),
    ],
)
def test_a_limit_is_told_with_both_numbers(within: str, over: str, words: str):
    """What is just within is read; what is just over says by how much."""
    read_json(within, limits=SMALL)
    with pytest.raises(LimitError, match=words):
        read_json(over, limits=SMALL)
    with pytest.raises(LimitError, match=words):
        read_json(over.encode(), limits=SMALL)


@pytest.mark.parametrize(
    "within, over, words",
    [
        ([[[[[]]]]], [[[[[[]]]]]], "6 levels; 5 are"),
        ([1] * 49, [1] * 50, "51 values; 50 are"),
        ("x" * 20, "x" * 21, "21 characters in a string; 20 are"),
        ("é" * 20, "é" * 21, "21 characters in a string"),
        (b"x" * 20, b"x" * 21, "21 characters in a string"),
        ({"k" * 10: 1}, {"k" * 11: 1}, "11 characters in a key; 10 are"),
        (["x" * 20] * 40, ["x" * 20] * 48, "bytes; 1,000 are"),
    ],
)
def test_the_same_limits_hold_for_messagepack(within: Any, over: Any, words: str):
    """Each with the same words."""
    assert within == read_msgpack(ormsgpack.packb(within), limits=SMALL)
    with pytest.raises(LimitError, match=words):
        read_msgpack(ormsgpack.packb(over), limits=SMALL)


@pytest.mark.parametrize(
    "document, words",
    [
        ('{"a":1,"a":2}', "'a' is twice"), ('[{"b":{"a":1,"\\u0061":1}}]', "'a' is twice"),
        ('{"a":1,"b":2,"a":1}', "'a' is twice"),
        ("NaN", "NaN"), ("[Infinity]", "Infinity"), ('{"a":-Infinity}', "-Infinity"),
        ("1e999", "1e999"), ("[-1e309]", "too large"), ("1" + "0" * 400 + ".0", "too large"),
        ('"\\ud800"', "ud800"), ('{"\\udc00":1}', "udc00"), ('["\\ud83d\\ud83d"]', "surrogate"),
        ("\ud800", "not UTF-8"), ('"\ud800"', "not UTF-8"), (b'"\xff"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"), (b'"\xc0\xaf"', "not UTF-8"),
        ('"a"'.encode("utf-16"), "not UTF-8"),
        ("", "no JSON"), (" ", "no JSON"), ("{", "no JSON"), ("[1,]", "no JSON"),
        ("{'a':1}", "no JSON"),
        ("1 2", "no JSON"), ("[1]]", "no JSON"), ("]", "no JSON"), ("}{", "no JSON"),
        ('"a', "no JSON"),
        ('"\\x41"', "no JSON"), ('"\n"', "no JSON"), ("01", "no JSON"), ("+1", "no JSON"),
        (".5", "no JSON"),
        ("0x10", "no JSON"), ("nul", "no JSON"), ("True", "no JSON"),
        ("// a\n1", "no JSON"), ("1\x00", "no JSON"),
        ("\ufeff\ufeff1", "no JSON"), ('"\\', "no JSON"), ('{"a"}', "no JSON"),
        ("{1:2}", "no JSON"),
    ],
)  # fmt: skip
def test_each_odd_case_has_one_answer(document: bytes | str, words: str):
    """It is a `FormatError` that says what is wrong."""
    with pytest.raises(FormatError, match=words):
        read_json(document)


@pytest.mark.parametrize(
    "data, words",
    [
        (b"\x82\xa1a\x01\xa1a\x02", "'a' is twice"),
        (b"\x82\xa1a\x01\xd9\x01a\x02", "'a' is twice"),
        (b"\x81\x01\x02", "key that is no text"), (b"\x81\x91\x01\x02", "key that is no text"),
        (b"\x81\xc4\x01a\x02", "key that is no text"), (b"\xc7\x01\x05a", "extension type"),
        (b"\xd4\x13a", "extension type"), (b"\xd6\xff\x00\x00\x00\x00", "extension type"),
        (b"\xc1", "does not know"),
        (b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", "NaN"),
        (b"\xca\x7f\x80\x00\x00", "NaN or an infinity"),
        (b"", "ends too early"), (b"\x91", "ends before"), (b"\xa5ab", "ends too early"),
        (b"\xdd\xff\xff\xff\xff", "4,294,967,295 values follow"),
        (b"\xdf\xff\xff\xff\xff", "values follow"),
        (b"\xdb\xff\xff\xff\xff", "ends too early"), (b"\xc6\xff\xff\xff\xffx", "ends too early"),
        (b"\x01\x02", "something after"), (b"\xa1\xff", "UTF-8"),
        (b"\xa3\xed\xa0\x80", "UTF-8"), (b"\xcb\x00", "early"),
        (b"\x81\xa1\xff\x01", "UTF-8"),
    ],
)  # fmt: skip
def test_each_odd_messagepack_has_one_answer(data: bytes, words: str):
    """It is a `FormatError` too, found before anything is built."""
    with pytest.raises(FormatError, match=words):
        read_msgpack(data)


@pytest.mark.parametrize("source", [None, 7, ["[]"], bytearray(b"[]"), memoryview(b"[]"), {}])
def test_what_is_no_document_is_refused(source: Any):
    """Only bytes and text are read."""
    with pytest.raises(InputError):
        read_json(source)
    with pytest.raises(InputError):
        read_msgpack(source)


def test_a_byte_order_mark_is_skipped():
    """Some editors write one."""
    assert [1] == read_json(b"\xef\xbb\xbf[1]") == read_json("\ufeff[1]")


def test_lone_surrogates_are_kept_where_that_is_wanted():
    """As the interchange format writes them; pairs are characters either way."""
    assert "\ud800" == read_json('"\\ud800"', keep_surrogates=True)
    assert "\ud800" == read_json('"\ud800"', keep_surrogates=True)
    assert "\U0001f642" == read_json('"\\ud83d\\ude42"')
    assert r"\ud800" == read_json(r'"\\ud800"')


@pytest.mark.parametrize(
    "key", ["$type", "__class__", "__proto__", "lc", "py/object", "@class", "type"]
)
def test_marker_keys_are_data(key: str):
    """No key makes an object of what is read."""
    value = {key: "os.system", "value": ["true"], "$type": "object"}
    assert value == read_json(json.dumps(value)) == read_msgpack(ormsgpack.packb(value))


def test_numbers_keep_their_value_and_type():
    """Integers of any allowed size are exact, and 1.0 stays a float."""
    text = f"[1, 1.0, -0.0, 1E2, {10**30}, {-(2**64)}]"
    assert [1, 1.0, -0.0, 100.0, 10**30, -(2**64)] == read_json(text)
    assert "[1, 1.0, -0.0, 100.0" == repr(read_json(text))[:20]


@pytest.mark.parametrize("name", DocumentLimits.__dataclass_fields__)
@pytest.mark.parametrize("value", [0, -1, 1.5, "1", None, True, 1 << 60])
def test_impossible_limits_are_refused(name: str, value: Any):
    """There is no document without bounds."""
    with pytest.raises(InputError, match=name):
        DocumentLimits(**{name: value})


def test_the_deepest_that_can_be_allowed_is_read():
    """The readers do not give up before the limit does."""
    limits = DocumentLimits(max_depth=250)
    deep = "[" * 250 + "]" * 250
    assert read_json(deep, limits=limits) == read_msgpack(b"\x91" * 249 + b"\x90", limits=limits)
    for levels in (251, 100_000):
        with pytest.raises(LimitError, match="250 are allowed"):
            read_json("[" * levels + "]" * levels, limits=limits)
        with pytest.raises(LimitError, match="250 are allowed"):
            read_msgpack(b"\x91" * levels + b"\x90", limits=limits)


def test_a_thread_with_little_stack_left_is_told():
    """Near the end of the stack, reading fails with our own error."""

    def deep(levels: int) -> Any:
        return deep(levels - 1) if levels else read_json("[" * 200 + "]" * 200)

    with pytest.raises(LimitError):
        deep(sys.getrecursionlimit() - 150)


def test_a_stream_is_read_no_further_than_it_may_be():
    """It is not first read whole and then measured."""
    stream = io.BytesIO(b"x" * 5_000_000)
    with pytest.raises(LimitError, match="more than 10 bytes; 10 are allowed"):
        read_limited(stream, 10)
    assert 11 == stream.tell()
    assert b"x" * 10 == read_limited(io.BytesIO(b"x" * 10), 10)
    assert b"" == read_limited(io.BytesIO(), 10)


@pytest.mark.parametrize(
    "piece",
    ["[", '"', "\\", '"\\', '\\"', "{", '{"a":', ",", "1", "-", "e", "\\u", '["', "9.", "[]"],
)
def test_hostile_repetition_is_answered(piece: str):
    """Neither quotes that never close nor endless digits make the reader look at anything twice."""
    for text in (piece * 200_000, f'"{piece * 200_000}', f"[{piece * 200_000}"):
        with pytest.raises((FormatError, LimitError)):
            read_json(text)


@given(st.dictionaries(st.sampled_from(["$type", "value", "a", 1]), json_values))
def test_data_that_looks_like_a_type_stays_data(value: Any):
    """`to_jsonable` escapes its own marker, at any depth."""
    for whole in (value, [value], {"x": [value]}, {"$type": value}):
        assert repr(whole) == repr(from_jsonable(json.loads(json.dumps(to_jsonable(whole)))))


def mutated(random_: random.Random, seeds: list[bytes]) -> bytes:
    """Change a document in a few places: drop, double, exchange, insert, splice."""
    data = bytearray(random_.choice(seeds))
    for _ in range(random_.randint(0, 6)):
        at = random_.randrange(len(data) + 1)
        to = min(len(data), at + random_.choice([1, 1, 1, 2, 5, 40]))
        act = random_.randrange(6)
        if act == 0:
            del data[at:to]
        elif act == 1:
            data[at:at] = data[at:to] * random_.choice([1, 2, 300])
        elif act == 2:
            data[at:to] = random_.randbytes(to - at)
        elif act == 3:
            data[at:at] = random_.choice(PIECES)
        elif act == 4 and at < len(data):
            data[at] ^= 1 << random_.randrange(8)
        else:
            other = random_.choice(seeds)
            start = random_.randrange(len(other) + 1)
            data[at:to] = other[start : start + 40]
    return bytes(data[:100_000])


PIECES = [
    b"NaN", b"1e999", b"\\ud800", b'"$type":"', b'{"$type":"object","value":[',
    b"\xef\xbb\xbf", b"[" * 300,
    b"9" * 5000, b"\xed\xa0\x80", b"\xc7\xff\x13", b"\xdd\xff\xff\xff\xff",
    b"\xdf\x00\x00\xff\xff", b"\x91" * 300,
    b'{"a":1,"a":2}', b"\xd9\xff", b"\x00", b"-", b'"', b"\\", b"1.", b"e9",
    b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00",
]  # fmt: skip
STATES: list[Any] = [
    {"messages": [{"role": "user", "content": "héllo 🙂"}], "n": [1, -2, 3.5, None, True], "": {}},
    {"$type": "set", "value": [1]}, {1: "a", (2, 3): b"x", "s": {1, 2}, "t": (1, [2])},
    2**70, [float("nan")],
    "\ud800", [[[[[[]]]]]], {"a": {"$type": {"$type": 1}}}, list(range(300)), 1 + 2j,
    range(5), frozenset({"a"}),
]  # fmt: skip


def fuzz(random_: random.Random) -> tuple[str, bytes] | None:
    """Give one mutated document to every reader; give back what raised something else."""
    data = mutated(random_, SEEDS)
    limits = random_.choice([SMALL, DocumentLimits(max_bytes=50_000, max_values=2000)])
    for read in (
        lambda: read_json(data, limits=limits),
        lambda: read_json(data.decode("utf-8", "surrogatepass" if data[:1] == b"[" else "replace")),
        lambda: read_json(data, keep_surrogates=True),
        lambda: read_msgpack(data, limits=limits),
        lambda: read_msgpack(data),
    ):
        try:
            read()
        except ArgentumError:
            continue
        except UnicodeDecodeError:
            continue  # from this function's own way to text
        except BaseException as error:  # noqa: BLE001 - the point of a fuzz
            return repr(error), data
    return None


SEEDS = [json.dumps(to_jsonable(state)).encode() for state in STATES]
SEEDS += [ormsgpack.packb(to_jsonable(state)) for state in STATES if state != "\ud800"]


def test_no_mutated_document_raises_anything_but_our_errors():
    """The short form of the fuzz: two thousand documents, always the same."""
    random_ = random.Random(4)
    assert [] == [found for _ in range(2000) if (found := fuzz(random_))]


@pytest.mark.soak
def test_no_mutated_document_raises_anything_but_our_errors_for_minutes():
    """The long form, for `FUZZ_SECONDS` (ten minutes), each time another."""
    seed = random.SystemRandom().getrandbits(64)
    random_ = random.Random(seed)
    end_ns, count = elapsed_ns() + FUZZ_SECONDS * 1e9, 0
    while elapsed_ns() < end_ns:
        found = fuzz(random_)
        count += 1
        assert found is None, (seed, count, found)
    print(f"{count} documents of seed {seed}")
