"""Plain folders of pictures as sources of pairs: they become picture sets in the user's cache folder.

The set of a folder is named by what is in it, so that it is made once and made again when a file changes.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import orjson

from ludens.core.errors import BadFile
from ludens.games.spy.sources.photos import Photos
from ludens.pictures import PictureSetWriter, open_set, user_folder
from ludens.pictures.generate import fill
from ludens.pictures.manifest import MANIFEST

if TYPE_CHECKING:
    from ludens.pictures import PictureSet

_log = getLogger("ludens.games.spy")


def set_of_folder(folder: Path) -> PictureSet:
    """The set made of a folder of pairs, or of single pictures, which are edited."""
    where = user_folder() / _name(folder, _state(folder))
    if not (where / MANIFEST).is_file():
        _make(folder, where)
    return open_set(where)


def _make(folder: Path, where: Path) -> None:
    """Make the set beside its place and move it there, because another process may be doing the same."""
    photos = Photos(folder=str(folder)).resolved()
    _log.warning("%s: %s", folder, photos.prepare())
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=where.parent, prefix=".") as place:
            writer = PictureSetWriter(Path(place, where.name), photos.header(where.name))
            fill(writer, photos, photos.entries, workers=1)
            skipped = Counter(writer.skipped().values())
            if skipped.total() == photos.entries:
                raise BadFile(f"no pair could be made of {str(folder)!r}: {_counts(skipped)}.")
            writer.finish()
            if not (where / MANIFEST).is_file():
                writer.folder.replace(where)
    except OSError as error:
        if (where / MANIFEST).is_file():
            return  # it came first
        reason = (error.strerror or str(error)).lower()
        raise BadFile(f"cannot write {str(where)!r}: {reason}.") from None
    left_out = f", {_counts(skipped)}" if skipped else ""
    _log.warning("%s: %d of %d made%s", where, photos.entries - skipped.total(), photos.entries, left_out)


def _counts(skipped: Counter[str]) -> str:
    return ", ".join(f"{count} {reason} skipped" for reason, count in sorted(skipped.items()))


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the files: whether something has changed since they were read."""
    try:
        return tuple(sorted((f.name, (s := f.stat()).st_mtime_ns, s.st_size) for f in os.scandir(folder)))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadFile(f"cannot read {str(folder)!r}: {reason}.") from None


@lru_cache(maxsize=16)
def _name(folder: Path, state: tuple[tuple[str, int, int], ...]) -> str:
    """A name that depends on the pictures and on how they are edited."""
    header = Photos(folder=str(folder)).resolved().header("")
    key = orjson.dumps([header.version, header.settings], option=orjson.OPT_SORT_KEYS)
    return f"photos-{sha256(key).hexdigest()[:16]}"
