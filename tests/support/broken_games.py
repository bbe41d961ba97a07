"""Deliberately broken games: each breaks one rule of the contract, and names it.

Every class below is the sound `Pebbles` or `Talk` with one thing wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any, ClassVar, Self, cast

import numpy

from ludens.core.episode import Move
from ludens.core.errors import Unreadable
from ludens.core.game import DecisionScore, Game, GameStage
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.reply import ActionFormat, ReplyFormat
from ludens.core.state import Legal, State
from ludens.core.view import Picture, RenderOptions, View
from tests.support.pebbles import FlatPicture, Pebbles, PebblesState, PebblesView, Talk, TalkState

BROKEN: list[tuple[str, Game]] = []
"""The rule each game breaks, and the game."""

Broken = type[Game]


def breaks(rule: str) -> Callable[[Broken], Broken]:
    """Note which rule a game breaks."""

    def note(game: Broken) -> Broken:
        BROKEN.append((rule, dataclass(frozen=True)(game)()))
        return game

    return note


class Other(Pebbles):
    """Pebbles with another state or view."""

    state: ClassVar[type[PebblesState]] = PebblesState
    render: ClassVar[type[PebblesView]] = PebblesView

    def start(self, seed: int) -> State:
        sound = cast(PebblesState, super().start(seed))
        return self.state(self, sound.cards, sound.wind)

    def view(self, render: RenderOptions, seed: int = 0) -> View:
        return self.render(self, render, seed)


@breaks("game is described")
class VersionInWords(Pebbles):
    version = cast(int, "1.0")


@breaks("game is described")
class OneSeatTwice(Pebbles):
    @property
    def seats(self) -> tuple[str, ...]:
        return ("left", "left")


@breaks("rules are complete")
class UnfilledRules(Other):
    class render(PebblesView):
        def rules(self, seat: str) -> str:
            return "Take up to $most pebbles."


@breaks("same seed same episode")
class RemembersEarlierEpisodes(Pebbles):
    episodes: ClassVar = count()

    def start(self, seed: int) -> State:
        return super().start(seed + next(self.episodes))


@breaks("a seed decides only what is declared")
class DealsInSecret(Pebbles):
    @property
    def seeded(self) -> bool:
        return False


@breaks("to act and legal agree")
class MayMoveOutOfTurn(Other):
    class state(PebblesState):
        def legal(self, seat: str) -> Legal:
            return Legal(["take 1"] if self.to_act else [])


@breaks("to act and legal agree")
class LegalIsAList(Other):
    class state(PebblesState):
        def legal(self, seat: str) -> Legal:
            return cast(Legal, list(super().legal(seat)))


@breaks("to act and legal agree")
class StuckInTurn(Other):
    class state(PebblesState):
        @property
        def to_act(self) -> tuple[str, ...]:
            return super().to_act or ("left",)


@breaks("games end")
class EndlessHeap(Other):
    class state(PebblesState):
        def _advance(self, actions: Mapping[str, str]) -> None:
            self.mover = 1 - self.mover


@breaks("facts are plain json")
class FactsWithTuples(Other):
    class state(PebblesState):
        @property
        def facts(self) -> dict[str, Any]:
            return {"taken": tuple(self.taken.values())}


@breaks("facts are plain json")
class FactsWithSets(Other):
    class state(PebblesState):
        @property
        def facts(self) -> dict[str, Any]:
            return {"taken": set(self.taken.values())}


@breaks("returns are finite")
class DividesByNothing(Other):
    class state(PebblesState):
        @property
        def returns(self) -> dict[str, float]:
            return {seat: self.heap / taken if taken else float("nan") for seat, taken in self.taken.items()}


@breaks("returns are finite")
class LoserUnpaid(Other):
    class state(PebblesState):
        def forfeited(self, seat: str) -> dict[str, float]:
            return {seat: -1.0}


@breaks("clones are independent")
class SharedHauls(Other):
    class state(PebblesState):
        def clone(self) -> Self:
            copy = super().clone()
            copy.taken = self.taken
            return copy


@breaks("clones are independent")
class SharedWind(Other):
    class state(PebblesState):
        def clone(self) -> Self:
            copy = super().clone()
            copy.wind = self.wind
            return copy


@breaks("legal actions apply")
class PromisesTooMuch(Other):
    class state(PebblesState):
        def legal(self, seat: str) -> Legal:
            return Legal([*legal, "take 9"]) if (legal := super().legal(seat)) else legal

        def refusal(self, seat: str, action: str) -> str | None:
            return "nobody can carry nine." if action == "take 9" else super().refusal(seat, action)


@breaks("legal actions apply")
class LooseSpaces(Other):
    class state(PebblesState):
        def legal(self, seat: str) -> Legal:
            return Legal(f"{action} " for action in super().legal(seat))


@breaks("illegal actions are refused")
class TakesAnything(Other):
    class state(PebblesState):
        def refusal(self, seat: str, action: str) -> str | None:
            return None

        def _advance(self, actions: Mapping[str, str]) -> None:
            [(seat, action)] = actions.items()
            super()._advance({seat: action if action in self.legal(seat) else "take 1"})


@breaks("illegal actions are refused")
class ActsBeforeItChecks(Other):
    class state(PebblesState):
        def apply(self, actions: Mapping[str, str]) -> None:
            self.taken["left"] += 1
            super().apply(actions)
            self.taken["left"] -= 1


@breaks("any text is handled")
class CannotBearNumbers(Talk):
    class state(TalkState):
        def _advance(self, actions: Mapping[str, str]) -> None:
            super()._advance(actions)
            int("".join(c for said in actions.values() for c in said if c.isnumeric()) or "0")

    def start(self, seed: int) -> State:
        return self.state(self, [])


@breaks("any text is handled")
class NoSilence(Talk):
    class state(TalkState):
        def refusal(self, seat: str, action: str) -> str | None:
            return super().refusal(seat, action) if action else "say something."

    def start(self, seed: int) -> State:
        return self.state(self, [])


@breaks("global randomness is not used")
class SeedsTheWorld(Pebbles):
    def start(self, seed: int) -> State:
        random.seed(0)
        return super().start(seed)


@breaks("global randomness is not used")
class DrawsForThePicture(Other):
    class render(PebblesView):
        def image(self, state: PebblesState, seat: str) -> FlatPicture:
            numpy.random.rand()
            return super().image(state, seat)


@breaks("every seat has a view")
class NothingToSeeWhenOver(Other):
    class render(PebblesView):
        def text(self, state: PebblesState, seat: str) -> str:
            return "" if state.over else super().text(state, seat)


@breaks("every seat has a view")
class BlindOutOfTurn(Other):
    class render(PebblesView):
        def images(self, state: PebblesState, seat: str) -> tuple[Picture, ...]:
            return super().images(state, seat) if seat in state.to_act else ()


@breaks("pictures have the requested size")
class OneSizeForAll(Other):
    class render(PebblesView):
        def image(self, state: PebblesState, seat: str) -> FlatPicture:
            return FlatPicture(self.shown(state, seat), 512)


@breaks("rendering has no side effects")
class CountsLooks(Other):
    class render(PebblesView):
        looks: ClassVar = count()

        def image(self, state: PebblesState, seat: str) -> FlatPicture:
            return FlatPicture(f"{self.shown(state, seat)} {next(self.looks)}", self.render.size)


@breaks("rendering has no side effects")
class TouchesWhatItShows(Other):
    class render(PebblesView):
        def image(self, state: PebblesState, seat: str) -> FlatPicture:
            state.taken["left"] += state.heap == 5
            return FlatPicture(f"{state.heap}", self.render.size)


@breaks("rendering has no side effects")
class RulesOfOneSeed(Other):
    class render(PebblesView):
        def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
            super().__init__(game, render, seed)
            self.code = seed + 2

        def rules(self, seat: str) -> str:
            return f"{super().rules(seat)} A pebble is written as {self.code}."


@breaks("picture and text agree")
class TerseTwin(Other):
    class render(PebblesView):
        def text(self, state: PebblesState, seat: str) -> str:
            return f"{state.heap} pebbles"


@breaks("picture and text agree")
class TalkativeTwin(Other):
    class render(PebblesView):
        def image(self, state: PebblesState, seat: str) -> FlatPicture:
            return FlatPicture(f"{state.heap} pebbles", self.render.size)


class Leaky(Other):
    """A view through which the other seat's card can be seen."""


@breaks("hidden information stays hidden")
class CardsInText(Leaky):
    class render(PebblesView):
        def shown(self, state: PebblesState, seat: str) -> str:
            return f"{super().shown(state, seat)} {state.cards}"


@breaks("hidden information stays hidden")
class CardsInNotes(Leaky):
    class render(PebblesView):
        def notes(self, state: PebblesState, seat: str) -> str:
            return f"the highest card is {max(state.cards.values())}"


@breaks("hidden information stays hidden")
class CardsInTheBrief(Leaky):
    class render(PebblesView):
        def brief(self, state: PebblesState, seat: str) -> str:
            return f"{state.cards}"


@breaks("hidden information stays hidden")
class CardsInLegalActions(Leaky):
    class state(PebblesState):
        def legal(self, seat: str) -> Legal:
            legal = super().legal(seat)
            return Legal(legal[::-1]) if self.cards["left"] > self.cards["right"] else legal


@breaks("hidden information stays hidden")
class CardsInTheInstruction(Leaky):
    class render(PebblesView):
        def format(self, state: PebblesState, seat: str) -> ReplyFormat:
            return ActionFormat("Action" if state.cards["left"] > 4 else "Move")


@breaks("hidden information stays hidden")
class NothingReimagined(Other):
    class state(PebblesState):
        def resample_hidden(self, seat: str, random: Stream) -> Self:
            return self.clone()


class Perfect(Other):
    """Pebbles that declares no hidden information and resamples nothing."""

    imperfect_information = False

    class state(PebblesState):
        def resample_hidden(self, seat: str, random: Stream) -> Self:
            return self.clone()


@breaks("random future stays hidden")
class ShowsTheFuture(Perfect):
    class render(PebblesView):
        def shown(self, state: PebblesState, seat: str) -> str:
            return f"{super().shown(state, seat)}; next wind: {state.wind.clone().below(1000)}"


@breaks("random future stays hidden")
class ShowsTheFutureOfANestedStream(Perfect):
    class state(PebblesState):
        def __init__(self, game: Pebbles, cards: dict[str, int], wind: Stream) -> None:
            super().__init__(game, cards, wind)
            self.weather = SimpleNamespace(wind=wind)

        def clone(self) -> Self:
            copy = super().clone()
            copy.weather = SimpleNamespace(wind=copy.wind)
            return copy

        def resample_hidden(self, seat: str, random: Stream) -> Self:
            return self.clone()

    class render(PebblesView):
        def shown(self, state: Any, seat: str) -> str:
            return f"{super().shown(state, seat)}; next wind: {state.weather.wind.clone().below(1000)}"


@breaks("random future stays hidden")
class LegalActionsOfTheFuture(Perfect):
    class state(Perfect.state):
        def legal(self, seat: str) -> Legal:
            legal = super().legal(seat)
            return Legal(legal[:1]) if self.wind.clone().below(2) else legal


@breaks("reader accepts legal actions")
class ReaderOfAnotherGame(Other):
    class render(PebblesView):
        def format(self, state: PebblesState, seat: str) -> ReplyFormat:
            class Shouted(ActionFormat):
                def write(self, action: str) -> str:
                    return f"I shout {action.upper()}!"

            return Shouted()


@breaks("reader rejects everything else")
class ReaderOfMentions(Other):
    class render(PebblesView):
        def format(self, state: PebblesState, seat: str) -> ReplyFormat:
            class Anywhere(ActionFormat):
                def read(self, text: str, legal: Legal) -> str:
                    if legal.is_text:
                        return text
                    places = {text.rfind(action): action for action in legal if action in text}
                    if not places:
                        raise Unreadable("no action was found.")
                    return places[max(places)]

            return Anywhere()


@breaks("episode survives json")
class OptionOfTwo(Pebbles):
    pair: tuple[int, int] = option((1, 2), help="not a JSON value")


@breaks("options rebuild the game")
class UndeclaredOption(Pebbles):
    luck: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "luck", id(self))


@breaks("replay renders the same pictures")
class CountsQuestions(Other):
    class state(PebblesState):
        asked = 0

        def refusal(self, seat: str, action: str) -> str | None:
            reason = super().refusal(seat, action)
            self.asked += reason is None
            return reason

        @property
        def facts(self) -> dict[str, Any]:
            return {**super().facts, "asked": self.asked}

        def clone(self) -> Self:
            copy = super().clone()
            copy.asked = self.asked
            return copy


@breaks("roles fallbacks and rewards are valid")
class ForgetsARewardForTheLastMove(Other):
    def rewards(self, state: State, moves: Sequence[Move]) -> list[float]:
        return super().rewards(state, moves)[:-1]


@breaks("stages are declared")
class HasAStageThatIsNotDeclared(Other):
    stages = (GameStage("opening"),)

    class state(PebblesState):
        @property
        def stage(self) -> str:
            return "opening" if self.heap > 5 else "end"


@breaks("stages are declared")
class ScoresDecisionsAboveOne(Other):
    stages = (GameStage("", decision=True),)

    def decision_score(self, state: State) -> DecisionScore:
        return DecisionScore(2.0)


@breaks("roles fallbacks and rewards are valid")
class FallsBackToAnIllegalAction(Other):
    class state(PebblesState):
        def fallback(self, seat: str) -> str | None:
            return "take 99"


@breaks("every legal action is listed")
class ForgetsAnAction(Pebbles):
    def actions(self, seat: str) -> tuple[str, ...]:
        return ("take 1", "take 2")


@breaks("every legal action is listed")
class ListsAnActionTwice(Pebbles):
    def actions(self, seat: str) -> tuple[str, ...]:
        return (*super().actions(seat), "take 1")


@breaks("every legal action is listed")
class ListsInAnotherOrder(Pebbles):
    def actions(self, seat: str) -> tuple[str, ...]:
        self._calls.append(seat)
        names, first = super().actions(seat), len(self._calls) % 3
        return names[first:] + names[:first]

    _calls: ClassVar[list[str]] = []


@breaks("every legal action is listed")
class ListsNothing(Pebbles):
    def actions(self, seat: str) -> tuple[str, ...]:
        return cast(tuple[str, ...], None)


@breaks("every legal action is listed")
class ListsTexts(Talk):
    def actions(self, seat: str) -> tuple[str, ...]:
        return ("hello",)
