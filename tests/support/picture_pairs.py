"""A small picture set of pairs, made of drawn scenes."""

from __future__ import annotations

from pathlib import Path

from ludens.core.random import stream
from ludens.games.spy.flat import Floor
from ludens.games.spy.scene import make_pair
from ludens.pictures import Header, PictureSetWriter


def made_set(
    folder: Path, name: str = "rendered", described: bool = True, generator: str = "spy/clevr"
) -> Path:
    """Four drawn pairs as a picture set."""
    writer, floor = PictureSetWriter(folder / name, Header(name, "pair", generator)), Floor("classic", 256)
    for number in range(4):
        pair = make_pair(stream(number, "set"))
        files = {role: floor.draw(getattr(pair, role)).png() for role in ("original", "modified")}
        writer.add(f"{number:05}", files, scene=pair.to_json() if described else None)
    return writer.finish()
