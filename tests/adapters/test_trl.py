"""TRL: one GRPO step with a tiny model, in which what is learned depends on the picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

trl = pytest.importorskip("trl", reason="TRL: the extra 'train' is not installed, runs with `make adapters`")

from ludens.models.torchvision_ops import import_torchvision  # noqa: E402

import_torchvision()

import torch  # noqa: E402

from benchmarks.random_vlm import IMAGE, VISION  # noqa: E402
from ludens.adapters.trl import environment  # noqa: E402
from tests.support.tiny_vlm import tiny  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.torchvision, pytest.mark.filterwarnings("ignore")]

TEMPLATE = (
    "{% if tools %}tools: {% for tool in tools %}{{ tool | tojson }}{% endfor %}<end>{% endif %}"
    "{% for message in messages %}{{ message['role'] }}: "
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}SHOWN{% else %}{{ part['text'] }}"
    "{% endif %}{% endfor %}{% endif %}"
    "{% for call in message['tool_calls'] or [] %}<tool_call>{{ call['function'] | tojson }}</tool_call>"
    "{% endfor %}"
    "<end>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)
"""Of a small model that calls tools as the Qwen family does."""


def reward_of_variety(completions: list[Any], **_: Any) -> list[float]:
    """Different for different completions, so that there is something to learn."""
    return [float(len(set(str(completion)))) for completion in completions]


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer
    from trl.chat_template_utils import qwen3_template

    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    model, processor = tiny("qwen")
    processor.chat_template = TEMPLATE.replace("SHOWN", IMAGE.join(VISION))
    fields = {**qwen3_template["fields"], "content": {"close_pattern": "<end>", "content": "text"}}
    processor.tokenizer.response_template = {
        **qwen3_template,
        "start_anchor": "assistant: ",
        "fields": fields,
    }
    torch.manual_seed(0)
    rows = [{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(4)]
    folder: Path = tmp_path_factory.mktemp("trl")
    options = GRPOConfig(
        str(folder),
        per_device_train_batch_size=2,
        num_generations=2,
        max_completion_length=8,
        max_steps=1,
        num_iterations=2,
        beta=0.0,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    return GRPOTrainer(
        model,
        reward_funcs=reward_of_variety,
        args=options,
        train_dataset=Dataset.from_list(rows),
        processing_class=processor,
        environment_factory=environment("tic_tac_toe", "x", {"o": "bot/first"}, size=256),
    )


def test_the_version() -> None:
    assert trl.__version__ >= "1.16"


def gradient(trainer: Any, inputs: dict[str, Any]) -> torch.Tensor:
    trainer.model.zero_grad()
    trainer.compute_loss(trainer.model, inputs).backward()
    parts = [p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None]
    return torch.cat(parts)


def test_the_picture_reaches_generation_and_loss(trainer: Any) -> None:
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1  # which `train` would set
    batch = next(iter(trainer.get_train_dataloader()))
    inputs = trainer._prepare_inputs(batch)
    assert inputs["pixel_values"].numel() > 0
    assert inputs["advantages"].abs().sum() > 0
    right = gradient(trainer, inputs)
    assert right.abs().sum() > 0
    vision = [
        p.grad for name, p in trainer.model.named_parameters() if "visual" in name and p.grad is not None
    ]
    assert any(grad.abs().sum() > 0 for grad in vision)
    wrong = gradient(trainer, {**inputs, "pixel_values": torch.zeros_like(inputs["pixel_values"])})
    assert not torch.allclose(right, wrong)
    losses = [
        trainer.compute_loss(trainer.model, {**inputs, "pixel_values": pixels}).item()
        for pixels in (inputs["pixel_values"], torch.zeros_like(inputs["pixel_values"]))
    ]
    assert losses[0] != losses[1]


def test_one_step(trainer: Any) -> None:
    before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
    trainer.train()
    pairs = zip(before, trainer.model.parameters(), strict=True)
    assert any(not torch.equal(first, after) for first, after in pairs)
