"""Which URLs may be dialled, against `address_vectors.json` and a resolver that lies."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argentum.errors import ArgentumError, InputError
from argentum.security.addresses import UnreachableError, check_address, origin_shown
from argentum.security.networks import as_dialled, kind_of

PUBLIC_IP = "93.184.215.14"


def written_out(url: str | list[Any]) -> str:
    """Give a URL; a long one is written as its start, a piece and how often that comes."""
    return url if isinstance(url, str) else f"{url[0]}{url[1] * url[2]}.com/"


VECTORS = json.loads(Path(__file__).with_name("address_vectors.json").read_text())
ATTACKS = [written_out(url) for group in VECTORS["attacks"].values() for url in group]
ATTACKS_BY_NAME = VECTORS["attacks by name"]
ATTACKS_BY_NAME["too-many"] = [f"1.1.1.{number}" for number in range(100)]
GOOD = VECTORS["good"]


def public(host: str, port: int) -> list[str]:
    """Resolve every name to the same public address."""
    return [PUBLIC_IP]


def is_refused(url: object, **options: Any) -> bool:
    """Tell whether a URL may not be dialled."""
    try:
        check_address(url, **options)
    except InputError:
        return True
    return False


def test_there_are_as_many_vectors_as_promised():
    """120 attacks and 100 good URLs, none twice."""
    assert len(set(ATTACKS)) == len(ATTACKS) >= 120
    assert len(ATTACKS_BY_NAME) >= 30
    assert len(set(GOOD)) == len(GOOD) >= 100


@pytest.mark.parametrize("resolve", [None, public])
def test_every_attack_is_refused_by_what_it_says(resolve: Any):
    """No name has to be resolved to refuse these, and an innocent answer saves none of them."""
    assert [] == [url for url in ATTACKS if not is_refused(url, resolve=resolve)]


def test_every_answer_of_the_resolver_is_checked():
    """A harmless name that leads inside is refused, even by one answer of many."""
    through = [
        name
        for name, answers in ATTACKS_BY_NAME.items()
        if not is_refused(f"https://{name}.example.com/", resolve=lambda *_, to=answers: to)
    ]
    assert [] == through


def test_every_good_url_is_let_through():
    """What is odd but harmless is not refused, with and without its name resolved."""
    for url in GOOD:
        assert check_address(url, resolve=public).ips
        assert check_address(url, resolve=None).target.startswith("/")


def test_an_address_holds_what_is_dialled():
    """Scheme, host, port and target are as they will be sent, and the addresses are checked."""
    address = check_address(
        "HTTPS://Bücher.Example.:8443/a ü?q=é#f".replace(" ", "%20"), resolve=public
    )
    assert ("https", "xn--bcher-kva.example", 8443) == address.origin
    assert "/a%20%C3%BC?q=%C3%A9" == address.target
    assert "xn--bcher-kva.example:8443" == address.authority
    assert (PUBLIC_IP,) == address.ips


def test_an_ipv6_address_keeps_its_brackets_in_the_host_header():
    """Only there: the host itself is the address."""
    address = check_address("http://[2606:4700:4700::1111]:8080/")
    assert "2606:4700:4700::1111" == address.host
    assert "[2606:4700:4700::1111]:8080" == address.authority


def test_mapped_addresses_are_dialled_as_what_they_mean():
    """`::ffff:8.8.8.8` is 8.8.8.8, once; a NAT64 address is left to the network that has it."""
    answers = ["::ffff:8.8.8.8", "8.8.8.8", "64:ff9b::808:808"]
    address = check_address("http://example.com", resolve=lambda *_: answers)
    assert ("8.8.8.8", "64:ff9b::808:808") == address.ips


@pytest.mark.parametrize(
    "url, allow",
    [
        ("http://127.0.0.1:5000/hook", "loopback"), ("http://[::1]/", "loopback"),
        ("http://localhost:8000/", "loopback"), ("http://app.localhost/", "loopback"),
        ("http://127.0.0.1:22/", "loopback"), ("http://[::ffff:127.0.0.1]/", "loopback"),
        ("http://10.0.0.5:6379/", "private"), ("http://[fd00::5]/", "private"),
        ("http://192.168.1.1/", "private"), ("http://100.64.0.1/", "private"),
    ],
)  # fmt: skip
def test_inner_networks_can_be_allowed_by_name(url: str, allow: str):
    """What is meant on purpose works, under its own name and no other."""
    other = {"loopback": "private", "private": "loopback"}[allow]

    def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1", "::1"]

    assert not is_refused(url, allow=(allow,), resolve=resolve)
    assert is_refused(url, allow=(other,), resolve=resolve)
    assert is_refused(url, resolve=resolve)


@pytest.mark.parametrize("url", VECTORS["attacks"]["metadata"])
def test_a_clouds_credentials_cannot_be_allowed(url: str):
    """No allowance reaches them."""
    assert is_refused(url, allow=("loopback", "private"), resolve=public)


def test_allowing_loopback_does_not_let_a_name_lead_elsewhere():
    """`localhost` that resolves to a private address stays refused."""
    resolve = lambda *_: ["127.0.0.1", "10.0.0.1"]  # noqa: E731
    assert is_refused("http://localhost/", allow=("loopback",), resolve=resolve)


def test_a_port_can_be_allowed():
    """A service on another port is reached where it is named."""
    assert is_refused("https://example.com:6379/", resolve=None)
    assert not is_refused("https://example.com:6379/", ports=(6379,), resolve=None)


@pytest.mark.parametrize("allow", [("metadata",), ("public", "loopback"), "privat", (7,)])
def test_an_unknown_allowance_is_refused(allow: Any):
    """The message says what can be allowed."""
    with pytest.raises(InputError, match="known: loopback, private"):
        check_address("https://example.com/", allow=allow, resolve=None)


def test_a_message_says_why_and_what_would_work():
    """The reader learns what the address is and how to allow it on purpose."""
    with pytest.raises(InputError) as caught:
        check_address("http://10.0.0.1/token/s3cret?key=s3cret")
    assert (
        "'http://10.0.0.1/…' may not be dialled: it leads to 10.0.0.1, a private address; "
        "allow it with allow=('private',)."
    ) == str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:s3cret@example.com/", "http://example.com:22/s3cret", "ftp://u:s3cret@h/s3cret",
        "http://s3cret@exa\u2100mple.com/", "http:s3cret@x", "http://10.0.0.1/?s3cret",
        "http://10.0.0.1#s3cret", "http://user:s3cret@[::1", "//s3cret@h", "s3cret@h:80/x",
        "http://example.com/" + "s3cret" * 2000, "http://example.com/\ns3cret",
    ],
)  # fmt: skip
def test_no_message_shows_what_may_be_secret(url: str):
    """Password, path, query and fragment of a URL stay out of errors."""
    with pytest.raises(InputError) as caught:
        check_address(url, resolve=public)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", [None, 7, b"https://example.com/", ["https://example.com/"]])
def test_what_is_no_text_is_refused(url: object):
    """Only text is a URL."""
    assert is_refused(url)


def test_a_name_that_is_not_found_is_unreachable_and_not_refused():
    """The difference matters to who tries again later."""

    def nowhere(host: str, port: int) -> list[str]:
        message = "Name or service not known"
        raise OSError(message)

    for resolve in (nowhere, lambda *_: []):
        with pytest.raises(UnreachableError, match="Check how it is written"):
            check_address("https://nowhere.example.com/", resolve=resolve)


def test_a_name_is_resolved_once():
    """A second lookup could get another answer."""
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return [PUBLIC_IP]

    check_address("https://Example.COM.:8443/", resolve=resolve)
    assert [("example.com", 8443)] == asked


@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_is_what_its_mapped_and_translated_forms_are(number: int):
    """Wrapping an address changes nothing, and the deprecated wrappings are never public."""
    kind = kind_of(IPv4Address(number))
    assert kind == kind_of(IPv6Address(0xFFFF << 32 | number))
    assert kind == kind_of(IPv6Address(0x64FF9B << 96 | number))
    assert "public" != kind_of(IPv6Address(number))
    assert "public" != kind_of(IPv6Address(0x2002 << 112 | number << 80))
    assert "public" != kind_of(IPv6Address(0x20010000 << 96 | number ^ 0xFFFFFFFF))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_the_standard_library_knows_to_be_inner_is_never_public(address: Any):
    """The own table is no laxer than any of Python's, and dialling an address keeps its kind."""
    inner = (
        address.is_private, address.is_loopback, address.is_link_local, address.is_multicast,
        address.is_reserved, address.is_unspecified,
    )  # fmt: skip
    unwrapped = getattr(address, "ipv4_mapped", None)
    if any(inner) and unwrapped is None and "64:ff9b::" not in str(address):
        assert "public" != kind_of(address)
    assert kind_of(address) == kind_of(as_dialled(address))


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(["d", "o", "x", "X", "0"]), min_size=1, max_size=4),
)
def test_no_spelling_of_an_ipv4_address_is_let_through_but_the_usual(
    number: int, styles: list[str]
):
    """Every form that `inet_aton` reads, other than four decimal numbers, is refused."""
    sizes = {1: [32], 2: [8, 24], 3: [8, 8, 16], 4: [8, 8, 8, 8]}[len(styles)]
    parts, left = [], 32
    for size, style in zip(sizes, styles, strict=True):
        left -= size
        part = number >> left & (1 << size) - 1
        form = {"d": "{:d}", "o": "0{:o}", "x": "0x{:x}", "X": "0X{:04X}", "0": "00{:d}"}[style]
        parts.append(form.format(part))
    host = ".".join(parts)
    if host != str(IPv4Address(number)):
        assert is_refused(f"http://{host}/", resolve=public)
        assert is_refused(f"http://{host}./", allow=("loopback", "private"), resolve=public)


@given(st.text(st.sampled_from("htps:/\\@[]%.0127xaüß①。\u200b#?&-_ \n"), max_size=20))
def test_any_text_is_refused_or_leads_to_the_public(text: str):
    """Nothing but an address or an error of ours comes back, whatever is given."""
    for url in (text, f"http://{text}", f"http://{text}.com/"):
        try:
            address = check_address(url, resolve=public)
        except ArgentumError:
            continue
        assert {"public"} == {kind_of(ip) for ip in address.ips}
        assert address.host.isascii()


@given(st.text(max_size=40))
def test_any_text_can_be_shown(text: str):
    """Showing where a URL leads never fails."""
    assert isinstance(origin_shown(text), str)
