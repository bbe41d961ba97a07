"""Who plays the other seats in training: copies of the policy as it was, past selves drawn by their results,
or any agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.train import ranks
from ludens.train.checkpoint import save_whole
from ludens.train.policy import Policy
from ludens.train.recipe import Opponents, PopulationOptions, names_of_players
from ludens.train.rollout import LEARNER, RolloutJob, player_of

FROZEN, PREVIOUS, PAST, CHECKPOINT = "frozen", "previous", "past", "checkpoint:"
COPIES = (FROZEN, PREVIOUS, PAST)
"""Names of copies of the policy in training."""


def is_copy(name: str) -> bool:
    return name in COPIES or name.startswith(CHECKPOINT)


class Population:
    """How often the learner beats its past selves, and which of them it meets.

    A result is counted under the past self and the roles that it has; older results count less.
    """

    FADES = 0.9
    """The weight of earlier results after an iteration with new ones."""

    def __init__(self, options: PopulationOptions) -> None:
        self.options = options
        self.members: list[int] = []
        """After how many iterations each copy was taken; the first one stays."""
        self.results: dict[str, list[float]] = {}
        """Games won by the learner and games in all."""

    def add(self, iteration: int) -> list[int]:
        """Add the policy after this iteration; returns the members to remove."""
        if iteration in self.members:
            return []
        self.members.append(iteration)
        gone = self.members[1 : -self.options.size + 1] if len(self.members) > self.options.size else []
        self.members = [member for member in self.members if member not in gone]
        return gone

    def draw(self, roles: str, *names: Any) -> int:
        """A member for these roles.

        Members that cannot be beaten teach as little as those that always are: `even` draws by the variance
        of the result, `hard` by the share of games that the learner loses.
        """
        shares = [self.beaten(member, roles) for member in self.members]
        weights = {
            "even": [share * (1 - share) for share in shares],
            "hard": [1 - share for share in shares],
            "any": [1.0] * len(shares),
        }
        return stream(*names).weighted(self.members, weights[self.options.prefer])

    def beaten(self, member: int, roles: str) -> float:
        """The share of games that the learner wins against a member; a half where there are none."""
        won, games = self.results.get(_key(member, roles), (0.0, 0.0))
        return (won + 1) / (games + 2)

    def record(self, outcomes: Iterable[tuple[str, float]]) -> None:
        """Count the games of an iteration: the opponent's key, and 1 where the learner won."""
        new: dict[str, list[float]] = {}
        for key, won in outcomes:
            sums = new.setdefault(key, [0.0, 0.0])
            sums[0] += won
            sums[1] += 1
        for key, (won, games) in new.items():
            before = self.results.get(key, [0.0, 0.0])
            self.results[key] = [self.FADES * before[0] + won, self.FADES * before[1] + games]


def _key(member: int, roles: str) -> str:
    return f"{member} {roles}"


class League:
    """Draws an arrangement of players for each seed.

    `frozen` is the policy as it was when training started, `previous` the policy of the last checkpoint,
    `past` one of the population.

    Args:
        folder: Where past selves are stored, which a stopped run needs to go on.
    """

    def __init__(
        self,
        game: Game,
        policy: Policy,
        opponents: Sequence[Opponents],
        seed: int,
        more_players: Sequence[str] = (),
        population: PopulationOptions | None = None,
        folder: Path | None = None,
    ) -> None:
        self.game, self.policy, self.opponents, self.seed = game, policy, opponents, seed
        self.names = sorted({*names_of_players(opponents), *more_players} - {LEARNER, ""})
        self.agents: dict[str, Agent] = {}
        self.population = Population(population or PopulationOptions())
        self._folder = folder
        self._frozen: dict[str, Policy] = {}
        for name in self.names:
            if name in (FROZEN, PREVIOUS):
                self._freeze(name)
            elif name.startswith(CHECKPOINT):
                self._read(name, Path(name.removeprefix(CHECKPOINT)))
            elif name != PAST:
                self.agents[name] = agent(name, game)
        self.end_iteration(0)

    def _freeze(self, name: str) -> None:
        self._drop(name)
        self._frozen[name] = self.policy.frozen()
        self.agents[name] = self._frozen[name].agent()

    def _read(self, name: str, folder: Path) -> None:
        self._freeze(name)
        self._frozen[name].load(folder)

    def _drop(self, name: str) -> None:
        if name in self._frozen:
            self._frozen.pop(name).release()
            del self.agents[name]

    @property
    def copies(self) -> Mapping[str, Policy]:
        """The copies of the policy that play, by name."""
        return {name: self._frozen[name] for name in sorted(self._frozen)}

    def reseed(self, *names: int) -> None:
        """Make what frozen policies draw from now on depend on these numbers alone."""
        for number, name in enumerate(sorted(self._frozen), 1):
            self._frozen[name].reseed(*names, number)

    def checkpointed(self) -> None:
        """The policy has been saved: it becomes `previous`."""
        if PREVIOUS in self.names:
            self._freeze(PREVIOUS)

    def end_iteration(self, iteration: int) -> None:
        """An iteration has ended: the policy may join the population."""
        if PAST not in self.names or iteration % self.population.options.every:
            return
        gone = self.population.add(iteration)
        self._freeze(_member(iteration))
        if self._folder is not None:
            save_whole(self.policy.whole(), self._folder / f"{iteration:06d}")
        for member in gone:  # its files stay: a run may go on from a checkpoint in which it is a member
            self._drop(_member(member))

    def record(self, results: Sequence[tuple[RolloutJob, float]]) -> None:
        """Count games of all ranks: each job, and 1 if the learner won."""
        outcomes = [
            (_key(int(name.removeprefix(f"{PAST}:")), _roles(job.players, name)), won)
            for job, won in results
            for name in {*job.players.values()}
            if name.startswith(f"{PAST}:")
        ]
        self.population.record(outcome for part in ranks.gather(outcomes) for outcome in part)

    def job(self, seed: int, sample: int, stage: str = "") -> RolloutJob:
        """An episode of this seed, for training a stage; all samples of a seed have the same players."""
        fitting = [o for o in self.opponents if o.stage in ("", stage)]
        if not fitting:
            return RolloutJob(seed, sample)
        weights = [o.weight for o in fitting]
        players = stream(self.seed, "opponents", seed).weighted(fitting, weights).players
        if PAST in players.values():
            member = self.population.draw(_roles(players, PAST), self.seed, "past", seed)
            players = {role: _member(member) if name == PAST else name for role, name in players.items()}
        return RolloutJob(seed, sample, players)

    def state(self) -> dict[str, Any]:
        return {"members": self.population.members, "results": self.population.results}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint: its past selves are read from their folder."""
        if PAST not in self.names or self._folder is None:
            return
        for member in self.population.members:
            self._drop(_member(member))
        self.population.members = list(state["members"])
        self.population.results = {key: list(sums) for key, sums in state["results"].items()}
        for member in self.population.members:
            folder = self._folder / f"{member:06d}"
            if not folder.is_dir():
                raise BadFile(f"{folder}, a past self of the run, is missing: start again in another folder.")
            self._read(_member(member), folder)

    async def close(self) -> None:
        for player in self.agents.values():
            await player.close()


def _member(iteration: int) -> str:
    return f"{PAST}:{iteration}"


def _roles(players: Mapping[str, str], name: str) -> str:
    """The roles or seats that a player has."""
    return " ".join(sorted(role for role, player in players.items() if player == name))


def check_players(game: Game, opponents: Sequence[Opponents], more_players: Sequence[str] = ()) -> None:
    """Every opponent exists and has a seat or role of the game; raises `UsageError`."""
    roles: dict[str, str] = {}
    if opponents:  # some games take seconds to start
        state = game.start(0)
        roles = {seat: state.role(seat) for seat in game.seats}
    places = {*roles, *roles.values()} - {""}
    for arrangement in opponents:
        for where in arrangement.players:
            if where not in places:
                raise BadOption(
                    f"the recipe's [[opponents]] name {where!r}, but {game.name} has the seats and "
                    f"roles {', '.join(sorted(places))}."
                )
        if all(player_of(arrangement.players, *seat) != LEARNER for seat in roles.items()):
            raise BadOption("the recipe's [[opponents]] leave no seat to the learner.")
    if PAST in more_players:
        raise BadOption(f"the recipe's monitor.against cannot be {PAST!r}, which changes.")
    for name in {*names_of_players(opponents), *more_players} - {LEARNER, ""}:
        if name.startswith(CHECKPOINT):
            folder = Path(name.removeprefix(CHECKPOINT))
            if not folder.is_dir():
                raise BadOption(f"the recipe's opponent {name!r}: {folder} is not a folder.")
        elif name not in COPIES:
            try:
                agent(name, game)
            except UnknownName as error:
                players = (LEARNER, *COPIES, f"{CHECKPOINT}PATH")
                near = (error.nearest,) if error.nearest else ()
                raise UnknownName("opponent of the recipe", name, (*players, *near)) from None
