"""What separates failed runs from passed ones."""

from __future__ import annotations

import pytest
from tests.state.acting import Step, model, note, run_of, state, tool

from argentum import InputError
from argentum.state.separating import Separation, separate


def trip(*cities: str, weather: str = "sunny") -> list[Step]:
    """Look up the weather and book."""
    booked: list[str] = []
    steps = [note("Where to?"), state("start", {"booked": []}), model(None, "Hm.")]
    steps.append(tool("look_up", {}, weather))
    for city in cities:
        booked = [*booked, city]
        steps += [tool("book", {"city": city}), state(city, {"booked": booked})]
    return steps


def separated(failed: list[list[Step]], passed: list[list[Step]], **options) -> Separation:
    """Name the runs and separate them."""
    groups = (
        {f"{name}{at}": run_of(steps) for at, steps in enumerate(group)}
        for name, group in (("f", failed), ("p", passed))
    )
    return separate(*groups, **options)


def told(found: Separation) -> list[tuple[str, str, int, int]]:
    """Give what separates, in brief."""
    return [
        (one.what, one.act.name if one.act else one.place, len(one.failed), len(one.passed))
        for one in (*found.acts, *found.values)
    ]


def test_the_step_and_the_value_that_separate():
    """What all failed runs did and had, and no passed one, comes first; then the reverse."""
    found = separated([trip("Oslo"), trip("Oslo", "Rome")], [trip("Rome"), trip("Rome")])

    assert [
        ("call", "book", 2, 0),
        ("call", "book", 1, 2),
        ("value", "booked[]", 2, 0),
        ("value", "booked[]", 1, 2),
    ] == told(found)
    assert [1.0, -0.5] == [one.score for one in found.acts]
    assert ("f0", "f1") == found.acts[0].failed
    assert {"city": "Oslo"} == found.acts[0].act.opening.body.get("arguments")
    assert ["Oslo", "Oslo"] == [one.first_wrong.after.label for one in found.verdicts.values()]
    assert {} == found.alarms


def test_any_call_and_any_change():
    """If each failed run did it otherwise, that they did it at all is what separates."""
    found = separated([trip("Oslo"), trip("Bonn"), trip("Lyon")], [trip(), trip()])

    assert [("tool", "book", 3, 0), ("place", "booked[]", 3, 0)] == told(found)


def test_another_outcome():
    """If the same call came out otherwise, the step with its outcome separates."""
    found = separated([trip(weather="wet")], [trip()])

    assert [("whole", "look_up", 1, 0), ("whole", "look_up", 0, 1)] == told(found)


def test_what_passed_runs_did():
    """A failed run that did nothing wrong is told what it did not do."""
    found = separated([trip()], [trip("Rome"), trip("Rome", weather="wet")])

    assert ("call", "book", 0, 2) in told(found)
    assert None is found.verdicts["f0"].first_wrong
    assert ["Rome"] == [one.after.label for one in found.verdicts["f0"].missing]


def test_passed_runs_that_disagree():
    """If passed runs call each other wrong, that is said: the verdicts are not to be trusted."""
    found = separated([trip("Oslo")], [trip("Rome"), trip("Bonn")])

    assert ["p0", "p1"] == list(found.alarms)
    assert "Rome" == found.alarms["p0"].first_wrong.after.label


def test_ignored_fields():
    """A field that is named separates nothing."""
    failed, passed = ([[state("s", {"at": 0}), state("t", {"at": at})]] for at in (1, 2))

    assert "t" == separated(failed, passed).verdicts["f0"].first_wrong.after.label
    assert None is separated(failed, passed, ignore=["at"]).verdicts["f0"].first_wrong


def test_runs_without_anything():
    """Empty runs differ in nothing."""
    found = separated([[]], [[], []])

    assert ([], None) == (told(found), found.verdicts["f0"].first_wrong)


@pytest.mark.parametrize(
    "failed,passed,message",
    [
        ({}, {"a": []}, "There is no failed run to compare; give at least one of each."),
        ({"a": []}, {}, "There is no passed run to compare; give at least one of each."),
        ({"a": []}, {"a": []}, "Run 'a' is among the failed and among the passed"),
    ],
)
def test_groups_that_cannot_be_compared(failed, passed, message):
    """Both groups need runs, and no run is in both."""
    with pytest.raises(InputError, match=message):
        separate(failed, passed)
