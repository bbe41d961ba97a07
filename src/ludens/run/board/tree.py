"""Tic-tac-toe against a player whose replies to every line are known in advance: a page needs no server.

    python -m ludens.run.board.tree       # ask nano about every position again, and write tic_tac_toe.json

A position is the board and the last move, because the picture frames it: nano may reply differently to the
same board after another move. Lines that lead to the same board by the same last move share a position.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import orjson

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.game import Game
from ludens.core.plain import plural
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.reply import read_action
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of

PLAYER, GAME = "nano", "tic_tac_toe"
FILE = Path(__file__).with_name("tic_tac_toe.json")
CELLS = tuple(f"{row}{column}" for row in "ABC" for column in "123")
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MARKS = "xo"
START = "." * 9 + "-"

Replies = Mapping[str, int]
"""Position (nine cells, then the cell of the last move) to the cell that the player takes."""


@dataclass(frozen=True)
class ReplyTree:
    """The replies of a player to every line of the other, by the seat it has."""

    player: str
    version: int
    """Of the game."""
    seats: Mapping[str, Replies]
    outcomes: Mapping[str, Mapping[str, int]]
    """Seat to how many lines it wins, draws and loses."""


@lru_cache(maxsize=1)
def read_tree() -> ReplyTree:
    """The replies that come with Ludens."""
    return ReplyTree(**orjson.loads(FILE.read_bytes()))


def advance(position: str, mark: str, cell: int) -> str:
    """The position after a move."""
    return position[:cell] + mark + position[cell + 1 : 9] + str(cell)


def winner(position: str) -> str:
    """The mark that has three in a line; empty for none."""
    return next((position[a] for a, b, c in LINES if position[a] == position[b] == position[c] != "."), "")


def is_over(position: str) -> bool:
    return bool(winner(position)) or "." not in position[:9]


def lines(seat: str, replies: Replies, position: str = START) -> Iterator[tuple[int, ...]]:
    """Every complete game against the player in this seat, as cells in order."""
    if is_over(position):
        yield ()
        return
    mark = MARKS[(9 - position[:9].count(".")) % 2]
    free = [cell for cell in range(9) if position[cell] == "."]
    for cell in [replies[position]] if mark == seat else free:
        for rest in lines(seat, replies, advance(position, mark, cell)):
            yield (cell, *rest)


def outcomes(seat: str, replies: Replies) -> dict[str, int]:
    """How many lines the player in this seat wins, draws and loses."""
    counts = Counter({"won": 0, "drawn": 0, "lost": 0})
    for line in lines(seat, replies):
        position = START
        for number, cell in enumerate(line):
            position = advance(position, MARKS[number % 2], cell)
        counts["won" if (won := winner(position)) == seat else "lost" if won else "drawn"] += 1
    return dict(counts)


async def grow(player: Agent, game: Game, seat: str) -> dict[str, int]:
    """Ask the player about every position that can arise while it has this seat, a layer at a time."""
    replies = dict[str, int]()
    layer: dict[str, State] = {START: game.start(0)}
    while layer:
        turn = next(iter(layer.values())).to_act[0]
        if turn == seat:
            answers = await asyncio.gather(*(reply_of(player, game, state, seat) for state in layer.values()))
            replies.update(zip(layer, answers, strict=True))
        following = dict[str, State]()
        for position, state in layer.items():
            free = [cell for cell in range(9) if position[cell] == "."]
            for cell in [replies[position]] if turn == seat else free:
                after = state.clone()
                after.apply({turn: CELLS[cell]})
                if not after.over:
                    following.setdefault(advance(position, turn, cell), after)
        layer = following
    return replies


async def reply_of(player: Agent, game: Game, state: State, seat: str) -> int:
    """The cell that a player takes; raises what is wrong with its reply."""
    seated = player.sit(game, seat, stream(0, "agent", seat))
    view = view_of(game, RenderOptions(), 0)
    ask = build_ask(view, state, seat, seated.sees, PlayConfig(), seated.history())
    reply = await seated.act(ask)
    action = reply.action or read_action(ask.format, reply.text, ask.legal)
    if (reason := state.refusal(seat, action)) is not None:
        raise ValueError(f"{player.spec} replies {reply.text!r}: {reason}")
    return CELLS.index(action)


async def _grow_all() -> ReplyTree:
    game = make(GAME)
    player = agent(PLAYER, game)
    try:
        seats = {seat: await grow(player, game, seat) for seat in game.seats}
    finally:
        await player.close()
    results = {seat: outcomes(seat, replies) for seat, replies in seats.items()}
    return ReplyTree(PLAYER, game.version, seats, results)


def main(_: Sequence[str] = ()) -> None:
    tree = asyncio.run(_grow_all())
    FILE.write_bytes(orjson.dumps(asdict(tree), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SORT_KEYS))
    positions = sum(len(replies) for replies in tree.seats.values())
    print(f"{FILE}: {plural(positions, 'position')}, {dict(tree.outcomes)}")


if __name__ == "__main__":
    main()
