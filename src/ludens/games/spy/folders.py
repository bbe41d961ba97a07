"""Plain folders of pictures as sources of pairs: they become picture sets in the user's cache folder.

The set of a folder is named by what is in it, so that it is made once and made again when a file changes.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ludens.pictures import PictureSetWriter, open_set, user_folder
from ludens.pictures.generate import fill
from ludens.pictures.manifest import MANIFEST, Header
from ludens.pictures.writer import removed_if_bad

if TYPE_CHECKING:
    from ludens.pictures import PictureSet

_log = getLogger("ludens.games.spy")


def set_of_folder(folder: Path) -> PictureSet:
    """The set made of a folder of pairs, or of single pictures, which are edited."""
    from ludens.games.spy.sources.photos import Photos

    photos = Photos(folder=str(folder)).resolved()
    name = _name(photos.header(""))
    where = user_folder() / name
    if not (where / MANIFEST).is_file():
        _log.warning("%s: %s", folder, photos.prepare())
        with removed_if_bad(where):
            writer = PictureSetWriter(where, photos.header(name))
            fill(writer, photos, photos.entries, workers=1)
            skipped = Counter(writer.skipped().values())
            writer.finish()
        counts = "".join(f", {count} {reason} skipped" for reason, count in sorted(skipped.items()))
        _log.warning("%s: %d of %d made%s", where, photos.entries - skipped.total(), photos.entries, counts)
    return open_set(where)


def _name(header: Header) -> str:
    """A name that depends on the pictures and on how they are edited."""
    key = orjson.dumps([header.version, header.settings], option=orjson.OPT_SORT_KEYS)
    return f"photos-{sha256(key).hexdigest()[:16]}"
