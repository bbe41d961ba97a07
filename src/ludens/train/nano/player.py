"""A trained small model as a player: `nano`, the one that comes with Ludens, or `nano/PATH`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ludens.core.errors import BadFile, BadOption, MissingExtra
from ludens.core.options import Touch, configure, option
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.models.trained import games_of_checkpoint
from ludens.train.nano.model import NanoModel, Sampler
from ludens.train.nano.stored import SETTINGS, Stored

SHIPPED = Path(__file__).parent / "weights"
"""The model that comes with Ludens."""
TAUGHT = frozenset(
    (
        "tic_tac_toe", "breakthrough", "reversi", "chess", "gomoku", "sudoku", "minesweeper",
        "coin_dilemma", "monster_hunt", "battle_of_colors",
        "comma/wire", "comma/keypad", "comma/who", "spy",
    )
)  # fmt: skip
"""Games in which it learnt to move; in others it names moves that are not legal."""
NUMPY_BATCH, TORCH_BATCH = 32, 256


@dataclass(frozen=True)
class NanoSettings:
    """Options of a small model in a spec."""

    temperature: float = option(0.0, low=0, high=2, help="sampling temperature")
    max_tokens: int = option(0, low=0, help="most tokens in a reply; 0 for as many as in training")
    batch: int = option(
        0, low=0, help=f"most requests in a batch; 0 for {NUMPY_BATCH}, or {TORCH_BATCH} in torch"
    )
    device: str = option("numpy", help="what it runs on: numpy, or a device of torch such as cpu or cuda")


@declares(NanoSettings, Touch.READ)
def nano_model(spec: Spec) -> NanoModel:
    """Make the model of a spec; its weights are loaded with the first request."""
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    wanted = configure(NanoSettings, spec.options, spec.name)
    if wanted.device != "numpy" and find_spec("torch") is None:
        raise MissingExtra(f"{spec.name} with device={wanted.device}", "train")
    folder = Path(spec.rest) if spec.rest else SHIPPED
    if not (folder / SETTINGS).is_file():
        if folder == SHIPPED:
            raise BadFile("this build ships no nano weights; train them with ludens train recipes/nano.toml.")
        raise BadFile(f"{folder} holds no nano model: it has no file {SETTINGS}.")
    identity = {name: text for name, text in spec.options.items() if name not in ("batch", "device")}
    made = NanoModel(str(Spec(spec.name, None, identity)), lambda: _load(spec.name, folder, wanted))
    made.trained_on = games_of_checkpoint(folder, SETTINGS)
    return made


def _load(name: str, folder: Path, wanted: NanoSettings) -> Sampler:
    stored = Stored.read(folder)
    max_tokens = wanted.max_tokens or stored.max_tokens
    if max_tokens >= stored.size.longest:
        raise BadOption(f"{name} needs max_tokens below {stored.size.longest}, its most tokens of all.")
    if wanted.device == "numpy":
        from ludens.train.nano.numpy_sampler import NumpySampler

        return NumpySampler.read(folder, wanted.temperature, max_tokens, wanted.batch or NUMPY_BATCH)
    from ludens.train.nano.policy import NanoPolicy

    try:
        return NanoPolicy.read(
            folder,
            temperature=wanted.temperature,
            max_tokens=max_tokens,
            batch=wanted.batch or TORCH_BATCH,
            device=wanted.device,
        )
    except (AssertionError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadOption(f"{name} cannot run with device={wanted.device}: {reason}.") from None
