"""`ludens bench frames`: successive pictures of a game, most of whose pixels are as they were a move ago.

It also measures older checkouts (`--against`): where a name has changed since, the older one is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import Row, rate
from ludens.core import view as views
from ludens.core.random import stream
from ludens.core.registry import make

TARGETS = {"tic_tac_toe": 5_000.0, "breakthrough": 2_500.0, "chess": 1_880.0, "coin_dilemma": 1_830.0}
"""Pictures per second on one core of 3 GHz, with isal."""
RGB_MS = 0.2


def rows(seconds: float) -> Iterator[Row]:
    """All pictures of random games at 512x512: drawn, hashed, encoded, base64'd, per second of a core."""
    for name, target in TARGETS.items():
        yield Row(f"{name}: successive frames", rate(frames(name), seconds), "images/s", target)
    game = make("tic_tac_toe")
    picture = game.view(_render_options(256)).image(game.start(0), "x")

    def convert(seed: int) -> int:
        picture.rgb()
        return 1

    yield Row("true colours of 256x256", 1000 / rate(convert, seconds), "ms", RGB_MS)


def frames(name: str) -> Callable[[int], int]:
    """One random game in which every seat is shown its picture before it acts; counts pictures."""
    game = make(name)
    view = game.view(_render_options(512))

    def work(seed: int) -> int:
        state, random, looks = game.start(seed), stream(seed, "bench"), 0
        attribute = "to_act" if hasattr(state, "to_act") else "turn"
        while seats := getattr(state, attribute):
            actions = {}
            for seat in seats:
                picture = view.image(state, seat)
                assert picture.hash
                picture.data_uri()
                looks += 1
                actions[seat] = random.choice(list(state.legal(seat)))
            state.apply(actions)
        return looks

    for seed in range(3):  # sprites are painted once
        work(-1 - seed)
    return work


def _render_options(size: int) -> views.RenderOptions:
    options: type[views.RenderOptions] = getattr(views, "RenderOptions", None) or vars(views)["Look"]
    return options(size=size)
