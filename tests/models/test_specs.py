"""Specs of models: options, identity, errors, and the separation of model and prompt."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import BadOption, MissingExtra, MissingKey, UnknownName, UsageError
from ludens.core.options import options_of
from ludens.core.spec import Spec
from ludens.models import MODELS, Answer, Model, Request, model
from ludens.models.cache import Cached
from ludens.models.client import Client
from ludens.models.local import LocalSettings
from ludens.models.settings import ModelSpec, NetworkSettings, PromptOptions, is_model, seat_spec
from tests.models.conftest import question


def test_spec_has_only_options_that_affect_answers() -> None:
    made = model("vllm/Qwen/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1?rpm=9&effort=low&temperature=0&timeout=7")
    assert made.spec == "vllm/Qwen/Qwen2.5-VL-7B?temperature=0&reasoning_effort=low"
    assert model(made.spec).spec == made.spec


def test_spec_has_the_address_unless_it_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model("vllm/tiny@http://gpu:9/v1/").spec == "vllm/tiny@http://gpu:9/v1"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert model("openai/gpt-4.1").spec == "openai/gpt-4.1"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1")
    assert model("openai/gpt-4.1").spec == "openai/gpt-4.1@https://proxy.example/v1"


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("opneai/gpt-4.1", UnknownName, "did you mean 'openai'"),
        ("vllm/tiny?temprature=0", UnknownName, "did you mean 'temperature'"),
        ("vllm/tiny?cahce=x", UnknownName, "did you mean 'cache'"),
        ("vllm/tiny?temperature=hot", BadOption, "must be a number"),
        ("vllm/tiny?temperature=3", BadOption, "at most 2"),
        ("vllm/tiny?max_tokens=0", BadOption, "at least 1"),
        ("vllm/tiny?detail=lowest", UnknownName, "did you mean 'low'"),
        ("vllm/tiny?effort=low&reasoning_effort=high", BadOption, "are the same"),
        ("vllm/tiny?extra=[1]", BadOption, "must be a JSON object"),
        ("vllm/tiny@gpu:8000", BadOption, "an address is http://HOST:PORT/PATH"),
        ("vllm/tiny@http://gpu:99999/v1", BadOption, "an address is"),
        ("vllm/", BadOption, "needs a model name"),
        ("compat/tiny", BadOption, "needs an address"),
        ("openai/gpt-4.1", MissingKey, "set the environment variable OPENAI_API_KEY."),
        ("openrouter/some/model", MissingKey, "OPENROUTER_API_KEY"),
        ("compat/tiny@http://gpu/v1?key_env=MY_API_KEY", MissingKey, "MY_API_KEY"),
    ],
)
def test_wrong_specs(spec: str, error: type[UsageError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        model(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    [
        "vllm/tiny@http://user:sk-very-secret@gpu:8000/v1",
        "vllm/tiny@ftp://user:sk-very-secret@gpu:8000/v1",
        "vllm/tiny?key_env=sk-very-secret",
        "vllm/tiny?api_key=sk-very-secret",
    ],
)
def test_misplaced_key_is_not_quoted(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(spec)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-very\nsecret", "Bearer sk-secret", "sk-\x07secret"])
def test_invalid_key_is_not_quoted(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadOption, match="the key in OPENAI_API_KEY contains white space") as caught:
        model("openai/gpt-4.1")
    assert "secret" not in str(caught.value)


def test_models_of_other_packages(tmp_path: object) -> None:
    class Parrot(Model):
        async def answer(self, request: Request) -> Answer:
            return Answer(str(request.messages[-1].parts[-1]))

    MODELS.register("parrot", lambda spec: Parrot(str(spec)))
    try:
        assert model("parrot/grey?age=3").spec == "parrot/grey?age=3"
        assert isinstance(model(Spec("parrot/grey")), Parrot)
    finally:
        del MODELS._added["parrot"]


def test_digest_covers_the_whole_request() -> None:
    base = question()
    same = question()
    others = [question("Other"), question(temperature=0.0), question(max_tokens=3)]
    others.append(replace(base, sample=1))
    digests = {q.digest("vllm/tiny") for q in (base, *others)} | {base.digest("vllm/big")}
    assert len(digests) == 6
    assert same.digest("vllm/tiny") == base.digest("vllm/tiny")


def test_every_option_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")
    assert [
        name for name in options_of(NetworkSettings) | options_of(LocalSettings) if f"`{name}`" not in page
    ] == []
    assert [
        name for name in options_of(PromptOptions) if f"`--{name}" not in page and f"`?{name}=" not in page
    ] == []


def test_importing_models_loads_no_http() -> None:
    code = "import sys, ludens.models; sys.exit('aiohttp' in sys.modules or 'sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("anthropic/claude-x", "anthropic", "anthropic"),
        ("google/gemini-x", "google.genai", "google"),
    ],
)
def test_missing_extra(spec: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    if module == "google.genai":
        monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(MissingExtra, match=rf"pip install 'ludens\[{extra}\]'"):
        model(spec)


def test_model_and_prompt_are_separated() -> None:
    spec = ModelSpec.parse("vllm/tiny@http://gpu/v1?temperature=0&style=cot&frames=2&rpm=9")
    assert str(spec.own) == "vllm/tiny@http://gpu/v1?temperature=0&rpm=9"
    assert spec.prompt == PromptOptions(style="cot", frames=2)
    assert spec.is_network
    made = spec.make()
    assert made.spec == "vllm/tiny@http://gpu/v1?temperature=0"
    assert seat_spec(made.spec, spec.prompt) == "vllm/tiny@http://gpu/v1?temperature=0&style=cot&frames=2"
    assert seat_spec("hf/x", PromptOptions(blind=True)) == "hf/x?blind=true"


def test_which_specs_are_models() -> None:
    assert [is_model(spec) for spec in ("openai/gpt-4.1", "hf/x", "bot/random", "human")] == [
        True,
        True,
        False,
        False,
    ]
    assert not ModelSpec.parse("hf/x").is_network
    with pytest.raises(UnknownName, match="kind of model 'bot'"):
        ModelSpec.parse("bot/random")


@pytest.mark.parametrize(
    ("options", "limit"),
    [("", None), ("?concurrency=8", 8), ("?rpm=5&concurrency=8", 5), ("?rpm=0", None), ("?rpm=x", None)],
)
def test_limit_of_a_spec(options: str, limit: int | None) -> None:
    assert ModelSpec.parse(f"vllm/tiny{options}").limit == limit


@pytest.mark.parametrize(
    ("spec", "nearest"), [("vllm/tiny?sytle=cot", "style"), ("vllm/tiny?temprature=0", "temperature")]
)
def test_unknown_options_suggest_options_of_model_or_prompt(spec: str, nearest: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{nearest}'"):
        ModelSpec.parse(spec).make()


@pytest.mark.parametrize(
    ("options", "concurrency", "processes", "limits"),
    [
        ("", 100, 2, (100, 0, 0)),
        ("", 8, 2, (64, 0, 0)),
        ("?concurrency=9&rpm=5&tpm=1000", 100, 4, (2, 1, 250)),
        ("?concurrency=1&rpm=1", 1, 4, (1, 1, 0)),
    ],
)
def test_limits_are_shared_among_processes(
    options: str, concurrency: int, processes: int, limits: tuple[int, int, int], tmp_path: Path
) -> None:
    plain, cached = model(f"vllm/tiny{options}"), model(f"vllm/other{options}")
    assert isinstance(plain, Client)
    assert isinstance(cached, Client)
    plain.share_limits(concurrency, processes)
    Cached(cached, tmp_path / "a.db").share_limits(concurrency, processes)
    for settings in (plain.settings, cached.settings):
        assert (settings.concurrency, settings.rpm, settings.tpm) == limits
