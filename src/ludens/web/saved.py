"""Saves a game of people as a run of its own, which can be reported, replayed and verified like any other."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from secrets import token_hex

from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.spec import Spec
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store
from ludens.web.sessions import HUMAN, Setup


def plan_of(setup: Setup) -> Plan:
    """The plan of a run with one game."""
    suite = Spec("play", None, {"game": spec_of(setup.game)})
    return make_plan(
        str(suite),
        {HUMAN: HUMAN},
        {seat: spec for seat, spec in setup.specs.items() if spec != HUMAN},
        seed=setup.seed,
        theme=setup.render.theme,
        size=setup.render.size,
    )


def spec_of(game: Game) -> str:
    """The spec that makes this game again."""
    usual = make(game.name).options
    changed = {name: str(value) for name, value in game.options.items() if value != usual[name]}
    return str(Spec(game.name, None, changed))


def save_game(runs: Path, setup: Setup, episode: Episode) -> Path:
    """Write the episode into a new run folder next to the others; returns the folder."""
    parent = runs.parent if (runs / "run.json").exists() else runs
    name = re.sub(r"[^a-z0-9]+", "-", setup.game.name.lower())
    folder = parent / f"play-{datetime.now():%Y%m%d-%H%M%S}-{name}-{token_hex(3)}"
    plan = plan_of(setup)
    [job] = plan.jobs
    with Store.create(folder, plan) as store:
        store.add(job, episode.to_json(), episode.status == "void")
    return folder
