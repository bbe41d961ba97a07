"""Supervised training of a transformers model on demonstrations, with TRL's SFTTrainer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from ludens.core.errors import BadFile, MissingExtra
from ludens.rebuild import Sample as Rebuilt
from ludens.run.dataset import arrow
from ludens.train.checkpoint import save_whole
from ludens.train.demonstrations import demonstrations
from ludens.train.recipe import Recipe
from ludens.train.transformers_policy import TransformersPolicy, pil_image


def supervised_transformers(recipe: Recipe, done: Path, say: Callable[[str], None]) -> TransformersPolicy:
    """The policy with which play starts: read, and trained on demonstrations where there are any."""
    path = recipe.model.path
    if recipe.demonstrations:
        if not done.is_dir():
            # TRL's optimiser has no float32 copies of shorter weights; LoRA's are float32 in any case.
            model = recipe.model if recipe.model.lora else replace(recipe.model, dtype="float32")
            policy = TransformersPolicy.read(path, model)
            rows = list(rows_from(recipe))
            say(f"imitating {len(rows):,} replies with TRL")
            train_supervised(policy, rows, recipe, done.with_name(f".{done.name}.trl"))
            save_whole(policy, done)
        path = str(done)
    return TransformersPolicy.read(path, recipe.model)


def rows_from(recipe: Recipe) -> Iterator[dict[str, Any]]:
    """What is imitated, in the layout of TRL: replies in games, then datasets."""
    played = [source for source in recipe.sources if not source.data]
    yield from rows_of(demonstrations(played, recipe.supervised.workers))
    for source in recipe.sources:
        if source.data:
            yield from rows_in(Path(source.data), source.column)


def rows_in(folder: Path, column: str) -> Iterator[dict[str, Any]]:
    """The rows of a dataset, such as `ludens data viki/plan`: columns `prompt`, `images` and the replies."""
    from PIL import Image

    files = sorted(folder.rglob("*.parquet"))
    if not files:
        raise BadFile(f"{str(folder)!r} has no Parquet files.")
    parquet = arrow().parquet
    wanted = ["prompt", "images", column]
    for file in files:
        try:
            stored = parquet.ParquetFile(file)
            missing = next((name for name in wanted if name not in stored.schema_arrow.names), None)
            if missing is not None:
                raise BadFile(f"{str(file)!r} has no column {missing!r}.")
            batches = stored.iter_batches(batch_size=64, columns=wanted)
            rows = (row for batch in batches for row in batch.to_pylist())
            for row in rows:
                images = [Image.open(BytesIO(image["bytes"])).convert("RGB") for image in row["images"]]
                parts: list[dict[str, Any]] = [{"type": "image", "text": None} for _ in images]
                prompt = [{"role": "user", "content": [*parts, _text(row["prompt"])]}]
                completion = [{"role": "assistant", "content": [_text(row[column])]}]
                yield {"prompt": prompt, "completion": completion, "images": images}
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadFile(f"{str(file)!r} cannot be read as a dataset: {error}.") from None


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def rows_of(rebuilt: Iterable[Rebuilt]) -> Iterable[dict[str, Any]]:
    """Samples in the layout of TRL: a prompt with picture placeholders, a completion, the pictures."""
    for sample in rebuilt:
        prompt = [
            {
                "role": message.role,
                "content": [
                    _text(part) if isinstance(part, str) else {"type": "image", "text": None}
                    for part in message.parts
                ],
            }
            for message in sample.messages
        ]
        completion = [{"role": "assistant", "content": [_text(sample.completion)]}]
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

    wanted, optimizer = recipe.supervised, recipe.optimizer
    cuda = torch.cuda.is_available() and policy.base.device.type == "cuda"
    config = SFTConfig(
        output_dir=str(folder),
        per_device_train_batch_size=min(optimizer.micro, wanted.batch),
        gradient_accumulation_steps=max(1, wanted.batch // optimizer.micro),
        num_train_epochs=wanted.epochs,
        learning_rate=wanted.lr,
        lr_scheduler_type="cosine",
        warmup_steps=optimizer.warmup,
        weight_decay=wanted.weight_decay,
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
