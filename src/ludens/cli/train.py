"""`ludens train RECIPE`: train a model by playing. `ludens train export`: write a trained one for play."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import AgentNames, Allowed
from ludens.core.errors import BadOption, MissingExtra, UsageError

EXPORT = "export"


def train(
    recipe: Path,
    checkpoint: Path | None = None,
    /,
    *,
    out: Path | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    agent: AgentNames = (),
    allow: Allowed = (),
    dtype: str | None = None,
    track: str | None = None,
    memory: float | None = None,
) -> None:
    """Train a model by playing, as a recipe says: demonstrations, then play, checkpoints, a page of curves.

    ludens train recipes/spy-flat.toml                        train
    ludens train export CHECKPOINT --out DIR --dtype int8     write a nano checkpoint as small files for play

    Args:
        recipe: Recipe, a TOML file; or export.
        checkpoint: With export: folder of a checkpoint.
        out: Output folder; a stopped run in it goes on. Default: training/NAME.
        set_: Replace a value of the recipe: SECTION.KEY=VALUE. Repeatable.
        dtype: With export: number format, float32, bfloat16 or int8 (the default).
        track: Report measurements to trackio:PROJECT, wandb:PROJECT or tensorboard:FOLDER.
        memory: Share of the GPU's memory that this run may take, 0 to 1, where several runs share a GPU.
            Default: all of it.
    """
    if str(recipe) == EXPORT:
        of_training = {
            "--set": set_,
            "--agent": agent,
            "--allow": allow,
            "--track": track,
            "--memory": memory,
        }
        if flag := next((flag for flag, value in of_training.items() if value), None):
            raise BadOption(f"{flag} is an option of training, not of export.")
        return _export(checkpoint, out, dtype or "int8")
    if checkpoint is not None:
        raise BadOption(f"unexpected argument {str(checkpoint)!r}.")
    if dtype is not None:
        raise BadOption("--dtype is an option of ludens train export.")
    if memory is not None and not 0 < memory <= 1:
        raise BadOption(f"--memory must be above 0 and at most 1, not {memory:g}.")
    if find_spec("torch") is None:
        raise MissingExtra("ludens train", "train")
    from ludens.agents import import_agent
    from ludens.core.policy import Setter, permit
    from ludens.models.generation import out_of_memory
    from ludens.train import ranks
    from ludens.train.checks import check, recipe_accesses
    from ludens.train.recipe import Recipe

    for name in agent:
        import_agent(name)
    settings = dict(_setting(text) for text in set_ or ())
    settings |= {} if track is None else {"monitor.track": track}
    training = Recipe.read(recipe).override(settings)
    switches = {name.rpartition(".")[2] for name in settings}
    permit(recipe_accesses(training), Setter.FILE, {*allow, *settings.values(), *switches})
    folder = out or _folder(training.run.name)
    check(training)  # before torch is imported, which takes seconds

    from ludens.train.session import train as run

    ranks.start()
    if memory is not None:
        ranks.limit_memory(memory, training.play.workers)
    first = ranks.world()[0] == 0
    try:
        run(training, folder, print if first else lambda line: None)
        if first:
            print(f"Checkpoints and curves: {folder}")
        ranks.wait()  # a process that ends while others still talk to it aborts now and then
    except RuntimeError as error:
        if not out_of_memory(error):
            raise
        raise UsageError(
            "the GPU's memory is full: end other programs on it, give each run a share of it (--memory), or "
            "lower play.workers, play.concurrency, model.batch, supervised.batch or optimizer.micro; the "
            f"same command goes on from the last checkpoint in {folder}."
        ) from None
    except KeyboardInterrupt:
        if first:
            print(f"\nThe same command goes on from the last checkpoint in {folder}.", file=sys.stderr)
        raise
    finally:
        ranks.stop()


def _folder(name: str) -> Path:
    if Path(name).name != name or name == "..":
        raise BadOption(f"the recipe's run.name {name!r} is not the name of a folder: choose one with --out.")
    return Path("training") / name


def _export(checkpoint: Path | None, out: Path | None, dtype: str) -> None:
    from ludens.train.nano.weights import export, size_of

    if checkpoint is None or out is None:
        raise BadOption("export needs a checkpoint and a folder: ludens train export CHECKPOINT --out DIR.")
    export(checkpoint, out, dtype)
    print(f"{out}: {size_of(out) / 1e6:.1f} MB, {dtype}. Play with nano/{out}.")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadOption(f"--set takes SECTION.KEY=VALUE, not {text!r}.")
    return name.strip(), value.strip()
