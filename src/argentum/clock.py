"""The only clock and the only randomness of the package, so that tests can replace both."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime


def now_ns() -> int:
    """Tell the time in nanoseconds since 1970, UTC."""
    return time.time_ns()


def elapsed_ns() -> int:
    """Tell nanoseconds on a clock that never goes back; only differences mean anything."""
    return time.perf_counter_ns()


def random_hex(digits: int) -> str:
    """Give that many random hexadecimal digits from the operating system."""
    return os.urandom((digits + 1) // 2).hex()[:digits]


def as_datetime(at_ns: int) -> datetime:
    """Turn nanoseconds since 1970 into an aware UTC datetime (microsecond precision)."""
    seconds, rest_ns = divmod(at_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest_ns // 1000)
