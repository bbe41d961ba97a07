"""Picture sets: folders of rendered or photographed pictures with a manifest.

from ludens.pictures import open_set

pictures = open_set("clevr-16")
entry = pictures.entries[0]
pictures.picture(entry, "original").png()
"""

from ludens.pictures.manifest import Entry, File, Header
from ludens.pictures.sets import PictureSet, open_set, set_names, user_folder
from ludens.pictures.writer import PictureSetWriter

__all__ = [
    "Entry", "File", "Header", "PictureSet", "PictureSetWriter", "open_set", "set_names", "user_folder",
]  # fmt: skip
