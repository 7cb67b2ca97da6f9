"""Blame names the right origin in generated runs, whose truths are checked on their own first."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.state.generated_mutations import KINDS
from tests.state.generated_runs import asked, generate, table, tallied
from tests.state.generated_truths import first_shown, flaws, sees

from argentum.state.blame import blame

QUICK, MANY = range(60), range(1200)


@pytest.mark.parametrize("seeds", [QUICK, pytest.param(MANY, marks=pytest.mark.soak)])
def test_every_truth_of_the_generated_runs_holds_by_itself(seeds):
    """A reader that only looks for spellings finds each value at its origin and nowhere before."""
    found = [
        (seed, question.kind, question.path, flaw)
        for seed in seeds
        for run in [generate(seed)]
        for question in run.questions
        for flaw in flaws(run, question)
    ]

    assert [] == found


def test_every_kind_is_asked_about_as_often():
    """No kind of story is rare among the questions."""
    asked_about = Counter(q.kind for seed in range(300) for q in generate(seed).questions)

    assert set(KINDS) == set(asked_about)
    assert min(asked_about.values()) > 0.6 * max(asked_about.values())


def test_a_seed_makes_the_same_run_again():
    """A wrong answer can be looked at again by its seed."""
    first, second = generate(7), generate(7)

    assert first.questions == second.questions
    assert [(e.kind, e.name, e.agent) for e in first.events] == [
        (e.kind, e.name, e.agent) for e in second.events
    ]


# --------------------------------------------------------------------- blame knows them


@pytest.mark.parametrize("seeds", [QUICK, pytest.param(MANY, marks=pytest.mark.soak)])
def test_blame_names_the_right_origins_and_is_sure_of_no_wrong_one(seeds):
    """98 % of origins are right, at most 0.5 % wrong and sure, every mutation is found."""
    answers = [answer for seed in seeds for answer in asked(generate(seed))]
    total = tallied(answers)

    assert total.recorded_right >= 0.98 * total.recorded, table(answers)
    assert total.right >= 0.98 * total.asked, table(answers)
    assert total.sure_wrong <= 0.005 * total.asked, table(answers)
    assert total.mutations_found == total.mutations, table(answers)


def test_blame_names_the_first_snapshot_that_shows_the_present_value():
    """What a list's item is under its index changes as others go; everything else stays put."""
    for seed in QUICK:
        run = generate(seed)
        for answer in asked(run):
            if answer.question.kind != "list_item":
                assert first_shown(run, answer.question) == answer.shown, answer


def test_blame_names_a_writer_that_the_agent_knew_of_in_time():
    """A writer comes with the verdict that there is one, before the snapshot, where it was seen."""
    for seed in QUICK:
        run = generate(seed)
        for answer in asked(run):
            writer = answer.writer
            assert (writer is not None) == (answer.verdict == "recorded"), answer
            if writer is not None:
                assert writer.seq < answer.shown, answer
                assert sees(answer.question.agent, writer), answer


def test_what_comes_later_changes_no_answer():
    """Asked as of the snapshot that shows the value first, blame says the same as at the end."""
    for seed in QUICK[:20]:
        run = generate(seed)
        for answer in asked(run):
            if answer.question.kind != "list_item":
                asked_about = answer.question
                then = blame(run.events, asked_about.path, at=answer.shown, agent=asked_about.agent)
                assert (answer.verdict, answer.origin) == (then.verdict, then.origin), answer
