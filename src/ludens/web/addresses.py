"""Who a request comes from, and under which address people reach the server, also behind a proxy.

A proxy appends the address it was called from to `X-Forwarded-For`. Only what a trusted proxy appended is
believed: the header is read from the right, up to the first address that is not a trusted proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from yarl import URL

from ludens.core.errors import BadOption

Network = IPv4Network | IPv6Network
_CLIENT_BITS = 64
"""Of an IPv6 address: a home or a machine has at least all addresses that share them."""


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    networks = []
    for text in texts:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            raise BadOption(
                f"--trusted-proxy must be an address or a network such as 10.0.0.0/8, not {text[:60]!r}."
            ) from None
        if not network.prefixlen:
            raise BadOption(f"--trusted-proxy {text} would believe everybody: give the addresses of proxies.")
        networks.append(network)
    return tuple(networks)


def read_url(text: str) -> str:
    """The address of the server for people, without a path: `https://games.example.org`."""
    try:
        url = URL(text)
        valid = url.scheme in ("http", "https") and url == url.origin() and url.port and " " not in text
    except ValueError:  # a port that is not a number, brackets that do not match
        valid = False
    if not valid:
        raise BadOption(
            "--url must be http:// or https:// with a name and no path, "
            f"such as https://games.example.org, not {text[:80]!r}."
        )
    return str(url.origin())


def hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def as_reached(request: web.Request, url: str, proxies: Sequence[Network]) -> web.Request:
    """The request with the scheme of the public address and the address of the person who sent it."""
    if not url and not proxies:
        return request
    public = urlsplit(url)
    scheme = public.scheme if url and hostname(request.host) == public.hostname else request.scheme
    return request.clone(scheme=scheme, remote=_remote(request, proxies))


def is_trusted(address: str | None, proxies: Sequence[Network]) -> bool:
    read = _address(address or "")
    return read is not None and any(read in network for network in proxies)


def address_of(request: web.Request) -> str:
    """What limits count by: the address of a request, or its network where addresses cost nothing."""
    return limited_by(request.remote)


def limited_by(address: str | None) -> str:
    """What limits count an address as: of IPv6, the network."""
    read = _address(address or "")
    if isinstance(read, IPv6Address):
        return str(ip_network((read, _CLIENT_BITS), strict=False))
    return str(read) if read else address or ""


def _remote(request: web.Request, proxies: Sequence[Network]) -> str:
    """The last address that is not a trusted proxy's; something unreadable counts as the proxy before it."""
    client = request.remote or ""
    hops = ",".join(request.headers.getall(hdrs.X_FORWARDED_FOR, ())).split(",")
    while hops and is_trusted(client, proxies):
        read = _address(hops.pop().strip())
        if read is None:
            break
        client = str(read)
    return client


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, perhaps with a port; IPv4 in the form of IPv6 as IPv4."""
    for candidate in (text, hostname(text) or ""):
        try:
            read = ip_address(candidate)
        except ValueError:
            continue
        return getattr(read, "ipv4_mapped", None) or read
    return None
