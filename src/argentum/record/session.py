"""An agent's handle in a run."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, overload

from argentum.errors import InputError, LimitError, NotFoundError, hidden, not_found
from argentum.record.run import Run, default_run
from argentum.record.span import Span
from argentum.security.settings import SecuritySettings, session_settings
from argentum.state import Snapshot, StateDiff
from argentum.store import Store
from argentum.tree import Tree
from argentum.tree.taking import FOREIGN_FAULTS

if TYPE_CHECKING:
    from argentum.record.watching import Watching
    from argentum.state.watch import OnBreak, Test, Watch

Function = TypeVar("Function", bound=Callable[..., Any])
LATER_PARTS = ("context_decay", "cost_tracker", "alerts", "handoff", "plan_linter")
"""Parts of a session that this version does not have yet."""
KEPT_IN_MEMORY = 1000
"""Snapshots that a session with a store keeps in memory too; older ones are read back."""


def create_agent_session(
    agent_id: str,
    half_life_steps: int = 20,
    *,
    secure: bool | SecuritySettings = False,
    store: Store | str | os.PathLike[str] | None = None,
    run: Run | None = None,
) -> AgentSession:
    """
    Give an agent everything to record and debug it.

    The session joins the run that `argentum run` started, or starts one of its own: in `store` or
    `ARGENTUM_STORE` if one is given, else in memory.

    Args:
        agent_id: the agent's name in the run.
        half_life_steps: for the memory part.
        secure: True for the production settings of limits and redaction, or settings of its own;
            by default those of the process (see `argentum.configure_security`).
        store: a file or an open store to keep the run in.
        run: the run to join.

    Raises:
        InputError: `secure` is something else.
    """
    session_settings(secure)  # before a run is started for nothing
    if run is None:
        run = (default_run() if store is None else None) or Run(agent_id, store=store)
    return AgentSession(agent_id, run=run, half_life_steps=half_life_steps, secure=secure)


class AgentSession:
    """
    Records one agent of a run: its states, calls, notes and errors.

    Reads like a dict of its parts, too: `session["state_diff"]`, `session.get("cost_tracker")`.
    """

    def __init__(
        self,
        agent_id: str,
        *,
        run: Run,
        half_life_steps: int = 20,
        secure: bool | SecuritySettings = False,
    ) -> None:
        """
        Join a run (see `create_agent_session`).

        Raises:
            InputError: `secure` is something else.
        """
        self.agent_id = agent_id
        self.run = run
        self.half_life_steps = half_life_steps
        self.security = session_settings(secure)
        """The session's own settings; None for those of the process."""
        if self.security is not None:
            run.secure(agent_id, self.security)
        kept = run.is_kept
        self.state_diff = StateDiff(
            max_snapshots=KEPT_IN_MEMORY if kept else None,
            on_snapshot=self._keep_snapshot,
            on_error=run.drop,
            look_up=self._stored_snapshot if kept else None,
            security=self.security,
        )
        """The history of the agent's states."""
        self._parts: dict[str, Any] = {"state_diff": self.state_diff}
        self._last: Snapshot | None = None
        self._watchings: list[Watching] = []
        start = run.take_start(run.kept_text(agent_id, agent=agent_id))
        forked = {"forked_from": _described(start, run)} if start is not None else {}
        run.record("agent", agent_id, forked, agent=agent_id)
        if start is not None:
            self.state_diff.snapshot(start.label, start.tree)

    def __repr__(self) -> str:
        """Show the agent and its run."""
        return hidden(f"<AgentSession {self.agent_id!r} in {self.run!r}>")

    # ------------------------------------------------------------ like a dict

    def __getitem__(self, part: str) -> Any:
        """Give a part by its name."""
        if part in self._parts:
            return self._parts[part]
        if part in LATER_PARTS:
            message = f"This version has no part {part!r} yet. It has: {', '.join(self._parts)}."
            raise NotFoundError(message)
        raise not_found("part of a session", part, self._parts)

    def get(self, part: str, default: Any = None) -> Any:
        """Give a part by its name, or the default if there is none."""
        return self._parts.get(part, default)

    def __contains__(self, part: object) -> bool:
        """Tell whether there is such a part."""
        return part in self._parts

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the parts."""
        return iter(self._parts)

    def __len__(self) -> int:
        """Count the parts."""
        return len(self._parts)

    def keys(self) -> list[str]:
        """List the names of the parts."""
        return list(self._parts)

    # ------------------------------------------------------------ recording

    def snapshot(self, label: str, state: object) -> None:
        """
        Keep the agent's state as it is now.

        Raises:
            LimitError: it is over a limit that was set, and was not kept.
        """
        self.state_diff.snapshot(label, state)

    def _keep_snapshot(self, taken: Snapshot, state: object) -> None:
        label, tree, at_ns, *_ = taken
        seq = self.run.record("snapshot", label, tree, agent=self.agent_id)
        before = self._last
        self._last = now = Snapshot(label, tree, at_ns, seq or 0, self.agent_id)
        unsure: tuple[Watching, ...] = ()
        for watching in self._watchings:
            if not watching.holds(state, now, before):
                unsure = (*unsure, watching)
        if unsure:
            self._check(unsure, now, before)

    def watch(
        self,
        condition: Test | Watch,
        *,
        path: str = "",
        name: str = "",
        on_break: OnBreak = "log",
    ) -> Watching:
        """
        Keep a condition over the agent's states: it is checked on each snapshot from now on.

        Args:
            condition: `"confidence >= previous.confidence - 0.2"`, a function of the state, or of
                the state and the one before, or a whole `Watch`.
            path: the part of the state that it is about; all of it by default.
            name: what to call it; by default the condition's text or the function's name.
            on_break: "log" a warning, only record an "alert", "raise" a `LimitError` out of
                `snapshot`, or a function that is called with the `Break`. An alert is recorded in
                any case, and the snapshot is kept.

        Raises:
            InputError: the condition, the path or `on_break` cannot be used.
            LimitError: the condition's text is too long.
            MissingExtraError: the condition is text, and the CEL library is not installed.
        """
        # Most sessions watch nothing, and need not load what it takes.
        from argentum.record.watching import Watching  # noqa: PLC0415 - as above
        from argentum.state.watch import Watch  # noqa: PLC0415 - as above

        if not isinstance(condition, Watch):
            condition = Watch(condition, path=path, name=name, on_break=on_break)
        elif (path, name, on_break) != ("", "", "log"):
            message = "A `Watch` brings its own path, name and on_break; give them to it."
            raise InputError(message)
        watching = Watching(condition, self.run, self.agent_id)
        self._watchings = [*self._watchings, watching]
        return watching

    def _check(self, watchings: Iterable[Watching], now: Snapshot, before: Snapshot | None) -> None:
        """Check watches, and only then raise what one of them was asked to raise."""
        broken: LimitError | None = None
        for watching in watchings:
            if watching.is_on:
                try:
                    watching.see(now, before)
                except LimitError as error:
                    broken = broken or error
                except FOREIGN_FAULTS as error:  # a guest never breaks its host
                    self.run.drop(error)
        if broken is not None:
            raise broken

    def _stored_snapshot(self, label: str) -> Tree | None:
        found = None
        agent, name = (
            self.run.kept_text(one, agent=self.agent_id) for one in (self.agent_id, label)
        )
        for event in self.run.store.events(self.run.run_id, kinds=("snapshot",), agent=agent):
            found = event.body if event.name == name else found
        return found

    def restore(self, label: str | None = None) -> Any:
        """
        Give the agent's state back as it was last recorded, or as it was at a label.

        In a fork that is, at first, the state at the fork. It is None where nothing was recorded.

        Raises:
            NotFoundError: there is no such label.
        """
        if label is not None:
            return self.state_diff.restore(label)
        last = self._last.tree if self._last is not None else None
        agent = self.run.kept_text(self.agent_id, agent=self.agent_id)
        for event in self.run.events() if last is None else ():
            if event.kind == "snapshot" and event.agent == agent:
                last = event.body
        return None if last is None else last.thaw()

    def model_call(self, model: str, messages: object = None, **parameters: object) -> Span:
        """
        Record a call of a model.

        Use it as `with session.model_call("gpt-4", messages) as call:` and set what came out by
        `call.output(message)` and `call.usage(input_tokens=…, output_tokens=…)`.
        """
        body = {"model": model, "messages": messages, **parameters}
        return Span(self.run, "model_call", model, body, self.agent_id)

    def tool_call(self, tool: str, arguments: object = None) -> Span:
        """Record a call of a tool: `with session.tool_call("search", {…}) as call:`."""
        body = {"tool": tool, "arguments": arguments}
        return Span(self.run, "tool_call", tool, body, self.agent_id)

    @overload
    def tool(self, function: Function) -> Function: ...
    @overload
    def tool(self, *, name: str | None = None) -> Callable[[Function], Function]: ...

    def tool(self, function: Any = None, *, name: str | None = None) -> Any:
        """Record every call of a function, plain or async, as a tool call: `@session.tool`."""
        if function is None:
            return functools.partial(self.tool, name=name)
        title = name or str(getattr(function, "__name__", type(function).__name__))
        signature = _signature(function)

        def opened(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Span:
            return self.tool_call(title, _arguments(signature, args, kwargs))

        return (
            _recorded_async(function, opened)
            if inspect.iscoroutinefunction(function)
            else _recorded(function, opened)
        )

    def handoff(self, to_agent: str, context: object) -> int | None:
        """Record that this agent hands over to another one, and what it gives along."""
        body = {"from_agent": self.agent_id, "to_agent": to_agent, "context": context}
        return self.run.record("handoff", to_agent, body, agent=self.agent_id)

    def note(self, text: str, **data: object) -> int | None:
        """Record a remark of or about the agent."""
        return self.run.record("note", text, {**data, "text": text}, agent=self.agent_id)

    def error(self, error: BaseException) -> int | None:
        """Record an exception that the agent met."""
        return self.run.error(error, agent=self.agent_id)


def _described(start: Snapshot, run: Run) -> dict[str, Any]:
    """Tell where the first state of an agent in a fork comes from."""
    source = run.start.run_id if run.start is not None else ""
    return {"run_id": source, "seq": start.seq, "label": start.label}


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except Exception:  # noqa: BLE001 - a foreign `__signature__` may raise anything
        return None


def _arguments(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Name the arguments as the function does; what does not fit is recorded as it was given."""
    if signature is not None:
        try:
            return dict(signature.bind(*args, **kwargs).arguments)
        except TypeError:
            pass
    return {"args": list(args), "kwargs": kwargs}


def _recorded(function: Callable[..., Any], opened: Callable[..., Span]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with opened(args, kwargs) as span:
            value = function(*args, **kwargs)
            span.output(value)
        return value

    return call


def _recorded_async(
    function: Callable[..., Any], opened: Callable[..., Span]
) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with opened(args, kwargs) as span:
            value = await function(*args, **kwargs)
            span.output(value)
        return value

    return call
