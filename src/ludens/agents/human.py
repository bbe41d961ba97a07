"""A person at the terminal: is shown the picture's file name and the text twin, and types an action."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from ludens.agents import terminal
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import AgentFailure, BadFile
from ludens.core.options import option
from ludens.core.reply import fold


@dataclass
class Human(Agent):
    """Types an action, or a message where text is expected."""

    pictures: str = option("", help="folder for the pictures; a new temporary one by default")
    kind = "human"
    sees = "both"
    waits = True
    unlimited_retries = True

    def begin(self) -> None:
        try:
            self._folder = Path(self.pictures or mkdtemp(prefix="ludens-"))
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(
                f"cannot write pictures to {self.pictures or 'a temporary folder'}: {error}."
            ) from None

    async def act(self, ask: Ask) -> Reply:
        async with terminal.lock():
            _say(self._refused(ask) if ask.refused else self._shown(ask))
            try:
                typed = (await _read(ask)).strip()
            except EOFError:
                raise AgentFailure(f"{ask.seat} left the game.") from None
        return Reply(typed, _canonical(typed, ask))

    def _shown(self, ask: Ask) -> str:
        parts = [f"\n=== {ask.seat}, your move {ask.move + 1}"]
        if ask.move == 0:
            parts.insert(0, f"\n{ask.rules}\n")
        for index, picture in enumerate(ask.observation.images):
            file = self._folder / f"{self.seat}-{ask.move + 1:03}{f'-{index + 1}' if index else ''}.png"
            file.write_bytes(picture.png())
            parts.append(f"picture: {file}")
        parts += [ask.observation.text, ask.observation.notes]
        if ask.move == 0 and ask.legal.is_text:
            parts.append("(end a line with \\ to continue on the next line; Enter alone sends the message)")
        if ask.listed and not ask.legal.is_text:
            apart = ", " if any(" " in action for action in ask.legal) else " "
            parts.append("legal actions: " + apart.join(ask.legal))
        return "\n".join(filter(None, parts))

    def _refused(self, ask: Ask) -> str:
        return f"not accepted: {ask.refused[-1][1]}"


def _canonical(typed: str, ask: Ask) -> str | None:
    """The typed action in canonical spelling; None leaves reading to the reply format."""
    if ask.legal.is_text:
        return None
    same = [action for action in ask.legal if fold(action) == fold(typed)]
    return same[0] if len(same) == 1 else typed


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def _read(ask: Ask) -> str:
    """One line; messages continue after lines that end with a backslash."""
    typed = await terminal.line(f"{ask.seat}> ")
    while ask.legal.is_text and typed.endswith("\\"):
        typed = typed[:-1] + "\n" + await terminal.line("... ")
    return typed
