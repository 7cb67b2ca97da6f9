r"""
Text on its way out: each place that shows it gets it encoded so that it stays text there.

Nothing is refused or changed on the way in because it looks like an attack: "Union Square",
`<script>` in a bug report and `=SUM(A1)` in a lesson are all recorded as they are. What is
dangerous depends on where a text goes, so it is encoded there, by the function of that place:

    html_text        between tags
    html_attribute   as the value of an attribute, quotes included
    html_link        as the value of `href`, quotes included, or None if it would run as a script
    json_in_script   as data inside `<script type="application/json">`
    csv_line         as a line of a table that a spreadsheet opens
    terminal_text    on a terminal, in lines
    log_line         as one line of a log
    sarif_text       as the `text` of a SARIF message

`fill` puts values into a template with named places. It is not `str.format`, in which a template
reads attributes (`{user.__class__}`), and values are never looked at for places again.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable
from numbers import Number
from urllib.parse import urlsplit

from argentum.errors import InputError, not_found, shown

_SURROGATES = r"\ud800-\udfff"
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_LINE_ENDS = r"\t\n\r\x85\u2028\u2029"
_REORDERING = r"\u202a-\u202e\u2066-\u2069"
"""Characters that make text read in another order than it is written."""
_UNSEEN = r"\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e0fff"
"""Characters that show nothing and that no script needs, so they only hide something."""
_FLAG = r"\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
"""A flag (of Scotland, say), the one honest use of tag characters; left as it is."""
_VARIANTS = r"\U000e0100-\U000e01ef"
"""Choose between forms of a Chinese character, after which they stand."""

_NOT_IN_HTML = re.compile(f"[{_CONTROLS}{_SURROGATES}]")
_NOT_IN_LINES = re.compile(
    f"({_FLAG}|(?<=[\u3400-\u9fff\U00020000-\U0003ffff])[{_VARIANTS}])"
    f"|[{_CONTROLS}{_SURROGATES}{_REORDERING}{_UNSEEN}\r\x85\u2028\u2029]"
)
_NOT_IN_LINE = re.compile(f"{_NOT_IN_LINES.pattern}|[{_LINE_ENDS}]")

_SCRIPT_SIGNS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]|'*[\t\r]")
_NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:[.,]\d{1,30})?|[.,]\d{1,30})(?:[eE][+-]?\d{1,3})?%?")
_LINK = re.compile(r"(\\*)\](?=\()")
_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")


def html_text(text: str) -> str:
    """Encode a text to stand between HTML tags; what HTML cannot hold is shown as an escape."""
    return _visible(_NOT_IN_HTML, html.escape(text, quote=False).replace("\r", "&#13;"))


def html_attribute(text: str) -> str:
    """Encode a text as the value of an HTML attribute, with the quotes around it."""
    return f'"{_visible(_NOT_IN_HTML, html.escape(text)).replace(chr(13), "&#13;")}"'


def html_link(url: str) -> str | None:
    """
    Encode a URL as the value of `href`, with the quotes; None if it may not be a link.

    Links are to http, https and mailto; a `javascript:` or `data:` URL would act as this page.
    """
    try:
        scheme = urlsplit(url).scheme
    except ValueError:
        return None
    return html_attribute(url) if scheme in ("http", "https", "mailto") else None


def json_in_script(value: object) -> str:
    """
    Write a JSON value to stand inside a `script` element, which it cannot end.

    For `<script type="application/json">` and `JSON.parse`; as a literal in JavaScript, a key
    `__proto__` would be no data.

    Raises:
        InputError: it is no JSON value, or has NaN or an infinity.
    """
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (RecursionError, TypeError, ValueError) as error:
        message = f"{shown(value)} cannot be written as JSON ({error}); see `to_jsonable`."
        raise InputError(message) from error
    return text.translate(_SCRIPT_SIGNS)


def csv_line(values: Iterable[object]) -> str:
    """Write a line of a CSV file (RFC 4180), its end included."""
    return ",".join(map(csv_field, values)) + "\r\n"


def csv_field(value: object) -> str:
    r"""
    Write a field of a CSV line, quoted, so that no spreadsheet runs it as a formula.

    A text that one would run gets a `'` in front, as typing it there would need; so does a text
    that starts with `'` before such a sign, so that taking one away always gives the text again.
    Numbers, and texts that are numbers (`-5`, `+3.2e5`), are left alone. None is empty.

    A spreadsheet that is told to split at other signs than commas can still find a formula inside
    a field: that is to be chosen when the file is opened.
    """
    if value is None:
        return ""
    text = _visible(_NOT_IN_HTML, str(value))
    is_number = isinstance(value, Number) or _NUMBER.fullmatch(text)
    if not is_number and _FORMULA.match(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"'


def terminal_text(text: str) -> str:
    r"""
    Make a text safe to print: what could drive a terminal is shown as an escape such as `\x1b`.

    So are characters that hide text or make it read in another order. Line ends and tabs stay,
    and so does what scripts need: joiners, variants, marks, private and new characters.
    """
    return _visible(_NOT_IN_LINES, text.replace("\r\n", "\n"))


def log_line(text: str) -> str:
    r"""Make a text one line: what `terminal_text` escapes, and line ends and tabs (`\n`, `\t`)."""
    return _visible(_NOT_IN_LINE, text)


def _visible(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    if found.re.groups and found[1]:
        return found[1]
    return ascii(found[0])[1:-1]


def sarif_text(text: str) -> str:
    r"""
    Encode a text for the `text` of a SARIF 2.1.0 message, where braces and links mean something.

    Braces are doubled (section 3.11.5), and `](`, which would end the text of a link (section
    3.11.6), gets a backslash. Brackets that can be no link (`messages[3].content`) stay.
    """
    linkless = _LINK.sub(r"\1\1\\]", text)
    return _visible(_NOT_IN_LINES, linkless).replace("{", "{{").replace("}", "}}")


def fill(template: str, *, encode: Callable[[str], str] = str, **values: object) -> str:
    """
    Put values into the places of a template: `{name}`; `{{` and `}}` stand for braces.

    Args:
        encode: makes each value safe for where the text goes, such as `html_text`.

    Raises:
        InputError: a brace that belongs to no place.
        NotFoundError: a place for which there is no value.
    """

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return _brace(template, found)
        if name not in values:
            raise not_found("value for the place", name, values)
        return encode(str(values[name]))

    return _PLACE.sub(filled, template)


def _brace(template: str, found: re.Match[str]) -> str:
    if len(found[0]) == 1:
        around = template[max(0, found.start() - 10) : found.end() + 20]
        message = (
            f"The template has a lone {found[0]!r} near {shown(around)}; "
            "write {name} for a place, and {{ or }} for a brace."
        )
        raise InputError(message)
    return found[0][0]
