"""`ludens demo` plays real games and leaves what it says it leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from ludens import Episode, make, verify
from ludens.demo import MATCHES, Match, Result, play_match
from tests.cli.conftest import Run


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = [replace(match, games=1) for match in MATCHES]
    monkeypatch.setattr("ludens.demo.play_all.__defaults__", (matches,))


@pytest.mark.usefixtures("short")
def test_the_table_the_episodes_and_the_pictures(ludens: Run, tmp_path: Path) -> None:
    ran = ludens("demo", "--out", str(tmp_path / "out"))
    assert ran.code == 0
    assert f"{len(MATCHES)} games in" in ran.out
    named = [Path(line.strip()) for line in ran.out.splitlines() if line.endswith(".png")]
    games = {match.game.split("?")[0].replace("/", "-") for match in MATCHES}
    assert {file.stem for file in named} == {f"{game}-{what}" for game in games for what in ("strip", "last")}
    for file in named:
        with Image.open(file) as image:
            assert image.format == "PNG"
    lines = (tmp_path / "out" / "episodes.jsonl").read_bytes().splitlines()
    episodes = [Episode.from_json(line) for line in lines]
    assert [episode.status for episode in episodes] == ["done"] * len(MATCHES)
    for episode in episodes:
        verify(episode)


def test_every_kind_of_game_is_in_the_demo() -> None:
    assert {match.game.split("?")[0] for match in MATCHES} >= {
        "tic_tac_toe", "breakthrough", "coin_dilemma", "perceive", "comma/wire",
    }  # fmt: skip


def test_players_change_seats_and_keep_their_returns() -> None:
    match = Match("tic_tac_toe", ("bot/alphabeta?depth=9", "bot/first"), 4)
    game = make("tic_tac_toe")
    assert [match.seating(game, number) for number in range(2)] == [{"x": 0, "o": 1}, {"x": 1, "o": 0}]
    result = play_match(match, seed=0)
    for number, episode in enumerate(result.episodes):
        for seat, player in match.seating(game, number).items():
            assert episode.seats[seat] == match.players[player]
            assert result.returns[player][number] == episode.returns[seat]


def test_wins_are_counted_against_every_other() -> None:
    result = Result(Match("x", ("a", "b", "c"), 3), [], [[1, 0, 2], [0, 0, 2], [0, 0, 1]])
    assert [result.won(player) for player in range(3)] == [1, 0, 0]
    assert result.mean(0) == 1
