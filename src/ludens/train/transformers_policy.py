"""Any vision-language model of transformers as a policy: LoRA or full, vision frozen or not."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from itertools import count
from math import inf
from pathlib import Path
from shutil import move
from threading import Lock
from typing import TYPE_CHECKING, Any

from ludens.core.agent import Agent
from ludens.core.errors import BadFile, BadOption, ModelRejected
from ludens.core.random import stream
from ludens.core.spending import spending
from ludens.core.view import Picture
from ludens.models.chat import Answer, Request, Sampling
from ludens.models.generation import StaticCaches, placeholders
from ludens.models.local import LocalModel
from ludens.models.settings import PromptOptions
from ludens.models.torchvision_ops import import_torchvision
from ludens.models.vision import HASH, CachedImageProcessor, PictureFeatures, join_pictures, use_varlen
from ludens.train import ranks, sharding
from ludens.train.batches import drawn_values, entropies, mask_of, moved, prompts_and_replies
from ludens.train.policy import Player, Policy, Scores, TokenSample
from ludens.train.recipe import ModelOptions

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter

VISION = ("visual", "vision_tower", "vision_model", "multi_modal_projector", "connector")
_PACKED_GAP = 0.1
"""Largest mean difference of log-probabilities in a row of several samples: rounding is far below it."""
LEARNER = "default"
"""The adapter in training, by peft's name; frozen copies have others."""
ADAPTER = "adapter"
"""Where a checkpoint has it; the weights beside it are merged with it."""


@dataclass(frozen=True, eq=False)
class ProcessedPicture:
    """A picture as the model is fed it, made by another process."""

    hash: str
    features: Mapping[str, Any]


TOWERS = ("clip_vision_model", "siglip_vision_model")
"""Whose weights vLLM 0.32 knows by their names before transformers 5.17, which reads both."""


def write_model(model: Any, folder: Path) -> None:
    """Write a model without adapters in the format of transformers, such that vLLM reads it too."""
    renamed = None
    if model.config.model_type == "llava" and model.config.vision_config.model_type in TOWERS:
        tower, before = "vision_tower.", "vision_tower.vision_model."
        weights = model.state_dict()
        renamed = {name if before in name else name.replace(tower, before): weights[name] for name in weights}
    model.save_pretrained(folder, state_dict=renamed)


class TransformersPolicy(Policy):
    """A transformers model and its processor."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        options: ModelOptions,
        prompt: PromptOptions | None = None,
        seed: int = 0,
    ) -> None:
        import torch

        self.processor, self.options, self.prompt = processor, options, prompt or PromptOptions()
        # Since torch 2.11 its gradients are nan on Hopper where there is a mask (padding) and rows are 64
        # modulo 128 wide: https://github.com/pytorch/pytorch/issues/196678.
        torch.backends.cuda.enable_cudnn_sdp(False)
        self.adapter = LEARNER
        """The adapter of this policy, with LoRA: frozen copies share all other weights with the learner."""
        self._copies = count(1)
        self._turn = Lock()
        """Copies generate one after the other: they have the model, or its caches, in common."""
        if options.freeze_vision:
            for name, parameter in model.named_parameters():
                if any(part in name for part in VISION):
                    parameter.requires_grad_(False)
        if options.lora:
            from peft import LoraConfig, get_peft_model

            config = LoraConfig(
                r=options.lora,
                lora_alpha=options.lora_alpha or 2 * options.lora,
                lora_dropout=options.lora_dropout,
                target_modules=rf".*language_model.*\.({'|'.join(options.lora_targets.split())})_proj",
            )
            with torch.random.fork_rng():
                torch.manual_seed(stream(seed, "adapter").below(2**63))
                try:
                    model = get_peft_model(model, config)
                except ValueError:
                    raise BadOption(
                        f"model.lora_targets: the language model has none of {options.lora_targets!r}."
                    ) from None
        self.model = model.eval()  # new adapters come with dropout switched on
        if options.varlen:
            use_varlen(self.base)
        self._trains_vision = any(
            parameter.requires_grad and not any(part in name for part in ("language_model", "lm_head"))
            for name, parameter in model.named_parameters()
        )
        self._features = PictureFeatures(options.feature_cache * 2**20)
        self._images = CachedImageProcessor(processor.image_processor, options.pixel_cache * 2**20)
        self._live: LocalModel | None = None
        self._caches = StaticCaches(options.batch) if options.kv_cache == "static" else None
        self._suppressed = placeholders(self.base)
        self._packs = False
        """Whether it is known that samples in one row do not see each other."""
        self._takes_kinds = "mm_token_type_ids" in signature(self.base.forward).parameters
        if options.checkpointing:
            self._checkpoint_language_model()

    @staticmethod
    def read(path: str, options: ModelOptions, seed: int = 0) -> TransformersPolicy:
        import torch

        import_torchvision()
        from transformers import AutoModelForImageTextToText, AutoProcessor

        device = chosen_device(options)
        short = options.dtype == "bfloat16" or (options.dtype == "auto" and device != "cpu")
        dtype = torch.bfloat16 if short else torch.float32
        try:
            processor = AutoProcessor.from_pretrained(path)
            if getattr(processor, "image_processor", None) is None:
                raise BadOption(f"hf/{path} does not take pictures.")
            # A sharded model need not fit one GPU: its layers are moved there one by one.
            place = "cpu" if options.shard and ranks.world()[1] > 1 else device
            model = AutoModelForImageTextToText.from_pretrained(path, dtype=dtype).to(place)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            message = " ".join(str(error).split())[:300]
            raise ModelRejected(f"hf/{path} cannot be loaded: {message}") from None
        return TransformersPolicy(model, processor, options, seed=seed)

    @property
    def base(self) -> Any:
        """The transformers model without the wrapper of peft."""
        return self.model.get_base_model() if self.options.lora else self.model

    @property
    def device(self) -> Any:
        return self.base.device

    @property
    def sampler(self) -> LocalModel:
        if self._live is None:
            model = _PolicyModel.live(
                self.model,
                self.processor,
                logprobs=True,
                temperature=self.options.temperature,
                max_tokens=self.options.max_tokens,
                batch=self.options.batch,
                pixel_cache=self.options.pixel_cache,
                kv_cache=self.options.kv_cache,
                # The composition of a batch must not depend on timing: it starts when all games wait.
                gather=600_000.0,
            )
            assert isinstance(model, _PolicyModel)
            model.policy, model._static = self, self._caches
            self._live = model
        return self._live

    def agent(self, *, blind: bool = False) -> Agent:
        return Player(self.sampler, replace(self.prompt, blind=blind), policy=self)

    def parameters(self) -> list[Parameter]:
        if self.adapter != LEARNER:
            return []
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    @contextmanager
    def known_features(self, pictures: Sequence[Picture]) -> Iterator[None]:
        """Compute features once for each picture of the next forward pass, where vision is frozen."""
        if not self.options.feature_cache or self._trains_vision:
            yield
            return
        with self._features.reuse(self.base, [picture.hash for picture in pictures]):
            yield

    def score(self, samples: Sequence[TokenSample], *, entropy: bool = False, state: bool = False) -> Scores:
        import torch

        if self.options.packing and len(samples) > 1:
            return self._score_packed(samples, entropy, state)
        inputs, mask = self.collate(samples)
        width = mask.shape[1]
        pictures = [picture for sample in samples for picture in sample.pictures]
        with self.active(), self.known_features(pictures), _hidden_states(self.base, state) as states:
            # Not the wrapper of peft, which calls the model's `forward` past its hooks.
            logits = self.base(**inputs, logits_to_keep=width + 1, use_cache=False).logits[:, :-1]
        temperatures = torch.tensor([s.temperature for s in samples], device=logits.device)
        values = self._distribution(logits, temperatures[:, None, None])
        return Scores(
            drawn_values(values, inputs["input_ids"], mask),
            mask,
            entropies(values) if entropy else None,
            states[0][:, -width - 1] if state else None,
        )

    def _score_packed(self, samples: Sequence[TokenSample], entropy: bool, state: bool) -> Scores:
        import torch

        padded, mask = self.collate(samples)
        row = PackedRow.of(self.base, padded, mask)
        pictures = [picture for sample in samples for picture in sample.pictures]
        with self.active(), self.known_features(pictures), _hidden_states(self.base, state) as states:
            logits = self.base(**row.inputs, logits_to_keep=row.places, use_cache=False).logits[0]
        temperatures = torch.tensor([s.temperature for s in samples], device=logits.device)
        values = self._distribution(logits, row.each(temperatures)[:, None])
        ids = padded["input_ids"][:, -mask.shape[1] :][mask.bool()]
        scores = Scores(
            row.spread(values.gather(-1, ids[:, None])[:, 0]),
            mask,
            row.spread(entropies(values)) if entropy else None,
            states[0][0][row.firsts] if state else None,
        )
        if not self._packs:
            self._check_packing(samples[:2])
        return scores

    def _distribution(self, logits: Tensor, temperatures: Tensor) -> Tensor:
        """Log-probabilities; suppressed tokens have none."""
        scaled = logits.float() / temperatures
        if self._suppressed:
            scaled[..., list(self._suppressed)] = -inf
        return scaled.log_softmax(-1)

    def _check_packing(self, samples: Sequence[TokenSample]) -> None:
        """Models that do not tell the samples of a row apart would learn from others than were drawn."""
        import torch

        self._packs, training = True, self.model.training
        self.model.eval()
        with torch.no_grad():
            packed, mask = self.logprobs(samples)
            alone = torch.cat([self.logprobs([sample])[0].flatten() for sample in samples])
        self.model.train(training)
        apart = float((packed[mask.bool()] - alone).abs().mean())
        if not apart < _PACKED_GAP:
            raise BadOption(
                "model.packing: this model does not keep the replies of a row apart (log-probabilities "
                f"differ by {apart:.2f} per token): set it to false."
            )

    def collate(self, samples: Sequence[TokenSample]) -> tuple[dict[str, Tensor], Tensor]:
        """The model's inputs and the mask of the completions.

        Prompts are padded on the left and completions on the right; the pixels of all pictures follow in the
        order of their placeholders.
        """
        import torch

        pad = self.processor.tokenizer.pad_token_id or 0
        ids, mask = prompts_and_replies(samples, pad)
        prompt_mask = mask_of([s.prompt_ids for s in samples], left=True)
        inputs = {"input_ids": ids, "attention_mask": torch.cat([prompt_mask, mask], 1).long()}
        if self._takes_kinds:
            # Positions of pictures depend on it, and nothing complains where it is missing.
            inputs["mm_token_type_ids"] = (ids == self.base.config.image_token_id).int()
        pictures = [picture for sample in samples for picture in sample.pictures]
        if pictures:
            inputs.update(self._pixels(pictures))
        device, dtype = self.base.device, self.base.dtype
        tensors = {name: moved(tensor, device) for name, tensor in inputs.items()}
        tensors = {name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()}
        return tensors, moved(mask, device)

    def _pixels(self, pictures: Sequence[Picture | ProcessedPicture]) -> Any:
        processed = [picture.features for picture in pictures if isinstance(picture, ProcessedPicture)]
        if len(processed) == len(pictures):
            return join_pictures(processed)
        return self._images([pil_image(picture) for picture in pictures], return_tensors="pt")

    def shard(self) -> None:
        """Each layer of the language model is a unit. What sees is in one with the rest, which every pass
        needs: pictures may be missing or known, and ranks would wait for one another in vain."""
        import torch

        short = self.base.dtype == torch.bfloat16 and not self.options.lora
        if short:  # these are the float32 copies of the optimiser
            self.model.float()
        self._skeleton = sharding.skeleton(self.model)
        device = chosen_device(self.options)
        self._share_out = partial(_share_out, device=device, short=short)
        self._share_out(self.base)
        self.sharded = True
        with self.unsharded():  # while the learner's adapter is the one that is trained
            pass

    @contextmanager
    def unsharded(self) -> Iterator[None]:
        with sharding.unsharded(self.base) if self.sharded else nullcontext():
            yield

    def whole(self) -> TransformersPolicy:
        if not self.sharded:
            return self
        adapters = [f".{name}." for name in getattr(self.model, "peft_config", ()) if name != self.adapter]
        weights = {
            name.replace(f".{self.adapter}.", f".{LEARNER}."): sharding.whole(value)
            for name, value in self.model.named_parameters()
            if not any(adapter in name for adapter in adapters)
        }
        twin = copy.copy(self)
        twin.model, twin.adapter = copy.deepcopy(self._skeleton), LEARNER
        twin.sharded, twin._live = False, None
        sharding.fill(twin.model, weights, dict(self.model.named_buffers()))
        return twin

    def frozen(self) -> Policy:
        twin = copy.copy(self)
        twin._live = None
        if self.sharded and not self.options.lora:
            twin.model = sharding.frozen_copy(self.model, self._skeleton, self._share_out, self.device)
            return twin
        if not self.options.lora:
            twin.model = copy.deepcopy(self.model).requires_grad_(False).eval()
            # The compiled step of generation, kept there by transformers, has the original's weights.
            vars(twin.model).pop("_compiled_call", None)
            return twin
        training = self.model.training
        twin.adapter = f"frozen{next(self._copies)}"
        self.model.add_adapter(twin.adapter, self.model.peft_config[LEARNER])
        weights = dict(self.model.named_parameters())
        for name, parameter in weights.items():
            if f".{twin.adapter}." in name:
                source = weights[name.replace(f".{twin.adapter}.", f".{self.adapter}.")]
                parameter.data.copy_(sharding.whole(source))
        self.model.set_adapter(LEARNER)
        self.model.train(training)
        return twin

    def release(self) -> None:
        self._live = None
        if self.adapter != LEARNER:
            self.model.delete_adapter(self.adapter)
            self.model.set_adapter(LEARNER)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Use the adapter of this policy, where it has one of its own; adapters compute as the weights do."""
        import torch

        short = bool(self.options.lora) and self.base.dtype == torch.bfloat16
        training = self.model.training
        if self.adapter != LEARNER:
            self.model.set_adapter(self.adapter)
            self.model.eval()  # the model is that of the learner, which may have dropout in its updates
        try:
            with torch.autocast(self.base.device.type, torch.bfloat16, enabled=short):
                yield
        finally:
            if self.adapter != LEARNER:
                self.model.set_adapter(LEARNER)
                self.model.train(training)

    def reseed(self, *names: int) -> None:
        import torch

        super().reseed(*names)
        torch.manual_seed(stream(0, "policy", *names).below(2**63))
        # Their last bits depend on the batch in which they were computed, and so on what came before.
        self._features.clear()

    def train(self, training: bool) -> None:
        self.model.train(training)

    def save(self, folder: Path) -> None:
        self.processor.save_pretrained(folder)
        if not self.options.lora:
            write_model(self.model, folder)
            return
        adapter = folder / ADAPTER
        self.model.save_pretrained(adapter, selected_adapters=[self.adapter])
        if self.adapter != LEARNER:
            # peft puts all but the default one into a folder of its own.
            for file in (adapter / self.adapter).iterdir():
                move(file, adapter)
            (adapter / self.adapter).rmdir()
        merged = copy.deepcopy(self.model).merge_and_unload(adapter_names=[self.adapter])
        write_model(merged, folder)

    def load(self, folder: Path) -> None:
        self._features.clear()
        if self.options.lora:
            from peft import set_peft_model_state_dict
            from safetensors.torch import load_file

            file = folder / ADAPTER / "adapter_model.safetensors"
            if not file.is_file():
                raise BadFile(
                    f"{folder} holds no LoRA adapter: it is no checkpoint of a run with model.lora."
                )
            if not self.sharded:
                set_peft_model_state_dict(self.model, load_file(file), adapter_name=self.adapter)
                return
            hollow = copy.deepcopy(self._skeleton)
            names = [name for name, _ in hollow.named_parameters() if f".{LEARNER}." in name]
            for name in names:  # memory for the adapter alone
                sharding.make_empty(hollow.get_submodule(name.rpartition(".")[0]), "cpu")
            set_peft_model_state_dict(hollow, load_file(file), adapter_name=LEARNER)
            adapter = {name: hollow.get_parameter(name) for name in names}
            own = {name.replace(f".{LEARNER}.", f".{self.adapter}."): adapter[name] for name in names}
            sharding.set_weights(self.model, own)
            return
        # Not from the files themselves: transformers gives weights other names there.
        kind = type(self._skeleton if self.sharded else self.model)
        weights = kind.from_pretrained(folder, dtype=self.model.dtype).state_dict()
        if self.sharded:
            sharding.set_weights(self.model, weights)
        else:
            self.model.load_state_dict(weights)

    def _checkpoint_language_model(self) -> None:
        """Recompute the language model only: it has most of the activations."""
        language = getattr(self.base.model, "language_model", None)
        if language is None:
            raise BadOption("checkpointing: this model has no separate language model.")
        language.gradient_checkpointing_enable({"use_reentrant": False})
        # Recomputing needs no gradient of the embeddings, and transformers would compute one.
        language.disable_input_require_grads()


def chosen_device(options: ModelOptions) -> str:
    import torch

    if options.device != "auto":
        return options.device
    return "cuda" if torch.cuda.is_available() else "cpu"


def _share_out(model: Any, device: str, short: bool) -> None:
    language = getattr(model.model, "language_model", None)
    layers = getattr(language, "layers", None)
    if layers is None:
        raise BadOption("model.shard: this model has no language model with layers.")
    sharding.share_out(model, list(layers), device, short)


@contextmanager
def _hidden_states(model: Any, on: bool) -> Iterator[list[Tensor]]:
    """The hidden states from which the next forward pass computes logits: (rows, tokens, width)."""
    states: list[Tensor] = []
    if not on:
        yield states
        return

    def keep(_: Any, inputs: tuple[Tensor, ...]) -> None:
        states.append(inputs[0])

    hook = model.get_output_embeddings().register_forward_pre_hook(keep)
    try:
        yield states
    finally:
        hook.remove()


class _PolicyModel(LocalModel):
    """Samples with the weights of a policy."""

    policy: TransformersPolicy

    async def _generated(self, request: Request, sampling: Sampling) -> Answer:
        # Seeds are those of rows: requests with unlike ones share a batch.
        return await super()._generated(request, replace(sampling, seed=None))

    def row_seeds(self, items: Any) -> list[int] | None:
        seeds = [item.request.sampling.seed for item in items]
        return None if None in seeds else seeds

    def generate(self, items: Any) -> Any:
        pictures = [picture for item in items for picture in item.request.pictures]
        with (
            self.policy._turn,
            spending("sample"),
            self.policy.active(),
            self.policy.known_features(pictures),
        ):
            return super().generate(items)


def pil_image(picture: Any) -> Any:
    from PIL import Image

    image = Image.fromarray(picture.rgb())
    image.info[HASH] = picture.hash
    return image


@dataclass
class PackedRow:
    """The inputs of a model of transformers, and which of its logits belong to which token."""

    inputs: dict[str, Tensor]
    """Without an attention mask: where positions begin anew, a sample begins, which sees no other."""
    places: Tensor
    """Of the tokens before those of replies, which predict them."""
    mask: Tensor
    """Of the tokens of replies, (samples, longest reply)."""

    @staticmethod
    def of(model: Any, padded: dict[str, Tensor], mask: Tensor) -> PackedRow:
        """Take the padding out of a batch whose prompts end where replies begin.

        Args:
            model: The model of transformers, whose positions may have several axes for pictures.
            padded: Its inputs.
            mask: Of the tokens of replies, which come last.
        """
        import torch

        inputs, real = dict(padded), padded["attention_mask"].bool()
        text = inputs.pop("attention_mask").cumsum(1) - 1
        positions = text[real][None]
        if axes := getattr(model.model, "get_rope_index", None):
            kinds, grids = inputs["mm_token_type_ids"], inputs.get("image_grid_thw")
            three = text.expand(3, -1, -1)
            if grids is not None:
                three = axes(inputs["input_ids"], kinds, grids, attention_mask=padded["attention_mask"])[0]
            # With four rows, the first one tells samples apart.
            positions = torch.cat([text[None], three.to(text.device)])[:, real][:, None]
        for name in ("input_ids", "mm_token_type_ids"):
            if name in inputs:
                inputs[name] = inputs[name][real][None]
        predicts = torch.zeros_like(real)
        predicts[:, -mask.shape[1] - 1 : -1] = mask.bool()
        return PackedRow({**inputs, "position_ids": positions}, predicts[real].nonzero()[:, 0], mask)

    def spread(self, values: Tensor) -> Tensor:
        """One value for each token of a reply as (samples, longest reply), 0 where there is none."""
        empty = values.new_zeros(self.mask.shape)
        return empty.masked_scatter(self.mask.bool(), values)

    def each(self, values: Tensor) -> Tensor:
        """The value of its sample for each token of a reply."""
        return values[:, None].expand(self.mask.shape)[self.mask.bool()]

    @property
    def firsts(self) -> Tensor:
        """Which of the places predict the first token of a reply."""
        lengths = self.mask.sum(1).long()
        return lengths.cumsum(0) - lengths
