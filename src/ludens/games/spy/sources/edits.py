"""Edits of photographs that leave no trace: an object is added, moved, recoloured or removed.

Objects are separated by GrabCut, taken with their shadows, placed where the surroundings fit, and blended in
the gradient domain (Poisson blending). An edit that cannot be made this way is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.random import Stream
from ludens.core.registry import Registry

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int] | list[int]
"""x, y, width and height."""
Edit = tuple[Pixels, dict[str, Any]]
"""An edited picture and the description of the edit."""
EDITS = ("add", "move", "recolor", "remove")
VISIBLE = 12.0
"""Mean difference of the pixels of an object, of 255, from which an edit counts as seen."""
BLANK = 3.0
"""Standard deviation below which a picture counts as blank."""
ATTEMPTS = 60
_LEAST_SIDE = 96
"""In smaller pictures there is no room for an object and its surroundings."""
_CANDIDATES = 1500
_STANDS_OUT = 3.0
"""How much the inside of a box must differ more from its edge than the edge does, of 255."""
_FREE = 4
"""Pixels between an object and the edge of its box, from which it counts as whole."""
_SMALLEST = 10
"""Pixels of the smaller side of an object."""
_RIM = 7
"""Pixels of ground that are looked at beyond what an edit may change."""
_SHADE = 3
"""Pixels around an object and its shadow that go with it: soft edges."""
_CALM = 1.5
"""How much even ground differs from a smooth surface, of 255."""
_SHADOW = 2.7
"""From how many times that difference on, something next to an object belongs to it."""
_EVEN_RIM = 9.0
"""Up to how many times that difference, the rim of a hole counts as even."""
_OTHER = 40.0
"""Difference from the ground, of 255, from which something is another object and no shadow."""
_ERODED = 4
"""Pixels by which `seamlessClone` makes a mask narrower."""
_FITS = 14.0
"""Root mean square difference of the surroundings up to which they fit."""
_EVEN = 3.0
"""How much the inside of an empty place may differ more from its rim than that does."""
_MATCH_SIDE = 90
"""The smaller side, at least, of the copy in which places are compared."""
_CHOICES = 16
"""Of so many places that fit best, one is chosen."""
_COLOURED = 45
"""Mean saturation, of 255, from which an object has a colour to change."""
_CUT_SIDE = 72


class Thing(NamedTuple):
    """An object in a picture: masks, 0 or 255."""

    mask: Pixels
    region: Pixels | None
    """The object with its shadow, if these can be separated from the rest."""


class Editor(Protocol):
    """Fills a hole in a picture, as inpainting models do. Packages add some as `ludens.editors`."""

    def __call__(self, pixels: Pixels, hole: npt.NDArray[np.bool_], seed: int) -> Pixels:
        """The picture, of the same size, with something plausible in the hole; the rest does not matter."""
        ...


EDITORS = Registry("editor", "ludens.editors")


def opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise MissingExtra("editing photographs", "photos") from None
    return cv2


def is_blank(pixels: Pixels) -> bool:
    return float(pixels.astype(np.float32).std(axis=(0, 1)).max()) < BLANK


def find_things(pixels: Pixels, random: Stream) -> list[Thing]:
    """Objects of the picture, each once, with what belongs to them on the ground."""
    if min(pixels.shape[:2]) < _LEAST_SIDE or is_blank(pixels):
        return []
    found = list[Thing]()
    for box in _boxes(pixels, random):
        mask = _object(pixels, box)
        if mask is not None and not any(_overlap(mask, thing.mask) for thing in found):
            found.append(Thing(mask, _region(pixels, mask)))
    return found


def edited(
    pixels: Pixels,
    things: Sequence[Thing],
    kind: str,
    random: Stream,
    taken: Sequence[Box] = (),
    editor: Editor | None = None,
) -> Edit | None:
    """The picture with one visible edit of a thing, outside of the boxes in `taken`, and its description.

    None where no attempt leaves a picture in which nothing but the edit has changed.
    """
    for thing in random.sample(things, len(things)):
        if kind != "add" and any(_meet(_bounds(thing.mask), box) for box in taken):
            continue
        made = _made(pixels, thing, kind, random, taken, editor)
        if made is None:
            continue
        result, log = made
        change = np.abs(result.astype(np.float32) - pixels).mean(-1)
        x, y, w, h = log["box"]
        part = change[y : y + h, x : x + w]
        if part[part > 4].size > 0.2 * part.size and part[part > 4].mean() >= VISIBLE:
            return result, log
    return None


def _overlap(a: Pixels, b: Pixels) -> bool:
    """Whether two masks show about the same."""
    both, *each = (int(np.count_nonzero(part)) for part in (a & b, a, b))
    return 2 * both > min(each)


def _region(pixels: Pixels, mask: Pixels) -> Pixels | None:
    """The mask of the object with its shadow, its reflection on the ground and a margin.

    None where the ground along its edge is not even, so that a cover or a copy would show.
    """
    cv2 = opencv()
    x, y, w, h = _bounds(mask)
    reach = round(0.6 * max(w, h))
    side = reach + _RIM + _SHADE + _ERODED
    window = np.s_[max(0, y - side) : y + h + side, max(0, x - side) : x + w + side]
    thing = mask[window]
    apart, usual = _from_ground(pixels[window], _wide(thing, 2) > 0)
    labels = cv2.connectedComponents((apart > _OTHER).astype(np.uint8) | (thing > 0))[1]
    others = np.where((labels > 0) & ~np.isin(labels, labels[thing > 0]), 255, 0).astype(np.uint8)
    belongs = np.where(apart > _SHADOW * usual, 255, 0).astype(np.uint8)
    belongs = cv2.morphologyEx(belongs & ~_wide(others, _SHADE), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    labels = cv2.connectedComponents((belongs | _wide(thing, 1)) & _wide(thing, reach))[1]
    whole = np.where(labels == labels[thing > 0][0], 255, 0).astype(np.uint8)
    covered = _wide(whole, _SHADE + _ERODED) & ~_wide(others, 1)
    at_edge = covered[0].any() or covered[-1].any() or covered[:, 0].any() or covered[:, -1].any()
    if at_edge or float(np.percentile(apart[_rim(covered)], 90)) > _EVEN_RIM * usual:
        return None
    region = np.zeros_like(mask)
    region[window] = covered
    return region


def _rim(region: Pixels) -> npt.NDArray[np.bool_]:
    """Where a region is blended with what is around it."""
    cv2 = opencv()
    inner = cv2.erode(region, np.ones((3, 3), np.uint8), iterations=_ERODED + 1)
    rim: npt.NDArray[np.bool_] = (region > 0) & (inner == 0)
    return rim


def _from_ground(part: Pixels, inside: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.float32], float]:
    """How much each pixel differs from the ground, of 255, and how much the ground itself usually does.

    The ground is the quadratic surface that fits most of what is outside.
    """
    cv2 = opencv()
    smooth = cv2.GaussianBlur(part.astype(np.float32), (0, 0), 2.0)
    down, across = np.meshgrid(*(np.linspace(-1, 1, side) for side in part.shape[:2]), indexing="ij")
    shapes = [np.ones_like(down), down, across, down * across, down**2, across**2]
    terms = np.stack(shapes, -1).astype(np.float32)
    outside = ~inside
    apart: npt.NDArray[np.float32] = np.abs(smooth - np.median(smooth[outside], axis=0)).max(-1)
    for _ in range(4):
        used = outside & (apart <= max(4 * _CALM, float(np.median(apart[outside]))))
        ground = terms @ np.linalg.lstsq(terms[used], smooth[used], rcond=None)[0]
        apart = np.abs(smooth - ground).max(-1)
    return apart, max(_CALM, float(np.median(apart[used])))


def _made(
    pixels: Pixels, thing: Thing, kind: str, random: Stream, taken: Sequence[Box], editor: Editor | None
) -> Edit | None:
    """The picture with this edit of the object, and its description; None if it fails."""
    box = _bounds(thing.mask)
    log: dict[str, Any] = {"edit": kind, "box": box}
    if kind == "recolor":
        recoloured = _recoloured(pixels, thing.mask, random)
        return None if recoloured is None else (recoloured, log)
    if thing.region is None:
        return None
    result: Pixels | None = pixels
    if kind in ("move", "remove"):
        result = _filled(pixels, thing.region, random, editor)
    if result is None or kind == "remove":
        return None if result is None else (result, log)
    placed = _placed(result, pixels, thing, taken, random)
    if placed is None:
        return None
    result, target = placed
    return result, log | ({"to": target} if kind == "move" else {"from": box, "box": target})


def _object(pixels: Pixels, box: Box) -> Pixels | None:
    """The mask, 0 or 255, of something whole that stands out from its surroundings, separated by GrabCut."""
    cv2 = opencv()
    x, y, w, h = box
    _, parts, stats, _ = cv2.connectedComponentsWithStats(_separated(pixels, box))
    whole = [
        (int(area), part)
        for part, (left, top, wide, high, area) in enumerate(stats)
        if part and left >= x + _FREE and top >= y + _FREE
        if left + wide <= x + w - _FREE and top + high <= y + h - _FREE
        if min(wide, high) >= _SMALLEST and area >= 0.06 * w * h
    ]
    if not whole:
        return None
    mask: Pixels = np.where(parts == max(whole)[1], 255, 0).astype(np.uint8)
    return mask


def _separated(pixels: Pixels, box: Box) -> Pixels:
    """1 where the foreground of the box is; found in a small copy of its surroundings: GrabCut is slow."""
    cv2 = opencv()
    height, width = pixels.shape[:2]
    x, y, w, h = box
    left, top = max(0, x - w // 2), max(0, y - h // 2)
    part = pixels[top : min(height, y + h + h // 2), left : min(width, x + w + w // 2)]
    scale = min(1.0, _CUT_SIDE / max(part.shape[:2]))
    small = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    inner = tuple(round(v * scale) for v in (x - left, y - top, w, h))
    labels = np.zeros(small.shape[:2], np.uint8)
    cv2.setRNGSeed(1)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(small, labels, inner, *models, 2, cv2.GC_INIT_WITH_RECT)
    front = ((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD)).astype(np.float32)
    whole = np.zeros((height, width), np.uint8)
    size = part.shape[1], part.shape[0]
    wide = cv2.resize(front, size, interpolation=cv2.INTER_CUBIC) > 0.5
    whole[top : top + size[1], left : left + size[0]] = wide
    return whole


def _boxes(pixels: Pixels, random: Stream) -> list[Box]:
    """Boxes that are varied inside and even along their edges: they may hold something whole."""
    height, width = pixels.shape[:2]
    step = max(1, min(height, width) // 100)
    small = pixels[::step, ::step].astype(np.float32)
    margin = _RIM + _ERODED + _SHADE + 3

    def stands_out(box: Box) -> float:
        x, y, w, h = (value // step for value in box)
        inside = small[y : y + h, x : x + w]
        edge = np.concatenate([inside[0], inside[-1], inside[:, 0], inside[:, -1]])
        around = edge.mean(axis=0)
        return float(np.abs(inside - around).mean() - 1.5 * np.abs(edge - around).mean())

    scores = dict[Box, float]()
    for _ in range(_CANDIDATES):
        w, h = (max(24, round(side * (0.12 + 0.25 * random.random()))) for side in (width, height))
        x, y = (margin + random.below(side - size - 2 * margin) for side, size in ((width, w), (height, h)))
        scores[x, y, w, h] = stands_out((x, y, w, h))
    promising = sorted((box for box in scores if scores[box] > _STANDS_OUT), key=scores.__getitem__)
    boxes = promising[-ATTEMPTS:]
    random.shuffle(boxes)
    return boxes


def _bounds(mask: Pixels) -> list[int]:
    return [int(value) for value in opencv().boundingRect(mask)]


def _meet(a: Box, b: Box) -> bool:
    """Whether two boxes meet, or what is blended around them does."""
    apart = 2 * (_RIM + _ERODED)
    return (
        a[0] < b[0] + b[2] + apart
        and b[0] < a[0] + a[2] + apart
        and a[1] < b[1] + b[3] + apart
        and b[1] < a[1] + a[3] + apart
    )


def _wide(mask: Pixels, by: int) -> Pixels:
    cv2 = opencv()
    wide: Pixels = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * by + 1, 2 * by + 1)))
    return wide


def _fits(pixels: Pixels, part: Pixels, rim: npt.NDArray[np.bool_], away: Box) -> list[tuple[int, int]]:
    """The corners of the places, best first, that look like the part along its rim and do not meet a box."""
    cv2 = opencv()
    step = max(1, min(pixels.shape[:2]) // _MATCH_SIDE)  # matching is slow
    coarse, small, band = (each[::step, ::step].astype(np.float32) for each in (pixels, part, rim))
    h, w = band.shape
    weight = np.repeat(band[..., None], 3, 2)
    apart = cv2.matchTemplate(coarse, small, cv2.TM_SQDIFF, mask=weight)
    x, y, wide, high = (value // step for value in away)
    apart[max(0, y - h) : y + high + 1, max(0, x - w) : x + wide + 1] = np.inf
    apart[:2], apart[:, :2], apart[-2:], apart[:, -2:] = (np.inf,) * 4
    places = []
    for _ in range(_CHOICES):
        v, u = (int(value) for value in np.unravel_index(int(np.argmin(apart)), apart.shape))
        if not apart[v, u] <= _FITS**2 * float(weight.sum()):
            break
        places.append((u * step, v * step))
        apart[max(0, v - h // 3) : v + h // 3 + 1, max(0, u - w // 3) : u + w // 3 + 1] = np.inf
    return places


def _filled(pixels: Pixels, hole: Pixels, random: Stream, editor: Editor | None) -> Pixels | None:
    """The picture without the object: from another place whose surroundings fit, or by the editor."""
    if editor is not None:
        inpainted = editor(pixels.copy(), hole > 0, random.below(1 << 31))
        if (np.shape(inpainted), np.asarray(inpainted).dtype) != (pixels.shape, pixels.dtype):
            height, width = pixels.shape[:2]
            raise BadOption(f"the editor must return a picture of {height}x{width}x3 numbers, as uint8.")
        return _cloned(inpainted, pixels, hole, _bounds(hole))
    places = _empty_places(pixels, pixels, hole)
    if not places:
        return None
    x, y, w, h = _bounds(hole)
    u, v = random.choice(places)
    source = pixels.copy()
    source[y : y + h, x : x + w] = pixels[v : v + h, u : u + w]
    return _cloned(source, pixels, hole, (x, y, w, h))


def _empty_places(ground: Pixels, pixels: Pixels, region: Pixels) -> list[tuple[int, int]]:
    """The corners of places without an object that look like the region of the picture along its rim."""
    x, y, w, h = box = _bounds(region)
    inside, rim = (part[y : y + h, x : x + w] for part in (region > 0, _rim(region)))
    places = _fits(ground, pixels[y : y + h, x : x + w], rim, box)
    return [place for place in places if _is_even(ground, place, inside, rim)]


def _is_even(
    pixels: Pixels, place: tuple[int, int], inside: npt.NDArray[np.bool_], rim: npt.NDArray[np.bool_]
) -> bool:
    """Whether a place has nothing of its own: what is inside is like its rim, all of it."""
    u, v = place
    part = pixels[v : v + inside.shape[0], u : u + inside.shape[1]].astype(np.float32)
    smooth = opencv().GaussianBlur(part, (0, 0), 1.0)
    apart = np.abs(smooth - np.median(smooth[rim], axis=0)).mean(-1)
    return float(np.percentile(apart[inside], 98)) < _EVEN + float(np.percentile(apart[rim], 98))


def _placed(
    ground: Pixels, pixels: Pixels, thing: Thing, taken: Sequence[Box], random: Stream
) -> tuple[Pixels, list[int]] | None:
    """The picture with a copy of the object at another place whose surroundings fit, and its new box."""
    assert thing.region is not None
    x, y, w, h = _bounds(thing.region)
    left, top, wide, high = _bounds(thing.mask)
    places = [
        (u, v, [left + u - x, top + v - y, wide, high])
        for u, v in _empty_places(ground, pixels, thing.region)
    ]
    places = [place for place in places if not any(_meet(place[2], box) for box in taken)]
    if not places:
        return None
    u, v, moved = random.choice(places)
    source, target = ground.copy(), np.zeros_like(thing.region)
    source[v : v + h, u : u + w] = pixels[y : y + h, x : x + w]
    target[v : v + h, u : u + w] = thing.region[y : y + h, x : x + w]
    return _cloned(source, ground, target, (u, v, w, h)), moved


def _cloned(source: Pixels, ground: Pixels, mask: Pixels, box: Box) -> Pixels:
    """The ground with what is under the mask from the source, blended in the gradient domain."""
    cv2 = opencv()
    x, y, w, h = box
    centre = x + w // 2, y + h // 2
    result = cv2.seamlessClone(source, ground, mask.copy(), centre, cv2.NORMAL_CLONE)  # it writes to the mask
    return np.where(mask[..., None] > 0, result, ground).astype(np.uint8)


def _recoloured(pixels: Pixels, mask: Pixels, random: Stream) -> Pixels | None:
    """The picture with another hue of the object; None if it is grey.

    The channels change places, which turns the hue by a third of the circle: the object is as bright, as
    colourful and as noisy as before.
    """
    cv2 = opencv()
    saturation = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)[..., 1]
    if float(saturation[mask > 0].mean()) < _COLOURED:
        return None
    other = np.roll(pixels, random.between(1, 2), axis=-1)
    share = cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), 0.8)[..., None]
    result: Pixels = np.round(pixels * (1 - share) + other * share).astype(np.uint8)
    return result
