"""The demo: bots play a little of every kind of game, with no key; `ludens demo` shows what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ludens.agents import agent
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.replay import replay
from ludens.core.view import Look, view_of
from ludens.play import play

if TYPE_CHECKING:
    from ludens.draw import Picture


@dataclass(frozen=True)
class Match:
    """Players who meet several times at one game."""

    game: str
    players: tuple[str, ...]
    """One a seat."""
    games: int
    swap: bool = True
    """Whether players change seats from game to game; not where seats are different roles."""

    def seating(self, game: Game, number: int) -> dict[str, int]:
        """Which player, counted from 0, sits where in one of the games."""
        shift = number if self.swap else 0
        return {seat: (place + shift) % len(self.players) for place, seat in enumerate(game.seats)}


_SMALL, _MCTS = "breakthrough?rows=6&columns=6", "bot/mcts?simulations=100&rollouts=2"

MATCHES = (
    Match("tic_tac_toe", ("bot/alphabeta?depth=9", "bot/random"), 20),
    Match(_SMALL, (_MCTS, "bot/random"), 20),
    Match(_SMALL, (_MCTS, "bot/alphabeta?depth=2"), 20),
    Match("coin_dilemma", ("bot/self_interest", "bot/common_welfare"), 20),
    Match("coin_dilemma", ("bot/self_interest", "bot/self_interest"), 20),
    Match("coin_dilemma", ("bot/common_welfare", "bot/common_welfare"), 20),
    Match("perceive?board=breakthrough", ("bot/oracle",), 20),
    Match("perceive?board=breakthrough", ("bot/random",), 20),
    Match("comma/wire", ("bot/oracle", "bot/oracle"), 20, swap=False),
    Match("comma/wire", ("bot/random", "bot/oracle"), 20, swap=False),
)


@dataclass(frozen=True)
class Result:
    """What came of a match."""

    match: Match
    episodes: list[Episode]
    returns: list[list[float]]
    """For each player, what it earned in each game."""

    def won(self, player: int) -> int:
        """In how many games this player earned more than every other."""
        games = zip(*self.returns, strict=True)
        return sum(all(earned[player] > e for i, e in enumerate(earned) if i != player) for earned in games)

    def mean(self, player: int) -> float:
        """What this player earned in a game, on average."""
        return sum(self.returns[player]) / len(self.returns[player])

    @property
    def void(self) -> int:
        """In how many games a player failed to answer."""
        return sum(episode.status == "void" for episode in self.episodes)


def play_match(match: Match, seed: int) -> Result:
    """Play all games of a match."""
    game = make(match.game)
    agents = [agent(spec, game) for spec in match.players]
    result = Result(match, [], [[] for _ in match.players])
    for number in range(match.games):
        seating = match.seating(game, number)
        episode = asyncio.run(
            play(game, {seat: agents[player] for seat, player in seating.items()}, seed + number)
        )
        result.episodes.append(episode)
        for seat, player in seating.items():
            result.returns[player].append(episode.returns[seat])
    return result


def play_all(seed: int, matches: Sequence[Match] = MATCHES) -> Iterator[Result]:
    """Play every match, one after the other."""
    for match in matches:
        yield play_match(match, seed)


FRAMES, SIZE = 8, 384


def picture_files(episode: Episode, folder: Path) -> list[Path]:
    """Draw an episode again from its moves: a strip of frames, and the last one alone."""
    from ludens.draw import strip

    frames = list(_frames(episode))
    last = len(frames) - 1
    chosen = [frames[place] for place in sorted({round(i * last / (FRAMES - 1)) for i in range(FRAMES)})]
    line = strip([picture for _, picture in chosen], columns=4, captions=[caption for caption, _ in chosen])
    stem = episode.game.replace("/", "-")
    pictures = {folder / f"{stem}-strip.png": line, folder / f"{stem}-last.png": frames[-1][1]}
    for file, picture in pictures.items():
        file.write_bytes(picture.png())
    return list(pictures)


def _frames(episode: Episode) -> Iterator[tuple[str, Picture]]:
    """The position after each step as the first seat sees it, with the moves that led there."""
    game = make(episode.game, **episode.options)
    view, seat = view_of(game, Look(episode.theme, SIZE), episode.seed), game.seats[0]
    led = "start"
    for step in replay(episode, game):
        yield f"{step.index}. {led}", cast("Picture", view.image(step.state, seat))
        led = ", ".join(" ".join(f"{move.seat} {move.action}".split()) for move in step.moves)
