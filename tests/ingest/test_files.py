"""Files: plain or zipped, whole or damaged, of a known format or not."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.ingest.conftest import RUN, event

from argentum import FormatError, InputError
from argentum.ingest import import_file


def test_truncated_line_in_the_middle(store, lines):
    """All good lines are kept and the bad one is named by its number, blank lines counted."""
    texts = [json.dumps(event(name=f"n{number}")) for number in range(1000)]
    texts[500] = texts[500][:25]
    path = lines(RUN, "", *texts)
    result = import_file(path, store)

    assert 999 == result.events
    assert ["line 503: it is no JSON "] == [one[:24] for one in result.problems]
    assert [f"n{number}" for number in range(1000) if number != 500] == [
        one.name for one in store.events("r")
    ]


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
def test_truncated_gzip(store, lines, tmp_path, cut):
    """Of a gzip file that stops in the middle all whole lines before that are kept."""
    import random

    noise = random.Random(1)
    path = lines(RUN, *(event(name=f"n{n}", body={"x": noise.random()}) for n in range(5000)))
    data = gzip.compress(path.read_bytes())
    (tmp_path / "cut.gz").write_bytes(data[: int(len(data) * cut)])
    result = import_file(tmp_path / "cut.gz", store)

    assert [f"n{number}" for number in range(result.events)] == [
        one.name for one in store.events("r")
    ]
    assert cut - 0.1 < result.events / 5000 < cut + 0.1
    assert "incomplete" == store.run("r").status
    assert "the file ends or is damaged here" in result.problems[-1]


def test_damaged_gzip(store, lines, tmp_path):
    """A gzip file with a wrong byte says so, and what came before is kept."""
    path = lines(RUN, *(event(name=f"n{number}") for number in range(100)))
    data = bytearray(gzip.compress(path.read_bytes()))
    data[-5] ^= 0xFF
    (tmp_path / "bad.gz").write_bytes(data)
    result = import_file(tmp_path / "bad.gz", store)

    assert 1 == len(result.problems)
    assert "the file ends or is damaged here" in result.problems[0]
    assert result.events == store.run("r").events


def test_no_gzip_at_all(store, tmp_path):
    """A file that only begins like gzip is named; nothing is made of it."""
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8bnonsense")
    result = import_file(tmp_path / "x.gz", store)

    assert (1, []) == (len(result.problems), store.runs())


def test_huge_line(store, lines):
    """A line of many megabytes is imported like any other."""
    text = "x" * 20_000_000
    result = import_file(lines(RUN, event(body={"text": text}), event(name="after")), store)

    assert (2, []) == (result.events, result.problems)
    assert text == store.event("r", 1).body.get("text")


def test_byte_order_mark_and_windows_lines(store, tmp_path):
    """A mark at the start and Windows line ends do no harm."""
    text = "\r\n".join(json.dumps(one) for one in (RUN, event()))
    (tmp_path / "x.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())

    assert (["r"], []) == (
        (result := import_file(tmp_path / "x.jsonl", store)).run_ids, result.problems,
    )  # fmt: skip


def test_bytes_that_are_no_text(store, lines):
    """A line that is no UTF-8 is named like any other bad one."""
    path = lines(RUN, "HERE", event())
    path.write_bytes(path.read_bytes().replace(b"HERE", b'{"a": "\xff\xfe"}'))
    result = import_file(path, store)

    assert (1, ["line 2"]) == (result.events, [one[:6] for one in result.problems])


def test_progress(store, lines):
    """Progress goes up to the size of the file."""
    seen: list[tuple[int, int]] = []
    path = lines(RUN, *(event() for _ in range(500)))
    import_file(path, store, on_progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size

    assert {size} == {total for _, total in seen}
    assert sorted(seen) == seen
    assert (size, size) == seen[-1]


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_empty_file(store, tmp_path, text):
    """There is nothing to import from an empty file."""
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="is empty; there is nothing to import"):
        import_file(tmp_path / "x.jsonl", store)


@pytest.mark.parametrize("text", ["hello", "{}", "[]", '{"format": "other/1"}', "\x00\x01"])
def test_unknown_format(store, tmp_path, text):
    """A file of another format is refused, with how it starts and what is known."""
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="which is of no known format. Known: argentum.run"):
        import_file(tmp_path / "x.jsonl", store)

    assert [] == store.runs()


def test_newer_version(store, lines):
    """A file of a later version says what to do, and nothing of it is kept."""
    with pytest.raises(FormatError, match="version '2' of argentum.run; this version reads 1"):
        import_file(lines({**RUN, "format": "argentum.run/2"}, event()), store)

    assert [] == store.runs()


def test_missing_file(store, tmp_path):
    """A file that is not there is named."""
    with pytest.raises(InputError, match="There is no file '.*nothing.jsonl' to import"):
        import_file(tmp_path / "nothing.jsonl", store)
