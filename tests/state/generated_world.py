"""Agents that record what they do, and the values that they come across."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
from pydoc_data.topics import topics
from typing import Any

from argentum import Run

words = str.split
FIRST = words(
    "Marta Jonas Aiko Pedro Ingrid Samir Chloe Viktor Amara Luca Freya Mateo Nadia Oskar "
    "Priya Tomas Yara Bruno Elif Hugo Leila Milan Noemi Rafael Sofia Timo Ursula Wanda Xenia "
    "Zoltan Anouk Boris Celine Dario Esme Farid Greta Henrik Imani Jorge"
)
LAST = words(
    "Kovacs Lindgren Tanaka Moreira Haugen Nasser Dubois Petrov Okafor Bianchi Larsen Herrera "
    "Rahman Nilsson Sharma Novak Haddad Ferraz Yilmaz Laurent Karimi Horvat Keller Ortega "
    "Rossi Virtanen Brandt Nowak Papadakis Szabo Visser Ivanov Moreau Conti Baxter Aziz "
    "Winkler Dahl Mwangi Castillo"
)
CITIES = words(
    "Oslo Bergen Lisbon Porto Vienna Graz Krakow Gdansk Utrecht Leuven Bordeaux Marseille "
    "Turin Bologna Seville Granada Zagreb Ljubljana Tallinn Riga Vilnius Helsinki Tampere "
    "Malmo Aarhus Basel Geneva Munich Leipzig Dresden Prague Brno Budapest Szeged Athens "
    "Patras Dublin Galway Leeds Cardiff"
)
PROSE = sorted(
    found
    for found in {
        part.strip() + "."
        for part in re.split(r"\.\s+", " ".join(" ".join(topics.values()).split()))
    }
    if re.fullmatch(r"[A-Z][A-Za-z ,'()-]{45,130}\.", found)
)
PROSE = [text for text in PROSE if sum(other[:30] == text[:30] for other in PROSE) == 1]
STATUSES = (
    "pending",
    "confirmed",
    "shipped",
    "rejected",
    "on hold",
    True,
    False,
    0,
    1,
    "ok",
    "done",
)
PLACES = ("", "trip.", "order.", "report.", "customer.", "order.details.", "trip.plan.")
SAYINGS = (
    "Done. The {key} is {value}, as far as I can see.",
    "I looked it up for you: {key} {value}. Shall I go on?",
    "The desk answered quickly. For the {key} they gave me {value}; everything else stays.",
    "Summary so far: we have an open question about the dates, and {key}: {value}.",
    "**{key}**: {value}\n- checked twice\n- no other remarks",
    "{value} is what the site shows as {key} right now. Take it or leave it!",
    "All set (see below).\n\n| item | value |\n|---|---|\n| {key} | {value} |\n| seats | ok |",
    "I asked twice; first they would not say, then they came back with {value} ({key}).",
    "<answer><{key}>{value}</{key}><done>true</done></answer>",
    "Could you confirm that {value} is fine? Otherwise the {key} stays open.",
)


@dataclass(frozen=True)
class Booking:
    """What a booking tool gives, and a state keeps as it is."""

    booking_id: str
    guest: str
    city: str
    price: float
    paid: bool = True


@dataclass(frozen=True)
class Question:
    """Where does the value at `path` in the last state of `agent` come from?"""

    agent: str
    path: str
    value: Any
    verdict: str
    origins: frozenset[int] = frozenset()
    """The events that are right, a span by the `seq` of its opening event."""
    is_distinctive: bool = True
    """Whether the value says by itself which events belong to it (`"done"` does not)."""
    kind: str = ""


# --------------------------------------------------------------------- values, each only once a run


class Fresh:
    """Draws values that no other story of the run has, numbers apart by more than rounding."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: set[int] = set(range(1999, 2031))
        self._decks = {
            "name": list(map("{} {}".format, _mixed(rng, FIRST), _mixed(rng, LAST))),
            "city": _mixed(rng, CITIES),
            "prose": _mixed(rng, PROSE),
            "date": [_day(number) for number in _mixed(rng, range(380))],
        }  # fmt: skip
        self.filler = [self.draw("prose") for _ in range(200)]

    def draw(self, deck: str) -> Any:
        return self._decks[deck].pop()

    def number(self) -> int:
        while True:
            made = self.rng.randrange(1031, 9899)
            if self.reserve(made):
                return made

    def reserve(self, number: float) -> bool:
        is_new = int(number) not in self.used
        self.used.add(int(number))
        return is_new

    def money(self) -> float:
        return self.number() + self.rng.randrange(1, 99) / 100

    def ratio(self) -> float:
        return self.number() / 10_000

    def code(self) -> str:
        kind, letter = self.rng.choice(("BK", "ord", "INV", "T")), self.rng.choice("ABCDEF")
        return f"{kind}-{self.number()}{letter}"

    def any(self) -> tuple[str, Any]:
        """Give a key and a value that a reader would recognise anywhere."""
        return self.rng.choice((
            lambda: (self.rng.choice(("price", "total", "fare", "deposit")), self.money()),
            lambda: (self.rng.choice(("guest", "name", "contact")), self.draw("name")),
            lambda: (self.rng.choice(("city", "destination")), self.draw("city")),
            lambda: (self.rng.choice(("date", "departure")), self.draw("date").isoformat()),
            lambda: (self.rng.choice(("booking_id", "reference")), self.code()),
            lambda: (self.rng.choice(("distance", "amount")), self.number()),
            lambda: (self.rng.choice(("remark", "fact")), self.draw("prose")),
        ))()  # fmt: skip

    def like(self, value: Any) -> Any:
        """Give another value of the kind."""
        if isinstance(value, float):
            return self.money()
        if isinstance(value, int):
            return self.number()
        if value in CITIES:
            return self.draw("city")
        if re.fullmatch(r"[\d-]+", value):
            return self.draw("date").isoformat()
        if value.endswith("."):
            return self.draw("prose")
        return self.draw("name") if value.count(" ") == 1 else self.code()

    def near(self, value: Any) -> Any:
        """Give another value that looks like it, and that nobody could make it of."""
        if isinstance(value, float):
            coarser = round(value, 1) if round(value, 1) != value else round(value)
            return self.rng.choice((int(value) * 10 + 3, round(value), coarser, value + 0.01))
        if isinstance(value, int):
            return self.rng.choice((value * 10 + 3, value + 1, value // 10, -value))
        if value.endswith("."):
            return self.rng.choice((value.replace(" ", " not ", 1), value[: len(value) // 2]))
        if re.fullmatch(r"[\d-]+", value):
            return self.rng.choice((value[:7], f"{int(value[:4]) + 5}{value[4:]}"))
        if " " in value:
            first, last = value.split()
            return self.rng.choice((first, last, f"{value}son"))
        return value + ("7" if "-" in value else "son")


def _day(number: int) -> date:
    """Give a day that no month has as its number, so that every spelling has one meaning."""
    return date(2026 + number // 192, number // 16 % 12 + 1, number % 16 + 13)


def _mixed(rng: random.Random, values: Sequence[Any]) -> list[Any]:
    return rng.sample(list(values), len(values))


def shown(value: Any, rng: random.Random) -> str:
    """Spell a value as people and models do in a sentence."""
    if isinstance(value, float) and value > 100:
        return rng.choice((f"{value:,.2f} EUR", f"${value:,.2f}", f"{value:.2f}", f"{value}"))
    if isinstance(value, int) and not isinstance(value, bool):
        return rng.choice((f"{value:,}", f"{value}"))
    return f'"{value}"' if len(str(value)) > 40 else str(value)


LONG, SHORT = "%d %B %Y", "%b %d, %Y"
MORNING = time(9, 30, tzinfo=UTC)
REFORMATS: tuple[Callable[[Fresh], tuple[str, Any, Any]], ...] = (
    lambda f: ("price", v := f.number(), f"{v:,}.00 EUR"),
    lambda f: ("price", v := f.money(), f"${v:,.2f}"),
    lambda f: ("price", v := f.money(), f"{v:,.2f} €".translate(str.maketrans(",.", ".,"))),
    lambda f: ("price", f"EUR {(v := f.money()):,.2f}", v),
    lambda f: ("price", f"{(v := f.number()):,}.00", v),
    lambda f: ("amount", str(v := f.number()), v),
    lambda f: ("amount", v := f.number(), str(v)),
    lambda f: ("total", v := f.money(), Decimal(f"{v:.2f}")),
    lambda f: ("total", (v := f.money()) + 0.0012, round(v, 2)),
    lambda f: ("total", (v := f.money()) - 0.0034, f"{v:.2f}"),
    lambda f: ("share", v := f.ratio(), f"{v * 100:.2f}%"),
    lambda f: ("share", f"{(v := f.ratio()) * 100:.2f} %", v),
    lambda f: ("share", round((v := f.ratio()) * 100, 2), v),
    lambda f: ("departure", (v := f.draw("date")).isoformat(), v.strftime(LONG)),
    lambda f: ("departure", (v := f.draw("date")).isoformat(), v.strftime(SHORT)),
    lambda f: ("departure", (v := f.draw("date")).strftime(LONG), v.isoformat()),
    lambda f: ("departure", (v := f.draw("date")).strftime("%m/%d/%Y"), v.isoformat()),
    lambda f: ("departure", (v := f.draw("date")).isoformat(), v),
    lambda f: ("departure", f"{(v := f.draw('date'))}T09:30:00Z", v.isoformat()),
    lambda f: ("departs_at", f"{(v := f.draw('date'))}T09:30:00Z", datetime.combine(v, MORNING)),
    lambda f: ("guest", v := f.draw("name"), v.upper()),
    lambda f: ("guest", f"  {(v := f.draw('name')).lower().replace(' ', '  ')} ", v),
    lambda f: ("reference", v := f.code(), f" {v.lower()}"),
    lambda f: ("remark", (v := f.draw("prose")).replace(" ", "\n", 3), v),
)  # fmt: skip


# --------------------------------------------------------------------- agents that record


class Actor:
    """An agent: what it does is recorded, and what it saw goes into its next prompt."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.rng = world, world.rng
        self.name = name
        self.session = world.run.session(name)
        self.state: dict[str, Any] = {"step": 0, "status": "ok", "ready": True, "errors": 0}
        self.messages = [{"role": "system", "content": f"You are {name}. Be brief."}]
        self.first_seq = 0
        """The `seq` of its first snapshot."""
        self._taken: set[str] = set()

    def slot(self, key: str) -> str:
        """Claim a place in the state; it may hold something else at first, or not exist."""
        path = self.rng.choice(PLACES) + key
        while path in self._taken:
            path += "_2"
        self._taken.add(path)
        if self.rng.random() < 0.5 and not self.first_seq:
            self.put(path, self.rng.choice((None, "", "unknown", 0, self.world.fresh.number())))
        return path

    def put(self, path: str, value: Any) -> None:
        *outer, last = path.split(".")
        place = self.state
        for step in outer:
            place = place.setdefault(step, {})
        place[last] = value

    def snapshot(self) -> None:
        self.state["step"] += 1
        self.session.snapshot(f"step {self.state['step']}", self.state)
        self.first_seq = self.first_seq or self.world.size()

    def start(self) -> None:
        if not self.first_seq:
            self.snapshot()

    def hear(self, role: str, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(_plain(content), default=str)
        self.messages.append({"role": role, "content": text})

    def tool(self, output: Any, arguments: Any = None, name: str = "") -> int:
        tool = name or self.rng.choice(("search", "get_details", "lookup", "fetch_quote"))
        asked = arguments or {"query": self.rng.choice(self.world.fresh.filler), "limit": 10}
        with self.session.tool_call(tool, asked) as call:
            call.output(output)
        self.hear("tool", output)
        return call.seq or 0

    def model(self, output: Any) -> int:
        """Record a model's answer; a text comes in one of the forms that interfaces have."""
        detail, messages = self.world.detail, None
        if detail == "full":
            messages = list(self.messages)
        elif detail == "cut":
            messages = [{**m, "content": m["content"][:40] + "…"} for m in self.messages[-2:]]
        with self.session.model_call("model-x", messages, temperature=0) as call:
            call.output(self._as_message(output) if isinstance(output, str) else output)
            call.usage(input_tokens=self.world.fresh.number(), output_tokens=1)
        self.hear("assistant", output)
        return call.seq or 0

    def _as_message(self, text: str) -> Any:
        parts = [{"type": "text", "text": text}]
        message = {"role": "assistant", "content": text}
        return self.rng.choice((text, message, {"role": "assistant", "content": parts}))

    def say(self, key: str, value: Any) -> int:
        """Record a model's answer that tells a value in a sentence."""
        return self.model(self.world.sentence(key, value))

    def hand(self, to: Actor, context: Any) -> int:
        to.hear("user", context)
        return self.session.handoff(to.name, context) or 0


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


class World:
    """One run with its agents, and the chance that makes it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.fresh = Fresh(self.rng)
        self.detail = ("full", "full", self.rng.choice(("none", "cut")))[seed % 3]
        """How much of the models' input is recorded."""
        self.run = Run(f"generated {seed}")
        names = ("planner", "researcher", "booker", "writer", "reviewer")
        self.actors = [Actor(self, name) for name in names[: self.rng.randint(2, 5)]]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def size(self) -> int:
        return sum(1 for _ in self.run.events())

    def anyone(self) -> Actor:
        return self.rng.choice(self.actors)

    def sentence(self, key: str, value: Any) -> str:
        text = self.rng.choice(SAYINGS)
        return text.format(key=key.replace("_", " "), value=shown(value, self.rng))

    def result(self, key: str, value: Any) -> Any:
        """Give a tool's result that holds a value among what results hold besides."""
        row = {"status": "ok", "cached": True, key: value, "count": 1, "error": None}
        other = {"status": "done", "cached": False, key: self.fresh.number(), "count": 0}
        forms = (
            row, {"data": row, "ok": True}, {"results": [other, row]}, [other, row],
            json.dumps(row, default=str), f"status;{key};count\nok;{value};1\n",
            f"OK\n{key}: {value}\ncount: 1", {"text": self.sentence(key, value), "ok": True},
        )  # fmt: skip
        # What is everywhere is told by the key that it is under, and no sentence has keys.
        return self.rng.choice(forms[:-1] if value in STATUSES else forms)

    def source(self, actor: Actor, key: str, value: Any) -> int:
        """Let an agent get a value in one of the plain ways; give the event."""
        if self.chance(0.6):
            return actor.tool(self.result(key if self.chance(0.6) else "value", value))
        return actor.say(key, value)

    def elsewhere(self, value: Any, *but: Actor, share: float = 0.6) -> None:
        """Let another agent hold an equal value in private, which the story's agents never see."""
        others = [actor for actor in self.actors if actor not in but]
        if others and self.chance(share):
            other, friend = self.rng.choice(others), self.rng.choice(others)
            self.rng.choice((
                lambda: other.tool(self.result("value", value)),
                lambda: other.say("value", value),
                lambda: other.session.note("Kept aside.", value=value),
                lambda: (other.tool if friend is other else partial(other.hand, friend))([value]),
                lambda: other.put(other.slot("aside"), value) or other.snapshot(),
            ))()  # fmt: skip

    def later(self, actor: Actor, value: Any) -> None:
        """Let the same agent meet an equal value when the state already has it."""
        if self.chance(0.6):
            self.rng.choice((
                lambda: actor.tool(self.result("value", value)),
                lambda: actor.tool({"ok": True}, {"value": value}, name="save"),
                lambda: actor.model({"role": "assistant", "content": f"Noted: {value}"}),
                lambda: actor.session.note("Seen again.", value=value),
            ))()  # fmt: skip

    def bustle(self) -> None:
        """Let someone do something that concerns no story, full of values that are everywhere."""
        actor, friend = self.rng.sample(self.actors, 2)
        text = self.rng.choice(self.fresh.filler)
        common = {"ok": True, "count": self.rng.choice((0, 1)), "status": self.rng.choice(STATUSES)}
        self.rng.choice((
            lambda: actor.tool({**common, "items": [text], "took": self.fresh.number()}),
            lambda: actor.tool(self.rng.choice((True, 0, 1, "ok", "done", [], None)), common),
            lambda: actor.model(text),
            lambda: actor.model(f"ok, done: {text}"),
            lambda: actor.session.note("Still at it.", **common),
            lambda: actor.hand(friend, {"task": text, **common}),
            lambda: self.relax(actor, common),
        ))()  # fmt: skip

    def relax(self, actor: Actor, common: dict[str, Any]) -> None:
        actor.state.update(status=common["status"], errors=common["count"])
        actor.snapshot()
