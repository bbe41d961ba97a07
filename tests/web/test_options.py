"""Options that visitors of the browser app set: they name what is installed, and do not stop the server."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import ClassVar
from urllib.parse import quote

import pytest
from PIL import Image

from ludens.core.registry import GAMES
from ludens.core.state import State
from ludens.games.tic_tac_toe import TicTacToe
from tests.support.picture_pairs import made_set
from tests.support.probes import WORD, watched
from tests.support.web_client import TOKEN
from tests.web.test_play import Visit, begin, visit

__all__ = ["visit"]


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a pair of pictures, and a cache folder of its own."""
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path / "data"))
    folder = tmp_path / f"{WORD}-photos"
    folder.mkdir()
    for name in ("a_original", "a_modified"):
        Image.new("RGB", (64, 64), "red" if "orig" in name else "blue").save(folder / f"{name}.png")
    return folder


@pytest.mark.parametrize(
    ("game", "option", "more"),
    [
        ("spy", "source", ""),
        ("viki/plan", "data", ""),
        ("viki/plan", "pictures", "&look=camera"),
        ("rule", "board", "spy?source="),
    ],
)
async def test_visitor_cannot_name_a_folder(
    game: str,
    option: str,
    more: str,
    photos: Path,
    visit: Visit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    made_set(tmp_path, f"{WORD}-here")
    visitor, organiser = visit(), visit()
    await organiser.get(f"/?token={TOKEN}")
    with watched() as events:
        for place in (
            str(photos),
            f"{photos}@0123456789abcdef",
            f"../{WORD}",
            f"{WORD}-here",
            f"http://{WORD}",
        ):
            value = f"{more}{place}" if option == "board" else place
            form = {
                "game": game,
                f"option.{option}": value,
                **({"option.look": "camera"} if "&" in more else {}),
            }
            link = f"/play?game={quote(f'{game}?{option}={value}' + more * ('&' in more))}"
            for status, _, text in (
                await visitor.post("/play", **form),
                await visitor.get(link),
                await organiser.get(link),  # a link may come from anywhere
            ):
                assert (status, "installed here" in text) == (400, True), text
    assert not events
    assert not (tmp_path / "data").exists()


async def test_form_has_no_field_for_a_folder(visit: Visit) -> None:
    visitor = visit()
    assert 'name="option.data"' not in (await visitor.get("/play?game=viki/plan"))[2]
    await visitor.get(f"/?token={TOKEN}")
    assert 'name="option.data"' in (await visitor.get("/play?game=viki/plan"))[2]


async def test_visitor_chooses_among_installed_picture_sets(visit: Visit) -> None:
    status, _, text = await visit().get("/play?game=spy")
    assert status == 200
    choices = re.search(r'<select id="option-source".*?</select>', text, re.DOTALL)
    assert choices
    assert ">clevr-16<" in choices[0]
    form = {"option.source": "clevr-16", "option.civilians": "2", "option.rounds": "1", "seat.spy": "me"}
    _, seat = await begin(visit(), "spy", **form)
    assert (await seat.turn())["images"]


async def test_organiser_names_a_picture_set_by_its_path(photos: Path, visit: Visit, tmp_path: Path) -> None:
    organiser = visit()
    await organiser.get(f"/?token={TOKEN}")
    form = {"option.civilians": "2", "option.rounds": "1", "seat.spy": "me"}
    status, _, text = await organiser.post("/play", game="spy", **form, **{"option.source": str(photos)})
    assert (status, "ludens data spy/photos --from" in text) == (400, True)
    path, _ = await begin(
        organiser, "spy", **form, **{"option.source": str(made_set(tmp_path / "elsewhere", "pairs"))}
    )
    status, _, text = await organiser.get(path)
    assert 'href="/play?game=spy"' in text  # a link cannot name the folder


@dataclass(frozen=True)
class Slow(TicTacToe):
    """A game that is made and started only when the test says so."""

    steps: ClassVar[dict[str, Event]] = {}
    reached: ClassVar[dict[str, Event]] = {}
    name = "slow"

    @classmethod
    def wait(cls, step: str) -> None:
        cls.reached[step].set()
        assert cls.steps[step].wait(60), "nothing else was done meanwhile"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.wait("make")

    def start(self, seed: int) -> State:
        self.wait("start")
        return super().start(seed)


async def test_others_go_on_while_a_game_is_made_and_started(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES._added, "slow", Slow)
    for step in ("make", "start"):
        Slow.steps[step], Slow.reached[step] = Event(), Event()
    one, two = visit(), visit()
    opened = asyncio.create_task(one.get("/play?game=slow"))
    began = asyncio.create_task(begin(one, "slow", **{"seat.x": "me"}))
    await asyncio.to_thread(Slow.reached["make"].wait, 60)
    assert (await two.get("/static/style.css"))[0] == 200
    Slow.steps["make"].set()
    assert (await opened)[0] == 200
    _, seat = await began
    await asyncio.to_thread(Slow.reached["start"].wait, 60)
    assert (await two.get("/static/style.css"))[0] == 200
    assert (await seat.next())["turn"] is None
    Slow.steps["start"].set()
    assert (await seat.turn())["images"]


async def test_leaving_a_game_that_is_not_started_yet(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES._added, "slow", Slow)
    for step in ("make", "start"):
        Slow.steps[step], Slow.reached[step] = Event(), Event()
    Slow.steps["make"].set()
    _, seat = await begin(visit(), "slow", **{"seat.x": "me"})
    await asyncio.to_thread(Slow.reached["start"].wait, 60)
    await seat.send({"leave": True})
    assert "left the game" in (await seat.next(lambda view: view["ended"]))["ended"]
    Slow.steps["start"].set()
    await seat.next(lambda view: view["saved"])
