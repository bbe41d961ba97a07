"""`spy/photos`: pairs from a folder of pictures: given pairs, or single pictures edited locally.

Traces of an edit must not tell a player what differs. So each picture of a pair has one edit that the other
has not, chance decides which of the two is the original, both are encoded in the same way, and a picture in
which nothing can be edited without a trace is left out.
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
from PIL import Image

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.draw import Picture
from ludens.games.spy.sources.edits import EDITORS, EDITS, Edit, Pixels, edited, find_things, is_blank, opencv
from ludens.pictures.writer import EntryContents, Generator, Skip, decode_picture

_SUFFIXES = (".gif", ".jpeg", ".jpg", ".png", ".webp")
_ROLES = ("original", "modified")
_QUALITY = 92
_COUNTERPARTS = {"add": "remove", "remove": "add"}
_TRIES = 4
_MAX_FILE = 1 << 28


@dataclass(frozen=True)
class Photos(Generator):
    """Pairs `x_original.*`, `x_modified.*` of a folder, or its single pictures, edited."""

    folder: str = option("", help="the folder with the pictures", touches=Touch.READ)
    seed: int = option(0, low=0, help="seed")
    edits: str = option("+".join(EDITS), help="edits of single pictures, joined by +")
    size: int = option(768, low=64, high=4096, help="longest side of edited pictures; larger ones are scaled")
    editor: str = option(
        "", help="what fills the place of a removed object: an inpainting model that a package adds"
    )
    keep_failed: bool = option(False, help="keep pairs that are identical or blank")
    licence: str = option("", help="licence of the pictures")

    name = "spy/photos"
    version = "5"

    def resolved(self) -> Self:
        if not self.folder:
            raise BadOption("spy/photos needs a folder of pictures: --from FOLDER.")
        for edit in self._edits:
            if edit not in EDITS:
                raise UnknownName("edit", edit, EDITS)
        if self.editor:
            EDITORS.get(self.editor)
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
        random = stream(self.seed, "photos", number)
        roles = random.sample(_ROLES, 2)
        edits = self._two_edits(pixels, random)
        if edits is None and not self.keep_failed:
            raise Skip("nothing can be edited without a trace")
        edits = edits or [(pixels, {"edit": "failed"})] * 2
        pictures = {role: _jpeg(result) for role, (result, _) in zip(roles, edits, strict=True)}
        changes = [log | {"in": role} for role, (_, log) in zip(roles, edits, strict=True)]
        return EntryContents(pictures, changes=changes, licence=self.licence)

    def _two_edits(self, pixels: Pixels, random: Stream) -> list[Edit] | None:
        """Two edits of a picture at different places, whose results are shown as the two pictures of a pair.

        Where something is added to one, something is removed from the other: what is edited must not more
        often be full than empty.
        """
        editor = EDITORS.get(self.editor) if self.editor else None
        things = find_things(pixels, random)
        kinds = [kind for kind in self._edits if _COUNTERPARTS.get(kind) not in self._edits or kind == "add"]
        for kind in random.sample(kinds, len(kinds)) * _TRIES:
            first = edited(pixels, things, kind, random, (), editor)
            if first is None:
                continue
            counterpart = _COUNTERPARTS.get(kind, kind)
            other = counterpart if counterpart in self._edits else kind
            taken = [first[1][name] for name in ("box", "to") if name in first[1]]
            second = edited(pixels, things, other, random, taken, editor)
            if second is not None:
                return [first, second]
        return None

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
