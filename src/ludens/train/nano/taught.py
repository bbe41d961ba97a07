"""In which games, with which options, the model in the package can play.

`games.json` is the measured map (`recipes/nano_map.py`). It counts for the weights that it was measured with;
for games that it does not have, the recipe in the weights tells.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from ludens.core.errors import BadFile
from ludens.core.game import Game
from ludens.core.registry import changed_options
from ludens.models.trained import games_of_checkpoint
from ludens.run.ability import LEGAL, Ability, AbilityMap
from ludens.train.nano.player import SHIPPED
from ludens.train.nano.weights import SETTINGS, WEIGHTS

GAMES_FILE = Path(__file__).with_name("games.json")
"""The map of the model in the package."""
_ANY = ("twins", "opening")
"""Options that only choose where a game begins."""


def is_taught(game: Game) -> bool:
    """Whether the model that comes with Ludens can play this game, with these options."""
    row = ability(game)
    if row is not None:
        return row.offered
    # The recipe in the weights has the game, and its options are the usual ones.
    return not _changed(game) and game.name in games_of_checkpoint(SHIPPED, SETTINGS)


def warning(game: Game) -> str | None:
    """A warning for a user who seats nano at a game that it cannot play; None for other games."""
    if is_taught(game):
        return None
    row = ability(game)
    if row is None:
        return f"nano was not taught {game.name} with these options: most of its moves may not be legal."
    if row.legal < LEGAL:
        legal = f"{100 * row.legal:.0f}% of its first replies were legal moves"
    else:
        legal = "it played no better than a player who does not look"
    return f"nano is no match at {game.name} with these options: {legal} in {row.moves} moves."


def ability(game: Game) -> Ability | None:
    """The measured ability in this game with these options."""
    changed = _changed(game)
    rows = (row for row in games_map() if row.game == game.name)
    return next((row for row in rows if dict(row.options) == changed), None)


def _changed(game: Game) -> dict[str, object]:
    return {name: value for name, value in changed_options(game).items() if name not in _ANY}


def games_map() -> tuple[Ability, ...]:
    """The measured games of the model in the package; none where its weights were replaced since."""
    return _read(GAMES_FILE, SHIPPED)


@cache
def _read(file: Path, folder: Path) -> tuple[Ability, ...]:
    if not file.is_file():
        return ()
    ability_map = AbilityMap.read(file)
    return ability_map.games if ability_map.fingerprint == fingerprint(folder) else ()


def fingerprint(folder: Path) -> str:
    """A hash that identifies the weights in a folder."""
    try:
        return sha256((folder / WEIGHTS).read_bytes()).hexdigest()[:16]
    except OSError:
        raise BadFile(f"{str(folder)!r} holds no nano model: it has no file {WEIGHTS}.") from None
