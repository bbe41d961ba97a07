"""Supervised training of a transformers model on demonstrations, with TRL's SFTTrainer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ludens.core.errors import MissingExtra
from ludens.rebuild import Sample as Rebuilt
from ludens.train.checkpoint import save_whole
from ludens.train.demonstrations import demonstrations
from ludens.train.recipe import Recipe
from ludens.train.transformers_policy import TransformersPolicy, pil_image


def supervised_transformers(recipe: Recipe, done: Path, say: Callable[[str], None]) -> TransformersPolicy:
    """The policy with which play starts: read, and trained on demonstrations where there are any."""
    wanted = recipe.demonstrations
    path = recipe.model.path
    if wanted.episodes or wanted.run:
        if not done.is_dir():
            # TRL's optimiser has no float32 copies of shorter weights; LoRA's are float32 in any case.
            model = recipe.model if recipe.model.lora else replace(recipe.model, dtype="float32")
            policy = TransformersPolicy.read(path, model)
            rows = list(rows_of(demonstrations(recipe.play, wanted)))
            say(f"imitating {len(rows):,} replies with TRL")
            train_supervised(policy, rows, recipe, done.with_name(f".{done.name}.trl"))
            save_whole(policy, done)
        path = str(done)
    return TransformersPolicy.read(path, recipe.model)


def rows_of(rebuilt: Iterable[Rebuilt]) -> Iterable[dict[str, Any]]:
    """Samples in the layout of TRL: a prompt with picture placeholders, a completion, the pictures."""
    for sample in rebuilt:
        prompt = [
            {
                "role": message.role,
                "content": [
                    {"type": "text", "text": part}
                    if isinstance(part, str)
                    else {"type": "image", "text": None}
                    for part in message.parts
                ],
            }
            for message in sample.messages
        ]
        completion = [{"role": "assistant", "content": [{"type": "text", "text": sample.completion}]}]
        images = [pil_image(picture) for picture in sample.pictures]
        yield {"prompt": prompt, "completion": completion, "images": images}


def train_supervised(
    policy: TransformersPolicy, rows: list[dict[str, Any]], recipe: Recipe, folder: Path
) -> list[float]:
    """Train the policy in place; returns the losses that were logged.

    `max_length=None`: a limit that cuts a completion trains on nothing, without an error.
    """
    try:
        from datasets import Dataset
        from trl import SFTConfig, SFTTrainer
    except ImportError:
        raise MissingExtra("supervised training of hf models", "train") from None
    import torch

    wanted, optimizer = recipe.demonstrations, recipe.optimizer
    cuda = torch.cuda.is_available() and policy.base.device.type == "cuda"
    config = SFTConfig(
        output_dir=str(folder),
        per_device_train_batch_size=min(optimizer.micro, wanted.batch),
        gradient_accumulation_steps=max(1, wanted.batch // optimizer.micro),
        num_train_epochs=wanted.epochs,
        learning_rate=wanted.lr,
        lr_scheduler_type="cosine",
        warmup_steps=optimizer.warmup,
        weight_decay=optimizer.weight_decay,
        max_grad_norm=optimizer.grad_norm or 1e9,
        max_length=None,
        completion_only_loss=True,
        gradient_checkpointing=False,
        use_cpu=not cuda,
        bf16=cuda,
        seed=recipe.run.seed,
        report_to=[],
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = SFTTrainer(
        model=policy.model,
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=policy.processor,
    )
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
