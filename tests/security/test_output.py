"""Text on its way out: it stays text in every place, and what is harmless stays as it is."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import InputError, NotFoundError
from argentum.security.output import (
    csv_field,
    csv_line,
    fill,
    html_attribute,
    html_link,
    html_text,
    json_in_script,
    log_line,
    sarif_text,
    terminal_text,
)

ATTACKS = [
    "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<iframe src=data:text/html,x>", '" onmouseover="alert(1)', "' onfocus='alert(1)",
    "</title><x>",
    "--><script>", "]]><script>", "<!--<script>", "&lt;script&gt;", "&#x3c;script&#x3e;",
    "</textarea>",
    "<svg/onload=alert(1)>", "`onclick=alert(1)", "java\tscript:alert(1)", "<\x00script>",
    "\u2028x",
    "</SCRIPT >", "<a href=javascript:x>", "{{7*7}}", "${7*7}", "<%= 7 %>", "\ud800<x>",
    "\x1b]0;x\x07",
]  # fmt: skip
BENIGN = [
    "Union Square, San Francisco", "drop it off at 5", "select a table", "O'Brien & Sons",
    "1 < 2 > 0",
    "javascript: the good parts", "../notes", "rm -rf is dangerous", "50% off", "a -- b",
    "DROP TABLE",
    "Ünïcödé", "日本語", "مرحبا بالعالم", "שלום", "می‌خواهم", "👩‍👩‍👧 family", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️",
    "e\u0301",
    "葛\U000e0100城", "soft\u00adhyphen", "non\u00a0breaking", "ภาษา\u200bไทย", "\u200eleft",
    "\ue000",
    "messages[3].content", "f(x)[0] (see below)", "C:\\dir\\file", "a\\nb", "$5.00", "#!/bin/sh",
]  # fmt: skip


class Page(HTMLParser):
    """Reads HTML as a browser would."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[Any]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def in_html(text: str) -> str:
    """Say what a page shows for a text: the text, with escapes for what HTML cannot hold."""
    return "".join(
        ascii(char)[1:-1]
        if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r"
        else char
        for char in text
    )


@given(st.one_of(st.text(), st.sampled_from(ATTACKS + BENIGN)))
def test_a_text_in_html_is_what_a_reader_sees(text: str):
    """Between tags and in an attribute, a parser finds the text and nothing else."""
    page = Page(f"<p>{html_text(text)}</p>")
    assert ([("p", [])], in_html(text)) == (page.tags, page.text)
    page = Page(f"<p title={html_attribute(text)}></p>")
    assert [("p", [("title", in_html(text))])] == page.tags


@pytest.mark.parametrize("text", BENIGN)
def test_a_benign_text_shows_as_it_is_everywhere(text: str):
    """Nothing is refused or altered because it looks like an attack."""
    assert text == Page(html_text(text)).text
    assert text == terminal_text(text) == log_line(text)
    assert text == sarif_text(text)
    assert text == json.loads(json_in_script(text))
    assert [[text]] == list(csv.reader([csv_line([text])]))


@pytest.mark.parametrize(
    "url, expected",
    [
        ("https://example.com/?a=1&b=2", '"https://example.com/?a=1&amp;b=2"'),
        ('HTTP://x/"', '"HTTP://x/&quot;"'), ("mailto:a@example.com", '"mailto:a@example.com"'),
        ("javascript:alert(1)", None), ("JavaScript:alert(1)", None),
        (" javascript:alert(1)", None),
        ("java\tscript:alert(1)", None), ("\x01javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("vbscript:x", None), ("file:///etc/passwd", None), ("//example.com", None), ("/x", None),
        ("http://[", None), ("", None),
    ],
)  # fmt: skip
def test_only_what_cannot_run_is_a_link(url: str, expected: str | None):
    """A recorded URL that would act as the page is shown as text instead."""
    assert expected == html_link(url)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text() | st.sampled_from(ATTACKS),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(json_values)
def test_json_in_a_script_cannot_end_it(value: Any):
    """It holds no sign that HTML reads there, is plain ASCII, and reads back the same."""
    text = json_in_script(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.isascii()
    assert value == json.loads(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"x"])
def test_what_is_no_json_is_refused(value: object):
    """A page would not parse it."""
    with pytest.raises(InputError, match="cannot be written as JSON"):
        json_in_script(value)


def test_what_nests_without_end_is_refused():
    """Neither a cycle nor great depth gets through as something else."""
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (cycle, deep):
        with pytest.raises(InputError):
            json_in_script(value)


FORMULAS = [
    "=1+1", "=cmd|'/C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1",
    "  @x", "\uff1d1",
    "\uff0b1+1", "\uff0d1+1", "\uff20x", "\u22121+1", '=HYPERLINK("http://x","y")', "=1,2",
    "-2+3+cmd|' /C calc'!A0", "\t", "\rx",
    "'=1+1", "''=1+1", "\n=1", "\u00a0=1", "\u2003=1", "+", "-", "=", "@",
    "+49 170 1234567",
    "-x", "=\n", "-1-1", "1".join(["-"] * 3), "+1e5x",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_field_starts_a_formula(text: str):
    """What a spreadsheet finds in the cell starts with an apostrophe, and less it, is the text."""
    (cell,) = next(csv.reader(io.StringIO(csv_line([text]), newline="")))
    assert "'" == cell[0]
    assert text.replace("\x00", r"\x00") == cell[1:]


@pytest.mark.parametrize(
    "value, cell",
    [
        (-7, "-7"), (-5.5, "-5.5"), (True, "True"), (None, ""), ("-5", "-5"), ("+3.2e5", "+3.2e5"),
        ("-5%", "-5%"), ("-1,5", "-1,5"), ("a=b", "a=b"), ("1-2", "1-2"), ("it's", "it's"),
        ("'x'", "'x'"),
        ("a,b", "a,b"), ('say "x"', 'say "x"'), ("a\nb", "a\nb"), ("", ""), ("x@y.z", "x@y.z"),
    ],
)  # fmt: skip
def test_what_no_spreadsheet_runs_is_left_alone(value: object, cell: str):
    """Numbers, and signs inside a text, get no apostrophe."""
    assert [cell] == next(csv.reader(io.StringIO(csv_line([value, "z"]), newline="")))[:1]


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"])), min_size=1))
def test_a_line_of_a_table_has_as_many_fields_as_values(texts: list[str]):
    """And each gives its text again, once an apostrophe before a sign is taken away."""
    cells = next(csv.reader(io.StringIO(csv_line(texts), newline="")))
    back = [cell[1:] if csv_field(cell[1:]) == f'"{quoted(cell)}"' else cell for cell in cells]
    assert texts == back


def quoted(text: str) -> str:
    """Double the quotes of a field."""
    return text.replace('"', '""')


@pytest.mark.parametrize(
    "text, shown",
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"), ("\x9b31m", r"\x9b31m"), ("\x07", r"\x07"),
        ("a\rb", r"a\rb"), ("a\x08b", r"a\x08b"), ("a\x00b", r"a\x00b"), ("a\x7fb", r"a\x7fb"),
        ("\u202egnp.exe", r"\u202egnp.exe"), ("\u2066x\u2069", r"\u2066x\u2069"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"), ("\ud800", r"\ud800"),
        ("\ufffa", r"\ufffa"),
        ("\U000e0041\U000e0042", r"\U000e0041\U000e0042"), ("x\U000e0100", r"x\U000e0100"),
        ("\U0001f3f4\U000e0041", "\U0001f3f4" + r"\U000e0041"),
        ("\x1b]8;;http://x\x1b\\", r"\x1b]8;;http://x\x1b" + "\\"),
    ],
)  # fmt: skip
def test_what_drives_a_terminal_is_made_visible(text: str, shown: str):
    """In lines and in one line alike, so that nobody is shown what is not there."""
    assert shown == terminal_text(text) == log_line(text)


def test_lines_stay_on_a_terminal_but_not_in_a_log():
    """One record of a log is one line, whatever it holds."""
    text = "a\tb\nc\r\nd"
    assert "a\tb\nc\nd" == terminal_text(text)
    assert r"a\tb\nc\r\nd" == log_line(text)


@given(st.text())
def test_a_log_line_is_one_line_that_any_encoding_of_unicode_writes(text: str):
    """No reader of lines finds two, and UTF-8 can write it."""
    line = log_line(text)
    assert [line] == (line.splitlines() or [""])
    assert line.encode().decode() == line
    assert line == log_line(line)


@given(st.text(st.sampled_from("[]()\\{}0a")))
def test_no_sarif_text_holds_a_link_or_a_place(text: str):
    """A reader of SARIF that undoes the escapes gets the text again, and found no link in it."""
    encoded = sarif_text(text)
    places = encoded.replace("{{", "").replace("}}", "")
    assert not set(places) & set("{}")
    assert not any(is_open for is_open in link_ends(encoded))


def link_ends(text: str) -> list[bool]:
    """Tell for each `](` whether its bracket is free of a backslash that counts."""
    found = []
    for at in range(len(text) - 1):
        if text[at : at + 2] == "](":
            before = text[:at]
            found.append((len(before) - len(before.rstrip("\\"))) % 2 == 0)
    return found


def test_a_link_in_a_finding_is_no_link_in_sarif():
    """As section 3.11.6 writes it."""
    assert r"see [here\](http://x) {{0}}" == sarif_text("see [here](http://x) {0}")


def test_values_go_into_their_places():
    """Named, more than once, with braces around; and each value encoded for its place."""
    filled = fill("{a}-{b}-{a} {{a}} {{{a}}}", encode=html_text, a="<1>", b=2)
    assert "&lt;1&gt;-2-&lt;1&gt; {a} {&lt;1&gt;}" == filled


@pytest.mark.parametrize(
    "template",
    [
        "{a.__class__}", "{a[0]}", "{a!r}", "{a:>99999999999}", "{0}", "{}", "{", "}", "{a",
        "a}", "{ a }",
        "{a}}", "{{a}", "{é}", "{a\n}", "{a.b.c}", "{a-b}",
    ],
)  # fmt: skip
def test_a_template_reads_nothing_but_values(template: str):
    """No attribute, item, conversion or width: they are lone braces."""
    with pytest.raises(InputError, match="lone"):
        fill(template, a="x")


def test_a_place_without_a_value_is_told_with_near_ones():
    """A misspelt place is found before anyone gets a wrong text."""
    with pytest.raises(NotFoundError, match="Did you mean 'agent'"):
        fill("{agnt}", agent="a", cost=1)


@given(st.text(), st.text())
def test_values_are_never_read_as_templates(first: str, second: str):
    """Braces in a value are text."""
    assert f"{first}|{second}|{{" == fill("{a}|{b}|{{", a=first, b=second)
