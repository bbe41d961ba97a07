"""Pixels at the places of a picture, and states to look at them in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import ludens
from ludens.core.state import State
from ludens.core.view import Picture, View

LOOKS = [("classic", 512), ("contrast", 300), ("plain", 256), ("random", 384)]

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def part(pixels: Any, place: ludens.Place, inner: float = 1.0) -> Any:
    """The pixels at a place, or of the part around its middle."""
    x, y, w, h = place.pixels(pixels.shape[1], pixels.shape[0])
    cut_x, cut_y = round(w * (1 - inner) / 2), round(h * (1 - inner) / 2)
    return pixels[y + cut_y : y + h - cut_y, x + cut_x : x + w - cut_x]


def changed(before: Picture, after: Picture) -> Mask:
    """Which pixels differ."""
    found: Mask = (before.rgb() != after.rgb()).any(axis=2)
    return found


def only_at(mask: Mask, *places: ludens.Place) -> bool:
    """Whether pixels differ in every one of these places, and nowhere else."""
    left, everywhere = mask.copy(), all(part(mask, place).any() for place in places)
    for place in places:
        part(left, place)[:] = False
    return everywhere and not left.any()


def shown(view: View, state: Any, seat: str) -> Picture:
    """The picture that places are on."""
    return view.images(state, seat)[-1]


def reached(name: str, seeds: int = 2, steps: int = 60, every: int = 7) -> Iterator[State]:
    """States of random play that are not over, the first and then every few steps."""
    for seed in range(seeds):
        state, choose = ludens.make(name).start(seed), ludens.stream(seed, "clicks")
        for step in range(steps):
            if state.over:
                break
            if step % every == 0:
                yield state.clone()
            state.apply({seat: state.legal(seat).sample(choose) for seat in state.to_act})
