"""Paths from outside, against `path_vectors.json` and a folder full of links."""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import InputError
from argentum.security import paths
from argentum.security.paths import open_under, safe_path

VECTORS = json.loads(Path(__file__).with_name("path_vectors.json").read_text())


def written_out(path: str | list[Any]) -> str:
    """Give a path; a long one is written as a piece, how often it comes, and the rest."""
    return path if isinstance(path, str) else path[0] * path[1] + path[2]


ATTACKS = [written_out(path) for group in VECTORS["attacks"].values() for path in group]
GOOD = [written_out(path) for path in VECTORS["good"]]
SECRET = "outside"
DESCRIPTORS = Path("/proc/self/fd")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder with files, links of every kind, and a neighbour with a secret."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "passwd").write_text(SECRET)
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "x").write_text(SECRET)
    root = tmp_path / "root"
    (root / "docs" / "sub").mkdir(parents=True)
    (root / "docs" / "a.txt").write_text("a")
    (root / "file.txt").write_text("file")
    links = {
        "out": "../outside", "inside": "docs", "docs/up": "../..", "docs/here": ".",
        "dangling": "../made", "loop": "loop", "file_link": "../x", "absolute_link": str(outside),
        "chain": "inside", "docs/sub/far": "../../../outside",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


def everything(folder: Path) -> dict[str, str]:
    """Read all that lies in and below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        is_file = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = path.read_text() if is_file else ""
    return found


def read(root: Path, path: str, mode: str = "r") -> str:
    """Read a file through `open_under`."""
    with open_under(root, path, mode) as file:
        return file.read()


def is_refused(root: Path, given: object, mode: str | None = None) -> bool:
    """Tell whether a path is refused; with a mode, by `open_under`."""
    try:
        if mode is None:
            safe_path(root, given)
        else:
            open_under(root, given, mode).close()
    except InputError:
        return True
    return False


def test_there_are_as_many_vectors_as_promised():
    """200 attacks and 100 good paths, none twice."""
    assert len(set(ATTACKS)) == len(ATTACKS) >= 200
    assert len(set(GOOD)) == len(GOOD) >= 100


@pytest.mark.parametrize("mode", [None, "r", "w", "x", "a"])
def test_every_attack_is_refused_and_changes_nothing(root: Path, mode: str | None):
    """No attack leads anywhere, opens anything or leaves anything behind."""
    before = everything(root.parent)
    assert [] == [path for path in ATTACKS if not is_refused(root, path, mode)]
    assert before == everything(root.parent)


def test_every_good_path_leads_below_the_root(root: Path):
    """A path that only looks odd is let through, and names the same place as plain joining."""
    wrong = [path for path in GOOD if safe_path(root, path) != root.resolve() / path]
    assert [] == wrong


def test_every_good_path_can_be_written_and_read(root: Path):
    """A file of each good name can be made and read back."""
    for number, path in enumerate(GOOD):
        own = root / str(number)
        (own / path).parent.mkdir(parents=True, exist_ok=True)
        with open_under(own, path, "x") as file:
            file.write(path)
        assert path == (own / path).read_text() == read(own, path)


def test_a_root_may_itself_be_a_link(root: Path, tmp_path: Path):
    """The folder is trusted, so a link to it is as good as the folder."""
    (tmp_path / "alias").symlink_to(root)
    assert root.resolve() / "docs/a.txt" == safe_path(tmp_path / "alias", "docs/a.txt")
    assert "a" == read(tmp_path / "alias", "docs/a.txt")


@pytest.mark.parametrize("bad", ["missing", "file.txt", "\0", 7, None])
def test_a_root_that_is_no_folder_is_refused(root: Path, bad: object):
    """What is no folder has nothing below it."""
    place = root / bad if isinstance(bad, str) else bad
    with pytest.raises(InputError, match="make it first"):
        safe_path(place, "a.txt")


def test_path_objects_are_read_by_their_own_rules(root: Path):
    """A Windows path object may have backslashes; what it names is checked all the same."""
    assert root.resolve() / "docs/a.txt" == safe_path(root, PureWindowsPath(r"docs\a.txt"))
    assert root.resolve() / "docs/a.txt" == safe_path(root, PurePosixPath("docs/a.txt"))
    assert is_refused(root, PureWindowsPath(r"..\x"))
    assert is_refused(root, PureWindowsPath(r"\\server\share\x"))
    assert is_refused(root, PurePosixPath("/etc/passwd"))


@pytest.mark.parametrize("odd", [b"a.txt", None, 7, ["a"], {"a": 1}])
def test_what_is_no_text_is_refused(root: Path, odd: object):
    """Only text and path objects name a file."""
    assert is_refused(root, odd)
    assert is_refused(root, odd, "r")


def test_a_message_says_what_is_wrong_and_what_works(root: Path):
    """The reader learns the reason and sees a path that would do."""
    with pytest.raises(InputError) as caught:
        safe_path(root, "../x")
    assert (
        "The path '../x' goes up with '..'; leave that out. "
        "What works is a path below the folder, such as 'reports/first.json'."
    ) == str(caught.value)


def test_pipes_and_folders_are_no_files(root: Path):
    """A pipe would wait for ever; it is refused at once, as is a folder."""
    os.mkfifo(root / "pipe")
    for mode in ("r", "w", "a", "r+"):
        assert is_refused(root, "pipe", mode)
        assert is_refused(root, "docs", mode)


@pytest.mark.parametrize(
    "mode, start, written, kept",
    [
        ("r", "old", None, "old"), ("rb", "old", None, "old"), ("rt", "old", None, "old"),
        ("w", "old", "n", "n"), ("wb", "old", "n", "n"), ("w+", "old", "n", "n"),
        ("a", "old", "n", "oldn"), ("ab", "old", "n", "oldn"), ("a+b", "old", "n", "oldn"),
        ("x", None, "n", "n"), ("xb", None, "n", "n"), ("r+", "old", "n", "nld"),
    ],
)  # fmt: skip
def test_modes_mean_what_they_mean_for_open(
    root: Path, mode: str, start: str | None, written: str | None, kept: str
):
    """A file is read, emptied, added to or made, as its mode says."""
    if start is not None:
        (root / "f").write_text(start)
    with open_under(root, "f", mode) as file:
        if written is not None:
            file.write(written.encode() if "b" in mode else written)
    assert kept == (root / "f").read_text()


@pytest.mark.parametrize("mode", ["", "q", "rw", "r++", "U", "wx"])
def test_an_unknown_mode_is_refused(root: Path, mode: str):
    """A mode that `open` does not know either is named in the message."""
    with pytest.raises(InputError, match="mode"):
        open_under(root, "file.txt", mode)


def test_an_unknown_encoding_is_refused_before_anything_is_made(root: Path):
    """A misspelt encoding does not leave an empty file behind."""
    with pytest.raises(InputError, match="utf-8"):
        open_under(root, "new", "w", encoding="utf-88")
    assert not (root / "new").exists()


def test_lines_end_as_they_are_in_the_file(root: Path):
    """Nothing is translated on the way in or out."""
    with open_under(root, "f", "w") as file:
        file.write("a\r\nb\n")
    assert b"a\r\nb\n" == (root / "f").read_bytes()
    assert "a\r\nb\n" == read(root, "f")


def test_new_files_are_for_their_owner_only(root: Path):
    """What an agent holds is private, so nobody else can read a new file."""
    open_under(root, "f", "w").close()
    assert 0o600 == (root / "f").stat().st_mode & 0o777


def test_what_is_there_already_is_told(root: Path):
    """Each thing that the disk says has its own words."""
    cases = {
        ("nope", "r"): "is not there", ("nope/x", "w"): "folders are not made",
        ("file.txt", "x"): "is there already", ("file.txt/x", "r"): "through a file",
        ("out/passwd", "r"): "through the link 'out'", ("file_link", "w"): "through the link",
    }  # fmt: skip
    for (path, mode), words in cases.items():
        with pytest.raises(InputError, match=words):
            open_under(root, path, mode)


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="this system does not list descriptors")
def test_no_descriptor_is_left_open(root: Path):
    """Refusals close what they opened on the way."""
    before = len(list(DESCRIPTORS.iterdir()))
    for path in [*ATTACKS, "nope", "docs", "docs/nope/x"]:
        is_refused(root, path, "r")
    assert before == len(list(DESCRIPTORS.iterdir()))


@pytest.mark.skipif(not paths.WALKS, reason="needs a system that opens relative to a folder")
def test_a_folder_that_turns_into_a_link_leads_nowhere(root: Path):
    """While another thread keeps exchanging a folder for a link, nothing outside is read."""
    (root / "real").mkdir()
    (root / "real" / "passwd").write_text("inside")
    (root / "evil").symlink_to(root.parent / "outside")
    steps = [("real", "kept"), ("evil", "real"), ("real", "evil"), ("kept", "real")]
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for name, other in steps:
                (root / name).rename(root / other)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for attempt in range(100_000):
            with suppress(InputError):
                seen.add(read(root, "real/passwd"))
            if seen and attempt > 400:
                break
    finally:
        done.set()
        thread.join()
    assert {"inside"} == seen


def test_where_folders_cannot_be_walked_links_are_refused_too(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    """The way of other platforms refuses every attack and reads every good file."""
    monkeypatch.setattr(paths, "WALKS", False)
    before = everything(root.parent)
    assert [] == [path for path in ATTACKS if not is_refused(root, path, "w")]
    assert before == everything(root.parent)
    assert "a" == read(root, "docs/a.txt")


@given(st.text(st.sampled_from("./\\%2eE5cfCo:~ \u3002\uff0e\uff0f\u2024a\0"), max_size=24))
def test_whatever_is_given_it_is_below_or_refused(tmp_path_factory, text: str):
    """No mixture of dots, separators, escapes and look-alikes leaves the folder."""
    root = tmp_path_factory.getbasetemp()
    try:
        path = safe_path(root, text)
    except InputError:
        return
    assert root.resolve() in path.parents
    assert ".." not in path.parts
    assert str(path) == os.path.normpath(path)
