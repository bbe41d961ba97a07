"""The folder of a trained model: `nano.json`, the size of the network, and weights as safetensors; all
without torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson

from ludens.core.errors import BadFile, BadOption, UnknownName, UsageError
from ludens.core.files import write_atomically
from ludens.core.options import check_options, option
from ludens.models.trained import TRAINED_ON, games_of_checkpoint, games_of_recipe
from ludens.train.nano.inputs import LINES, PROMPTS, Vocabulary
from ludens.train.nano.provenance import of_checkpoint, recipe_hash

STRIDE = 16
"""Pixels per side of a patch."""
WAVES = 16
"""Frequencies of the Fourier features of a place."""
SHARPNESS = 11.5
"""The largest logit of attention: queries and keys have unit RMS."""


@dataclass(frozen=True)
class NanoSize:
    width: int = option(192, low=32, high=4096, help="width of every layer")
    heads: int = option(4, low=1, high=64, help="attention heads")
    encoder: int = option(4, low=1, high=64, help="layers that see")
    decoder: int = option(4, low=1, high=64, help="layers that speak")
    side: int = option(128, low=64, high=1024, help="pixels per side of the pictures it sees")
    longest: int = option(256, low=16, high=4096, help="most tokens of prompt and reply together")

    def __post_init__(self) -> None:
        check_options(self, "a nano network")
        if self.width % self.heads or self.side % STRIDE:
            raise BadOption(f"the width of a network must be a multiple of its heads, and side of {STRIDE}.")

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        width = self.width
        shapes: dict[str, tuple[int, ...]] = {
            "encoder.stem.0.weight": (64, 3, 4, 4),
            "encoder.stem.1.weight": (128, 64, 3, 3),
            "encoder.stem.2.weight": (width, 128, 3, 3),
        }
        shapes |= {name.replace("weight", "bias"): shape[:1] for name, shape in shapes.items()}
        encoder = [f"encoder.blocks.{n}" for n in range(self.encoder)]
        decoder = [f"decoder.blocks.{n}" for n in range(self.decoder)]
        attention = [f"{b}.attention" for b in encoder + decoder] + [f"{b}.look" for b in decoder]
        for name in attention:
            shapes[f"{name}.query.weight"] = shapes[f"{name}.out.weight"] = (width, width)
            shapes[f"{name}.key_value.weight"] = (2 * width, width)
        for name in encoder + decoder:
            shapes[f"{name}.mlp.up.weight"] = (4 * width, width)
            shapes[f"{name}.mlp.down.weight"] = (width, 4 * width)
        for name in ("encoder.position", "encoder.key", "decoder.place"):
            shapes[f"{name}.weight"] = (width, 4 * WAVES)
        rows = {"embedding": vocabulary, "head": vocabulary, "position": self.longest}
        for name, count in (rows | {"line": LINES, "column": LINES}).items():
            shapes[f"decoder.{name}.weight"] = (count, width)
        return shapes


Array = np.ndarray[Any, Any]
W = TypeVar("W", bound=Mapping[str, Array])

DTYPES = ("float32", "bfloat16", "int8")
SCALE = ".scale"
METADATA, NUMBERS, SETTINGS_HASH = "__metadata__", "numbers_sha256", "settings_sha256"
"""Keys in the header of a file of weights: its metadata, and there the hashes of numbers and settings."""
MEAN = "mean"
"""There: the share and the origin of other weights, where these are the mean of two models."""
_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "BF16": np.dtype("<u2"), "I8": np.dtype("i1")}
"""How numbers are stored; numpy has no bfloat16."""


class StoredWeights(Mapping[str, Array]):
    """The tensors of a file, in its own numbers; each is converted to float32 when it is asked for."""

    def __init__(self, file: Path) -> None:
        header, body = _header_and_body(file)
        try:
            self._arrays = _tensors(header, body)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _not_weights(file, error) from None
        ends = [name for name in self._arrays if name.endswith(SCALE)]
        self._scales = {name.removesuffix(SCALE): self._arrays.pop(name) for name in ends}
        for name, array in self._arrays.items():
            if array.dtype == np.int8:
                scale = self._scales.get(name)
                if scale is None or scale.dtype != np.float32 or scale.shape != array.shape[:1]:
                    raise BadFile(f"{str(file)!r} has no scale for each row of {name}.")
                if not np.isfinite(scale).all():
                    raise BadFile(f"{str(file)!r} has scales of {name} that are not finite.")

    def __getitem__(self, name: str) -> Array:
        array = self._arrays[name]
        if array.dtype == np.int8:
            rows: Array = array * self._scales[name].reshape(-1, *[1] * (array.ndim - 1))
            return rows
        if array.dtype == np.uint16:
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def read_weights(file: Path) -> dict[str, Array]:
    return dict(StoredWeights(file))


def _not_weights(file: Path, reason: object) -> BadFile:
    return BadFile(f"{str(file)!r} is not a safetensors file of weights: {reason}.")


def _header_and_body(file: Path) -> tuple[dict[str, Any], memoryview]:
    try:
        data = file.read_bytes()
        length = int.from_bytes(data[:8], "little")
        if len(data) < 8 or length > len(data) - 8:
            raise ValueError("it is too short")
        header = orjson.loads(data[8 : 8 + length])
        if not isinstance(header, dict):
            raise ValueError("its header is not an object")
    except (OSError, ValueError) as error:
        raise _not_weights(file, error) from None
    return header, memoryview(data)[8 + length :]


def _tensors(header: dict[str, Any], body: memoryview) -> dict[str, Array]:
    header.pop(METADATA, None)
    tensors = {}
    for name, entry in header.items():
        if not isinstance(entry, dict) or not entry.keys() >= {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"its entry {name[:80]} is not a tensor")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in _STORED:
            raise ValueError(f"{name[:80]} is {dtype!s:.20}, which is not one of {', '.join(_STORED)}")
        if not (_whole(shape) and _whole(offsets) and len(offsets) == 2):
            raise ValueError(f"{name[:80]} has no valid shape or place")
        begin, end = offsets
        if not begin <= end <= len(body):
            raise ValueError(f"{name[:80]} lies outside the file")
        tensors[name] = np.frombuffer(body[begin:end], _STORED[dtype]).reshape(shape)
    return tensors


def _whole(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def metadata_of(file: Path) -> tuple[dict[str, Any], str]:
    """The metadata of a file of weights, and the hash of its numbers."""
    header, body = _header_and_body(file)
    metadata = header.get(METADATA, {})
    if not isinstance(metadata, dict):
        raise _not_weights(file, "its metadata is not an object")
    return metadata, sha256(body).hexdigest()


def has_bytes(file: Path) -> bool:
    """Whether matrices are stored in whole numbers of one byte."""
    header, _ = _header_and_body(file)
    return any(isinstance(entry, dict) and entry.get("dtype") == "I8" for entry in header.values())


def packed(weights: Mapping[str, Array], dtype: str, metadata: Mapping[str, Any] | None = None) -> bytes:
    """A file of float32 tensors in this number format, rounded to the nearest.

    Args:
        metadata: What the file says about itself; the hash of its numbers is added.
    """
    if dtype not in DTYPES:
        raise UnknownName("number format", dtype, DTYPES)
    tensors: dict[str, tuple[str, Array]] = {}
    for name, array in weights.items():
        if dtype == "int8" and array.ndim > 1:
            numbers, scale = rounded(array)
            tensors[name], tensors[name + SCALE] = ("I8", numbers), ("F32", scale)
        elif dtype == "bfloat16":
            tensors[name] = ("BF16", _bfloat16(array))
        else:
            tensors[name] = ("F32", array)
    # Wide numbers first: every tensor then begins at a multiple of its own width.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1][1].itemsize, item[0]))
    parts = [array.astype(_STORED[kind]).tobytes() for _, (kind, array) in ordered]
    texts = {name: orjson.dumps(value).decode() for name, value in (metadata or {}).items()}
    own = {"format": "pt", **texts}
    if metadata:
        own[NUMBERS] = sha256(b"".join(parts)).hexdigest()
    header: dict[str, Any] = {METADATA: own}
    at = 0
    for name, (kind, array) in ordered:
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (at, at + array.nbytes)}
        at += array.nbytes
    text = orjson.dumps(header)
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def rounded(array: Array) -> tuple[Array, Array]:
    """An array of rows as whole numbers from -127 to 127, and the scale of each row.

    Numbers that were rounded so before stay as they are.
    """
    rows = array.reshape(len(array), -1)
    largest = np.abs(rows).max(1, initial=0)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1)).astype(np.float32)
    return np.rint(rows / scale[:, None]).astype(np.int8).reshape(array.shape), scale


def _bfloat16(array: Array) -> Array:
    """The upper half of each float32, rounded to the nearest, to even where two are as near."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


SETTINGS, WEIGHTS = "nano.json", "model.safetensors"


@dataclass(frozen=True)
class StoredModel:
    """The contents of `nano.json`, and where the weights are."""

    folder: Path
    size: NanoSize
    vocabulary: Vocabulary
    temperature: float
    max_tokens: int
    prompts: int = 1
    """The form of its prompts (`short_prompt`)."""

    @staticmethod
    def read(folder: Path) -> StoredModel:
        try:
            contents = orjson.loads((folder / SETTINGS).read_bytes())
            size, pieces = NanoSize(**contents["size"]), contents["vocabulary"]
            temperature, max_tokens = float(contents["temperature"]), int(contents["max_tokens"])
            if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
                raise TypeError("the vocabulary is not a list of texts")
            if not 0 <= temperature < np.inf or not 1 <= max_tokens < size.longest:
                raise ValueError("its temperature or its max_tokens is out of range")
            prompts = int(contents.get("prompts", 1))
            if not 1 <= prompts <= PROMPTS:
                raise ValueError(f"prompts of form {prompts} are not known")
            return StoredModel(folder, size, Vocabulary(pieces), temperature, max_tokens, prompts)
        except (OSError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise BadFile(f"{folder / SETTINGS} does not describe a nano model: {error}.") from None
        except UsageError as error:
            raise BadFile(f"{folder / SETTINGS} does not describe a nano model: {error}") from None

    def weights(self) -> dict[str, Array]:
        return self._checked(read_weights(self.folder / WEIGHTS))

    def opened(self) -> StoredWeights:
        """The same weights; each is converted to float32 only when it is used."""
        return self._checked(StoredWeights(self.folder / WEIGHTS))

    def _checked(self, weights: W) -> W:
        file = self.folder / WEIGHTS
        for name, shape in self.size.shapes(len(self.vocabulary)).items():
            if name not in weights or (tensor := weights[name]).shape != shape:
                raise BadFile(f"{file} has no tensor {name} of shape {shape}.")
            if not np.isfinite(tensor).all():
                raise BadFile(f"{file} has numbers in {name} that are not finite.")
        return weights


def export(folder: Path, to: Path, dtype: str) -> None:
    """Write the model of a checkpoint for play, without what only training needs; it names its games."""
    metadata = of_checkpoint(folder)
    recipe = metadata.get("recipe")
    trained_on = games_of_recipe(recipe) if recipe else games_of_checkpoint(folder, SETTINGS)
    if not (folder / ROLES).is_file():
        _export(folder, to, dtype, metadata, trained_on)
        return
    game, roles = read_roles(folder)
    for role in roles:
        _export(folder / role, to / role, dtype, metadata | {ROLE: role} if metadata else {}, trained_on)
    write_roles(to, game, roles)


def _export(folder: Path, to: Path, dtype: str, metadata: dict[str, Any], trained_on: Iterable[str]) -> None:
    model = StoredModel.read(folder)
    settings = orjson.dumps(
        orjson.loads((folder / SETTINGS).read_bytes()) | {TRAINED_ON: sorted(trained_on)},
        option=orjson.OPT_INDENT_2,
    )
    if metadata:
        metadata[SETTINGS_HASH] = sha256(settings).hexdigest()
    weights = packed(model.weights(), dtype, metadata)
    try:
        to.mkdir(parents=True, exist_ok=True)
        write_atomically(to / WEIGHTS, weights)
        write_atomically(to / SETTINGS, settings)
    except OSError as error:
        raise BadFile(f"{to} cannot be written: {error.strerror}.") from None


ROLES, ROLE = "roles.json", "role"
"""In the folder of a model whose roles have weights of their own, beside a folder for each; and in the
metadata of these weights, the role."""
_FOLDER = re.compile(r"\w[\w -]*")
"""Names of roles are names of folders, and never lead out of the model's own."""


def holds_nano(folder: Path) -> bool:
    return (folder / SETTINGS).is_file() or (folder / ROLES).is_file()


def size_of(folder: Path) -> int:
    """Bytes of the weights of a stored model, of all its roles."""
    return sum(file.stat().st_size for file in (*folder.glob(WEIGHTS), *folder.glob(f"*/{WEIGHTS}")))


def read_roles(folder: Path) -> tuple[str, tuple[str, ...]]:
    """The game and the roles of a stored model."""
    try:
        contents = orjson.loads((folder / ROLES).read_bytes())
        game, roles = contents["game"], contents["roles"]
        if not isinstance(game, str) or not isinstance(roles, list) or not roles:
            raise TypeError("it does not name a game and its roles")
        if outside := [role for role in roles if not isinstance(role, str) or not _FOLDER.fullmatch(role)]:
            raise ValueError(f"{outside[0]!r:.40} is not the name of a role")
        return game, tuple(roles)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{folder / ROLES} cannot be read: {error}.") from None


def write_roles(folder: Path, game: str, roles: Iterable[str]) -> None:
    contents = {"game": game, "roles": list(roles)}
    write_atomically(folder / ROLES, orjson.dumps(contents, option=orjson.OPT_INDENT_2))


@dataclass(frozen=True)
class Check:
    """One comparison of a model with the metadata of its file of weights."""

    name: str
    ok: bool
    detail: str = ""


def verify_model(folder: Path) -> list[Check]:
    """Whether the files of a model are those that training wrote, and where they come from; of every role,
    where roles have weights of their own."""
    if not (folder / ROLES).is_file():
        return verify_weights(folder)
    game, roles = read_roles(folder)
    folders = sorted(file.parent.name for file in folder.glob(f"*/{SETTINGS}"))
    checks = [Check(f"roles of {game}", folders == sorted(roles), ", ".join(folders))]
    origins = list[dict[str, Any]]()
    for role in roles:
        metadata, _ = metadata_of(folder / role / WEIGHTS)
        recipe = _value(metadata.get("recipe"))
        origins.append(
            {name: metadata[name] for name in metadata if name not in (NUMBERS, SETTINGS_HASH, ROLE)}
        )
        own = [
            *verify_weights(folder / role),
            Check("role", _value(metadata.get(ROLE)) == role),
            Check("game", game in games_of_recipe(recipe), game),
        ]
        checks += [replace(check, name=f"{role}: {check.name}") for check in own]
    return [*checks, Check("all roles come from one run", all(origin == origins[0] for origin in origins))]


def origin(folder: Path) -> dict[str, Any]:
    """The origin of weights, as the metadata of their file states it."""
    metadata, _ = metadata_of(folder / WEIGHTS)
    return {name: _value(text) for name, text in metadata.items() if name not in ("format", NUMBERS)}


def verify_weights(folder: Path) -> list[Check]:
    """Whether the files in a folder with weights are those that training wrote."""
    metadata, numbers = metadata_of(folder / WEIGHTS)
    StoredModel.read(folder).weights()
    facts = origin(folder)
    recipe, trained_on = facts.get("recipe"), games_of_checkpoint(folder, SETTINGS)
    if not isinstance(recipe, dict) or NUMBERS not in metadata:
        return [Check("it says where it comes from", False)]
    settings = sha256((folder / SETTINGS).read_bytes()).hexdigest()
    losses = facts.get("losses")
    losses = losses if isinstance(losses, list) else []
    mean = facts.get(MEAN)
    return [
        Check("numbers", metadata[NUMBERS] == numbers, numbers[:12]),
        Check("settings and vocabulary", facts.get(SETTINGS_HASH) == settings, settings[:12]),
        Check("recipe", facts.get("recipe_sha256") == recipe_hash(recipe), recipe_hash(recipe)[:12]),
        Check("games", trained_on == games_of_recipe(recipe), f"{len(trained_on)} games"),
        Check("commit", bool(facts.get("commit")), str(facts.get("commit"))[:12]),
        Check("source", bool(facts.get("source_sha256")), str(facts.get("source_sha256"))[:12]),
        Check("seeds", bool(facts.get("seeds")), str(orjson.dumps(facts.get("seeds")).decode())),
        Check("data", bool(facts.get("data_sha256")), f"{facts.get('rounds')} rounds"),
        Check("losses", bool(losses), f"{losses[0]} to {losses[-1]}" if losses else ""),
        *([_mean_check(mean)] if mean is not None else ()),
    ]


def _mean_check(mean: Any) -> Check:
    """Of weights that are the mean of two models: what they say of the second."""
    other = mean.get("with") if isinstance(mean, dict) else None
    if not isinstance(other, dict) or not isinstance(recipe := other.get("recipe"), dict):
        return Check(MEAN, False)
    share, commit = mean.get("share"), str(other.get("commit"))[:12]
    right = isinstance(share, float) and 0 <= share <= 1 and other.get("recipe_sha256") == recipe_hash(recipe)
    return Check(MEAN, right, f"{share} of a run of {other.get('updates')} updates from {commit}")


def _value(text: Any) -> Any:
    try:
        return orjson.loads(text) if isinstance(text, str) else None
    except orjson.JSONDecodeError:
        return None
