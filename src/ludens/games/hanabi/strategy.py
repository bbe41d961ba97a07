"""How the strong bot decides: what holders know of their cards, what others need, the value of a hint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

from ludens.games.hanabi.convention import CommonKnowledge, bits
from ludens.games.hanabi.table import COLORS, Sight, unseen_copies

GOOD_HINT = 6.0
"""The least value of a hint for which to spend a token rather than discard."""
NEW_PLAY = 10.0
HARMFUL = -5.0
MISLEADING = -100.0
WASTED = 5.0
FORGOTTEN = 4.0


@dataclass(frozen=True)
class Hint:
    """A possible hint, and the common reading after it."""

    name: str
    player: int
    touched: tuple[int, ...]
    after: CommonKnowledge


class StrongPolicy:
    """One player's reasoning, from what that player may know; the cache only saves time."""

    def __init__(self) -> None:
        self._reading: CommonKnowledge | None = None

    def choose(self, sight: Sight) -> str:
        """The name of the best action."""
        if self._reading is None or self._reading.read > len(sight.log):
            self._reading = CommonKnowledge(sight.shape)
        self._reading.follow(sight.log)
        self.sight, self.reading, self.me = sight, self._reading, sight.me
        self.left = unseen_copies(sight)
        self.faces = {
            held.serial: held.card for hand in sight.hands for held in hand if held.card is not None
        }
        self._out = [self._exhausted(player) for player in range(sight.shape.players)]
        return self._decide()

    # What holders know.

    def _exhausted(self, player: int) -> int:
        """Cards of which this player sees every copy, as far as can be known."""
        left = self.left
        if player != self.me:
            left = list(left)
            for serial in self.reading.hands[player]:
                left[self.faces[serial]] += 1
        return sum(1 << card for card, count in enumerate(left) if count <= 0)

    def may_be(self, reading: CommonKnowledge, player: int, serial: int) -> int:
        """What a card may be for its holder, by facts and convention."""
        hard = reading.hard[serial] & ~self._out[player]
        soft = hard & reading.soft[serial]
        if serial in reading.clued:
            for card, holder in reading.fixed().items():
                if holder != serial:
                    soft &= ~card
            # A copy of the card may have been played since: with one life left, that is not ruled out.
            if self.sight.life > 1:
                soft = soft & ~reading.useless or soft
        return soft or hard

    def plays(self, reading: CommonKnowledge, player: int) -> list[int]:
        """The cards this player considers playable."""
        return self._within(reading, player, reading.playable)

    def dead(self, reading: CommonKnowledge, player: int) -> list[int]:
        """The cards this player considers useless."""
        return self._within(reading, player, reading.useless)

    def _within(self, reading: CommonKnowledge, player: int, wanted: int) -> list[int]:
        return [
            serial
            for serial in reading.hands[player]
            if (mask := self.may_be(reading, player, serial)) and not mask & ~wanted
        ]

    # What to do.

    def _decide(self) -> str:
        sight, reading, me = self.sight, self.reading, self.me
        partner = (me + 1) % sight.shape.players
        plays, hints = self.plays(reading, me), self._hints()
        best, worth = hints[0] if hints else (None, MISLEADING)
        urgent = self._urgent(partner, hints)
        if urgent:
            return urgent.name
        if plays:
            alone = sight.shape.players == 2 and sight.info > 1
            if best and alone and worth >= NEW_PLAY and not self.plays(reading, partner):
                return best.name
            return self._do("Play", min(plays, key=self._rank))
        if best and worth >= GOOD_HINT:
            return best.name
        if sight.deck == 0 and sight.life > 1 and (guess := self._guess()) is not None:
            return self._do("Play", guess)
        if best and sight.info == sight.shape.most_info:
            return best.name
        if dead := self.dead(reading, me):
            return self._do("Discard", dead[0])
        spare = sum(sight.stacks) + sight.deck + sight.shape.players - sight.shape.best
        if best and worth >= 0 and spare <= 0:
            return best.name
        doomed = reading.next_discard(me)
        if doomed is None and best and worth > HARMFUL:
            return best.name
        return self._do("Discard", self._least() if doomed is None else doomed)

    def _do(self, what: str, serial: int) -> str:
        return f"({what} {self.reading.hands[self.me].index(serial)})"

    def _rank(self, serial: int) -> tuple[int, int]:
        """Low cards first: they make others playable."""
        mask = self.may_be(self.reading, self.me, serial)
        return max(card % self.sight.shape.ranks for card in bits(mask)), serial

    def _guess(self) -> int | None:
        """In the last round, the card most likely to be playable."""
        best, chance = None, 0.1
        for serial in self.reading.hands[self.me]:
            mask = self.may_be(self.reading, self.me, serial)
            fitting = sum(self.left[card] for card in bits(mask & self.reading.playable))
            ways = sum(self.left[card] for card in bits(mask))
            if ways and fitting / ways > chance:
                best, chance = serial, fitting / ways
        return best

    def _least(self) -> int:
        """The card whose loss is least likely to matter."""
        reading, me = self.reading, self.me

        def harmless(serial: int) -> float:
            mask = self.may_be(reading, me, serial)
            return (mask & ~reading.last).bit_count() / max(1, mask.bit_count())

        return max(reading.hands[me], key=harmless)

    def _urgent(self, player: int, hints: list[tuple[Hint, float]]) -> Hint | None:
        """A warning to the next player: do not play that, do not discard that."""
        reading, usable = self.reading, [(hint, worth) for hint, worth in hints if hint.player == player]
        plays = self.plays(reading, player)
        if any(not reading.playable >> self.faces[serial] & 1 for serial in plays):
            return next((hint for hint, worth in usable if worth > MISLEADING), None)
        doomed = reading.next_discard(player)
        if doomed is None or plays or self.dead(reading, player):
            return None
        if not reading.last >> self.faces[doomed] & 1:
            return None
        for hint, worth in usable:
            saved = hint.after.next_discard(player) != doomed or self.plays(hint.after, player)
            if saved and worth > HARMFUL:
                return hint
        return None

    def _hints(self) -> list[tuple[Hint, float]]:
        """Every possible hint, the best first."""
        if not self.sight.info:
            return []
        valued = [(hint, self._hint_value(hint)) for hint in self._possible_hints()]
        return sorted(valued, key=lambda pair: -pair[1])

    def _possible_hints(self) -> Iterator[Hint]:
        shape = self.sight.shape
        for offset in range(1, shape.players):
            player = (self.me + offset) % shape.players
            for number, kind in enumerate(("color", "rank")):
                groups: dict[int, list[int]] = {}
                for serial in self.reading.hands[player]:
                    value = divmod(self.faces[serial], shape.ranks)[number]
                    groups.setdefault(value, []).append(serial)
                for value, serials in groups.items():
                    after = self.reading.copy()
                    after.apply_hint(player, kind, value, tuple(serials))
                    shown = COLORS[value] if kind == "color" else str(value + 1)
                    yield Hint(f"(Reveal player +{offset} {kind} {shown})", player, tuple(serials), after)

    def _hint_value(self, hint: Hint) -> float:
        """The cards that will be played because of it, minus what it wastes or hides; never misleading."""
        old, new, player, ranks = self.reading, hint.after, hint.player, self.sight.shape.ranks
        before, promised = set(self.plays(old, player)), set(self.plays(new, player))
        pointed_at = {face for serial, face in self.faces.items() if serial in old.clued}
        counted: set[int] = set()
        worth = 0.0
        for serial in new.hands[player]:
            face = self.faces[serial]
            bit, mask = 1 << face, self.may_be(new, player, serial)
            useful = not bit & new.useless
            if serial in promised:
                if not bit & new.playable:
                    return MISLEADING
                if serial not in before and face not in counted:
                    worth += NEW_PLAY + 0.5 * (ranks - face % ranks)
                counted.add(face)
            if useful and not mask & bit:
                worth -= FORGOTTEN
            if serial in hint.touched and serial not in old.clued:
                worth += 0.5 if useful and face not in pointed_at else -WASTED
                pointed_at.add(face)
            if useful:
                was = self.may_be(old, player, serial)
                worth += 0.3 * log2(max(1, was.bit_count()) / max(1, mask.bit_count()))
        doomed = old.next_discard(player)
        if doomed is not None and doomed in hint.touched and old.last >> self.faces[doomed] & 1:
            worth += 2
        return worth
