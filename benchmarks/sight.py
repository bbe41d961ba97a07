"""How robust the sight of a small model is: cells of `perceive` read right after changes of the picture.

    python benchmarks/sight.py nano --episodes 50

Columns are boards. Rows are changes of Ludens' own pictures, and boards drawn by other libraries: Pillow,
matplotlib, and python-chess through cairosvg. Rows whose library is not installed are left out and named. No
training uses these renderers, and seeds begin at 0.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import MoveError
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.draw import Picture
from ludens.games.perceive import Perceive, board_of
from ludens.train.nano.inputs import NanoQuestion, short_prompt
from ludens.train.nano.numpy_player import NumpySampler
from ludens.train.nano.player import NUMPY_BATCH, SHIPPED
from ludens.train.nano.weights import StoredModel

BOARDS = ("tic_tac_toe", "reversi", "sudoku", "minesweeper", "gomoku", "chess")
SIDE, WHITE = 512, (255, 255, 255)
Change = Callable[[Image.Image], Image.Image]
Names = Sequence[Sequence[str]]


def framed(image: Image.Image, share: float = 0.1) -> Image.Image:
    """The picture in a white frame, whose width is this share of its side."""
    edge = round(share * image.width)
    whole = Image.new("RGB", (image.width + 2 * edge, image.height + 2 * edge), WHITE)
    whole.paste(image, (edge, edge))
    return whole.resize(image.size, Image.Resampling.LANCZOS)


def shifted(image: Image.Image, x: int, y: int) -> Image.Image:
    """The picture moved by x and y of 512 pixels; parts beyond its edge are lost."""
    whole = Image.new("RGB", image.size, WHITE)
    whole.paste(image, (x * image.width // SIDE, y * image.height // SIDE))
    return whole


def scaled(image: Image.Image, factor: float) -> Image.Image:
    """The picture shrunk or enlarged about its middle."""
    size = round(image.width * factor), round(image.height * factor)
    whole = Image.new("RGB", image.size, WHITE)
    middle = (image.width - size[0]) // 2, (image.height - size[1]) // 2
    whole.paste(image.resize(size, Image.Resampling.LANCZOS), middle)
    return whole


def stretched(image: Image.Image) -> Image.Image:
    """The picture on a sheet of 4 by 3."""
    whole = Image.new("RGB", (image.width * 4 // 3, image.height), WHITE)
    whole.paste(image, (image.width // 6, 0))
    return whole


def saved_as_jpeg(image: Image.Image, quality: int = 30) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


def noisy(image: Image.Image, spread: float = 15.0) -> Image.Image:
    pixels = np.asarray(image, np.float32) + np.random.default_rng(0).normal(
        0, spread, (*image.size[::-1], 3)
    )
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


CHANGES: dict[str, Change] = {
    "as drawn": lambda image: image,
    "white frame of 10%": framed,
    "shift of 32 px right": lambda image: shifted(image, 32, 0),
    "shift of 32 px down": lambda image: shifted(image, 0, 32),
    "shift of 32 px left and up": lambda image: shifted(image, -32, -32),
    "5% smaller": lambda image: scaled(image, 0.95),
    "5% larger": lambda image: scaled(image, 1.05),
    "4:3 sheet": stretched,
    "JPEG, quality 30": saved_as_jpeg,
    "blur": lambda image: image.filter(ImageFilter.GaussianBlur(2)),
    "noise": noisy,
}


def by_pillow(board: str, names: Names) -> Image.Image:
    """A plain board: black lines on white, discs, letters and digits of Pillow's own font."""
    rows, columns = len(names), len(names[0])
    image = Image.new("RGB", (SIDE, SIDE), WHITE)
    pen, cell = ImageDraw.Draw(image), (SIDE - 40) / max(rows, columns)
    font = ImageFont.load_default(cell * 0.7)
    for row, line in enumerate(names):
        for column, name in enumerate(line):
            x, y = 20 + column * cell, 20 + row * cell
            fill = (170, 170, 170) if name == "hidden" else WHITE
            pen.rectangle((x, y, x + cell, y + cell), fill, (0, 0, 0))
            if name in ("black", "white"):
                edge = cell * 0.12
                box = (x + edge, y + edge, x + cell - edge, y + cell - edge)
                pen.ellipse(box, (0, 0, 0) if name == "black" else WHITE, (0, 0, 0), 2)
            elif sign := _sign(name):
                pen.text((x + cell / 2, y + cell / 2), sign, (0, 0, 0), font, "mm")
    return image


def by_matplotlib(board: str, names: Names) -> Image.Image:
    """A board of patches and texts, as a notebook would draw it."""
    import_module("matplotlib").use("Agg")
    plt = import_module("matplotlib.pyplot")

    rows, columns = len(names), len(names[0])
    figure, axes = plt.subplots(figsize=(5.12, 5.12), dpi=100)
    checked = board in ("chess",)
    for row, line in enumerate(names):
        for column, name in enumerate(line):
            ground = ("#f0d9b5", "#b58863")[(row + column) % 2] if checked else "#ffffff"
            ground = "#bbbbbb" if name == "hidden" else ground
            axes.add_patch(plt.Rectangle((column, rows - 1 - row), 1, 1, facecolor=ground, edgecolor="black"))
            at = column + 0.5, rows - 0.5 - row
            if name in ("black", "white"):
                axes.add_patch(plt.Circle(at, 0.4, facecolor=name, edgecolor="black"))
            elif board == "chess" and name != "empty":
                axes.text(*at, _chessman(name), ha="center", va="center", fontsize=280 / rows * 0.9)
            elif sign := _sign(name):
                axes.text(*at, sign, ha="center", va="center", fontsize=230 / rows * 0.8)
    axes.set_xlim(-0.1, columns + 0.1)
    axes.set_ylim(-0.1, rows + 0.1)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.subplots_adjust(0.02, 0.02, 0.98, 0.98)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()
    plt.close(figure)
    return Image.fromarray(pixels)


def by_python_chess(board: str, names: Names) -> Image.Image:
    cairosvg, chess, svg = map(import_module, ("cairosvg", "chess", "chess.svg"))
    position = chess.Board(None)
    for row, line in enumerate(names):
        for column, name in enumerate(line):
            if name != "empty":
                colour, kind = name.split()
                piece = chess.Piece(chess.PIECE_NAMES.index(kind), colour == "white")
                position.set_piece_at(chess.square(column, 7 - row), piece)
    png = cairosvg.svg2png(svg.board(position, size=SIDE).encode())
    return Image.open(io.BytesIO(png)).convert("RGB")


def _sign(name: str) -> str:
    """The text in a cell; empty for a blank one."""
    if " " in name and name not in ("open and blank", "a mine"):
        return _chessman(name)
    return {"empty": "", "hidden": "", "open and blank": "", "a mine": "*"}.get(name, name)


def _chessman(name: str) -> str:
    colour, kind = name.split()
    number = ("king", "queen", "rook", "bishop", "knight", "pawn").index(kind)
    return chr((0x2654 if colour == "white" else 0x265A) + number)


RENDERERS: dict[str, tuple[Callable[[str, Names], Image.Image], tuple[str, ...], tuple[str, ...]]] = {
    "Pillow": (by_pillow, (), tuple(board for board in BOARDS if board != "chess")),
    "matplotlib": (by_matplotlib, ("matplotlib",), BOARDS),
    "python-chess": (by_python_chess, ("chess", "cairosvg"), ("chess",)),
}
"""How a board is drawn, what that needs, and which boards can be drawn so: Pillow's font has no chessmen."""


def questions(board: str, seeds: range) -> Sequence[tuple[str, Image.Image, Any, Names]]:
    """Prompt, picture, state and names of the cells of each question."""
    game = make(f"perceive?board={board}")
    assert isinstance(game, Perceive)
    codes, all_questions = board_of(board, RenderOptions()).codes, []
    for seed in seeds:
        state, view = game.start(seed), view_of(game, RenderOptions(size=SIDE), seed)
        ask = build_ask(view, state, "viewer", "image", PlayConfig())
        names = [[codes[code] for code in row] for row in state.matrix]
        picture = Image.fromarray(ask.observation.images[0].rgb())
        all_questions.append((short_prompt("perceive", ask), picture, state, names))
    return all_questions


def read_share(
    sampler: NumpySampler, board: str, prompts: Sequence[str], pictures: Sequence[Any], states: Any
) -> float:
    """The share of cells that are right; a reply without a matrix has none."""
    pairs = zip(prompts, pictures, strict=True)
    replies = sampler.sample([NanoQuestion(sampler.encode(prompt), [shown]) for prompt, shown in pairs])
    view = view_of(make(f"perceive?board={board}"), RenderOptions(), 0)
    right = total = 0
    for tokens, state in zip(replies, states, strict=True):
        truth = [code for row in state.matrix for code in row]
        total += len(truth)
        try:
            text = sampler.vocabulary.decode(tokens.completion_ids)
            answer = json.loads(view.format(state, "viewer").read(text, state.legal("viewer")))
            right += sum(a == b for a, b in zip(truth, (c for row in answer for c in row), strict=True))
        except MoveError:
            pass
    return right / total


def table(
    folder: Path, episodes: int, boards: Sequence[str] = BOARDS, rows: Sequence[str] = ()
) -> dict[str, dict[str, float]]:
    """The share of cells that are right, by row and board; all rows by default."""
    sampler = NumpySampler(folder, 0.0, StoredModel.read(folder).max_tokens, NUMPY_BATCH)
    results: dict[str, dict[str, float]] = {}
    for board in boards:
        prompts, pictures, states, names = zip(*questions(board, range(episodes)), strict=True)
        images_of_rows: dict[str, list[Image.Image]] = {}
        for name, change in CHANGES.items():
            if not rows or name in rows:
                images_of_rows[name] = [change(picture) for picture in pictures]
        for name, (draw, modules, drawable) in RENDERERS.items():
            if (not rows or name in rows) and board in drawable and all(map(find_spec, modules)):
                images_of_rows[name] = [draw(board, cells) for cells in names]
        for name, images in images_of_rows.items():
            in_colour = [Picture(np.asarray(image.convert("RGB"))) for image in images]
            results.setdefault(name, {})[board] = read_share(sampler, board, prompts, in_colour, states)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="nano", help="nano, or nano/FOLDER")
    parser.add_argument("--episodes", type=int, default=50)
    options = parser.parse_args()
    folder = Path(options.model.partition("/")[2]) if "/" in options.model else SHIPPED
    results = table(folder, options.episodes)
    print(f"| change or renderer | {' | '.join(BOARDS)} |")
    print(f"| --- |{' --- |' * len(BOARDS)}")
    for name, shares in results.items():
        cells = (f"{100 * shares[board]:.1f}" if board in shares else "–" for board in BOARDS)
        print(f"| {name} | {' | '.join(cells)} |")
    for name, (_, modules, _) in RENDERERS.items():
        if missing_modules := [module for module in modules if not find_spec(module)]:
            print(f"{name} is left out: {', '.join(missing_modules)} not installed.")


if __name__ == "__main__":
    main()
