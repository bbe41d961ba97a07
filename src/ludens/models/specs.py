"""Model specs in one place: which specs are models, their own options, their prompt options, their limits.

The spec of a seat, `openai/gpt-4.1?temperature=0&style=cot`, mixes options of the model (temperature) with
options of the prompt (style). `ModelSpec` separates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from ludens.core.ask import History
from ludens.core.errors import BadOption, UnknownName
from ludens.core.options import Touch, check_options, configure, option, option_values, options_of
from ludens.core.policy import Access, option_accesses
from ludens.core.spec import Spec, parse_spec
from ludens.core.templates import Sections, TemplateOverrides
from ludens.core.view import Sees
from ludens.models import MODELS, NETWORK, model, provider_spec
from ludens.models.chat import Model
from ludens.models.settings import Settings, address_accesses

SEES: dict[str, Sees] = {"offered": "offered", "image": "image", "text": "text", "both": "both"}
STYLES = ("direct", "cot", "explain")
EXCHANGES = {"none": 0, "last": 1, "all": None}


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
    templates: str = option("", help="folder with your own templates", touches=Touch.READ)
    overrides: TemplateOverrides | None = field(default=None, repr=False)
    """The contents of `templates`, read when the options are made."""

    def __post_init__(self) -> None:
        check_options(self, "the prompt")
        if self.blind and self.modality in ("text", "both"):
            raise BadOption(f"blind=true cannot be combined with modality={self.modality}.")
        if self.templates and self.overrides is None:
            object.__setattr__(self, "overrides", TemplateOverrides.read(Path(self.templates)))

    @property
    def sees(self) -> Sees:
        """What the agent looks at."""
        return SEES[self.modality]

    @property
    def sections(self) -> Sections:
        """The user's own prompt templates."""
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
        given = [self.own.options.get(name, "") for name in ("concurrency", "rpm")]
        return min((int(text) for text in given if text.isdecimal() and int(text)), default=None)

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
    """Whether a spec names a model, and not a bot or a person."""
    return _parsed(spec).kind in MODELS.names()


def model_accesses(spec: Spec) -> Iterator[Access]:
    """What the name, the address and the options of a model name outside of the game."""
    maker = MODELS.get(spec.kind)
    options: type | None = getattr(maker, "options", None)
    if spec.rest:
        yield Access(spec.name, "", getattr(maker, "name_touches", Touch.PAY), spec.rest)
    known = {**options_of(Settings), **options_of(options or Settings), **options_of(PromptOptions)}
    yield from option_accesses(known, spec.options, spec.name)
    yield from address_accesses(spec)
    if options is None:  # a kind of another package that declares nothing: a value may be anything
        unknown = {name: value for name, value in spec.options.items() if name not in known}
        yield from (Access(spec.name, name, Touch.RUN, value) for name, value in unknown.items())


def seat_spec(model_spec: str, prompt: PromptOptions) -> str:
    """The spec of a seat: the identity of a model (`Model.spec`) and the non-default prompt options."""
    own = parse_spec(model_spec)
    declared = options_of(PromptOptions)
    changed = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in option_values(prompt).items()
        if value != declared[name].default
    }
    return str(Spec(own.name, own.address, {**own.options, **changed}))


def _parsed(spec: str | Spec) -> Spec:
    return parse_spec(spec) if isinstance(spec, str) else spec
