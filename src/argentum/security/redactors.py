"""The `Redactor` that settings ask for. It takes a while to load, so it is loaded when needed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from argentum.security.personal import personal_hits
from argentum.security.redacting import Redactor
from argentum.security.settings import SecuritySettings

KEY_BYTES = 32


def redactor_of(settings: SecuritySettings, key: bytes | None = None) -> Redactor:
    """
    Make what takes secrets out as settings say.

    Args:
        key: of the hash in the tokens; a random one by default.
    """
    options: dict[str, Any] = {} if key is None else {"key": key}
    kind = Redactor if settings.redact_secrets else _WithoutSecrets
    return kind(
        paths=settings.redact_paths,
        patterns=settings.redact_patterns,
        allowed=settings.allow,
        personal=settings.redact_personal_data,
        **options,
    )


redactor_of_memory = lru_cache(maxsize=8)(redactor_of)
"""The same for what lies in no store, like the texts of errors; tokens are a process's own."""


class _WithoutSecrets(Redactor):
    """Takes out personal data, paths and own patterns alone."""

    def _scan(self, data: bytes) -> list[Any]:
        return personal_hits(data) if self.personal else []
