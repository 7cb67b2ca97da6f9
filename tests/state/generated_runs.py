"""
Generated runs of several agents, each with questions whose answers are true by construction.

A run is a handful of stories (see `generated_stories` and `generated_mutations`), told in turns by
agents that also do other things. `python -m tests.state.generated_runs --seeds 1000` asks `blame`
all of them and prints a table; `--show KIND` prints the shortest run that it is wrong about.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.state.generated_mutations import KINDS
from tests.state.generated_world import Question, World

from argentum.events import Event
from argentum.tree import freeze


@dataclass(frozen=True)
class GeneratedRun:
    """A recorded run and what is asked about it."""

    seed: int
    events: list[Event]
    questions: list[Question]


def generate(seed: int) -> GeneratedRun:
    """Record a run of 2 to 5 agents, with 3 to 8 stories told in turns among other events."""
    world = World(seed)
    names = world.rng.sample(list(KINDS), world.rng.randint(3, 8))
    stories = {name: KINDS[name](world) for name in names}
    questions: list[Question] = []
    for story in stories.values():
        next(story)
    for actor in world.actors:
        if world.chance(0.5):
            actor.start()
    size = world.rng.randint(20, 110)
    while stories or world.size() < size:
        if stories and world.chance(0.5):
            name = world.rng.choice(list(stories))
            try:
                next(stories[name])
            except StopIteration as end:
                del stories[name]
                questions.append(replace(end.value, kind=name))
        elif world.size() < size:
            world.bustle()
    first, *others = world.run.events()
    # What the program was called with is no part of what is made here.
    return GeneratedRun(seed, [replace(first, body=freeze({})), *others], questions)


# --------------------------------------------------------------------- asking


@dataclass(frozen=True)
class Answer:
    """What `blame` said to a question, and whether that is right."""

    run: GeneratedRun
    question: Question
    verdict: str
    origin: Event | None
    certainty: str
    writer: Event | None = None
    shown: int = 0
    """The `seq` of the first snapshot that shows the value."""
    note: str = ""

    @property
    def is_right(self) -> bool:
        """Whether verdict and origin are right; either event of a span names the call."""
        if self.verdict != self.question.verdict or self.verdict != "recorded":
            return self.verdict == self.question.verdict
        return named(self.origin) in self.question.origins

    @property
    def is_sure_and_wrong(self) -> bool:
        """Whether a wrong answer, of any sort, is claimed as sure."""
        return not self.is_right and self.certainty == "sure"


def named(event: Event | None) -> int | None:
    """Give the event's number, for a span that of its opening."""
    return None if event is None else event.span or event.seq


def asked(run: GeneratedRun) -> Iterator[Answer]:
    """Ask `blame` every question of a run."""
    from argentum.state.blame import blame

    for question in run.questions:
        try:
            found: Any = blame(run.events, question.path, agent=question.agent)
        except Exception as error:  # noqa: BLE001 - an exception is a wrong answer, and said to be
            yield Answer(run, question, "raised", None, "", note=repr(error))
        else:
            yield Answer(
                run, question, found.verdict, found.origin, found.certainty, found.writer,
                found.snapshot.seq,
            )  # fmt: skip


@dataclass
class Tally:
    """How many answers were how."""

    asked: int = 0
    right: int = 0
    sure_wrong: int = 0
    recorded: int = 0
    recorded_right: int = 0
    mutations: int = 0
    mutations_found: int = 0

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.asked += 1
        self.right += answer.is_right
        self.sure_wrong += answer.is_sure_and_wrong
        self.recorded += answer.question.verdict == "recorded"
        self.recorded_right += answer.question.verdict == "recorded" and answer.is_right
        self.mutations += answer.question.verdict == "unrecorded"
        self.mutations_found += answer.question.verdict == "unrecorded" and answer.is_right


def tallied(answers: Iterable[Answer]) -> Tally:
    """Count answers together."""
    total = Tally()
    for answer in answers:
        total.add(answer)
    return total


def table(answers: Sequence[Answer]) -> str:
    """Give the figures per kind as text, and in all."""
    per_kind: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        per_kind[answer.question.kind].append(answer)
    rows = [f"{'kind':<20}{'asked':>6}{'right':>6}{'%':>8}{'sure but wrong':>16}  said instead"]
    for name, some in [*((name, per_kind[name]) for name in KINDS), ("all", list(answers))]:
        found = tallied(some)
        said = Counter(f"{a.verdict}/{a.certainty}" for a in some if not a.is_right)
        share = found.right / max(found.asked, 1)
        rows.append(
            f"{name:<20}{found.asked:>6}{found.right:>6}{share:>8.1%}{found.sure_wrong:>16}  "
            + ", ".join(f"{what} {count}" for what, count in said.most_common(4))
        )
    total = tallied(answers)
    rows.append(
        f"right origin {total.recorded_right}/{total.recorded}, sure but wrong "
        f"{total.sure_wrong}/{total.asked}, mutations {total.mutations_found}/{total.mutations}"
    )
    return "\n".join(rows)


def story_of(answer: Answer, width: int = 160) -> str:
    """Show a question, its answer, and the events that its agent and the origins take part in."""
    question = answer.question
    rows = [
        f"seed {answer.run.seed}, {question.kind}: {question.agent} {question.path} = "
        f"{question.value!r}",
        f"  truth {question.verdict} {sorted(question.origins)}, said {answer.verdict} "
        f"{named(answer.origin)} {answer.certainty} {answer.note}",
    ]
    who = {question.agent, *(answer.run.events[seq - 1].agent for seq in question.origins)}
    for event in answer.run.events:
        if event.agent not in who and event.name not in who:
            continue
        body = event.body.thaw()
        what = _part(body, question) if event.kind == "snapshot" else body
        rows.append(
            f"{event.seq:>4} {event.agent or '':<11}{event.kind:<11}{event.phase:<6}"
            f"{repr(what)[:width]}"
        )
    return "\n".join(rows)


def _part(state: Any, question: Question) -> Any:
    top = question.path.partition(".")[0].partition("[")[0]
    return {top: state[top]} if isinstance(state, dict) and top in state else "(other keys)"


def main() -> None:
    """Ask about many runs and print what came out."""
    parser = argparse.ArgumentParser(description="Ask `blame` about generated runs.")
    parser.add_argument("--seeds", type=int, default=1000, help="how many runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--show", default="", help="print the shortest wrong answer of this kind")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    answers = [answer for seed in seeds for answer in asked(generate(seed))]
    print(table(answers))
    wrong = [a for a in answers if a.question.kind == given.show and not a.is_right]
    if wrong:
        print("\n" + story_of(min(wrong, key=lambda answer: len(answer.run.events))))


if __name__ == "__main__":
    main()
