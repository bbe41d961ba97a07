"""Model specs: options for sampling, pictures, retries and rate limits; which specs are models, and their
prompt options."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import orjson

from ludens.core.ask import History
from ludens.core.errors import BadOption, MissingKey, UnknownName
from ludens.core.options import Touch, check_options, configure, option, options_of
from ludens.core.policy import Access, option_accesses
from ludens.core.spec import Spec, parse_spec
from ludens.core.templates import Sections, TemplateOverrides
from ludens.core.view import Sees
from ludens.models import MODELS, NETWORK, model, provider_spec
from ludens.models.chat import Model, Sampling
from ludens.models.errors import Secret

ALIASES = {"effort": "reasoning_effort"}
_SAMPLING = tuple(f.name for f in fields(Sampling))

S = TypeVar("S", bound="ModelSettings")


@dataclass(frozen=True)
class Provider:
    """Defaults of one kind of model behind a network."""

    keys: tuple[str, ...]
    """Environment variables that hold the key; the first that is set counts."""
    needs_key: bool = False
    address: str | None = None
    address_variable: str = ""
    max_tokens: str = "max_tokens"
    """The provider's name for this parameter, in the OpenAI chat format."""

    @property
    def own_address(self) -> str | None:
        """The address of models whose spec has none."""
        return os.environ.get(self.address_variable or " ") or self.address


PROVIDERS = {
    "openai": Provider(
        ("OPENAI_API_KEY",), True, "https://api.openai.com/v1", "OPENAI_BASE_URL", "max_completion_tokens"
    ),
    "openrouter": Provider(("OPENROUTER_API_KEY",), True, "https://openrouter.ai/api/v1"),
    "vllm": Provider(("VLLM_API_KEY",), address="http://127.0.0.1:8000/v1"),
    "compat": Provider(("COMPAT_API_KEY",)),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), True, "https://api.anthropic.com", "ANTHROPIC_BASE_URL"),
    "google": Provider(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        True,
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
    ),
}


@dataclass(frozen=True)
class ModelSettings(Sampling):
    """Options of every model."""

    extend: bool = option(True, help="retry once with twice max_tokens when an answer is cut off")
    cache: str = option(
        "", help="file that caches answers, so that equal requests are paid for once", touches=Touch.WRITE
    )

    IDENTITY: ClassVar[tuple[str, ...]] = (*_SAMPLING, "extend")
    """Options that affect answers and so belong to the model's spec in results; the others do not."""

    @property
    def sampling(self) -> Sampling:
        return Sampling(**{name: getattr(self, name) for name in _SAMPLING})

    def identity(self, name: str, address: str | None = None) -> str:
        """The spec that makes the model again: every option that affects answers and is not its default."""
        return str(Spec(name, address, _changed_options(self, self.IDENTITY)))


@dataclass(frozen=True)
class NetworkSettings(ModelSettings):
    """Options of every model behind a network."""

    detail: str | None = option(
        None,
        kind=str,
        choices=("low", "high", "auto", "original"),
        help="resolution at which pictures are read",
    )
    extra: str | None = option(None, kind=str, help="JSON object added to the body of every request")
    key_env: str | None = option(
        None, kind=str, help="environment variable that holds the API key", touches=Touch.KEY
    )
    timeout: float = option(300.0, low=0.001, help="seconds until one attempt times out")
    deadline: float = option(600.0, low=0, help="seconds of errors until a call fails")
    retries: int = option(30, low=0, help="retries until a call fails")
    backoff: float = option(1.0, low=0, help="seconds before the first retry; doubles with every retry")
    concurrency: int = option(64, low=1, help="most concurrent calls")
    rpm: int = option(0, low=0, help="most requests per minute; 0 for no limit")
    tpm: int = option(0, low=0, help="most tokens per minute; 0 for no limit")

    IDENTITY: ClassVar[tuple[str, ...]] = (*ModelSettings.IDENTITY, "detail", "extra", "key_env")

    @property
    def extra_body(self) -> dict[str, Any]:
        return {} if self.extra is None else _json_object(self.extra)

    def __post_init__(self) -> None:
        # The value is not quoted: people paste the key itself here.
        if self.key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", self.key_env):
            raise BadOption("option 'key_env' takes the name of an environment variable, not the key itself.")
        if self.extra is not None:
            _json_object(self.extra)


def read_settings(cls: type[S], spec: Spec) -> S:
    if not spec.rest:
        raise BadOption(f"{spec.kind} needs a model name: {spec.kind}/NAME.")
    return configure(cls, _without_aliases(spec.options), spec.name)


def find_key(name: str, settings: NetworkSettings, *variables: str, mandatory: bool = True) -> Secret:
    """The API key in the first of these environment variables that is set, or in the one the spec names."""
    places = (settings.key_env,) if settings.key_env else variables
    for place in places:
        if key := os.environ.get(place, "").strip():
            if not key.isprintable() or " " in key:
                raise BadOption(f"the key in {place} contains white space or control characters.")
            return Secret(key)
    if mandatory or settings.key_env:
        raise MissingKey(name, *places)
    return Secret()


def address_accesses(spec: Spec) -> Iterator[Access]:
    """The address of a model where it is not the one that such models have anyway."""
    provider = PROVIDERS.get(spec.kind)
    if spec.address is None:
        return
    keys = (spec.options["key_env"],) if "key_env" in spec.options else provider.keys if provider else ()
    if provider is None or spec.address.rstrip("/") != (provider.own_address or "").rstrip("/"):
        has_key = any(os.environ.get(key) for key in keys)
        yield Access(spec.name, "", Touch.CONNECT, spec.address, sends_key=has_key)


def _without_aliases(options: Mapping[str, str]) -> dict[str, str]:
    resolved: dict[str, str] = {}
    for name, value in options.items():
        full = ALIASES.get(name, name)
        if full in resolved:
            raise BadOption(f"options {full!r} and {name!r} are the same: give one of them.")
        resolved[full] = value
    return resolved


def _changed_options(settings: Any, names: Iterable[str]) -> dict[str, str]:
    """Those of the options that are not their defaults, as text."""
    declared, changed = options_of(type(settings)), {}
    for name in names:
        value = getattr(settings, name)
        if value != declared[name].default:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            changed[name] = text.lower() if isinstance(value, bool) else text
    return changed


def _json_object(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    if not isinstance(read, dict):
        raise BadOption(f"option 'extra' must be a JSON object, not {text!r}.")
    return read


SEES: dict[str, Sees] = {"offered": "offered", "image": "image", "text": "text", "both": "both"}
STYLES = ("direct", "cot", "explain")
EXCHANGES = {"none": 0, "last": 1, "all": None}
MAX_NOTES = 4_000


@dataclass(frozen=True)
class PromptOptions:
    """How prompts are made: the options of a seat that are not options of its model."""

    modality: str = option("offered", choices=tuple(SEES), help="what it sees: image, its text twin, or both")
    blind: bool = option(False, help="replace every picture by a blank one of the same size")
    style: str = option(
        "direct", choices=STYLES, help="answer at once, reason first, or answer and then explain"
    )
    frames: int = option(1, low=1, high=32, help="number of latest moves whose pictures are shown")
    memory: str = option("none", choices=tuple(EXCHANGES), help="earlier exchanges in the prompt")
    act: str = option("text", choices=("text", "tools"), help="reply in text, or through a tool call")
    templates: str = option("", help="folder with your own templates", touches=Touch.READ)
    notes: str = option("", help="notes of the model that follow the rules, as --reflect writes them")
    overrides: TemplateOverrides | None = field(default=None, repr=False)
    """The contents of `templates`, read when the options are made."""

    def __post_init__(self) -> None:
        check_options(self, "the prompt")
        if self.blind and self.modality in ("text", "both"):
            raise BadOption(f"blind=true cannot be combined with modality={self.modality}.")
        if len(self.notes) > MAX_NOTES:
            raise BadOption(f"notes must have at most {MAX_NOTES:,} characters, not {len(self.notes):,}.")
        if self.templates and self.overrides is None:
            object.__setattr__(self, "overrides", TemplateOverrides.read(Path(self.templates)))

    @property
    def sees(self) -> Sees:
        return SEES[self.modality]

    @property
    def sections(self) -> Sections:
        return self.overrides.sections("agent") if self.overrides else {}

    def history(self) -> History:
        """The earlier exchanges that prompts with these options need."""
        exchanges, pictures = EXCHANGES[self.memory], self.frames - 1
        return History(None if exchanges is None else max(exchanges, pictures), pictures)


@dataclass(frozen=True)
class ModelSpec:
    """The spec of a seat with a model, separated into model and prompt."""

    own: Spec
    """Name, address and options of the model; models with equal `str(own)` can be shared."""
    prompt: PromptOptions = field(default_factory=PromptOptions)

    @staticmethod
    def parse(spec: str | Spec) -> ModelSpec:
        """Separate a spec. Checks the kind and the prompt options, not the options of the model."""
        parsed = _parsed(spec)
        if not is_model(parsed):
            near = provider_spec(parsed.name)
            if near:
                raise UnknownName("model", parsed.name, [near])
            raise UnknownName("kind of model", parsed.kind, MODELS.names())
        names = options_of(PromptOptions)
        own = {name: value for name, value in parsed.options.items() if name not in names}
        prompt = {name: value for name, value in parsed.options.items() if name in names}
        return ModelSpec(
            Spec(parsed.name, parsed.address, own), configure(PromptOptions, prompt, parsed.name)
        )

    @property
    def is_network(self) -> bool:
        """Whether the model answers over a network, so that several processes can call it."""
        return self.own.kind in NETWORK

    @property
    def limit(self) -> int | None:
        """The lowest of the concurrency and rpm limits that the spec sets."""
        limits = [self.own.options.get(name, "") for name in ("concurrency", "rpm")]
        return min((int(text) for text in limits if text.isdecimal() and int(text)), default=None)

    def make(self) -> Model:
        """Make the model; for an unknown option, prompt options are suggested too."""
        try:
            return model(self.own)
        except UnknownName as error:
            near = get_close_matches(error.name, options_of(PromptOptions), 1)
            if near and error.kind.startswith("option of") and error.nearest is None:
                raise UnknownName(error.kind, error.name, near) from None
            raise


def is_model(spec: str | Spec) -> bool:
    return _parsed(spec).kind in MODELS.names()


def model_accesses(spec: Spec) -> Iterator[Access]:
    """What the name, the address and the options of a model name outside of the game."""
    maker = MODELS.get(spec.kind)
    options: type | None = getattr(maker, "options", None)
    if spec.rest:
        yield Access(spec.name, "", getattr(maker, "name_touches", Touch.PAY), spec.rest)
    declared = {
        **options_of(ModelSettings),
        **options_of(options or ModelSettings),
        **options_of(PromptOptions),
    }
    yield from option_accesses(declared, spec.options, spec.name)
    yield from address_accesses(spec)
    if options is None:  # a kind of another package that declares nothing: a value may be anything
        unknown = {name: value for name, value in spec.options.items() if name not in declared}
        yield from (Access(spec.name, name, Touch.RUN, value) for name, value in unknown.items())


def seat_spec(model_spec: str, prompt: PromptOptions) -> str:
    """The spec of a seat: the identity of a model (`Model.spec`) and the non-default prompt options."""
    return str(parse_spec(model_spec).with_options(**_changed_options(prompt, options_of(PromptOptions))))


def _parsed(spec: str | Spec) -> Spec:
    return parse_spec(spec) if isinstance(spec, str) else spec
