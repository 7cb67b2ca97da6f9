"""The figures that benchmarks print in the end: what was measured, and what it should be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

FIGURES: list[tuple[str, str, str, bool]] = []


def figure(name: str, value: float, target: float, unit: str, *, at_least: bool) -> None:
    """Keep a line of the final table."""
    reached = value >= target if at_least else value <= target
    sign = "≥" if at_least else "≤"
    FIGURES.append((name, f"{value:,.4g} {unit}", f"{sign} {target:g} {unit}", reached))


@pytest.fixture(scope="module", autouse=True)
def final_table() -> Iterator[None]:
    """Print a module's figures when all are there; a module has it by importing it."""
    FIGURES.clear()
    yield
    width = max((len(name) for name, *_ in FIGURES), default=0)
    print("\n\nFigure".ljust(width + 2), "measured".rjust(16), "target".rjust(14))
    for name, measured, target, reached in FIGURES:
        print(
            name.ljust(width), measured.rjust(16), target.rjust(14), "" if reached else "  MISSED"
        )
