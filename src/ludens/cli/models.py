"""`ludens models`: which kinds of model there are; `ludens models test SPEC` asks one a picture question."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

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
}


def models(
    what: Annotated[str, Parameter(help="`list`, or `test` with a spec.")] = "list",
    spec: Annotated[str | None, Parameter(help="The model to test, such as openai/gpt-4.1.")] = None,
    /,
    *,
    json: Json = False,
) -> int:
    """List the kinds of model there are, or send one of them a picture question with a known answer."""
    if what not in ("list", "test"):
        raise UnknownName("word after `ludens models`", what, ("list", "test"))
    if what == "list":
        if spec is not None:
            raise BadOption(
                f"`ludens models list` lists all of them; did you mean: ludens models test {spec}?"
            )
        return _list(json)
    if spec is None:
        raise BadOption("say which model to test, as in: ludens models test openai/gpt-4.1.")
    return _test(spec, json)


def _list(json: bool) -> int:
    from ludens.models import MODELS

    rows = [(kind, *_KINDS.get(kind, (f"{kind}/NAME", "see its documentation"))) for kind in MODELS.names()]
    if json:
        json_out([dict(zip(("kind", "spec", "key"), row, strict=True)) for row in rows])
    else:
        table("Kinds of model", ("kind", "as in", "key"), rows, ())
        print("Options follow a question mark: openai/gpt-4.1?temperature=0&max_tokens=2000.\n")
        table("Options of a model, where its provider has them", ("option", "what it says"), _options())
    return 0


def _options() -> list[tuple[str, str]]:
    from ludens.agents.prompt import PromptOptions
    from ludens.core.options import options_of
    from ludens.models.settings import Settings

    known = {**options_of(Settings), **options_of(PromptOptions)}
    return [(name, spec.metadata["help"]) for name, spec in known.items()]


def _test(spec: str, json: bool) -> int:
    import asyncio

    from ludens.agents.vlm import split_options
    from ludens.core.spec import parse_spec
    from ludens.models import MODELS
    from ludens.models.probe import probe

    if parse_spec(spec).kind not in MODELS.names():
        raise UnknownName("kind of model", parse_spec(spec).kind, MODELS.names())
    # The spec of a chair will do: how the model is addressed there makes no difference to this question.
    own, _ = split_options(parse_spec(spec))
    try:
        result = asyncio.run(probe(own))
    except AgentFailure as failure:
        aside(f"ludens: {failure}")
        return FAILED
    if json:
        json_out(asdict(result))
    else:
        print(harmless("\n".join(result.lines())))
    return 0
