"""Votes of a player as the only one of its kind at a table of bots, in the spy game on flat scenes.

    python recipes/spy_votes.py nano 'nano?blind=true' bot/blunt --games 60

Where all civilians are the same model, its clues differ from those of the spy, and votes can go by that. Bots
say the same kind of clue as the spy, so that a right vote needs the picture.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from itertools import product

import ludens

VOTER = "civilian_1"
BOTS = "bot/blunt", "bot/clever"
ROUNDS = 1, 2


async def votes(player: str, bot: str, rounds: int, games: int) -> Counter[str]:
    """How many votes are `right`, `n/a` and `wrong`, over the seeds from 0."""
    game = ludens.make("spy", rounds=rounds)
    voter = ludens.agent(player, game)

    async def one(seed: int) -> str:
        seated = {seat: ludens.agent(bot, game) for seat in game.seats} | {VOTER: voter}
        episode = await ludens.play(game, seated, seed, render=ludens.RenderOptions(size=256))
        vote = str(episode.facts["votes"][VOTER])
        if vote == "n/a":
            return vote
        return "right" if vote == str(episode.facts["spy"]) else "wrong"

    return Counter(await asyncio.gather(*map(one, range(games))))


def main() -> None:
    parser = argparse.ArgumentParser(description="Votes of a player at a table of bots.")
    parser.add_argument("players", nargs="+", help="specs of players")
    parser.add_argument("--games", type=int, default=60, help="games of each kind")
    options = parser.parse_args()
    print("| player | bots | rounds | right | n/a | wrong |\n| --- | --- | --- | --- | --- | --- |")
    for player, bot, rounds in product(options.players, BOTS, ROUNDS):
        try:
            counts_of_votes = asyncio.run(votes(player, bot, rounds, options.games))
        except ludens.LudensError as error:
            parser.error(str(error))
        counts = " | ".join(str(counts_of_votes[kind]) for kind in ("right", "n/a", "wrong"))
        print(f"| {player} | {bot} | {rounds} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
