"""Shared by the tests of models: a picture, a question, and models that retry without delay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import numpy as np
import pytest

from ludens.core.view import Picture
from ludens.draw.picture import Picture as Drawn
from ludens.models import Message, Model, Request, Sampling, model
from tests.support.model_server import ModelServer

Reach = Callable[..., Model]

KEYS = ("OPENAI", "OPENROUTER", "VLLM", "COMPAT", "ANTHROPIC", "GEMINI", "GOOGLE", "MY")


@pytest.fixture(autouse=True)
def _isolated_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Remove keys, prices, caches and proxies of the machine."""
    for name in (*(f"{k}_API_KEY" for k in KEYS), "OPENAI_BASE_URL", "LUDENS_PRICES", "LUDENS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))


def picture(value: int = 0) -> Picture:
    palette = np.array([[200, 30, 30], [30, 30, 200]], np.uint8)
    pixels = np.full((32, 48), value % 2, np.uint8)
    pixels[: value // 2] ^= 1
    return Drawn(pixels, palette)


def conversation(shown: Picture) -> tuple[Message, ...]:
    """Messages of every role, one of them with a picture."""
    return (
        Message("system", ("Play.",)),
        Message("user", (shown, "Move?")),
        Message("assistant", ("Hm.",)),
        Message("user", ("Again!",)),
    )


def question(text: str = "Your legal actions: a1, b2, c3", **sampling: object) -> Request:
    messages = (Message("system", ("Play.",)), Message("user", (picture(), text)))
    return Request(messages, Sampling(**sampling))  # type: ignore[arg-type]


@pytest.fixture
async def reach() -> AsyncIterator[Reach]:
    """Makes models of a server that retry almost at once, and closes them."""
    async with AsyncExitStack() as stack:

        def make(server: ModelServer, options: str = "", name: str = "vllm/tiny") -> Model:
            quick = "" if "backoff=" in options else "backoff=0.001"
            made = model(f"{name}@{server.url}?{'&'.join(filter(None, (options, quick)))}")
            stack.push_async_callback(made.close)
            return made

        yield make
