"""`ludens train RECIPE`: train a model by playing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.core.errors import BadOption, MissingExtra


def train(
    recipe: Annotated[Path, Parameter(help="Recipe, a TOML file.")],
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(help="Output folder; a stopped run in it goes on. Default: training/NAME."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        Parameter(name="--set", help="Replace a value of the recipe: SECTION.KEY=VALUE. Repeatable."),
    ] = None,
) -> None:
    """Train a model as a recipe says: demonstrations, then play, with checkpoints and a page of curves."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("ludens train", "train") from None
    from ludens.train import ranks
    from ludens.train.recipe import Recipe
    from ludens.train.session import train as run

    settings = dict(_setting(text) for text in set_ or ())
    chosen = Recipe.read(recipe).override(settings)
    folder = out or Path("training") / chosen.run.name
    ranks.start()
    first = ranks.world()[0] == 0
    try:
        run(chosen, folder, print if first else _silent)
        if first:
            print(f"Checkpoints and curves: {folder}")
    except KeyboardInterrupt:
        if first:
            print(f"\nThe same command goes on from the last checkpoint in {folder}.", file=sys.stderr)
        raise
    finally:
        ranks.stop()


def _setting(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found:
        raise BadOption(f"--set takes SECTION.KEY=VALUE, not {text!r}.")
    return name.strip(), value.strip()


def _silent(line: str) -> None:
    pass
