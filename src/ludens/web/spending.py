"""What models may cost on this server: all games share one budget, with the ledger of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiohttp import web

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.episode import Usage
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.spec import parse_spec
from ludens.models.chat import Model
from ludens.models.ledger import Budget, Ledger
from ludens.models.settings import ModelSpec
from ludens.run.estimate import costs, without_price
from ludens.run.jobs import Metered

MOST_VOID = 5
"""Most void games of a table, or of a participant in a task of a study: each may have cost money."""


class Spending:
    def __init__(self, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self.ledger = Ledger.of(self._budget)
        self.models: dict[str, Model] = {}
        """By spec without the options of prompts; every call is reserved in the ledger."""

    def add_model(self, spec: str) -> Model | None:
        """Make the model of a spec, or take the one made before; None if it names none that is counted."""
        if not costs(spec):
            return None
        parsed = ModelSpec.parse(spec)
        key = str(parsed.own)
        if key not in self.models:
            self.models[key] = Metered(parsed.make(), self.ledger)
        return self.models[key]

    def make_agents(self, game: Game, specs: Mapping[str, str]) -> dict[str, Agent]:
        """The agents of these seats; their models share the budget."""
        for spec in specs.values():
            self.add_model(spec)
        return {seat: agent(spec, game, self.models) for seat, spec in specs.items()}

    def check(self, specs: Iterable[str]) -> None:
        """Raise `BadOption` if players cost money and there is no budget, or it is used up."""
        paid = [spec for spec in specs if (model := self.add_model(spec)) is not None and model.paid]
        if not paid:
            return
        names = ", ".join(sorted({parse_spec(spec).name for spec in paid}))
        if self.ledger is None:
            raise BadOption(f"{names} costs money: start ludens web with --max-cost or --max-calls.")
        if self._budget.cost is not None and (unknown := without_price(paid)):
            raise BadOption(f"--max-cost needs a price for {', '.join(unknown)}: add it to the price file.")
        if reason := self._budget.exceeded_by(Usage(), self.ledger.spent, "call"):
            raise BadOption(f"the budget for {names} is used up: {reason}.")

    async def close(self) -> None:
        for model in self.models.values():
            await model.close()


SPENDING = web.AppKey("spending", Spending)
