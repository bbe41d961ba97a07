"""The paper's tables 2 to 4 and 6 to 8, one row per model, in our units; and our deviations."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ludens.run.task import Published

_FOLDER = Path(__file__).parent / "published"
_SHARES = frozenset({"perceive", "qa", "rule", "density", "variety"})


@lru_cache(maxsize=16)
def table(name: str) -> Mapping[str, Mapping[str, float]]:
    """A table as printed: model to column to value."""
    found: Mapping[str, Mapping[str, float]] = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    return found


def rows(
    source: str, *names: str, nobody_played: Sequence[str] = (), without: Sequence[str] = ()
) -> tuple[Published, ...]:
    """The rows of several tables merged, under our task names.

    Args:
        source: What tables say these numbers come from.
        names: Of the tables, which are also what our task names begin with.
        nobody_played: Tasks in which the paper says that every model, though not Random, scored 0.
        without: Tasks that are not played as in the paper.
    """
    merged: dict[str, dict[str, float]] = {}
    for name in names:
        unit = 100 if name in _SHARES else 1
        for model, values in table(name).items():
            row = merged.setdefault(model, {})
            found = {f"{name}/{column}": round(unit * value, 6) for column, value in values.items()}
            row |= {task: value for task, value in found.items() if task not in without}
    for model, row in merged.items():
        if model != "Random":
            row |= dict.fromkeys(nobody_played, 0.0)
    return tuple(Published(source, model, values) for model, values in merged.items())


DEVIATIONS = (
    "Questions: options are drawn first, a random one is made true, and the position is built to agree, "
    "so that blind players cannot beat chance. In the released code 59% of the questions about "
    "tic-tac-toe and 53% of those about Minesweeper can be answered blind.",
    "Questions: options are near the truth and distinct; yes or no and which is more have two options, "
    "what is in a cell of three states has three, all others four. The released code pads with odd "
    "options.",
    "Questions: which of two is more is never asked for a tie.",
    "Questions: the prompt has three worked examples, as the paper says and its code omits; they are "
    "random for every question, so that their letters have no bias.",
    "Answers: a letter alone or in a last line 'Answer: B', with or without the text of its option; prose "
    "that mentions a letter is not read. Each question has one try; what cannot be read is wrong.",
    "Minesweeper boards of perceive and qa are partly open, with numbers that fit the mines; the released "
    "code shows them covered. A game is won only when every cell without a mine is open.",
    "Gomoku columns are 1 to 15 in picture, words and reader; 'H11' is not read as 'H1'.",
    "Chess moves are read as e2e4 or in standard notation, castling and promotion included; the released "
    "code rejects castling and compares spellings, and table 4 has 0 for every model.",
    "A move is read where it was asked for, not from the first coordinate that a reply mentions.",
    "Positions of rule are reached by random legal moves, and either side may be to move. They are about "
    "as full as in the released code: Gomoku 67 to 157 stones (30 to 70%), Minesweeper 26 to 38 open cells, "
    "Reversi 10 to 56 discs, tic-tac-toe 4 to 8 marks, which gives the paper's random baseline (the "
    "released code has 1 to 8), chess after 80 to 160 moves of either side (5 to 55 in the released code, "
    "where one fixed pawn move is valid in a third of the positions). There, boards of Reversi and Gomoku "
    "are scattered discs that play cannot lead to, and opened cells of Minesweeper may be mines. "
    "positions=released has its numbers in tic-tac-toe and chess, positions=any 0 to 40 random moves, 60 in "
    "Reversi and 220 in Gomoku.",
    "No position of rule is shown in which the player can only pass; the rules of Reversi say how to pass.",
    "Boards of perceive hold any number of pieces; in the released code tic-tac-toe has three marks of "
    "each kind, Gomoku is 30 to 70% full, half of Minesweeper is open, and chess comes from 5 to 55 "
    "random moves. Formula 5 gives an answer of empty cells alone 50 to 75%, so balanced accuracy and the "
    "share of occupied cells stand beside it.",
    "Prompts are our own. The paper's prompt for whole games asks for an observation and a strategy "
    "before the move: that is --style cot here. Legal moves are not listed, as in the paper.",
    "Three invalid replies in a row lose the game; the released code adds them up over the whole game. "
    "The paper's random baseline of table 8 ends at the first invalid move, ours at the third in a row.",
    "After an invalid reply a player is told its kind (unreadable, several moves, not legal) and nothing "
    "about the board; the released code asks the same question again without a word.",
    "Whole games: the paper's tables have no score for them but successful steps (table 8) and say that "
    "no model wins. We count games unbeaten (won or drawn, solved where there is no opponent) and valid "
    "moves. The released code adds points instead: 2 or 10 a move, more for discs, captured pieces or "
    "opened cells, and 20 to 1,000 for the result.",
    "Tic-tac-toe: X moves first, and the model is X; in the paper O begins, and the model is O.",
    "Reversi's opponent is alpha-beta of depth 3; in the released one a sign is inverted, and it loses to "
    "random play.",
    "Chess's opponent is our own alpha-beta of depth 2; the paper names Sunfish, and the released code "
    "plays Stockfish with a second per move, which is opponent=bot/uci?seconds=1 here.",
    "Gomoku's opponent is our own search; the released one looks one move ahead.",
    "Sudoku puzzles have exactly one solution; a digit that the rules allow stays even where it is wrong, "
    "and the game is lost once a cell has no digit left.",
    "Ratings are computed from the paper's formulas; nine cells of its table 5 do not follow from them. "
    "The stars as printed are there as ratings=paper.",
    "The sweep over kinds of pieces shows as many pieces on the same squares at every step, only of fewer "
    "kinds; the paper does not say how many it shows.",
)
