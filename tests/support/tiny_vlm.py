"""A tiny vision-language model with random weights, made in code: LLaVA with every size cut down.

    python -m tests.support.tiny_vlm FOLDER

What it says is noise, but everything around it is real: chat template, pictures, batches, generation.
LLaVA, because its processor works with torch alone; those of the Qwen family need torchvision too.
"""

from __future__ import annotations

import sys
from pathlib import Path

MARKS = ("<pad>", "<end>", "<image>")
SIDE, PATCH = 28, 14
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: "
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}<end>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def build(folder: Path, seed: int = 0) -> Path:
    """Write model, tokenizer and processor into a folder that `from_pretrained` reads."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        CLIPImageProcessorPil,
        CLIPVisionConfig,
        GenerationConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(list(MARKS))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core,
        eos_token="<end>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
    )
    pad, end, image = (tokenizer.convert_tokens_to_ids(mark) for mark in MARKS)
    size = {"height": SIDE, "width": SIDE}
    processor = LlavaProcessor(
        CLIPImageProcessorPil(size=size, crop_size=size, do_center_crop=False),
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        num_additional_image_tokens=1,
    )
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=SIDE, patch_size=PATCH, **shape),
        text_config=LlamaConfig(vocab_size=len(tokenizer), pad_token_id=pad, eos_token_id=end, **shape),
        image_token_index=image,
        vision_feature_layer=-1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlavaForConditionalGeneration(config)
    model.generation_config = GenerationConfig(eos_token_id=end, pad_token_id=pad)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
