"""Rule, a one-move question: name a valid move in a position reached by random play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Self

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption, Illegal
from ludens.core.forms import Places, Sentence
from ludens.core.game import Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import ReplyFormat, labelled, without_reasoning
from ludens.core.state import Legal, Question, State
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.boards import BoardView, TurnView, board_option, listing, number_range
from ludens.games.chess import sight
from ludens.games.open_spiel import SpielState

_ATTEMPTS = 1_000
"""Games tried for one position: cells of Minesweeper open many at a time, and games end early."""
_TWIN_ATTEMPTS = 20_000
_HOPELESS = 200
"""Attempts after which no twin is looked for if each shared more than a quarter of the first one's moves."""
_LONGEST = 400
"""Moves in a game that leads to a twin."""


bounds = partial(number_range, "rule", example="10-40")


@lru_cache(maxsize=64)
def board_game(board: str) -> Game:
    """The game whose rules are asked about: one seat at a time, named moves."""
    if board.split("?")[0] in ("rule", "perceive", "qa"):
        raise BadOption(f"rule needs a board game to ask about, not the question {board.split('?')[0]}.")
    game = make(board)
    state = game.start(0)
    if len(state.to_act) != 1 or state.legal(state.to_act[0]).is_text:
        raise BadOption(f"rule needs a game of turns with named moves; {board} is not one.")
    return game


@lru_cache(maxsize=64)
def board_view(board: str) -> BoardView | None:
    """The view of a game on a board of cells, which knows what is on them; None for other games."""
    view = board_game(board).view(RenderOptions())
    return view if isinstance(view, BoardView) else None


@lru_cache(maxsize=64)
def answers(board: str) -> frozenset[str]:
    """Every move that can be named on a board of cells, valid now or not; a pass is none of them."""
    view = board_view(board)
    return frozenset(view.answers()) if view else frozenset()


@lru_cache(maxsize=64)
def pointers(board: str) -> Mapping[str, str]:
    view = board_view(board)
    return {name: view.point([number]) for number, name in enumerate(view.cells())} if view else {}


def valid_moves(position: State) -> Legal:
    return position.legal(position.to_act[0])


def after_moves(board: str, seed: int, moves: str) -> State:
    """A position that is not over, after a number of random moves in this range.

    A game that ends before gives any of the positions in the range that it went through.
    """
    low, high = bounds("moves", moves)
    for attempt in range(_ATTEMPTS):
        choose, state = _opening(board, seed, attempt)
        passed = list[State]()
        for number in range(choose.between(low, high)):
            if number >= low:
                passed.append(state.clone())
            _make(state, choose.choice(_moves(state)))
            if state.over:
                break
        if state.over and passed:
            state = choose.choice(passed)
        if not state.over and _can_be_asked(board, state):
            return state
    raise BadOption(f"no position of {board} was found after {moves} moves; choose another range.")


def with_filled_cells(board: str, seed: int, filled: str) -> State:
    """A position with a number of filled cells in this range, after random moves none of which ends the game.

    Each number is as likely where every move fills one cell. In Minesweeper open cells count as filled, and
    a move that opens more cells than the range allows is the start of another game.
    """
    low, high = bounds("filled", filled)
    view = board_view(board)
    if view is None or high > view.rows * view.columns:
        raise BadOption(f"option 'filled' of rule does not fit {board}: it counts cells of a board.")
    for attempt in range(_ATTEMPTS):
        choose, state = _opening(board, seed, attempt)
        goal, cells, stuck = choose.between(low, high), _filled(view, state), False
        while cells < goal and not stuck:
            # A player who puts one piece needs as many moves as there are cells to fill.
            for _ in range(goal - cells if isinstance(view, TurnView) else 1):
                candidates = _moves(state)
                weights = [view.weight(move) if isinstance(move, str) else 1.0 for move in candidates]
                following = _random_move(state, candidates, choose, weights)
                stuck = following is None
                state = following or state
            cells = _filled(view, state)
        if goal <= cells <= high and _can_be_asked(board, state):
            return state
    raise BadOption(f"no position of {board} with {filled} filled cells was found; choose another range.")


def twin_position(board: str, first: State, seed: int, moves: str, filled: str) -> State:
    """A position in which the same seat is to move and no move is valid that is valid in the first one.

    Random moves as for any position, but those that are still valid in the first are made before others.
    """
    view = board_view(board) if filled else None
    low, high = bounds("filled", filled) if view else bounds("moves", moves)
    first_moves, own_notes = set(valid_moves(first)), _notes(board, first)
    least = len(first_moves)
    for attempt in range(_TWIN_ATTEMPTS):
        if attempt == _HOPELESS and least > len(first_moves) / 4:
            break
        choose, state = _opening(board, stream(seed, "twin").bits(), attempt)
        for number in range(_LONGEST):
            size = _filled(view, state) if view else number
            if size > high:
                break
            shared = [move for move in valid_moves(state) if move in first_moves]
            least = min(least, len(shared))
            askable = size >= low and state.to_act == first.to_act and _can_be_asked(board, state)
            if askable and not shared and _notes(board, state) == own_notes:
                return state
            following = _random_move(state, shared or valid_moves(state), choose)
            if following is None:
                break
            state = following
    raise BadOption(
        f"no twin of a position of {board} was found: every valid move of one must be invalid in the other; "
        "choose fuller boards."
    )


def _notes(board: str, position: State) -> str:
    """What the seat to move is told in words."""
    return board_game(board).view(RenderOptions()).notes(position, position.to_act[0])


def _random_move(
    state: State, moves: Sequence[str | int], choose: Stream, weights: Sequence[float] = ()
) -> State | None:
    """The state after one of these moves that does not end the game; None where every one does.

    Without weights each move is as likely.
    """
    untried, rest = list(moves), list(weights)
    while untried:
        place = choose.weighted(range(len(untried)), rest) if rest else choose.below(len(untried))
        following = state.clone()
        _make(following, untried.pop(place))
        del rest[place : place + 1]
        if not following.over:
            return following
    return None


def _opening(board: str, seed: int, attempt: int) -> tuple[Stream, State]:
    """The stream that chooses moves, and the start of a game; another game in every attempt."""
    choose = stream(seed, "position", *([attempt] if attempt else []))
    return choose, board_game(board).start(choose.fork("game").bits() if attempt else seed)


def _filled(view: BoardView, state: State) -> int:
    return sum(code != view.empty for row in view.matrix(state) for code in row)


def _moves(state: State) -> Sequence[str | int]:
    """The moves of the seat to act; by number in games of OpenSpiel, whose names take time to make."""
    return state.spiel.legal_actions() if isinstance(state, SpielState) else valid_moves(state)


def _make(state: State, move: str | int) -> None:
    if isinstance(state, SpielState) and isinstance(move, int):
        state.apply_number(move)
    else:
        state.apply({state.to_act[0]: str(move)})


def _can_be_asked(board: str, position: State) -> bool:
    """Whether some valid move is one of those that can be named: where a player must pass, none is."""
    nameable = answers(board)
    return not nameable or not nameable.isdisjoint(valid_moves(position))


SEAT = "player"


@dataclass(frozen=True)
class RuleQuestion(TwinGame["MoveQuestion"]):
    """Name one valid move; the game itself decides whether it is one.

    Seats: `player`, alone, for one move.
    Observation: a position of the board game named by the option `board`, reached by random legal play.
    Actions: one move, spelt as in that game.
    Rewards: 1 for a valid move, 0 for anything else.
    Facts: `choices` counts the valid moves, `chance` is their share of all moves that can be named.
    Twins: two positions with the same player to move and no valid move in common. Where every empty cell is a
    valid move both must be at least half full: choose `filled` accordingly.
    """

    name = "rule"
    seats = (SEAT,)
    version = 3
    view_class = "ludens.games.rule:RuleView"
    best = "bot/oracle"
    presets = {
        "easy": Preset(),
        "medium": Preset({"board": "reversi"}),
        "hard": Preset({"board": "chess"}),
        "paper": Preset(),
    }
    bots: ClassVar[Mapping[str, str]] = {"valid": "ludens.games.rule:Valid"}
    question = True

    board: str = board_option("the board game whose rules are to be followed, options included")
    moves: str = option("0-40", help="how many random moves lead to the position, as in 80-120")
    filled: str = option("", help="how many cells of the board are filled, as in 67-157; not used when empty")

    def __post_init__(self) -> None:
        super().__post_init__()
        board_game(self.board)
        bounds("moves", self.moves)
        if self.filled:
            bounds("filled", self.filled)

    def world(self, seed: int) -> MoveQuestion:
        if self.filled:
            position = with_filled_cells(self.board, seed, self.filled)
        else:
            position = after_moves(self.board, seed, self.moves)
        return MoveQuestion(self.board, position)

    def pair(self, seed: int) -> tuple[MoveQuestion, MoveQuestion]:
        first = self.world(seed)
        second = twin_position(self.board, first.position, seed, self.moves, self.filled)
        return first, MoveQuestion(self.board, second)


class MoveQuestion(Question):
    """A position, and the move that was named."""

    def __init__(self, board: str, position: State) -> None:
        super().__init__(SEAT, Legal.text(200))
        self.board = board
        self.position = position
        if isinstance(position, SpielState):
            position.last = {}  # the question shows a position, not a game

    @property
    def mover(self) -> str:
        return self.position.to_act[0]

    def solution(self, seat: str) -> str | None:
        return valid_moves(self.position).first

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.answer in valid_moves(self.position)) if self.answer else 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        valid, nameable = valid_moves(self.position), answers(self.board)
        return {
            "valid": bool(self.returns[SEAT]),
            "readable": bool(self.answer),
            "mover": self.mover,
            "choices": len(valid),
            "chance": len(nameable.intersection(valid)) / len(nameable) if nameable else 0.0,
        }

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        copy = self.clone()
        copy.position = self.position.resample_hidden(self.mover, random)
        return copy


@dataclass
class Valid(Agent):
    """Names any valid move, at random.

    With `reason` it lists valid moves first, in a fixed order, and then names any of them: each is a lesson,
    not only the one that chance has chosen, and a model that imitates it names the one it is surest of. In
    chess it first says where the king is, what is on the squares around it, line by line, and who gives
    check; and it moves the king only where nothing else can move: where a king may go depends on the whole
    board.
    """

    kind = "bot/valid"
    sees = "state"

    reason: bool = option(False, help="list valid moves before the answer, for imitation")

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, MoveQuestion)
        position, board = ask.state.position, ask.state.board
        moves = valid_moves(position)
        if not self.reason:
            move = moves.sample(self.random)
            return Reply(move, move)
        lines, candidates = [], list(moves)
        if isinstance(position, SpielState) and board.split("?")[0] == "chess":
            king_sight = sight(position.spiel.board().to_fen())
            lines.append(king_sight.text(pointers(board)))
            candidates = [move for move in moves if not move.startswith(king_sight.king)] or candidates
        move = self.random.choice(candidates)
        return Reply("\n".join([*lines, listing(moves, move), ask.format.write(move)]), move)


@dataclass(frozen=True)
class MoveFormat(ReplyFormat):
    """The board game's own format; an invalid move is still an answer, and a wrong one."""

    own: ReplyFormat
    moves: Legal

    def ask(self, legal: Legal) -> str:
        return "End your reply with one line: Action: <your move>"

    def write(self, action: str) -> str:
        return self.own.write(action)

    def read(self, text: str, legal: Legal) -> str:
        try:
            return self.own.read(text, self.moves)
        except Illegal:
            reply = without_reasoning(text)
            names = [name for name in labelled(reply, "Action") if name]
            return (names or [reply.strip()])[-1][: legal.text_limit]


class RuleView(View):
    """A question on top of the view of a board game."""

    smallest = 64
    """The view of the game that is shown decides."""

    def __init__(self, game: RuleQuestion, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_game(game.board).view(render, seed)

    def image(self, state: MoveQuestion, seat: str) -> Picture:
        return self._board.image(state.position, state.mover)

    def images(self, state: MoveQuestion, seat: str) -> tuple[Picture, ...]:
        return self._board.images(state.position, state.mover)

    def text(self, state: MoveQuestion, seat: str) -> str:
        return self._board.text(state.position, state.mover)

    def places(self, state: MoveQuestion, seat: str) -> Places:
        return self._clickable if seat in state.to_act else {}

    @cached_property
    def _clickable(self) -> Places:
        """Of every move that can be clicked on the board: which of them are valid is the question."""
        board = self._board
        return board.places_of(board.clickable()) if isinstance(board, BoardView) else {}

    def notes(self, state: MoveQuestion, seat: str) -> str:
        notes = self._board.notes(state.position, state.mover)
        return "\n\n".join(filter(None, (self._board.rules(state.mover), notes)))

    def brief(self, state: MoveQuestion, seat: str) -> str:
        """The board, who is to move, and what that seat is told in its game."""
        brief = self._board.brief(state.position, state.mover)
        notes = self._board.notes(state.position, state.mover) if brief is None else brief
        return f"{self._board.game.name} {state.mover} {notes}".strip()

    def values(self, seat: str) -> dict[str, object]:
        return {"game": self._board.game.name}

    def guess(self, state: MoveQuestion, seat: str, random: Stream) -> str:
        return self._board.guess(state.position, state.mover, random)

    def format(self, state: MoveQuestion, seat: str) -> ReplyFormat:
        return MoveFormat(self._board.format(state.position, state.mover), valid_moves(state.position))

    def form(self, state: MoveQuestion, seat: str) -> Sentence:
        """Places on the board and a field for words: the valid moves are not listed."""
        limit = state.legal(seat).text_limit or 0
        return Sentence(
            self.format(state, seat),
            limit,
            places=self.places(state, seat),
            prompt=self.templates.fill("person"),
            sends_places=True,
        )

    def label(self, action: str) -> str:
        return self._board.label(action)

    def notes_for_person(self, state: MoveQuestion, seat: str) -> str:
        notes = self._board.notes_for_person(state.position, state.mover)
        return "\n\n".join(filter(None, (self._board.rules_for_person(state.mover), notes)))
