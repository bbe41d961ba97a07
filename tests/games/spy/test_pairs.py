"""The spy game on picture sets: named by content, played, replayed without the set."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from shlex import split

import numpy as np
import pytest
from PIL import Image

from ludens import make, play_sync, verify
from ludens.agents import agent
from ludens.cli import main
from ludens.core import view as core_view
from ludens.core.agent import Agent
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UsageError
from ludens.core.random import stream
from ludens.core.replay import replay
from ludens.core.view import RenderOptions, view_of
from ludens.games.spy import pairs
from ludens.games.spy.flat import Floor
from ludens.games.spy.game import Spy
from ludens.games.spy.scene import make_pair
from ludens.pictures import Header, PictureSetWriter
from ludens.testing import check_game
from tests.support.picture_pairs import made_set
from tests.support.players import Scripted
from tests.support.probes import WORD, watched


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for sets, and a process that has opened none."""
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pairs, "_opened", {})
    pairs._scenes.cache_clear()
    return tmp_path


def _players(game: Spy) -> dict[str, Agent]:
    return {seat: Scripted(["\\boxed{There is a cube}", "\\boxed{N/A}"]) for seat in game.seats}


def test_an_episode_names_its_set_by_hash(place: Path) -> None:
    folder = made_set(place)
    by_name, by_path = make("spy", source="rendered", rounds=1), make("spy", source=str(folder), rounds=1)
    assert by_name == by_path
    assert isinstance(by_name, Spy)
    assert by_name.options["source"] == f"rendered@{pairs.set_of(by_name.source).hash}"
    assert make("spy", **by_name.options) == by_name
    episode = play_sync(by_name, _players(by_name), 0)
    assert verify(Episode.from_json(episode.to_json())).pictures == 5 + 4


def test_rendered_scenes_have_a_text_twin_and_bots_can_play(place: Path) -> None:
    made_set(place)
    game = make("spy?source=rendered&civilians=2&rounds=1")
    check_game(game, seeds=(0,), views=(RenderOptions("classic", 256),))
    assert "two objects" in view_of(game, RenderOptions(), 0).rules("spy")
    episode = play_sync(game, dict.fromkeys(game.seats, agent("bot/clever", game)), 0)
    assert episode.status == "done"


def test_photographs_have_no_text_twin_and_scene_bots_refuse_them(place: Path) -> None:
    made_set(place, "photos", described=False, generator="spy/photo")
    game = make("spy?source=photos&civilians=2&rounds=1")
    view = view_of(game, RenderOptions(), 0)
    assert not view.has_text
    assert "some objects or parts" in view.rules("spy")
    assert "dotted" not in view.rules("spy")
    with pytest.raises(BadOption, match="described scenes"):
        play_sync(game, dict.fromkeys(game.seats, agent("bot/clever", game)), 0)
    best = play_sync(game, dict.fromkeys(game.seats, agent("bot/best", game)), 0)
    assert best.facts["winner"] == "civilian"


def test_charts_are_told_their_own_change(place: Path) -> None:
    made_set(place, "charts", described=False, generator="spy/chart")
    view = view_of(make("spy?source=charts"), RenderOptions(), 0)
    assert "two values have been swapped" in view.rules("spy")


def test_files_are_shown_as_they_are_and_only_made_smaller(place: Path) -> None:
    folder = made_set(place)
    game = make("spy?source=rendered&civilians=2&rounds=1")
    check_game(game, seeds=(0,), views=(RenderOptions("classic", 512),))
    state = game.start(0)
    shown = view_of(game, RenderOptions(size=512), 0).image(state, "spy")
    entry = state.pair.entry  # type: ignore[attr-defined]
    assert shown.encoded()[0] == (folder / entry.files["modified"].name).read_bytes()
    shipped = make("spy?source=clevr&civilians=2&rounds=1")
    small = view_of(shipped, RenderOptions(size=256), 0).image(shipped.start(0), "spy")
    assert (small.width, small.height) == (256, 171)


def test_every_entry_is_used_and_the_seed_decides(place: Path) -> None:
    made_set(place)
    game = make("spy?source=rendered")
    used = [game.start(seed).pair.entry.id for seed in range(40)]  # type: ignore[attr-defined]
    assert set(used) == {"00000", "00001", "00002", "00003"}
    assert used[7] == game.start(7).pair.entry.id  # type: ignore[attr-defined]


def test_a_replay_without_the_set_shows_everything_but_pictures(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made_set(place)
    game = make("spy?source=rendered&civilians=2&rounds=1")
    episode = play_sync(game, _players(game), 0)  # type: ignore[arg-type]
    shutil.rmtree(folder)
    monkeypatch.setattr(pairs, "_opened", {})
    core_view._view.cache_clear()  # as in another process
    again = Episode.from_json(episode.to_json())
    *_, last = replay(again)
    assert last.state.facts == episode.facts
    assert last.state.returns == episode.returns
    view = view_of(make(again.game, **again.options), RenderOptions(size=300), 0)
    assert "There is a cube" in view.notes(last.state, "spy")
    for show in (lambda: view.image(last.state, "spy"), lambda: verify(again)):
        with pytest.raises(BadFile, match=r"'rendered' with the hash \w{16} is not here"):
            show()


def test_another_set_of_the_same_name_is_not_taken(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_set(place)
    game = make("spy?source=rendered&civilians=2&rounds=1")
    shutil.rmtree(folder)
    made_set(place, described=False)
    monkeypatch.setattr(pairs, "_opened", {})
    with pytest.raises(BadFile, match="hash"):
        view_of(game, RenderOptions(size=320), 0).image(game.start(0), "spy")


def test_unknown_and_wrong_sets_are_one_sentence(place: Path) -> None:
    with pytest.raises(UsageError, match="picture set"):
        make("spy?source=nowhere")
    (place / "holiday").mkdir()
    with pytest.raises(BadFile, match="not a picture set"):
        make("spy", source=str(place / "holiday"))
    writer = PictureSetWriter(place / "robots", Header("robots", "scene", "robots"))
    writer.add("a", {"view": Floor("classic", 256).draw(make_pair(stream(0, "a")).original).png()})
    writer.finish()
    with pytest.raises(BadFile, match="needs pairs"):
        make("spy?source=robots")


def _photo(seed: int) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 256, (8, 10, 3), np.uint8)
    return Image.fromarray(small).resize((96, 72), Image.Resampling.BICUBIC)


def test_a_folder_of_pictures_is_not_made_into_a_set(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place / "in" / f"My {WORD} cats"
    folder.mkdir(parents=True)
    for name, seed in (("a_original", 0), ("a_modified", 1), ("b_original", 2), ("b_modified", 2)):
        _photo(seed).save(folder / f"{name}.png")
    with watched() as events, pytest.raises(BadFile) as refused:
        make("spy", source=str(folder))
    assert not {"open", "os.scandir", "os.listdir"} & events
    assert sorted(path.name for path in place.iterdir()) == ["in"]
    # The command in the message makes a set that the game accepts.
    [command] = re.findall(r"`ludens (.*)`", str(refused.value))
    source = str(refused.value).rpartition("source=")[2].rstrip(".")
    monkeypatch.chdir(place)
    assert main(split(command)) == 0
    game = make("spy", source=source, civilians=2, rounds=1)
    picture = view_of(game, RenderOptions(size=256), 0).image(game.start(0), "spy")
    assert picture.encoded()[0] == (folder / "a_modified.png").read_bytes()


def test_one_edit_in_ten_is_blank_and_one_in_ten_identical() -> None:
    """The paper's noise ablation."""
    kinds = Counter(pairs.draw_noise(stream(seed, "noise")) for seed in range(1000))
    assert set(kinds) == {"", "blank", "identical"}
    assert all(70 <= kinds[kind] <= 130 for kind in ("blank", "identical"))


@pytest.mark.parametrize("source", ["flat", "clevr", "chart"])
def test_noise_changes_the_picture_of_the_spy(source: str) -> None:
    noisy, clean = make("spy", source=source, noise=True), make("spy", source=source)
    view, plain = (view_of(game, RenderOptions(size=256), 0) for game in (noisy, clean))
    seeds = {pairs.draw_noise(stream(seed, "noise")): seed for seed in range(60)}
    for kind, seed in seeds.items():
        state = noisy.start(seed)
        own, original = view.image(state, "spy"), view.image(state, "civilian_1")
        assert original.hash == plain.image(clean.start(seed), "civilian_1").hash
        unedited = plain.image(clean.start(seed), "spy").hash
        assert (own.hash == unedited) is (kind == "")
        assert (own.hash == original.hash) is (kind == "identical")
        assert bool(own.rgb()[9:-9, 9:-9].std(axis=(0, 1)).max() == 0) is (kind == "blank")


@pytest.mark.parametrize("bot", ["blunt", "vague", "clever", "oracle", "blind"])
def test_bots_play_with_noise(bot: str) -> None:
    game = make("spy?noise=true&civilians=2")
    blank = next(seed for seed in range(99) if not game.start(seed).pair.modified.objects)  # type: ignore[attr-defined]
    same = next(seed for seed in range(99) if not game.start(seed).pair.changed)  # type: ignore[attr-defined]
    for seed in (blank, same):
        episode = play_sync(game, {seat: agent(f"bot/{bot}", game) for seat in game.seats}, seed)
        assert episode.status == "done"
        assert all(move.action for move in episode.moves)
        verify(episode)


def test_the_game_is_well_behaved_with_noise() -> None:
    game = make("spy?noise=true&civilians=2&rounds=1")
    seeds = {pairs.draw_noise(stream(seed, "noise")): seed for seed in range(60)}
    check_game(game, seeds=tuple(seeds.values()), views=(RenderOptions("classic", 256),))
