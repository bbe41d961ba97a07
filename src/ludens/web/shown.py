"""What the browser of one seat is shown, as plain JSON values: nothing that the seat may not know.

Everything here comes from the seat's own observation, or from what the view says all seats may know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludens.core.ask import Ask
from ludens.core.episode import Move
from ludens.core.places import places_to_json
from ludens.core.state import State
from ludens.core.view import Observation, View

LOG = 400
"""The moves that a browser is told; of longer games the last ones."""


def shown_to(view: View, state: State, seat: str, ask: Ask | None) -> dict[str, Any]:
    """What a seat sees, and what it may do if it is asked."""
    observation = ask.observation if ask else view.observe(state, seat, "both")
    shown: dict[str, Any] = {
        "name": view.public_name(state, seat),
        "waiting": _waiting(view, state, seat),
        "images": _images(observation),
        "text": observation.text,
        "notes": observation.notes,
    }
    if ask is not None:
        shown |= {
            "legal": list(ask.legal) if ask.listed else [],
            "text_limit": ask.legal.text_limit,
            "instruction": ask.format.ask(ask.legal) if ask.legal.is_text else "",
            "refused": ask.refused[-1][1] if ask.refused else "",
            **places_to_json(view.places(state, seat) if ask.listed else {}),
        }
    return shown


def _waiting(view: View, state: State, seat: str) -> str:
    """Whom the seat waits for. Who acts at the same time, and who does not, may tell who is who."""
    others = [each for each in state.to_act if each != seat]
    return "the others" if len(state.to_act) > 1 else view.public_name(state, others[0]) if others else ""


def _images(observation: Observation) -> list[dict[str, Any]]:
    return [
        {"src": picture.data_uri(), "width": picture.width, "height": picture.height}
        for picture in observation.images
    ]


class MoveLog:
    """The moves of a game, as each seat may know them."""

    def __init__(self, seats: Sequence[str]) -> None:
        self._lines: dict[str, list[dict[str, Any]]] = {seat: [] for seat in seats}

    def add(self, view: View, state: State, moves: Sequence[Move]) -> None:
        """Add the moves that led to this state."""
        named = {view.public_name(state, move.seat): move for move in moves}
        for name, move in sorted(named.items()):  # the order of seats may tell who is who, too
            public = view.public_action(state, move.seat, move.action)
            for seat, lines in self._lines.items():
                own = seat == move.seat
                lines.append({"name": name, "own": own, "action": move.action if own else public})
                del lines[:-LOG]

    def of(self, seat: str) -> list[dict[str, Any]]:
        """The moves as the seat may know them."""
        return self._lines[seat]
