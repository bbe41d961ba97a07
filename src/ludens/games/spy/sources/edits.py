"""Local edits of photographs with OpenCV: a patch is recoloured, removed, or moved.

What is removed is covered with another part of the picture that fits the surroundings, so that the place has
the texture and grain of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ludens.core.errors import MissingExtra
from ludens.core.random import Stream

Pixels = npt.NDArray[np.uint8]
Patch = tuple[npt.NDArray[np.float32], list[int]]
"""A soft mask, and its box (x, y, width, height)."""
Box = tuple[int, int, int, int]
EDITS = ("move", "recolor", "remove")
VISIBLE = 12.0
"""Mean difference of the pixels of a patch, of 255, from which an edit counts as seen."""
BLANK = 3.0
"""Standard deviation below which a picture counts as blank."""
_RIM = 6
"""Pixels around a hole that must fit."""
_FITS = 45.0
"""Root mean square difference of the surroundings up to which they fit."""
_CUT_SIDE = 256
_CANDIDATES = 24
_OBJECTS, _ELLIPSES, _LAST = 16, 4, 4
"""Attempts with whole objects, with parts that can be covered, and with anything."""


def opencv() -> Any:
    """OpenCV, or an error that names the extra."""
    try:
        import cv2
    except ImportError:
        raise MissingExtra("editing photographs", "photos") from None
    return cv2


def is_blank(pixels: Pixels) -> bool:
    """Whether a picture shows nothing."""
    return float(pixels.astype(np.float32).std(axis=(0, 1)).max()) < BLANK


def edited(
    pixels: Pixels, kinds: Sequence[str], random: Stream, taken: Sequence[Sequence[int]] = ()
) -> tuple[Pixels, dict[str, Any]] | None:
    """The picture with one visible edit outside the boxes in `taken`, and its description.

    None where no attempt can be seen.
    """
    for attempt in range(_OBJECTS + _ELLIPSES + _LAST):
        kind = random.choice(kinds)
        box = _box(pixels, random, taken)
        last = attempt >= _OBJECTS + _ELLIPSES
        whole = attempt < _OBJECTS or (kind == "recolor" and not last)  # a coloured ellipse is no object
        found = _object(pixels, box) if whole else _ellipse(pixels, box)
        if found is None or any(_meet(found[1], other) for other in taken):
            continue
        mask, place = found
        if kind == "recolor":
            result = _recoloured(pixels, mask, random)
        elif (ground := _covered(pixels, _hard(mask), inpaint=last)) is None:
            continue
        else:
            result = ground
            if kind == "move":
                result = _pasted(result, pixels, mask, random)
        change = np.abs(result.astype(np.float32) - pixels).mean(-1)
        if change[mask > 0.5].mean() >= VISIBLE:
            return result, {"edit": kind, "box": place}
    return None


def _object(pixels: Pixels, box: Box) -> Patch | None:
    """Something that stands out from its surroundings, separated by GrabCut."""
    cv2 = opencv()
    x, y, w, h = box
    front = _separated(pixels, box)
    _, parts, stats, _ = cv2.connectedComponentsWithStats(front)
    if len(stats) < 2:
        return None
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    left, top, wide, high, area = (int(value) for value in stats[largest])
    cut = left <= x or top <= y or left + wide >= x + w or top + high >= y + h
    if cut or area < 0.08 * w * h:
        return None
    mask = cv2.GaussianBlur((parts == largest).astype(np.float32), (0, 0), 0.8)
    return mask, [left, top, wide, high]


def _separated(pixels: Pixels, box: Box) -> Pixels:
    """1 where the foreground of the box is; found in a smaller copy, because GrabCut is slow."""
    cv2 = opencv()
    height, width = pixels.shape[:2]
    scale = min(1.0, _CUT_SIDE / max(height, width))
    small = cv2.resize(pixels, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
    x, y, right, down = (round(v * scale) for v in (box[0], box[1], box[0] + box[2], box[1] + box[3]))
    labels = np.zeros(small.shape[:2], np.uint8)
    cv2.setRNGSeed(1)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(small, labels, (x, y, right - x, down - y), *models, 3, cv2.GC_INIT_WITH_RECT)
    front = ((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD)).astype(np.float32)
    whole: Pixels = (cv2.resize(front, (width, height), interpolation=cv2.INTER_CUBIC) > 0.5).astype(np.uint8)
    return whole


def _ellipse(pixels: Pixels, box: Box) -> Patch:
    """A soft ellipse, where no object can be separated."""
    height, width = pixels.shape[:2]
    x, y, w, h = box
    across = (np.arange(width) - x - w / 2) / (w / 2)
    down = (np.arange(height) - y - h / 2) / (h / 2)
    distance = np.sqrt(across[None, :] ** 2 + down[:, None] ** 2)
    return np.clip((1 - distance) * 8, 0, 1).astype(np.float32), [x, y, w, h]


def _box(pixels: Pixels, random: Stream, taken: Sequence[Sequence[int]]) -> Box:
    """Of some random boxes, one that is varied inside and even along its edge: it holds something whole.

    It lies outside the boxes in `taken` where there is room.
    """
    height, width = pixels.shape[:2]
    grey = pixels.mean(-1)
    boxes = []
    for _ in range(_CANDIDATES):
        w, h = (max(16, round(side * (0.15 + 0.2 * random.random()))) for side in (width, height))
        boxes.append((2 + random.below(width - w - 4), 2 + random.below(height - h - 4), w, h))
    free = [box for box in boxes if not any(_meet(box, other) for other in taken)]
    return max(free or boxes, key=lambda box: _stands_out(grey, *box))


def _stands_out(grey: npt.NDArray[np.float64], x: int, y: int, w: int, h: int) -> float:
    inside = grey[y : y + h, x : x + w]
    edge = np.concatenate([inside[0], inside[-1], inside[:, 0], inside[:, -1]])
    return float(inside.std() - 2 * edge.std())


def _meet(a: Sequence[int], b: Sequence[int]) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _hard(mask: npt.NDArray[np.float32]) -> Pixels:
    """The mask with a rim, so that nothing of the patch is left."""
    wide: Pixels = opencv().dilate((mask > 0.05).astype(np.uint8) * 255, np.ones((7, 7), np.uint8))
    return wide


def _covered(pixels: Pixels, hole: Pixels, inpaint: bool) -> Pixels | None:
    """The picture with a hole filled from the place whose surroundings are most like those of the hole.

    Where no place fits, None, or by inpainting, which smears what is around.
    """
    cv2 = opencv()
    x, y, w, h = cv2.boundingRect(cv2.dilate(hole, np.ones((2 * _RIM + 1, 2 * _RIM + 1), np.uint8)))
    part, inside = pixels[y : y + h, x : x + w], hole[y : y + h, x : x + w] > 0
    rim = np.repeat((~inside).astype(np.float32)[..., None], 3, 2)
    apart = cv2.matchTemplate(pixels.astype(np.float32), part.astype(np.float32), cv2.TM_SQDIFF, mask=rim)
    apart[max(0, y - h) : y + h, max(0, x - w) : x + w] = np.inf  # has some of what is removed
    v, u = np.unravel_index(int(np.argmin(apart)), apart.shape)
    if not apart[v, u] / max(1.0, float(rim.sum())) <= _FITS**2:
        return np.asarray(cv2.inpaint(pixels, hole, 4, cv2.INPAINT_TELEA)) if inpaint else None
    result = pixels.copy()
    soft = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 1.5)
    result[y : y + h, x : x + w] = _blended(part, pixels[v : v + h, u : u + w], soft)
    return result


def _recoloured(pixels: Pixels, mask: npt.NDArray[np.float32], random: Stream) -> Pixels:
    cv2 = opencv()
    hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV).astype(np.int32)
    hsv[..., 0] = (hsv[..., 0] + random.between(40, 140)) % 180
    hsv[..., 1] = np.maximum(hsv[..., 1], 120)
    other = cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB)
    return _blended(pixels, other, mask)


def _pasted(ground: Pixels, pixels: Pixels, mask: npt.NDArray[np.float32], random: Stream) -> Pixels:
    """The patch put somewhere else, inside the picture."""
    rows, columns = np.nonzero(mask)
    height, width = mask.shape
    dy = random.between(-int(rows.min()), height - 1 - int(rows.max()))
    dx = random.between(-int(columns.min()), width - 1 - int(columns.max()))
    return _blended(ground, np.roll(pixels, (dy, dx), (0, 1)), np.roll(mask, (dy, dx), (0, 1)))


def _blended(below: Pixels, above: Pixels, mask: npt.NDArray[np.float32]) -> Pixels:
    share = mask[..., None]
    return np.round(below * (1 - share) + above * share).astype(np.uint8)
