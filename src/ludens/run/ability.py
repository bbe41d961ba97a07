"""What one player can do in every game: its score beside blind, random and best players, and how often its
first reply is a legal move. A map for whoever offers the player, as a table and as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import orjson

from ludens.core.errors import BadFile, UsageError
from ludens.core.files import write_atomically
from ludens.core.game import Game
from ludens.core.registry import GAMES, make
from ludens.core.spec import parse_spec
from ludens.run.presets import BEST, BLIND, FEWEST, RANDOM, blind_spec, seated_episodes

PLAYER, CONTROL = "player", "control"
"""The player, and the same player with blank pictures."""
COLUMNS = (PLAYER, CONTROL, BLIND, RANDOM, BEST)
LEGAL, SHARE, SURE = 0.9, 0.8, 1.64
"""Legal first replies of a player that is offered; what is near the best, of the way from random play; how
many standard errors are above blind."""
_MEASURED = 20_000
"""The first seed, which no preset is measured on."""


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
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.game}?{options}" if options else self.game

    @property
    def above_blind(self) -> bool:
        """Whether it earns more than any player that does not look, and not by chance."""
        own = self.scores[PLAYER]
        for name in (CONTROL, BLIND):
            other = self.scores.get(name)
            if other is not None and own.mean - other.mean <= SURE * (own.error**2 + other.error**2) ** 0.5:
                return False
        return True

    @property
    def share(self) -> float | None:
        """How far it comes from random play to the best bot; None where that is no way."""
        if RANDOM not in self.scores or BEST not in self.scores:
            return None
        low, high = self.scores[RANDOM].mean, self.scores[BEST].mean
        return (self.scores[PLAYER].mean - low) / (high - low) if high > low else None

    @property
    def offered(self) -> bool:
        """Whether it is an opponent for people: it makes legal moves, and it looks or is near the best.

        Where the best bot earns no more than players that guess, scores do not tell: legal moves are enough.
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
    game, asked = make(spec), parse_spec(spec).options
    presets = GAMES.get(game.name).presets
    others = presets[asked.get("preset", "easy")].others if presets else "bot/random"
    own = _play(game, others, player, episodes, seconds)
    scores = {PLAYER: _score(player, own.returns)}
    compared: dict[str, Callable[[], str]] = {
        BLIND: lambda: blind_spec(game, others, max(episodes // 4, FEWEST), seconds / 8),
        RANDOM: lambda: "bot/guess",
        BEST: lambda: "bot/best",
    }
    if control is not None:
        compared = {CONTROL: lambda: control} | compared
    for name, chosen in compared.items():
        try:
            other = chosen()
            limit = seconds if name == CONTROL else seconds / 4
            scores[name] = _score(other, _play(game, others, other, episodes, limit).returns)
        except UsageError:
            continue
    usual = make(game.name).options
    options = {name: value for name, value in game.options.items() if value != usual[name]}
    legal, fallbacks = own.legal / max(own.moves, 1), own.fallbacks / max(own.moves, 1)
    others = others if len(game.seats) > 1 else ""
    return Ability(game.name, options, others, scores, legal, fallbacks, own.moves)


def _play(game: Game, others: str, spec: str, episodes: int, seconds: float) -> _Tally:
    tally = _Tally()
    for seat, episode in seated_episodes(game, others, spec, episodes, seconds, _MEASURED):
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
            stored = orjson.loads(file.read_bytes())
            games = tuple(_ability(row) for row in stored["games"])
            return AbilityMap(str(stored["model"]), str(stored["fingerprint"]), games)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(f"{file} is not a map of games: {error}.") from None

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
        lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
        return "\n".join([*lines, *map(_line, self.games)]) + "\n"


def _ability(row: Mapping[str, Any]) -> Ability:
    scores = {name: AbilityScore(**score) for name, score in row["scores"].items()}
    numbers = float(row["legal"]), float(row["fallbacks"]), int(row["moves"])
    return Ability(str(row["game"]), dict(row["options"]), str(row["others"]), scores, *numbers)


def _line(row: Ability) -> str:
    means = (
        f"{found.mean:.2f} ({found.episodes})" if (found := row.scores.get(name)) else "" for name in COLUMNS
    )
    share = "" if row.share is None else f"{100 * row.share:.0f}%"
    cells = (
        f"`{row.spec}`", f"`{row.others}`" if row.others else "", *means, f"{100 * row.legal:.1f}%",
        f"{100 * row.fallbacks:.1f}%", _yes(row.above_blind), share, _yes(row.offered),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _yes(told: bool) -> str:
    return "yes" if told else "no"


def measure_all(
    start: AbilityMap, specs: Iterable[str], measure: Callable[[str], Ability]
) -> Iterator[tuple[str, AbilityMap | UsageError]]:
    """The map after each game, in the order of the games; what cannot be played gives the reason instead.

    Games that the map has already are not played again.
    """
    known = {(row.game, _key(row.options)): row for row in start.games}
    for spec in specs:
        try:
            game = make(spec)
            usual = make(game.name).options
            key = game.name, _key({n: value for n, value in game.options.items() if value != usual[n]})
            if key not in known:
                known[key] = measure(spec)
        except UsageError as error:
            yield spec, error
            continue
        yield spec, AbilityMap(start.model, start.fingerprint, tuple(known[each] for each in sorted(known)))


def _key(options: Mapping[str, Any]) -> str:
    return orjson.dumps(options, option=orjson.OPT_SORT_KEYS, default=str).decode()
