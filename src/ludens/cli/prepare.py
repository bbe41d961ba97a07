"""`ludens prepare`: make in advance what the starts of a game take long for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Whole, at_least
from ludens.core.errors import MissingExtra
from ludens.core.policy import Setter, game_accesses, permit


def prepare(
    what: Annotated[str, Parameter(help="A game, such as viki/plan?split=train, or a recipe, a TOML file.")],
    /,
    *,
    seed: Annotated[Whole, Parameter(help="First seed of the game.")] = 0,
    n: Annotated[Whole, Parameter(name=["-n", "--seeds"], help="Number of seeds of the game.")] = 500,
    workers: Annotated[Whole, Parameter(help="Processes; 0 for all cores.")] = 0,
) -> None:
    """Make in advance what the starts of a game take long for, such as the labels of VIKI's scenes.

    It goes to LUDENS_DATA or the user's cache folder. A recipe names the seeds of all its games.
    """
    from ludens.run.prepare import prepare as run

    at_least("--seed", seed, 0)
    at_least("-n", n, 1)
    at_least("--workers", workers, 0)
    if not what.endswith(".toml"):
        run(what, range(seed, seed + n), workers)
        return
    try:
        from ludens.train.checks import seeds_of
        from ludens.train.recipe import Recipe
    except ImportError:
        raise MissingExtra("recipes", "train") from None
    recipe = Recipe.read(Path(what))
    permit(game_accesses(recipe.play.game), Setter.FILE)
    for seeds in seeds_of(recipe).values():
        if seeds:
            run(recipe.play.game, seeds, workers)
