"""Presets: every game has each difficulty, and what simple players earn in it can be measured."""

from __future__ import annotations

import pytest
from scipy.stats import ttest_1samp

from ludens import GAMES, make
from ludens.agents import agent
from ludens.cli import main
from ludens.core.errors import UnknownName
from ludens.core.game import DIFFICULTIES, Preset
from ludens.core.registry import preset_of
from ludens.run.ability import (
    BEST,
    BLIND,
    RANDOM,
    PresetScores,
    measure_preset,
    options_text,
    presets_markdown,
    seated_episodes,
)


@pytest.mark.parametrize("name", sorted(set(GAMES.names()) - {"files"}))  # files of users are as they are
def test_every_game_has_every_difficulty(name: str) -> None:
    presets = GAMES.get(name).presets
    assert tuple(presets) == DIFFICULTIES
    for preset, settings in presets.items():
        game = make(name, preset=preset)
        for option, value in settings.options.items():
            assert game.options[option] == value
        if len(game.seats) > 1:
            assert agent(settings.others, game)


def test_a_preset_is_named_in_a_spec_and_options_replace_its_own() -> None:
    assert make("minesweeper?preset=easy").options["mines"] == 4
    assert make("minesweeper?preset=easy&mines=2").options["mines"] == 2
    assert make("hanabi", preset="hard").seats[-1] == "player_4"
    assert make("hanabi?preset=paper") == make("hanabi")
    preset = preset_of("chess?preset=medium")
    assert preset is not None
    assert preset.others == "bot/search?depth=1"
    assert preset_of("chess") is None


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown preset of chess 'esy'; did you mean 'easy'"):
        make("chess?preset=esy")


def test_scores_of_players() -> None:
    easy, hard = (
        measure_preset("tic_tac_toe", preset, episodes=16, seconds=60) for preset in ("easy", "hard")
    )
    assert hard.scores[RANDOM].mean < easy.scores[RANDOM].mean < easy.scores[BEST].mean
    assert hard.scores[BEST].mean == 0
    assert easy.scores[BEST].episodes == 16
    assert easy.scores[BLIND].spec in ("bot/first", "bot/guess")
    text = presets_markdown([easy, hard])
    assert "| `tic_tac_toe` | hard | `opening=2` | `bot/minimax` |" in text
    assert "0.00 (16) |" in text  # of the best player, who always draws


def test_a_mean_has_an_interval_by_students_t() -> None:
    score = measure_preset("tic_tac_toe", "easy", players=(RANDOM,), episodes=4, seconds=60).scores[RANDOM]
    row = f"{score.mean:.2f} ± {score.reach:.2f} (4)"
    assert row in presets_markdown([PresetScores("tic_tac_toe", "easy", Preset(), {RANDOM: score})])
    game, settings = make("tic_tac_toe", preset="easy"), GAMES.get("tic_tac_toe").presets["easy"]
    returns = [
        episode.returns[seat]
        for seat, episode in seated_episodes(game, settings.others, "bot/guess", 4, 60, 0)
    ]
    low, high = ttest_1samp(returns, 0).confidence_interval()
    assert (score.mean - score.reach, score.mean + score.reach) == pytest.approx((low, high))


def test_a_blind_player_is_chosen_on_other_seeds() -> None:
    scores = measure_preset("qa", "easy", players=(BLIND, BEST), episodes=8, seconds=60).scores
    assert scores[BEST].mean == 1
    assert scores[BLIND].spec.startswith("bot/")
    assert set(scores) == {BLIND, BEST}


def test_options_are_written_as_in_a_spec() -> None:
    assert options_text(Preset({"rows": 6, "mines": 4})) == "rows=6&mines=4"
    assert options_text(Preset()) == "defaults"


def test_the_command_lists_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets", "sudoku", "--preset", "hard"]) == 0
    assert "clues=27" in capsys.readouterr().out
    assert main(["presets", "sudoku", "--preset", "hopeless"]) == 2
