"""`argentum watch`: where recorded runs break a condition."""

from __future__ import annotations

import json

import pytest

from argentum import Run


@pytest.fixture
def second(trip, store):
    """Record another run, in which the confidence is kept."""
    with Run("calm", store=store, run_id="20270116-080000-bbbb") as run:
        session = run.session("planner")
        for number in range(3):
            session.snapshot(f"step {number}", {"confidence": 0.9, "goals": ["x"] * number})
    return run.run_id


def test_a_broken_run(trip, command):
    """The first break is shown with what was read before and after; the exit code is 1."""
    done = command("watch", "--where", "confidence >= previous.confidence - 0.2")

    assert [
        "20270115-080000-aaaa  trip.py  broken once in 1 of 3 snapshots (2 have no previous)",
        "  first at @9 'end' of planner",
        "    confidence  0.9 → 0.2",
        "  planner has no earlier state that could be checked",
        "  see: argentum diff 20270115-080000-aaaa@4 20270115-080000-aaaa@9",
    ] == done.lines
    assert 1 == done.code


def test_a_kept_run(trip, command):
    """A run that keeps it is one line; the exit code is 0."""
    done = command("watch", "trip.py", "--agent", "planner", "--where", "size(goals) >= 1")

    assert (0, ["20270115-080000-aaaa  trip.py  kept on 2 snapshots"]) == (done.code, done.lines)


def test_all_runs(second, command):
    """Of all runs those that break it are counted."""
    done = command("watch", "--all-runs", "--agent", "planner", "--where", "confidence > 0.5")

    assert [
        "20270116-080000-bbbb  calm  kept on 3 snapshots",
        "20270115-080000-aaaa  trip.py  broken once in 2 snapshots",
        "  first at @9 'end' of planner",
        "    confidence  0.9 → 0.2",
        "  last kept at @4 'start' of planner",
        "  see: argentum diff 20270115-080000-aaaa@4 20270115-080000-aaaa@9",
        "1 of 2 runs break it.",
    ] == done.lines
    assert 1 == done.code


def test_later_breaks_are_listed(second, command):
    """Breaks after the first are named."""
    done = command("watch", second, "--where", "size(goals) <= size(previous.goals)")

    assert [
        "20270116-080000-bbbb  calm  broken 2 times in 2 of 3 snapshots (1 has no previous)",
        "  first at @4 'step 1' of planner",
        "    size(goals)  0 → 1",
        "    size(previous.goals)  0",
        "  planner has no earlier state that could be checked",
        "  see: argentum diff 20270116-080000-bbbb@3 20270116-080000-bbbb@4",
        "  later at @5",
    ] == done.lines


def test_a_path(trip, command):
    """With a path the names are those of the value there; what is missing is told."""
    done = command("watch", "--path", "budget", "--where", "usd > 100")

    assert [
        "20270115-080000-aaaa  trip.py  broken once in 1 of 3 snapshots",
        "  first at @4 'start' of planner",
        "    usd  100",
        "  planner has no earlier state at all",
        "  not checked on 1, at @9 'end' of planner",
        "    No key in budget 'usd'.",
        "  not checked on 1, at @15 'start' of writer",
        "    No key in the state 'budget'. Known: 'text'.",
    ] == done.lines


def test_what_cannot_be_checked(trip, command):
    """A slip in a name is no clean run: the near name is shown, and the exit code is 3."""
    done = command("watch", "--agent", "planner", "--where", "confidnce > 0")

    assert [
        "20270115-080000-aaaa  trip.py  could not be checked on 2 snapshots",
        "  not checked on 2, first at @4 'start' of planner",
        "    No key in the state 'confidnce'. Did you mean 'confidence'?",
    ] == done.lines
    assert 3 == done.code


def test_json(trip, command):
    """As JSON there are all breaks with their values."""
    done = command(
        "watch", "--json", "--agent", "planner", "--where", "confidence >= previous.confidence"
    )

    assert [
        {
            "run_id": trip,
            "name": "trip.py",
            "where": "confidence >= previous.confidence",
            "status": "broken",
            "snapshots": 2,
            "checked": 1,
            "breaks": [
                {
                    "seq": 9, "label": "end", "agent": "planner",
                    "values": {"confidence": 0.2, "previous.confidence": 0.9},
                    "before": {"seq": 4, "label": "start", "agent": "planner"},
                    "values_before": {"confidence": 0.9},
                    "last_kept": None,
                }
            ],
            "first_ones": 1,
            "not_checked": {"count": 0, "first": []},
        }
    ] == json.loads(done.out)  # fmt: skip
    assert 1 == done.code


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("--where", "confidence >"), "argentum: This is no condition. It ends too early."),
        (("x", "--where", "true"), "argentum: No run 'x'."),
        (("--where", "true", "--agent", "plannr"), "Did you mean 'planner'?"),
        (("x", "--all-runs", "--where", "true"), "argentum: Give runs (x) or --all-runs, not"),
    ],
)
def test_wrong_use(trip, command, arguments, error):
    """A slip is told with what would have worked."""
    done = command("watch", *arguments)

    assert (2, True) == (done.code, error in done.err)


def test_points_at_the_place(trip, command):
    """The place in a condition that cannot be read has a caret under it, on a line of its own."""
    assert ["  confidence = 1", "             ^"] == command(
        "watch", "--where", "confidence = 1"
    ).err.splitlines()[1:3]
