"""
Four agents answer a question about Python from its own manual: plan, research, write, review.

Everything is real and local: the text is the language reference that every Python carries
(`pydoc_data.topics`), the tools search and read it, and the "model" is a small sentence ranker, so
the program needs no network and no key. It also has a fault, of a kind that is hard to see from
outside: see if you can find it with `argentum log`.

    argentum run examples/research_team.py "How does a with statement handle an exception?"

`--pass-on 4` is the fix. It can be tried from the step before the fault, without the research:

    argentum fork @-5 -- examples/research_team.py --pass-on 4
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass, field
from pydoc_data.topics import topics
from typing import Any

import argentum

QUESTION = "How does a with statement handle an exception that is raised in its block?"
STOP_WORDS = frozenset(
    "a an and does how in is it its of on or that the this to what when".split(),  # noqa: SIM905
)
NOTES_FOR_WRITER = 3
"""How many facts the researcher passes on. The fault: what it must cover is not looked at."""


def words(text: str) -> list[str]:
    """Split a text into lower-case words that carry meaning, without plural endings."""
    found = re.findall(r"[a-z_]{3,}", text.lower())
    return [word.removesuffix("s") for word in found if word not in STOP_WORDS]


def sentences(text: str) -> list[str]:
    """Split prose into sentences; lines of code are left out."""
    prose = [
        part for part in text.split("\n\n") if not re.search(r"^ {4,}|::|\*\*\*|===|---", part)
    ]
    pieces = re.split(r"(?<=[.!?])\s+", " ".join(" ".join(prose).split()))
    return [piece for piece in pieces if 40 < len(piece) < 400]  # noqa: PLR2004 - a sentence


def rank(candidates: list[str], wanted: list[str]) -> list[tuple[float, str]]:
    """Score sentences by the share of the wanted words that they have: the "model"."""
    scored = []
    for sentence in dict.fromkeys(candidates):
        have = set(words(sentence))
        scored.append((round(sum(word in have for word in wanted) / len(wanted), 2), sentence))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1]))


@dataclass
class Fact:
    """Something that the researcher found."""

    claim: str
    topic: str
    answers: str
    """The sub-question that it is for."""
    score: float


@dataclass
class Team:
    """The four agents, each with its session in one run."""

    run: argentum.Run
    pass_on: int = NOTES_FOR_WRITER
    facts: list[Fact] = field(default_factory=list)

    def plan(self, question: str) -> dict[str, list[str]]:
        """Break the question into what has to be found out."""
        me = self.run.session("planner")
        me.snapshot("asked", {"question": question, "sub_questions": []})
        subject = words(question)
        sub_questions = {
            "what is entered and left": [*subject, "context", "manager", "enter", "exit"],
            "what happens on an exception": [*subject, "exit", "traceback", "argument"],
            "when is the exception suppressed": [
                "exception",
                "exit",
                "suppressed",
                "true",
                "return",
            ],
            "what if there is no exception": ["without", "exit", "none", "argument", "return"],
        }
        me.snapshot("planned", {"question": question, "sub_questions": list(sub_questions)})
        me.handoff("researcher", {"sub_questions": list(sub_questions)})
        return sub_questions

    def research(self, sub_questions: dict[str, list[str]]) -> list[Fact]:
        """Search and read the manual for each sub-question."""
        me = self.run.session("researcher")

        @me.tool
        def search_manual(query: list[str], limit: int = 4) -> list[str]:
            """Find the topics that have most of the words."""
            scores = {name: sum(text.lower().count(w) for w in query) / (len(text) ** 0.5)
                      for name, text in topics.items()}  # fmt: skip
            return sorted(scores, key=lambda name: -scores[name])[:limit]

        @me.tool
        def read_topic(name: str) -> str:
            """Give a topic's text."""
            return topics[name]

        state: dict[str, Any] = {"facts": [], "open": list(sub_questions), "confidence": 0.0}
        state = me.restore() or state  # what was found before, if this run is a fork
        self.facts = state["facts"]
        me.snapshot("start", state)
        for sub_question in state["open"]:
            wanted = sub_questions[sub_question]
            names = search_manual(wanted)
            candidates = [(s, name) for name in names for s in sentences(read_topic(name))]
            with me.model_call(
                "sentence-ranker", [{"role": "user", "content": sub_question}]
            ) as call:
                score, claim = rank([sentence for sentence, _ in candidates], wanted)[0]
                call.output({"role": "assistant", "content": claim, "score": score})
                call.usage(
                    input_tokens=sum(len(s) for s, _ in candidates) // 4,
                    output_tokens=len(claim) // 4,
                )
            topic = next(name for sentence, name in candidates if sentence == claim)
            self.facts.append(Fact(claim, topic, sub_question, score))
            state = {
                "facts": self.facts,
                "open": [other for other in state["open"] if other != sub_question],
                "confidence": round(len(self.facts) / len(sub_questions), 2),
            }
            me.snapshot(sub_question, state)
        passed_on = sorted(self.facts, key=lambda fact: -fact.score)[: self.pass_on]
        me.handoff("writer", {"facts": passed_on, "summary": f"{len(self.facts)} facts found"})
        return passed_on

    def write(self, question: str, facts: list[Fact]) -> str:
        """Put the facts together."""
        me = self.run.session("writer")
        me.snapshot("received", {"question": question, "facts": facts, "draft": ""})
        draft = " ".join(fact.claim for fact in facts)
        me.snapshot("drafted", {"question": question, "facts": facts, "draft": draft})
        me.handoff("reviewer", {"draft": draft})
        return draft

    def review(self, sub_questions: dict[str, list[str]], draft: str) -> dict[str, object]:
        """Check that the draft answers every sub-question."""
        me = self.run.session("reviewer")
        verdict: dict[str, object] = {"answered": [], "missing": [], "confidence": 1.0}
        me.snapshot("received", verdict)
        by_question = {fact.answers: fact.claim for fact in self.facts}
        answered = [name for name in sub_questions if by_question[name] in draft]
        missing = [name for name in sub_questions if name not in answered]
        share = len(answered) / len(sub_questions)
        verdict = {"answered": answered, "missing": missing, "confidence": round(share**3, 2)}
        me.snapshot("reviewed", verdict)
        if missing:
            me.note(f"Draft rejected: nothing in it answers {missing[0]!r}.", missing=missing)
        return verdict


def main() -> int:
    """Answer the question; exit with 1 if the reviewer rejects the answer."""
    parser = argparse.ArgumentParser(description="Answer a question about Python from its manual.")
    parser.add_argument("question", nargs="*")
    parser.add_argument("--pass-on", type=int, default=NOTES_FOR_WRITER, help="facts, at most")
    arguments = parser.parse_args()
    question = " ".join(arguments.question) or QUESTION
    lead = argentum.create_agent_session("lead")
    team = Team(lead.run, arguments.pass_on)
    sub_questions = team.plan(question)
    facts = team.research(sub_questions)
    draft = team.write(question, facts)
    verdict = team.review(sub_questions, draft)
    print(draft)
    print(f"\nconfidence {verdict['confidence']}, missing: {verdict['missing'] or 'nothing'}")
    return 1 if verdict["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
