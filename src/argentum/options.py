"""Every option that is not an argument: its environment variable, type, default and meaning."""

from __future__ import annotations

import os
from dataclasses import dataclass

from argentum.errors import InputError, shown


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the table."""

    variable: str
    default: str
    meaning: str


OPTIONS = (
    Option("ARGENTUM_STORE", "", "Where runs are kept: a file. With it, sessions record."),
    Option("ARGENTUM_FORK", "", "A revision: the program's agents start with their states there."),
    Option("ARGENTUM_DURABLE", "0", "1: wait for the disk at every event (synchronous=FULL)."),
    Option("ARGENTUM_STRICT", "", "1: the recorder's faults raise; 0: never. Unset: under pytest."),
)  # fmt: skip
_BY_NAME = {option.variable: option for option in OPTIONS}


def text(variable: str) -> str:
    """Give an option's value."""
    return os.environ.get(variable) or _BY_NAME[variable].default


def flag(variable: str) -> bool | None:
    """
    Give an option that is 0 or 1; None if it is unset and has no default.

    Raises:
        InputError: it is set to something else.
    """
    value = text(variable).strip().lower()
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    if value:
        message = f"{variable} is {shown(value)}; set it to 1 or 0."
        raise InputError(message)
    return None
