"""`ludens show GAME`: a position exactly as a model in one seat would be given it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.cli.arguments import (
    GameName,
    Json,
    Options,
    Size,
    Theme,
    Whole,
    at_least,
    game_of,
    render_options,
    seat_of,
)
from ludens.cli.output import counted, indented, json_out, writable
from ludens.core.errors import BadFile, BadOption
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.ask import Ask
    from ludens.core.view import Picture

_JPEG = (".jpg", ".jpeg")
_SUFFIXES = (".png", *_JPEG)


def show(
    game: GameName,
    /,
    *,
    option: Options = (),
    seed: Whole = 0,
    moves: Whole = 0,
    seat: str | None = None,
    theme: Theme = "classic",
    size: Size = 512,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Show a position as one seat sees it: picture, text twin, rules, legal actions, how to reply.

    Args:
        seed: Fixes the deal and the random moves.
        moves: Random legal moves made before looking.
        seat: Who looks; by default the seat to move.
        out: File for the picture, .png or .jpg.
    """
    made = game_of(game, option)
    render = render_options(theme, size)
    at_least("--moves", moves, 0)
    if seat is not None:
        seat_of(made, seat)
    if out is not None:
        _check(out)
    from ludens.core.ask import build_ask
    from ludens.core.config import PlayConfig
    from ludens.core.replay import wander
    from ludens.core.view import view_of

    state, walked = wander(made, seed, moves)
    looker = seat or (state.to_act or made.seats)[0]
    view = view_of(made, render, seed)
    ask = build_ask(view, state, looker, "both", PlayConfig())
    pictures = ask.observation.images
    files = _write(pictures, out) if out is not None else [None] * len(pictures)
    told = {
        "game": made.name,
        "version": made.version,
        "options": made.options,
        "seed": seed,
        "moves": walked,
        "to_act": state.to_act,
        "returns": state.returns,
        "seat": looker,
        "theme": theme,
        "pictures": [
            {"hash": p.hash, "width": p.width, "height": p.height, "file": f and str(f)}
            for p, f in zip(pictures, files, strict=True)
        ],
        "rules": ask.rules,
        "role": ask.role,
        "stage": ask.stage,
        "text": ask.observation.text,
        "notes": ask.observation.notes,
        **_reply(ask, looker in state.to_act),
    }
    if json:
        json_out(told)
    else:
        _print(told, moves)


def _reply(ask: Ask, acts: bool) -> dict[str, Any]:
    if not acts:
        return {"legal": [], "reply": ""}
    legal = {"text_up_to": ask.legal.text_limit} if ask.legal.is_text else list(ask.legal)
    return {"legal": legal, "reply": ask.format.ask(ask.legal)}


def _check(out: Path) -> None:
    if out.suffix.lower() not in _SUFFIXES:
        raise BadOption(f"--out must end in .png or .jpg, not {out.name!r}.")
    writable(out)


def _write(pictures: Sequence[Picture], out: Path) -> list[Path | None]:
    """The first picture into the file asked for, further ones beside it with a number."""
    from ludens.draw import Picture as DrawnPicture

    files = [out] + [out.with_stem(f"{out.stem}-{number}") for number in range(2, len(pictures) + 1)]
    for picture, file in zip(pictures, files, strict=True):
        data = picture.png()
        if file.suffix.lower() in _JPEG:
            data = DrawnPicture.from_bytes(data).jpeg()
        try:
            file.write_bytes(data)
        except OSError as error:
            raise BadFile(f"cannot write {str(file)!r}: {error.strerror}.") from None
    return list(files)


def _after(made: int, wanted: int) -> str:
    if not wanted:
        return "at the start"
    if made < wanted:
        return f"over after {made} of {wanted} random moves"
    return f"after {counted(made, 'random move')}"


def _print(told: dict[str, Any], wanted: int) -> None:
    made, turn, legal = told["moves"], told["to_act"], told["legal"]
    print(f"{told['game']}, seed {told['seed']}, {_after(len(made), wanted)}, seen by {told['seat']}")
    for number, actions in enumerate(made, start=1):
        said = ", ".join(f"{seat} {indented(action, 5) or '(nothing)'}" for seat, action in actions.items())
        print(f"  {number}. {said}")
    if not turn:
        scores = ", ".join(f"{seat} {value:g}" for seat, value in told["returns"].items())
        may = f"none: the game is over, with {scores}"
    elif told["seat"] not in turn:
        may = f"none: {' and '.join(turn)} must move"
    elif isinstance(legal, dict):
        may = f"any text up to {legal['text_up_to']} characters"
    else:
        may = (", " if any(" " in action for action in legal) else " ").join(legal)
    for title, text in (
        ("Rules", told["rules"]),
        ("Text twin", told["text"]),
        ("Notes", told["notes"]),
        ("Legal actions", may),
        ("Reply", told["reply"]),
    ):
        if text:
            print(f"\n== {title}\n{harmless(text)}")
    print("\n== Picture")
    for picture in told["pictures"]:
        where = picture["file"] or "not written; --out FILE.png writes it"
        print(f"{picture['width']}x{picture['height']}, hash {picture['hash']}: {where}")
