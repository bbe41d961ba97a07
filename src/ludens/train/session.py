"""A training run from recipe to checkpoints: demonstrations first, then play; stopped runs go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from typing import Any

import orjson

from ludens.core.errors import BadFile, BadOption, LudensError
from ludens.core.files import write_atomically
from ludens.core.registry import make
from ludens.train import ranks
from ludens.train.checkpoint import Checkpoints, save_whole
from ludens.train.checks import check, seeds_of
from ludens.train.form import form
from ludens.train.loop import Trainer
from ludens.train.monitor import PAGE, Monitor, write_page
from ludens.train.nano import provenance
from ludens.train.nano.dataset import SampleShape, rounds, vocabulary_of
from ludens.train.nano.inputs import PROMPTS, Vocabulary
from ludens.train.nano.policy import NanoPolicy, with_pieces
from ludens.train.nano.roles import RolePolicy
from ludens.train.nano.supervised import NanoImitation, Rehearsal
from ludens.train.nano.weights import ROLES, WEIGHTS, NanoSize
from ludens.train.policy import Policy
from ludens.train.recipe import Demonstration, Recipe

RECIPE, SUPERVISED, ROUNDS, SERVED = "recipe.json", "supervised", ".supervised", "served"
"""In the folder of a run; rounds of an imitation are stored until it is done."""
PIECES = "pieces.json"
"""In the folder of a run: the pieces of all demonstrations, for which many games are played."""

Say = Callable[[str], None]


def train(recipe: Recipe, folder: Path, say: Say = print) -> Trainer:
    """Train as the recipe says; a run in the folder that was stopped goes on where it was."""
    check(recipe)
    ranks.from_first(lambda: _bind(recipe, folder))
    policy = _supervised(recipe, folder, say)
    if recipe.model.roles and isinstance(policy, NanoPolicy):
        policy = RolePolicy.split(policy, make(recipe.play.game))
    ranks.broadcast_weights(policy.parameters())
    if recipe.model.shard and ranks.world()[1] > 1:
        policy.shard()
    rehearsal = None
    if isinstance(policy, NanoPolicy | RolePolicy):
        policy.longest_reply = recipe.play.max_tokens or policy.max_tokens
        if isinstance(policy, NanoPolicy) and recipe.iterations and recipe.rehearsal.share:
            rehearsal = Rehearsal(recipe, policy)
            say(f"rehearsal: {len(rehearsal):,} replies of other games")
    trainer = Trainer(recipe, policy, folder, rehearsal)
    if (latest := ranks.from_first(Checkpoints(folder).latest)) is not None:
        trainer.resume(latest)
        say(f"going on from {latest}")
    first = ranks.world()[0] == 0
    monitor = Monitor(trainer, folder, say) if first else None
    asyncio.run(trainer.run(monitor))
    if monitor is not None and trainer.judged:
        monitor.store_judgement()
    if not recipe.iterations and first:
        write_page(folder / PAGE, trainer)
    return trainer


def _bind(recipe: Recipe, folder: Path) -> None:
    """A folder belongs to one recipe: that of the first run in it."""
    file, values = folder / RECIPE, recipe.as_dict()
    if file.exists():
        try:
            old_values = orjson.loads(file.read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise BadFile(f"{str(file)!r} cannot be read: {error}.") from None
        old_values = _completed(old_values)
        # A server may come back at another address.
        if {**old_values, "server": None} != {**values, "server": None}:
            key = _difference(old_values, values)
            raise BadOption(f"{folder} holds a run of another recipe (other {key}): choose another folder.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    parent = Path(recipe.model.path) / WEIGHTS if recipe.model.path else None
    origin = provenance.origin_of_run(values, parent, seeds_of(recipe)) | {"form": form(recipe)}
    write_atomically(folder / provenance.PROVENANCE, orjson.dumps(origin, option=orjson.OPT_INDENT_2))
    write_atomically(file, orjson.dumps(values, option=orjson.OPT_INDENT_2))


def _completed(values: Any) -> Any:
    """A stored recipe with the options that did not exist when its run began, which have their defaults."""
    try:
        return Recipe.of(values).as_dict()
    except (LudensError, AttributeError, TypeError):
        return values


def _difference(old_recipe: Any, recipe: dict[str, Any]) -> str:
    for section, values in recipe.items():
        if section == "server":
            continue
        other = old_recipe.get(section) if isinstance(old_recipe, dict) else None
        if isinstance(values, dict) and isinstance(other, dict):
            for key in values:
                if other.get(key) != values[key]:
                    return f"{section}.{key}"
        elif other != values:
            return section
    return "sections"


def _supervised(recipe: Recipe, folder: Path, say: Say) -> Policy:
    """The policy with which play starts: read, or made, and trained on demonstrations where there are any."""
    target = folder / SUPERVISED
    if recipe.model.kind == "hf":
        from ludens.train.imitation import supervised_transformers
        from ludens.train.vllm import VllmPolicy

        local = supervised_transformers(recipe, target, say)
        if not recipe.server.url:
            return local
        return VllmPolicy(local, recipe.server, folder / SERVED, recipe.play.concurrency)
    model, options, sources = recipe.model, recipe.supervised, recipe.sources
    sampling = {name: getattr(model, name) for name in ("temperature", "max_tokens", "batch", "device")}
    if ranks.from_first(target.is_dir):
        return NanoPolicy.read(target, seed=recipe.run.seed, **sampling)
    imitates = bool(sources and options.rounds)
    if model.path and (Path(model.path) / ROLES).is_file():
        if imitates:
            raise BadOption(f"{model.path} has weights for each role, which imitation does not train.")
        return RolePolicy.read(Path(model.path), seed=recipe.run.seed, **sampling)
    if model.path:
        policy = NanoPolicy.read(Path(model.path), seed=recipe.run.seed, **sampling)
        if imitates:
            policy = with_pieces(policy, _vocabulary(sources, options.workers, folder), recipe.run.seed)
            policy.prompts = PROMPTS
    else:
        size = NanoSize(**{f.name: getattr(model, f.name) for f in fields(NanoSize)})
        spoken = (Demonstration(bot="bot/random", episodes=64),)
        heard = sources or replace(recipe, demonstrations=spoken).sources
        vocabulary = _vocabulary(heard, options.workers, folder)
        policy = NanoPolicy(size, vocabulary, seed=recipe.run.seed, **sampling)
    if imitates:
        say(f"{policy.count():,} parameters, {len(policy.vocabulary):,} pieces")
        _imitate(recipe, policy, folder, say)
    ranks.check_equal(policy.parameters())
    save_whole(policy, target)
    if ranks.world()[0] == 0:
        rmtree(folder / ROUNDS, ignore_errors=True)
    return policy


def _vocabulary(sources: Sequence[Demonstration], workers: int, folder: Path) -> Vocabulary:
    """The vocabulary of these demonstrations; a resumed run reads it from its folder."""
    file = folder / PIECES

    def read() -> list[str]:
        if not file.exists():
            write_atomically(file, orjson.dumps(vocabulary_of(sources, workers).pieces))
        try:
            all_pieces = orjson.loads(file.read_bytes())
            return [str(piece) for piece in all_pieces] if isinstance(all_pieces, list) else []
        except (OSError, orjson.JSONDecodeError):
            return []

    try:
        return Vocabulary(ranks.from_first(read))
    except BadFile:
        raise BadFile(f"{file} does not hold a vocabulary: delete it.") from None


def _imitate(recipe: Recipe, policy: NanoPolicy, folder: Path, say: Say) -> None:
    """Train on the demonstrations; a run that was stopped goes on after its last stored round."""
    options = recipe.supervised

    def report(number: int, share: float, loss: float) -> None:
        remaining = timedelta(seconds=round(imitation.spent / share * (1 - share)))
        part = f"{share:4.0%}  round {number + 1}/{options.rounds}"
        say(f"supervised {part}  loss {loss:.4f}  {remaining} left")

    imitation = NanoImitation(policy, options, recipe.optimizer, recipe.run.seed, folder / ROUNDS, report)
    shape = SampleShape(policy.size.side, policy.size.longest, policy.max_tokens)
    pinned = policy.device.type == "cuda"
    datasets = rounds(
        recipe.sources, policy.vocabulary, shape, imitation.remaining_rounds(), options.workers, pinned
    )
    imitation.run(datasets)
    if ranks.world()[0] == 0:
        losses = [round(loss, 5) for loss in imitation.losses]
        summary = {
            "losses": losses,
            "seconds": round(imitation.spent),
            "waited": round(imitation.waited),
            "rounds": imitation.rounds_done,
            "data": imitation.digest,
        }
        write_atomically(folder / provenance.IMITATION, orjson.dumps(summary))
    waited = imitation.waited / imitation.spent if imitation.spent else 0.0
    say(f"supervised: {len(imitation.losses):,} steps, {waited:.1%} of the time waiting")
