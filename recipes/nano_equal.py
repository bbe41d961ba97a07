"""Whether a small model in onnxruntime replies as in plain numpy, and how long both take for a move.

    python recipes/nano_equal.py nano --prompts 10000 --seed 3000

Positions are those of games of random players, in every game that is installed. Milliseconds are CPU time of
one core, for a picture that was not seen before.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice
from statistics import median
from time import process_time

import ludens
from ludens.core.view import Picture
from ludens.models import model
from ludens.train.nano.inputs import NanoQuestion, main_picture, short_prompt
from ludens.train.nano.model import NanoModel, Sampler

BOARDS = ("tic_tac_toe", "reversi", "sudoku", "minesweeper", "gomoku", "chess")
QUESTIONS = ("perceive", "qa", "rule")
FIRST_MOVES = 12
"""One move of each game is taken from its first moves: this many."""
OWN = frozenset(("files", *QUESTIONS))
"""Games that need options."""


def games() -> list[str]:
    boards = [f"{question}?board={board}" for question in QUESTIONS for board in BOARDS]
    return [*(name for name in ludens.GAMES.names() if name not in OWN), *boards]


def positions(spec: str, seed: int) -> Iterator[tuple[ludens.Sample, Picture]]:
    """The questions to players of one game with their pictures, from a random move on."""
    game = ludens.make(spec)
    seats = {seat: ludens.agent("bot/random", game) for seat in game.seats}
    config = ludens.PlayConfig(horizon=FIRST_MOVES)
    episode = ludens.play_sync(game, seats, seed, config=config)
    for sample in islice(ludens.samples(episode, game), seed % FIRST_MOVES // len(game.seats), None):
        for picture in main_picture(sample.game, sample.ask, sample.pictures):
            yield sample, picture


def prompts(specs: Sequence[str], seed: int) -> Iterator[tuple[str, ludens.Sample, Picture]]:
    """One position of each game in turn, without end."""
    playable = list(specs)
    for number in count(seed):
        for spec in list(playable):
            try:
                position = next(positions(spec, number), None)
            except ludens.LudensError as error:
                print(f"{spec} is left out: {error}", flush=True)
                playable.remove(spec)
                continue
            if position is not None:
                yield spec, *position


def sampler(spec: str, device: str) -> Sampler:
    player = model(f"{spec}{'&' if '?' in spec else '?'}device={device}")
    if not isinstance(player, NanoModel):
        raise ludens.LudensError(f"{spec} is not a small model.")
    return player.sampler


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare a small model in onnxruntime with plain numpy.")
    parser.add_argument("model", help="nano, or nano/FOLDER")
    parser.add_argument("--device", action="append", help="onnx, int8; can be repeated; onnx by default")
    parser.add_argument("--games", nargs="+", help="specs of games; all by default")
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=3_000)
    parser.add_argument("--each", type=int, default=500, help="prompts after which figures are printed")
    options = parser.parse_args()
    devices = ["numpy", *(options.device or ["onnx"])]
    samplers = {device: sampler(options.model, device) for device in devices}
    equal: Counter[str] = Counter()
    by_game: dict[str, Counter[str]] = defaultdict(Counter)
    took: dict[str, list[float]] = defaultdict(list)
    for number, (spec, sample, picture) in enumerate(
        islice(prompts(options.games or games(), options.seed), options.prompts), 1
    ):
        replies = {}
        for device, sampler_of_device in samplers.items():
            began = process_time()
            ids = sampler_of_device.encode(short_prompt(sample.game, sample.ask, sampler_of_device.prompts))
            [reply] = sampler_of_device.sample([NanoQuestion(ids, [picture])])
            took[device].append(1000 * (process_time() - began))
            replies[device] = reply.completion_ids
        for device in devices:
            same = replies[device] == replies["numpy"]
            equal[device] += same
            by_game[spec][device] += same
        by_game[spec]["all"] += 1
        if number % options.each == 0 or number == options.prompts:
            figures = (f"{d}: {equal[d]} equal, median {median(took[d]):.0f} ms" for d in devices)
            print(f"{number} prompts of {len(by_game)} games; {'; '.join(figures)}", flush=True)
    for spec, counts in by_game.items():
        unlike = {device: counts["all"] - counts[device] for device in devices[1:]}
        if any(unlike.values()):
            print(f"{spec}: of {counts['all']}, not equal {unlike}")


if __name__ == "__main__":
    main()
