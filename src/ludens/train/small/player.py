"""A trained small model as a player: `small/PATH` in specs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import configure, option
from ludens.core.spec import Spec
from ludens.train.small.model import SmallModel

if TYPE_CHECKING:
    from ludens.train.small.policy import SmallPolicy


@dataclass(frozen=True)
class SmallSettings:
    """Options of a small model in a spec."""

    temperature: float = option(0.0, low=0, high=2, help="sampling temperature")
    max_tokens: int = option(0, low=0, help="most tokens in a reply; 0 for as many as in training")
    batch: int = option(256, low=1, help="most requests in a batch")
    device: str = option("auto", help="where it runs: auto, cpu, cuda")


def small_model(spec: Spec) -> SmallModel:
    """Make the model of a spec; its weights are loaded with the first request."""
    if find_spec("torch") is None:
        raise MissingExtra(spec.name, "train")
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    wanted = configure(SmallSettings, spec.options, spec.name)
    folder = Path(spec.name.partition("/")[2])

    def load() -> SmallPolicy:
        from ludens.train.small.policy import SmallPolicy

        longest = {"max_tokens": wanted.max_tokens} if wanted.max_tokens else {}
        return SmallPolicy.read(
            folder, temperature=wanted.temperature, batch=wanted.batch, device=wanted.device, **longest
        )

    return SmallModel(str(spec), load)
