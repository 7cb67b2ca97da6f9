"""
What becomes of an event before it is kept: limits, and secrets taken out.

What is kept in a file has no secrets, unless the process said so (`redact_secrets=False`). What a
program has in memory stays as it is, so `restore` in the same process gives the true state; only
what comes back from the file has tokens in their place.

The tokens hold a keyed hash, so that a diff shows that a key changed. The hash's key lies beside
the store (`runs.db-key`, readable by its owner alone) and not in it: who is given a copy of the
store cannot try passwords against its tokens. Nothing needs the key to read; without it, new
tokens differ from old ones.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from argentum import clock
from argentum.errors import SEARCHED_CHARACTERS
from argentum.events import Event
from argentum.security.settings import SecuritySettings, security_settings
from argentum.store import Store
from argentum.store.memory import MemoryStore
from argentum.tree import Tree

if TYPE_CHECKING:
    from argentum.security.limits import Limits
    from argentum.security.redacting import Redactor

KEY_ENDING = "-key"
KEY_BYTES = 32
KNOWN_TEXTS = 1000
"""Names of agents, labels and events that are remembered as they are kept."""


class Protection:
    """What a run does to its events, by the settings of the process or of an agent's session."""

    def __init__(self, store: Store, *, leaving: bool = False) -> None:
        """
        Protect what goes into a store, or with `leaving`, what goes out of it to other places.

        What is only in memory is as the program gave it, so it is protected when it leaves.
        """
        self._store = store
        self._leaving = leaving
        self._secured = _secured_in(store)
        self._ways: dict[str | None, Way] = {}
        self._redactors: dict[SecuritySettings, Redactor] = {}
        self._key = b""

    def secure(self, agent: str, settings: SecuritySettings) -> None:
        """Give an agent settings of its own."""
        self._secured[agent] = settings

    def way(self, agent: str | None) -> Way:
        """Give what is done to an agent's events now."""
        settings = self._secured.get(agent) if agent is not None and self._secured else None
        if settings is None:
            settings = security_settings()
        way = self._ways.get(agent)
        if way is None or way.settings is not settings:
            limits = None if self._leaving else _limits_of(settings)
            self._ways[agent] = way = Way(settings, limits, self._redactor(settings))
        return way

    def event(self, event: Event) -> Event:
        """Give an event as it may leave."""
        way = self.way(event.agent)
        return replace(
            event,
            name=way.text(event.name),
            agent=None if event.agent is None else way.text(event.agent),
            body=way.tree(event.body, event.kind),
        )

    def _redactor(self, settings: SecuritySettings) -> Redactor | None:
        stays = isinstance(self._store, MemoryStore) and not self._leaving
        if stays or not settings.redacts:
            return None
        # A run in memory, which most tests and first tries are, need not load what it takes.
        from argentum.security.redactors import redactor_of  # noqa: PLC0415 - as above

        if settings not in self._redactors:
            self._key = self._key or self._key_of_store()
            self._redactors[settings] = redactor_of(settings, self._key)
        return self._redactors[settings]

    def _key_of_store(self) -> bytes:
        if isinstance(self._store, MemoryStore):
            return process_key()
        return key_beside(self._store.location, make=not self._leaving)


class Way:
    """What is done to one agent's events under one set of settings."""

    __slots__ = ("_last", "_limits", "_texts", "redactor", "settings")

    def __init__(
        self, settings: SecuritySettings, limits: Limits | None, redactor: Redactor | None
    ) -> None:
        self.settings = settings
        self.redactor = redactor
        self._limits = limits
        self._last: dict[str, tuple[Tree, Tree]] = {}
        self._texts: dict[str, str] = {}

    def tree(self, tree: Tree, kind: str) -> Tree:
        """
        Give what is kept of an event's body; only what is new since the last of its kind is read.

        Raises:
            LimitError: it is over a limit. (Snapshots are checked before they are recorded.)
        """
        if self._limits is not None and kind != "snapshot":
            tree = self._limits.within(tree, what=f"body of a {kind} event")
        if self.redactor is None:
            return tree
        root = tree.root
        if type(root) is bytes:
            made = self.redactor.redact_entry(root)
            return tree if made is None else Tree(made)
        return self._large(self.redactor, tree, kind)

    def _large(self, redactor: Redactor, tree: Tree, kind: str) -> Tree:
        from argentum.tree.rewriting import rewrite  # noqa: PLC0415 - only for large states

        made = rewrite(
            tree, lambda data, at: redactor.redact_entry(data, at=at), self._last.get(kind)
        )
        self._last[kind] = (tree, made)
        return made

    def text(self, text: str) -> str:
        """Give what is kept of a name or label."""
        if self.redactor is None:
            return text
        known = self._texts.get(text)
        if known is None:
            known = self.redactor.redact_text(text[:SEARCHED_CHARACTERS])
            known += text[SEARCHED_CHARACTERS:]
            if len(self._texts) >= KNOWN_TEXTS:
                self._texts = {}
            self._texts[text] = known
        return known

    def safe_to_cut(self, text: str) -> str:
        """
        Give a text without secrets, though it stays in memory.

        A part of a secret would not be known as one when it leaves. Only the beginning of a long
        text is given, and the rest is not looked at.
        """
        redactor = self.redactor
        if redactor is None and self.settings.redacts:
            from argentum.security.redactors import redactor_of_memory  # noqa: PLC0415 - as above

            redactor = redactor_of_memory(self.settings)
        begin = text[:SEARCHED_CHARACTERS]
        return begin if redactor is None else redactor.redact_text(begin)

    def arguments(self, arguments: Sequence[str]) -> list[str]:
        """Give what is kept of a command line: the value after `--password` is one, too."""
        if self.redactor is None:
            return list(arguments)
        before = ["", *arguments]
        return [
            self.redactor.redact_value(one, at=(name.lstrip("-"),) if name[:1] == "-" else ())
            for name, one in zip(before, arguments, strict=False)
        ]


_secured: WeakKeyDictionary[Store, dict[str, SecuritySettings]] = WeakKeyDictionary()


def _secured_in(store: Store) -> dict[str, SecuritySettings]:
    """Give the settings of agents; for runs in memory those that count when they leave, too."""
    return _secured.setdefault(store, {}) if isinstance(store, MemoryStore) else {}


def _limits_of(settings: SecuritySettings) -> Limits | None:
    if not settings.limits:
        return None
    from argentum.security.limits import Limits  # noqa: PLC0415 - most processes limit nothing

    return Limits(settings)


# ---------------------------------------------------------------- the key


def key_beside(location: str, *, make: bool = True) -> bytes:
    """
    Give the key of a store's tokens; this process's own if none can lie there.

    Args:
        make: make one where there is none.
    """
    path = location + KEY_ENDING
    try:
        if not os.path.isfile(location):  # noqa: PTH113 - pathlib is slow to load
            return process_key()
        key = _read(path)
        return key or (_made(path) if make else process_key())
    except OSError:  # another user's, or a folder where nothing can be written
        return process_key()


@cache
def process_key() -> bytes:
    """Give the key for what lies in no file."""
    return _new_key()


def _new_key() -> bytes:
    return bytes.fromhex(clock.random_hex(2 * KEY_BYTES))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            key = file.read(KEY_BYTES + 1)
    except FileNotFoundError:
        return b""
    return key if len(key) == KEY_BYTES else process_key()


def _made(path: str) -> bytes:
    """Make the key; of several processes that do so at once, all get the one that came first."""
    key, own = _new_key(), f"{path}-{clock.random_hex(8)}"
    file = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, key)
    finally:
        os.close(file)
    try:
        os.link(own, path)
    except FileExistsError:
        return _read(path)
    except OSError:  # a file system without links
        os.replace(own, path)  # noqa: PTH105 - as above
        return key
    finally:
        with suppress(FileNotFoundError):
            os.unlink(own)  # noqa: PTH108 - as above
    return key
