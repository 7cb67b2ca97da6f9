r"""
Paths from outside: each leads to a place under a given folder, or is refused.

A path is refused when any way of reading it would lead elsewhere: with percent escapes decoded,
with look-alikes folded (full-width dots and slashes), with `\` as a separator, or by the rules of
Windows (drives, UNC, streams, device names, dots and spaces at the end), since a file written on
one platform is read on another. What only looks odd stays: `100%.txt`, `a..b`, `~$report.docx`.

No link is followed below the folder; the folder itself may be one, because you named it. Hard
links cannot be told from files: who can make one below the folder could write there anyway.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import IO, Any, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from argentum.errors import InputError, shown

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255
MAX_DECODINGS = 5
"""Times that percent escapes are looked through; still more of them are refused."""
OWNER_ONLY = 0o600
WALKS = {os.open, os.stat} <= os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether a file can be opened folder by folder, so that nobody can put a link in between."""

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
_DRIVE = re.compile(r"[A-Za-z](?::|\|$)")
_HOME = re.compile(r"~\w*")
_TIME_COLON = re.compile(r"(?<=\d):(?=\d)")
_LOOK_ALIKES = str.maketrans(dict.fromkeys("\u2044\u2215\u2216\u29f5\u29f8", "/"))
"""Slashes that Windows turns into plain ones for programs that know no Unicode."""
_OVERLONG_UTF8 = re.compile(rb"[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f]")
_ESCAPED_UNICODE = re.compile(r"%u([0-9A-Fa-f]{4})")
_MODE = re.compile(r"[rwax][bt]?\+?|[rwax]\+[bt]")
_FLAGS = {
    "r": 0,
    "w": os.O_CREAT,  # emptied once it is known to be a file
    "a": os.O_CREAT | os.O_APPEND,
    "x": os.O_CREAT | os.O_EXCL,
}
_ALWAYS = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for its other end
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_REPARSE_POINT = 0x400


class _Place(NamedTuple):
    root: str
    names: tuple[str, ...]
    given: str

    @property
    def path(self) -> str:
        return os.path.join(self.root, *self.names)  # noqa: PTH118 - `Path` would parse again


def safe_path(root: str | os.PathLike[str], given: str | PurePath) -> Path:
    """
    Tell where a path from outside leads: a place under `root`, which need not exist yet.

    The answer holds while nobody changes what lies under `root`; to open a file, use
    `open_under`, which checks and opens in one.

    Raises:
        InputError: it could lead elsewhere, goes through a link, or cannot name a file
            everywhere; or `root` is no folder.
    """
    place = _placed(root, given)
    _refuse_links(place)
    return Path(place.path)


def open_under(
    root: str | os.PathLike[str],
    given: str | PurePath,
    mode: str = "r",
    *,
    encoding: str = "utf-8",
) -> IO[Any]:
    """
    Open a file whose path comes from outside, without following a link on the way.

    On Linux, macOS and other POSIX systems each folder is opened from the one before, and links
    are refused by the system itself, so a link put there meanwhile is not followed either. On
    Windows the path is checked before and after opening: a link put there in between could make
    an empty file elsewhere, but nothing is read from it or written to it.

    New files can be read by their owner only. Folders are not made.

    Args:
        mode: as for `open`: `r`, `w`, `x` or `a`, with `b` and `+`.
        encoding: of text; lines end as they are in the file, without translation.

    Raises:
        InputError: as for `safe_path`; or the mode is unknown, the file or its folder is not
            there, it is no regular file, or the system refuses to open it.
    """
    if not _MODE.fullmatch(mode):
        message = f"The mode {shown(mode)} is unknown; use r, w, x or a, with b or +."
        raise InputError(message)
    if not _is_encoding(encoding):
        message = f"The encoding {shown(encoding)} is unknown; 'utf-8' would work."
        raise InputError(message)
    place = _placed(root, given)
    flags = _FLAGS[mode[0]] | _ALWAYS | _direction(mode)
    try:
        fd = _walk_and_open(place, flags) if WALKS else _open_and_look(place, flags)
    except OSError as error:
        raise _refused(given, _why(error)) from error
    return _as_file(fd, mode, None if "b" in mode else encoding, given)


def _is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name) is not None
    except (LookupError, TypeError, ValueError):
        return False


# ---------------------------------------------------------------- what the text says


def _placed(root: str | os.PathLike[str], given: str | PurePath) -> _Place:
    names = tuple(_names(given))
    try:
        real = os.path.realpath(os.fspath(root), strict=True)
    except (OSError, TypeError, ValueError):
        real = ""
    if not os.path.isdir(real):  # noqa: PTH112 - see `_Place.path`
        message = f"The folder {shown(root)} is not there; make it first, or name another."
        raise InputError(message)
    return _Place(real, names, str(given))


def _names(given: str | PurePath) -> list[str]:
    """Split a path into names, after every way of reading it was found harmless."""
    text = given.as_posix() if isinstance(given, PurePath) else given
    if not isinstance(text, str):
        raise _refused(given, "is no text; give a str or a path")
    text = str.__str__(text)  # a subclass could answer one thing now and another later
    if os.name == "nt":
        text = text.replace("\\", "/")
    elif "\\" in text:
        raise _refused(given, "has a backslash; write '/' between folders")
    _refuse_unprintable(given, text)
    names = [name for name in text.split("/") if name not in ("", ".")]
    for reading in _readings(given, text):
        _refuse_elsewhere(given, reading)
    if not names:
        raise _refused(given, "names no file")
    for name in names:
        _refuse_unportable(given, name)
    return names


def _refuse_unprintable(given: object, text: str) -> None:
    try:
        size = len(text.encode()) if len(text) <= MAX_PATH_BYTES else len(text)
    except UnicodeEncodeError:
        raise _refused(given, "has a lone surrogate, which is no text") from None
    if size > MAX_PATH_BYTES:
        raise _refused(given, f"has more than {MAX_PATH_BYTES} bytes")


def _readings(given: object, text: str) -> Iterator[str]:
    """Give the path as it is and as other programs might read it."""
    for _ in range(MAX_DECODINGS):
        yield text
        yield unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKES)
        decoded = unquote(_ESCAPED_UNICODE.sub(lambda found: chr(int(found[1], 16)), text))
        if decoded == text:
            return
        if _OVERLONG_UTF8.search(unquote_to_bytes(text)):
            raise _refused(given, "has percent escapes that spell a character in a hidden way")
        text = decoded
    raise _refused(given, f"is percent-encoded more than {MAX_DECODINGS} times")


def _refuse_elsewhere(given: object, reading: str) -> None:
    """Refuse what would leave the folder, or break off, if the path were read this way."""
    control = next((char for char in reading if unicodedata.category(char) == "Cc"), None)
    if control is not None:
        raise _refused(given, f"has the control character {control!r}")
    names = reading.replace("\\", "/").split("/")
    if len(names) > 1 and not names[0]:
        raise _refused(given, "is absolute; leave out what stands before the folder")
    if _HOME.fullmatch(names[0]):
        raise _refused(given, "starts at a home folder; write './~…' for a file of that name")
    for name in names:
        if name.partition(";")[0].strip() == "..":  # some servers drop what follows a ';'
            raise _refused(given, "goes up with '..'; leave that out")
        if _DRIVE.match(name):
            raise _refused(given, "names a drive; leave that out")


def _refuse_unportable(given: object, name: str) -> None:
    """Refuse a name that means something else, or nothing, on some platform."""
    if len(name.encode()) > MAX_NAME_BYTES:
        raise _refused(given, f"has a name of more than {MAX_NAME_BYTES} bytes")
    if name.endswith((".", " ")):
        raise _refused(given, "has a name with '.' or ' ' at its end, which Windows drops")
    if ":" in (name if sys.platform == "win32" else _TIME_COLON.sub("", name)):
        raise _refused(given, "has a ':', which names a drive or a stream on Windows")
    stem = unicodedata.normalize("NFKC", name.partition(".")[0]).rstrip().lower()
    if stem in _DEVICES:
        raise _refused(given, f"has the name of a device on Windows ({stem.upper()})")


def _refused(given: object, reason: str) -> InputError:
    return InputError(
        f"The path {shown(given)} {reason}. "
        "What works is a path below the folder, such as 'reports/first.json'."
    )


# ---------------------------------------------------------------- what lies on the disk


def _refuse_links(place: _Place) -> None:
    """Refuse a path that goes through a link or a file; what is not there yet ends the search."""
    path = place.root
    for index, name in enumerate(place.names):
        path = os.path.join(path, name)  # noqa: PTH118 - see `_Place.path`
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refused(place.given, _why(error)) from error
        if _is_link(found):
            raise _refused(place.given, f"goes through the link {name!r}")
        if index < len(place.names) - 1 and not stat.S_ISDIR(found.st_mode):
            raise _refused(place.given, f"goes through {name!r}, which is no folder")


def _is_link(found: os.stat_result) -> bool:
    """Tell whether it is a symbolic link or, on Windows, a junction or its like."""
    attributes = getattr(found, "st_file_attributes", 0)
    return stat.S_ISLNK(found.st_mode) or bool(attributes & _REPARSE_POINT)


def _direction(mode: str) -> int:
    if "+" in mode:
        return os.O_RDWR
    return os.O_RDONLY if mode[0] == "r" else os.O_WRONLY


def _walk_and_open(place: _Place, flags: int) -> int:
    """Open folder by folder, each from the one before, so that no link can come in between."""
    folder_flags = os.O_RDONLY | os.O_DIRECTORY | _ALWAYS
    folder = os.open(place.root, folder_flags)
    try:
        for name in place.names[:-1]:
            inner = _open_from(folder, name, folder_flags, place)
            os.close(folder)
            folder = inner
        return _open_from(folder, place.names[-1], flags, place)
    finally:
        os.close(folder)


def _open_from(folder: int, name: str, flags: int, place: _Place) -> int:
    try:
        return os.open(name, flags, OWNER_ONLY, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.EEXIST):
            _refuse_link_at(folder, name, place)
        raise


def _refuse_link_at(folder: int, name: str, place: _Place) -> None:
    """Say that a link stood in the way, where one does: the system's own words do not tell."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return
    if _is_link(found):
        raise _refused(place.given, f"goes through the link {name!r}")


def _open_and_look(place: _Place, flags: int) -> int:
    """Open where folders cannot be walked, then make sure that it is the file that was checked."""
    _refuse_links(place)
    fd = os.open(place.path, flags, OWNER_ONLY)
    try:
        _refuse_links(place)
        _refuse_other(fd, place)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _refuse_other(fd: int, place: _Place) -> None:
    if not os.path.samestat(os.fstat(fd), os.lstat(place.path)):
        raise _refused(place.given, "was exchanged while it was opened")


def _as_file(fd: int, mode: str, encoding: str | None, given: object) -> IO[Any]:
    """Wrap an open file, once it is known to be one."""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _refused(given, "names a folder, pipe or device, not a file")
        if hasattr(os, "O_NONBLOCK"):
            os.set_blocking(fd, True)
        if mode[0] == "w":
            os.ftruncate(fd, 0)
        newline = "" if encoding else None
        return os.fdopen(fd, mode.replace("x", "w"), encoding=encoding, newline=newline)
    except OSError as error:
        os.close(fd)
        raise _refused(given, _why(error)) from error
    except InputError:
        os.close(fd)
        raise


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there, or its folder is not; folders are not made"
    if isinstance(error, FileExistsError):
        return "is there already; mode 'x' makes new files only"
    if isinstance(error, NotADirectoryError):
        return "goes through a file as if it were a folder"
    if isinstance(error, IsADirectoryError):
        return "names a folder, pipe or device, not a file"
    return f"cannot be opened: {error.strerror or error}"
