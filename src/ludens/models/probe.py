"""Tests a model with one question about a board whose answer is known, in a picture or in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ludens.core.episode import Usage
from ludens.core.random import stream
from ludens.core.spec import Spec, parse_spec
from ludens.core.view import Picture
from ludens.models import NETWORK, model
from ludens.models.chat import Message, Request

COLUMNS, ROWS = "abcde", "54321"
QUESTION = (
    "The picture shows a board with columns a to e and rows 1 to 5. One disc is blue, the others are red. "
    "On which square is the blue disc? Reply with the column's letter and the row's number, such as c3."
)
_SQUARE = re.compile(r"\b([a-e])\s?([1-5])\b", re.IGNORECASE)
_RED_DISCS = 4
# A person is waiting: fail early unless the spec says otherwise.
_FEW_RETRIES = {"deadline": "30", "retries": "2"}


@dataclass(frozen=True)
class ProbeResult:
    spec: str
    question: str
    expected: str
    text: str
    correct: bool
    finish: str
    model: str
    """The model's name as reported by the provider."""
    reasoning: str
    ms: float
    usage: Usage
    remarks: tuple[str, ...]
    """Such as options that the model does not support."""

    def lines(self) -> list[str]:
        usage, text = self.usage, " ".join(self.text.split())
        verdict = "correct" if self.correct else f"wrong: the blue disc is on {self.expected}"
        reasoning = f", {usage.reasoning_tokens} of them reasoning" if usage.reasoning_tokens else ""
        tokens = f"{usage.input_tokens} tokens in, {usage.output_tokens} out{reasoning}"
        cost = "price unknown" if usage.cost is None else f"${usage.cost:.6f}"
        return [
            f"{self.spec} answered: {text[:200] or '(nothing)'} ({verdict})",
            f"{self.ms:.0f} ms, {tokens}, {cost}",
            *([f"the answer is incomplete: {self.finish}"] if self.finish != "stop" else []),
            *self.remarks,
        ]


def probe_request(picture: bool) -> Request:
    parts = (draw_question(0, 256)[0],) if picture else ()
    return Request([Message("user", (*parts, "Reply with the word OK and nothing else."))])


async def probe(spec: str | Spec, seed: int = 0, *, picture: bool = True) -> ProbeResult:
    """Send the question to a model, with a picture of the board or in words.

    Raises `UsageError` or `AgentFailure` when there is no answer.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    defaults = _FEW_RETRIES if parsed.kind in NETWORK else {}
    board, expected = draw_question(seed)
    parts = (board, QUESTION) if picture else (text_question(seed),)
    tested = Spec(parsed.name, parsed.address, {**defaults, **parsed.options})
    async with model(tested, cache=False) as client:
        answer = await client.answer(Request([Message("user", parts)]))
    return ProbeResult(
        spec=client.spec,
        question=parts[-1],
        expected=expected,
        text=answer.text,
        correct=read_square(answer.text) == expected,
        finish=answer.finish,
        model=answer.model,
        reasoning=answer.reasoning,
        ms=answer.ms,
        usage=answer.usage,
        remarks=tuple(client.remarks),
    )


def draw_question(seed: int, size: int = 512) -> tuple[Picture, str]:
    """A picture of a board with one blue disc and some red ones, and the blue disc's square."""
    from ludens.draw import draw_board, sprite_sheet

    cells = _cells(seed)
    sheet = sprite_sheet("classic", size)
    grid = draw_board(sheet, len(ROWS), len(COLUMNS), ROWS, COLUMNS)
    canvas = grid.canvas()
    for number, (row, column) in enumerate(cells):
        hue = "red" if number else "blue"
        grid.put(canvas, row, column, sheet.stone(hue, grid.room(0.7), grid.ground(row, column)))
    row, column = cells[0]
    return canvas.picture(), COLUMNS[column] + ROWS[row]


def text_question(seed: int) -> str:
    blue, *red = [COLUMNS[column] + ROWS[row] for row, column in _cells(seed)]
    discs = sorted([f"{blue} blue", *(f"{square} red" for square in red)])
    return f"{QUESTION.replace('The picture shows', 'This is')}\nDiscs: {', '.join(discs)}."


def _cells(seed: int) -> list[tuple[int, int]]:
    cells = [(row, column) for row in range(len(ROWS)) for column in range(len(COLUMNS))]
    stream(seed, "probe").shuffle(cells)
    return cells[: 1 + _RED_DISCS]


def read_square(text: str) -> str | None:
    squares = _SQUARE.findall(text)
    return "".join(squares[-1]).lower() if squares else None
