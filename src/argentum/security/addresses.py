"""
Addresses that may be dialled: a URL from outside leads to the public internet, or is refused.

Two questions are asked. `check_address` decides what the URL itself tells (scheme, port, user
name, spelling, names and addresses of inner networks) and then what its name resolves to: every
answer has to be public. What it returns holds the checked addresses, and
`argentum.security.fetching` dials exactly those, so a name that changes its answer in between
(DNS rebinding) gains nothing.

A host has to be written in one way only. `0x7f.1`, `2130706433`, full-width digits or a zone are
refused for what they are, wherever they lead: nobody writes a public address like that.
"""

from __future__ import annotations

import re
import socket
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

from argentum.errors import ArgentumError, InputError, shown
from argentum.security.networks import PUBLIC, IPAddress, as_dialled, kind_of

Resolve = Callable[[str, int], Iterable[str]]
"""Gives the IP addresses of a name, for a port."""

ALLOWED_NAMES = ("loopback", "private")
"""What can be allowed on purpose; addresses of cloud metadata never are."""
SCHEMES = {"http": 80, "https": 443}
MAX_URL_CHARACTERS = 8192
MAX_HOST_CHARACTERS = 253
MAX_ANSWERS = 64

_INNER_NAMES = frozenset({
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home",
    "lan", "localnet", "svc", "consul", "ip6-localhost", "ip6-loopback", "ip6-localnet",
})  # fmt: skip
"""Last parts of names that only an inner network knows (ICANN gives none of them out)."""
_INNER_SUFFIXES = (".home.arpa", ".in-addr.arpa", ".ip6.arpa", ".cluster.local")
_METADATA_NAMES = frozenset({
    "metadata", "metadata.google.internal", "metadata.goog", "metadata.goog.internal",
    "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com",
    "metadata.azure.internal", "metadata.platformequinix.com", "metadata.packet.net",
})  # fmt: skip
_LOOPBACK_NAMES = re.compile(r"(.+\.)?localhost6?(\.localdomain6?)?|ip6-(localhost|loopback)")

_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(?::([0-9]{0,5}))?")
_NOT_IN_URLS = re.compile(r"[\s\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
_ORIGIN = re.compile(r"(?:[^/\\?#:@]*:)?[/\\]*[^/\\?#]*")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOTTED = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")
_DOTS = "\u3002\uff0e\uff61"
_IN_TARGETS = "!#$%&'()*+,/:;=?@[]~"

_LOWEST_FREE_PORT = 1024
_OTHER_PROTOCOLS = frozenset({
    1080, 1099, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380,
    3306, 3389, 3659, 4045, 4190, 4369, 5060, 5061, 5432, 5672, 5900, 5984, 5985, 5986, 6000,
    6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7001, 8086, 8500, 8600, 9042,
    9092, 9200, 9300, 10080, 10250, 10255, 11211, 11434, 27017, 27018, 28015, 50070,
})  # fmt: skip
"""Ports of databases, control planes and other services that are never a hook on the internet."""


class UnreachableError(ArgentumError, ConnectionError):
    """An address that may be dialled was not found, or did not answer, or not in time."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a checked URL leads."""

    scheme: str
    host: str
    """As resolvers and certificates write it: lower case, `xn--` form, no dot at the end."""
    port: int
    target: str
    """Path and query, as they are sent."""
    ips: tuple[str, ...]
    """The checked addresses to dial; none if names were not resolved."""

    @property
    def authority(self) -> str:
        """Host and port, as the `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == SCHEMES[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What has to be the same for credentials to be sent on."""
        return self.scheme, self.host, self.port


def system_resolve(host: str, port: int) -> list[str]:
    """Ask the system; it may take as long as it likes (`argentum.security.fetching` bounds it)."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(answer[4][0]) for answer in answers]


def check_address(
    url: str,
    *,
    allow: Collection[str] = (),
    ports: Collection[int] = (),
    resolve: Resolve | None = system_resolve,
) -> Address:
    """
    Tell where a URL leads, if it may be dialled.

    Args:
        allow: inner networks to allow on purpose: "loopback" (for tests and local hooks),
            "private".
        ports: ports to allow in addition: without them 80, 443 and, above 1023, what is not known
            to be some other service. On loopback and private addresses that are allowed, any port.
        resolve: asked for the addresses of a name; None decides only what the URL itself tells,
            without any network.

    Raises:
        InputError: it may not be dialled; the message says why and what would have worked.
        UnreachableError: its name was not found.
    """
    allowed = _allowed(allow)
    scheme, authority, target = _split(url)
    host, port = _host_and_port(url, authority, scheme)
    literal = _literal(url, host)
    host = str(literal) if literal else _checked_name(url, host, allowed)
    ips = _checked_ips(url, _answers(url, host, port, literal, resolve), allowed)
    _refuse_port(url, port, ips, {*ports, *SCHEMES.values()})
    return Address(scheme, host, port, target, ips)


# ---------------------------------------------------------------- the parts of a URL


def _allowed(allow: Collection[str]) -> frozenset[str]:
    names = frozenset([allow] if isinstance(allow, str) else allow)
    unknown = names.difference(ALLOWED_NAMES)
    if unknown:
        known = ", ".join(ALLOWED_NAMES)
        message = f"{shown(min(unknown, key=repr))} cannot be allowed; known: {known}."
        raise InputError(message)
    return names


def _refused(url: object, reason: str) -> InputError:
    return InputError(f"{origin_shown(url)} may not be dialled: {reason}.")


def origin_shown(url: object) -> str:
    """Show where a URL leads, for a message, without what may be secret: password, path, query."""
    if not isinstance(url, str):
        return shown(url)
    start = _ORIGIN.match(url[:MAX_URL_CHARACTERS])
    origin = start[0] if start else ""
    scheme, slashes, authority = origin.rpartition("/")
    shown_origin = scheme + slashes + authority.rpartition("@")[2]
    return shown(shown_origin + ("/…" if len(url) > len(origin) else ""))


def _split(url: str) -> tuple[str, str, str]:
    """Split a URL into scheme, authority and target."""
    if not isinstance(url, str):
        raise _refused(url, "it is no text; give a URL such as 'https://example.com/hook'")
    url = str.__str__(url)  # a subclass could answer one thing now and another later
    if len(url) > MAX_URL_CHARACTERS:
        raise _refused(url, f"it is longer than {MAX_URL_CHARACTERS} characters")
    hidden = _NOT_IN_URLS.search(url)
    if hidden:
        raise _refused(url, f"{hidden[0]!r} cannot be in a URL; write it as a percent escape")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _refused(url, "it is no URL") from error
    if parts.scheme not in SCHEMES:
        raise _refused(url, f"its scheme {parts.scheme!r} is not http or https")
    if "@" in parts.netloc:
        raise _refused(url, "it has a user name; give credentials in a header")
    if not parts.netloc:
        raise _refused(url, "it has no host; write it as 'https://HOST/…'")
    query = f"?{parts.query}" if parts.query else ""
    return parts.scheme, parts.netloc, quote((parts.path or "/") + query, safe=_IN_TARGETS)


def _host_and_port(url: str, authority: str, scheme: str) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(authority)
    if not found:
        raise _refused(url, f"{authority!r} is no host and port; write it as 'HOST:8443'")
    port = int(found[2]) if found[2] else SCHEMES[scheme]
    if not 0 < port < 1 << 16:
        raise _refused(url, f"there is no port {port}; 1 to 65535 exist")
    return found[1], port


def _refuse_port(url: str, port: int, ips: Iterable[str], always: Collection[int]) -> None:
    if port in always or (port >= _LOWEST_FREE_PORT and port not in _OTHER_PROTOCOLS):
        return
    inner = [ip for ip in ips if kind_of(ip) != PUBLIC]  # and so allowed on purpose
    if not inner:
        raise _refused(
            url, f"port {port} is that of another service; allow it with ports=({port},)"
        )


# ---------------------------------------------------------------- the host, as it is written


def _literal(url: str, host: str) -> IPAddress | None:
    """Read the host as an IP address, None if it is a name; other spellings of one are refused."""
    if host.startswith("["):
        if "%" in host:
            raise _refused(url, "it names a network interface (a zone), so it is not public")
        try:
            return IPv6Address(host[1:-1])
        except ValueError as error:
            raise _refused(url, f"{host!r} is no IPv6 address") from error
    if _DOTTED.fullmatch(host):
        try:
            return IPv4Address(host)
        except ValueError as error:
            raise _refused(url, f"{host!r} is no IPv4 address") from error
    return None


def _checked_name(url: str, host: str, allowed: frozenset[str]) -> str:
    """Give the host as resolvers write it, unless its name alone tells that it may not be."""
    name = _ascii_name(url, host)
    labels = name.split(".")
    if not all(map(_LABEL.fullmatch, labels)) or len(name) > MAX_HOST_CHARACTERS:
        raise _refused(url, f"{host!r} is no name of a host")
    if _NUMBER.fullmatch(labels[-1]):
        raise _refused(url, f"{host!r} is an address in disguise; write four numbers with dots")
    if name in _METADATA_NAMES:
        raise _refused(url, "it serves a cloud's credentials")
    if _LOOPBACK_NAMES.fullmatch(name):
        needed = "loopback"
    elif len(labels) == 1 or labels[-1] in _INNER_NAMES or name.endswith(_INNER_SUFFIXES):
        needed = "private"
    else:
        return name
    if needed not in allowed:
        raise _refused(url, f"{host!r} is a name of an inner network{_cure(needed)}")
    return name


def _ascii_name(url: str, host: str) -> str:
    """Give a host name in lower case and `xn--` form, if it is written in its normal form."""
    if not host.strip("."):
        raise _refused(url, "it has no host; write it as 'https://HOST/…'")
    if "%" in host:
        raise _refused(url, "its host has percent escapes; write the host as it is")
    name = host.lower().removesuffix(".")
    if len(name) > MAX_HOST_CHARACTERS:
        raise _refused(url, f"its host is longer than {MAX_HOST_CHARACTERS} characters")
    if host.isascii():
        return name
    try:
        ascii_name = name.encode("idna").decode("ascii")
        same = ascii_name.encode("ascii").decode("idna") == unicodedata.normalize("NFC", name)
    except UnicodeError as error:
        raise _refused(url, f"{host!r} is no name of a host") from error
    if not same or any(dot in name for dot in _DOTS) or ascii_name == name:
        # What is folded on the way to a resolver (circled digits, invisible characters, a sharp
        # s) is read differently by different programs.
        reason = f"its host {host!r} can be read in two ways; write {ascii_name!r} or its xn-- form"
        raise _refused(url, reason)
    return ascii_name


def _cure(kind: str) -> str:
    return f"; allow it with allow=({kind!r},)" if kind in ALLOWED_NAMES else ""


# ---------------------------------------------------------------- the addresses


def _answers(
    url: str, host: str, port: int, literal: IPAddress | None, resolve: Resolve | None
) -> list[str]:
    if literal is not None:
        return [str(literal)]
    if resolve is None:
        return []
    try:
        answers = list(dict.fromkeys(resolve(host, port)))
    except (OSError, UnicodeError) as error:
        message = f"The name {host!r} was not found ({error}). Check how it is written."
        raise UnreachableError(message) from error
    if not answers:
        message = f"The name {host!r} has no address. Check how it is written."
        raise UnreachableError(message)
    if len(answers) > MAX_ANSWERS:
        raise _refused(url, f"the name {host!r} has more than {MAX_ANSWERS} addresses")
    return answers


def _checked_ips(url: str, answers: list[str], allowed: frozenset[str]) -> tuple[str, ...]:
    """Give the addresses to dial, if each of them may be."""
    for answer in answers:
        kind = kind_of(answer)
        if kind != PUBLIC and kind not in allowed:
            article = "an" if kind[0] in "aeiou" else "a"
            raise _refused(url, f"it leads to {answer}, {article} {kind} address{_cure(kind)}")
    return tuple(dict.fromkeys(as_dialled(answer) for answer in answers))
