"""Where the two pictures of a game come from: drawn from the seed, or an entry of a picture set.

A set is named `NAME@HASH` in the options of a game, so that an episode names its pictures by content. It is
opened when they are looked at: an episode can be replayed without the set, except for its pictures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ludens.core.errors import BadFile, MissingPictures, UsageError
from ludens.core.random import Stream
from ludens.games.spy.scene import Scene, ScenePair
from ludens.games.spy.tables import ChartData

if TYPE_CHECKING:
    from ludens.pictures import Entry, PictureSet

FLAT = "flat"
_SHIPPED = {"clevr": "clevr-16", "chart": "chart-16"}
"""Names for the largest set of a kind that is installed, and the small one in the package."""
_COMMON = ("change", "kinds")
"""Settings that sets must share to stand for each other."""
_opened: dict[str, PictureSet] = {}
"""Sets that this process has opened, by hash: a set that was named by its path is found again."""


@dataclass(frozen=True, slots=True)
class StoredPair:
    """A pair of a picture set; `number` decides which entry, whatever their count."""

    source: str
    number: int
    noise: str = ""
    """What became of the modified picture: `blank`, `identical` to the original, or nothing."""
    exchanged: bool = False
    """Whether the modified picture is that of the civilians, and the original one that of the spy."""

    @property
    def entry(self) -> Entry:
        entries = set_of(self.source).entries
        return entries[self.number * len(entries) >> 64]


def with_hash(source: str) -> str:
    """The name of a source with the hash of its set."""
    if source == FLAT or _split(source)[1]:
        return source
    from ludens.pictures import open_set, set_names

    names = set_names()
    if source in _SHIPPED and source not in names:
        source = largest_set(source)
    if source not in names:
        _refuse_plain(source)
    opened = open_set(source)
    if opened.header.kind != "pair":
        raise BadFile(f"picture set {source!r} is of {opened.header.kind}s; the spy game needs pairs.")
    _opened[opened.hash] = opened
    return f"{opened.name}@{opened.hash}"


def largest_set(kind: str) -> str:
    """The name of the installed set with the most pairs that was made as the one in the package: by the same
    version of the generator, with the same change."""
    from ludens.pictures.sets import installed_sets

    shipped, sets = _SHIPPED[kind], installed_sets("pair")

    def made(name: str) -> tuple[object, ...]:
        header = sets[name]
        return header.generator, header.version, *(header.settings.get(key) for key in _COMMON)

    alike = [name for name in sets if shipped in sets and made(name) == made(shipped)]
    return max(alike, key=lambda name: (sets[name].entries, name), default=shipped)


def _refuse_plain(source: str) -> None:
    """Raise `BadFile` for a folder of pictures that is no set: building one takes long and writes files."""
    from ludens.pictures.manifest import MANIFEST
    from ludens.pictures.sets import PARTS

    folder = Path(source)
    if folder.is_dir() and not any((folder / name).exists() for name in (MANIFEST, PARTS)):
        target = f"{re.sub('[^a-z0-9_-]+', '-', folder.resolve().name.lower()).strip('-') or 'photos'}-set"
        raise BadFile(
            f"{source!r} is a folder and not a picture set: make one of its pictures with "
            f"`ludens data spy/photos --from {quote(source)} --out {target}`, and then use source={target}."
        )


def installed_sources() -> list[str]:
    """The sources that everybody may choose: drawn pictures, and installed sets, also with their hashes."""
    from ludens.pictures.sets import installed_sets

    sets = installed_sets("pair")
    named = [f"{header.name}@{header.sha256[:16]}" for header in sets.values()]
    return [FLAT, *_SHIPPED, *sets, *named]


def set_of(source: str) -> PictureSet:
    """The set of a source that was named with its hash."""
    from ludens.pictures import open_set

    name, hash = _split(source)
    if hash not in _opened:
        try:
            _opened[hash] = open_set(name, hash)
        except BadFile as error:
            raise MissingPictures(str(error)) from None
    return _opened[hash]


BLANK, IDENTICAL = "blank", "identical"


def draw_noise(random: Stream) -> str:
    """Whether an edit failed: one in ten leaves a blank picture, one in ten the original."""
    return {0: BLANK, 1: IDENTICAL}.get(random.below(10), "")


def with_noise(pair: ScenePair, noise: str) -> ScenePair:
    """A pair after an edit that failed."""
    if noise == IDENTICAL:
        return replace(pair, modified=pair.original, changed=())
    if noise == BLANK:
        return replace(pair, modified=Scene(()), changed=tuple(range(len(pair.original.objects))))
    return pair


def described(pair: ScenePair | StoredPair) -> ScenePair | None:
    """The scenes of a pair; None where only pictures are known."""
    return pair if isinstance(pair, ScenePair) else _scenes(pair)


@lru_cache(maxsize=4096)
def _scenes(pair: StoredPair) -> ScenePair | None:
    try:
        scenes = with_noise(ScenePair.from_json(pair.entry.scene), pair.noise)
        return scenes.exchanged() if pair.exchanged else scenes
    except MissingPictures:
        raise
    except UsageError:
        return None


def charted(pair: ScenePair | StoredPair) -> tuple[ChartData, ChartData] | None:
    """The charts of the civilians and of the spy; None where the pictures are none."""
    if not isinstance(pair, StoredPair) or kind_of(pair.source) != "chart":
        return None
    scene, roles = pair.entry.scene, ("original", "modified")
    if not isinstance(scene, dict) or not all(role in scene for role in roles):
        return None
    own, other = (ChartData.from_json(scene[role]) for role in roles)
    return (other, own) if pair.exchanged else (own, other)


def kind_of(source: str) -> str:
    """What the pictures of a source are: `scenes`, `chart` or `photo`; `photo` where the set is not here."""
    if source == FLAT:
        return "scenes"
    try:
        pictures = set_of(source)
    except MissingPictures:
        return "photo"
    if "chart" in pictures.header.generator:
        return "chart"
    return "photo" if _scenes(StoredPair(source, 0)) is None else "scenes"


def _split(source: str) -> tuple[str, str]:
    """Name and hash; the hash is empty where there is none."""
    name, at, hash = source.rpartition("@")
    fits = len(hash) == 16 and all(digit in "0123456789abcdef" for digit in hash)
    return (name, hash) if at and fits else (source, "")
