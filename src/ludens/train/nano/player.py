"""A trained small model as a player: `nano/PATH` in specs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import configure, option
from ludens.core.spec import Spec
from ludens.train.nano.model import NanoModel

if TYPE_CHECKING:
    from ludens.train.nano.policy import NanoPolicy


@dataclass(frozen=True)
class NanoSettings:
    """Options of a small model in a spec."""

    temperature: float = option(0.0, low=0, high=2, help="sampling temperature")
    max_tokens: int = option(0, low=0, help="most tokens in a reply; 0 for as many as in training")
    batch: int = option(256, low=1, help="most requests in a batch")
    device: str = option("auto", help="where it runs: auto, cpu, cuda")


def nano_model(spec: Spec) -> NanoModel:
    """Make the model of a spec; its weights are loaded with the first request."""
    if find_spec("torch") is None:
        raise MissingExtra(spec.name, "train")
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    wanted = configure(NanoSettings, spec.options, spec.name)
    folder = Path(spec.name.partition("/")[2])

    def load() -> NanoPolicy:
        from ludens.train.nano.policy import NanoPolicy

        longest = {"max_tokens": wanted.max_tokens} if wanted.max_tokens else {}
        return NanoPolicy.read(
            folder, temperature=wanted.temperature, batch=wanted.batch, device=wanted.device, **longest
        )

    return NanoModel(str(spec), load)
