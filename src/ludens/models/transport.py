"""Posting JSON over HTTP: one session, kept alive, as little work a call as possible."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from ludens.core.errors import BadOption
from ludens.models.faults import Fault, Secret

LARGEST_ANSWER = 32 * 2**20
_SECONDS_TO_CONNECT = 30.0
# aiohttp warns about larger bodies given as bytes, and sends files piece by piece.
_LARGEST_BYTES = 2**20
_LOGIN = re.compile(r"//[^/\s@]*@")


def check_address(address: str) -> str:
    """An http(s) address without a closing slash. Names and passwords do not belong into it."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadOption(
            f"an address is http://HOST:PORT/PATH or https://..., not {_without_user(address)!r}."
        )
    if parts.query or parts.fragment:
        raise BadOption("an address ends with its path: there must be no '?' or '#' in it.")
    if "@" in parts.netloc:
        raise BadOption("an address must not hold a name or password: keys come from the environment.")
    return address.rstrip("/")


def _without_user(address: str) -> str:
    return address.rpartition("@")[2]


class Transport:
    """A keep-alive session to one host. Made and closed inside a running event loop."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float, secret: Secret) -> None:
        self.url, self._secret = url, secret
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, _SECONDS_TO_CONNECT)),
            headers={"Content-Type": "application/json", **headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy(url),
        )
        self._timeout = timeout

    async def post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; whatever goes wrong on the way is a `Fault`."""
        data = body if len(body) <= _LARGEST_BYTES else io.BytesIO(body)
        try:
            async with self._session.post(self.url, data=data, allow_redirects=False) as response:
                chunks, size = [], 0
                while chunk := await response.content.readany():
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > LARGEST_ANSWER:
                        raise Fault("broken", f"an answer of more than {LARGEST_ANSWER >> 20} MiB")
                return response.status, response.headers, b"".join(chunks)
        except TimeoutError:
            raise Fault("timeout", f"no answer within {self._timeout:g} s") from None
        except aiohttp.ClientHttpProxyError as error:
            raise Fault("connection", f"the proxy lets nothing through (HTTP {error.status})") from None
        except aiohttp.ClientPayloadError as error:
            raise Fault("broken", f"the answer broke off ({self._words(error)})") from None
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            raise Fault("connection", f"no connection to {self.url} ({self._words(error)})") from None
        except aiohttp.ClientError as error:
            raise Fault("broken", f"the answer is not HTTP ({self._words(error)})") from None

    async def close(self) -> None:
        await self._session.close()

    def _words(self, error: Exception) -> str:
        # An error quotes addresses, and that of a proxy may hold a password.
        return self._secret.hide(_LOGIN.sub("//", str(error)) or type(error).__name__)


def _proxy(url: str) -> str | None:
    """The proxy the environment names for this address, looked up once and not for every call."""
    parts = urlsplit(url)
    named = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    if not named:
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise BadOption(f"{parts.scheme}_proxy in the environment must be http://HOST:PORT.")
    return proxy.geturl()
