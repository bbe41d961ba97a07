"""What players earn in games, in each seat in turn.

A random, a blind and the best player show how hard the presets of a game are. One player beside them, and
with blank pictures, shows what it can do in every game: its score, and how often its first reply is a legal
move.

The blind player never looks: the game's own `bot/blind`, or the best of the first legal action, a random
answer and, where there are few, each single action, chosen on other seeds than those that are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import hypot
from pathlib import Path
from statistics import fmean, stdev
from time import process_time
from typing import Any
from urllib.parse import quote

import orjson

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, LudensError, UsageError
from ludens.core.files import write_atomically
from ludens.core.game import Game, Preset
from ludens.core.processes import WorkerDied, run_in_processes
from ludens.core.registry import GAMES, changed_options, make
from ludens.core.spec import parse_spec
from ludens.run.stats import student

RANDOM, BLIND, BEST = "random", "blind", "best"
PLAYERS = (RANDOM, BLIND, BEST)
FEWEST = 4
"""Episodes that are always played, even if they take longer than the time limit."""
PLAYER, CONTROL = "player", "control"
"""The player, and the same player with blank pictures."""
COLUMNS = (PLAYER, CONTROL, BLIND, RANDOM, BEST)
LEGAL, SHARE, SURE = 0.9, 0.8, 1.64
"""When a player is offered as an opponent: the least share of legal first replies; the least score, as a
share of the way from random play to the best; or this number of standard errors above blind play."""
_FIRST_SEED = 20_000
"""No preset is measured on it or on later ones."""
_CHOICE = 10_000
"""The first seed on which blind players are compared."""
_FEW_ACTIONS = 6


@dataclass(frozen=True, slots=True)
class AbilityScore:
    """The returns of one player in its seat."""

    spec: str
    mean: float
    error: float
    """The standard error of the mean."""
    episodes: int


@dataclass(frozen=True, slots=True)
class Ability:
    """One game with its options."""

    game: str
    options: Mapping[str, Any]
    """Those that are not the defaults."""
    others: str
    scores: Mapping[str, AbilityScore]
    legal: float
    """Share of the player's moves in which the first reply was legal."""
    fallbacks: float
    """Share of the player's moves that were made for it."""
    moves: int = 0

    @property
    def spec(self) -> str:
        return f"{self.game}?{_joined(self.options)}" if self.options else self.game

    @property
    def above_blind(self) -> bool:
        """Whether it earns more than any player that does not look, and not by chance."""
        own = self.scores[PLAYER]
        for name in (CONTROL, BLIND):
            blind = self.scores.get(name)
            if blind is not None and own.mean - blind.mean <= SURE * hypot(own.error, blind.error):
                return False
        return True

    @property
    def has_room(self) -> bool:
        """Whether the best bot earns significantly more than a player that never looks: only then can a score
        show that a player looks."""
        best, blind = self.scores.get(BEST), self.scores.get(BLIND)
        if best is None or blind is None:
            return True
        return best.mean - blind.mean > SURE * hypot(best.error, blind.error)

    @property
    def share(self) -> float | None:
        """Its score from random play (0) to the best bot (1); None if these are equal or unknown."""
        if RANDOM not in self.scores or BEST not in self.scores:
            return None
        low, high = self.scores[RANDOM].mean, self.scores[BEST].mean
        return (self.scores[PLAYER].mean - low) / (high - low) if high > low else None

    @property
    def offered(self) -> bool:
        """Whether it is an opponent for people: it makes legal moves, and it looks or is near the best.

        Where the best bot earns no more than players that guess, scores say nothing: legal moves are enough.
        """
        means = {name: self.scores[name].mean for name in (BEST, RANDOM, BLIND) if name in self.scores}
        best = means.pop(BEST, None)
        telling = best is None or all(best > mean for mean in means.values())
        return self.legal >= LEGAL and (not telling or self.above_blind or (self.share or 0.0) >= SHARE)


@dataclass
class _Tally:
    returns: list[float] = field(default_factory=list)
    moves: int = 0
    legal: int = 0
    fallbacks: int = 0


def usual_games() -> list[str]:
    """Every registered game with its default options, where it has presets."""
    return [name for name in GAMES.names() if GAMES.get(name).presets]


def measure_ability(spec: str, player: str, control: str | None, episodes: int, seconds: float) -> Ability:
    """Play a game with the player in each seat in turn, and others on the same seeds for comparison.

    Args:
        spec: The game, with options or a preset.
        control: The player with blank pictures.
        episodes: Of each player.
        seconds: CPU seconds after which a player has played enough.
    """
    game, options = make(spec), parse_spec(spec).options
    presets = GAMES.get(game.name).presets
    others = presets[options.get("preset", "easy")].others if presets else "bot/random"
    own = _play(game, others, player, episodes, seconds)
    scores = {PLAYER: _score(player, own.returns)}
    controls = {} if control is None else {CONTROL: control}
    for name in (*controls, BLIND, RANDOM, BEST):
        limit = seconds if name in controls else seconds / 4
        try:
            reference = controls.get(name) or _reference(
                game, others, name, max(episodes // 4, FEWEST), seconds / 8
            )
            scores[name] = _score(reference, _play(game, others, reference, episodes, limit).returns)
        except UsageError:
            continue
    legal, fallbacks = own.legal / max(own.moves, 1), own.fallbacks / max(own.moves, 1)
    others = others if len(game.seats) > 1 else ""
    return Ability(game.name, changed_options(game), others, scores, legal, fallbacks, own.moves)


def _play(game: Game, others: str, spec: str, episodes: int, seconds: float) -> _Tally:
    tally = _Tally()
    for seat, episode in seated_episodes(game, others, spec, episodes, seconds, _FIRST_SEED):
        tally.returns.append(episode.returns[seat])
        for move in episode.moves:
            if move.seat == seat:
                tally.moves += 1
                tally.legal += not move.tries or move.tries[0].verdict == "ok"
                tally.fallbacks += move.verdict == "fallback"
    return tally


def _score(spec: str, returns: Sequence[float]) -> AbilityScore:
    error = stdev(returns) / len(returns) ** 0.5 if len(returns) > 1 else 0.0
    return AbilityScore(spec, fmean(returns), error, len(returns))


@dataclass(frozen=True, slots=True)
class AbilityMap:
    """All games that were measured with one model."""

    model: str
    fingerprint: str
    """Of the weights; a map of other weights says nothing."""
    games: tuple[Ability, ...] = ()

    @staticmethod
    def read(file: Path) -> AbilityMap:
        try:
            data = orjson.loads(file.read_bytes())
            games = tuple(_ability(row) for row in data["games"])
            return AbilityMap(str(data["model"]), str(data["fingerprint"]), games)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(f"{file} is not a map of games: {error}.") from None

    def called(self, model: str) -> AbilityMap:
        """The same map under another name of the model, whose weights have been moved."""
        games = []
        for row in self.games:
            renamed = {
                name: replace(score, spec=model + score.spec.removeprefix(self.model))
                for name, score in row.scores.items()
                if name in (PLAYER, CONTROL)
            }
            games.append(replace(row, scores={**row.scores, **renamed}))
        return AbilityMap(model, self.fingerprint, tuple(games))

    def write(self, file: Path) -> None:
        """One game per line."""
        head = orjson.dumps({"model": self.model, "fingerprint": self.fingerprint})
        rows = b",\n".join(orjson.dumps(asdict(row)) for row in self.games)
        write_atomically(file, head.removesuffix(b"}") + b',"games":[\n' + rows + b"\n]}\n")

    def markdown(self) -> str:
        """One line per game."""
        head = (
            "game", "other seats", self.model, "blank pictures", "blind", "random", "best",
            "legal first replies", "fallbacks", "above blind", "share of the best", "offered",
        )  # fmt: skip
        return "\n".join([*_markdown(head, map(_row, self.games)), "", self.summary()]) + "\n"

    def summary(self) -> str:
        """In how many games it is above blind play, and in how many others no player could be."""
        above = sum(row.above_blind for row in self.games)
        full = sum(not row.above_blind and not row.has_room for row in self.games)
        rest = len(self.games) - above - full
        return (
            f"Above every player that does not look: {above} of {len(self.games)} games; not above: {rest}; "
            f"no room, because blind play is as good as the best bot: {full}."
        )


def _ability(row: Mapping[str, Any]) -> Ability:
    scores = {name: AbilityScore(**score) for name, score in row["scores"].items()}
    numbers = float(row["legal"]), float(row["fallbacks"]), int(row["moves"])
    return Ability(str(row["game"]), dict(row["options"]), str(row["others"]), scores, *numbers)


def _row(ability: Ability) -> Sequence[str]:
    scores = map(ability.scores.get, COLUMNS)
    means = (f"{score.mean:.2f} ({score.episodes})" if score else "" for score in scores)
    share = "" if ability.share is None else f"{100 * ability.share:.0f}%"
    above = "yes" if ability.above_blind else "no" if ability.has_room else "no room"
    return (
        f"`{ability.spec}`", f"`{ability.others}`" if ability.others else "", *means,
        f"{100 * ability.legal:.1f}%", f"{100 * ability.fallbacks:.1f}%", above, share,
        "yes" if ability.offered else "no",
    )  # fmt: skip


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return [lines[0], "| --- " * len(head) + "|", *lines[1:]]


def _joined(options: Mapping[str, Any]) -> str:
    return "&".join(f"{name}={value}" for name, value in options.items())


Measure = Callable[[str], Ability]


def measure_all(
    start: AbilityMap, specs: Iterable[str], measure: Measure, processes: int = 1
) -> Iterator[tuple[str, AbilityMap | UsageError]]:
    """The map after each game; what cannot be played gives the reason instead.

    Games that the map has already come first and are not played again. With several processes, which must be
    able to import `measure`, games come as they end.
    """
    games = {(row.game, _key(row.options)): row for row in start.games}
    waiting = dict[str, tuple[str, str]]()
    for spec in specs:
        try:
            game = make(spec)
            key = game.name, _key(changed_options(game))
        except UsageError as error:
            yield spec, error
            continue
        if key in games:
            yield spec, _with_games(start, games)
        elif key not in waiting.values():
            waiting[spec] = key
    for spec, ability in _measure_each(measure, waiting, processes):
        if isinstance(ability, UsageError):
            yield spec, ability
            continue
        games[waiting[spec]] = ability
        yield spec, _with_games(start, games)


def _measure_each(
    measure: Measure, specs: Iterable[str], processes: int
) -> Iterator[tuple[str, Ability | UsageError]]:
    attempt = partial(_attempt, measure)
    if processes == 1:
        yield from ((spec, attempt(spec)) for spec in specs)
        return
    try:
        yield from run_in_processes(attempt, specs, processes, ordered=False)
    except WorkerDied as error:
        raise LudensError(f"games are not measured any more: {error}.") from None


def _attempt(measure: Measure, spec: str) -> Ability | UsageError:
    """What was measured, or why not; with words alone, an error goes from process to process."""
    try:
        return measure(spec)
    except UsageError as error:
        return UsageError(str(error))


def _with_games(start: AbilityMap, games: Mapping[tuple[str, str], Ability]) -> AbilityMap:
    return AbilityMap(start.model, start.fingerprint, tuple(games[key] for key in sorted(games)))


def _key(options: Mapping[str, Any]) -> str:
    return orjson.dumps(options, option=orjson.OPT_SORT_KEYS, default=str).decode()


@dataclass(frozen=True, slots=True)
class PresetScore:
    """The mean return of one player in one preset, in the player's seat."""

    spec: str
    mean: float
    reach: float
    """Half the width of the 95% interval (Student's t); 0 where all episodes earned the same."""
    episodes: int


@dataclass(frozen=True, slots=True)
class PresetScores:
    """The scores of all players in one preset of a game; a player that cannot play there has none."""

    game: str
    preset: str
    settings: Preset
    scores: dict[str, PresetScore]


def measure_preset(
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
            spec = _reference(game, settings.others, player, episodes // 4, seconds / 4)
            scores[player] = score(game, settings, spec, episodes, seconds)
        except UsageError:
            continue
    return PresetScores(name, preset, settings, scores)


def score(
    game: Game, settings: Preset, spec: str, episodes: int, seconds: float, first: int = 0
) -> PresetScore:
    """The mean return of a player whose seat changes from episode to episode."""
    episodes_of_seats = seated_episodes(game, settings.others, spec, episodes, seconds, first)
    returns = [episode.returns[seat] for seat, episode in episodes_of_seats]
    count = len(returns)
    reach = student(count) * stdev(returns) / count**0.5 if count > 1 else 0.0
    return PresetScore(spec, fmean(returns), reach, count)


def seated_episodes(
    game: Game, others: str, spec: str, episodes: int, seconds: float, first: int
) -> Iterator[tuple[str, Episode]]:
    """Seat and episode of games with a player in each seat in turn, until the CPU seconds are spent."""
    start = process_time()
    seated = {seat: agent(others, game) for seat in game.seats} if len(game.seats) > 1 else {}
    player = agent(spec, game)
    for number in range(episodes):
        seat = game.seats[number % len(game.seats)]
        yield seat, play_sync(game, {**seated, seat: player}, first + number)
        if number + 1 >= FEWEST and process_time() - start > seconds:
            return


def _reference(game: Game, others: str, player: str, episodes: int, seconds: float) -> str:
    """The spec of a random, a blind or the best player.

    The blind one is the best that never looks, chosen on other seeds than those that are reported.
    """
    if player != BLIND:
        return "bot/best" if player == BEST else "bot/guess"
    candidates, settings = list(_blind_players(game)), Preset(others=others)
    if len(candidates) == 1:
        return candidates[0]
    means = {spec: score(game, settings, spec, episodes, seconds, _CHOICE).mean for spec in candidates}
    return max(candidates, key=means.__getitem__)


def _blind_players(game: Game) -> Iterator[str]:
    if "blind" in game.bots:
        yield "bot/blind"
        return
    yield from ("bot/first", "bot/guess")
    actions = game.actions(game.seats[0]) or ()
    if len(actions) <= _FEW_ACTIONS:
        yield from (f"bot/constant?action={quote(action)}" for action in actions)


def presets_markdown(rows: Iterable[PresetScores]) -> str:
    """A table with one line per preset."""
    head = ("game", "preset", "options", "other seats", "random", "blind", "best")
    lines = []
    for row in rows:
        means = (_mean(row.scores.get(player)) for player in PLAYERS)
        others = f"`{row.settings.others}`" if len(make(row.game, preset=row.preset).seats) > 1 else ""
        lines.append((f"`{row.game}`", row.preset, f"`{options_text(row.settings)}`", others, *means))
    return "\n".join(_markdown(head, lines)) + "\n"


def _mean(score: PresetScore | None) -> str:
    if score is None:
        return ""
    reach = f" ± {score.reach:.2f}" if score.reach else ""
    return f"{score.mean:.2f}{reach} ({score.episodes})"


def options_text(settings: Preset) -> str:
    """The options of a preset as a spec has them; "defaults" where there are none."""
    return _joined(settings.options) or "defaults"
