"""Players that never look, and search for the best of them: the attack on suites whose tasks need sight.

They are fitted on other seeds than those of suites. Print what they and `bot/best` reach with

    python -m tests.suites.blind_players SUITE EPISODES EPISODES_OF_BEST EFFORT TASK ...
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ludens.agents import BEST, agent
from ludens.core.agent import Agent, Bot, Reply
from ludens.core.ask import Ask
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, view_of
from ludens.games.boards import BoardView
from ludens.games.open_spiel import BoardGame, SpielState
from ludens.loop import play
from ludens.run.task import MODEL, EpisodeResult, Task, suite

OTHER_SEEDS = 1_000_000
"""The first seed of fitting; suites begin with 0."""

Script = dict[str, list[str]]
"""For each seat, its actions, whatever happens."""


@dataclass
class Scripted(Agent):
    """Plays a fixed list of actions; after a refusal, the next one that it has not tried in this move."""

    script: Script
    kind = "scripted"
    sees = "nothing"

    def begin(self) -> None:
        self.left = list(self.script[self.seat])

    async def act(self, ask: Ask) -> Reply:
        tried = {text for text, _ in ask.refused}
        action = next((action for action in self.left if action not in tried), self.script[self.seat][-1])
        if action in self.left:
            self.left.remove(action)
        return Reply(action, action)


_LEGAL = 0.01
"""What a legal move counts against a good one."""


def nameable(game: Game) -> list[str]:
    """Every move that can be named on a board."""
    view = view_of(game, RenderOptions(), 0)
    assert isinstance(view, BoardView)
    return list(view.answers())


@dataclass
class Consistent(Agent):
    """Keeps the states that agree with its own moves and all refusals, plays what is good in most.

    It begins with states of other seeds, and expects the opponent to play as it does.
    """

    states: int
    opponent: str
    kind = "consistent"
    sees = "nothing"

    def begin(self) -> None:
        assert isinstance(self.game, BoardGame)
        starts = (self.game.start(OTHER_SEEDS + seed) for seed in range(self.states))
        self.possible: list[SpielState] = list(starts)
        self.last = ""

    async def act(self, ask: Ask) -> Reply:
        game = self.game
        assert isinstance(game, BoardGame)
        if not ask.refused:
            self.possible = [after for state in self.possible for after in self._following(state)]
        refused = {text for text, _ in ask.refused}
        self.possible = [state for state in self.possible if refused.isdisjoint(state.legal(self.seat))]
        votes: dict[str, float] = {}
        for state in self.possible:
            for move in state.legal(self.seat):
                votes[move] = votes.get(move, 0.0) + _LEGAL
            for move in game.good_moves(state):
                votes[move] += 1
        moves = [move for move in votes if move not in refused]
        self.last = max(moves, key=votes.__getitem__) if moves else self.random.choice(nameable(game))
        return Reply(self.last, self.last)

    def _following(self, state: SpielState) -> Iterator[SpielState]:
        """The state when this seat is to move again; none where that cannot be."""
        after = state.clone()
        if self.last:
            if after.over or self.last not in after.legal(self.seat):
                return
            after.apply({self.seat: self.last})
        while not after.over and after.to_act[0] != self.seat:
            other = after.to_act[0]
            bot = agent(self.opponent, self.game).sit(self.game, other, self.random)
            assert isinstance(bot, Bot)
            after.apply({other: bot.choose(after)})
        if not after.over:
            yield after


def episodes(task: Task, player: Agent, count: int, first_seed: int = 0) -> Iterator[EpisodeResult]:
    """Episodes of a task, all seatings of each seed."""
    game = make(task.game)
    for index in range(count):
        seed, seating = replace(task, first_seed=first_seed).placed(index)
        seats = task.seatings[seating]
        agents = {seat: player if who == MODEL else agent(who, game) for seat, who in seats.items()}
        episode = run_sync(play(game, agents, seed, config=task.config))
        yield EpisodeResult("", episode, tuple(seat for seat, who in seats.items() if who == MODEL))


def opponent(task: Task) -> str:
    """The bot that the entrant plays against; `bot/best` where there is none."""
    return next((who for who in task.seatings[0].values() if who != MODEL), BEST)


def replays(task: Task, count: int) -> list[Script]:
    """What the opponent or `bot/best` did in other episodes, in every seat that the entrant plays."""
    scripts = []
    player = agent(opponent(task), make(task.game))
    results = list(episodes(task, player, count * len(task.seatings), OTHER_SEEDS))
    for at in range(0, len(results), len(task.seatings)):
        script: Script = {}
        for result in results[at : at + len(task.seatings)]:
            for seat in result.seats:
                script[seat] = [move.action for move in result.episode.moves if move.seat == seat]
        scripts.append(script)
    return scripts


def usual_moves(game: Game, scripts: Sequence[Script]) -> Script:
    """All moves of replays, the usual and early ones first."""
    script: Script = {}
    for seat in game.seats:
        weights: dict[str, float] = {}
        for own in scripts:
            for number, action in enumerate(own.get(seat, ())):
                weights[action] = weights.get(action, 0) + 1 / (1 + number)
        script[seat] = sorted(weights, key=lambda action: -weights[action]) or [""]
    return script


def every_move(game: Game, dice: random.Random) -> Script:
    """All nameable moves in a random order."""
    moves = nameable(game)
    dice.shuffle(moves)
    return dict.fromkeys(game.seats, moves)


def scripted_return(starts: Sequence[State], script: Script) -> float:
    """The mean return of a script over start states in which all seats act at once."""
    total = 0.0
    for start in starts:
        state = start.clone()
        for actions in zip(*script.values(), strict=True):
            if state.over:
                break
            state._advance(dict(zip(script, actions, strict=True)))
        total += fmean(state.returns.values())
    return total / len(starts)


def climbed(game: Game, scripts: Sequence[Script], worlds: int, rounds: int) -> Script:
    """The best list of actions that hill climbing finds on other seeds, from the best of some scripts."""
    starts = [game.start(OTHER_SEEDS + seed) for seed in range(worlds)]
    dice = random.Random(0)
    best = max(scripts, key=lambda script: scripted_return(starts, script))
    value = scripted_return(starts, best)
    actions = starts[0].legal(game.seats[0])
    for _ in range(rounds):
        changed = {seat: list(own) for seat, own in best.items()}
        own = changed[dice.choice(game.seats)]
        at, length = dice.randrange(len(own)), dice.choice((1, 1, 2, 4))
        own[at : at + length] = [dice.choice(actions) for _ in own[at : at + length]]
        result = scripted_return(starts, changed)
        if result >= value:
            best, value = changed, result
    return best


def steady(game: Game, horizon: int) -> list[Script]:
    """One action or two in turn, and both seats the same or each its own."""
    actions = game.start(0).legal(game.seats[0])
    lines = [[one, other] * (horizon // 2) for one in actions for other in actions]
    return [dict(zip(game.seats, (a, b), strict=True)) for a in lines[::3] for b in lines[::5]]


def blind_players(task: Task, effort: int) -> dict[str, Agent]:
    """Blind players of a task by name, fitted on other seeds.

    Args:
        task: Whole games.
        effort: Changes that hill climbing tries; in board games, states that a player keeps, if any.
    """
    game, dice = make(task.game), random.Random(1)
    start = game.start(OTHER_SEEDS)
    if len(start.to_act) == 1:
        scripts = replays(task, 1)
        players: dict[str, Agent] = {
            "bot/guess": agent("bot/guess", game),
            "usual moves": Scripted(usual_moves(game, scripts)),
            "replay": Scripted(scripts[0]),
        }
        if isinstance(game, BoardGame):
            players["fixed list"] = Scripted(every_move(game, dice))
            if effort:
                players["consistent states"] = Consistent(effort, opponent(task))
        return players
    horizon, actions = game.options["horizon"], start.legal(game.seats[0])
    scripts = [*replays(task, 8), *steady(game, horizon)]
    for _ in range(10):
        scripts.append({seat: [dice.choice(actions) for _ in range(horizon)] for seat in game.seats})
    return {
        "bot/random": agent("bot/random", game),
        "replay": Scripted(scripts[0]),
        "climbed script": Scripted(climbed(game, scripts, 40, effort)),
    }


def third(chance: float, upper: float) -> float:
    """What no blind player may exceed."""
    return chance + (upper - chance) / 3


def distinct_games(task: Task, played: Sequence[EpisodeResult]) -> int:
    """How many episodes differ in what was shown at the start, or in moves."""
    game = make(task.game)
    view = view_of(game, RenderOptions(), 0)
    return len(
        {
            (view.text(game.start(one.seed), game.seats[0]), *(move.action for move in one.episode.moves))
            for one in played
        }
    )


def main(name: str, count: int, best: int, effort: int, tasks: Sequence[str]) -> None:
    """Print a line per task and player."""
    for task in suite(name).tasks:
        if task.name not in tasks:
            continue
        players = {**blind_players(task, effort), **({BEST: agent(BEST, make(task.game))} if best else {})}
        for player, made in players.items():
            played = list(episodes(task, made, best if player == BEST else count))
            games = distinct_games(task, played)
            shown = [f"{metric.name} {metric.estimate(played).mean:.3f}" for metric in task.metrics[:3]]
            print(
                f"{task.name:24} {player:18} {len(played):4} episodes, {games:4} games: ", *shown, flush=True
            )


if __name__ == "__main__":
    counts = [int(word) for word in sys.argv[2:5]]
    main(sys.argv[1], counts[0], counts[1], counts[2], sys.argv[5:])
