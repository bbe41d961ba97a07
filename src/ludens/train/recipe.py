"""Recipes: everything that determines a training run, in one TOML file with checked sections."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from math import cos, inf, pi
from pathlib import Path
from typing import Any, ClassVar

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.options import Touch, check_options, configure, option, option_values


@dataclass(frozen=True)
class Section:
    """The options of one section; subclasses name it: `class RunOptions(Section, name="run")`."""

    title: ClassVar[str]

    def __init_subclass__(cls, name: str) -> None:
        cls.title = f"the recipe's section [{name}]"

    def __post_init__(self) -> None:
        check_options(self, self.title)


@dataclass(frozen=True)
class TrainingOptions(Section, name="run"):
    """What is trained, on what, and for how long."""

    name: str = option("train", help="name of the run")
    algorithm: str = option("grpo", choices=("grpo", "spo", "sft"), help="how samples become updates")
    seed: int = option(0, low=0, help="of weights, sampling and order")
    iterations: int = option(100, low=0, help="updates by play; sft has none")


@dataclass(frozen=True)
class ModelOptions(Section, name="model"):
    """The policy in training."""

    kind: str = option("nano", choices=("nano", "hf"), help="a small model of ours, or one of transformers")
    path: str = option(
        "", help="folder or hub name of the weights to start from; empty for random ones", touches=Touch.READ
    )
    temperature: float = option(1.0, low=0.01, high=2, help="sampling temperature")
    max_tokens: int = option(48, low=1, help="most tokens in a reply")
    batch: int = option(256, low=1, help="most requests in a batch")
    device: str = option("auto", help="auto, cpu, cuda")
    shard: bool = option(
        False, help="share weights, gradients and optimiser out among the processes of torchrun (FSDP2)"
    )
    # Models of ours.
    width: int = option(192, low=32, help="nano: width of every layer")
    heads: int = option(4, low=1, help="nano: attention heads")
    encoder: int = option(4, low=1, help="nano: layers that see")
    decoder: int = option(4, low=1, help="nano: layers that speak")
    side: int = option(128, low=64, help="nano: pixels per side of pictures")
    longest: int = option(256, low=16, help="nano: most tokens of prompt and reply together")
    roles: bool = option(
        False, help="nano: in play, every role of the game has weights of its own, at first those imitated"
    )
    # Models of transformers.
    lora: int = option(0, low=0, help="hf: rank of LoRA adapters; 0 trains the weights themselves")
    lora_alpha: float = option(0.0, low=0, help="hf: adapters count alpha / rank times; 0 for twice the rank")
    lora_targets: str = option(
        "q k v o gate up down", help="hf: projections of the language model that get adapters"
    )
    lora_dropout: float = option(0.0, low=0, high=0.9, help="hf: dropout before adapters, in updates alone")
    freeze_vision: bool = option(True, help="hf: train the language model only")
    packing: bool = option(
        False, help="hf: updates have all replies of a batch in one row, without padding (optimizer.micro)"
    )
    checkpointing: bool = option(False, help="hf: recompute activations of the language model")
    dtype: str = option(
        "auto",
        choices=("auto", "float32", "bfloat16"),
        help="hf: format of the weights; auto is bfloat16 on GPUs, and the optimiser has float32 copies",
    )
    kv_cache: str = option(
        "dynamic",
        choices=("dynamic", "static"),
        help="hf: grow the key-value cache, or keep its shape so that generation is compiled (CUDA)",
    )
    varlen: bool = option(True, help="hf: attend to all windows of all pictures in one kernel (CUDA)")
    pixel_cache: int = option(2048, low=0, help="hf: MiB of processed pictures kept in memory")
    feature_cache: int = option(
        1024, low=0, help="hf: MiB of picture features kept while vision is frozen; 0 for none"
    )


@dataclass(frozen=True)
class ServerOptions(Section, name="server"):
    """vLLM servers that draw the learner's replies; without an address they are drawn in this process."""

    url: str = option(
        "",
        help="address of the server, such as http://127.0.0.1:8000; several are separated by spaces",
        touches=Touch.CONNECT,
    )
    folder: str = option(
        "", help="where weights are written for it; empty for the output folder", touches=Touch.WRITE
    )
    check: int = option(16, low=1, help="replies per iteration that are compared with the local model")
    gap: float = option(0.1, low=0, help="largest mean difference of log-probabilities in these replies")
    timeout: float = option(600.0, low=1, help="seconds until a request to the server fails")
    retries: int = option(5, low=0, help="retries of a request for a reply, within a minute of errors")

    @property
    def urls(self) -> list[str]:
        return self.url.split()


@dataclass(frozen=True)
class PlayOptions(Section, name="play"):
    """The games of one iteration."""

    game: str = option("tic_tac_toe", help="spec of the game", touches=Touch.GAME)
    episodes: int = option(128, low=1, help="seeds per iteration, over all processes")
    samples: int = option(1, low=1, help="episodes per seed: the group size of GRPO")
    redraws: int = option(
        0,
        low=0,
        help="grpo: how often seeds in which all rewards of a group are equal are replaced by new ones",
    )
    first_seed: int = option(1_000_000, low=0, help="training seeds start here; evaluation seeds lie below")
    seeds: int = option(0, low=0, help="training seeds in all, played in turn (epochs); 0 for ever new ones")
    concurrency: int = option(256, low=1, help="episodes in flight")
    retries: int = option(0, low=0, help="retries after an unreadable or illegal reply")
    listed: bool = option(True, help="legal moves are in the prompt, where a player is shown them")
    size: int = option(256, low=256, high=1024, help="pixels of the longer side of pictures")
    theme: str = option("classic", help="theme of pictures")
    max_tokens: int = option(0, low=0, help="nano: most tokens in a reply of play; 0 for model.max_tokens")
    discount: float = option(-1.0, low=-1, high=1, help="of later rewards (return-to-go); -1 for none")
    workers: int = option(
        0, low=0, help="nano: processes that play, each with a copy of the model; 0 for this one"
    )
    explore: float = option(
        0.0,
        low=0,
        high=1,
        help="nano: share of choices in training that are drawn evenly from the legal ones; spo: decisions",
    )
    ahead: int = option(
        0,
        low=0,
        high=1,
        help="1: the next games are played during the update, by the policy before it; 0: after it",
    )
    held_out: int = option(32, low=0, help="held-out games per iteration, for statistics and switching")
    held_out_seed: int = option(500_000, low=0, help="first seed of held-out games")


@dataclass(frozen=True)
class AdvantageOptions(Section, name="advantage"):
    """How rewards become advantages."""

    kind: str = option(
        "group",
        choices=("group", "role", "gae", "none"),
        help="relative to a group, to a role's baseline, to values that are learnt (turn by turn), or raw",
    )
    reward: str = option(
        "own",
        choices=("own", "both"),
        help="what a reply earns: its own reward, or the lower one of it and its twin (twins=true)",
    )
    group: str = option("seed seat", help="attributes of a sample that make a group")
    decisions: str = option(
        "group",
        choices=("group", "role"),
        help="spo: decisions are compared with others of their group, which teaches nothing where all are "
        "equal, or with those of their role in other games",
    )
    scale: bool = option(True, help="divide by the standard deviation of the group; gae: of all replies")
    discount: float = option(1.0, low=0, high=1, help="gae: what a reward one turn later counts")
    trace: float = option(
        0.95, low=0, high=1, help="gae: lambda, from the next value alone (0) to the whole rest (1)"
    )
    value_lr: float = option(1e-3, low=0, help="gae: learning rate of the value head")
    value_epochs: int = option(8, low=1, help="gae: steps of the value head per iteration")
    alpha: float = option(0.95, low=0, high=1, help="weight of the past in role baselines")
    from_first: bool = option(False, help="start role baselines at the first value instead of 0")
    unreadable: float = option(
        1.0,
        low=0,
        help="taken off the reward of a reply that was not accepted, whose advantage is then never above 0; "
        "0: it earns what the fallback earns",
    )


@dataclass(frozen=True)
class LossOptions(Section, name="loss"):
    """The terms of the loss and how they are averaged."""

    clip: float = option(0.2, low=0, help="clip the probability ratio to 1 +- clip; 0 for no clipping")
    clip_high: float = option(0.0, low=0, help="clip it to 1 + clip_high above 1; 0 for clip")
    kl: float = option(0.04, low=0, help="weight of the KL divergence to the reference; 0 for none")
    kl_estimator: str = option(
        "k3",
        choices=("k2", "k3"),
        help="k2, half the squared log-ratio, has the gradient of KL(policy || reference); k3 as a loss that "
        "of KL(reference || policy)",
    )
    entropy: float = option(0.0, low=0, help="weight of the entropy of the distributions of tokens")
    mask_truncated: bool = option(False, help="leave replies that reached max_tokens out of the update")
    correction: float = option(
        2.0,
        low=0,
        help="play.ahead: most that a token counts by how much more likely it has become since it was drawn; "
        "0 for no correction but the clipped ratio",
    )
    keep: float = option(
        0.0, low=0, help="spo: weight of the KL divergence of replies in the stage that is not trained"
    )
    norm: str = option(
        "sequence",
        choices=("sum", "sequence", "token"),
        help="of a sample's tokens: their sum (Vision-Zero), their mean (GRPO), or the mean over all tokens",
    )


@dataclass(frozen=True)
class OptimizerOptions(Section, name="optimizer"):
    """AdamW with warm-up and a cosine schedule."""

    lr: float = option(1e-5, low=0, help="highest learning rate")
    warmup: float = option(0.1, low=0, high=1, help="share of the steps in which the rate rises to it")
    schedule: str = option("cosine", choices=("cosine", "constant"), help="how the rate falls afterwards")
    weight_decay: float = option(0.0, low=0, help="of AdamW")
    grad_norm: float = option(1.0, low=0, help="longest gradient; 0 for no clipping")
    micro: int = option(8, low=1, help="samples in one forward pass; halved where memory is short")
    tokens: int = option(
        0,
        low=0,
        help="most tokens in one forward pass of several samples, padding included; 0 for micro alone",
    )
    minibatches: int = option(1, low=1, help="optimiser steps per pass over the samples")
    epochs: int = option(1, low=1, help="passes over the samples")
    old: str = option(
        "drawn", choices=("drawn", "recomputed"), help="log-probabilities from which the ratio is taken"
    )

    def rate(self, step: int, steps: int) -> float:
        warm = max(1, int(self.warmup * steps))
        if step < warm:
            return self.lr * (step + 1) / warm
        if self.schedule == "constant":
            return self.lr
        return self.lr * 0.5 * (1 + cos(pi * (step - warm) / max(1, steps - warm)))


@dataclass(frozen=True)
class SwitchOptions(Section, name="switch"):
    """When to switch between the stage of decisions and the one that prepares them (talk). The defaults are
    the paper's."""

    first: str = option("decision", help="stage in which training starts; decision for that of decisions")
    rho: float = option(0.95, low=0, high=1, help="weight of the past in the moving averages")
    accuracy: float = option(
        0.9, low=0, high=1, help="decision -> talk: at least this share of games decided right"
    )
    low_na: float = option(0.1, low=0, high=1, help="decision -> talk: at most this share of abstentions")
    error: float = option(
        0.4, low=0, high=1, help="talk -> decision: at least this share of games decided wrong"
    )
    high_na: float = option(0.5, low=0, high=1, help="talk -> decision: at least this share of abstentions")
    k_min: int = option(5, low=0, help="fewest iterations in a stage")
    patience: int = option(20, low=0, help="iterations after which a switch is forced; 0 for never")
    from_first: bool = option(False, help="start the moving averages at the first value instead of 0")
    relative: bool = option(
        False, help="measure accuracy from the base rate (before training) upwards: 0 there, 1 at perfect"
    )


@dataclass(frozen=True)
class ReferenceOptions(Section, name="reference"):
    """The policy from which the KL divergence is measured."""

    anchor: str = option(
        "start", choices=("start", "switch"), help="the first policy, or a copy taken at each stage switch"
    )


@dataclass(frozen=True)
class Demonstration:
    """One source of replies to imitate: a bot that plays a game, a run folder, or a dataset."""

    game: str = option("", help="spec of the game; empty for that of [play]", touches=Touch.GAME)
    bot: str = option("bot/best", help="player that is imitated, in all seats", touches=Touch.PLAYER)
    player: str = option(
        "", help="plays instead, while the bot says what it would do; empty for the bot", touches=Touch.PLAYER
    )
    episodes: int = option(0, low=0, help="games in each round")
    pool: int = option(
        0,
        low=0,
        help="games in all, played again in later rounds: starts may take long; 0 for ever new",
    )
    run: str = option("", help="run folder whose episodes are imitated instead", touches=Touch.READ)
    data: str = option(
        "", help="hf: folder of Parquet files with prompts, images and replies instead", touches=Touch.READ
    )
    column: str = option("completion", help="column of the replies in a dataset, for example answer")
    list_moves: bool = option(False, help="legal moves are listed before the move")
    listed: bool = option(True, help="legal moves are in the prompt, where a player is shown them")
    refused: float = option(
        0.0, low=0, high=1, help="share of moves that are shown again after a refused reply, which differs"
    )
    sketch: bool = option(
        False, help="nano: boards of `perceive` are drawn in many other ways, not as Ludens draws them"
    )
    steady: bool = option(False, help="nano: pictures are moved by whole pixels: small print stays legible")
    roles: str = option("", help="roles or seats that are imitated, separated by spaces; empty for all")
    theme: str = option("", help="themes of pictures, in turn; empty for those of [supervised]")
    size: str = option("", help="sizes of pictures, in turn; empty for those of [supervised]")

    def __post_init__(self) -> None:
        check_options(self, "the recipe's [[demonstrations]]")
        if sum(map(bool, (self.episodes, self.run, self.data))) != 1:
            raise BadOption("the recipe's [[demonstrations]] need either episodes above 0, or run, or data.")
        if self.pool % (self.episodes or 1):
            raise BadOption("pool of the recipe's [[demonstrations]] must be a multiple of episodes.")
        for word in self.size.split():
            if not word.isdigit() or not 256 <= int(word) <= 1024:
                raise BadOption(f"size of the recipe's [[demonstrations]] must be 256 to 1024, not {word!r}.")


@dataclass(frozen=True)
class SupervisedOptions(Section, name="supervised"):
    """Training on demonstrations, before or instead of play."""

    engine: str = option(
        "trl",
        choices=("trl", "rounds"),
        help="hf: TRL on one round, made first; or rounds that processes make while others are learnt",
    )
    rounds: int = option(1, low=0, help="rounds of new games, each made while the last is learnt; 0: none")
    epochs: int = option(1, low=1, help="passes over a round; with minutes, further ones instead of waiting")
    minutes: float = option(
        0.0,
        low=0,
        help="nano, engine=rounds: time after which no round begins, or learning ends; 0: no limit",
    )
    batch: int = option(256, low=1, help="samples per update")
    lr: float = option(1e-3, low=0, help="highest learning rate")
    vision_lr: float = option(
        0.0, low=0, help="engine=rounds: highest rate of what sees; 0 for lr. New weights need a higher one"
    )
    muon: float = option(0.0, low=0, help="nano: highest rate of matrices of layers, by Muon; 0 for AdamW")
    weight_decay: float = option(0.05, low=0, help="of AdamW and Muon")
    warp: float = option(
        0.0, low=0, high=0.25, help="nano: how far pictures are moved, shrunk or stretched, of their side"
    )
    wear: float = option(
        0.0, low=0, high=0.3, help="nano: share of pictures each that are compressed, blurred or noisy"
    )
    jitter: float = option(0.0, low=0, high=1, help="nano: how much colours are changed at random")
    blank: float = option(0.0, low=0, high=1, help="nano: share of blank pictures, for the blind control")
    theme: str = option("", help="themes of pictures, in turn; empty for that of [play]")
    size: str = option("", help="sizes of pictures, in turn; empty for that of [play]")
    compile: bool = option(False, help="nano: compile the network, which takes a minute or more")
    workers: int = option(0, low=0, help="processes that make samples; 0 for all cores")
    checkpoint: int = option(5, low=1, help="rounds between checkpoints")


@dataclass(frozen=True)
class RehearsalOptions(Section, name="rehearsal"):
    """Demonstrations of games that are not played, learnt beside play so that they are not forgotten."""

    share: float = option(0.0, low=0, high=1, help="nano: share of their episodes; 0 for no rehearsal")
    weight: float = option(1.0, low=0, help="nano: of their loss, beside a gradient of play that is clipped")
    batch: int = option(256, low=1, help="nano: samples beside each update of play")


@dataclass(frozen=True)
class PopulationOptions(Section, name="population"):
    """The past selves that opponents called `past` are drawn from."""

    every: int = option(10, low=1, help="iterations after which the policy joins it; the first one is in it")
    size: int = option(8, low=2, help="most members: the first one and the latest")
    prefer: str = option(
        "even",
        choices=("even", "hard", "any"),
        help="who is drawn more often: members that win about half of their games against the learner, those "
        "that win most, or nobody",
    )


@dataclass(frozen=True)
class MonitorOptions(Section, name="monitor"):
    """What is measured and stored on the way."""

    checkpoint: int = option(25, low=1, help="iterations between checkpoints")
    keep: int = option(3, low=1, help="checkpoints kept")
    blind: int = option(10, low=0, help="iterations between blind controls; 0 for none")
    games: int = option(4, low=0, help="sample games stored with each checkpoint")
    against: str = option(
        "",
        help="opponent in evaluations: frozen, previous, checkpoint:PATH or any agent",
        touches=Touch.PLAYER,
    )
    evaluate: int = option(25, low=1, help="iterations between evaluations")
    evaluation_games: int = option(64, low=1, help="games per role in an evaluation")
    judge: int = option(
        0,
        low=0,
        help="games per role on held-back seeds, by the stored checkpoint with the best evaluation",
    )
    track: str = option(
        "", help="report to trackio:PROJECT, wandb:PROJECT or tensorboard:FOLDER", touches=Touch.CONNECT
    )


@dataclass(frozen=True)
class Opponents:
    """One arrangement of players, drawn with this weight for each seed."""

    players: Mapping[str, str]
    """Role or seat to player: learner, frozen, previous, past, checkpoint:PATH, or any agent spec."""
    weight: float = 1.0
    stage: str = ""
    """Iterative-SPO: drawn only while this stage is trained; empty for both."""


def names_of_players(opponents: Iterable[Opponents]) -> set[str]:
    return {name for arrangement in opponents for name in arrangement.players.values()}


_ARRAYS = ("demonstrations", "opponents")


@dataclass(frozen=True)
class Recipe:
    """A training run."""

    run: TrainingOptions = field(default_factory=TrainingOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    server: ServerOptions = field(default_factory=ServerOptions)
    play: PlayOptions = field(default_factory=PlayOptions)
    advantage: AdvantageOptions = field(default_factory=AdvantageOptions)
    loss: LossOptions = field(default_factory=LossOptions)
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    reference: ReferenceOptions = field(default_factory=ReferenceOptions)
    switch: SwitchOptions = field(default_factory=SwitchOptions)
    supervised: SupervisedOptions = field(default_factory=SupervisedOptions)
    rehearsal: RehearsalOptions = field(default_factory=RehearsalOptions)
    population: PopulationOptions = field(default_factory=PopulationOptions)
    monitor: MonitorOptions = field(default_factory=MonitorOptions)
    demonstrations: tuple[Demonstration, ...] = ()
    opponents: tuple[Opponents, ...] = ()

    @property
    def iterations(self) -> int:
        return 0 if self.run.algorithm == "sft" else self.run.iterations

    @staticmethod
    def of(data: Mapping[str, Any]) -> Recipe:
        sections = {f.name: f for f in fields(Recipe)}
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name not in sections:
                raise UnknownName("section of the recipe", name, sections)
            if name in _ARRAYS:
                if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
                    raise BadOption(f"the recipe's [[{name}]] must be an array of tables.")
                values[name] = tuple(map(_opponents if name == "opponents" else _demonstration, value))
            elif isinstance(value, Mapping):
                kind: Any = sections[name].default_factory
                values[name] = configure(kind, value, kind.title)
            else:
                raise BadOption(f"the recipe's section [{name}] must be a table.")
        return Recipe(**values)

    @staticmethod
    def read(file: Path) -> Recipe:
        """A recipe from a TOML file, which may extend another one: `extends = "common.toml"`."""
        return Recipe.of(_tables(file))

    def as_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            f.name: option_values(getattr(self, f.name)) for f in fields(Recipe) if f.name not in _ARRAYS
        }
        data["demonstrations"] = [option_values(source) for source in self.demonstrations]
        data["opponents"] = list(map(asdict, self.opponents))
        return data

    def override(self, settings: Mapping[str, str]) -> Recipe:
        """This recipe with some values replaced: {"loss.kl": "0.1"}; of demonstrations, in every one."""
        data = self.as_dict()
        for name, value in settings.items():
            section, _, key = name.partition(".")
            if section not in data or section == "opponents" or not key:
                raise BadOption(f"{name!r} is not SECTION.KEY of a recipe.")
            for table in data[section] if section == "demonstrations" else [data[section]]:
                table[key] = value
        return Recipe.of(data)

    @property
    def sources(self) -> tuple[Demonstration, ...]:
        """The demonstrations, with what they take from [supervised] and [play] filled in."""
        play = self.play
        theme, size = self.supervised.theme or play.theme, self.supervised.size or str(play.size)
        return tuple(
            replace(
                source, game=source.game or play.game, theme=source.theme or theme, size=source.size or size
            )
            for source in self.demonstrations
        )


def _tables(file: Path, extended_by: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The tables of a recipe; those of the recipe it extends are replaced key by key."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{str(file)!r} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{str(file)!r} is not TOML: {error}.") from None
    base = tables.pop("extends", None)
    if base is None:
        return tables
    if not isinstance(base, str):
        raise BadOption(f"{file}: extends must name a recipe, a TOML file.")
    if file.resolve() in extended_by:
        raise BadFile(f"{str(file)!r} extends itself.")
    merged = _tables(file.parent / base, (*extended_by, file.resolve()))
    for name, table in tables.items():
        old = merged.get(name)
        merged[name] = {**old, **table} if isinstance(old, dict) and isinstance(table, dict) else table
    return merged


def _demonstration(item: Mapping[str, Any]) -> Demonstration:
    return configure(Demonstration, item, "the recipe's [[demonstrations]]")


def _opponents(item: Mapping[str, Any]) -> Opponents:
    names = tuple(f.name for f in fields(Opponents))
    for key in item:
        if key not in names:
            raise UnknownName("key of the recipe's [[opponents]]", key, names)
    players, weight, stage = item.get("players"), item.get("weight", 1.0), item.get("stage", "")
    if not isinstance(players, dict) or not all(isinstance(player, str) for player in players.values()):
        raise BadOption("the recipe's [[opponents]] need players, a table of role or seat to player.")
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 < weight < inf:
        raise BadOption("the recipe's [[opponents]] need a finite weight above 0.")
    if not isinstance(stage, str):
        raise BadOption("the recipe's [[opponents]] need the name of a stage as stage.")
    return Opponents(dict(players), float(weight), stage)
