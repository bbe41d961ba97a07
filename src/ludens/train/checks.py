"""Checks of a recipe, before anything is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import combinations
from math import isfinite
from pathlib import Path

from ludens.agents import agent, player_accesses
from ludens.concurrent import play_sync
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.options import Touch, option_values, options_of
from ludens.core.policy import Access, option_accesses
from ludens.core.registry import GAMES, make
from ludens.core.spec import parse_spec
from ludens.core.twins import TwinGame
from ludens.draw import get_theme
from ludens.loop import OnStep, StepEvent
from ludens.models.settings import PROVIDERS
from ludens.models.transport import check_address
from ludens.run.plan import HELD_BACK, overlap
from ludens.run.tracking import check_tracker
from ludens.train import loop, ranks
from ludens.train.algorithms import two_stages
from ludens.train.demonstrations import FIRST_SEED, rehearsed
from ludens.train.league import check_players, is_copy
from ludens.train.recipe import Demonstration, Recipe, Section, names_of_players
from ludens.train.rollout import LEARNER

GROUPS = ("seed", "seat", "role", "stage", "step", "attempt", "episode")
"""Attributes of samples by which `advantage.group` can compare them."""


def check(recipe: Recipe) -> None:
    game, play = make(recipe.play.game), recipe.play
    if 0 < play.seeds < play.episodes:
        raise BadOption(
            f"the recipe's play.seeds = {play.seeds} is below play.episodes = {play.episodes}: "
            "one iteration would play a seed twice."
        )
    ranges = {**seeds_of(recipe), "a last evaluation": HELD_BACK}
    for (first, a), (second, b) in combinations(ranges.items(), 2):
        if overlap(a, b):
            raise BadOption(
                f"the recipe's seeds of {first} ({a.start} to {a.stop - 1}) and {second} ({b.start} to "
                f"{b.stop - 1}) overlap: change play.first_seed or play.held_out_seed."
            )
    if recipe.run.algorithm == "spo":
        _check_stages(recipe, game)
    elif any(o.stage for o in recipe.opponents):
        raise BadOption("stage of the recipe's [[opponents]] needs the algorithm spo.")
    if recipe.run.algorithm == "sft" and not (recipe.demonstrations and recipe.supervised.rounds):
        raise BadOption(
            "the algorithm sft needs demonstrations: add [[demonstrations]] to the recipe, and at least one "
            "of supervised.rounds."
        )
    if recipe.model.kind == "nano" and any(source.data for source in recipe.demonstrations):
        raise BadOption('data of [[demonstrations]] needs kind = "hf": nano is not prompted in words.')
    _check_engine(recipe)
    if recipe.supervised.minutes and ranks.world()[1] > 1:
        raise BadOption("supervised.minutes works with one process only: several would stop at unlike times.")
    if play.max_tokens and (recipe.model.kind != "nano" or play.max_tokens > recipe.model.max_tokens):
        raise BadOption('play.max_tokens needs kind = "nano", and is at most model.max_tokens.')
    if play.explore and recipe.model.kind != "nano":
        raise BadOption('the recipe\'s play.explore needs kind = "nano" in [model].')
    if recipe.rehearsal.share and recipe.model.kind != "nano":
        raise BadOption('the recipe\'s rehearsal.share needs kind = "nano" in [model].')
    if recipe.rehearsal.share and not rehearsed(recipe):
        raise BadOption(
            f"the recipe's rehearsal.share needs [[demonstrations]] of bots in games other than {game.name}."
        )
    _check_rewards(game)
    _check_redraws(recipe)
    if recipe.advantage.kind == "gae":
        _check_turns(recipe, game)
    if recipe.advantage.reward == "both":
        _check_twins(recipe, game)
    check_players(game, recipe.opponents, [recipe.monitor.against])
    if recipe.monitor.judge and not recipe.monitor.against:
        raise BadOption("judge of the recipe's [monitor] needs against: who the other roles are.")
    if not all(map(str.isidentifier, recipe.model.lora_targets.split() or [""])):
        raise BadOption("the recipe's model.lora_targets needs names of projections, such as q k v o.")
    path = recipe.model.path
    if recipe.model.kind == "hf" and not path:
        raise BadOption('the recipe\'s section [model] needs a path for kind = "hf".')
    # Names of models on the hub have one slash at most.
    local = recipe.model.kind == "nano" or path.startswith((".", "~", "/")) or path.count("/") > 1
    if path and local and not Path(path).is_dir():
        raise BadOption(f"the recipe's model.path {path} is not a folder.")
    if recipe.server.url:
        for url in recipe.server.urls:
            check_address(url)
        if len(set(recipe.server.urls)) < len(recipe.server.urls):
            raise BadOption("the recipe's server.url names a server twice.")
        if recipe.model.kind != "hf":
            raise BadOption('the recipe\'s section [server] needs kind = "hf" in [model].')
    if play.ahead:
        _check_ahead(recipe)
    if recipe.model.roles:
        _check_roles(recipe, game)
    if play.workers and (recipe.model.kind != "nano" or recipe.model.shard):
        raise BadOption(
            'the recipe\'s play.workers needs kind = "nano" without model.shard: every process has a copy of '
            "the model."
        )
    get_theme(play.theme)
    for source in recipe.sources:
        _check_demonstrations(source)
    _check_groups(recipe)
    if recipe.monitor.track:
        check_tracker(recipe.monitor.track)
    _check_device(recipe.model.device)
    if recipe.model.shard and recipe.model.kind == "hf" and recipe.demonstrations:
        raise BadOption(
            "the recipe's model.shard does not hold for imitation of hf models: imitate in a run of its own "
            "without it, and play from its folder supervised (model.path) without [[demonstrations]]."
        )
    if recipe.model.shard and (recipe.rehearsal.share or recipe.model.kv_cache == "static"):
        raise BadOption(
            'the recipe\'s model.shard needs model.kv_cache = "dynamic" and rehearsal.share = 0: compiled '
            "generation and rehearsal know weights by their place."
        )


def _check_engine(recipe: Recipe) -> None:
    supervised = recipe.supervised
    if supervised.engine == "trl":
        if supervised.vision_lr or (recipe.model.kind == "hf" and supervised.minutes):
            raise BadOption(
                "the recipe's supervised.vision_lr and, of hf models, supervised.minutes need "
                'supervised.engine = "rounds".'
            )
        return
    if recipe.model.kind != "hf" or any(source.data for source in recipe.demonstrations):
        raise BadOption(
            'the recipe\'s supervised.engine = "rounds" needs kind = "hf" and [[demonstrations]] without '
            "data: nano has rounds in any case, and datasets are read by TRL."
        )
    if ranks.world()[1] > 1:
        raise BadOption('the recipe\'s supervised.engine = "rounds" works with one process only.')
    if supervised.vision_lr and recipe.model.freeze_vision:
        raise BadOption("the recipe's supervised.vision_lr needs model.freeze_vision = false.")


def _check_redraws(recipe: Recipe) -> None:
    play, advantage = recipe.play, recipe.advantage
    if not play.redraws:
        return
    grouped = recipe.run.algorithm == "grpo" and advantage.kind == "group"
    if not grouped or "seed" not in advantage.group.split() or advantage.reward != "own":
        raise BadOption(
            'the recipe\'s play.redraws needs the algorithm grpo with advantage.kind = "group", groups of '
            'one seed, and advantage.reward = "own": other groups reach over several seeds.'
        )
    if 0 < play.seeds < play.episodes * (1 + play.redraws):
        raise BadOption(
            f"the recipe's play.seeds = {play.seeds} is below play.episodes x (1 + play.redraws) = "
            f"{play.episodes * (1 + play.redraws)}: one iteration would play a seed twice."
        )


def _check_ahead(recipe: Recipe) -> None:
    if recipe.model.shard or (recipe.model.kind == "hf" and not recipe.server.url):
        raise BadOption(
            'the recipe\'s play.ahead needs kind = "nano" or a [server], without model.shard: a large model '
            "fills its GPU in play and in updates, and its copies share weights with it."
        )
    copies = [name for name in sorted(names_of_players(recipe.opponents)) if is_copy(name)]
    if recipe.model.kind == "hf" and copies:
        raise BadOption(
            f'the recipe\'s play.ahead needs other [[opponents]] than {copies[0]!r} with kind = "hf": the '
            "model that would play is in the middle of an update."
        )


def _check_roles(recipe: Recipe, game: Game) -> None:
    if recipe.model.kind != "nano" or recipe.model.shard or recipe.rehearsal.share:
        raise BadOption(
            'the recipe\'s model.roles needs kind = "nano", without model.shard and rehearsal.share.'
        )
    if len(game.seats) < 2:
        raise BadOption(f"the recipe's model.roles needs a game with several seats; {game.name} has one.")


def _check_turns(recipe: Recipe, game: Game) -> None:
    if recipe.run.algorithm != "grpo" or recipe.advantage.reward != "own" or recipe.play.discount >= 0:
        raise BadOption(
            'the recipe\'s advantage.kind = "gae" needs the algorithm grpo, advantage.reward = "own" and '
            "play.discount = -1: it has a discount of its own, advantage.discount."
        )
    if type(game).rewards is not Game.rewards:
        raise BadOption(
            f'the recipe\'s advantage.kind = "gae" needs a game that rewards the outcome; {game.name} '
            "rewards each move by itself."
        )


def _check_stages(recipe: Recipe, game: Game) -> None:
    stages = two_stages(game)
    names, first = [stage.name for stage in stages], recipe.switch.first
    if first not in (*names, "decision"):
        raise UnknownName("stage of the recipe's switch.first", first, names)
    for arrangement in recipe.opponents:
        if arrangement.stage not in ("", *names):
            raise UnknownName("stage of the recipe's [[opponents]]", arrangement.stage, names)
    if not recipe.play.held_out:
        raise BadOption("the algorithm spo needs held-out games: set play.held_out above 0.")
    for stage in stages:
        if recipe.play.samples == 1 and "seed" in stage.group:
            raise BadOption(
                f"the stage {stage.name} of {game.name} compares several games of a seed: set "
                "play.samples to 2 or more."
            )


def _check_groups(recipe: Recipe) -> None:
    advantage, samples = recipe.advantage, recipe.play.samples
    names = advantage.group.split()
    for name in names:
        if name not in GROUPS:
            raise UnknownName("attribute of samples in advantage.group", name, GROUPS)
    grouped = recipe.iterations and recipe.run.algorithm == "grpo" and advantage.kind == "group"
    if grouped and ((samples == 1 and "seed" in names) or {"episode", "seat"} <= set(names)):
        raise BadOption(
            f"with play.samples = {samples} and advantage.group = {advantage.group!r} every group is one "
            'game, so that nothing is learnt: set play.samples to 2 or more, or advantage.kind to "role".'
        )


def _check_device(device: str) -> None:
    """torch is imported only where the recipe names a device that may not be there."""
    kind, _, number = device.partition(":")
    if kind not in ("auto", "cpu", "cuda", "mps") or (number and not (kind == "cuda" and number.isdecimal())):
        raise UnknownName("device", device, ("auto", "cpu", "cuda", "cuda:0", "mps"))
    if kind not in ("cuda", "mps"):
        return
    import torch

    if kind == "mps" and not torch.backends.mps.is_available():
        raise BadOption("the recipe's model.device is mps, but torch finds no GPU of Apple here.")
    if kind == "cuda" and torch.cuda.device_count() <= int(number or 0):
        raise BadOption(
            f"the recipe's model.device is {device}, but torch finds {torch.cuda.device_count()} GPUs with "
            "CUDA here: use auto or cpu."
        )


def recipe_accesses(recipe: Recipe) -> Iterator[Access]:
    """Files, addresses and keys that a recipe names in its sections, games and players."""
    sections = {f.name: getattr(recipe, f.name) for f in fields(Recipe)}
    tables: list[tuple[str, Section | Demonstration]]
    tables = [(f"[{name}]", each) for name, each in sections.items() if isinstance(each, Section)]
    tables += [("[[demonstrations]]", source) for source in recipe.sources]
    for name, table in tables:
        game = table.game if isinstance(table, Demonstration) else recipe.play.game
        for access in option_accesses(options_of(type(table)), option_values(table), name):
            if access.touch is Touch.PLAYER:
                yield from _player(access.value, game)
            else:
                sends_key = bool(os.environ.get(PROVIDERS["vllm"].keys[0]))
                values = access.value.split() if access.touch is Touch.CONNECT else [access.value]
                yield from (replace(access, value=value, sends_key=sends_key) for value in values)
    for player in names_of_players(recipe.opponents):
        yield from _player(player, recipe.play.game)


def _player(spec: str, game: str) -> Iterator[Access]:
    if spec != LEARNER and not is_copy(spec):
        yield from player_accesses(spec, GAMES.get(parse_spec(game).name))


def _check_demonstrations(source: Demonstration) -> None:
    for name in filter(None, (source.run, source.data)):
        if not Path(name).is_dir():
            raise BadOption(f"the recipe's [[demonstrations]]: {name} is not a folder.")
    for theme in source.theme.split():
        get_theme(theme)
    if source.episodes:
        game = make(source.game)
        for player in filter(None, (source.bot, source.player)):
            agent(player, game)


def _check_twins(recipe: Recipe, game: Game) -> None:
    if not isinstance(game, TwinGame) or not game.twins:
        raise BadOption(
            f'the recipe\'s advantage.reward = "both" needs a game with twins=true in [play]; {game.name} is '
            f"{'played without it' if isinstance(game, TwinGame) else 'a game without twins'}."
        )
    play = recipe.play
    if play.first_seed % 2 or play.episodes % 2 or play.seeds % 2:
        raise BadOption(
            'with advantage.reward = "both", play.first_seed, play.episodes and play.seeds must be even: two '
            "seeds are a pair."
        )


def seeds_of(recipe: Recipe) -> dict[str, range]:
    play, iterations = recipe.play, recipe.iterations
    count = iterations * play.episodes * (1 + play.redraws)
    evaluated = recipe.monitor.evaluation_games if recipe.monitor.against else 0
    most = max((source.episodes for source in recipe.demonstrations), default=0)
    return {
        "play": range(play.first_seed, play.first_seed + min(count, play.seeds or count)),
        "held-out games": range(play.held_out_seed, play.held_out_seed + iterations * play.held_out),
        "evaluations": range(loop.FIRST_SEED, loop.FIRST_SEED + evaluated),
        "demonstrations": range(FIRST_SEED, FIRST_SEED + max(1, recipe.supervised.rounds) * most),
    }


def _check_rewards(game: Game) -> None:
    """Every seat earns something: found in one game of bot/random, without pictures."""
    bots, steps = {seat: agent("bot/random", game) for seat in game.seats}, list[StepEvent]()
    episode = play_sync(game, bots, loop.FIRST_SEED, observer=OnStep(steps.append))
    if episode.status == "void":
        raise BadOption(f"{game.name} cannot be played: {episode.error}")
    try:
        rewards = game.rewards(steps[-1].state, episode.moves)
    except KeyError as error:
        raise BadOption(f"{game.name} has no rewards for {error.args[0]} and cannot be trained on.") from None
    if len(rewards) != len(episode.moves) or not all(map(isfinite, rewards)):
        raise BadOption(f"{game.name} does not reward every move with a finite number.")
