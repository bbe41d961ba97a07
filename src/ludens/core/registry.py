"""Lookup by name: what ships with Ludens, what was registered, what other packages add.

A catalogue maps names to "module:attribute", so that nothing is imported before it is used. Other packages
add names through an entry-point group such as `ludens.games`, or with `register`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.game import Game, Preset
from ludens.core.loading import CATALOGUES, load
from ludens.core.options import configure
from ludens.core.spec import parse_spec


class Registry:
    """The names of one kind of thing, found through an entry-point group."""

    def __init__(self, kind: str, group: str) -> None:
        self.kind = kind
        self._group = group
        self._added: dict[str, Any] = {}

    @cached_property
    def _shipped(self) -> Mapping[str, str]:
        return {name: path for each in CATALOGUES.get(self._group, ()) for name, path in load(each).items()}

    @cached_property
    def _plugged(self) -> dict[str, Any]:
        from importlib.metadata import entry_points

        return {entry.name: entry for entry in entry_points(group=self._group)}

    def register(self, name: str, target: Any) -> None:
        """Add or replace a name for this process. `target` is the object or "module:attribute"."""
        self._added[name] = target

    def ships(self, name: str) -> bool:
        """Whether the object of this name is part of Ludens."""
        return name in self._shipped and name not in self._added

    def names(self) -> list[str]:
        return sorted({*self._shipped, *self._plugged, *self._added})

    def get(self, name: str) -> Any:
        """The object of this name; raises `UnknownName` with the nearest name that exists."""
        if name in self._added:
            target = self._added[name]
            return load(target) if isinstance(target, str) else target
        if name in self._shipped:
            return load(self._shipped[name])
        if name in self._plugged:
            try:
                return self._plugged[name].load()
            except (ImportError, AttributeError) as error:
                raise BadFile(
                    f"the {self.kind} {name!r} of another package cannot be loaded: {error}."
                ) from error
        raise UnknownName(self.kind, name, self.names())


GAMES = Registry("game", "ludens.games")


def make(spec: str, /, **options: Any) -> Game:
    """Build a game: `make("hanabi", players=3)` or `make("hanabi?players=3")`.

    `preset` sets several options at once: `make("hanabi?preset=hard")`; others given here replace them.
    """
    parsed = parse_spec(spec)
    if parsed.address:
        raise BadOption(f"a game has no address: {spec!r}.")
    target, values = GAMES.get(parsed.name), {**parsed.options, **options}
    if (name := values.pop("preset", None)) is not None:
        values = {**_preset(parsed.name, target, str(name)).options, **values}
    game: Game = configure(target, values, parsed.name)
    return game


def changed_options(game: Game) -> dict[str, Any]:
    """The options of a game that are not the defaults."""
    usual = make(game.name).options
    return {name: value for name, value in game.options.items() if value != usual[name]}


def preset_of(spec: str) -> Preset | None:
    """The preset that a spec names; None where it names none."""
    parsed = parse_spec(spec)
    name = parsed.options.get("preset")
    return None if name is None else _preset(parsed.name, GAMES.get(parsed.name), name)


def _preset(game: str, target: type[Game], name: str) -> Preset:
    if name not in target.presets:
        raise UnknownName(f"preset of {game}", name, target.presets)
    return target.presets[name]
