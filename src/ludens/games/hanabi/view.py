"""The view of Hanabi: tokens, fireworks and discards above; below, every hand with what its holder knows."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

from ludens.core.forms import Place, Places
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, fonts, sprite_sheet
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters
from ludens.games.hanabi.game import (
    COLORS,
    HanabiGame,
    HanabiState,
    HandCard,
    Sight,
    is_move,
    read_move,
    recent_actions,
)

_IN_WORDS = {
    "(Play i)": "Play card i",
    "(Discard i)": "Discard card i",
    "(Reveal player +k color C)": "Tell player +k a colour C",
    "(Reveal player +k rank r)": "Tell player +k a rank r",
}
"""The actions in the rules, as buttons name them."""


def title(sight: Sight, player: int, moves: bool) -> str:
    offset = (player - sight.me) % sight.shape.players
    name = f"player {player} (+{offset})" if offset else f"you, player {player}"
    return name + (" - to move" if moves else "")


def last_actions(sight: Sight, player: int, brief: bool = False) -> str:
    """The last actions of a player, the latest last; a brief hint is `+1 color R`."""
    names = [event.name for event in recent_actions(sight) if event.player == player]
    actions = ", ".join(name.strip("()").replace("player ", "") for name in names) or "none"
    return actions.replace("Reveal ", "") if brief else actions


def tell(sight: Sight, mover: int | None) -> str:
    shape = sight.shape
    stacks = " ".join(f"{COLORS[color]}{height}" for color, height in enumerate(sight.stacks))
    discards = " ".join(shape.name(card) for card in sorted(sight.discards))
    last_round = "" if sight.deck else " (last round)"
    lines = [
        f"Lives: {sight.life} of {shape.most_life}. Info: {sight.info} of {shape.most_info}. "
        f"Deck: {sight.deck}{last_round}.",
        f"Fireworks: {stacks}.",
        f"Discards: {discards or 'none'}.",
    ]
    for offset in range(1, shape.players + 1):
        player = (sight.me + offset) % shape.players
        lines.append(f"{title(sight, player, player == mover)}; last: {last_actions(sight, player)}")
        lines += [_line(sight, slot, card) for slot, card in enumerate(sight.hands[player])]
    return "\n".join(lines)


def _line(sight: Sight, slot: int, card: HandCard) -> str:
    shape = sight.shape
    face = "unknown" if card.face is None else shape.name(card.face)
    colors = "".join(COLORS[color] for color in range(shape.colors) if card.colors >> color & 1)
    ranks = "".join(str(rank + 1) for rank in range(shape.ranks) if card.ranks >> rank & 1)
    return f"  {slot}: {face}; its holder knows: color {colors}, rank {ranks}"


HUES = ("red", "yellow", "green", "white", "blue")
_FIREWORK = 72
_WIDTH = 174
"""Width of the panel of discards: room for ten cards of a colour."""


class HandLayout(NamedTuple):
    """The layout for a number of players, in units of 1/512 of the picture."""

    columns: int
    top: int
    row: int
    card: int
    gap: int
    tile: int
    discards: tuple[int, int] = (332, 32)
    lines: int = 1
    """Lines above a hand: its holder and the last actions."""


_LAYOUTS = {
    2: HandLayout(1, 148, 182, 134, 6, 18),
    3: HandLayout(1, 142, 123, 90, 8, 17),
    4: HandLayout(2, 168, 168, 86, 2, 20, lines=2),
    5: HandLayout(2, 129, 127, 84, 3, 20, (300, 386), 2),
}
_BAND = (0.07, 0.93)
_BANDS = {"colors": (0.605, 0.755), "ranks": (0.78, 0.94)}
"""Positions of the marks for possible colours and ranks, as parts of a card's width and height."""
_NAME, _NUMBER = 14, 13
"""Height of a line above a hand, and of the line with card numbers."""


class HanabiView(View):
    """Each seat sees itself last, and the others in playing order."""

    def __init__(self, game: HanabiGame, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self.shape = game.shape
        self.hues = HUES[: self.shape.colors]
        self.ranks = "12345"[: self.shape.ranks]
        self._layout = _LAYOUTS[self.shape.players]
        inks = ("ink", "muted", "black", "white", "gray", *self.hues)
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=inks, grounds=("page", "panel", *self.hues)
        )
        px, layout = self._sheet.px, self._layout
        # Text stays legible: in small pictures the cards give way to it.
        self._line = max(px(_NAME), fonts.line_height(self._sheet.font_px(12)) - 1)
        self._number = max(px(_NUMBER), fonts.line_height(self._sheet.font_px(12)) - 2)
        self._height = min(px(layout.card), px(layout.row) - layout.lines * self._line - self._number)
        self._brief = self._sheet.font_px(12) > px(12)
        self._face = cache(partial(self._hint_card, colors=-1, ranks=-1))
        self._band = cache(self._draw_band)
        self._base = self._background()

    def values(self, seat: str) -> dict[str, object]:
        shape = self.shape
        names = [f"{letter} ({hue})" for letter, hue in zip(COLORS, self.hues, strict=False)]
        copies = shape.copies[: shape.ranks]
        return {
            **super().values(seat),
            "players": shape.players,
            "colors": shape.colors,
            "named": ", ".join(names),
            "ranks": shape.ranks,
            "copies": ", ".join(f"{count} of rank {rank}" for rank, count in enumerate(copies, 1)),
            "deck": sum(shape.copies),
            "hand": shape.hand,
            "last": shape.hand - 1,
            "info": shape.most_info,
            "life": shape.most_life,
            "best": shape.best,
            "number": seat.removeprefix("player_"),
        }

    def public_action(self, state: object, seat: str, action: str) -> str:
        return action

    def text(self, state: HanabiState, seat: str) -> str:
        return tell(state.sight(seat), state.table.mover if state.to_act else None)

    def image(self, state: HanabiState, seat: str) -> Picture:
        sight = state.sight(seat)
        mover = state.table.mover if state.to_act else None
        canvas = self._base.copy()
        self._tokens(canvas, sight)
        self._fireworks(canvas, sight)
        self._discards(canvas, sight)
        for offset in range(1, self.shape.players + 1):
            player = (sight.me + offset) % self.shape.players
            self._hand(canvas, sight, player, *self._hand_corner(offset), player == mover)
        return canvas.picture()

    def rules_for_person(self, seat: str) -> str:
        text = self.rules(seat)
        for name, words in _IN_WORDS.items():
            text = text.replace(name, words)
        return text

    def label(self, action: str) -> str:
        if not is_move(action):
            return action
        move = read_move(action)
        if not move.offset:
            return f"{move.kind.capitalize()} card {move.value}"
        partner = f"player +{move.offset}" if self.shape.players > 2 else "the other player"
        return f"Tell {partner}: {self.hues[move.value] if move.kind == 'color' else move.value + 1}"

    def places(self, state: HanabiState, seat: str) -> Places:
        """Own cards, to play or discard one, and the whole hands of others, for hints to them."""
        boxes, players, size = dict[str, tuple[Place]](), self.shape.players, self.render.size
        for action in state.legal(seat):
            move = read_move(action)
            cards = [self._card_box(move.offset or players, slot) for slot in range(self.shape.hand)]
            if not move.offset:
                box = cards[move.value]
            else:
                count = len(state.table.hands[(state.table.mover + move.offset) % players])
                (left, top, _, height), (last, _, width, _) = cards[0], cards[count - 1]
                box = left, top, last + width - left, height
            boxes[action] = (Place.of_pixels(box, size, size),)
        return boxes

    def _hand_corner(self, offset: int) -> tuple[int, int]:
        """The top left pixel of the hand of the player so many seats further; one's own comes last."""
        px, layout = self._sheet.px, self._layout
        row, column = divmod(offset - 1, layout.columns)
        return px(8 + 252 * column), px(layout.top + layout.row * row)

    def _card_box(self, offset: int, slot: int) -> tuple[int, int, int, int]:
        left, top = self._hand_corner(offset)
        height, width = self._face(None).shape
        y = top + self._line * self._layout.lines + self._number
        return left + slot * self._step, y, width, height

    @property
    def _step(self) -> int:
        return round(self._height * 0.7) + self._sheet.px(self._layout.gap)

    def _background(self) -> Canvas:
        canvas, px, font = Canvas(self._sheet), self._sheet.px, self._sheet.font_px(12)
        (left, top), tile = self._layout.discards, self._layout.tile
        canvas.text(px(8), px(40), "fireworks", font, bold=True)
        canvas.rounded(px(left), px(top), px(_WIDTH), px(20 + tile * self.shape.colors), "panel")
        canvas.text(px(left + 6), px(top + 9), "discards", font, ground="panel", bold=True)
        for color in range(self.shape.colors):
            y = px(top + 17 + tile * color) + px(tile) // 2
            canvas.text(px(left + 12), y, COLORS[color], font, "ink", "panel", "mm", bold=True)
        canvas.pixels.setflags(write=False)
        return canvas

    def _tokens(self, canvas: Canvas, sight: Sight) -> None:
        px, font = self._sheet.px, self._sheet.font_px(16)
        deck = f"deck {sight.deck}" + ("" if sight.deck else ": last round")
        canvas.text(px(8), px(16), f"lives {sight.life} of {self.shape.most_life}", font, bold=True)
        canvas.text(px(132), px(16), f"info {sight.info} of {self.shape.most_info}", font, bold=True)
        canvas.text(px(252), px(16), deck, font, bold=True)

    def _fireworks(self, canvas: Canvas, sight: Sight) -> None:
        px = self._sheet.px
        for number, (hue, height) in enumerate(zip(self.hues, sight.stacks, strict=True)):
            sprite = self._sheet.hint_card(hue, str(height), px(_FIREWORK), "page")
            canvas.place(sprite, px(8 + 62 * number), px(49))

    def _discards(self, canvas: Canvas, sight: Sight) -> None:
        px, (left, top), tile = self._sheet.px, self._layout.discards, self._layout.tile
        filled = [0] * self.shape.colors
        for card in sorted(sight.discards):
            color, rank = divmod(card, self.shape.ranks)
            sprite = self._tile(self.hues[color], self.ranks[rank])
            canvas.place(sprite, px(left + 22 + 15 * filled[color]), px(top + 17 + tile * color))
            filled[color] += 1

    def _tile(self, hue: str, rank: str) -> Sprite:
        width, height, fill = self._sheet.px(14), self._sheet.px(self._layout.tile - 2), self._sheet.rgb(hue)

        edge = edge_of(fill, self._sheet.rgb("panel"))

        def paint(draw: Any, s: float) -> None:
            w, h = width * s, height * s
            box = (0, 0, w - 1, h - 1)
            draw.rounded_rectangle(box, 2.5 * s, fill=fill, outline=edge, width=round(1.5 * s))
            letters(draw, rank, w / 2, h / 2, w * 0.8, h * 0.8, letter_on(fill))

        return self._sheet.sprite(("discard", hue, rank), width, height, "panel", paint)

    def _hand(self, canvas: Canvas, sight: Sight, player: int, left: int, top: int, moves: bool) -> None:
        layout, px, font, line = self._layout, self._sheet.px, self._sheet.font_px, self._line
        wide = canvas.width // layout.columns - px(12)
        canvas.text(left, top + line // 2, title(sight, player, moves), font(13), bold=True)
        history = "last: " + last_actions(sight, player, self._brief)
        if layout.lines == 1:
            canvas.text(left + wide, top + line // 2, history, font(12), anchor="rm")
        else:
            canvas.text(left, top + line + line // 2, history, font(11))
        y = top + line * layout.lines
        step = self._step
        for slot, card in enumerate(sight.hands[player]):
            x = left + slot * step
            canvas.text(x + step // 2, y + self._number // 2, str(slot), font(12), anchor="mm")
            self._card(canvas, card, x, y + self._number)

    def _card(self, canvas: Canvas, card: HandCard, x: int, y: int) -> None:
        """A card of three parts that repeat: its face, its possible colours and its possible ranks."""
        face = self._face(card.face)
        height, width = face.shape
        canvas.place(face, x, y)
        for kind, mask in (("colors", card.colors), ("ranks", card.ranks)):
            band = self._band(kind, mask)
            canvas.place(band, x + round(width * _BAND[0]), y + round(height * _BANDS[kind][0]))

    def _draw_band(self, kind: str, mask: int) -> Sprite:
        colors, ranks = (mask, -1) if kind == "colors" else (-1, mask)
        card = self._hint_card(None, colors, ranks)
        height, width = card.shape
        (left, right), (top, bottom) = _BAND, _BANDS[kind]
        rows = slice(round(height * top), round(height * bottom))
        return card[rows, round(width * left) : round(width * right)]

    def _hint_card(self, card: int | None, colors: int, ranks: int) -> Sprite:
        hue = rank = None
        if card is not None:
            color, number = divmod(card, self.shape.ranks)
            hue, rank = self.hues[color], self.ranks[number]
        may_hues = tuple(name for number, name in enumerate(self.hues) if colors >> number & 1)
        may_ranks = "".join(name for number, name in enumerate(self.ranks) if ranks >> number & 1)
        return self._sheet.hint_card(
            hue, rank, self._height, "page", self.hues, self.ranks, may_hues, may_ranks
        )
