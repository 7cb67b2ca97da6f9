"""When two values say the same."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tree.values import values

from argentum.matching import COMMON, ORDINARY, RARE, Content, Sought, distinctness, says_same
from argentum.matching.contents import IDENTIFIER_PART, INSIDE, LESS, ROUNDED
from argentum.matching.index import Index
from argentum.matching.sought import CONTAINERS
from argentum.tree import Member, Path, freeze

NUMBER, ROUNDED_NUMBER = "same number written differently", "same number rounded"
TEXT, PART = "same text but for case and punctuation", "part of the text"
DATE, DAY = "same date written differently", "same day"
IN_TEXT, PERCENTAGE = "number in the text", "same number as a percentage"


@pytest.mark.parametrize(
    "value,other,how",
    [
        (1500, 1500, "same value"),
        (1500, 1500.0, NUMBER),
        (1500, "1,500", NUMBER),
        (1500, "1.5k", NUMBER),
        (1500, "$1,500.00", NUMBER),
        (1500, "1 500 EUR", NUMBER),
        (1_500_000, "1.5 million", NUMBER),
        ("1,843.50", 1843.5, NUMBER),
        (1843.5, "1.843,50 €", NUMBER),
        (-5.25, "-$5.25", NUMBER),
        (0.15, "15 %", NUMBER),
        ("15%", 0.15, NUMBER),
        (Decimal("12.50"), 12.5, NUMBER),
        (Fraction(1, 4), 0.25, NUMBER),
        (0.1523, "15 %", ROUNDED_NUMBER),
        (1523, "1.5k", ROUNDED_NUMBER),
        (152.42, 152, ROUNDED_NUMBER),
        (1843, "It costs 1,843 EUR in total.", IN_TEXT),
        (1843, "In 2024, 1843.", IN_TEXT),
        (1843, "Room 1843: free", IN_TEXT),
        (1843, "1,200-1,843 EUR", IN_TEXT),
        (10**40, 10**40, "same value"),
        (math.nan, math.nan, "same value"),
    ],
)
def test_numbers(value, other, how):
    """A number is the same in every common spelling, rounded to the digits shown, and in texts."""
    assert how == says_same(value, other).how


@pytest.mark.parametrize(
    "value,other",
    [
        (1843, 1844),
        (1843, "x1843"),
        (1843, "1843-7"),
        (1843, "31.12.1843"),
        (1843, "0.1843"),
        (3, "13 4"),
        (2, 1.97),
        (15, "25 %"),
        (1, True),
        (1843, None),
        (1843, "HAT1843B"),
        (10**400, "1" + "0" * 400),
        (math.inf, "inf"),
    ],
)
def test_other_numbers(value, other):
    """Digits of a longer number, a date or a name are no number; one digit is never rounded."""
    assert None is says_same(value, other)


@pytest.mark.parametrize(
    "value,other,how",
    [
        ("Oslo", "Oslo", "same value"),
        ("Oslo", "OSLO!", TEXT),
        ("hotel bristol", "Hotel-Bristol", TEXT),
        ("Ｏｓｌｏ", "Oslo", TEXT),  # noqa: RUF001 - full width
        ("Straße 5", "STRASSE 5", TEXT),
        ("HAT001", "flight (HAT001).", PART),
        ("a\nlong   text", 'They said: "A long text"!', PART),
        (UUID(int=5), str(UUID(int=5)), "same value"),
        (PurePosixPath("a/b.txt"), "saved a/b.txt", PART),
        (Member("app:Color", "RED", "dark red"), "dark red", "same value"),
        (b"\x00\x01", b"\x00\x01", "same value"),
    ],
)
def test_texts(value, other, how):
    """A text is the same whatever its case, space and punctuation, and as whole words."""
    assert how == says_same(value, other).how


@pytest.mark.parametrize(
    "less,more",
    [(152, 152.42), ("15 %", 0.1523), ("1.5k", 1523), ("2026-03-01", "2026-03-01T10:00")],
)
def test_who_tells_less(less, more):
    """A match says whether what was found has more digits than what was looked for, or fewer."""
    assert (ROUNDED, LESS) == (says_same(less, more).loss, says_same(more, less).loss)


@pytest.mark.parametrize("value", [4821, "4821"], ids=repr)
@pytest.mark.parametrize(
    "text", ["INV-4821", "on INV-4821.", "Order #4821", "555-0192-4821", "a-9-4821"]
)
def test_digits_of_an_identifier(value, text):
    """The digits of an identifier are found as such, which is less than a number in a text."""
    found = says_same(value, text)

    assert (IDENTIFIER_PART, INSIDE) == (found.how, found.loss)
    assert IN_TEXT == says_same(4821, f"{text} costs 4,821").how


@pytest.mark.parametrize("value,other", [("HAT001", "HAT0012"), ("art", "party"), ("!", "?")])
def test_other_texts(value, other):
    """A part of a word is not the word."""
    assert None is says_same(value, other)


@pytest.mark.parametrize(
    "value,other,how",
    [
        ("2026-03-01", "1 March 2026", DATE),
        ("2026-03-01", "Mar 1st, 2026", DATE),
        ("2026-03-01", "01/03/2026", DATE),
        ("2026-03-01", "03/01/2026", DATE),
        ("2026-03-01", "2026/3/1", DATE),
        (date(2026, 3, 1), "2026-03-01", DATE),
        (date(2026, 3, 1), "on the 1st of March 2026 at noon", "date in the text"),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T14:00:00+02:00", DATE),
        (datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2))), "2026-03-01 10:00Z", DATE),
        ("2026-03-01", "due 2026-03-01T10:00:00Z", DAY),
    ],
)
def test_dates(value, other, how):
    """A date is the same in several spellings; with and without a time it is the same day."""
    assert how == says_same(value, other).how


@pytest.mark.parametrize(
    "value,other",
    [
        ("2026-03-01", "2026-03-02"),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T13:00:00Z"),
        ("2026-02-30", "30 February 2026"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-9))), "9999-12-30"),
    ],
)
def test_other_dates(value, other):
    """Other days, other times and days that no calendar has are not the same."""
    assert None is says_same(value, other)


@pytest.mark.parametrize("value", [True, False, None])
def test_only_by_name(value):
    """Booleans and None are the same only under the same name."""
    content = Content({"ok": value, "other": {"isPaid": value}})

    assert None is content.find(Sought(value, "paid"))
    assert ("other", "isPaid") == content.find(Sought(value, "is_paid")).where


@pytest.mark.parametrize(
    "value,name,text,is_named",
    [
        (3, "nights", "You stay 3 nights.", True),
        (3, "nights", "nights: 3", True),
        (3, "nights", "Nights of three or 3", False),
        (True, "confirmed", '{"confirmed": true}', True),
        (True, "confirmed", "is_confirmed\tconfirmed\nno\tTrue", True),
        ("done", "visa_state", "OK\nvisa_state: done\ncount: 1", True),
        ("done", "visa_state", "Say whether done is right: the visa state is open", True),
        (1, "visa_state", "visa_state: 0\ncount: 1", False),
        ("Oslo", "destination", "The destination they gave me is Oslo.", True),
        (1843, "price", "For the price they gave me 1,843 and left.", True),
        (1843, "price", "A price. " + "Many words later: " * 4 + "1,843", False),
        (0.1523, "tax_rate", "The tax rate: 15.23", True),
    ],
)
def test_names_in_texts(value, name, text, is_named):
    """A text names a value beside it; for common values the name has to touch it."""
    assert is_named == Content([text]).find(Sought(value, name)).is_named


def test_percentage_needs_the_name():
    """`0.1523` is 15.23 only under its own name."""
    assert None is Content({"weight": 15.23}).find(Sought(0.1523, "rate"))
    assert PERCENTAGE == Content({"rate": 15.23}).find(Sought(0.1523, "rate")).how


@pytest.mark.parametrize(
    "content,where",
    [
        ({"a": [1843]}, "a[0]"),
        ({"weight": 1843, "price": "1,843"}, "price"),
        ({"price": "about 1.8k", "a": "1,843"}, "a"),
        ('{"a": {"price": 1843}}', "a.price"),
        ({"output": ' [7, {"total": "1,843"}]'}, "output[1].total"),
        ({1: {"x": 1843}}, "{1}.x"),
        ("id;price\nA;1,842\nB;1,843\n", "[1].price"),
    ],
)
def test_where_it_is_found(content, where):
    """The best place is given: under the name before others, unrounded before rounded; in JSON."""
    assert where == Path.of(Content(content).find(Sought(1843, "price")).where)


@pytest.mark.parametrize(
    "value,expected",
    [
        (1, COMMON), (42, COMMON), (100, COMMON), (0.5, COMMON), (True, COMMON), (None, COMMON),
        ("ok", COMMON), ("in_progress", COMMON), ("", COMMON), ("7", COMMON), ([], COMMON),
        (152, ORDINARY), (1500, ORDINARY), (0.15, ORDINARY), (2024, ORDINARY), ("Oslo", ORDINARY),
        ("2026-03-01", ORDINARY), ([1, 2, 3], ORDINARY),
        (1843, RARE), (15.243, RARE), ("HAT001", RARE), ("Hotel Bristol", RARE),
        ("2026-03-01T10:00", RARE), ({"id": "HAT001"}, RARE),
    ],
)  # fmt: skip
def test_distinctness(value, expected):
    """Small numbers and everyday words say little; long numbers, names and sentences much."""
    assert expected == distinctness(value)


def test_containers():
    """A container is found whole, whatever its type, also inside JSON."""
    content = Content({"a": "[1, [2, 3]]"})

    assert ("a", 1) == content.find(Sought((2, 3))).where
    assert [True, False] == [content.find(Sought([2, 3], name)).is_named for name in "ab"]
    assert ("b",) == Content({"a": [], "b": []}).find(Sought([], "b")).where
    assert None is content.find(Sought([2]))


@given(values, values)
def test_any_values(value, other):
    """Any two values can be compared, and every value with parts of it."""
    plain, second = (freeze(one).thaw(live=False) for one in (value, other))

    says_same(plain, second)
    says_same(plain, {"a": [plain, second], "b": str(second)}, name="a")


def found_at(contents, sought):
    """Give the places of the contents that hold a value, by looking into each."""
    return {place for place, one in enumerate(contents) if one.find(sought) is not None}


@pytest.mark.parametrize(
    "value",
    [1843, "1,843", 0.1523, "x_y", "b", True, None, "", "!", [], {"a": 1}, b"b", math.inf, 10**99,
     date(2026, 3, 1), "1 March 2026", "INV-4821", 4821],
    ids=repr,
)  # fmt: skip
def test_index(value):
    """An index names each content that holds a value, and leaves others out."""
    texts = ["A, B: true", "is_b none", "1.8k x_y", "15 %", "INV-4821", "on 2026-03-01T10:00"]
    contents = [Content(one) for one in (*texts, *({"b": one} for one in (*texts, value)), 7, "7")]
    sought = Sought(value, "b")
    places = Index(contents).places(sought)

    assert found_at(contents, sought) <= set(places)
    assert sorted(places) == list(places)
    assert isinstance(value, CONTAINERS) or len(places) < len(contents)


@given(st.lists(values, max_size=4), st.sampled_from(["", "a", "b"]))
def test_index_of_any_values(some, name):
    """An index names every content in which a value is found, whatever the values are."""
    plain = [freeze(one).thaw(live=False) for one in some]
    contents = [Content({"a": one, "b": str(one)}) for one in plain]
    index = Index(contents)

    for value in plain:
        sought = Sought(value, name)
        assert found_at(contents, sought) <= set(index.places(sought))


@given(st.integers(1000, 10**12), st.sampled_from(["{:,}", "${:,}", "{}.00", "{:,} EUR", " {} "]))
def test_integers_in_spellings(number, spelling):
    """An integer is found in each of its spellings, alone and in a text."""
    text = spelling.format(number)

    assert None is not says_same(number, text)
    assert None is not says_same(number, f"It came to {text} in the end")
    assert None is not says_same(text, number)


@given(st.dates(date(1000, 1, 1)))
def test_dates_in_spellings(day):
    """A date is found in each of its spellings."""
    for spelling in ("%Y-%m-%d", "%d %B %Y", "%b %d, %Y", "%d/%m/%Y", "%m/%d/%Y"):
        text = day.strftime(spelling)
        assert None is not says_same(day, f"due {text}, at noon")
        assert None is not says_same(text, str(day))
