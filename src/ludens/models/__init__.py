"""Clients of vision-language models: `model("openai/gpt-4.1?temperature=0")` answers requests.

    openai/NAME            key in OPENAI_API_KEY
    openrouter/NAME        key in OPENROUTER_API_KEY
    anthropic/NAME         key in ANTHROPIC_API_KEY; needs the extra `anthropic`
    google/NAME            key in GEMINI_API_KEY or GOOGLE_API_KEY; needs the extra `google`
    vllm/NAME@URL          a vLLM server
    compat/NAME@URL        any other server with the OpenAI chat API
    hf/PATH                transformers in this process; needs the extra `train`
    inspect/PROVIDER/NAME  a provider of Inspect; needs the extra `inspect`

Other packages add kinds through the entry-point group `ludens.models` or `MODELS.register`: a function that
takes a `Spec` and returns a `Model`.
"""

from __future__ import annotations

import os
import re

from ludens.core.registry import Registry
from ludens.core.spec import Spec, parse_spec
from ludens.models.chat import Answer, Message, Model, Request, Sampling, Tokens

__all__ = [
    "CATALOGUE",
    "MODELS",
    "NETWORK",
    "Answer",
    "Message",
    "Model",
    "Request",
    "Sampling",
    "Tokens",
    "model",
    "provider_spec",
]

CATALOGUE = {
    "openai": "ludens.models.openai_chat:openai_chat",
    "openrouter": "ludens.models.openai_chat:openai_chat",
    "vllm": "ludens.models.openai_chat:openai_chat",
    "compat": "ludens.models.openai_chat:openai_chat",
    "anthropic": "ludens.models.anthropic_sdk:anthropic_model",
    "google": "ludens.models.google_sdk:google_model",
    "hf": "ludens.models.local:local_model",
    "inspect": "ludens.models.inspect_providers:inspect_model",
}

NETWORK = frozenset(CATALOGUE) - {"hf", "inspect"}
"""Kinds whose requests Ludens sends over a network itself: any number of processes can call them."""

MODELS = Registry("kind of model", "ludens.models")

_PROVIDERS = {
    r"(chat)?gpt-|o[1345](-|$)": "openai/{}",
    r"claude-": "anthropic/{}",
    r"gemini-": "google/{}",
    r"(.*/)?(llama|qwen|internvl|llava|pixtral|mistral|gemma)": "vllm/{}@http://HOST:PORT/v1",
}


def provider_spec(name: str) -> str | None:
    """The spec that a model name without provider is probably meant to be: `openai/gpt-4.1` for `gpt-4.1`."""
    for pattern, spec in _PROVIDERS.items():
        if re.match(pattern, name, re.IGNORECASE):
            return spec.format(name)
    return None


def model(spec: str | Spec, *, cache: bool = True) -> Model:
    """Make the model of a spec. Nothing is sent or loaded before the first request.

    Args:
        spec: A model's spec, such as `openai/gpt-4.1?temperature=0`.
        cache: Whether to use the cache file of the spec or of LUDENS_CACHE.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    maker = MODELS.get(parsed.kind)
    options = dict(parsed.options)
    path = options.pop("cache", "") or os.environ.get("LUDENS_CACHE", "")
    client: Model = maker(Spec(parsed.name, parsed.address, options))
    if not (path and cache):
        return client
    from ludens.models.cache import Cached

    return Cached(client, path)
