"""An agent around code of your own: it gets the prompt of a model, and answers in its own way.

    ludens play tic_tac_toe --seat x=pipeline:Pipeline --seat o=bot/random
    ludens eval demo --model pipeline:Pipeline --limit 2

`answer` stands for what you want to measure: a chain of calls, a model without a server, a program with
tools.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import ludens
from ludens.agents.vlm import prompt
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions


async def answer(messages: Sequence[Message], prefer: str) -> str:
    """A reply to the conversation. The parts of a message are texts, and pictures with `png()`.

    This one takes the preferred action where the prompt lists it, and else the first of the list.
    """
    asked = [part for message in messages for part in message.parts if isinstance(part, str)]
    [*_, listed] = re.findall(r"Your legal actions: (.+)", "\n".join(asked))
    legal = listed.split(", ")
    return f"I would like {prefer}.\nAction: {prefer if prefer in legal else legal[0]}"


@dataclass
class Pipeline(ludens.Agent):
    """Plays one cell whenever it can. It can play every game whose legal actions are listed."""

    kind = "pipeline:Pipeline"
    sees = "image"
    waits = True  # `answer` awaits something: other seats and episodes go on meanwhile
    prefer: str = ludens.option("B2", help="the cell that it likes best")

    async def act(self, ask: ludens.Ask) -> ludens.Reply:
        """The text is read by the format of the game, like that of a model; a wrong one is told why."""
        return ludens.Reply(await answer(prompt(ask, PromptOptions()), self.prefer))
