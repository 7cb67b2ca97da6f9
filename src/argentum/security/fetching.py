"""
One HTTP request to an address from outside: checked, bounded in time and size, and nothing more.

The standard library does the HTTP and the TLS. What is added: the connection is made to an
address that `argentum.security.addresses` has checked, while the certificate and the `Host`
header stay those of the name; each redirect is checked like the first URL; no proxy is taken from
the environment; one deadline holds for all of it, from the lookup to the last byte; and no more
is read than was asked for.
"""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
import ssl
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from itertools import islice
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Thread
from typing import Any
from urllib.parse import urljoin

from argentum.errors import InputError, shown
from argentum.security.addresses import (
    MAX_ANSWERS,
    Address,
    Resolve,
    UnreachableError,
    check_address,
    origin_shown,
    system_resolve,
)
from argentum.security.wire import Deadline, Wire

MAX_DIALS = 4
"""Addresses of one name that are tried."""
MAX_LOOKUPS = 16
"""Lookups under way at once: one that hangs cannot be stopped, only left behind."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
KEEPS_METHOD = frozenset({307, 308})

_OWN_HEADERS = frozenset({
    "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
    "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
_SENT_ON = frozenset({"accept", "user-agent"})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_lookups = BoundedSemaphore(MAX_LOOKUPS)


_RANGES = (
    ("timeout_s", 0.001, 3600),
    ("max_bytes", 0, 1 << 30),
    ("max_redirects", 0, 20),
)


def _refuse_out_of_range(name: str, value: object, lowest: float, highest: float) -> None:
    if not isinstance(value, (int, float)) or not lowest <= value <= highest:
        message = f"{name} is {shown(value)}; a number from {lowest} to {highest} would work."
        raise InputError(message)


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be dialled, how long it may take and how much may come back."""

    allow: Collection[str] = ()
    """See `argentum.security.addresses.check_address`, also for `ports` and `resolve`."""
    ports: Collection[int] = ()
    timeout_s: float = 10.0
    """For all of it: lookups, connecting, sending, waiting, reading, redirects."""
    max_bytes: int = 1 << 20
    """Of the body that are read."""
    max_redirects: int = 0
    """Times that a redirect is followed; without, it is the response."""
    resolve: Resolve = system_resolve
    tls: ssl.SSLContext | None = None
    """Checks certificates; by default against those that the system trusts."""

    def __post_init__(self) -> None:
        for name, lowest, highest in _RANGES:
            _refuse_out_of_range(name, getattr(self, name), lowest, highest)


DEFAULT_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Response:
    """What came back."""

    url: str = field(repr=False)
    """Where it came from, after redirects; its path may be a secret, as those of hooks are."""
    status: int
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case; a header that came more than once is joined by commas."""
    body: bytes = field(repr=False)
    is_whole: bool
    """False if the body is longer than `max_bytes`: then this is its start."""


@dataclass(frozen=True, slots=True)
class _Request:
    url: str
    method: str
    headers: Mapping[str, str]
    body: bytes


def fetch(
    url: str,
    *,
    method: str = "GET",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    rules: Rules = DEFAULT_RULES,
) -> Response:
    """
    Send one HTTP request to a URL from outside, if it may be dialled.

    Where `rules` let redirects be followed, each is checked like the first URL; none leads from
    https to http; to another origin no header is sent on, and no body at all.

    Raises:
        InputError: the URL, or one that it redirects to, may not be dialled; or an argument
            cannot be used.
        UnreachableError: the name was not found, nobody answered in time, or not in HTTP, or the
            certificate is wrong.
    """
    request = _Request(url, *_checked(method, headers or {}, body))
    deadline = Deadline(rules.timeout_s)
    for _ in range(rules.max_redirects):
        response = _exchange(request, rules, deadline)
        following = _redirected(request, response, rules)
        if following is None:
            return response
        request = following
    return _exchange(request, rules, deadline)


async def afetch(
    url: str,
    *,
    method: str = "GET",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    rules: Rules = DEFAULT_RULES,
) -> Response:
    """
    Do what `fetch` does without holding up the event loop: it waits in a thread.

    A task that is cancelled leaves the request to end by itself, within its time.

    Raises:
        InputError: see `fetch`.
        UnreachableError: see `fetch`.
    """
    call = partial(fetch, url, method=method, body=body, headers=headers, rules=rules)
    return await asyncio.to_thread(call)


# ---------------------------------------------------------------- what is asked


def _checked(
    method: str, headers: Mapping[str, str], body: object
) -> tuple[str, dict[str, str], bytes]:
    if method not in METHODS:
        message = f"The method {shown(method)} is not one of {', '.join(sorted(METHODS))}."
        raise InputError(message)
    if not isinstance(body, bytes):
        message = f"The body is {type(body).__name__}; give bytes, such as json.dumps(…).encode()."
        raise InputError(message)
    for name, value in headers.items():
        _refuse_header(name, value)
    return method, dict(headers), body


def _refuse_header(name: object, value: object) -> None:
    """Refuse a header that would change the request's shape; its value is never shown."""
    if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
        message = f"{shown(name)} is no name of a header; letters, digits and '-' would work."
        raise InputError(message)
    if name.lower() in _OWN_HEADERS:
        message = f"The header {name!r} follows from the request; leave it out."
        raise InputError(message)
    if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
        message = f"The value of the header {name!r} has to be one line of ASCII text."
        raise InputError(message)


def _redirected(request: _Request, response: Response, rules: Rules) -> _Request | None:
    """Give the request that a redirect asks for, None if it is none."""
    location = response.headers.get("location")
    if response.status not in REDIRECTS or location is None:
        return None
    url = _joined_url(request.url, location)
    following = replace(request, url=url)
    if response.status not in KEEPS_METHOD and request.method != "HEAD":
        following = replace(following, method="GET", body=b"")
    check = partial(check_address, allow=rules.allow, ports=rules.ports, resolve=None)
    before, after = check(request.url), check(url)
    if before.origin == after.origin:
        return following
    if before.scheme == "https" and after.scheme == "http":
        raise _not_followed(request, "from https to http")
    if following.method not in ("GET", "HEAD"):
        raise _not_followed(request, f"a {request.method} to another origin")
    kept = {name: value for name, value in request.headers.items() if name.lower() in _SENT_ON}
    return replace(following, headers=kept, body=b"")


def _joined_url(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError as error:
        message = f"{origin_shown(url)} redirects to what is no URL ({error})."
        raise InputError(message) from error


def _not_followed(request: _Request, what: str) -> InputError:
    return InputError(
        f"{origin_shown(request.url)} redirects {what}, which is not followed. "
        "Give the URL that it redirects to, or max_redirects=0 to have the redirect itself."
    )


# ---------------------------------------------------------------- one exchange


def _exchange(request: _Request, rules: Rules, deadline: Deadline) -> Response:
    with _told(request.url):
        address = check_address(
            request.url,
            allow=rules.allow,
            ports=rules.ports,
            resolve=partial(_resolved, rules.resolve, deadline),
        )
        with closing(_dialled(address, deadline)) as plain:
            connection = _secured(plain, address, rules, deadline)
            with closing(connection):
                return _asked(request, address, Wire(connection, deadline), rules.max_bytes)


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Raise what goes wrong on the way as one kind of error, without the secret parts of a URL."""
    try:
        yield
    except UnreachableError:
        raise
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        message = f"{origin_shown(url)} did not answer as it should: {shown(reason)}."
        raise UnreachableError(message) from error


def _resolved(resolve: Resolve, deadline: Deadline, host: str, port: int) -> Iterable[str]:
    """Ask for a name in a thread of its own, because no lookup of a system can be ended."""
    if not _lookups.acquire(timeout=deadline.left_s()):
        message = "too many lookups are under way"
        raise TimeoutError(message)
    answers: SimpleQueue[list[str] | Exception] = SimpleQueue()
    work = partial(_look_up, resolve, host, port, answers)
    Thread(target=work, name="argentum-lookup", daemon=True).start()
    try:
        found = answers.get(timeout=deadline.left_s())
    except Empty:
        message = "the lookup took too long"
        raise TimeoutError(message) from None
    if isinstance(found, Exception):
        raise found
    return found


def _look_up(
    resolve: Resolve, host: str, port: int, answers: SimpleQueue[list[str] | Exception]
) -> None:
    try:
        answers.put(list(islice(resolve(host, port), MAX_ANSWERS + 1)))
    except Exception as error:  # noqa: BLE001 - raised again where it is waited for
        answers.put(error)
    finally:
        _lookups.release()


def _dialled(address: Address, deadline: Deadline) -> socket.socket:
    """Connect to one of the checked addresses, and to nothing else."""
    ips = address.ips[:MAX_DIALS]
    failure: OSError = ConnectionError("no address was left to try")
    for index, ip in enumerate(ips):
        patience_s = deadline.left_s() / (len(ips) - index)
        try:
            connection = socket.create_connection((ip, address.port), patience_s)
        except OSError as error:
            failure = error
            continue
        if ip_address(connection.getpeername()[0]) == ip_address(ip):
            return connection
        connection.close()
    raise failure


def _secured(
    connection: socket.socket, address: Address, rules: Rules, deadline: Deadline
) -> socket.socket:
    if address.scheme == "http":
        return connection
    connection.settimeout(deadline.left_s())
    context = rules.tls or ssl.create_default_context()
    return context.wrap_socket(connection, server_hostname=address.host)


def _asked(request: _Request, address: Address, wire: Wire, max_bytes: int) -> Response:
    connection = http.client.HTTPConnection(address.host, address.port)
    line: Any = wire
    connection.sock = line
    connection.putrequest(request.method, address.target, skip_host=True, skip_accept_encoding=True)
    for name, value in _all_headers(request, address).items():
        connection.putheader(name, value)
    connection.endheaders(request.body or None)
    with closing(connection.getresponse()) as response:
        body = response.read(max_bytes + 1)
        if response.length and len(body) <= max_bytes:
            message = "it ended before its end"
            raise ConnectionError(message)
        headers = _joined(response.getheaders())
    return Response(request.url, response.status, headers, body[:max_bytes], len(body) <= max_bytes)


def _all_headers(request: _Request, address: Address) -> dict[str, str]:
    headers = {"Host": address.authority, "User-Agent": "argentum", "Accept-Encoding": "identity"}
    if request.body or request.method in WITH_BODY:
        headers["Content-Length"] = str(len(request.body))
    given = {name.lower() for name in request.headers}
    ours = {name: value for name, value in headers.items() if name.lower() not in given}
    return ours | dict(request.headers) | {"Connection": "close"}


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined
