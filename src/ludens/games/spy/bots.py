"""Bots of the spy game: one class that reads scenes and clues plays every seat; players that never look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Bot, Reply
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.games.boards import pointer
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.clues import (
    STOCK_CLUES,
    THERE_IS,
    full_names,
    joined_names,
    named,
    placed,
    related,
    sayable,
)
from ludens.games.spy.flat import UNIT
from ludens.games.spy.game import ABSTAIN, CLUE, SPY, Spy, SpyState
from ludens.games.spy.pairs import described, kind_of
from ludens.games.spy.scene import Object, Scene
from ludens.games.spy.vote import CIVILIAN, SpyVote, VoteQuestion
from ludens.games.spy.worlds import adds, first_told, left_open, repetitions, replacements, untold


def seen(scene: Scene) -> str:
    return ", ".join(f"{place_of(thing)} {joined_names(thing.name)}" for thing in _from_left(scene))


def place_of(thing: Object) -> str:
    return pointer(*(0.5 + units * UNIT / 512 for units in (thing.x, -thing.y)))


def checked(state: SpyState, scene: Scene) -> str:
    """Each clue in turn: the number of its player, the objects that it names with their places, and whether
    it is true, unless that is seen from these."""
    places = {thing.name: place_of(thing) for thing in scene.objects}
    return ", ".join(
        " ".join([str(state.speaker(index) + 1), *_matches_of(clue, scene, places)])
        for index, clue in enumerate(state.clues)
    )


def _matches_of(clue: str, scene: Scene, places: Mapping[str, str]) -> Iterator[str]:
    """What of a clue is in the picture, up to the first object that is not."""
    names = full_names(clue)
    for name in names:
        yield joined_names(name)
        if name not in places:
            break
        yield places[name]
    else:
        if clue == "".join([THERE_IS, *names]):
            return
    yield {True: "true", False: "false", None: "unclear"}[check(clue, scene)]


def weighed(state: SpyState, scene: Scene, changed: Mapping[str, str]) -> str:
    """Each object of a spy's picture from left to right, and why not to name it as new: the number of the
    player whose clue made it known, or the object that it may have been (`changed`)."""
    parts, told = [], first_told(state.clues, scene)
    for thing in _from_left(scene):
        reason = ""
        if thing.name in told:
            reason = f" {state.speaker(told[thing.name]) + 1}"
        elif thing.name in changed:
            reason = f" {joined_names(changed[thing.name])}"
        parts.append(joined_names(thing.name) + reason)
    return ", ".join(parts)


def _from_left(scene: Scene) -> list[Object]:
    return sorted(scene.objects, key=lambda thing: thing.x)


@dataclass
class Blunt(Agent):
    """Describes an object of its picture that nobody has named yet, whichever role it has.

    Votes for the player with the most clues that are false of its picture; abstains where there is none.
    """

    reason: bool = option(False, help="say first what it sees and which clues are false, for imitation")
    kind = "bot/blunt"
    sees = "state"

    def begin(self) -> None:
        assert isinstance(self.game, Spy | SpyVote)
        if kind_of(self.game.source) != "scenes":
            raise BadOption(f"{self.kind} needs pictures of described scenes, such as source=flat.")

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpyState)
        pair = described(state.pair)
        assert pair is not None
        scene = pair.modified if ask.seat == SPY else pair.original
        if state.stage == CLUE:
            action = self.accepted(self.clue(state, scene, ask.seat), state, scene)
        else:
            action = self.vote(state, scene, ask.seat)
        if not self.reason:
            return Reply(action, action)
        return Reply(f"{self.thoughts(state, scene, ask.seat)} {ask.format.write(action)}", action)

    def thoughts(self, state: SpyState, scene: Scene, seat: str) -> str:
        return seen(scene) if state.stage == CLUE else f"{seen(scene)}\n{checked(state, scene)}"

    def clue(self, state: SpyState, scene: Scene, seat: str) -> str:
        """A full description of an object, or of two of them where all were described before."""
        if fresh := self.fresh(state, scene):
            return named(self.random.choice(fresh))
        if len(scene.objects) < 2:  # a blank picture
            return self.random.choice(STOCK_CLUES)
        return related(*self.random.sample(scene.objects, 2))

    def accepted(self, clue: str, state: SpyState, scene: Scene) -> str:
        """The clue, or another one where the game refuses those that say too little."""
        if state.game.clue == "free" or state.emptiness(clue) is None:
            return clue
        return next((other for other in sayable(scene.objects) if state.emptiness(other) is None), clue)

    def fresh(self, state: SpyState, scene: Scene) -> list[Object]:
        return [thing for thing in scene.objects if named(thing) not in state.clues]

    def vote(self, state: SpyState, scene: Scene, seat: str) -> str:
        suspicion = self.suspicion(state, scene)
        others = [place for place, other in enumerate(state.table) if other != seat]
        suspect = max(others, key=suspicion.__getitem__)
        return str(suspect + 1) if suspicion[suspect] > 0 else ABSTAIN

    def suspicion(self, state: SpyState, scene: Scene) -> list[float]:
        """How suspicious each player is: its clues that are false of one's own picture."""
        return [float(sum(check(clue, scene) is False for clue in clues)) for clues in _by_player(state)]


@dataclass
class Voter(Blunt):
    """Votes for the player with the most clues that are false of its picture."""

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, VoteQuestion)
        table = ask.state.table
        pair = described(table.pair)
        assert pair is not None
        action = self.vote(table, pair.original, CIVILIAN)
        if not self.reason:
            return Reply(action, action)
        thoughts = self.thoughts(table, pair.original, CIVILIAN)
        return Reply(f"{thoughts} {ask.format.write(action)}", action)


@dataclass
class Vague(Blunt):
    """Says sizes and materials only, which are the same in both pictures by the paper's rule."""

    share: float = option(1.0, low=0, high=1, help="of its games; in the others it plays as bot/blunt")
    kind = "bot/vague"

    def begin(self) -> None:
        super().begin()
        _check_free(self.game, self.kind)
        self._is_vague = self.share == 1 or self.random.random() < self.share

    def clue(self, state: SpyState, scene: Scene, seat: str) -> str:
        if not self._is_vague:
            return super().clue(state, scene, seat)
        clues = [f"There is a {thing.size} {thing.material} object" for thing in scene.objects]
        clues = clues or list(STOCK_CLUES)
        new = [clue for clue in clues if clue not in state.clues]
        return self.random.choice(new or clues)


@dataclass
class Clever(Blunt):
    """As the spy it works out which of its objects have changed; as a voter it distrusts repetition.

    Clues count by what they say, not by their words: what follows from earlier clues is repeated.
    """

    kind = "bot/clever"

    def clue(self, state: SpyState, scene: Scene, seat: str) -> str:
        if seat != SPY:
            return super().clue(state, scene, seat)
        told, changed = first_told(state.clues, scene), self.changed(state, scene)
        fresh = [thing for thing in scene.objects if thing.name not in told and thing.name not in changed]
        if fresh:
            return named(self.random.choice(fresh))
        confirmed = [thing for thing in scene.objects if thing.name in told]
        if len(confirmed) > 1:
            return related(*self.random.sample(confirmed, 2))
        worlds = left_open(tuple(state.clues), scene)
        new = [clue for thing in confirmed for clue in placed(thing) if adds(clue, worlds)]
        return self.random.choice(new) if new else super().clue(state, scene, seat)

    def fresh(self, state: SpyState, scene: Scene) -> list[Object]:
        return list(untold(tuple(state.clues), scene))

    def changed(self, state: SpyState, scene: Scene) -> dict[str, str]:
        """The objects of a spy's picture that may have changed, each with one that it may have been."""
        return replacements(state.clues, scene, state.game.changes)

    def thoughts(self, state: SpyState, scene: Scene, seat: str) -> str:
        """As the spy before a clue also what of the clues is in its picture, and what it may not name."""
        if seat != SPY or state.stage != CLUE:
            return super().thoughts(state, scene, seat)
        return "\n".join(
            [seen(scene), checked(state, scene), weighed(state, scene, self.changed(state, scene))]
        )

    def suspicion(self, state: SpyState, scene: Scene) -> list[float]:
        """Clues that are false weigh most, then clues that add nothing to earlier ones, then vague ones."""
        false = super().suspicion(state, scene)
        repeated = [0] * len(state.table)
        for index, is_repeated in enumerate(repetitions(state.clues, scene)):
            repeated[state.speaker(index)] += is_repeated
        detail = [sum(map(informativeness, clues)) / max(1, len(clues)) for clues in _by_player(state)]
        return [
            100 * wrong + 10 * again + 1 - much
            for wrong, again, much in zip(false, repeated, detail, strict=True)
        ]


def _by_player(state: SpyState) -> list[list[str]]:
    players = len(state.table)
    return [state.clues[place::players] for place in range(players)]


def _check_free(game: Game, kind: str) -> None:
    assert isinstance(game, Spy)
    if game.clue == "informative":
        raise BadOption(f"{kind} gives clues that say too little for clue=informative.")


AGREED = STOCK_CLUES[0]
_RELATION = re.compile(r"The (.+) is to the (left|right) of the (.+)")
_OPPOSITE = {"left": "right", "right": "left"}


@dataclass
class BlindPlayer(Bot):
    """Reads clues and never looks. Civilians all say one agreed sentence.

    They vote for the player who does not say it, if the others do; else for the player whose clues the others
    confirm least. The spy guesses on which side an object is that others named.
    """

    kind = "bot/blind"

    def begin(self) -> None:
        _check_free(self.game, self.kind)

    def choose(self, state: SpyState) -> str:
        if state.stage == CLUE:
            return self._clue(state)
        clues = _by_player(state)
        agreeing = sum(all(clue == AGREED for clue in own) for own in clues)
        suspicion = (
            [float(sum(clue != AGREED for clue in own)) for own in clues]
            if agreeing > len(clues) / 2
            else doubts(state)
        )
        others = [place for place, seat in enumerate(state.table) if seat != self.seat]
        return str(max(others, key=suspicion.__getitem__) + 1)

    def _clue(self, state: SpyState) -> str:
        names = list(dict.fromkeys(name for clue in state.clues for name in full_names(clue)))
        if self.seat != SPY or not names:
            return AGREED
        return f"The {self.random.choice(names)} is on the {self.random.choice(list(_OPPOSITE))}"


def doubts(state: SpyState) -> list[float]:
    """How little others confirm of what each player says, by the words alone: objects that nobody else names,
    clues that name only what was named before, relations that others say the other way round."""
    players = len(state.table)
    names = [{name for clue in clues for name in full_names(clue)} for clues in _by_player(state)]
    speakers = Counter(name for own in names for name in own)
    repeated, contrary = [0] * players, [0] * players
    named_before = set[str]()
    sides: dict[tuple[str, str], dict[int, str]] = {}
    for index, clue in enumerate(state.clues):
        place, mentioned = state.speaker(index), full_names(clue)
        repeated[place] += bool(mentioned) and named_before.issuperset(mentioned)
        named_before.update(mentioned)
        if said := _RELATION.fullmatch(clue):
            first, side, second = said.groups()
            sides.setdefault((first, second), {})[place] = side
            sides.setdefault((second, first), {})[place] = _OPPOSITE[side]
    for by_player in sides.values():
        for place, side in by_player.items():
            contrary[place] += any(other != side for other in by_player.values())
    return [
        sum(1.0 if speakers[name] == 1 else -1.0 for name in names[place])
        + 2 * (repeated[place] + contrary[place])
        for place in range(players)
    ]
