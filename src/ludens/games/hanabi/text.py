"""One player's view of Hanabi in words: the text twin, and the words in the picture."""

from __future__ import annotations

from ludens.games.hanabi.table import COLORS, Held, Sight

REMEMBERED = 2
"""How many of each player's last actions are shown."""


def title(sight: Sight, player: int, moves: bool) -> str:
    """The holder of a hand, as the observer names it."""
    offset = (player - sight.me) % sight.shape.players
    who = f"player {player} (+{offset})" if offset else f"you, player {player}"
    return who + (" - to move" if moves else "")


def last_actions(sight: Sight, player: int, brief: bool = False) -> str:
    """The last actions of a player, the latest last; a brief hint is `+1 color R`."""
    names = [event.name for event in sight.log if event.player == player][-REMEMBERED:]
    said = ", ".join(name.strip("()").replace("player ", "") for name in names) or "none"
    return said.replace("Reveal ", "") if brief else said


def tell(sight: Sight, mover: int | None) -> str:
    """The text twin of the picture."""
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
        lines += [_line(sight, slot, held) for slot, held in enumerate(sight.hands[player])]
    return "\n".join(lines)


def _line(sight: Sight, slot: int, held: Held) -> str:
    shape = sight.shape
    face = "unknown" if held.card is None else shape.name(held.card)
    colors = "".join(COLORS[color] for color in range(shape.colors) if held.colors >> color & 1)
    ranks = "".join(str(rank + 1) for rank in range(shape.ranks) if held.ranks >> rank & 1)
    return f"  {slot}: {face}; its holder knows: color {colors}, rank {ranks}"
