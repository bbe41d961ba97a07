"""Players that never look, and search for the best of them: the attack on suites whose tasks need sight.

`python -m tests.suites.blind_players SUITE [TASK ...]` prints what they reach in the suite's own seeds. They
are fitted on other seeds.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
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
from ludens.games.open_spiel import SpielState
from ludens.games.openings import BoardGame
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
        votes = Counter[str]()
        for state in self.possible:
            votes.update(game.good_moves(state))
            votes.update(dict.fromkeys(state.legal(self.seat), 0.01))  # type: ignore[dict-item]
        moves = [move for move, _ in votes.most_common() if move not in refused]
        self.last = moves[0] if moves else view_of(game, RenderOptions(), 0).cells()[self.random.below(9)]  # type: ignore[attr-defined]
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


def habits(task: Task, scripts: Sequence[Script]) -> Script:
    """All moves of replays, the usual and early ones first."""
    game = make(task.game)
    script: Script = {}
    for seat in game.seats:
        weights: dict[str, float] = {}
        for own in scripts:
            for number, action in enumerate(own.get(seat, ())):
                weights[action] = weights.get(action, 0) + 1 / (1 + number)
        script[seat] = sorted(weights, key=lambda action: -weights[action]) or [""]
    return script


def every_move(task: Task, dice: random.Random) -> Script:
    """All nameable moves in a random order."""
    game = make(task.game)
    view = view_of(game, RenderOptions(), 0)
    moves = list(view.answers())  # type: ignore[attr-defined]
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


def attack(task: Task, count: int, effort: int) -> dict[str, list[EpisodeResult]]:
    """The episodes of each blind player in the task's own seeds."""
    game, dice = make(task.game), random.Random(1)
    players: dict[str, Agent] = {"bot/random": agent("bot/random", game)}
    horizon = getattr(game, "horizon", 0)
    together = len(game.start(0).to_act) > 1
    scripts = replays(task, 12 if together else 2)
    if together:
        scripts += steady(game, horizon)
        scripts += [
            {seat: [dice.choice(game.start(0).legal(seat)) for _ in range(horizon)] for seat in game.seats}
            for _ in range(20)
        ]
        players["replay"] = Scripted(scripts[0])
        players["climbed script"] = Scripted(climbed(game, scripts, 60, effort))
    else:
        players["bot/guess"] = agent("bot/guess", game)
        players["replay"] = Scripted(scripts[0])
        if isinstance(game, BoardGame) and effort:
            players["consistent states"] = Consistent(effort, opponent(task))
        players["usual moves"] = Scripted(habits(task, scripts))
        if hasattr(view_of(game, RenderOptions(), 0), "answers"):
            players["fixed list of all moves"] = Scripted(every_move(task, dice))
    return {name: list(episodes(task, player, count)) for name, player in players.items()}


def third(chance: float, upper: float) -> float:
    """What no blind player may exceed."""
    return chance + (upper - chance) / 3


def main(name: str, tasks: Sequence[str], count: int, best: int, effort: int) -> None:
    for task in suite(name).tasks:
        if tasks and task.name not in tasks:
            continue
        results = attack(task, count, effort)
        if best:
            results["bot/best"] = list(episodes(task, agent(BEST, make(task.game)), best))
        for player, played in results.items():
            distinct = len({tuple(move.action for move in one.episode.moves) for one in played})
            shown = [f"{metric.name} {metric.estimate(played).mean:.3f}" for metric in task.metrics[:3]]
            print(f"{task.name:24} {player:26} n {len(played):4} distinct {distinct:4}  ", *shown, flush=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:5]]
    main(sys.argv[1], sys.argv[5:], *numbers)
