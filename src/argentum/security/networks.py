"""
Kinds of networks: which IP addresses are public, and what the others are.

The table is IANA's registries of special-purpose addresses (IPv4 and IPv6), and what they leave
out: multicast, and where clouds serve credentials to what runs in them. It makes no exception
for anycast services, since no hook or web page lives there.

`ipaddress.is_global` is not asked: its answer changes between patch versions of Python, and is
"yes" for multicast and for addresses that are translated to inner ones.
"""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from argentum.errors import InputError, shown

IPAddress = IPv4Address | IPv6Address
PUBLIC = "public"

_METADATA = """
    169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 169.254.169.253/32 169.254.0.23/32
    169.254.42.42/32 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32
    fd00:ec2::/32 fd20:ce::254/128 fd00:42::42/128 fd00:c1::a9fe:a9fe/128"""
# The first network that holds an address names its kind.
_TABLE = (
    ("metadata", _METADATA),
    ("loopback", "127.0.0.0/8 ::1/128"),
    ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7 fec0::/10"),
    ("link-local", "169.254.0.0/16 fe80::/10"),
    ("unspecified", "0.0.0.0/8 ::/128"),
    ("multicast", "224.0.0.0/4 ff00::/8"),
    (
        "documentation",
        "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    ),
    ("benchmarking", "198.18.0.0/15 2001:2::/48"),
    (
        "reserved",
        """192.0.0.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24
        240.0.0.0/4 2001::/23 2002::/16 2620:4f:8000::/48""",
    ),
)
_GIVEN_OUT = IPv6Network("2000::/3")
"""All of IPv6 that IANA has given out; the rest is reserved."""
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x5EFE, 0x0200_5EFE)


def kind_of(ip: str | IPAddress) -> str:
    """
    Name the kind of network that an IP address leads to: "public", or why it is not.

    An IPv4 address inside an IPv6 one (mapped, NAT64) is what counts; deprecated ways of putting
    one there (compatible, 6to4, Teredo, ISATAP) are never public.

    Raises:
        InputError: it is no IP address.
    """
    address = _inner(_parsed(ip))
    for kind, networks in _networks(address.version):
        if any(address in network for network in networks):
            return kind
    if isinstance(address, IPv6Address):
        is_isatap = int(address) >> 32 & 0xFFFF_FFFF in _ISATAP
        return "reserved" if is_isatap or address not in _GIVEN_OUT else PUBLIC
    return PUBLIC


def as_dialled(ip: str | IPAddress) -> str:
    """
    Write an IP address as it is dialled: a mapped one as the IPv4 address that it means.

    Raises:
        InputError: it is no IP address.
    """
    address = _parsed(ip)
    is_mapped = isinstance(address, IPv6Address) and address in _MAPPED
    return str(_inner(address) if is_mapped else address)


def _parsed(ip: str | IPAddress) -> IPAddress:
    try:
        return ip_address(ip)
    except ValueError as error:
        message = f"{shown(ip)} is no IP address; 192.0.2.1 and 2001:db8::1 are written like ones."
        raise InputError(message) from error


def _inner(address: IPAddress) -> IPAddress:
    """Give the IPv4 address that an IPv6 address leads to, else the address itself."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


@cache
def _networks(version: int) -> tuple[tuple[str, tuple[IPv4Network | IPv6Network, ...]], ...]:
    return tuple(
        (kind, tuple(one for one in map(ip_network, texts.split()) if one.version == version))
        for kind, texts in _TABLE
    )
