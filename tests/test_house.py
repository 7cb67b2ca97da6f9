"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import argentum

TESTS = Path(__file__).resolve().parent
PACKAGE = Path(argentum.__file__).resolve().parent

LONGEST_FILE_LINES = 400
LONG_FILES: dict[str, str] = {}
LONGEST_FUNCTION_LINES = 60
LONG_FUNCTIONS: dict[str, str] = {}

LOADED_BY_IMPORT = {"argentum"}


def test_public_names():
    """A public name comes or goes only on purpose."""
    assert [
        "AgentSession",
        "ArgentumError",
        "ArtifactRef",
        "Ed25519Key",
        "Fact",
        "FormatError",
        "Handoff",
        "HandoffProtocol",
        "HmacKey",
        "InputError",
        "LimitError",
        "MissingExtraError",
        "NotFoundError",
        "Receipt",
        "Run",
        "SecuritySettings",
        "StateDiff",
        "StoreError",
        "VerificationError",
        "Watch",
        "__version__",
        "bisect",
        "blame",
        "compare",
        "configure_security",
        "create_agent_session",
        "diff",
        "history",
        "open_store",
        "security_settings",
        "snapshots_of",
        "watch_history",
    ] == argentum.__all__


def test_public_names_load():
    """Every public name is there, in `dir()`, and kept after its first use."""
    for name in argentum.__all__:
        value = getattr(argentum, name)
        assert value is vars(argentum)[name]

    assert sorted(argentum.__all__) == dir(argentum)
    assert not hasattr(argentum, "no_such_name")


def test_import_is_light():
    """`import argentum` loads nothing of ours but itself, and nothing heavy of others."""
    script = (
        "import sys; before = set(sys.modules); import argentum;"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = run_python(script).split()

    others = {name for name in loaded if name.partition(".")[0] not in sys.stdlib_module_names}
    assert LOADED_BY_IMPORT == others


def test_recording_loads_no_user_interface():
    """A host that records pays for no terminal, web or numeric library."""
    script = (
        "import sys, argentum; argentum.create_agent_session('a'); argentum.StateDiff();"
        "print(*sys.modules)"
    )
    loaded = {name.partition(".")[0] for name in run_python(script).split()}

    unwanted = {
        "click", "http", "jsonschema", "numpy", "pydantic", "rich", "starlette", "typer", "uvicorn",
    }  # fmt: skip
    assert set() == unwanted & loaded


def test_files_are_short():
    """A file past 400 lines is listed here with its reason, and only such files are."""
    long = {
        path.relative_to(PACKAGE).as_posix()
        for path in source_files()
        if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_FILE_LINES
    }

    assert set(LONG_FILES) == long


def test_functions_are_short():
    """A function past 60 lines, its docstring left out, is listed here with its reason."""
    long = {
        f"{path.relative_to(PACKAGE).as_posix()}:{function.name}"
        for path in source_files()
        for function in functions_of(path)
        if body_lines(function) > LONGEST_FUNCTION_LINES
    }

    assert set(LONG_FUNCTIONS) == long


def test_every_test_says_what_it_claims():
    """Each test has a docstring."""
    silent = [
        f"{path.relative_to(TESTS).as_posix()}:{function.lineno} {function.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for function in functions_of(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    ]

    assert [] == silent


def run_python(script: str) -> str:
    """Run a script in a new interpreter; give what it prints."""
    return subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout


def source_files() -> list[Path]:
    """List the package's files, as they are installed."""
    return sorted(PACKAGE.rglob("*.py"))


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Give every function of a file, methods and inner ones too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines without its docstring."""
    first = function.body[0]
    docstring = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring
