"""Search in replies and reasoning, the time line, and what the replay of a spy game reveals."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from ludens.agents.bots import Random
from ludens.core.episode import Episode, Move, Try, Usage
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, view_of
from ludens.loop import play
from ludens.run.viewer import MOST_BARS, EpisodeReplay, SizeLimit, embed, timeline
from ludens.web import replies
from ludens.web.replies import ReplyQuery, _excerpt, _hits
from tests.web.conftest import Client, Serve
from tests.web.test_pages import parsed, read_whole, text_of

RUN = "first/reported"


async def search(client: Client, **query: str) -> str:
    await read_whole(client, RUN)
    return await text_of(client, f"/replies/{RUN}?{urlencode(query)}")


def hits(text: str) -> list[str]:
    return re.findall(r"<li>(.*?)</li>", text.partition('class="hits"')[2], re.DOTALL)


async def test_words_in_replies(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    text = await search(client, text="ALERT('you')", entrant="rude", task="turns")
    assert len(hits(text)) > 3
    assert "<script>alert" not in text  # what a model says is never markup
    assert all("alert(&#39;you&#39;)</mark>" in hit for hit in hits(text))
    [address, step] = re.findall(r'href="(/episode/[^"#]+)#step=(\d+)"', hits(text)[0])[0]
    assert f'data-step="{step}"' in await text_of(
        client, unescape(address).replace("/episode/", "/episode-step/") + f"&step={step}"
    )
    assert hits(await search(client, text="no such words in any reply")) == []
    assert hits(await search(client)) == []


async def test_filters_of_replies(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    for query, words in (
        ({"verdict": "unreadable"}, ": reply, unreadable"),
        ({"verdict": "fallback", "task": "turns"}, ": reply, fallback"),
        ({"seat": "viewer"}, " as viewer: "),
        ({"entrant": "rude", "seat": "o"}, " as o: "),
    ):
        some = hits(await search(client, **query))
        assert some, query
        assert all(words in hit for hit in some), query
    scored = hits(await search(client, task="see", low="100"))
    assert scored
    assert all("score 100" in hit for hit in scored)
    assert hits(await search(client, task="see", low="101")) == []
    assert hits(await search(client, task="see", low="nonsense", verdict="nonsense", start="-4"))


async def test_long_searches_go_on(
    reported_runs: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await serve(reported_runs)
    whole = hits(await search(client, verdict="ok", task="turns"))
    monkeypatch.setattr(replies, "PAGE", 5)
    parts, address = list[str](), f"/replies/{RUN}?{urlencode({'verdict': 'ok', 'task': 'turns'})}"
    while address and len(parts) < len(whole):
        text = await text_of(client, address)
        parts += hits(text)
        [address] = [unescape(each) for each in re.findall(r'rel="next" href="([^"]+)"', text)] or [""]
    assert parts[: len(whole)] == whole


def test_reasoning_is_searched() -> None:
    tried = Try("A1", reasoning="The corner is free, so I take it.")
    move = Move(0, "x", "A1", tries=[tried])
    episode = Episode("tic_tac_toe", 1, {}, 0, {"x": "m", "o": "m"}, moves=[move])
    listed: Any = None
    [hit] = _hits(listed, episode, ReplyQuery(text="CORNER take"))
    assert (hit.place, hit.excerpt[1]) == ("reasoning", "corner")
    assert list(_hits(listed, episode, ReplyQuery(text="corner missing"))) == []
    assert [hit.place for hit in _hits(listed, episode, ReplyQuery(seat="x"))] == ["reply"]
    assert _excerpt("Straße frei", ["strasse"]) == ("Straße frei", "", "")


def test_time_line() -> None:
    moves = [
        Move(n, "xo"[n % 2], "A1", tries=[Try("A1", usage=Usage(90, 10 + n), ms=100 + n)], ms=100.0 + n)
        for n in range(4)
    ]
    episode = Episode("tic_tac_toe", 1, {}, 0, {"x": "m", "o": "m"}, moves=moves)
    bars = timeline(episode)
    assert [(bar.step, bar.seat, bar.tokens) for bar in bars] == [
        (0, 0, 100),
        (1, 1, 101),
        (2, 0, 102),
        (3, 1, 103),
    ]
    assert (bars[-1].time_share, bars[-1].token_share) == (1.0, 1.0)
    assert "step 3, o: 0.10 s, 103 tokens" in bars[-1].label
    many = timeline(replace(episode, moves=[replace(moves[0], step=n) for n in range(1000)]))
    assert len(many) <= MOST_BARS
    assert sum(bar.tokens for bar in many) == 100_000
    assert timeline(replace(episode, moves=[])) == []


def test_replay_of_a_spy_game_shows_both_pictures_and_what_changed() -> None:
    game = make("spy")
    episode = run_sync(play(game, dict.fromkeys(game.seats, Random()), 3))
    replayed = EpisodeReplay("key", episode)
    captions = [caption for caption, _ in replayed.reveal]
    assert captions[:2] == ["what everybody but the spy saw", "what the spy saw"]
    assert re.fullmatch(r"what differs: the .+ is a .+", captions[2])
    view, state = view_of(game, RenderOptions(), 3), replayed.steps[-1].state
    original, modified, difference = (
        np.asarray(picture.image().convert("RGB"), int) for _, picture in view.reveal(state)
    )
    changed = np.abs(original - modified).max(axis=2) > 24
    assert 0 < changed.mean() < 0.5
    assert (difference[changed] == modified[changed]).all()
    assert difference[~changed].min() >= 190
    panel = embed(episode, size=256, limit=SizeLimit(10**7))
    assert len(panel.reveal) == 3
    assert embed(episode, size=256, limit=SizeLimit(0)).reveal == ()


async def test_page_of_a_spy_game(tmp_path: Path, serve: Serve) -> None:
    from tests.support.runs import plan_of, played

    await played(tmp_path / "spies", plan_of("bot/random", suite="play?game=spy"))
    client = await serve(tmp_path)
    text = await read_whole(client, "spies")
    [episode] = {unescape(link) for link in re.findall(r'href="(/episode/spies\?[^"]+)"', text)}
    assert "what the spy saw" in parsed(await text_of(client, episode)).text
