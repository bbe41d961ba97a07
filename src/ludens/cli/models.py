"""`ludens models` lists the kinds of model; `ludens models test SPEC` tests one with a question."""

from __future__ import annotations

from dataclasses import asdict

from ludens.cli.arguments import Json
from ludens.cli.guard import FAILED
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import AgentFailure, BadOption, UnknownName
from ludens.core.plain import harmless

_KINDS = {
    "openai": ("openai/gpt-4.1", "OPENAI_API_KEY"),
    "openrouter": ("openrouter/VENDOR/NAME", "OPENROUTER_API_KEY"),
    "anthropic": ("anthropic/NAME", "ANTHROPIC_API_KEY"),
    "google": ("google/NAME", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    "vllm": ("vllm/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1", "none, or VLLM_API_KEY"),
    "compat": ("compat/NAME@URL", "none, or ?key_env=NAME"),
    "hf": ("hf/PATH", "none"),
    "nano": ("nano, or nano/PATH", "none"),
}


def models(
    what: str = "list",
    spec: str | None = None,
    /,
    *,
    json: Json = False,
) -> int:
    """List model providers; `models test SPEC` tests one with a question whose answer is known.

    The question is a picture; with SPEC?modality=text it is text only.

    Args:
        what: `list`, or `test` with a spec.
        spec: The model to test, such as openai/gpt-4.1.
    """
    if what not in ("list", "test"):
        raise UnknownName("action of `ludens models`", what, ("list", "test"))
    if what == "list":
        if spec is not None:
            raise BadOption(f"unexpected argument {spec!r}; did you mean: ludens models test {spec}?")
        return _list(json)
    if spec is None:
        raise BadOption("missing model, as in: ludens models test openai/gpt-4.1.")
    return _test(spec, json)


def _list(json: bool) -> int:
    from ludens.models import MODELS

    rows = [(kind, *_KINDS.get(kind, (f"{kind}/NAME", "see its documentation"))) for kind in MODELS.names()]
    if json:
        json_out([dict(zip(("kind", "spec", "key"), row, strict=True)) for row in rows])
    else:
        table("Kinds of model", ("kind", "example", "key"), rows, ())
        print("Options follow a question mark: openai/gpt-4.1?temperature=0&max_tokens=2000.\n")
        table("Options of a model, where its provider supports them", ("option", "meaning"), _options())
    return 0


def _options() -> list[tuple[str, str]]:
    from ludens.core.options import options_of
    from ludens.models.local import LocalSettings
    from ludens.models.settings import NetworkSettings, PromptOptions

    known = {**options_of(NetworkSettings), **options_of(LocalSettings), **options_of(PromptOptions)}
    return [(name, spec.metadata["help"]) for name, spec in known.items()]


def _test(spec: str, json: bool) -> int:
    import asyncio

    from ludens.models.probe import probe
    from ludens.models.settings import ModelSpec

    parsed = ModelSpec.parse(spec)
    try:
        result = asyncio.run(probe(parsed.own, picture=parsed.prompt.sees != "text"))
    except AgentFailure as failure:
        aside(f"ludens: {failure}")
        return FAILED
    if json:
        json_out(asdict(result))
    else:
        print(harmless("\n".join(result.lines())))
    return 0
