"""Local edits of photographs with OpenCV: a patch is recoloured, removed by inpainting, or moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ludens.core.errors import MissingExtra
from ludens.core.random import Stream

Pixels = npt.NDArray[np.uint8]
EDITS = ("move", "recolor", "remove")
VISIBLE = 12.0
"""Mean difference of the pixels of a patch, of 255, from which an edit counts as seen."""
BLANK = 3.0
"""Standard deviation below which a picture counts as blank."""
_CANDIDATES, _ATTEMPTS = 8, 12


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


def edited(pixels: Pixels, kinds: list[str], random: Stream) -> tuple[Pixels, dict[str, Any]] | None:
    """The picture with one visible edit, and its description; None where no attempt can be seen."""
    for _ in range(_ATTEMPTS):
        kind = random.choice(kinds)
        mask, box = _patch(pixels, random)
        if kind == "recolor":
            result = _recoloured(pixels, mask, random)
        else:
            result = np.asarray(opencv().inpaint(pixels, _hard(mask), 4, opencv().INPAINT_TELEA))
            if kind == "move":
                result = _pasted(result, pixels, mask, random)
        change = np.abs(result.astype(np.float32) - pixels).mean(-1)
        if change[mask > 0.5].mean() >= VISIBLE:
            return result, {"edit": kind, "box": box}
    return None


def _patch(pixels: Pixels, random: Stream) -> tuple[npt.NDArray[np.float32], list[int]]:
    """A soft ellipse on the most varied of some random places, and its box (x, y, width, height)."""
    height, width = pixels.shape[:2]
    grey = pixels.mean(-1)
    boxes = []
    for _ in range(_CANDIDATES):
        w, h = (max(8, round(side * (0.14 + 0.14 * random.random()))) for side in (width, height))
        boxes.append((random.below(max(1, width - w)), random.below(max(1, height - h)), w, h))
    x, y, w, h = max(
        boxes, key=lambda box: float(grey[box[1] : box[1] + box[3], box[0] : box[0] + box[2]].std())
    )
    across = (np.arange(width) - x - w / 2) / (w / 2)
    down = (np.arange(height) - y - h / 2) / (h / 2)
    distance = np.sqrt(across[None, :] ** 2 + down[:, None] ** 2)
    return np.clip((1 - distance) * 8, 0, 1).astype(np.float32), [x, y, w, h]


def _variety(grey: npt.NDArray[np.float64], x: int, y: int, w: int, h: int) -> float:
    return float(grey[y : y + h, x : x + w].std())


def _hard(mask: npt.NDArray[np.float32]) -> Pixels:
    return (mask > 0).astype(np.uint8) * 255


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
