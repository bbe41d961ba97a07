"""What a request must satisfy before a page sees it: host, origin, token, size and rate.

The server listens on this machine only, unless the user says otherwise; then every page needs a token. There
are two: visitors may look at games and runs and play; the organiser may also do what costs money or shows
what others may not know: seat models, follow a study. A token arrives once, as `?token=`, and is kept in a
cookie. Handlers marked with `checks_own_token` are for people who hold a link to one seat only.

Other sites may lead people here (a link in a mail or a chat), and nothing else: what a page of another site
requests in the background is refused, whatever the method, and so are links to pages that are not marked with
`may_be_linked`.

A proxy appends the address it was called from to `X-Forwarded-For`. Only what a trusted proxy appended is
believed: the header is read from the right, up to the first address that is not a trusted proxy.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from time import monotonic
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from yarl import URL

from ludens.core.errors import BadOption

MAX_BODY = 64 * 1024
"""Bytes of a request's body, and of one WebSocket message."""
BODY_SECONDS = 30.0
"""How long a body may take to arrive."""
REQUESTS_PER_SECOND, BURST = 100.0, 1_000.0

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send forms with the origin "null"
    "X-Content-Type-Options": "nosniff",
}
"""Of every response that does not set them itself."""

_SAFE_METHODS = ("GET", "HEAD")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_MIN_TOKEN = 16

Role = Literal["organiser", "visitor"]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
H = TypeVar("H", bound=Handler)
Network = IPv4Network | IPv6Network
_CLIENT_BITS = 64
"""Leading bits of an IPv6 address: all addresses with the same ones count as one client."""


def checks_own_token(handler: H) -> H:
    """Mark a handler that needs no visitor's token, because it asks for the token of a seat itself."""
    handler.__dict__["checks_own_token"] = True
    return handler


def may_be_linked(handler: H) -> H:
    """Mark a page that links on other sites may lead to: it shows something, and changes nothing that does
    not need a secret in its address."""
    handler.__dict__["may_be_linked"] = True
    return handler


@dataclass(frozen=True)
class ServerAccess:
    host: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    """Further names under which people reach it, for example through a proxy."""
    token: str = ""
    """The token of visitors; one is made where it is needed and missing."""
    organiser: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    url: str = ""
    """The address that links contain; by default made of name and port."""
    proxies: tuple[Network, ...] = ()
    """Trusted proxies: what they say about the address of a request is believed."""

    def __post_init__(self) -> None:
        if self.token and not (len(self.token) >= _MIN_TOKEN and self.token.isascii()):
            raise BadOption(f"a token has at least {_MIN_TOKEN} ASCII characters.")
        if self.url:
            name = urlsplit(self.url).hostname or ""
            object.__setattr__(self, "names", (name, *self.names))
        if not self.local and not self.token:
            object.__setattr__(self, "token", secrets.token_urlsafe(24))

    @property
    def local(self) -> bool:
        return is_loopback(self.host) and not self.names

    @property
    def public_name(self) -> str:
        """What the links that are handed out contain."""
        if self.names:
            return self.names[0]
        everywhere = _is_address(self.host) and ip_address(self.host).is_unspecified
        return socket.gethostname() if everywhere else self.host

    def knows(self, host: str) -> bool:
        """Whether the `Host` of a request names this server.

        A page of another site can reach it only under a name of that site, so that addresses are safe.
        """
        name = hostname(host)
        if name is None:
            return False
        if name in _LOOPBACK or name == self.host.lower() or name in self.names:
            return True
        return not is_loopback(self.host) and (_is_address(name) or name == socket.gethostname().lower())

    def role_of_token(self, token: str) -> Role | None:
        """What the bearer of a token may do."""
        secret = token.encode()
        if compare_digest(secret, self.organiser.encode()):
            return "organiser"
        if self.token and compare_digest(secret, self.token.encode()):
            return "visitor"
        return None

    def role(self, request: web.Request) -> Role | None:
        """What a request may do; None for nothing but handlers that check their own token."""
        role = self.role_of_token(request.cookies.get(_cookie(request), ""))
        return role or (None if self.token else "visitor")

    def is_organiser(self, request: web.Request) -> bool:
        return self.role(request) == "organiser"


ACCESS = web.AppKey("access", ServerAccess)


def is_loopback(host: str) -> bool:
    return host.lower() == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(request: web.Request) -> str:
    return f"ludens-{request.host.rpartition(':')[2] if ':' in request.host else '80'}"


class RateLimit:
    def __init__(self, per_second: float = REQUESTS_PER_SECOND, burst: float = BURST) -> None:
        self._per_second, self._burst = per_second, burst
        self._levels: dict[str, tuple[float, float]] = {}

    def allows(self, address: str, now: float | None = None) -> bool:
        now = monotonic() if now is None else now
        if len(self._levels) > 10_000:
            self._forget(now)
        level, time = self._levels.get(address, (0.0, now))
        level = max(0.0, level - (now - time) * self._per_second)
        if level + 1 > self._burst:
            self._levels[address] = level, now
            return False
        self._levels[address] = level + 1, now
        return True

    def _forget(self, now: float) -> None:
        still = {a: (u, t) for a, (u, t) in self._levels.items() if u > (now - t) * self._per_second}
        self._levels = still if len(still) <= 10_000 else {}


def guard(
    access: ServerAccess, limit: RateLimit | None = None
) -> Callable[..., Awaitable[web.StreamResponse]]:
    limit = limit or RateLimit()

    @web.middleware
    async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
        request = as_reached(request, access.url, access.proxies)
        _check(request, access, limit)
        if request.method == hdrs.METH_GET and "token" in request.query:
            _sign_in(request, access)
        if access.role(request) is None and not _checks_own_token(request):
            raise web.HTTPForbidden(text="This server needs a token: open the link that contains it.")
        if request.method not in _SAFE_METHODS:
            await _read_body(request)
        return await handler(request)

    return checked


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def _check(request: web.Request, access: ServerAccess, limit: RateLimit) -> None:
    if not access.knows(request.host):
        raise web.HTTPMisdirectedRequest(text="This server has another name; --url or --name adds one.")
    upgrade = request.headers.get(hdrs.UPGRADE, "").lower() == "websocket"
    if request.method not in _SAFE_METHODS or upgrade:
        if _is_foreign(request) or hdrs.ORIGIN not in request.headers:
            raise web.HTTPForbidden(text="This request does not come from a page of this server.")
    elif _is_foreign(request) and not _is_followed_link(request, access):
        raise web.HTTPForbidden(text="Another site asks for this page: go there from the start page.")
    if (request.content_length or 0) > MAX_BODY:
        raise web.HTTPRequestEntityTooLarge(max_size=MAX_BODY, actual_size=request.content_length or 0)
    if not limit.allows(address_of(request)):
        raise web.HTTPTooManyRequests(
            text="Too many requests; wait a few seconds.", headers={"Retry-After": "5"}
        )


async def _read_body(request: web.Request) -> None:
    """Wait for the body, which handlers then have at once."""
    if request.content_type.startswith("multipart/"):
        raise web.HTTPUnsupportedMediaType(text="Send forms as application/x-www-form-urlencoded.")
    try:
        async with asyncio.timeout(BODY_SECONDS):
            await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="The request did not arrive in time.") from None


def _is_foreign(request: web.Request) -> bool:
    """Whether a page of another site, or of another port, caused the request, as far as browsers say."""
    site = request.headers.get("Sec-Fetch-Site", "none")
    own = [f"{scheme}://{request.host}" for scheme in (("https",) if request.secure else ("http", "https"))]
    return site not in ("same-origin", "none") or request.headers.get(hdrs.ORIGIN, own[0]) not in own


def _is_followed_link(request: web.Request, access: ServerAccess) -> bool:
    """Whether somebody follows a link to a page that may be linked, or signs in."""
    followed = request.headers.get("Sec-Fetch-Mode") == "navigate"
    whole_page = request.headers.get("Sec-Fetch-Dest", "document") == "document"
    linked = getattr(request.match_info.handler, "may_be_linked", False)
    signs_in = access.role_of_token(request.query.get("token", "")) is not None
    return request.path == "/" or (followed and whole_page and (linked or signs_in))


def _sign_in(request: web.Request, access: ServerAccess) -> None:
    """Keep the token of the link in a cookie, and continue without it in the address."""
    if request.match_info.http_exception is not None:  # no such page
        return
    token = request.query["token"]
    role = access.role_of_token(token)
    if role is None:
        if _checks_own_token(request):
            return
        raise web.HTTPForbidden(text="This token is not valid; open the link again, or ask for a new one.")
    rest = [(name, value) for name, value in request.query.items() if name != "token"]
    reply = web.HTTPSeeOther(request.rel_url.with_query(rest))
    set_token(request, reply, _cookie(request), token, "/", 30)
    raise reply


def set_token(
    request: web.Request, reply: web.StreamResponse, name: str, token: str, path: str, days: int
) -> None:
    reply.set_cookie(
        name, token, path=path, httponly=True, samesite="Lax", secure=request.secure, max_age=days * 86400
    )


def _checks_own_token(request: web.Request) -> bool:
    return getattr(request.match_info.handler, "checks_own_token", False)


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    networks = []
    for text in texts:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            raise BadOption(
                f"--trusted-proxy must be an address or a network such as 10.0.0.0/8, not {text!r}."
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
            f"such as https://games.example.org, not {text!r}."
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
    """The key under which limits count a request: its address, or its network for IPv6."""
    return limited_by(request.remote)


def limited_by(address: str | None) -> str:
    """The key under which limits count an address: itself, or its network for IPv6."""
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
