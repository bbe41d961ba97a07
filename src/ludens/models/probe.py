"""One picture question with a known answer: does a model answer, does it see, what does it cost?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ludens.core.episode import Usage
from ludens.core.random import stream
from ludens.core.spec import Spec, parse_spec
from ludens.core.view import Picture
from ludens.models import model
from ludens.models.chat import Message, Request

COLUMNS, ROWS = "abcde", "54321"
QUESTION = (
    "The picture shows a board with columns a to e and rows 1 to 5. One disc is blue, the others are red. "
    "On which square is the blue disc? Reply with the column's letter and the row's number, such as c3."
)
_SQUARE = re.compile(r"\b([a-e])\s?([1-5])\b", re.IGNORECASE)
_RED_DISCS = 4
# A person is waiting: trouble is reported and not sat out, unless the spec says otherwise.
_HASTE = {"patience": "30", "retries": "2"}
_NETWORKED = ("openai", "openrouter", "vllm", "compat", "anthropic", "google")


@dataclass(frozen=True)
class ProbeResult:
    """What came back."""

    spec: str
    question: str
    expected: str
    text: str
    right: bool
    finish: str
    model: str
    """What the provider says answered."""
    reasoning: str
    ms: float
    usage: Usage
    remarks: tuple[str, ...]
    """What the model does not take."""

    def lines(self) -> list[str]:
        """The result as a person reads it."""
        used, said = self.usage, " ".join(self.text.split())
        verdict = "right" if self.right else f"wrong: the blue disc is on {self.expected}"
        thought = f", {used.reasoning_tokens} of them thinking" if used.reasoning_tokens else ""
        tokens = f"{used.input_tokens} tokens in, {used.output_tokens} out{thought}"
        cost = "price not known" if used.cost is None else f"${used.cost:.6f}"
        return [
            f"{self.spec} answered: {said[:200] or '(nothing)'} ({verdict})",
            f"{self.ms:.0f} ms, {tokens}, {cost}",
            *([f"the answer ended early: {self.finish}"] if self.finish != "stop" else []),
            *self.remarks,
        ]


async def probe(spec: str | Spec, seed: int = 0) -> ProbeResult:
    """Ask one model one question. Provider trouble is raised as everywhere: `UsageError`, `AgentFailure`."""
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    haste = _HASTE if parsed.kind in _NETWORKED else {}
    picture, expected = draw_question(seed)
    hurried = Spec(parsed.name, parsed.address, {**haste, **parsed.options})
    async with model(hurried, cache=False) as asked:
        answer = await asked.answer(Request([Message("user", (picture, QUESTION))]))
    return ProbeResult(
        spec=asked.spec,
        question=QUESTION,
        expected=expected,
        text=answer.text,
        right=read_square(answer.text) == expected,
        finish=answer.finish,
        model=answer.model,
        reasoning=answer.reasoning,
        ms=answer.ms,
        usage=answer.usage,
        remarks=tuple(asked.remarks),
    )


def draw_question(seed: int) -> tuple[Picture, str]:
    """A board with one blue disc and some red ones, and the blue one's square."""
    from ludens.draw import draw_board, sprite_sheet

    cells = [(row, column) for row in range(len(ROWS)) for column in range(len(COLUMNS))]
    stream(seed, "probe").shuffle(cells)
    sheet = sprite_sheet("classic", 512)
    grid = draw_board(sheet, len(ROWS), len(COLUMNS), ROWS, COLUMNS)
    canvas = grid.canvas()
    for number, (row, column) in enumerate(cells[: 1 + _RED_DISCS]):
        hue = "red" if number else "blue"
        grid.put(canvas, row, column, sheet.stone(hue, grid.room(0.7), grid.ground(row, column)))
    row, column = cells[0]
    return canvas.picture(), COLUMNS[column] + ROWS[row]


def read_square(text: str) -> str | None:
    """The last square a text names."""
    named = _SQUARE.findall(text)
    return "".join(named[-1]).lower() if named else None
