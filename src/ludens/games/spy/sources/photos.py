"""`spy/photos`: pairs from a folder of pictures: given pairs, or single pictures edited locally.

Traces of an edit must not tell a player what differs. So both pictures get a decoy, an edit that they share,
chance decides which of the two becomes the original, and both are encoded in the same way.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

from ludens.core.errors import BadFile, BadOption, MissingExtra, UnknownName
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.draw import Picture
from ludens.pictures.writer import EntryContents, Generator, Skip, decode_picture

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
    try:
        import cv2
    except ImportError:
        raise MissingExtra("editing photographs", "photos") from None
    return cv2


def is_blank(pixels: Pixels) -> bool:
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
        is_object = attempt < _OBJECTS or (kind == "recolor" and not last)  # a coloured ellipse is no object
        patch = _object(pixels, box) if is_object else _ellipse(pixels, box)
        if patch is None or any(_meet(patch[1], other) for other in taken):
            continue
        mask, place = patch
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
    mask: Pixels = (cv2.resize(front, (width, height), interpolation=cv2.INTER_CUBIC) > 0.5).astype(np.uint8)
    return mask


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

    def stands_out(box: Box) -> float:
        x, y, w, h = box
        inside = grey[y : y + h, x : x + w]
        edge = np.concatenate([inside[0], inside[-1], inside[:, 0], inside[:, -1]])
        return float(inside.std() - 2 * edge.std())

    return max(free or boxes, key=stands_out)


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
    rows, columns = np.nonzero(mask)
    height, width = mask.shape
    dy = random.between(-int(rows.min()), height - 1 - int(rows.max()))
    dx = random.between(-int(columns.min()), width - 1 - int(columns.max()))
    return _blended(ground, np.roll(pixels, (dy, dx), (0, 1)), np.roll(mask, (dy, dx), (0, 1)))


def _blended(below: Pixels, above: Pixels, mask: npt.NDArray[np.float32]) -> Pixels:
    share = mask[..., None]
    return np.round(below * (1 - share) + above * share).astype(np.uint8)


_SUFFIXES = (".gif", ".jpeg", ".jpg", ".png", ".webp")
_ROLES = ("original", "modified")
_QUALITY = 92
_PATCHES = 2
_MAX_FILE = 1 << 28


@dataclass(frozen=True)
class Photos(Generator):
    """Pairs `x_original.*`, `x_modified.*` of a folder, or its single pictures, edited."""

    folder: str = option("", help="the folder with the pictures", touches=Touch.READ)
    seed: int = option(0, low=0, help="seed")
    edits: str = option("+".join(EDITS), help="edits of single pictures, joined by +")
    size: int = option(768, low=64, high=4096, help="longest side of edited pictures; larger ones are scaled")
    decoys: int = option(1, low=0, high=4, help="edits of single pictures that both pictures get")
    keep_failed: bool = option(False, help="keep pairs that are identical or blank")
    licence: str = option("", help="licence of the pictures")

    name = "spy/photos"
    version = "2"

    def resolved(self) -> Self:
        if not self.folder:
            raise BadOption("spy/photos needs a folder of pictures: --from FOLDER.")
        for edit in self._edits:
            if edit not in EDITS:
                raise UnknownName("edit", edit, EDITS)
        return self

    @property
    def _edits(self) -> list[str]:
        return self.edits.replace(",", "+").split("+")

    @cached_property
    def _files(self) -> Sequence[tuple[Path, ...]]:
        folder = Path(self.folder)
        if not folder.is_dir():
            raise BadFile(f"{self.folder!r} is not a folder of pictures.")
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES)
        if not paths:
            raise BadFile(f"{self.folder!r} has no pictures ({', '.join(_SUFFIXES)}).")
        halves = [path for path in paths if path.stem.endswith(tuple(f"_{role}" for role in _ROLES))]
        if not halves:
            return [(path,) for path in paths]
        if len(halves) < len(paths):
            single = next(path for path in paths if path not in halves)
            raise BadFile(f"{str(folder)!r} has pairs, but {single.name!r} is not part of one.")
        named: dict[str, dict[str, Path]] = {}
        for path in halves:
            stem, _, role = path.stem.rpartition("_")
            if role in named.setdefault(stem, {}):
                raise BadFile(f"{str(folder)!r} has two pictures {path.stem!r}.")
            named[stem][role] = path
        for stem, roles in named.items():
            if len(roles) < 2:
                [there] = roles
                [missing] = set(_ROLES) - {there}
                raise BadFile(f"half a pair in {str(folder)!r}: {stem}_{there} has no {stem}_{missing}.")
        return [tuple(roles[role] for role in _ROLES) for _, roles in sorted(named.items())]

    @property
    def entries(self) -> int:  # type: ignore[override]
        return len(self._files)

    def settings(self) -> dict[str, Any]:
        """Not the folder, which means nothing on another machine, but what is in it."""
        digest = sha256()
        for path in (path for files in self._files for path in files):
            digest.update(f"{path.name}\t{sha256(_contents(path)).hexdigest()}\n".encode())
        rest = {name: value for name, value in super().settings().items() if name != "folder"}
        editor = {} if len(self._files[0]) == 2 else {"opencv": opencv().__version__}
        return rest | {"files": digest.hexdigest()} | editor

    def prepare(self) -> str:
        for files in self._files:
            sizes = {(picture.width, picture.height) for picture in map(_picture, files)}
            if len(sizes) > 1:
                listed = " and ".join(f"{width}x{height}" for width, height in sorted(sizes))
                raise BadFile(f"{str(files[0])!r} and {files[1].name!r} have two sizes, {listed}.")
        count = len(self._files)
        some = "" if count == 1 else "s"
        if len(self._files[0]) == 2:
            return f"{count} pair{some}"
        return f"{count} picture{some}, edited with OpenCV {opencv().__version__}"

    def make(self, number: int) -> EntryContents:
        files = self._files[number]
        return self._pair(files) if len(files) == 2 else self._edited(files[0], number)

    def _pair(self, files: Sequence[Path]) -> EntryContents:
        pictures = [_picture(path) for path in files]
        self._check(*(picture.rgb() for picture in pictures))
        data = [picture.encoded()[0] for picture in pictures]
        return EntryContents(dict(zip(_ROLES, data, strict=True)), licence=self.licence)

    def _edited(self, path: Path, number: int) -> EntryContents:
        picture = _picture(path)
        if max(picture.width, picture.height) > self.size:
            picture = picture.resized(self.size)
        pixels = np.ascontiguousarray(picture.rgb())
        for decoys in dict.fromkeys((self.decoys, 0)):  # a decoy must not take the only object
            original, common = self._changed(pixels, decoys, number, [])
            modified, log = self._changed(original, _PATCHES, number, common)
            if log:
                break
        self._check(original, modified)
        pictures = {"original": _jpeg(original), "modified": _jpeg(modified)}
        swapped = stream(self.seed, "photos", "swap", number).below(2) == 1
        if swapped:
            pictures = {"original": pictures["modified"], "modified": pictures["original"]}
        where = [({"in": "both"}, common), ({"in": "original" if swapped else "modified"}, log)]
        return EntryContents(
            pictures, changes=[each | role for role, some in where for each in some], licence=self.licence
        )

    def _changed(
        self, pixels: Any, patches: int, number: int, before: Sequence[dict[str, Any]]
    ) -> tuple[Any, list[dict[str, Any]]]:
        """The picture with up to so many edits away from those made before, and the new ones."""
        log = list[dict[str, Any]]()
        if min(pixels.shape[:2]) < 64 or is_blank(pixels):
            return pixels, log
        random = stream(self.seed, "photos", number, len(before))
        for _ in range(patches):
            taken = [each["box"] for each in (*before, *log)]
            if edit := edited(pixels, self._edits, random, taken):
                pixels = edit[0]
                log.append(edit[1])
        return pixels, log

    def _check(self, original: Any, modified: Any) -> None:
        if self.keep_failed:
            return
        if np.array_equal(original, modified):
            raise Skip("identical")
        if is_blank(original) or is_blank(modified):
            raise Skip("blank")


def _picture(path: Path) -> Picture:
    data = _contents(path)
    try:
        return decode_picture(data)
    except BadFile as error:
        raise BadFile(f"{str(path)!r}: {str(error).removesuffix('.')}.") from None


def _contents(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise BadFile(f"{str(path)!r}: larger than {_MAX_FILE:,} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}.") from None


def _jpeg(pixels: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()
