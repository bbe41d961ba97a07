"""A training run from recipe to checkpoints: demonstrations first, then play; stopped runs go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from ludens.core.errors import BadFile, BadOption
from ludens.core.files import write_atomically
from ludens.core.registry import make
from ludens.models.transport import check_address
from ludens.train import ranks
from ludens.train.checkpoint import Checkpoints, save_whole
from ludens.train.demonstrations import FIRST_SEED
from ludens.train.loop import Trainer
from ludens.train.monitor import Monitor
from ludens.train.nano.dataset import Shape, rounds, vocabulary_of
from ludens.train.nano.network import Size
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.supervised import Imitation
from ludens.train.policy import Policy
from ludens.train.recipe import Demonstration, ModelOptions, Recipe

RECIPE, SUPERVISED, SERVED = "recipe.json", "supervised", "served"

Say = Callable[[str], None]


def train(recipe: Recipe, folder: Path, say: Say = print) -> Trainer:
    """Train as the recipe says; a run in the folder that was stopped goes on where it was.

    Args:
        recipe: What to do.
        folder: Of checkpoints, measurements, sample games and the page.
        say: Told about progress, one line at a time.
    """
    check(recipe)
    _bind(recipe, folder)
    policy = _supervised(recipe, folder, say)
    trainer = Trainer(recipe, policy, folder)
    if (latest := Checkpoints(folder).latest()) is not None:
        trainer.resume(latest)
        say(f"going on from {latest}")
    monitor = Monitor(trainer, folder, say)
    asyncio.run(trainer.run(monitor))
    return trainer


def check(recipe: Recipe) -> None:
    """Everything that can be wrong with a recipe is found before anything is loaded."""
    game, play = make(recipe.play.game), recipe.play
    if 0 < play.seeds < play.episodes:
        raise BadOption(
            f"the recipe's play.seeds = {play.seeds} is below play.episodes = {play.episodes}: "
            "one iteration would play a seed twice."
        )
    ranges = seeds_of(recipe)
    names = list(ranges)
    for number, first in enumerate(names):
        for second in names[number + 1 :]:
            a, b = ranges[first], ranges[second]
            if max(a.start, b.start) < min(a.stop, b.stop):
                raise BadOption(
                    f"the recipe's seeds of {first} and {second} overlap: change the first seeds."
                )
    if recipe.run.algorithm == "spo" and "spy" not in {game.start(0).role(seat) for seat in game.seats}:
        raise BadOption(f"the algorithm spo needs a game with a spy; {game.name} has none.")
    if recipe.advantage.kind == "role" and not all(game.start(0).role(seat) for seat in game.seats):
        raise BadOption(f'advantage.kind = "role" needs a game with roles; {game.name} has none.')
    if recipe.model.kind == "nano" and any(source.data for source in recipe.demonstrations):
        raise BadOption('data of [[demonstrations]] needs kind = "hf": nano is not prompted in words.')
    if recipe.model.kind == "hf" and not recipe.model.path:
        raise BadOption('the recipe\'s section [model] needs a path for kind = "hf".')
    if recipe.server.url:
        check_address(recipe.server.url)
        if recipe.model.kind != "hf":
            raise BadOption('the recipe\'s section [server] needs kind = "hf" in [model].')


def seeds_of(recipe: Recipe) -> dict[str, range]:
    """The seeds of all games of a recipe."""
    play, iterations = recipe.play, recipe.run.iterations
    count = iterations * play.episodes
    held_out = play.held_out_seed + iterations * play.held_out
    most = max((source.episodes for source in recipe.demonstrations), default=0)
    return {
        "play": range(play.first_seed, play.first_seed + min(count, play.seeds or count)),
        "held-out games": range(play.held_out_seed, held_out),
        "demonstrations": range(FIRST_SEED, FIRST_SEED + recipe.supervised.rounds * most),
    }


def _bind(recipe: Recipe, folder: Path) -> None:
    """A folder belongs to one recipe."""
    file, wanted = folder / RECIPE, recipe.as_dict()
    if file.exists():
        try:
            stored = orjson.loads(file.read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise BadFile(f"{file} cannot be read: {error}.") from None
        # A server may come back at another address.
        if {**stored, "server": None} != {**wanted, "server": None}:
            changed = [
                f"{section}.{key}"
                for section in wanted
                if isinstance(wanted[section], dict) and section != "server"
                for key in wanted[section]
                if stored.get(section, {}).get(key) != wanted[section][key]
            ]
            what = changed[0] if changed else "opponents"
            raise BadOption(
                f"{folder} holds a run of another recipe ({what} differs): choose another folder."
            )
        return
    if ranks.world()[0] == 0:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(file, orjson.dumps(wanted, option=orjson.OPT_INDENT_2))
    ranks.wait()


def _supervised(recipe: Recipe, folder: Path, say: Say) -> Policy:
    """The policy with which play starts: read, or made, and trained on demonstrations where there are any."""
    done = folder / SUPERVISED
    if recipe.model.kind == "hf":
        from ludens.train.sft import supervised_transformers
        from ludens.train.vllm.policy import VllmPolicy

        local = supervised_transformers(recipe, done, say)
        if not recipe.server.url:
            return local
        return VllmPolicy(local, recipe.server, folder / SERVED, recipe.play.concurrency)
    if done.is_dir():
        return _read_nano(recipe.model, done, recipe.run.seed)
    model, options, sources = recipe.model, recipe.supervised, recipe.sources
    if model.path:
        policy = _read_nano(model, Path(model.path), recipe.run.seed)
    else:
        size = Size(**{f.name: getattr(model, f.name) for f in fields(Size)})
        spoken = (Demonstration(bot="bot/random", episodes=64),)
        vocabulary = vocabulary_of(sources or replace(recipe, demonstrations=spoken).sources, options.workers)
        policy = NanoPolicy(size, vocabulary, seed=recipe.run.seed, **_sampling(model))
    if sources:
        say(f"{policy.count():,} parameters, {len(policy.vocabulary):,} pieces")
        _imitate(recipe, policy, folder, say)
    if ranks.world()[0] == 0:
        save_whole(policy, done)
    ranks.wait()
    return policy


def _imitate(recipe: Recipe, policy: NanoPolicy, folder: Path, say: Say) -> None:
    """Train on the demonstrations; a run that was stopped goes on after its last stored round."""
    options, began = recipe.supervised, perf_counter()

    def report(number: int, share: float, loss: float) -> None:
        spent = perf_counter() - began
        done = number + share - imitation_began
        left = timedelta(seconds=round(spent / done * (options.rounds - number - share)))
        say(f"supervised round {number + 1}/{options.rounds}  {share:4.0%}  loss {loss:.4f}  {left} left")

    where = folder / f".{SUPERVISED}"
    imitation = Imitation(policy, options, recipe.optimizer, recipe.run.seed, where, report)
    imitation_began = imitation.done
    shape = Shape(policy.size.side, policy.size.longest, policy.max_tokens)
    datasets = rounds(recipe.sources, policy.vocabulary, shape, imitation.left, options.workers)
    imitation.run(datasets)
    spent = perf_counter() - began
    say(f"supervised: {len(imitation.losses):,} steps, {imitation.waited / spent:.1%} of the time waiting")


def _read_nano(model: ModelOptions, folder: Path, seed: int) -> NanoPolicy:
    return NanoPolicy.read(folder, seed=seed, **_sampling(model))


def _sampling(model: ModelOptions) -> dict[str, Any]:
    return {name: getattr(model, name) for name in ("temperature", "max_tokens", "batch", "device")}
