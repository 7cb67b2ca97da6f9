"""What a program may say about limits and redaction, and who hears it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import argentum
from argentum import InputError, SecuritySettings
from argentum.security.settings import session_settings


@pytest.fixture(autouse=True)
def default_settings() -> Iterator[None]:
    """Begin and end with the settings that nobody changed."""
    argentum.configure_security()
    yield
    argentum.configure_security()


def test_defaults():
    """Without a word nothing is limited, and secrets are taken out."""
    settings = argentum.security_settings()

    assert SecuritySettings() == settings
    assert not settings.limits
    assert settings.redacts
    assert not settings.redact_personal_data


def test_read_back():
    """What was set is given back, and reads the same afterwards."""
    made = argentum.configure_security(max_state_size_mb=2.5, allow=["a", "b"])

    assert made is argentum.security_settings()
    assert 2.5 == made.max_state_size_mb
    assert ("a", "b") == made.allow


def test_each_call_says_all():
    """A later call does not add to an earlier one: what it does not name has its default."""
    argentum.configure_security(max_items=5)
    argentum.configure_security(max_depth=7)

    assert SecuritySettings(max_depth=7) == argentum.security_settings()


def test_all_protections():
    """All protections are every limit and all redaction; what is named beside wins."""
    made = argentum.configure_security(
        enable_all_protections=True, max_state_size_mb=3, redact_personal_data=False
    )

    limits = [field.name for field in dataclasses.fields(made) if field.name.startswith("max_")]
    assert all(getattr(made, name) is not None for name in limits)
    assert 3 == made.max_state_size_mb
    assert not made.redact_personal_data
    assert SecuritySettings.production().redact_personal_data


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"max_state_size": 10}, "Did you mean 'max_state_size_mb'"),
        ({"max_state_size_mb": 0}, "from 0.001 to 1,000,000"),
        ({"max_state_size_mb": float("nan")}, "from 0.001 to 1,000,000"),
        ({"max_state_size_mb": "10"}, "give a number"),
        ({"max_depth": True}, "give a whole number from 1"),
        ({"max_items": 2.0}, "give a whole number"),
        ({"max_integer_digits": 5}, "from 20"),
        ({"at_limit": "cut"}, "'raise' or 'truncate'"),
        ({"redact_secrets": 1}, "True or False"),
        ({"enable_all_protections": "yes"}, "True or False"),
        ({"allow": "sk-test"}, "a list of texts"),
        ({"allow": [""]}, "none of them empty"),
        ({"redact_paths": ["a..b"]}, "a..b"),
        ({"redact_paths": ["messages[3].text"]}, "[*]"),
        ({"redact_patterns": [("id", "[")]}, "cannot be read"),
        ({"redact_patterns": [("An Id", "x")]}, "An Id"),
        ({"redact_patterns": ["id"]}, "pairs"),
    ],
)
def test_impossible_settings(settings: dict, said: str):
    """What cannot be meant is refused with what would have worked, and changes nothing."""
    before = argentum.configure_security(max_items=9)

    with pytest.raises(InputError) as caught:
        argentum.configure_security(**settings)

    assert said in str(caught.value)
    assert before is argentum.security_settings()


def test_frozen():
    """Settings cannot be changed in place."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        argentum.security_settings().max_items = 3  # type: ignore[misc]


def test_threads_see_whole_settings():
    """A thread that reads while another sets never sees half of a change."""
    pairs = [(10, 20), (30, 40)]
    seen = set()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            now = argentum.security_settings()
            seen.add((now.max_items, now.max_depth))

    argentum.configure_security(max_items=10, max_depth=20)
    reader = threading.Thread(target=read)
    reader.start()
    for at in range(2000):
        items, depth = pairs[at % 2]
        argentum.configure_security(max_items=items, max_depth=depth)
    over.set()
    reader.join()

    assert seen <= set(pairs)
    assert seen


def test_secure_session():
    """`secure=True` is the production set, and keeps what the process was told differently."""
    argentum.configure_security(max_state_size_mb=2)

    assert session_settings(secure=False) is None
    assert SecuritySettings.production(max_state_size_mb=2) == session_settings(secure=True)
    own = SecuritySettings(max_items=1)
    assert own is session_settings(own)


@pytest.mark.parametrize("secure", [1, "yes", None, {"max_items": 1}])
def test_secure_is_refused(secure: object):
    """Anything but True, False or settings is refused."""
    with pytest.raises(InputError, match="SecuritySettings"):
        session_settings(secure)  # type: ignore[arg-type]


def test_settings_load_no_scanner():
    """A process that only reads or sets limits loads no rules about secrets."""
    script = (
        "import sys, argentum; argentum.configure_security(max_items=3);"
        "argentum.StateDiff().snapshot('a', [1]);"
        "print(*[name for name in sys.modules if name.startswith('argentum.security')])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()

    assert not {"argentum.security.redacting", "argentum.security.scanning"} & set(loaded)
