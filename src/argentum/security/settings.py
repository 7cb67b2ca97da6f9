"""
What is limited in recordings and what is taken out of them: `SecuritySettings`.

    argentum.configure_security(max_state_size_mb=10, enable_all_protections=True)

The settings are one frozen object. A process's settings are replaced whole, so a thread that reads
them never sees half of a change; each call says all that should differ from the defaults.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, NamedTuple, cast

from argentum.errors import InputError, hide_with, not_found, shown

AtLimit = Literal["raise", "truncate"]
BYTES_PER_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySettings:
    """
    Limits on what is recorded, and what is taken out of it before it is kept in a file.

    A limit that is None does not exist. `SecuritySettings.production()` has them all.

    Raises:
        InputError: a value is impossible; the message says what is possible.
    """

    max_state_size_mb: float | None = None
    """Megabytes (of 1,000,000 bytes) that a state may have when it is encoded."""
    max_context_items: int | None = None
    """Items that an agent's memory may hold; read by the memory part."""
    max_depth: int | None = None
    """Levels of containers in a state. A thousand are kept in any case, and no more."""
    max_items: int | None = None
    """Members of any one container in a state."""
    max_string_chars: int | None = None
    """Characters of any one text in a state, or bytes of a bytes-like value."""
    max_integer_digits: int | None = None
    """Decimal digits of any one integer in a state."""
    max_key_chars: int | None = None
    """Characters of any one key in a state."""
    at_limit: AtLimit = "raise"
    """What becomes of a state over a limit: `snapshot` raises, or a cut and marked form is kept."""
    redact_secrets: bool = True
    """Take credentials out of what is kept in a file, shown in errors or exported."""
    redact_personal_data: bool = False
    """The same for e-mail addresses, numbers of cards, accounts and phones, and IP addresses."""
    redact_paths: tuple[str, ...] = ()
    """Places whose whole content is taken out: `user.address`, `messages[*].headers`."""
    redact_patterns: tuple[tuple[str, str], ...] = ()
    """Own secrets, as (name, regular expression)."""
    allow: tuple[str, ...] = ()
    """Texts that are kept, whatever they look like."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for name, allowed in _RANGES.items():
            _check_number(name, getattr(self, name), allowed)
        if self.at_limit not in ("raise", "truncate"):
            message = f"`at_limit` is {shown(self.at_limit)}; give 'raise' or 'truncate'."
            raise InputError(message)
        for name in _SWITCHES:
            if type(getattr(self, name)) is not bool:
                raise InputError(f"`{name}` is {shown(getattr(self, name))}; give True or False.")
        for name in _TEXTS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        object.__setattr__(self, "redact_patterns", _patterns(self.redact_patterns))
        if self.redact_paths or self.redact_patterns:
            self._read_rules()

    @classmethod
    def production(cls, **changes: Any) -> SecuritySettings:
        """
        Give the settings for production: every limit, and all redaction.

        Args:
            changes: what should differ, by name.

        Raises:
            InputError: a name is unknown, or a value is impossible.
        """
        return replace(cls(**_PRODUCTION), **_known(changes))

    @property
    def limits(self) -> bool:
        """Whether states are limited in any way."""
        return any(
            getattr(self, name) is not None for name in _RANGES if name != "max_context_items"
        )

    @property
    def redacts(self) -> bool:
        """Whether anything is taken out at all."""
        return bool(
            self.redact_secrets
            or self.redact_personal_data
            or self.redact_paths
            or self.redact_patterns
        )

    def _read_rules(self) -> None:
        """Read paths and patterns now, so that a mistake shows where it was made."""
        # Few settings have any, and the scanner takes longer to load than all the rest.
        from argentum.security.redacting import Redactor  # noqa: PLC0415 - as above

        Redactor(paths=self.redact_paths, patterns=self.redact_patterns)
        for path in self.redact_paths:
            _refuse_numbered(path)


class _Range(NamedTuple):
    """What a number may be."""

    least: float
    most: float
    whole: bool = True


_MOST: Final = 10**12
_RANGES: Final = {
    "max_state_size_mb": _Range(0.001, 1_000_000, whole=False),
    "max_context_items": _Range(1, _MOST),
    "max_depth": _Range(1, _MOST),
    "max_items": _Range(1, _MOST),
    "max_string_chars": _Range(1, _MOST),
    "max_integer_digits": _Range(20, _MOST),
    "max_key_chars": _Range(1, _MOST),
}
_SWITCHES: Final = ("redact_secrets", "redact_personal_data")
_TEXTS: Final = ("redact_paths", "allow")
# Each but the first two is so high that a state of 100 KB, which most are, cannot break it, and
# need not be looked into. What they stop is what no agent means to hold.
_PRODUCTION: Final[dict[str, Any]] = {
    "max_state_size_mb": 10,
    "max_context_items": 5000,
    "max_depth": 1000,
    "max_items": 1_000_000,
    "max_string_chars": 5_000_000,
    "max_integer_digits": 250_000,
    "max_key_chars": 100_000,
    "redact_personal_data": True,
}


def configure_security(
    *, enable_all_protections: bool = False, **settings: Any
) -> SecuritySettings:
    """
    Set what this process limits and takes out, from now on; what is not named has its default.

    Args:
        enable_all_protections: begin with every limit and all redaction.
        settings: fields of `SecuritySettings`, such as `max_state_size_mb=10`.

    Raises:
        InputError: a name is unknown, or a value is impossible; nothing is changed then.
    """
    if type(enable_all_protections) is not bool:
        message = (
            f"`enable_all_protections` is {shown(enable_all_protections)}; give True or False."
        )
        raise InputError(message)
    begin = _PRODUCTION if enable_all_protections else {}
    made = SecuritySettings(**{**begin, **_known(settings)})
    _process[0] = made
    return made


def security_settings() -> SecuritySettings:
    """Give the settings of this process."""
    return _process[0]


def session_settings(secure: bool | SecuritySettings) -> SecuritySettings | None:  # noqa: FBT001 - as `secure=` has it
    """
    Give the settings that `secure=` names for one session; None for those of the process.

    `True` is the production set, in which what the process was told differently stays as it was
    told: its limits, and what else it takes out.

    Raises:
        InputError: it is something else.
    """
    if isinstance(secure, SecuritySettings):
        return secure
    if type(secure) is not bool:
        message = f"`secure` is {shown(secure)}; give True, False or `SecuritySettings(…)`."
        raise InputError(message)
    if not secure:
        return None
    default = SecuritySettings()
    told = {
        field.name: getattr(security_settings(), field.name)
        for field in fields(SecuritySettings)
        if getattr(security_settings(), field.name) != getattr(default, field.name)
    }
    return SecuritySettings.production(**told)


def _known(settings: dict[str, Any]) -> dict[str, Any]:
    names = [field.name for field in fields(SecuritySettings)]
    for name in settings:
        if name not in names:
            raise InputError(str(not_found("security setting", name, names)))
    return settings


def _check_number(name: str, value: object, allowed: _Range) -> None:
    if value is None:
        return
    kinds = (int,) if allowed.whole else (int, float)
    if type(value) not in kinds or not allowed.least <= cast("float", value) <= allowed.most:
        kind = "a whole number" if allowed.whole else "a number"
        message = (
            f"`{name}` is {shown(value)}; give {kind} from {allowed.least:,} to {allowed.most:,}, "
            f"or None for no limit."
        )
        raise InputError(message)


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        texts = tuple(value)
        if all(type(one) is str and one for one in texts):
            return texts
    message = f"`{name}` is {shown(value)}; give a list of texts, none of them empty."
    raise InputError(message)


def _patterns(value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        pairs = tuple(tuple(one) if isinstance(one, tuple | list) else () for one in value)
        if all(len(one) == 2 and set(map(type, one)) == {str} for one in pairs):  # noqa: PLR2004 - a pair
            return cast("tuple[tuple[str, str], ...]", pairs)
    message = (
        f"`redact_patterns` is {shown(value)}; give pairs of a name and a regular expression, "
        f"like [('employee-id', 'EMP-[0-9]{{6}}')]."
    )
    raise InputError(message)


def _refuse_numbered(path: str) -> None:
    """An item of a list moves when another is put before it, so no number names it for long."""
    from argentum.tree.paths import parse  # noqa: PLC0415 - as in `_read_rules`

    if any(type(step) is int for step in parse(path.replace("[*]", "").lstrip("."))):
        message = (
            f"The path {shown(path)} in `redact_paths` names an item by its number, which changes "
            f"as items come and go; give [*] for all items."
        )
        raise InputError(message)


_process: Final = [SecuritySettings()]
_hiding = threading.local()


def _without_secrets(text: str) -> str:
    """Take secrets out of the text of an error; one that comes up meanwhile is not gone into."""
    settings = security_settings()
    if not settings.redacts or getattr(_hiding, "now", False):
        return text
    _hiding.now = True
    try:
        # Only an error needs it, and it takes longer to load than all the rest.
        from argentum.security.redactors import redactor_of_memory  # noqa: PLC0415 - as above

        return redactor_of_memory(settings).redact_text(text)
    finally:
        _hiding.now = False


hide_with(_without_secrets)
