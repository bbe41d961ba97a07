"""Specs of models: what they may say, what they must not say, and what is told when they are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ludens.agents.prompt import PromptOptions
from ludens.core.errors import BadOption, MissingExtra, MissingKey, UnknownName, UsageError
from ludens.core.options import options_of
from ludens.core.spec import Spec
from ludens.models import MODELS, Answer, Model, Request, model
from ludens.models.local import LocalSettings
from ludens.models.settings import Settings
from tests.models.conftest import question


def test_options_that_shape_answers_belong_to_the_spec_and_others_do_not() -> None:
    made = model("vllm/Qwen/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1?rpm=9&effort=low&temperature=0&timeout=7")
    assert made.spec == "vllm/Qwen/Qwen2.5-VL-7B?temperature=0&reasoning_effort=low"
    assert model(made.spec).spec == made.spec


def test_an_address_of_its_own_belongs_to_the_spec(monkeypatch: pytest.MonkeyPatch) -> None:
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
        ("vllm/tiny?effort=low&reasoning_effort=high", BadOption, "mean the same"),
        ("vllm/tiny?extra=[1]", BadOption, "must be a JSON object"),
        ("vllm/tiny@gpu:8000", BadOption, "an address is http://HOST:PORT/PATH"),
        ("vllm/tiny@http://gpu:99999/v1", BadOption, "an address is"),
        ("vllm/", BadOption, "needs the name of a model"),
        ("compat/tiny", BadOption, "needs an address"),
        ("openai/gpt-4.1", MissingKey, "set the environment variable OPENAI_API_KEY."),
        ("openrouter/some/model", MissingKey, "OPENROUTER_API_KEY"),
        ("compat/tiny@http://gpu/v1?key_env=MY_API_KEY", MissingKey, "MY_API_KEY"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(spec: str, error: type[UsageError], words: str) -> None:
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
def test_a_key_in_the_wrong_place_is_not_repeated(spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        model(spec)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-very\nsecret", "Bearer sk-secret", "sk-\x07secret"])
def test_a_key_that_is_none_is_told_and_not_repeated(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(BadOption, match="the key in OPENAI_API_KEY holds white space") as caught:
        model("openai/gpt-4.1")
    assert "secret" not in str(caught.value)


def test_other_packages_bring_models_of_their_own(tmp_path: object) -> None:
    class Parrot(Model):
        async def answer(self, request: Request) -> Answer:
            return Answer(str(request.messages[-1].parts[-1]))

    MODELS.register("parrot", lambda spec: Parrot(str(spec)))
    try:
        assert model("parrot/grey?age=3").spec == "parrot/grey?age=3"
        assert isinstance(model(Spec("parrot/grey")), Parrot)
    finally:
        del MODELS._added["parrot"]


def test_a_request_is_named_by_everything_in_it() -> None:
    base = question()
    same = question()
    others = [question("Other"), question(temperature=0.0), question(max_tokens=3)]
    names = {q.digest("vllm/tiny") for q in (base, *others)} | {base.digest("vllm/big")}
    assert len(names) == 5
    assert same.digest("vllm/tiny") == base.digest("vllm/tiny")


def test_the_documentation_names_every_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")
    assert [
        name for name in options_of(Settings) | options_of(LocalSettings) if f"`{name}`" not in page
    ] == []
    assert [name for name in options_of(PromptOptions) if f"`--{name}" not in page] == []


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
def test_a_missing_extra_is_named(
    spec: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    if module == "google.genai":
        monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(MissingExtra, match=rf"pip install 'ludens\[{extra}\]'"):
        model(spec)
