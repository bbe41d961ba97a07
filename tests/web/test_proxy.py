"""Behind a proxy: links, cookies and limits, in this process and behind a real nginx with TLS."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar, TCPConnector, web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import unused_port

from ludens.core.errors import BadOption
from ludens.suites.people import read_study
from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import RateLimit, ServerAccess, limited_by, read_networks, read_url
from ludens.web.study import NEW_AT_ONCE, ROOM, study_path
from tests.support.web_client import Visitor
from tests.web.conftest import Client, Start

DOCS = Path(__file__).parents[2] / "docs" / "web.md"
NAME = "games.example.org"
STUDY = """
name = "open"

[[task]]
name = "wire"
game = "comma/wire"
suite = "comma"
seats = { solver = "participant", expert = "bot/oracle" }
episodes = 4
"""


async def seen(request: web.Request) -> web.Response:
    return web.json_response({"remote": request.remote, "origin": str(request.url.origin())})


async def behind(
    start: Start, tmp_path: Path, access: ServerAccess, limit: RateLimit | None = None
) -> Client:
    app = make_app(WebSettings(tmp_path, access), limit)
    app.router.add_route("*", "/seen", seen)
    return await start(app)


@pytest.mark.parametrize(
    ("trusted", "forwarded", "remote"),
    [
        ([], ["6.6.6.6"], "127.0.0.1"),
        (["10.0.0.0/8"], ["6.6.6.6"], "127.0.0.1"),
        (["127.0.0.1"], [], "127.0.0.1"),
        (["127.0.0.1"], ["6.6.6.6"], "6.6.6.6"),
        (["127.0.0.1"], ["1.1.1.1, 6.6.6.6"], "6.6.6.6"),
        (["127.0.0.1"], ["1.1.1.1", "6.6.6.6"], "6.6.6.6"),
        (["127.0.0.1", "10.0.0.0/8"], ["1.1.1.1, 6.6.6.6, 10.1.2.3"], "6.6.6.6"),
        (["127.0.0.1", "10.0.0.0/8"], ["10.0.0.1"], "10.0.0.1"),
        (["127.0.0.1"], ["6.6.6.6:5000"], "6.6.6.6"),
        (["127.0.0.1"], ["[2001:db8::1]:5000"], "2001:db8::1"),
        (["127.0.0.1"], ["::ffff:6.6.6.6"], "6.6.6.6"),
        (["127.0.0.1"], ["6.6.6.6, unknown"], "127.0.0.1"),
        (["127.0.0.1"], ["6.6.6.6,"], "127.0.0.1"),
    ],
)
async def test_only_trusted_proxies_are_believed(
    trusted: list[str], forwarded: list[str], remote: str, start: Start, tmp_path: Path
) -> None:
    client = await behind(start, tmp_path, ServerAccess(proxies=read_networks(trusted)))
    headers = [("X-Forwarded-For", text) for text in forwarded]
    assert (await (await client.get("/seen", headers=headers)).json())["remote"] == remote


async def test_limits_count_the_real_address(start: Start, tmp_path: Path) -> None:
    access = ServerAccess(proxies=read_networks(["127.0.0.1"]))
    client = await behind(start, tmp_path, access, RateLimit(per_second=0.001, burst=2))

    async def statuses(*forwarded: str) -> list[int]:
        return [(await client.get("/seen", headers={"X-Forwarded-For": text})).status for text in forwarded]

    assert await statuses("6.6.6.6", "1.1.1.1, 6.6.6.6", "2.2.2.2, 6.6.6.6") == [200, 200, 429]
    assert await statuses("7.7.7.7") == [200]
    assert await statuses("2001:db8::1", "2001:db8::2", "2001:db8::3") == [200, 200, 429]


def test_an_ipv6_network_is_one_address() -> None:
    assert limited_by("2001:db8:1:2:3::4") == limited_by("2001:db8:1:2::9") != limited_by("2001:db8:1:3::4")
    assert limited_by("::ffff:1.2.3.4") == limited_by("1.2.3.4") != limited_by("1.2.3.5")


async def test_links_and_cookies_have_the_public_scheme(start: Start, tmp_path: Path) -> None:
    access = ServerAccess(url=read_url(f"https://{NAME}:8443/"))
    client = await behind(start, tmp_path, access)
    assert access.token  # others can reach it
    for host, secure in ((f"{NAME}:8443", True), (f"127.0.0.1:{client.port}", False)):
        link = f"/seen?token={access.organiser}"
        signed = await client.get(link, headers={"Host": host}, allow_redirects=False)
        assert ("Secure" in signed.headers["Set-Cookie"]) == secure
        [cookie] = re.findall(r"^[^;]+", signed.headers["Set-Cookie"])
        headers = {"Host": host, "Cookie": cookie}
        page = await (await client.get("/seen", headers=headers)).json()
        assert page["origin"] == f"{'https' if secure else 'http'}://{host}"
        for scheme in ("https", "http"):
            reply = await client.post("/seen", headers={**headers, "Origin": f"{scheme}://{host}"})
            assert (reply.status == 403) == (secure and scheme == "http")


async def test_one_address_cannot_fill_a_study(start: Start, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    settings = WebSettings(
        tmp_path, ServerAccess(proxies=read_networks(["127.0.0.1"])), read_study(tmp_path / "study.toml")
    )
    app = make_app(settings)
    client, path = await start(app), study_path(app)
    assert path is not None

    async def join(address: str) -> int:
        client.session.cookie_jar.clear()
        headers = {"Origin": f"http://127.0.0.1:{client.port}", "X-Forwarded-For": address}
        return (await client.post(path, data={"do": "consent"}, headers=headers)).status

    assert [await join("6.6.6.6") for _ in range(int(NEW_AT_ONCE))] == [200] * int(NEW_AT_ONCE)
    assert [await join("6.6.6.6"), await join("7.7.7.7")] == [429, 200]
    assert len(app[ROOM].records.participants) == NEW_AT_ONCE + 1


@pytest.mark.parametrize(
    "text",
    ["", "games.example.org", "ftp://x", "https://", "https://a/b", "https://a?x", "https://u@a", "https://a:0",
     "https://a:x", "https://[::1", "https://a b"],
)  # fmt: skip
def test_wrong_urls(text: str) -> None:
    with pytest.raises(BadOption, match="--url must be"):
        read_url(text)


@pytest.mark.parametrize("text", ["", "proxy.example.org", "10.0.0.0/33", "0.0.0.0/0", "::/0"])
def test_wrong_proxies(text: str) -> None:
    with pytest.raises(BadOption, match="--trusted-proxy"):
        read_networks([text])


class Loopback(AbstractResolver):
    """Every name is this machine."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None: ...


class TlsVisitor(Visitor):
    """A person with a browser that calls from this address and knows the certificate."""

    def __init__(self, root: str, certificate: Path, address: str = "127.0.0.1") -> None:
        self.root = root
        context = ssl.create_default_context(cafile=str(certificate))
        connector = TCPConnector(
            resolver=Loopback(), ssl=context, local_addr=(address, 0), use_dns_cache=False
        )
        jar = CookieJar(unsafe=True)
        self.http = ClientSession(root, connector=connector, cookie_jar=jar, headers={"Origin": root})


def nginx() -> str:
    """The program; skips the test where there is none."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    return program or pytest.skip("nginx is not installed: apt-get install nginx")


def configure(folder: Path, port: int, upstream: int) -> Path:
    """The configuration of the documentation, with these ports and a new certificate."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    names = ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *names], check=True, capture_output=True)
    [site] = re.findall(r"^```nginx\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    for old, new in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        (f"/etc/ssl/{NAME}.crt", str(certificate)),
        (f"/etc/ssl/{NAME}.key", str(key)),
        ("http://127.0.0.1:8765", f"http://127.0.0.1:{upstream}"),
    ):
        assert site.count(old) == 1, old
        site = site.replace(old, new)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    file = folder / "nginx.conf"
    user = "user root;\n" if os.getuid() == 0 else ""
    file.write_text(
        f"{user}daemon off; pid {folder / 'pid'}; error_log {folder / 'error.log'};\n"
        f"events {{}}\nhttp {{\n{temporary}{site}}}\n"
    )
    return certificate


async def reachable(port: int) -> None:
    """Wait until something listens."""
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


@asynccontextmanager
async def behind_nginx(folder: Path) -> AsyncIterator[tuple[str, Path, str]]:
    """`ludens web` behind nginx: the public address, the certificate, and what the command printed."""
    program, port, upstream = nginx(), unused_port(), unused_port()
    certificate, root = configure(folder, port, upstream), f"https://{NAME}:{port}"
    (folder / "study.toml").write_text(STUDY)
    processes = []
    try:
        pipes: dict[str, Any] = {"stdout": asyncio.subprocess.PIPE}
        command = ["-m", "ludens", "web", str(folder / "runs"), "--no-open", "--port", str(upstream)]
        flags = ["--url", root, "--trusted-proxy", "127.0.0.1", "--study", str(folder / "study.toml")]
        processes.append(await asyncio.create_subprocess_exec(sys.executable, *command, *flags, **pipes))
        printed = b"".join([await processes[0].stdout.readline() for _ in range(4)]).decode()
        file = str(folder / "nginx.conf")
        processes.append(
            await asyncio.create_subprocess_exec(program, "-p", str(folder), "-c", file, **pipes)
        )
        await reachable(port)
        yield root, certificate, printed
    finally:
        for process in reversed(processes):
            process.terminate()
            await process.communicate()


async def test_people_play_behind_nginx_with_tls(tmp_path: Path) -> None:
    async with behind_nginx(tmp_path) as (root, certificate, printed):
        links = re.findall(rf"{root}(/\S*)", printed)
        assert len(links) == 4, printed
        one, two = TlsVisitor(root, certificate), TlsVisitor(root, certificate)
        status, path, _ = await one.get(links[0])
        assert (status, path) == (200, "/")
        form = {"game": "tic_tac_toe", "seat.x": "me", "seat.o": "friend"}
        status, path, text = await one.post("/play", **form)
        assert status == 200, text
        [link] = re.findall(rf'value="{root}(/play/[^"]+)"', text)
        x = await one.sit(path)
        await x.next()
        assert (await two.get("/"))[0] == 403  # a friend has no token
        status, theirs, _ = await two.get(link)
        assert status == 200
        o = await two.sit(theirs)
        for seat, cell in ((x, "A1"), (o, "B1"), (x, "A2"), (o, "B2"), (x, "A3")):
            await seat.turn()
            await seat.move(cell)
        assert (await o.next(lambda view: view["saved"]))["returns"] == {"x": 1.0, "o": -1.0}
        every = [*one.http.cookie_jar, *two.http.cookie_jar]
        assert len(every) == 5  # a visitor, two seats and the game that each can continue
        assert all(cookie["secure"] for cookie in every)
        for visitor in (one, two):
            await visitor.http.close()


async def test_limits_of_a_study_behind_nginx_count_real_addresses(tmp_path: Path) -> None:
    """One client cannot fill it, whatever it writes into headers; others can still join."""
    async with behind_nginx(tmp_path) as (root, certificate, printed):
        [path] = re.findall(rf"participants of the study: {root}(\S+)", printed)

        async def join(visitor: TlsVisitor) -> list[int]:
            statuses = []
            for number in range(int(NEW_AT_ONCE) + 2):
                visitor.http.cookie_jar.clear()
                forged = {"X-Forwarded-For": f"9.9.9.{number}"}
                async with visitor.http.post(path, data={"do": "consent"}, headers=forged) as reply:
                    statuses.append(reply.status)
            return statuses

        for address in ("127.0.0.5", "127.0.0.6"):
            visitor = TlsVisitor(root, certificate, address)
            assert await join(visitor) == [200] * int(NEW_AT_ONCE) + [429] * 2
            await visitor.http.close()
