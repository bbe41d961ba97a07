"""Tiny vision-language models with random weights, made in code: every size cut down.

    python -m tests.support.tiny_vlm FOLDER [llava|qwen]

What they say is noise, but everything around them is real: chat template, pictures, batches, generation.
LLaVA works with torch alone; the processors of the Qwen family need torchvision too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

PAD, END, IMAGE, VIDEO = "<pad>", "<end>", "<image>", "<video>"
VISION = "<|vision_start|>", "<|vision_end|>"
SIDE, PATCH = 28, 14
SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: "
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}SHOWN{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def build(folder: Path, seed: int = 0, family: str = "llava") -> Path:
    """Write model, tokenizer and processor into a folder that `from_pretrained` reads."""
    import torch
    from transformers import GenerationConfig

    words = tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model, processor = {"llava": _llava, "qwen": _qwen}[family](words)
    pad, end = _numbers(words, PAD, END)
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def tokenizer() -> Any:
    """A letter a token."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([PAD, END, IMAGE, VIDEO, *VISION])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token=END,
        pad_token=PAD,
        extra_special_tokens={"image_token": IMAGE, "video_token": VIDEO},
    )


def _numbers(tokenizer: Any, *marks: str) -> list[int]:
    return [tokenizer.convert_tokens_to_ids(mark) for mark in marks]


def _llava(tokenizer: Any) -> tuple[Any, Any]:
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    pad, end, image = _numbers(tokenizer, PAD, END, IMAGE)
    size = {"height": SIDE, "width": SIDE}
    processor = LlavaProcessor(
        CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE.replace("SHOWN", IMAGE),
        num_additional_image_tokens=1,
    )
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **SHAPE),
        text_config=LlamaConfig(vocab_size=len(tokenizer), pad_token_id=pad, eos_token_id=end, **SHAPE),
        image_token_index=image,
        vision_feature_layer=-1,
    )
    return LlavaForConditionalGeneration(config), processor


def _qwen(tokenizer: Any) -> tuple[Any, Any]:
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    image, video, begin, close = _numbers(tokenizer, IMAGE, VIDEO, *VISION)
    pixels = {"min_pixels": 4 * PATCH**2, "max_pixels": 64 * PATCH**2}
    processor = Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(**pixels),
        tokenizer,
        Qwen2VLVideoProcessor(**pixels),
        chat_template=TEMPLATE.replace("SHOWN", IMAGE.join(VISION)),
    )
    eye = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 4, "out_hidden_size": 32}
    pad, end = _numbers(tokenizer, PAD, END)
    config = Qwen2_5_VLConfig(
        text_config={
            **SHAPE,
            "vocab_size": len(tokenizer),
            "num_key_value_heads": 2,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]},
            "bos_token_id": None,
            "eos_token_id": end,
            "pad_token_id": pad,
        },
        vision_config={**eye, "patch_size": PATCH, "window_size": 4 * PATCH, "fullatt_block_indexes": [1]},
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=begin,
        vision_end_token_id=close,
    )
    return Qwen2_5_VLForConditionalGeneration(config), processor


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), family=(*sys.argv[2:], "llava")[0]))
