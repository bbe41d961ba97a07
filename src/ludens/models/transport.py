"""HTTP requests with JSON over one keep-alive session."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from ludens.core.errors import BadOption
from ludens.models.errors import Secret, TransientError

Response = tuple[int, Mapping[str, str], bytes]

LARGEST_ANSWER = 4 * 2**20
_CONNECT_TIMEOUT = 30.0
# aiohttp warns about larger bodies given as bytes; file objects are sent in chunks.
_LARGEST_BYTES = 2**20
_LOGIN = re.compile(r"//[^/\s@]*@")


def check_address(address: str) -> str:
    """Return a valid http(s) address without its trailing slash."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadOption(
            f"an address is http://HOST:PORT/PATH or https://..., not {address.rpartition('@')[2]!r}."
        )
    if parts.query or parts.fragment:
        raise BadOption("an address must not contain '?' or '#'.")
    if "@" in parts.netloc:
        raise BadOption(
            "an address must not contain a user name or password; set the API key in the environment."
        )
    return address.rstrip("/")


class Transport:
    """A keep-alive session to one host. Created and closed inside a running event loop."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float, secret: Secret) -> None:
        self.url, self._secret = url, secret
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=min(timeout, _CONNECT_TIMEOUT)),
            headers={"Content-Type": "application/json", **headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy(url),
        )
        self._timeout = timeout

    async def post(self, body: bytes) -> Response:
        """Return status, headers and body; every network error is a `TransientError`."""
        return await self._send("POST", body if len(body) <= _LARGEST_BYTES else io.BytesIO(body))

    async def get(self) -> Response:
        return await self._send("GET", None)

    async def _send(self, method: str, data: bytes | io.BytesIO | None) -> Response:
        try:
            async with self._session.request(method, self.url, data=data, allow_redirects=False) as response:
                chunks, size = [], 0
                while chunk := await response.content.readany():
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > LARGEST_ANSWER:
                        raise TransientError(
                            "broken", f"the answer is larger than {LARGEST_ANSWER >> 20} MiB"
                        )
                return response.status, response.headers, b"".join(chunks)
        except TimeoutError:
            raise TransientError("timeout", f"no answer within {self._timeout:g} s") from None
        except aiohttp.ClientHttpProxyError as error:
            raise TransientError(
                "connection", f"the proxy refuses the connection (HTTP {error.status})"
            ) from None
        except aiohttp.ClientPayloadError as error:
            raise TransientError("broken", f"the answer is incomplete ({self._quote(error)})") from None
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            raise TransientError(
                "connection", f"no connection to {self.url} ({self._quote(error)})"
            ) from None
        except aiohttp.ClientError as error:
            raise TransientError("broken", f"the answer is not HTTP ({self._quote(error)})") from None

    async def close(self) -> None:
        await self._session.close()

    def _quote(self, error: Exception) -> str:
        # Error messages contain addresses, and a proxy's address may contain a password.
        return self._secret.redact(_LOGIN.sub("//", str(error)) or type(error).__name__)


def _proxy(url: str) -> str | None:
    """The proxy of this address according to the environment, looked up once per session."""
    parts = urlsplit(url)
    address = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    if not address:
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise BadOption(f"{parts.scheme}_proxy in the environment must be http://HOST:PORT.")
    return proxy.geturl()
