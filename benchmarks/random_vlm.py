"""Models of the Qwen2.5-VL architecture with random weights, made in code: nothing is downloaded.

What they say is noise, but everything around them is real: chat template, pictures, batches, generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ludens.models.torchvision_ops import import_torchvision

PAD, END, IMAGE, VIDEO = "<pad>", "<end>", "<image>", "<video>"
VISION = "<|vision_start|>", "<|vision_end|>"
PATCH = 14
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: "
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}SHOWN{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
"""SHOWN stands for the picture token of the family."""


@dataclass(frozen=True)
class Size:
    """Sizes of a language model and a vision tower, as in the configuration of transformers."""

    text: dict[str, Any]
    vision: dict[str, Any]
    positions: tuple[int, int, int]
    """Shares of time, height and width in the rotary embedding."""
    vocabulary: int = 0
    """At least that of the tokenizer."""
    tied: bool = True
    most_patches: int = 64
    """Larger pictures are shrunk."""


def _published(hidden: int, inner: int, layers: int, heads: int, shared: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": shared,
        "max_position_embeddings": 32_768,
    }


_EYE = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16}
_TINY = {"hidden_size": 32, "intermediate_size": 64}
SIZES = {
    "tiny": Size(
        {**_TINY, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
        {**_TINY, "depth": 2, "num_heads": 4, "window_size": 4 * PATCH, "fullatt_block_indexes": [1]},
        (2, 1, 1),
    ),
    "3b": Size(_published(2048, 11_008, 36, 16, 2), _EYE, (16, 24, 24), 151_936, most_patches=1296),
    "7b": Size(
        _published(3584, 18_944, 28, 28, 4), _EYE, (16, 24, 24), 152_064, tied=False, most_patches=1296
    ),
}
"""Those with a number are the published sizes."""


def random_qwen(size: Size, device: str = "cpu", dtype: str = "float32", seed: int = 0) -> tuple[Any, Any]:
    """A model and its processor."""
    import torch

    import_torchvision()
    from transformers import GenerationConfig, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    words = tokenizer()
    pad, end, image, video, begin, close = numbers(words, PAD, END, IMAGE, VIDEO, *VISION)
    config = Qwen2_5_VLConfig(
        text_config={
            **size.text,
            "vocab_size": max(size.vocabulary, len(words)),
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e6,
                "mrope_section": list(size.positions),
            },
            "tie_word_embeddings": size.tied,
            "bos_token_id": None,
            "eos_token_id": end,
            "pad_token_id": pad,
        },
        vision_config={**size.vision, "out_hidden_size": size.text["hidden_size"], "patch_size": PATCH},
        tie_word_embeddings=size.tied,
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=begin,
        vision_end_token_id=close,
    )
    config._attn_implementation = "sdpa"
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.random.fork_rng(), torch.device(device):
            torch.manual_seed(seed)
            model = Qwen2_5_VLForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(before)
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad)
    return model.eval(), qwen_processor(words, size.most_patches)


def qwen_processor(words: Any, most_patches: int) -> Any:
    """A processor without a part for videos, which would need torchvision."""
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessorPil

    class Pictures(Qwen2_5_VLProcessor):
        def check_argument_for_proper_class(self, name: str, argument: Any) -> None: ...

    images = Qwen2VLImageProcessorPil(min_pixels=4 * PATCH**2, max_pixels=most_patches * PATCH**2)
    return Pictures(images, words, None, chat_template=TEMPLATE.replace("SHOWN", IMAGE.join(VISION)))


def tokenizer() -> Any:
    """A tokenizer with one token per byte."""
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


def numbers(words: Any, *marks: str) -> list[int]:
    """Ids of special tokens."""
    return [words.convert_tokens_to_ids(mark) for mark in marks]
