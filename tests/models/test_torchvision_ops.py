"""torchvision is imported beside a torch without CUDA, and a model of the Qwen family is loaded with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ludens.models import Message, Request, model
from tests.models.conftest import picture

BROKEN = """
import sys, torch
from torch.library import register_fake

for name in ("nms", "qnms"):
    @register_fake("torchvision::" + name)
    def described(dets, scores, threshold): ...
worked = True
"""
"""As the import of a wheel whose compiled operators cannot be loaded: it describes what does not exist."""


def test_missing_operators_are_declared(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(BROKEN)
    code = (
        "from ludens.models.torchvision_ops import import_torchvision\n"
        "print(import_torchvision(), import_torchvision())\n"
        "import torchvision; print(torchvision.worked)\n"
    )
    paths = [str(tmp_path), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert done.stdout.split() == ["True"] * 3, done.stderr


@pytest.mark.torchvision
async def test_a_model_of_the_qwen_family_is_loaded(tmp_path: Path) -> None:
    from tests.support.tiny_vlm import build

    build(tmp_path, family="qwen")
    request = Request([Message("user", (picture(), "Well?"))])
    async with model(f"hf/{tmp_path}?temperature=0&max_tokens=3&extend=false") as tiny:
        answer = await tiny.answer(request)
    assert answer.usage.output_tokens == 3
    assert answer.usage.images == 1
