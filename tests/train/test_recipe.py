"""Recipes: every value checked, unknown names with the nearest known one."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.agents import AGENTS, import_agent
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.train.checks import check
from ludens.train.recipe import Recipe

SPY = {"run": {"algorithm": "spo"}, "play": {"game": "spy"}}
RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_shipped_recipes_are_valid(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe.read(file)
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))
    for source in recipe.sources:
        import_agent(source.bot)
    # Where it starts from the weights of another recipe, they are not here.
    path = recipe.model.path if recipe.model.kind == "hf" else ""
    check(replace(recipe, model=replace(recipe.model, path=path)))
    assert Recipe.of(recipe.as_dict()) == recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lost]\nkl = 0.1", r"'lost'.*'loss'"),
        ("[loss]\nkll = 0.1", r"'kll'.*'kl'"),
        ("[loss]\nkl = -1", "at least 0"),
        ("[loss]\nkl = 'much'", "must be a number"),
        ("[loss]\nnorm = 'sequense'", r"'sequense'.*'sequence'"),
        ("loss = 3", "must be a table"),
        ("[[opponents]]\nplayer = {}", r"'player'.*'players'"),
        ("[[opponents]]\nplayers = {spy = 'frozen'}\nweight = 0", "weight above 0"),
        ("[[opponents]]\nplayers = {spy = 'frozen'}\nweight = inf", "finite weight"),
        ("[optimizer]\nlr = inf", "'lr' .* must be a finite number, not inf"),
        ("[optimizer]\nlr = nan", "'lr' .* at least 0, not nan"),
        ("[optimizer]\nlr = -1e-5", "'lr' .* at least 0"),
        ("[supervised]\nlr = inf", "'lr' .* must be a finite number"),
        ("[play]\ndiscount = nan", "at most 1, not nan"),
        ("[loss\n", "not TOML"),
    ],
)
def test_wrong_recipes(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(text)
    with pytest.raises((BadFile, BadOption, UnknownName), match=message):
        Recipe.read(file)


def test_missing_recipe(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        Recipe.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"run": {"algorithm": "spo"}}, "needs a game with two stages.*tic_tac_toe declares none"),
        (
            {**SPY, "opponents": [{"players": {"spy": "frozen"}, "stage": "clues"}]},
            "'clues'.*'clue'",
        ),
        ({**SPY, "switch": {"first": "clues"}}, "'clues'.*'clue'"),
        (
            {"run": {"algorithm": "spo"}, "play": {"game": "comma/wire"}},
            "stage solve of comma/wire compares several games",
        ),
        ({"run": {"algorithm": "sft"}}, "needs demonstrations"),
        (
            {"run": {"algorithm": "sft"}, "supervised": {"rounds": 0}, "demonstrations": [{"episodes": 1}]},
            "at least one of supervised.rounds",
        ),
        (
            {"rehearsal": {"share": 0.1}},
            r"needs \[\[demonstrations\]\] of bots in games other than tic_tac_toe",
        ),
        ({"rehearsal": {"share": 0.1}, "demonstrations": [{"episodes": 1}]}, "games other than tic_tac_toe"),
        ({"rehearsal": {"share": 0.1}, "model": {"kind": "hf"}}, 'rehearsal.share needs kind = "nano"'),
        ({"play": {"max_tokens": 49}}, "at most model.max_tokens"),
        ({"play": {"max_tokens": 9}, "model": {"kind": "hf"}}, 'play.max_tokens needs kind = "nano"'),
        ({"model": {"kind": "hf"}}, "needs a path"),
        ({"server": {"url": "http://127.0.0.1:8000"}}, r"\[server\] needs kind"),
        ({"server": {"url": "127.0.0.1:8000"}}, "http://HOST:PORT"),
        ({"model": {"kind": "hf", "path": "/none/such"}}, "model.path /none/such is not a folder"),
        ({"model": {"path": "none"}}, "model.path none is not a folder"),
        ({"demonstrations": [{"run": "none"}]}, r"\[\[demonstrations\]\]: none is not a folder"),
        ({"play": {"theme": "clasic"}}, "'clasic'.*'classic'"),
        ({"demonstrations": [{"episodes": 1, "theme": "plain rndom"}]}, "'rndom'.*'random'"),
        ({"demonstrations": [{"episodes": 1}], "supervised": {"size": "256 13"}}, "256 to 1024, not '13'"),
        ({"demonstrations": [{"episodes": 1, "game": "chss"}]}, "'chss'.*'chess'"),
        ({"demonstrations": [{"episodes": 1, "player": "bot/randm"}]}, "'bot/randm'.*'bot/random'"),
        ({"play": {"first_seed": 500_100}}, r"play \(500100 to 512899\) and held-out games .* overlap"),
        ({"play": {"held_out_seed": 1_000_000}}, "overlap"),
        ({"play": {"first_seed": 2**41 - 2}}, r"seeds of play .* and a last evaluation .* overlap"),
        (
            {"play": {"held_out_seed": 900_000}, "monitor": {"against": "frozen"}},
            "and evaluations .* overlap",
        ),
        (
            {"play": {"first_seed": 2_000_000}, "demonstrations": [{"episodes": 9}]},
            "demonstrations .* overlap",
        ),
        ({"opponents": [{"players": {"x": "frozen"}, "stage": "clue"}]}, "stage .* needs the algorithm spo"),
        ({"opponents": [{"players": {"spy": "frozen"}}]}, "name 'spy', but tic_tac_toe .* roles o, x"),
        ({"opponents": [{"players": {"x": "frozn"}}]}, "'frozn'.*'frozen'"),
        ({"opponents": [{"players": {"x": "bot/randm"}}]}, "'bot/randm'.*'bot/random'"),
        ({"opponents": [{"players": {"x": "checkpoint:none"}}]}, "none is not a folder"),
        ({"opponents": [{"players": {"x": "frozen", "o": "frozen"}}]}, "leave no seat to the learner"),
        ({"monitor": {"against": "bot/bets"}}, "'bot/bets'.*'bot/best'"),
        ({"play": {"game": "tic_tac_to"}}, "tic_tac_toe"),
        ({}, "play.samples = 1 .* every group is one game"),
        ({"play": {"samples": 8}, "advantage": {"group": "episode seat"}}, "every group is one game"),
        ({"play": {"samples": 8}, "advantage": {"group": "seed seats"}}, "'seats'.*'seat'"),
        ({"play": {"samples": 8}, "model": {"device": "gpu"}}, "unknown device 'gpu'"),
        ({"play": {"samples": 8}, "model": {"device": "cpu:x"}}, "unknown device 'cpu:x'"),
        ({"play": {"samples": 8}, "model": {"device": "cuda:99"}}, "is cuda:99, but torch finds"),
        ({"run": {"algorithm": "spo"}, "play": {"game": "spy", "held_out": 0}}, "needs held-out games"),
    ],
)
def test_what_does_not_fit_together(sections: dict, message: str) -> None:
    with pytest.raises((BadOption, UnknownName), match=message):
        check(Recipe.of(sections))


@pytest.mark.parametrize(
    "sections",
    [
        {"play": {"samples": 2}},
        {"advantage": {"kind": "role"}},
        {"advantage": {"kind": "none"}},
        {"advantage": {"group": "role"}},
        {"run": {"iterations": 0}},
    ],
)
def test_one_game_per_seed_where_it_is_compared_with_others(sections: dict) -> None:
    check(Recipe.of(sections))


def test_wrong_recipes_are_found_before_torch_is_imported(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("[play]\nsamples = 8\n")
    wrong = {
        "optimizer.lr=inf": "finite number",
        "play.samples=1": "every group is one game",
        "advantage.group=seeds": "unknown attribute",
        "lost.kl=1": "SECTION.KEY",
        "model.device=gpu": "unknown device",
        "monitor.track=wandb:ludens": "pip install 'ludens[track]'",
    }
    code = (
        "import sys\n"
        "from ludens.cli import main\n"
        "sys.modules['wandb'] = None\n"
        "for setting in sys.argv[1:]:\n"
        "    print(main(['train', 'recipe.toml', '--set', setting]), 'torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *wrong], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines() == ["2 False"] * len(wrong), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(wrong)
    for line, words in zip(lines, wrong.values(), strict=True):
        assert words in line
    assert [file.name for file in tmp_path.iterdir()] == ["recipe.toml"]


def test_values_can_be_replaced() -> None:
    recipe = Recipe().override({"loss.kl": "0.5", "run.iterations": "3", "switch.relative": "true"})
    assert (recipe.loss.kl, recipe.run.iterations, recipe.switch.relative) == (0.5, 3, True)
    for name in ("loss", "lost.kl", "opponents.x", "loss."):
        with pytest.raises(BadOption, match=r"SECTION\.KEY"):
            Recipe().override({name: "1"})


def test_looks_of_demonstrations_come_from_supervised_and_then_from_play() -> None:
    recipe = Recipe.of(
        {
            "play": {"size": 256},
            "supervised": {"theme": "plain random"},
            "demonstrations": [{"episodes": 1}, {"episodes": 1, "theme": "contrast", "size": "512 1024"}],
        }
    )
    looks = [(source.theme, source.size) for source in recipe.sources]
    assert looks == [("plain random", "256"), ("contrast", "512 1024")]
