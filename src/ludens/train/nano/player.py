"""The player `nano`: a small model that a spec names, in numpy, onnxruntime or torch."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ludens.core.errors import BadFile, BadOption, MissingExtra
from ludens.core.options import Touch, configure, option
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.models.trained import games_of_checkpoint
from ludens.train.nano.margins import read_margins
from ludens.train.nano.model import NanoModel, Sampler
from ludens.train.nano.numpy_player import NumpySampler
from ludens.train.nano.roles import RoleSampler
from ludens.train.nano.weights import (
    ROLES,
    SETTINGS,
    WEIGHTS,
    StoredModel,
    has_bytes,
    holds_nano,
    read_roles,
)

SHIPPED = Path(__file__).parent / "weights"
"""The model that comes with Ludens."""

NUMPY_BATCH, TORCH_BATCH = 32, 256
AUTO, NUMPY = "auto", "numpy"
ONNX = ("onnx", "int8")


@dataclass(frozen=True)
class NanoSettings:
    """Options of a small model in a spec."""

    temperature: float = option(0.0, low=0, high=2, help="sampling temperature")
    max_tokens: int = option(0, low=0, help="most tokens in a reply; 0 for as many as in training")
    batch: int = option(
        0, low=0, help=f"most requests in a batch; 0 for {NUMPY_BATCH}, or {TORCH_BATCH} in torch"
    )
    device: str = option(
        AUTO,
        help="what it runs on: numpy; onnx, faster, the same replies; int8, faster still, may choose another "
        "of equally good moves; a device of torch such as cpu or cuda; auto: onnx where it is installed",
    )


@declares(NanoSettings, Touch.READ)
def nano_model(spec: Spec) -> NanoModel:
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    settings = configure(NanoSettings, spec.options, spec.name)
    _check_device(spec.name, settings)
    folder = Path(spec.rest) if spec.rest else SHIPPED
    if not holds_nano(folder):
        if folder == SHIPPED:
            raise BadFile("this build ships no nano weights; train them with ludens train recipes/nano.toml.")
        raise BadFile(f"{str(folder)!r} holds no nano model: it has no file {SETTINGS}.")
    unnamed = {"batch"} if settings.device == "int8" else {"batch", "device"}
    identity = {name: text for name, text in spec.options.items() if name not in unnamed}
    model = NanoModel(str(Spec(spec.name, None, identity)), lambda: _load(spec.name, folder, settings))
    roles = read_roles(folder)[1] if (folder / ROLES).is_file() else ()
    folders = [folder, *(folder / role for role in roles)]
    model.trained_on = frozenset[str]().union(*(games_of_checkpoint(each, SETTINGS) for each in folders))
    return model


def _check_device(name: str, settings: NanoSettings) -> None:
    device = settings.device
    if device in (AUTO, NUMPY):
        return
    package, extra = ("onnxruntime", "fast") if device in ONNX else ("torch", "train")
    if find_spec(package) is None:
        raise MissingExtra(f"{name} with device={device}", extra)
    if device in ONNX and settings.temperature:
        raise BadOption(f"{name} with device={device} takes the most likely token: temperature must be 0.")


def _load(name: str, folder: Path, settings: NanoSettings) -> Sampler:
    if (folder / ROLES).is_file():
        game, roles = read_roles(folder)
        return RoleSampler(game, {role: _load(name, folder / role, settings) for role in roles})
    model = StoredModel.read(folder)
    max_tokens, device = settings.max_tokens or model.max_tokens, settings.device
    if max_tokens >= model.size.longest:
        raise BadOption(f"{name} needs max_tokens below {model.size.longest}, its most tokens of all.")
    exact = device not in (AUTO, ONNX[0]) or has_bytes(folder / WEIGHTS)
    if device == AUTO:
        fast = exact and not settings.temperature and find_spec("onnxruntime") is not None
        device = ONNX[0] if fast else NUMPY
    elif not exact:
        remedy = "ludens train export with --dtype int8, or device=int8, which rounds them"
        raise BadOption(f"{name} with device={device} needs weights of one byte: {remedy}.")
    if device == NUMPY:
        return NumpySampler(folder, settings.temperature, max_tokens, settings.batch or NUMPY_BATCH)
    if device in ONNX:
        from ludens.train.nano.onnx_player import EQUAL, FAST, OnnxSampler

        rungs, margins = (EQUAL, read_margins(folder)) if device == ONNX[0] else (FAST, {})
        return OnnxSampler(folder, max_tokens, settings.batch or NUMPY_BATCH, rungs, margins)
    from ludens.train.nano.policy import NanoPolicy

    options = {"temperature": settings.temperature, "max_tokens": max_tokens, "device": device}
    try:
        return NanoPolicy.read(folder, batch=settings.batch or TORCH_BATCH, **options)
    except (AssertionError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadOption(f"{name} cannot run with device={device}: {reason}.") from None
