"""The home page: every game in its group, one's own games, and what is being played."""

from __future__ import annotations

from pathlib import Path

from ludens.core.registry import GAMES
from ludens.run.rows import EPISODES
from ludens.web.home import GROUPS, MORE, group_of
from tests.support.runs import TURNS, plan_of, played
from tests.support.web_client import TOKEN, served
from tests.web.test_play import begin, friend_link


def test_every_game_of_ludens_has_a_group() -> None:
    own = [name for name in GAMES.names() if GAMES.get(name).__module__.startswith("ludens.")]
    assert [name for name in own if group_of(name) == MORE] == []
    assert {group_of(name) for name in own} == {title for title, _, _ in GROUPS}
    assert (group_of("spy/vote"), group_of("comma/wire"), group_of("my/game")) == ("Talk", "Talk", MORE)


async def test_games_are_grouped(tmp_path: Path) -> None:
    async with served(tmp_path) as visit:
        _, _, text = await visit().get("/")
        robots, perception = text.index(">Robots</h2>"), text.index(">Perception</h2>")
        assert robots < text.index('data-game="viki/plan"') < perception < text.index('data-game="qa"')
        assert "Your games" not in text
        assert "Being played now" not in text


async def test_own_games_can_be_continued(tmp_path: Path) -> None:
    async with served(tmp_path) as visit:
        one, two = visit(), visit()
        path, seat = await begin(one, "tic_tac_toe", **{"seat.x": "me", "seat.o": "friend"})
        _, _, text = await one.get("/")
        assert f'href="{path}">Continue tic_tac_toe' in text
        assert "as x: waiting for others" in text
        _, theirs, _ = await two.get(friend_link((await one.get(path))[2]))
        other = await two.sit(theirs)
        await seat.turn()
        assert "as x: your turn" in (await one.get("/"))[2]
        assert "as o: in progress" in (await two.get("/"))[2]
        assert "Your games" not in (await visit().get("/"))[2]
        await seat.send({"leave": True})
        await other.next(lambda view: view["ended"])
        second, _ = await begin(one, "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
        _, _, text = await one.get("/")
        assert text.index(second) < text.index(path)
        assert f'href="{path}">Look at tic_tac_toe' in text


async def test_cookie_of_own_games_opens_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as visit:
        one, stranger = visit(), visit()
        path, _ = await begin(one, "tic_tac_toe", **{"seat.x": "me", "seat.o": "bot/random"})
        stranger.jar.update_cookies({"games": f"{path.removeprefix('/play/')} a/b {path[6:-1]}9 x"})
        assert (await stranger.get("/"))[0] == 200
        assert (await stranger.get(path))[0] == 403


async def test_what_is_being_played(tmp_path: Path) -> None:
    run = tmp_path / "live"
    await played(run, plan_of("bot/random", suite=TURNS))
    file = run / EPISODES
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    async with served(tmp_path) as visit:
        visitor, organiser = visit(), visit()
        await organiser.get(f"/?token={TOKEN}")
        path, seat = await begin(visitor, "kuhn_poker")
        await seat.turn()
        _, _, text = await visitor.get("/")
        assert 'href="/run/live"' in text
        assert "3 of 8 episodes" in text
        assert "/watch/" not in text
        assert f'href="/watch/{path.split("/")[2]}"' in (await organiser.get("/"))[2]
