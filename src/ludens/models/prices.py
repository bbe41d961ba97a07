"""Token prices from the user's file. Ludens ships no prices: they change too often.

# ~/.config/ludens/prices.toml, or the file in LUDENS_PRICES; dollars per million tokens
["openai/gpt-4.1"]
input = 2.0
output = 8.0
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ludens.core.episode import Usage
from ludens.core.errors import BadFile

VARIABLE = "LUDENS_PRICES"
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens. Reasoning counts as output."""

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        """Dollars for this usage."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / _MILLION


def price_of(name: str) -> Price | None:
    """The price of a model, by full name (`openai/gpt-4.1`) or without its kind."""
    prices = load_prices(_prices_file())
    return prices.get(name) or prices.get(name.partition("/")[2])


def load_prices(path: Path | None) -> dict[str, Price]:
    """Every price in a file."""
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read prices from {path}: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{path} is not TOML: {error}.") from None
    return {name: _price(path, name, table) for name, table in tables.items()}


def _price(path: Path, name: str, table: object) -> Price:
    if not isinstance(table, dict) or set(table) != {"input", "output"}:
        hint = "" if '"' in name or not isinstance(table, dict) else " (names with dots need quotes)"
        raise BadFile(f"{path}: {name!r} must have two entries, input and output{hint}.")
    for word, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MILLION:
            raise BadFile(f"{path}: {word} of {name!r} must be dollars per million tokens, not {value!r}.")
    return Price(float(table["input"]), float(table["output"]))


def _prices_file() -> Path | None:
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    default = Path(home).expanduser() / "ludens" / "prices.toml"
    return default if default.is_file() else None
