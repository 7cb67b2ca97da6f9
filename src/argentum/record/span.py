"""Something that takes time: on disk when it opens, and again when it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from argentum import clock
from argentum.events import CLOSE, OPEN
from argentum.record.faults import describe
from argentum.record.run import _around

if TYPE_CHECKING:
    from argentum.record.run import Run


class Span:
    """
    A model call, tool call or other stretch of work, as a context manager (`with` or `async with`).

    What is recorded inside has it as parent. An exception that leaves the block is recorded and
    goes on.
    """

    __slots__ = (
        "_body",
        "_outside",
        "_started_ns",
        "agent",
        "kind",
        "name",
        "result",
        "run",
        "seq",
    )

    def __init__(
        self, run: Run, kind: str, name: str, body: dict[str, Any], agent: str | None
    ) -> None:
        self.run = run
        self.kind = kind
        self.name = name
        self.agent = agent
        self.seq: int | None = None
        """The `seq` of the opening event; None before it opens, or if it was dropped."""
        self.result: dict[str, Any] = {}
        """What the closing event will tell."""
        self._body = body
        self._started_ns = 0
        self._outside: tuple[Run, int] | None = None

    def output(self, value: object) -> None:
        """Set what came out: a model's message, a tool's result."""
        self.result["output"] = value

    def usage(self, **tokens: int) -> None:
        """Set the tokens used, by kind: `input_tokens=…`, `output_tokens=…`."""
        self.result["usage"] = tokens

    def __enter__(self) -> Self:
        """Record that it opens."""
        self._started_ns = clock.elapsed_ns()
        self.seq = self.run.record(self.kind, self.name, self._body, agent=self.agent, phase=OPEN)
        if self.seq is not None:
            self._outside = _around.get()
            _around.set((self.run, self.seq))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Record that it closes, and how."""
        if self.seq is not None and _around.get() == (self.run, self.seq):
            _around.set(self._outside)  # else spans overlap, or this is another context
        elapsed_ms = (clock.elapsed_ns() - self._started_ns) / 1e6
        body = {**self.result, "elapsed_ms": round(elapsed_ms, 3)}
        if error is not None:
            body["error"] = describe(error)
        self.run.record(self.kind, self.name, body, agent=self.agent, phase=CLOSE, span=self.seq)

    async def __aenter__(self) -> Self:
        """Record that it opens."""
        return self.__enter__()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Record that it closes, and how."""
        self.__exit__(kind, error, trace)
