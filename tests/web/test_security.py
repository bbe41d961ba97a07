"""Requests that must not reach a page: host, origin, token, size, rate, path."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from yarl import URL

from ludens.core.errors import BadOption
from ludens.suites.people import read_study
from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import ACCESS, MAX_BODY, RateLimit, ServerAccess, checks_own_token, may_be_linked
from tests.web.conftest import Client, Serve, Start

STUDY = next(Path(__file__).parents[2].joinpath("docs", "studies").glob("*.toml"))


async def told(request: web.Request) -> web.Response:
    """What the server thinks of the request, and how much of its body it read."""
    access = request.app[ACCESS]
    body = await request.read()
    return web.json_response({"role": access.role(request), "bytes": len(body)})


@checks_own_token
async def seat(request: web.Request) -> web.Response:
    return web.json_response({"role": request.app[ACCESS].role(request)})


@may_be_linked
async def linked(request: web.Request) -> web.Response:
    return web.Response()


async def socket(request: web.Request) -> web.WebSocketResponse:
    reply = web.WebSocketResponse()
    await reply.prepare(request)
    return reply


@pytest.fixture
def serve(tmp_path: Path, start: Start) -> Serve:
    """Starts a server that has these pages too."""

    async def served(access: ServerAccess | None = None, limit: RateLimit | None = None) -> Client:
        app = make_app(WebSettings(tmp_path, access or ServerAccess()), limit)
        app.router.add_route("*", "/told", told)
        app.router.add_get("/seat", seat)
        app.router.add_get("/socket", socket)
        app.router.add_get("/linked", linked)
        return await start(app)

    return served


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("localhost", 200),
        ("[::1]:1", 200),
        ("evil.example", 421),
        ("evil.example:8765", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.168.0.7", 421),
        ("localhost@evil.example", 421),
        ("[::1", 421),
    ],
)
async def test_a_forged_host_is_refused(host: str, status: int, serve: Serve) -> None:
    client = await serve()
    reply = await client.get("/told", headers={"Host": host})
    assert reply.status == status


def test_a_server_for_others_knows_addresses_and_its_names_only() -> None:
    access = ServerAccess("0.0.0.0", ("play.example",))
    assert access.knows("192.168.0.7:8765")
    assert access.knows("PLAY.example")
    assert not access.knows("evil.example")
    assert access.token
    assert access.token != access.organiser
    assert ServerAccess("127.0.0.1", ("play.example",)).token  # others can reach it through that name
    assert not ServerAccess("::1").token


async def test_requests_of_other_pages_are_refused(serve: Serve) -> None:
    client = await serve()
    own = f"http://127.0.0.1:{client.port}"
    for origin, status in (
        (own, 200),
        ("http://evil.example", 403),
        (f"{own}0", 403),
        ("null", 403),
        (f"file://127.0.0.1:{client.port}", 403),
        ("", 403),
    ):
        headers = {"Origin": origin} if origin else {}
        assert (await client.post("/told", headers=headers, json={})).status == status, origin
        if status == 200:
            async with client.ws_connect("/socket", headers=headers) as opened:
                assert not opened.closed
        else:
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", **headers}
            assert (await client.get("/socket", headers=upgrade)).status == 403
    assert (await client.get("/told", headers={"Origin": own})).status == 200
    for origin in ("http://evil.example", f"{own}0", "null", "http://[::1"):
        assert (await client.get("/told", headers={"Origin": origin})).status == 403
        assert (await client.head("/told", headers={"Origin": origin})).status == 403


NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
PICTURE = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
FRAME = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}


@pytest.mark.parametrize("site", ["cross-site", "same-site"])  # the latter: another port of this machine
async def test_another_site_can_lead_people_here_and_nothing_else(site: str, serve: Serve) -> None:
    access = ServerAccess()
    client = await serve(access)

    async def status(path: str, sent: dict[str, str], of: str = site) -> int:
        reply = await client.get(path, headers={"Sec-Fetch-Site": of, **sent}, allow_redirects=False)
        return reply.status

    for path in (
        "/told",
        "/play?game=tic_tac_toe",
        "/game-picture?game=chess",
        "/static/style.css",
        "/watch",
    ):
        for sent in ({}, NAVIGATION, PICTURE, FRAME):
            assert await status(path, sent) == 403, (path, sent)
        if path != "/watch":
            for own in ("same-origin", "none"):
                assert await status(path, NAVIGATION, own) == 200
    assert await status("/", {}) == 200
    for path in ("/linked", "/run/none", "/episode/none", "/play/none/0/join/token", "/play/none/0"):
        assert await status(path, NAVIGATION) == (200 if path == "/linked" else 404), path
        for sent in ({}, PICTURE, FRAME):
            assert await status(path, sent) == 403, (path, sent)
    assert await status(f"/told?token={access.organiser}", NAVIGATION) == 303
    assert await status(f"/told?token={access.organiser}", PICTURE) == 403
    assert await status("/seat?token=wrong", NAVIGATION) == 403
    headers = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": site}
    assert (await client.post("/told", headers=headers)).status == 403


def test_pages_that_may_be_linked(tmp_path: Path) -> None:
    app = make_app(WebSettings(tmp_path, ServerAccess(), read_study(STUDY)))
    marked = [route for route in app.router.routes() if getattr(route.handler, "may_be_linked", False)]
    assert {route.method for route in marked} == {"GET", "HEAD"}
    linked = {route.resource.canonical for route in marked if route.resource}
    assert linked == {
        "/", "/runs", "/run/{run}", "/replies/{run}", "/episode/{run}",
        "/play/{session}/{seat}", "/play/{session}/{seat}/join/{token}",
        "/study/{key}", "/study/{key}/join/{token}", "/study/{key}/progress",
    }  # fmt: skip
    methods = {
        route.method for route in app.router.routes() if getattr(route.handler, "may_be_linked", False)
    }
    assert methods == {"GET", "HEAD"}


async def test_other_machines_need_a_token(serve: Serve) -> None:
    access = ServerAccess("0.0.0.0", token="visitors-token-1234")
    client = await serve(access)
    assert (await client.get("/told")).status == 403
    assert (await client.get("/")).status == 403
    assert (await client.get("/no-such-page")).status == 403
    assert (await client.get("/static/style.css")).status == 200
    assert await (await client.get("/seat")).json() == {"role": None}
    for forged in ("", "visitors-token-1235", "visitors-token-123", "ü"):
        assert (await client.get("/told", params={"token": forged})).status == 403
        cookies = {f"ludens-{client.port}": forged}
        if forged.isascii():
            assert (await client.get("/told", cookies=cookies)).status == 403
    signed = await client.get("/told", params={"token": access.token, "x": "1"}, allow_redirects=False)
    assert (signed.status, signed.headers["Location"]) == (303, "/told?x=1")
    cookie = signed.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert (await (await client.get("/told")).json())["role"] == "visitor"


async def test_the_organiser_is_known_by_a_token_only(serve: Serve) -> None:
    access = ServerAccess()
    client = await serve(access)
    assert (await (await client.get("/told")).json())["role"] == "visitor"
    assert (await (await client.get("/told", params={"token": access.organiser})).json())[
        "role"
    ] == "organiser"
    assert (await (await client.get("/told")).json())["role"] == "organiser"


async def test_a_token_is_never_sent_to_another_host(serve: Serve) -> None:
    access = ServerAccess()
    client = await serve(access)
    path = f"http://127.0.0.1:{client.port}//evil.example/?token={access.organiser}"
    reply = await client.session.get(URL(path, encoded=True), allow_redirects=False)
    assert reply.status == 404


@pytest.mark.parametrize("token", ["short", "ünicode-token-of-some-length"])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(BadOption, match="ASCII"):
        ServerAccess(token=token)


async def test_large_bodies_are_refused(serve: Serve) -> None:
    client = await serve()
    headers = {"Origin": f"http://127.0.0.1:{client.port}"}

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY // 1000 + 2):
            yield b"x" * 1000

    fits = await client.post("/told", headers=headers, data=b"x" * MAX_BODY)
    assert (await fits.json())["bytes"] == MAX_BODY
    assert (await client.post("/told", headers=headers, data=b"x" * (MAX_BODY + 1))).status == 413
    assert (await client.post("/told", headers=headers, data=chunks())).status == 413


async def test_too_many_requests_are_refused(serve: Serve) -> None:
    client = await serve(limit=RateLimit(per_second=0.001, burst=3))
    replies = [await client.get("/told") for _ in range(4)]
    assert [reply.status for reply in replies] == [200, 200, 200, 429]
    assert replies[3].headers["Retry-After"] == "5"


def test_the_rate_is_per_address_and_recovers() -> None:
    limit = RateLimit(per_second=2, burst=4)
    assert [limit.allows("a", 0.0) for _ in range(5)] == [True] * 4 + [False]
    assert limit.allows("b", 0.0)
    assert [limit.allows("a", 1.0) for _ in range(3)] == [True, True, False]
    for number in range(20_000):
        limit.allows(str(number), 2.0)
    assert len(limit._levels) <= 10_001


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e%2fapp.py", "/static/%2fetc%2fpasswd",
        "/static/app.css%00.js", "/static/__init__.py", "/static/",
    ],
)  # fmt: skip
async def test_static_paths_do_not_reach_other_files(path: str, serve: Serve) -> None:
    client = await serve()
    url = URL(f"http://127.0.0.1:{client.port}{path}", encoded=True)
    reply = await client.session.get(url)
    assert reply.status == 404
    assert "Application" not in await reply.text()


async def test_every_response_has_the_policy(serve: Serve) -> None:
    client = await serve()
    for path in ("/", "/no-such-page", "/static/style.css"):
        headers = (await client.get(path)).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


async def test_a_page_has_no_script_or_style_of_its_own(serve: Serve) -> None:
    client = await serve()
    text = await (await client.get("/")).text()
    assert "<style" not in text
    assert "style=" not in text
    assert not re.search(r"<[^>]*\son\w+=", text)
    assert not re.search(r"<script(?![^>]* src=)", text)
