"""Bots of the spy game: one class that reads scenes and clues plays every seat; players that never look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Bot, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.boards import pointer
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.clues import STOCK_CLUES, THERE_IS, full_names, joined_names, named, placed, related
from ludens.games.spy.flat import UNIT
from ludens.games.spy.game import ABSTAIN, CLUE, SPY, Spy, SpyState
from ludens.games.spy.pairs import described, kind_of
from ludens.games.spy.scene import ATTRIBUTES, Object, Scene


def seen(mine: Scene) -> str:
    return ", ".join(f"{place_of(thing)} {joined_names(thing.name)}" for thing in _from_left(mine))


def place_of(thing: Object) -> str:
    return pointer(*(0.5 + units * UNIT / 512 for units in (thing.x, -thing.y)))


def checked(state: SpyState, mine: Scene) -> str:
    """Each clue in turn: the number of its player, the objects that it names with their places, and whether
    it is true, unless that is seen from these."""
    places = {thing.name: place_of(thing) for thing in mine.objects}
    return ", ".join(
        " ".join([str(state.speaker(index) + 1), *_found(clue, mine, places)])
        for index, clue in enumerate(state.clues)
    )


def _found(clue: str, mine: Scene, places: Mapping[str, str]) -> Iterator[str]:
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
    yield {True: "true", False: "false", None: "unclear"}[check(clue, mine)]


def weighed(state: SpyState, mine: Scene, changed: Mapping[str, str]) -> str:
    """Each object of a spy's picture from left to right, and why not to name it as new: the number of the
    first player who named it, or the object of the others' picture that it may have been (`changed`)."""
    return ", ".join(
        " ".join([joined_names(thing.name), *_against(thing, state, changed)]) for thing in _from_left(mine)
    )


def _against(thing: Object, state: SpyState, changed: Mapping[str, str]) -> Iterator[str]:
    if named(thing) in state.clues:
        yield str(state.speaker(state.clues.index(named(thing))) + 1)
    elif thing.name in changed:
        yield joined_names(changed[thing.name])


def _from_left(mine: Scene) -> list[Object]:
    return sorted(mine.objects, key=lambda thing: thing.x)


@dataclass
class Blunt(Agent):
    """Describes an object of its picture that nobody has named yet, whichever role it has.

    Votes for the player with the most clues that are false of its picture; abstains where there is none.
    """

    reason: bool = option(False, help="say first what it sees and which clues are false, for imitation")
    kind = "bot/blunt"
    sees = "state"

    def begin(self) -> None:
        assert isinstance(self.game, Spy)
        if kind_of(self.game.source) != "scenes":
            raise BadOption(f"{self.kind} needs pictures of described scenes, such as source=flat.")

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpyState)
        pair = described(state.pair)
        assert pair is not None
        mine = pair.modified if ask.seat == SPY else pair.original
        action = self.clue(state, mine, ask.seat) if state.stage == CLUE else self.vote(state, mine, ask.seat)
        if not self.reason:
            return Reply(action, action)
        return Reply(f"{self.thoughts(state, mine, ask.seat)} {ask.format.write(action)}", action)

    def thoughts(self, state: SpyState, mine: Scene, seat: str) -> str:
        return seen(mine) if state.stage == CLUE else f"{seen(mine)}\n{checked(state, mine)}"

    def clue(self, state: SpyState, mine: Scene, seat: str) -> str:
        return self._fresh([thing for thing in mine.objects if named(thing) not in state.clues], mine, state)

    def _fresh(self, candidates: list[Object], mine: Scene, state: SpyState) -> str:
        """A full description of one of the objects, or of two of them where all were described before."""
        if candidates:
            return named(self.random.choice(candidates))
        first, second = self.random.sample(mine.objects, 2)
        return related(first, second)

    def vote(self, state: SpyState, mine: Scene, seat: str) -> str:
        suspicion = self.suspicion(state, mine)
        others = [place for place, other in enumerate(state.table) if other != seat]
        suspect = max(others, key=suspicion.__getitem__)
        return str(suspect + 1) if suspicion[suspect] > 0 else ABSTAIN

    def suspicion(self, state: SpyState, mine: Scene) -> list[float]:
        """How suspicious each player is: its clues that are false of one's own picture."""
        return [float(sum(check(clue, mine) is False for clue in clues)) for clues in _by_player(state)]


@dataclass
class Vague(Blunt):
    """Says sizes and materials only, which are the same in both pictures by the paper's rule."""

    kind = "bot/vague"

    def clue(self, state: SpyState, mine: Scene, seat: str) -> str:
        said = [f"There is a {thing.size} {thing.material} object" for thing in mine.objects]
        new = [clue for clue in said if clue not in state.clues]
        return self.random.choice(new or said)


@dataclass
class Clever(Blunt):
    """As the spy it works out which of its objects have changed; as a voter it distrusts repetition."""

    kind = "bot/clever"

    def clue(self, state: SpyState, mine: Scene, seat: str) -> str:
        if seat != SPY:
            return super().clue(state, mine, seat)
        fresh, confirmed = _safe(state, mine)
        if fresh:
            return named(self.random.choice(fresh))
        if len(confirmed) > 1:
            return related(*self.random.sample(confirmed, 2))
        new = [clue for thing in confirmed for clue in placed(thing) if clue not in state.clues]
        return self.random.choice(new) if new else super().clue(state, mine, seat)

    def thoughts(self, state: SpyState, mine: Scene, seat: str) -> str:
        """As the spy before a clue also what of the clues is in its picture, and what it may not name."""
        if seat != SPY or state.stage != CLUE:
            return super().thoughts(state, mine, seat)
        return "\n".join([seen(mine), checked(state, mine), weighed(state, mine, _changed(state, mine))])

    def suspicion(self, state: SpyState, mine: Scene) -> list[float]:
        """Clues that are false weigh most, then clues that repeat an object, then vague ones."""
        false = super().suspicion(state, mine)
        repeated = _repeats(state, mine)
        told = [sum(map(informativeness, clues)) / max(1, len(clues)) for clues in _by_player(state)]
        return [
            100 * wrong + 10 * again + 1 - much
            for wrong, again, much in zip(false, repeated, told, strict=True)
        ]


def _safe(state: SpyState, mine: Scene) -> tuple[list[Object], list[Object]]:
    """What a spy may name: objects that nobody has named and that have probably not changed; objects already
    named."""
    confirmed = [thing for thing in mine.objects if named(thing) in state.clues]
    changed = _changed(state, mine)
    fresh = [thing for thing in mine.objects if thing not in confirmed and thing.name not in changed]
    return fresh, confirmed


def _changed(state: SpyState, mine: Scene) -> dict[str, str]:
    """The objects that may have changed: each with the first that others name, that is not in its own
    picture and that agrees with it in what a change leaves alone."""
    same = [name for name in ATTRIBUTES if name not in state.game.changes]
    own = {thing.name for thing in mine.objects}
    said = [clue.removeprefix(THERE_IS) for clue in state.clues if clue.startswith(THERE_IS)]
    others = [name for name in said if name not in own and len(name.split()) == len(ATTRIBUTES)]
    changed = dict[str, str]()
    for other in others:
        values = dict(zip(ATTRIBUTES, other.split(), strict=True))
        for thing in mine.objects:
            if all(getattr(thing, name) == values[name] for name in same):
                changed.setdefault(thing.name, other)
    return changed


def _repeats(state: SpyState, mine: Scene) -> list[int]:
    """How often each player named an object that had been named, while others had not."""
    names, known = {thing.name for thing in mine.objects}, set[str]()
    counts = [0] * len(state.table)
    for index, clue in enumerate(state.clues):
        named = {name for name in names if name in clue}
        counts[state.speaker(index)] += bool(named and named <= known and known < names)
        known |= named
    return counts


def _by_player(state: SpyState) -> list[list[str]]:
    players = len(state.table)
    return [state.clues[place::players] for place in range(players)]


AGREED = STOCK_CLUES[0]


@dataclass
class Blind(Bot):
    """Civilians all say one agreed sentence and vote for the player who does not.

    The spy repeats what was said most often, which is true of most pictures.
    """

    kind = "bot/blind"

    def choose(self, state: SpyState) -> str:
        if state.stage == CLUE:
            clues = Counter(filter(None, state.clues))
            return clues.most_common(1)[0][0] if clues and self.seat == SPY else AGREED
        deviations = [sum(clue != AGREED for clue in clues) for clues in _by_player(state)]
        return str(deviations.index(max(deviations)) + 1)
