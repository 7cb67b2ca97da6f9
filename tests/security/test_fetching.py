"""One request to an address from outside, against real servers on loopback that misbehave."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argentum.errors import InputError
from argentum.security import fetching
from argentum.security.addresses import UnreachableError
from argentum.security.fetching import Rules, afetch, fetch

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\n\r\nok"
Answer = Callable[[socket.socket, bytes], None]


class Server:
    """A server on loopback that keeps what it was sent and answers each path in its own way."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.requests: list[bytes] = []
        self.answers: dict[str, bytes | Answer] = {"/": OK}
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.02)
        self._is_over = threading.Event()
        self.port = self._socket.getsockname()[1]
        self._threads = [threading.Thread(target=self._serve)]
        self._threads[0].start()

    def _serve(self) -> None:
        while not self._is_over.is_set():
            with suppress(TimeoutError):
                connection, _ = self._socket.accept()
                connection.settimeout(10)
                thread = threading.Thread(target=self._answer, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _answer(self, plain: socket.socket) -> None:
        try:
            connection = plain
            if self._context:
                connection = self._context.wrap_socket(plain, server_side=True)
            request = connection.recv(1 << 16)
            if not request:
                return
            while (head := request.partition(b"\r\n\r\n"))[1] and len(head[2]) < length(head[0]):
                request += connection.recv(1 << 16)
            self.requests.append(request)
            answer = self.answers[request.split()[1].decode()]
            if callable(answer):
                answer(connection, request)
            else:
                connection.sendall(answer)
            connection.close()
        except OSError:  # the client went away, as some tests want it to
            pass
        finally:
            plain.close()

    def close(self) -> None:
        """End, and wait for what is under way."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        self._socket.close()


def length(head: bytes) -> int:
    """Read the length that a request says its body has."""
    found = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
    return int(found or b"0")


@pytest.fixture
def server() -> Iterator[Server]:
    """Start a server, and end it."""
    made = Server()
    yield made
    made.close()


@pytest.fixture
def other() -> Iterator[Server]:
    """Start a second server, at another origin."""
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate for `hook.example.com` that nobody else trusts."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", "pem.key", "-out", "pem"]
    names = ["-subj", "/CN=hook.example.com", "-addext", "subjectAltName=DNS:hook.example.com"]
    subprocess.run([*command, *names], cwd=folder, check=True, capture_output=True)
    both = (folder / "pem").read_bytes() + (folder / "pem.key").read_bytes()
    (folder / "both.pem").write_bytes(both)
    return folder / "both.pem"


def to_loopback(host: str, port: int) -> list[str]:
    """Resolve every name to this machine."""
    return ["127.0.0.1"]


LOCAL = Rules(allow=("loopback",), resolve=to_loopback, timeout_s=10)


def redirect(location: str, status: int = 302) -> bytes:
    """Write an answer that redirects."""
    return f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


# ---------------------------------------------------------------- what is sent and read


def test_a_hook_is_called_and_its_answer_given(server: Server):
    """The body arrives with the headers that were given, and the answer is read."""
    server.answers["/hook?a=b"] = OK
    response = fetch(
        f"http://hook.example.com:{server.port}/hook?a=b#f",
        method="POST", body=b'{"a": 1}', headers={"Content-Type": "application/json"}, rules=LOCAL,
    )  # fmt: skip
    assert (200, b"ok", True) == (response.status, response.body, response.is_whole)
    assert {"content-length": "2", "x-a": "1, 2"} == response.headers
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert b'{"a": 1}' == body
    assert [
        b"POST /hook?a=b HTTP/1.1", f"Host: hook.example.com:{server.port}".encode(),
        b"User-Agent: argentum", b"Accept-Encoding: identity", b"Content-Length: 8",
        b"Content-Type: application/json", b"Connection: close",
    ] == head.split(b"\r\n")  # fmt: skip


def test_the_async_way_does_the_same(server: Server):
    """Several at once do not wait for each other."""

    async def both() -> list[Any]:
        url = f"http://hook.example.com:{server.port}/"
        return await asyncio.gather(*(afetch(url, rules=LOCAL) for _ in range(3)))

    assert [b"ok"] * 3 == [response.body for response in asyncio.run(both())]
    assert 3 == len(server.requests)


def test_a_proxy_of_the_environment_is_not_used(server: Server, other: Server, monkeypatch):
    """It would resolve the name itself, so what was checked would not be what is dialled."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{other.port}")
    fetch(f"http://hook.example.com:{server.port}/", rules=LOCAL)
    assert (1, 0) == (len(server.requests), len(other.requests))


@pytest.mark.parametrize("size", [0, 99, 100, 101, 100_000])
@pytest.mark.parametrize("how", ["length", "chunks", "end"])
def test_no_more_is_read_than_was_asked_for(server: Server, size: int, how: str):
    """A longer body is cut where the limit says, and that is told."""
    body = b"x" * size
    server.answers["/"] = {
        "length": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + body,
        "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + (b"%x\r\n%s\r\n" % (size, body) if size else b"")
        + b"0\r\n\r\n",
        "end": b"HTTP/1.1 200 OK\r\n\r\n" + body,
    }[how]
    rules = replace(LOCAL, max_bytes=100)
    response = fetch(f"http://hook.example.com:{server.port}/", rules=rules)
    assert (body[:100], size <= 100) == (response.body, response.is_whole)


def forever(connection: socket.socket, request: bytes) -> None:
    """Send one more header now and then, without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(600):
        connection.sendall(b"X-%d: a\r\n" % number)
        time.sleep(0.1)


def slowly(connection: socket.socket, request: bytes) -> None:
    """Send one more byte of the body now and then."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n")
    for _ in range(600):
        connection.sendall(b"x")
        time.sleep(0.1)


def silently(connection: socket.socket, request: bytes) -> None:
    """Wait until the client goes away."""
    connection.recv(1)


@pytest.mark.parametrize("answer", [forever, slowly, silently])
def test_one_deadline_holds_for_all_of_it(server: Server, answer: Answer):
    """A server that keeps sending a little does not get more time than one that sends nothing."""
    server.answers["/"] = answer
    with pytest.raises(UnreachableError):
        fetch(f"http://hook.example.com:{server.port}/", rules=replace(LOCAL, timeout_s=0.5))


@pytest.fixture
def hanging() -> Iterator[Rules]:
    """Give rules whose lookups hang until the test is over."""
    over = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        over.wait()
        return []

    yield replace(LOCAL, resolve=resolve, timeout_s=0.05)
    over.set()
    for thread in lookups():
        thread.join()


def lookups() -> list[threading.Thread]:
    """List the lookups that are under way."""
    return [one for one in threading.enumerate() if one.name == "argentum-lookup"]


def test_a_lookup_that_hangs_is_left_behind(hanging: Rules):
    """The system cannot be told to stop looking, but nobody has to wait for it."""
    with pytest.raises(UnreachableError, match="took too long"):
        fetch("http://hook.example.com/", rules=hanging)


def test_only_so_many_lookups_hang_at_once(hanging: Rules):
    """When all are taken, the next one waits its time and is told."""
    for _ in range(fetching.MAX_LOOKUPS):
        with pytest.raises(UnreachableError, match="took too long"):
            fetch("http://hook.example.com/", rules=hanging)
    with pytest.raises(UnreachableError, match="too many lookups"):
        fetch("http://hook.example.com/", rules=hanging)
    assert fetching.MAX_LOOKUPS == len(lookups())


@pytest.mark.parametrize(
    "answer",
    [
        b"", b"nonsense\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nx",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"HTTP/1.1 200 " + b"x" * 70_000,
        b"SSH-2.0-OpenSSH_9.6\r\n", b"\x15\x03\x01\x00\x02\x02\x46",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told_as_one_kind_of_error(server: Server, answer: bytes):
    """Whatever a server sends, nothing but our own error comes out of it."""
    server.answers["/"] = answer
    with pytest.raises(UnreachableError, match="did not answer as it should"):
        fetch(f"http://hook.example.com:{server.port}/", rules=LOCAL)


def test_nobody_there_is_unreachable():
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(UnreachableError, match="refused"):
        fetch(f"http://hook.example.com:{port}/s3cret", rules=LOCAL)


def test_the_next_address_is_tried(server: Server):
    """A name with several addresses works while one of them answers."""
    rules = replace(LOCAL, resolve=lambda *_: ["127.0.0.99", "127.0.0.1"])
    assert 200 == fetch(f"http://hook.example.com:{server.port}/", rules=rules).status


# ---------------------------------------------------------------- what is not dialled


def test_a_name_that_changes_its_answer_gains_nothing(server: Server):
    """The name is looked up once, and what was checked is dialled: the server sees nothing."""
    answers = iter([["192.0.9.9"], ["127.0.0.1"], ["127.0.0.1"]])
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    rules = Rules(resolve=resolve, timeout_s=0.3)
    with pytest.raises(UnreachableError):
        fetch(f"http://rebind.example.com:{server.port}/", rules=rules)
    assert (["rebind.example.com"], []) == (asked, server.requests)
    with pytest.raises(InputError, match="leads to 127.0.0.1"):
        fetch(f"http://rebind.example.com:{server.port}/", rules=rules)
    assert [] == server.requests


def test_one_inner_answer_among_many_refuses_the_name(server: Server):
    """Nothing is dialled, not even the harmless ones."""
    rules = Rules(resolve=lambda *_: ["93.184.215.14", "127.0.0.1"], timeout_s=0.3)
    with pytest.raises(InputError, match="leads to 127.0.0.1"):
        fetch(f"http://many.example.com:{server.port}/", rules=rules)
    assert [] == server.requests


INNER = [
    "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]/",
    "http://0x7f.1/", "http://2130706433/", "http://user@hook.example.com/", "file:///etc/passwd",
    "//metadata.google.internal/", "http://inner.example.com/", "gopher://127.0.0.1/", "http://[",
    "http://redis/", "http://①②⑦.0.0.1/".encode().decode("latin-1"),
]  # fmt: skip


@pytest.mark.parametrize("location", INNER)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_what_may_not_be_dialled_is_refused(
    server: Server, location: str, status: int
):
    """Each redirect is checked like the first URL."""
    server.answers["/"] = redirect(location, status)

    def resolve(host: str, port: int) -> list[str]:
        return ["10.0.0.7"] if host == "inner.example.com" else ["127.0.0.1"]

    rules = replace(LOCAL, resolve=resolve, max_redirects=5)
    with pytest.raises(InputError):
        fetch(f"http://hook.example.com:{server.port}/", rules=rules)
    assert 1 == len(server.requests)


def test_a_redirect_is_the_answer_unless_it_is_to_be_followed(server: Server):
    """By default nothing is followed; and it stops where the limit says."""
    server.answers["/"] = redirect("/")
    for limit in (0, 1, 3):
        server.requests.clear()
        rules = replace(LOCAL, max_redirects=limit)
        response = fetch(f"http://hook.example.com:{server.port}/", rules=rules)
        assert (302, limit + 1) == (response.status, len(server.requests))


def test_a_redirect_at_the_same_origin_keeps_what_was_sent(server: Server):
    """With 307 the body and all headers go along; with 302 a POST becomes a GET without body."""
    server.answers |= {"/": redirect("/a", 307), "/a": redirect("b", 302), "/b": OK}
    response = fetch(
        f"http://hook.example.com:{server.port}/", method="POST", body=b"x",
        headers={"Authorization": "Bearer s3cret"}, rules=replace(LOCAL, max_redirects=2),
    )  # fmt: skip
    assert f"http://hook.example.com:{server.port}/b" == response.url
    assert [b"POST", b"POST", b"GET"] == [request.split()[0] for request in server.requests]
    assert [b"x", b"x", b""] == [one.partition(b"\r\n\r\n")[2] for one in server.requests]
    assert all(b"Bearer s3cret" in request for request in server.requests)


def test_credentials_are_not_sent_to_another_origin(server: Server, other: Server):
    """No header of the caller but harmless ones goes along, and never a body."""
    server.answers["/"] = redirect(f"http://other.example.com:{other.port}/")
    headers = {"Authorization": "s3cret", "Cookie": "s3cret", "X-Key": "s3cret", "Accept": "a/b"}
    url, rules = f"http://hook.example.com:{server.port}/", replace(LOCAL, max_redirects=1)
    fetch(url, headers=headers, rules=rules)
    fetch(url, method="POST", body=b"s3cret", headers=headers, rules=rules)
    assert 2 == len(other.requests)
    assert not any(b"s3cret" in request for request in other.requests)
    assert all(b"Accept: a/b" in request for request in other.requests)
    server.answers["/"] = redirect(f"http://other.example.com:{other.port}/", 307)
    with pytest.raises(InputError, match="another origin"):
        fetch(url, method="POST", body=b"s3cret", rules=rules)
    assert 2 == len(other.requests)


# ---------------------------------------------------------------- TLS


def test_the_certificate_has_to_be_that_of_the_name(certificate: Path):
    """The address is dialled, but the name is what the certificate is checked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Server(context)
    try:
        trusting = ssl.create_default_context(cafile=str(certificate))
        rules = replace(LOCAL, tls=trusting)
        assert 200 == fetch(f"https://hook.example.com:{server.port}/", rules=rules).status
        with pytest.raises(UnreachableError, match="(?i)hostname mismatch"):
            fetch(f"https://other.example.com:{server.port}/", rules=rules)
        with pytest.raises(UnreachableError, match="(?i)self.signed"):
            fetch(f"https://hook.example.com:{server.port}/", rules=LOCAL)
        server.answers["/"] = redirect(f"http://hook.example.com:{server.port}/")
        with pytest.raises(InputError, match="from https to http"):
            fetch(f"https://hook.example.com:{server.port}/", rules=replace(rules, max_redirects=1))
        assert 2 == len(server.requests)
    finally:
        server.close()


# ---------------------------------------------------------------- what cannot be asked


@pytest.mark.parametrize(
    "options",
    [
        {"method": "get"}, {"method": "GET /x HTTP/1.1\r\nHost: y\r\n\r\n"}, {"method": "CONNECT"},
        {"body": "text"}, {"body": None}, {"headers": {"Host": "x"}}, {"headers": {"HOST": "x"}},
        {"headers": {"Content-Length": "1"}}, {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"X": "a\r\nY: b"}}, {"headers": {"X\r\nY": "b"}}, {"headers": {"X:": "b"}},
        {"headers": {"": "b"}}, {"headers": {"X": "ü"}}, {"headers": {"X": 1}},
        {"headers": {1: "x"}}, {"headers": {"X": "a\0"}},
    ],
)  # fmt: skip
def test_what_would_change_the_shape_of_the_request_is_refused(server: Server, options: Any):
    """Nothing is sent, and no value of a header is shown."""
    with pytest.raises(InputError) as caught:
        fetch(f"http://hook.example.com:{server.port}/", rules=LOCAL, **options)
    assert "Y: b" not in str(caught.value)
    assert [] == server.requests


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0}, {"timeout_s": -1}, {"timeout_s": float("nan")}, {"timeout_s": "10"},
        {"timeout_s": None}, {"max_bytes": -1}, {"max_bytes": 1 << 40}, {"max_redirects": 99},
    ],
)  # fmt: skip
def test_rules_that_cannot_be_kept_are_refused(options: Any):
    """There is no request without bounds."""
    with pytest.raises(InputError, match="would work"):
        Rules(**options)


def test_nothing_secret_is_in_what_a_response_shows(server: Server):
    """Neither its URL nor its body, since responses end up in logs."""
    server.answers["/s3cret"] = b"HTTP/1.1 200 OK\r\nSet-Cookie: s3cret\r\n\r\ns3cret"
    response = fetch(f"http://hook.example.com:{server.port}/s3cret", rules=LOCAL)
    assert "s3cret" not in repr(response)
