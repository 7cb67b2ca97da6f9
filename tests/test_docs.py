"""
Everything that the manual shows really happens.

In README.md and `docs/*.md`, in order and with shared names:

- a `python` block runs; a `text` block right after it is what it printed;
- a `console` block's `$ argentum …` and `$ python …` lines run, and print what stands beneath
  (`...` stands for anything); other commands in it are refused, so `sh` is for those to read only.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parent.parent
REAL_RUN = ROOT / "docs" / "why-real-run.md"
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").glob("*.md")} - {REAL_RUN})]
COMMANDS = {
    "python": [sys.executable],
    "argentum": [sys.executable, "-c", "import argentum.cli; argentum.cli.main()"],
}
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class BlockFailedError(AssertionError):
    """A block of the manual does not do what it shows."""


def check(expected: str, printed: str) -> None:
    """Raise if a command or block printed something else than the manual shows."""
    checker = doctest.OutputChecker()
    if not checker.check_output(expected, printed, LIKE):
        example = doctest.Example("", expected)
        raise BlockFailedError(checker.output_difference(example, printed, LIKE))


def run_python(example: Example) -> None:
    """Run a block and keep what it prints for the `text` block after it."""
    printed = io.StringIO()
    # As many empty lines first as make the traceback's line numbers those of the page.
    source = "\n" * (example.line + example.parsed.line_offset) + example.parsed
    with contextlib.redirect_stdout(printed):
        exec(compile(source, example.path, "exec"), example.namespace)
    example.namespace["__printed__"] = printed.getvalue()


def check_text(example: Example) -> None:
    """Compare a block with what the `python` block before it printed, if there is one."""
    printed = example.namespace.pop("__printed__", None)
    if printed is not None:
        check(example.parsed, printed)


def run_console(example: Example) -> None:
    """Run each `$` line of a block and compare what it prints with the lines beneath."""
    for step in ("\n" + example.parsed).split("\n$ ")[1:]:
        command, _, expected = step.partition("\n")
        check(expected, run_command(command))


def run_command(command: str) -> str:
    """Run `argentum` or `python`; give all that it prints."""
    name, *arguments = shlex.split(command)
    if name not in COMMANDS:
        message = f"A `console` block may run {sorted(COMMANDS)}, not {name!r}; use `sh`."
        raise BlockFailedError(message)
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(
        [*COMMANDS[name], *arguments],
        check=False,
        env=environment,
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    ).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, own_place: Path):
    """Every block of a page does what it shows."""
    (own_place / "examples").symlink_to(ROOT / "examples")
    parsers = [
        CodeBlockParser("python", run_python),
        CodeBlockParser("text", check_text),
        CodeBlockParser("console", run_console),
        SkipParser(),
    ]
    for example in Document.parse(str(page), *parsers).examples():
        example.evaluate()


def test_page_on_real_runs(shared_data: Path, own_place: Path):
    """Every block of the page about runs of the shared data set does what it shows."""
    (own_place / "tau-airline").symlink_to(shared_data / "tau-airline")
    test_page(REAL_RUN, own_place)


def test_a_wrong_page_is_noticed(own_place: Path):
    """A block that prints something else than the page shows fails."""
    page = own_place / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n", encoding="utf-8")

    with pytest.raises(BlockFailedError, match="Expected"):
        test_page(page, own_place)
