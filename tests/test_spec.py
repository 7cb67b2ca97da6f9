"""
Every snippet of the specification, as its readers paste it, with what it prints.

The snippets are in `tests/spec/`, verbatim but for indentation and a first `import argentum` where
the text goes on from an earlier one. The tests of parts that are not built yet say so; they fail
on the day when the part works, so that nobody forgets to take the mark away.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import re
import runpy
import sys
import types
from pathlib import Path

import pytest

import argentum

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"


def not_built(part: str):
    """Mark the test of a part that is not built yet."""
    return pytest.mark.xfail(
        strict=True,
        reason=f"{part} is not built yet",
        raises=(AttributeError, ImportError, LookupError, AssertionError, FileNotFoundError),
    )


def run_snippet(name: str, **given: object) -> tuple[dict, list[str]]:
    """Run a snippet; give the names it leaves and the lines it prints."""
    path = HERE / "spec" / f"{name}.py"
    printed = io.StringIO()
    names = dict(given)
    with contextlib.redirect_stdout(printed):
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    return names, printed.getvalue().splitlines()


def test_first_page_state():
    """The first page's session tells what changed between two snapshots."""
    names, printed = run_snippet("first_page_state")

    assert {
        "memory": {"added": ["fact1", "fact2"]},
        "goals": {"from": ["research topic"], "to": ["write summary"]},
    } == names["changes"]
    assert [] == printed


def test_state_diff():
    """The page on StateDiff prints what its comments promise."""
    _, printed = run_snippet("state_diff")

    assert [
        "{'added': ['ML is a subset of AI', 'Uses algorithms to learn patterns']}",
        "{'from': 0.0, 'to': 0.7}",
        "start → searched: 3 changes",
    ] == printed


class Agent:
    """Stands in for a framework's agent: a memory that a question adds to."""

    def __init__(self, *_: object) -> None:
        self.memory: list[str] = []

    def run(self, question: str) -> str:
        """Answer, and remember the question."""
        self.memory.append(question)
        return "Sunny."


def test_langchain(monkeypatch: pytest.MonkeyPatch):
    """The snippet for a framework's agent records its memory before and after."""
    package, module = types.ModuleType("langchain"), types.ModuleType("langchain.agents")
    module.Agent = Agent  # type: ignore[attr-defined]  # a module made by hand
    monkeypatch.setitem(sys.modules, "langchain", package)
    monkeypatch.setitem(sys.modules, "langchain.agents", module)

    names, _ = run_snippet("langchain")

    changes = names["session"]["state_diff"].get_changes("before", "after")
    assert [{"added": ["What is the weather?"]}] == list(changes.values())


def test_unbuilt_parts_of_a_session_read_as_none():
    """`session.get` gives None for a part that is not there, so `if tracker:` works."""
    names, printed = run_snippet("cost")

    assert not names["tracker"] or printed


def test_first_page_handoff():
    """The first page's handoff carries its summary and confidence."""
    names, _ = run_snippet("first_page_handoff")

    assert "Found 3 key sources on quantum computing" == names["handoff"].context_summary
    assert 0.85 == names["handoff"].confidence


def test_handoff():
    """A handoff survives JSON and can be receipted."""
    names, printed = run_snippet("handoff")

    assert [
        "Received handoff: Analyzed 50 customer reviews, identified 3 main themes",
        "Next action: generate_executive_summary",
    ] == printed
    assert names["receipt"]


@not_built("memory")
def test_first_page_memory():
    """The first page's important item survives a step and the temporary one fades."""
    names, _ = run_snippet("first_page_memory")

    assert ["user_name"] == [key for key, _, _ in names["active"]]


@not_built("memory")
def test_memory():
    """After half a half-life the important items are left, with their weights."""
    _, printed = run_snippet("memory")

    assert {
        "current_task: write_email (weight: 0.71)",
        "user_name: Alice (weight: 0.64)",
    } == set(printed[:2])
    assert ["Cleaned up 0 expired memories", "Total items: 3"] == printed[2:4]
    assert re.fullmatch(r"Active items: \d", printed[4])
    assert re.fullmatch(r"Average decay: \d\.\d\d", printed[5])


@not_built("plans")
def test_plans():
    """The page's plan is found valid."""
    _, printed = run_snippet("plans")

    assert "✅ Plan is valid and ready for execution" == printed[-1]


@not_built("cost")
def test_cost():
    """The page's usage is priced and split by agent."""
    _, printed = run_snippet("cost")

    assert 2 == len(printed)
    assert re.fullmatch(r"Total estimated cost: \$\d+\.\d{4}", printed[0])
    assert "research_agent" in printed[1]


@not_built("alerts")
def test_alerts():
    """450 of 500 passes the threshold of 80 %."""
    names, _ = run_snippet("alerts")

    assert names["alerts"]
    assert 1 == len(names["triggered"])


def test_security():
    """A secure session can be had after `configure_security`, and has the limits named there."""
    try:
        names, _ = run_snippet("security")
    finally:
        argentum.configure_security()

    assert 10 == names["session"].security.max_state_size_mb
    assert 5000 == names["session"].security.max_context_items


@not_built("memory")
def test_own_framework():
    """A class of one's own uses the session's parts."""
    names, _ = run_snippet("own_framework", result="done")
    names["MyAgent"].state = {"step": 1}

    assert "done" == names["MyAgent"]().process("input")


@pytest.mark.parametrize("extra", ["lint", "dev"])
def test_extras(extra: str):
    """The extras that the specification installs are declared."""
    declared = importlib.metadata.metadata("argentum-agent").get_all("Provides-Extra")

    assert extra in (declared or [])


@pytest.mark.parametrize(
    "name",
    [
        "state_diff_example",
        pytest.param("handoff_example", marks=not_built("handoff")),
        pytest.param("context_decay_example", marks=not_built("memory")),
        pytest.param("plan_lint_example", marks=not_built("plans")),
    ],
)
def test_examples(name: str, capsys: pytest.CaptureFixture[str]):
    """Each example that the specification names runs and shows something."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")

    assert capsys.readouterr().out
