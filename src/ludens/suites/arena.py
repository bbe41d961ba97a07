"""The arena: entrants meet each other in any games, in all seats on shared seeds.

Games are played in settings in which a player that does not look has no success: openings, kitchens and grids
are drawn by seed. Games whose lists of legal moves describe the board are also played without the lists, as
tasks of their own (`breakthrough-unlisted`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import Touch, configure, option
from ludens.core.registry import make
from ludens.core.spec import Spec, parse_spec
from ludens.games.spy.game import SPY
from ludens.run.task import (
    MODEL,
    RIVAL,
    EpisodeResult,
    Metric,
    Motive,
    Seating,
    Suite,
    SuiteBuilder,
    Task,
    mean_of,
    own_return,
)

NAME = "arena"
UNLISTED = "-unlisted"
"""At the end of the name of a task: legal moves are neither listed nor named by refusals."""
MOST_ROUNDS = 100_000


@dataclass(frozen=True)
class ArenaSetting:
    """How a game is played in the arena."""

    motive: Motive
    options: str = ""
    """Options that it has unless the user sets them."""
    tells: bool = False
    """Whether the list of legal moves tells something about the board."""


GRID = ArenaSetting("mixed", "edges=torus")
SETTINGS = {
    "tic_tac_toe": ArenaSetting("competitive", "opening=3", tells=True),
    "breakthrough": ArenaSetting("competitive", "opening=8", tells=True),
    "reversi": ArenaSetting("competitive", "opening=8", tells=True),
    "gomoku": ArenaSetting("competitive", "opening=6", tells=True),
    "chess": ArenaSetting("competitive", "opening=8", tells=True),
    "pong": ArenaSetting("competitive", "players=2"),
    "spy": ArenaSetting("competitive"),
    "hanabi": ArenaSetting("cooperative", tells=True),
    "tiny_hanabi": ArenaSetting("cooperative"),
    "overcooked": ArenaSetting("cooperative", "layout=random&notes=false"),
    "viki/team": ArenaSetting("cooperative"),
    "kuhn_poker": ArenaSetting("mixed"),  # the stakes count, not how often they are won
    "coin_dilemma": GRID,
    "monster_hunt": GRID,
    "battle_of_colors": GRID,
}


def setting_of(game: Game) -> ArenaSetting:
    """The setting of a game; of one that is not known here, each plays for its own return."""
    if game.name.startswith("comma/"):
        return ArenaSetting("cooperative")
    return SETTINGS.get(game.name, ArenaSetting("mixed"))


def game_spec(text: str) -> str:
    """The spec of a game with the options of its setting; those that the user has set have precedence."""
    spec = parse_spec(text)
    usual = parse_spec(f"{spec.name}?{SETTINGS[spec.name].options}").options if spec.name in SETTINGS else {}
    if "layout" in spec.options:  # a kitchen by name
        usual.pop("layout", None)
    return str(Spec(spec.name, spec.address, {**usual, **spec.options}))


def sides(game: Game) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The seats of the two sides: the spy and the civilians, or every second seat."""
    if SPY in game.seats:
        return (SPY,), tuple(seat for seat in game.seats if seat != SPY)
    return game.seats[::2], game.seats[1::2]


def seatings(game: Game) -> tuple[Seating, ...]:
    """Both entrants on both sides."""
    first, second = sides(game)
    if not second:
        raise BadOption(
            f"{game.name} has one seat, but two entrants meet in an arena: evaluate it with `ludens eval`."
        )
    return (
        {**dict.fromkeys(first, MODEL), **dict.fromkeys(second, RIVAL)},
        {**dict.fromkeys(first, RIVAL), **dict.fromkeys(second, MODEL)},
    )


def rival_return(result: EpisodeResult) -> float:
    """The mean return over the seats of the other side."""
    rivals = [value for seat, value in result.episode.returns.items() if seat not in result.seats]
    return sum(rivals) / len(rivals)


def score(result: EpisodeResult) -> float:
    """1 for the side with the higher return, 1/2 for both if equal; a side that forfeits has lost."""
    if result.episode.status == "forfeit":
        return float(result.episode.culprit not in result.seats)
    own, rival = own_return(result), rival_return(result)
    return 0.5 if own == rival else float(own > rival)


SCORE = mean_of("score", score, percent=True, about="1 for a win, 1/2 for a draw")
OWN = mean_of("return", own_return)
RIVALS = mean_of("return of the rival", rival_return)
METRICS: dict[Motive, tuple[Metric, ...]] = {
    "competitive": (SCORE,),
    "cooperative": (OWN, RIVALS),
    "mixed": (OWN, RIVALS),
}


@dataclass(frozen=True)
class Arena(SuiteBuilder):
    """Games in which entrants meet each other."""

    games: str = option(
        "breakthrough",
        help="the games, separated by commas, each with its options",
        touches=Touch.GAMES,
    )
    rounds: int = option(50, low=1, high=MOST_ROUNDS, help="seeds on which every pair meets, in all seats")
    listed: str = option(
        "both",
        choices=("both", "true", "false"),
        help="list legal moves, or not, or one task of each where lists describe the board",
    )
    anchor: str = option("bot/random", help="the entrant whose rating is 0: a bot", touches=Touch.PLAYER)
    against: str = option(
        "",
        help="the player that all entrants meet, instead of each other",
        touches=Touch.PLAYER,
    )
    adaptive: float = option(
        0.0,
        low=0,
        high=0.999,
        help="play informative pairs first, until the order is certain at this level, such as 0.95",
    )

    def build(self) -> Suite:
        specs = [game_spec(text) for text in filter(None, (text.strip() for text in self.games.split(",")))]
        if not specs:
            raise BadOption("the arena has no games: name some, for example breakthrough,hanabi.")
        names = [parse_spec(spec).name for spec in specs]
        tasks: list[Task] = []
        for spec, name in zip(specs, names, strict=True):
            tasks += self._tasks(spec if names.count(name) > 1 else name, spec)
        return Suite(
            NAME,
            f"Entrants meet {self.against or 'each other'}, in all seats on shared seeds.",
            tuple(tasks),
            anchor=self.anchor,
        )

    def _tasks(self, name: str, spec: str) -> list[Task]:
        game = make(spec)
        setting, seats = setting_of(game), seatings(game)
        if self.against:
            seats = tuple(
                {seat: self.against if player == RIVAL else player for seat, player in seating.items()}
                for seating in seats
            )
        choices = {"both": (True, False) if setting.tells else (True,), "true": (True,), "false": (False,)}
        return [
            Task(
                name if listed else name + UNLISTED,
                spec,
                seats,
                self.rounds * len(seats),
                METRICS[setting.motive],
                _config(listed, setting.motive),
                motive=None if self.against else setting.motive,
            )
            for listed in choices[self.listed]
        ]


def _config(listed: bool, motive: Motive) -> PlayConfig:
    if listed:
        return PlayConfig()
    # Three invalid replies in a row lose the game: no fallback plays for a player that does not look.
    return PlayConfig(
        listed=False, reasons="kind", fallback="forfeit" if motive == "competitive" else "random"
    )


def arena_of(suite: str) -> Arena | None:
    """The options of the arena that a plan plays; None for other suites."""
    spec = parse_spec(suite)
    return configure(Arena, spec.options, NAME) if spec.name == NAME else None
