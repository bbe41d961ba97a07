"""The syntax of specs, which name games, bots and models: `kind/name@address?option=value&...`.

tic_tac_toe                                     a game
hanabi?players=3                                a game with an option
bot/mcts?simulations=100&rollouts=10            a bot
vllm/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1     a model at an address
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from ludens.core.errors import BadOption


@dataclass(frozen=True)
class Spec:
    """A parsed spec. `name` includes slashes; `kind` is the part before the first one."""

    name: str
    address: str | None = None
    options: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The part of the name before the first slash: `bot`, `openai`, ..."""
        return self.name.split("/", 1)[0]

    @property
    def rest(self) -> str:
        """The part of the name after the first slash; empty when there is none."""
        return self.name.partition("/")[2]

    def with_options(self, **changes: str | None) -> Spec:
        """The same spec with these options; None drops one."""
        options = {name: value for name, value in {**self.options, **changes}.items() if value is not None}
        return Spec(self.name, self.address, options)

    def __str__(self) -> str:
        tail = "&".join(f"{key}={quote(value, safe='/:.,+-_')}" for key, value in self.options.items())
        return self.name + (f"@{self.address}" if self.address else "") + (f"?{tail}" if tail else "")


def parse_spec(text: str) -> Spec:
    head, _, query = text.strip().partition("?")
    name, _, address = head.partition("@")
    if not name:
        raise BadOption(f"{text!r} has no name: expected NAME or KIND/NAME, then ?option=value.")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise BadOption(f"{part!r} in {text!r} is not option=value.")
        if key in options:
            raise BadOption(f"option {key!r} given more than once in {text!r}.")
        options[key] = unquote(value)
    return Spec(name, address or None, options)
