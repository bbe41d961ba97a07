"""Tiny vision-language models with random weights, made in code: every size cut down.

    python -m tests.support.tiny_vlm FOLDER [llava|qwen|qwen-32]

What they say is noise, but everything around them is real: chat template, pictures, batches, generation.
LLaVA works with torch alone; a processor of the Qwen family that can be saved needs torchvision too. Heads of
`qwen-32` have 32 numbers, the fewest that vLLM's attention accepts on a CPU.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from benchmarks.random_vlm import (
    END,
    IMAGE,
    PAD,
    PATCH,
    SIZES,
    TEMPLATE,
    VISION,
    Size,
    numbers,
    random_qwen,
    tokenizer,
)
from ludens.models.torchvision_ops import import_torchvision

SIDE = 28
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
_WIDE = {"hidden_size": 64, "intermediate_size": 128}
QWEN = {
    "qwen": SIZES["tiny"],
    "qwen-32": Size(
        {**_WIDE, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1},
        {**_WIDE, "depth": 2, "num_heads": 2, "window_size": 4 * PATCH, "fullatt_block_indexes": [1]},
        (4, 6, 6),
        tied=False,
    ),
}


def build(folder: Path, seed: int = 0, family: str = "llava") -> Path:
    """Write model, tokenizer and processor into a folder that `from_pretrained` reads."""
    model, processor = tiny(family, seed)
    if family != "llava":
        processor = _qwen_processor()
        _make_pictures_matter(model)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def tiny(family: str, seed: int = 0, dtype: str = "float32") -> tuple[Any, Any]:
    """A model and a processor; that of the Qwen family works without torchvision but cannot be saved."""
    import_torchvision()
    if family != "llava":
        return random_qwen(QWEN[family], dtype=dtype, seed=seed)
    import torch
    from transformers import GenerationConfig

    words = tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model, processor = _llava(words)
    pad, end = numbers(words, PAD, END)
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad)
    return model.to(getattr(torch, dtype)).eval(), processor


def _make_pictures_matter(model: Any) -> None:
    """Random weights of this family hardly see: what they say of two pictures is the same."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and ("visual.merger" in name or "self_attn" in name or "lm_head" in name):
                weight.mul_(8)


def _llava(words: Any) -> tuple[Any, Any]:
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    pad, end, image = numbers(words, PAD, END, IMAGE)
    size = {"height": SIDE, "width": SIDE}
    processor = LlavaProcessor(
        CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False),
        words,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE.replace("SHOWN", IMAGE),
        num_additional_image_tokens=1,
    )
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **SHAPE),
        text_config=LlamaConfig(vocab_size=len(words), pad_token_id=pad, eos_token_id=end, **SHAPE),
        image_token_index=image,
        vision_feature_layer=-1,
    )
    return LlavaForConditionalGeneration(config), processor


def _qwen_processor() -> Any:
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessor, Qwen2VLVideoProcessor

    pixels = {"min_pixels": 4 * PATCH**2, "max_pixels": 64 * PATCH**2}
    return Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(**pixels),
        tokenizer(),
        Qwen2VLVideoProcessor(**pixels),
        chat_template=TEMPLATE.replace("SHOWN", IMAGE.join(VISION)),
    )


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), family=(*sys.argv[2:], "llava")[0]))
