"""What a rule is: the shape of one vendor's token, with an example and a counter-example."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MARK = "¦"
"""Stands inside examples so that no scanner of source code takes them for live keys."""


@dataclass(frozen=True, slots=True)
class Rule:
    """
    The shape of one kind of token: a literal prefix and a bounded body.

    Every quantifier of a body is bounded and no two neighbours share characters without end, so a
    match takes a bounded number of steps wherever it starts.
    """

    name: str
    prefixes: tuple[str, ...]
    body: str
    good: str
    """A made token of that shape, perhaps with text around it; `MARK` is not part of it."""
    bad: str
    """The like of it that is no such token."""
    checksum: Callable[[str], bool] | None = None
    """Tells whether a token carries the checksum that its vendor documents."""

    def __post_init__(self) -> None:
        """Refuse a rule that could not be matched by its prefixes."""
        if not self.prefixes or not all(self.prefixes):
            message = f"Rule {self.name!r} needs prefixes, each at least one character."
            raise ValueError(message)
        re.compile(self.body)

    def example(self) -> str:
        """Give the example that is a token."""
        return self.good.replace(MARK, "")

    def counter_example(self) -> str:
        """Give the example that is no token."""
        return self.bad.replace(MARK, "")
