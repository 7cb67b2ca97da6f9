"""Texts without what makes no difference: case, space, punctuation, spelling of characters."""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"\w+")


def folded(text: str) -> str:
    """Give a text in one case and one spelling of its characters."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def words_of(text: str) -> str:
    """Give the words with one space around each, so that a part is found as ` part ` in it."""
    found = _WORDS.findall(folded(text))
    return f" {' '.join(found)} " if found else ""


def name_of(key: str) -> str:
    """Give a key's name whatever its style: `userId`, `user_id` and `User ID 2` are one."""
    name = "".join(_WORDS.findall(folded(key))).replace("_", "")
    return name.rstrip("0123456789") or name


def name_words(key: str) -> str:
    """Give the words of a key: `userId` and `user_id_2` are `user id`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key).replace("_", " ")
    words = words_of(apart).strip()
    return words.rstrip("0123456789 ") or words
