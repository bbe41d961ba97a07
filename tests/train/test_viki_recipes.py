"""The recipes of VIKI-R: settings, rewards of their games, and one iteration of a very small model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ludens.core.registry import make
from ludens.games.viki.levels import AnswerState, Level
from ludens.games.viki.sources import SEAT
from ludens.train.checks import check
from ludens.train.recipe import Recipe
from ludens.train.rollout import RolloutJob

FOLDER = Path(__file__).parents[2] / "recipes" / "viki"
RECIPES = {f"{file.parent.name}/{file.stem}": file for file in sorted(FOLDER.glob("*/*.toml"))}
LESSONS = {name: file for name, file in RECIPES.items() if "curriculum" in name or name.endswith("plan-grpo")}
RECIPES = {
    name: file for name, file in RECIPES.items() if not name.endswith("common") and name not in LESSONS
}
LEVELS = ("activate", "plan", "trace")


def test_there_is_a_recipe_for_every_level_and_method() -> None:
    methods = {"nano": ("base", "ans-sft", "r-zero", "r"), "qwen": ("ans-sft", "r-zero", "r")}
    wanted = {f"{kind}/{level}-{one}" for kind in methods for level in LEVELS for one in methods[kind]}
    assert set(RECIPES) == wanted | {"nano/plan-r-no-penalty", "qwen/plan-r-no-penalty"}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_are_valid(name: str) -> None:
    recipe = Recipe.read(RECIPES[name])
    kind, _, rest = name.partition("/")
    level, _, method = rest.partition("-")
    check(recipe if kind == "qwen" else replace(recipe, model=replace(recipe.model, path="")))
    assert recipe.run.name == f"viki-{kind}-{rest}"
    game = make(recipe.play.game)
    assert (game.name, game.options["split"]) == (f"viki/{level}", "train")
    assert game.options.get("step_penalty", True) is not method.endswith("no-penalty")
    plays, imitates = method.startswith("r"), method != "r-zero"
    assert (recipe.run.iterations > 0, len(recipe.demonstrations)) == (plays, int(imitates))
    assert all(("reason=true" in source.bot) is plays for source in recipe.demonstrations)
    start = {"nano": f"training/viki-nano-{level}-base/supervised", "qwen": "Qwen/Qwen2.5-VL-3B-Instruct"}
    assert recipe.model.path == ("" if method == "base" else start[kind])


def test_lessons_of_the_curriculum_follow_each_other() -> None:
    """Plans get longer, each lesson starts where the last one ended, and only play has partial rewards."""
    before, longest = "src/ludens/train/nano/weights", 0.0
    for lesson in ("1", "2", "grpo"):
        recipe = Recipe.read(LESSONS[f"nano/plan-curriculum-{lesson}"])
        check(replace(recipe, model=replace(recipe.model, path="")))
        assert recipe.model.path == before
        before = f"training/{recipe.run.name}/supervised"
        games = [make(source.game) for source in recipe.sources]
        assert {game.options["split"] for game in (make(recipe.play.game), *games)} == {"train"}
        steps = [int(game.options["steps"]) for game in games]
        assert bool(steps) is (recipe.run.iterations == 0)
        assert make(recipe.play.game).options["partial"] is not bool(steps)
        assert all("goals=true" in source.bot for source in recipe.sources)
        total = sum(n * source.episodes for n, source in zip(steps, recipe.sources, strict=True))
        mean = total / sum(source.episodes for source in recipe.sources) if steps else 11.0
        assert mean > longest
        longest = mean


def test_grpo_alone_rewards_right_plans_from_the_weights_in_the_package() -> None:
    recipe, lesson = (Recipe.read(LESSONS[f"nano/{name}"]) for name in ("plan-grpo", "plan-curriculum-grpo"))
    check(recipe)
    game, same = make(recipe.play.game).options, make(lesson.play.game).options
    assert not recipe.sources
    assert game == {**same, "partial": False}
    assert (recipe.optimizer, recipe.loss) == (lesson.optimizer, lesson.loss)


@pytest.mark.parametrize(
    ("level", "warm_up", "epochs"), [("activate", 500, 5), ("plan", 490, 15), ("trace", 100, 2)]
)
def test_settings_of_the_paper(level: str, warm_up: int, epochs: int) -> None:
    recipe = Recipe.read(RECIPES[f"qwen/{level}-r"])
    play, optimizer, (source,) = recipe.play, recipe.optimizer, recipe.demonstrations
    assert (play.episodes, play.samples, play.episodes // optimizer.minibatches) == (256, 5, 128)
    assert (optimizer.lr, recipe.loss.kl, recipe.model.max_tokens) == (1e-6, 0.01, 2048)
    assert recipe.run.iterations * play.episodes == epochs * play.seeds
    assert (source.episodes, recipe.supervised.epochs, recipe.supervised.lr) == (warm_up, 2, 1e-5)
    assert (optimizer.schedule, optimizer.warmup, recipe.model.freeze_vision) == ("cosine", 0.1, True)


@pytest.mark.parametrize("level", LEVELS)
def test_a_model_goes_on_where_another_began(level: str) -> None:
    """Vocabulary and longest text are those of the base."""
    base = Recipe.read(RECIPES[f"nano/{level}-base"]).model
    for method in ("ans-sft", "r-zero", "r"):
        later = Recipe.read(RECIPES[f"nano/{level}-{method}"]).model
        assert (later.max_tokens, later.side, later.width) == (base.max_tokens, base.side, base.width)


def test_games_of_recipes_make_rewards() -> None:
    """One episode of each game; the answer of another seed is worth less."""
    for spec in sorted({Recipe.read(file).play.game for file in RECIPES.values()}):
        game = make(spec.replace("train", "ood"))
        assert isinstance(game, Level)
        assert _accuracy(game, 1, game.start(1)) == 1.0
        assert _accuracy(game, 1, game.start(2)) < 1.0


def _accuracy(game: Level, seed: int, other: object) -> float:
    state = game.start(seed)
    assert isinstance(state, AnswerState)
    assert isinstance(other, AnswerState)
    state.apply({SEAT: other.solution(SEAT) or ""})
    return state.accuracies[0]


# Extending recipes


def test_a_recipe_extends_another(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[run]\nname = "a"\nseed = 3\n[loss]\nkl = 0.5\n')
    (tmp_path / "b.toml").write_text('extends = "a.toml"\n[run]\nname = "b"\n[play]\nsamples = 4\n')
    (tmp_path / "c.toml").write_text('extends = "b.toml"\n[loss]\nclip = 0.1\n')
    recipe = Recipe.read(tmp_path / "c.toml")
    assert (recipe.run.name, recipe.run.seed, recipe.play.samples) == ("b", 3, 4)
    assert (recipe.loss.kl, recipe.loss.clip) == (0.5, 0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('extends = "a.toml"', "extends itself"),
        ('extends = "none.toml"', "none.toml' cannot be read"),
        ("extends = 3", "must name a recipe"),
    ],
)
def test_what_cannot_be_extended(text: str, message: str, tmp_path: Path) -> None:
    from ludens.core.errors import UsageError

    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        Recipe.read(tmp_path / "a.toml")


# Epochs


def test_seeds_are_played_in_turn(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ludens.train.algorithms import algorithm
    from ludens.train.loop import Trainer

    recipe = Recipe.of({"play": {"episodes": 2, "samples": 2, "seeds": 3, "first_seed": 7}})
    trainer = Trainer.__new__(Trainer)
    trainer.recipe = recipe
    trainer.league = _League()  # type: ignore[assignment]
    trainer.algorithm = algorithm(recipe)
    played = []
    for trainer.iteration in range(3):
        played.append(trainer.jobs())
    groups = [[job.seed for job in jobs if job.sample == 0] for jobs in played]
    assert groups == [[7, 8], [9, 7], [8, 9]]
    assert all(len(jobs) == 4 for jobs in played)


class _League:
    def job(self, seed: int, sample: int, stage: str) -> RolloutJob:
        assert stage == ""
        return RolloutJob(seed, sample)


def test_an_iteration_plays_no_seed_twice() -> None:
    from ludens.core.errors import BadOption

    with pytest.raises(BadOption, match="play a seed twice"):
        check(Recipe.of({"play": {"episodes": 4, "seeds": 3}}))


# One iteration of GRPO


@pytest.mark.slow
def test_one_iteration_from_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Base, then R-Zero: replies are read, rewards are those of form and answer, the weights move."""
    torch = pytest.importorskip("torch")
    from ludens.train.nano import dataset
    from ludens.train.session import train

    monkeypatch.setattr(dataset, "VOCABULARY_EPISODES", 6)
    tiny = {
        "play.game": "viki/activate?split=ood",
        "play.episodes": "4",
        "play.held_out": "0",
        "model.width": "32",
        "model.heads": "2",
        "model.encoder": "1",
        "model.decoder": "1",
        "model.side": "64",
        "model.device": "cpu",
        "supervised.workers": "1",
    }
    imitation = {"demonstrations.episodes": "6", "supervised.epochs": "150", "supervised.batch": "6"}
    base = Recipe.read(RECIPES["nano/activate-base"]).override({**tiny, **imitation, "supervised.lr": "5e-3"})
    train(base, tmp_path / "base", say=lambda line: None)

    path = str(tmp_path / "base" / "supervised")
    settings = {**tiny, "model.path": path, "run.iterations": "1", "monitor.blind": "0", "monitor.games": "1"}
    settings |= {
        "optimizer.minibatches": "1",
        "run.seed": "3",
    }  # a seed with which some reply earns something
    zero = Recipe.read(RECIPES["nano/activate-r-zero"]).override(settings)
    trainer = train(zero, tmp_path / "zero", say=lambda line: None)
    (measured,) = trainer.history
    assert measured["samples"] == 32
    assert 0 < measured["reward"] < 1
    assert measured["grad"] > 0
    assert measured["gap"] < 1e-3

    (line,) = (tmp_path / "zero" / "games" / "000001.jsonl").read_text().splitlines()
    assert json.loads(line)["game"] == "viki/activate"
    before, after = _weights(Path(path)), _weights(tmp_path / "zero" / "step-000001")
    assert any(not torch.equal(before[name], after[name]) for name in before)


def _weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_a_base_knows_the_words_of_right_answers(level: str) -> None:
    """What the base never says, its successors could not learn; 64 games do not have every name."""
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from ludens.train.nano.dataset import SampleShape, rounds, vocabulary_of

    base = Recipe.read(RECIPES[f"nano/{level}-base"])
    few = [replace(source, episodes=64) for source in base.sources]
    right = [replace(source, bot="bot/oracle?reason=true&short=true", episodes=16) for source in few]
    shape = SampleShape(64, base.model.longest, base.model.max_tokens)
    [dataset] = rounds(right, vocabulary_of(few, workers=1), shape, (4,), workers=1)
    assert dataset.left_out <= 2
