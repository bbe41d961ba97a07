"""The meaning of a hint among strong players: the convention, as common knowledge.

A `CommonKnowledge` follows only what everybody saw, so that all players hold the same one. For each card it
keeps which cards it may be by the facts (`hard`) and by the convention (`soft`), as bits.

The convention, from published strategies:

- A touched card is worth keeping: it is neither played already nor a copy of another known card.
- The oldest untouched card of a hand is the next to be discarded.
- A hint has one focus: the card next to be discarded if it is touched for the first time, else the newest
  card touched for the first time, else the newest touched card whose face is not yet known.
- The focus is playable now, or right after cards whose faces are known. If it was next to be discarded, it
  may instead be the last copy of a card still needed: a warning.
"""

from __future__ import annotations

from ludens.games.hanabi.table import PastAction, Shape


def bits(mask: int) -> list[int]:
    """The cards in a set of bits."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


class CommonKnowledge:
    """Common knowledge after a number of actions."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.stacks = [0] * shape.colors
        self.gone = [0] * len(shape.copies)
        """How many copies of each card were played or discarded."""
        self.deck = sum(shape.copies) - shape.players * shape.hand
        self.hands = [
            list(range(player * shape.hand, (player + 1) * shape.hand)) for player in range(shape.players)
        ]
        self._all = (1 << len(shape.copies)) - 1
        self.hard = dict.fromkeys(range(shape.players * shape.hand), self._all)
        self.soft = dict(self.hard)
        self.clued: set[int] = set()
        self.drawn = shape.players * shape.hand
        self.read = 0
        self._known: dict[int, int] | None = None
        self._by_color = [((1 << shape.ranks) - 1) << (color * shape.ranks) for color in range(shape.colors)]
        self._by_rank = [
            sum(1 << (color * shape.ranks + rank) for color in range(shape.colors))
            for rank in range(shape.ranks)
        ]
        self._survey()

    def copy(self) -> CommonKnowledge:
        """An independent copy, for trying a hint."""
        new: CommonKnowledge = object.__new__(CommonKnowledge)
        new.__dict__.update(self.__dict__)
        new.hands = [list(hand) for hand in self.hands]
        new.hard, new.soft, new.clued = dict(self.hard), dict(self.soft), set(self.clued)
        new.stacks, new.gone = list(self.stacks), list(self.gone)
        return new

    def _survey(self) -> None:
        """Which cards are playable, useless, or the last copy."""
        shape = self.shape
        self.playable = self.useless = self.last = 0
        for color in range(shape.colors):
            reachable = True
            for rank in range(shape.ranks):
                card = color * shape.ranks + rank
                bit, left = 1 << card, shape.copies[card] - self.gone[card]
                if rank < self.stacks[color] or not reachable:
                    self.useless |= bit
                    continue
                if rank == self.stacks[color]:
                    self.playable |= bit
                if left == 1:
                    self.last |= bit
                if left == 0:
                    reachable = False
                    self.useless |= bit
                    self.playable &= ~bit

    def follow(self, log: tuple[PastAction, ...]) -> None:
        """Process every action not yet read."""
        for event in log[self.read :]:
            self._known = None
            if event.move.offset:
                target = (event.player + event.move.offset) % self.shape.players
                self.apply_hint(target, event.move.kind, event.move.value, event.serials)
            else:
                self._leave(event)
        self.read = len(log)

    def _leave(self, event: PastAction) -> None:
        [serial] = event.serials
        hand = self.hands[event.player]
        hand.remove(serial)
        for known in (self.hard, self.soft):
            del known[serial]
        self.clued.discard(serial)
        self.gone[event.card] += 1
        if event.move.kind == "play" and event.success:
            self.stacks[event.card // self.shape.ranks] += 1
        if self.deck:
            self.deck -= 1
            hand.append(self.drawn)
            self.hard[self.drawn] = self.soft[self.drawn] = self._all
            self.drawn += 1
        self._survey()

    def next_discard(self, player: int) -> int | None:
        """The oldest card that no hint has touched."""
        return next((serial for serial in self.hands[player] if serial not in self.clued), None)

    def fixed(self) -> dict[int, int]:
        """Useful cards whose faces everybody knows, one bit each, with the serial number of one copy."""
        if self._known is None:
            self._known = {
                mask: serial
                for serial, mask in self.soft.items()
                if mask & (mask - 1) == 0 and not mask & self.useless
            }
        return self._known

    def _soon(self) -> int:
        """Cards playable now or after cards whose faces are known."""
        known, soon = self.fixed(), self.playable
        for color, height in enumerate(self.stacks):
            rank = height
            while rank + 1 < self.shape.ranks and 1 << (color * self.shape.ranks + rank) in known:
                rank += 1
                soon |= 1 << (color * self.shape.ranks + rank)
        return soon & ~self.useless

    def focus(self, player: int, touched: tuple[int, ...]) -> int | None:
        """The card a hint is about."""
        new = [serial for serial in touched if serial not in self.clued]
        if new:
            doomed = self.next_discard(player)
            return doomed if doomed in new else new[-1]
        open_ones = [serial for serial in touched if self.soft[serial] & (self.soft[serial] - 1)]
        return open_ones[-1] if open_ones else None

    def apply_hint(self, player: int, kind: str, value: int, touched: tuple[int, ...]) -> None:
        """Process a hint to this player."""
        told = (self._by_color if kind == "color" else self._by_rank)[value]
        focus, doomed = self.focus(player, touched), self.next_discard(player)
        meant = self._soon()
        if focus is not None and focus == doomed:
            meant |= self.last
        for serial in self.hands[player]:
            hit = serial in touched
            keep = told if hit else ~told
            self.hard[serial] &= keep
            self.soft[serial] = self.soft[serial] & keep or self.hard[serial]
            if hit:
                self.clued.add(serial)
                self.soft[serial] = self.soft[serial] & ~self.useless or self.soft[serial]
        if focus is not None:
            self.soft[focus] = self.soft[focus] & meant or self.soft[focus]
        self._known = None
