"""A connection whose every wait ends at one deadline, in the form that `http.client` uses."""

from __future__ import annotations

import io
import socket
from typing import Any

from argentum.clock import elapsed_ns

_NANOSECONDS = 1_000_000_000


class Deadline:
    """When all has to be over."""

    __slots__ = ("_end_ns",)

    def __init__(self, seconds: float) -> None:
        self._end_ns = elapsed_ns() + round(seconds * _NANOSECONDS)

    def left_s(self) -> float:
        """Give the seconds that are left."""
        left_ns = self._end_ns - elapsed_ns()
        if left_ns <= 0:
            message = "it took too long"
            raise TimeoutError(message)
        return left_ns / _NANOSECONDS


class Wire:
    """A connection as `http.client` uses one, where every wait ends at the deadline."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def sendall(self, data: Any) -> None:
        """Send; the time-out of a socket holds for all of it."""
        self._connection.settimeout(self._deadline.left_s())
        self._connection.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - `http.client` gives it
        """Give a buffered reader."""
        return io.BufferedReader(_Incoming(self._connection, self._deadline))

    def close(self) -> None:
        """Do nothing: who opened the connection closes it, once the answer is read."""


class _Incoming(io.RawIOBase):
    """What arrives on a connection until the deadline."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        super().__init__()
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is; a time-out of a socket holds for one read only, so it is renewed."""
        self._connection.settimeout(self._deadline.left_s())
        return self._connection.recv_into(buffer)
