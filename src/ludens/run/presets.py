"""How hard the presets of games are: what a random, a blind and the best player earn in each.

The blind player never looks: the game's own `bot/blind`, or the best of the first legal action, a random
answer and, where there are few, each single action, chosen on other seeds than those that are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from time import process_time
from urllib.parse import quote

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.episode import Episode
from ludens.core.errors import UsageError
from ludens.core.game import Game, Preset
from ludens.core.registry import GAMES, make
from ludens.run.stats import student

RANDOM, BLIND, BEST = "random", "blind", "best"
PLAYERS = (RANDOM, BLIND, BEST)
FEWEST = 4
"""Episodes that are played whatever they take."""
_CHOSEN = 10_000
"""The first seed on which blind players are compared."""
_FEW_ACTIONS = 6


@dataclass(frozen=True, slots=True)
class PresetScore:
    """The mean return of one player in one preset, in the player's seat."""

    spec: str
    mean: float
    reach: float
    """To either end of the 95% interval (Student's t); 0 where all episodes earned the same."""
    episodes: int


@dataclass(frozen=True, slots=True)
class PresetScores:
    """The scores of all players in one preset of a game; a player that cannot play there has none."""

    game: str
    preset: str
    settings: Preset
    scores: dict[str, PresetScore]


def measure(
    name: str, preset: str, players: Sequence[str] = PLAYERS, episodes: int = 40, seconds: float = 2.0
) -> PresetScores:
    """Play a preset of a game.

    Args:
        name: The game.
        preset: The preset.
        players: Which players to measure.
        episodes: Episodes of each player; seats alternate.
        seconds: CPU seconds after which a player has played enough.
    """
    game, settings = make(name, preset=preset), GAMES.get(name).presets[preset]
    scores = {}
    for player in players:
        try:
            spec = _spec(game, settings, player, episodes // 4, seconds / 4)
            scores[player] = score(game, settings, spec, episodes, seconds)
        except UsageError:
            continue
    return PresetScores(name, preset, settings, scores)


def score(
    game: Game, settings: Preset, spec: str, episodes: int, seconds: float, first: int = 0
) -> PresetScore:
    """The mean return of a player whose seat changes from episode to episode."""
    played = seated_episodes(game, settings.others, spec, episodes, seconds, first)
    earned = [episode.returns[seat] for seat, episode in played]
    count = len(earned)
    reach = student(count) * stdev(earned) / count**0.5 if count > 1 else 0.0
    return PresetScore(spec, fmean(earned), reach, count)


def seated_episodes(
    game: Game, others: str, spec: str, episodes: int, seconds: float, first: int
) -> Iterator[tuple[str, Episode]]:
    """Games of a player in each seat in turn, until it has spent the CPU seconds; with the seat."""
    started = process_time()
    seated = {seat: agent(others, game) for seat in game.seats} if len(game.seats) > 1 else {}
    player = agent(spec, game)
    for number in range(episodes):
        seat = game.seats[number % len(game.seats)]
        yield seat, play_sync(game, {**seated, seat: player}, first + number)
        if number + 1 >= FEWEST and process_time() - started > seconds:
            return


def _spec(game: Game, settings: Preset, player: str, episodes: int, seconds: float) -> str:
    if player != BLIND:
        return "bot/best" if player == BEST else "bot/guess"
    return blind_spec(game, settings.others, episodes, seconds)


def blind_spec(game: Game, others: str, episodes: int, seconds: float) -> str:
    """The best player that never looks, chosen on other seeds than those that are reported."""
    candidates, settings = list(_blind(game)), Preset(others=others)
    if len(candidates) == 1:
        return candidates[0]
    tried = {spec: score(game, settings, spec, episodes, seconds, _CHOSEN).mean for spec in candidates}
    return max(candidates, key=tried.__getitem__)


def _blind(game: Game) -> Iterator[str]:
    if "blind" in game.bots:
        yield "bot/blind"
        return
    yield from ("bot/first", "bot/guess")
    actions = game.actions(game.seats[0]) or ()
    if len(actions) <= _FEW_ACTIONS:
        yield from (f"bot/constant?action={quote(action)}" for action in actions)


def write_markdown(rows: Iterable[PresetScores]) -> str:
    """A table with one line per preset."""
    lines = ["| game | preset | options | other seats | random | blind | best |", "| --- " * 7 + "|"]
    for row in rows:
        means = (_mean(row.scores.get(player)) for player in PLAYERS)
        others = f"`{row.settings.others}`" if len(make(row.game, preset=row.preset).seats) > 1 else ""
        cells = (f"`{row.game}`", row.preset, f"`{options_text(row.settings)}`", others, *means)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _mean(score: PresetScore | None) -> str:
    if score is None:
        return ""
    reach = f" ± {score.reach:.2f}" if score.reach else ""
    return f"{score.mean:.2f}{reach} ({score.episodes})"


def options_text(settings: Preset) -> str:
    """The options of a preset as a spec has them; "defaults" where there are none."""
    return "&".join(f"{name}={value}" for name, value in settings.options.items()) or "defaults"
