"""Replies through tool calls: the same games, readers and verdicts, with a call in place of a line of text.

A call is recorded in the text of the reply, in the form in which many open models write calls themselves:
`<tool_call>{"name": "act", "arguments": {"action": "b2"}}</tool_call>`. So episodes can be
verified.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ludens.core.errors import Ambiguous, Unreadable
from ludens.core.plain import shorten
from ludens.core.reply import ActionFormat, MessageFormat, ReplyFormat, without_reasoning
from ludens.core.spec import parse_spec
from ludens.core.state import Legal

START, END = "<tool_call>", "</tool_call>"
MOST_CHOICES = 100
"""More legal actions than this are not listed in the schema of a tool."""


def acts_by_tools(spec: str) -> bool:
    """Whether the player of this spec replies through tool calls."""
    return parse_spec(spec).options.get("act") == "tools"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with one argument, as models are told about it."""

    name: str
    description: str
    argument: str
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments as JSON schema."""
        argument: dict[str, Any] = {"type": "string"}
        if self.choices:
            argument["enum"] = list(self.choices)
        return {"type": "object", "properties": {self.argument: argument}, "required": [self.argument]}


def write_call(name: str, arguments: Any) -> str:
    """A call as it is recorded."""
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    # In JSON this character can only be inside of a text: no tag in an argument is taken for one of ours.
    return START + call.replace("<", "\\u003c") + END


def parse_arguments(text: str) -> Any:
    """Arguments that came as JSON text; the text itself where it is not JSON."""
    try:
        arguments = json.loads(text)
        json.dumps(arguments)
    except (ValueError, RecursionError):
        return text
    return arguments


def read_calls(text: str) -> list[Mapping[str, Any]]:
    """The calls recorded in a reply; one that cannot be parsed has no name."""
    calls: list[Mapping[str, Any]] = []
    for part in text.split(START)[1:]:
        call, end, _ = part.partition(END)
        parsed = parse_arguments(call) if end else None
        calls.append(parsed if isinstance(parsed, dict) else {})
    return calls


@dataclass(frozen=True)
class ToolFormat(ReplyFormat):
    """Exactly one call of one tool, whose argument is what the inner format reads."""

    inner: ReplyFormat

    @property
    def _names(self) -> tuple[str, str]:
        if isinstance(self.inner, MessageFormat):
            return "say", "message"
        return ("act", "action") if isinstance(self.inner, ActionFormat) else ("answer", "answer")

    def tool(self, legal: Legal, listed: bool) -> Tool:
        """The tool to be called; its schema lists the legal actions where the player is shown them."""
        name, argument = self._names
        listable = isinstance(self.inner, ActionFormat) and listed and len(legal) <= MOST_CHOICES
        return Tool(name, self._meaning(legal), argument, tuple(legal) if listable else ())

    def _meaning(self, legal: Legal) -> str:
        if isinstance(self.inner, ActionFormat):
            return "Your move: one legal action, spelt as the game spells it."
        return f"Your reply. {self.inner.ask(legal)}"

    def ask(self, legal: Legal) -> str:
        name, argument = self._names
        meaning = self._meaning(legal)
        return f"Reply with exactly one call of the tool `{name}`. Its argument `{argument}`: {meaning}"

    def write(self, action: str) -> str:
        name, argument = self._names
        plain = isinstance(self.inner, ActionFormat | MessageFormat)
        return write_call(name, {argument: action if plain else self.inner.write(action)})

    def read(self, text: str, legal: Legal) -> str:
        name, argument = self._names
        values = list(
            dict.fromkeys(_value(call, name, argument) for call in read_calls(without_reasoning(text)))
        )
        if not values:
            raise Unreadable(f"the reply has no call of the tool {name!r}.")
        if len(values) > 1:
            listed = ", ".join(repr(shorten(value)) for value in values[:4])
            raise Ambiguous(f"the reply has several calls ({listed}); make exactly one.")
        return self._read(values[0], legal)

    def _read(self, value: str, legal: Legal) -> str:
        if isinstance(self.inner, MessageFormat):
            return self.inner.read(value, legal)
        framed = self.inner.write(value)
        if isinstance(self.inner, ActionFormat):
            return self.inner.read(framed, legal)
        try:
            return self.inner.read(value, legal)
        except Unreadable as error:
            try:  # without the frame (a box, a tag) that text needs
                return self.inner.read(framed, legal)
            except Unreadable:
                raise error from None


def _value(call: Mapping[str, Any], name: str, argument: str) -> str:
    if call.get("name") != name:
        called = call.get("name")
        wrong = f"{shorten(str(called))!r} is not a tool" if called else "a tool call cannot be parsed"
        raise Unreadable(f"{wrong}; call {name!r} with the argument {argument!r}.")
    arguments = call.get("arguments")
    if not isinstance(arguments, dict) or argument not in arguments:
        raise Unreadable(f"the call of {name!r} has no argument {argument!r}.")
    value = arguments[argument]
    # Models also send numbers, and lists where an answer is one.
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def with_calls(text: str, calls: Sequence[Mapping[str, Any]]) -> str:
    """The text of a reply and its calls, as recorded."""
    return "\n".join(filter(None, [text, *(write_call(call["name"], call["arguments"]) for call in calls)]))
