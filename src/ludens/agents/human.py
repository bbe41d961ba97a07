"""A person at the terminal: is shown the picture's file name and the text twin, and types an action."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from ludens.agents import terminal
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import AgentFailure, BadFile
from ludens.core.options import Touch, option
from ludens.core.plain import harmless
from ludens.core.reply import fold

HELP, QUIT = "help", "quit"
_COMMANDS = f"Type '{HELP}' for the rules and your legal actions, '{QUIT}' to leave the game."
_MESSAGES = "Enter sends the message; end a line with \\ to continue the message on the next line."


@dataclass
class Human(Agent):
    """Types an action, or a message where text is expected."""

    pictures: str = option(
        "", help="folder for the pictures; a new temporary one by default", touches=Touch.WRITE
    )
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
            _print(f"not accepted: {ask.refused[-1][1]}" if ask.refused else self._shown(ask))
            typed = await _typed(ask)
            while (command := _command(typed, ask)) == HELP:
                _print(_help(ask))
                typed = await _typed(ask)
        if command == QUIT:
            raise AgentFailure(left_message(ask.seat))
        return typed_reply(typed, ask)

    def _shown(self, ask: Ask) -> str:
        parts = [f"\n=== {ask.seat}, your move {ask.move + 1}"]
        if ask.move == 0:
            parts.insert(0, f"\n{ask.rules}\n\n{_COMMANDS}\n")
        for index, picture in enumerate(ask.observation.images):
            file = self._folder / f"{self.seat}-{ask.move + 1:03}{f'-{index + 1}' if index else ''}.png"
            file.write_bytes(picture.png())
            parts.append(f"picture: {file}")
        parts += [ask.observation.text, ask.observation.notes]
        if ask.move == 0 and ask.legal.is_text:
            parts.append(f"({_MESSAGES})")
        parts.append(_legal(ask))
        return "\n".join(filter(None, parts))


def typed_reply(typed: str, ask: Ask) -> Reply:
    """The reply of a person who typed this, at the terminal or in a browser."""
    reply = ask.format.typed(typed) if ask.legal.is_text else typed
    return Reply(reply, _canonical(typed, ask))


def left_message(seat: str) -> str:
    """The error of an episode that a person has left."""
    return f"{seat} left the game."


def _help(ask: Ask) -> str:
    """The rules, the legal actions and the commands."""
    parts = [ask.rules, _legal(ask), _MESSAGES if ask.legal.is_text else "", _COMMANDS]
    return "\n\n".join(filter(None, parts))


def _legal(ask: Ask) -> str:
    """The legal actions, where they have names and may be shown."""
    if ask.legal.is_text or not ask.listed:
        return ""
    separator = ", " if any(" " in action for action in ask.legal) else " "
    return "legal actions: " + separator.join(ask.legal)


def _command(typed: str, ask: Ask) -> str:
    """The command that was typed; empty for a reply. Actions take precedence over commands."""
    command = typed.lower()
    return command if command in (HELP, QUIT) and _canonical(typed, ask) not in ask.legal else ""


def _canonical(typed: str, ask: Ask) -> str | None:
    """The typed action in canonical spelling; None leaves reading to the reply format."""
    if ask.legal.is_text:
        return None
    same = [action for action in ask.legal if fold(action) == fold(typed)]
    return same[0] if len(same) == 1 else typed


def _print(text: str) -> None:
    print(terminal.wrapped(harmless(text), terminal.width_of(sys.stderr)), file=sys.stderr, flush=True)


async def _typed(ask: Ask) -> str:
    """One line; messages continue after lines that end with a backslash."""
    try:
        typed = await terminal.line(f"{ask.seat}> ")
        while ask.legal.is_text and typed.endswith("\\"):
            typed = typed[:-1] + "\n" + await terminal.line("... ")
    except EOFError:
        raise AgentFailure(left_message(ask.seat)) from None
    return typed.strip()
