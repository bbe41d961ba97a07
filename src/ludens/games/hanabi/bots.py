"""Hanabi bots. They read the state, but use only what their seat may know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log2
from typing import Any

from ludens.core.agent import Bot, ReasoningBot
from ludens.core.random import Stream
from ludens.games.hanabi.game import (
    COLORS,
    DeckShape,
    HanabiState,
    HandCard,
    PastAction,
    Sight,
    possible_cards,
    recent_actions,
    unseen_copies,
)


def bits(mask: int) -> list[int]:
    return [card for card in range(mask.bit_length()) if mask >> card & 1]


class CommonKnowledge:
    """Common knowledge after a number of actions."""

    def __init__(self, shape: DeckShape) -> None:
        self.shape = shape
        self.stacks = [0] * shape.colors
        self.gone = [0] * len(shape.copies)
        """How many copies of each card were played or discarded."""
        self.deck = sum(shape.copies) - shape.players * shape.hand
        starts = range(0, shape.players * shape.hand, shape.hand)
        self.hands = [list(range(start, start + shape.hand)) for start in starts]
        self._all = (1 << len(shape.copies)) - 1
        self.hard = dict.fromkeys(range(shape.players * shape.hand), self._all)
        self.soft = dict(self.hard)
        self.clued: set[int] = set()
        self.draws = shape.players * shape.hand
        self.read = 0
        self.pointed: list[tuple[int, str, int | None]] = []
        """Players to whom the last hints were given, the hints, and the cards that those are about."""
        self._fixed: dict[int, int] | None = None
        ranks, colors = range(shape.ranks), range(shape.colors)
        self._by_color = [sum(1 << (color * shape.ranks + rank) for rank in ranks) for color in colors]
        self._by_rank = [sum(1 << (color * shape.ranks + rank) for color in colors) for rank in ranks]
        self._survey()

    @classmethod
    def at_a_glance(cls, sight: Sight) -> CommonKnowledge:
        """The common knowledge of players without a memory: they see the table and recent actions."""
        glance, shape = cls(sight.shape), sight.shape
        glance.hard.clear()
        glance.stacks, glance.deck = list(sight.stacks), sight.deck
        ranks = shape.ranks
        fireworks = (color * ranks + rank for color, top in enumerate(sight.stacks) for rank in range(top))
        for face in (*sight.discards, *fireworks):
            glance.gone[face] += 1
        glance._survey()
        glance.hands = [[card.serial for card in hand] for hand in sight.hands]
        hints = [event for event in recent_actions(sight) if event.move.offset]
        new = {(serial, event.move.kind) for event in hints for serial in event.serials}
        for card in chain.from_iterable(sight.hands):
            colors = sum(glance._by_color[color] for color in bits(card.colors))
            glance.hard[card.serial] = colors & sum(glance._by_rank[rank] for rank in bits(card.ranks))
            for kind, mask in (("color", card.colors), ("rank", card.ranks)):
                if mask.bit_count() == 1 and (card.serial, kind) not in new:
                    glance.clued.add(card.serial)
        glance.soft = dict(glance.hard)
        for event in hints:
            player = (event.player + event.move.offset) % shape.players
            touched = tuple(serial for serial in event.serials if serial in glance.hands[player])
            focus, meaning = glance._pointed_at(player, touched)
            glance._take(touched, focus, meaning)
            glance.pointed.append((player, event.name, focus))
        return glance

    def copy(self) -> CommonKnowledge:
        new: CommonKnowledge = object.__new__(CommonKnowledge)
        new.__dict__.update(self.__dict__)
        new.hands = [list(hand) for hand in self.hands]
        new.hard, new.soft, new.clued = dict(self.hard), dict(self.soft), set(self.clued)
        new.stacks, new.gone = list(self.stacks), list(self.gone)
        return new

    def _survey(self) -> None:
        shape = self.shape
        self.playable = self.useless = self.last = 0
        for color in range(shape.colors):
            reachable = True
            for rank in range(shape.ranks):
                card = color * shape.ranks + rank
                bit, copies = 1 << card, shape.copies[card] - self.gone[card]
                if rank < self.stacks[color] or not reachable:
                    self.useless |= bit
                    continue
                if rank == self.stacks[color]:
                    self.playable |= bit
                if copies == 1:
                    self.last |= bit
                if copies == 0:
                    reachable = False
                    self.useless |= bit
                    self.playable &= ~bit

    def follow(self, log: tuple[PastAction, ...]) -> None:
        for event in log[self.read :]:
            self._fixed = None
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
        for marks in (self.hard, self.soft):
            del marks[serial]
        self.clued.discard(serial)
        self.gone[event.card] += 1
        if event.move.kind == "play" and event.success:
            self.stacks[event.card // self.shape.ranks] += 1
        if self.deck:
            self.deck -= 1
            hand.append(self.draws)
            self.hard[self.draws] = self.soft[self.draws] = self._all
            self.draws += 1
        self._survey()

    def next_discard(self, player: int) -> int | None:
        return next((serial for serial in self.hands[player] if serial not in self.clued), None)

    def fixed(self) -> dict[int, int]:
        """Useful cards whose faces everybody knows, one bit each, with the serial number of one copy."""
        if self._fixed is None:
            single = ((mask, serial) for serial, mask in self.soft.items() if mask & (mask - 1) == 0)
            self._fixed = {mask: serial for mask, serial in single if not mask & self.useless}
        return self._fixed

    def _soon(self) -> int:
        """Cards playable now or after cards whose faces are known."""
        fixed, soon = self.fixed(), self.playable
        for color, height in enumerate(self.stacks):
            rank = height
            while rank + 1 < self.shape.ranks and 1 << (color * self.shape.ranks + rank) in fixed:
                rank += 1
                soon |= 1 << (color * self.shape.ranks + rank)
        return soon & ~self.useless

    def focus(self, player: int, touched: tuple[int, ...]) -> int | None:
        new = [serial for serial in touched if serial not in self.clued]
        if new:
            doomed = self.next_discard(player)
            return doomed if doomed in new else new[-1]
        open_ones = [serial for serial in touched if self.soft[serial] & (self.soft[serial] - 1)]
        return open_ones[-1] if open_ones else None

    def apply_hint(self, player: int, kind: str, value: int, touched: tuple[int, ...]) -> None:
        hinted = (self._by_color if kind == "color" else self._by_rank)[value]
        focus, meaning = self._pointed_at(player, touched)
        for serial in self.hands[player]:
            keep = hinted if serial in touched else ~hinted
            self.hard[serial] &= keep
            self.soft[serial] = self.soft[serial] & keep or self.hard[serial]
        self._take(touched, focus, meaning)

    def _pointed_at(self, player: int, touched: tuple[int, ...]) -> tuple[int | None, int]:
        """The card that a hint is about, by convention, and what it may be."""
        focus, meaning = self.focus(player, touched), self._soon()
        if focus is not None and focus == self.next_discard(player):
            meaning |= self.last
        return focus, meaning

    def _take(self, touched: tuple[int, ...], focus: int | None, meaning: int) -> None:
        """Hinted cards are useful, and the focus is one of those in `meaning`."""
        for serial in touched:
            self.clued.add(serial)
            self.soft[serial] = self.soft[serial] & ~self.useless or self.soft[serial]
        if focus is not None:
            self.soft[focus] = self.soft[focus] & meaning or self.soft[focus]
        self._fixed = None


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
        if self._reading is None or self._reading.read > len(sight.log):
            self._reading = CommonKnowledge(sight.shape)
        self._reading.follow(sight.log)
        self.look(sight, self._reading)
        return self.decide()

    def look(self, sight: Sight, reading: CommonKnowledge) -> None:
        """Reason as the player with this sight and this common knowledge."""
        self.sight, self.reading, self.me = sight, reading, sight.me
        self.unseen = unseen_copies(sight)
        self.faces = {
            card.serial: card.face for hand in sight.hands for card in hand if card.face is not None
        }
        self._out = [self._exhausted(player) for player in range(sight.shape.players)]

    # What holders know.

    def _exhausted(self, player: int) -> int:
        """Cards of which this player sees every copy, as far as can be known."""
        unseen = self.unseen
        if player != self.me:
            unseen = list(unseen)
            for serial in self.reading.hands[player]:
                unseen[self.faces[serial]] += 1
        return sum(1 << card for card, count in enumerate(unseen) if count <= 0)

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
        return self._within(reading, player, reading.playable)

    def _within(self, reading: CommonKnowledge, player: int, cards: int) -> list[int]:
        masks = {serial: self.may_be(reading, player, serial) for serial in reading.hands[player]}
        return [serial for serial, mask in masks.items() if mask and not mask & ~cards]

    # What to do.

    def valued_hints(self) -> list[tuple[Hint, float]]:
        """All hints with their values, the best first."""
        valued = ((hint, self._hint_value(hint)) for hint in self._possible_hints())
        return sorted(valued, key=lambda pair: -pair[1])

    def decide(self) -> str:
        """The move."""
        sight, reading, me = self.sight, self.reading, self.me
        partner = (me + 1) % sight.shape.players
        plays, hints = self.plays(reading, me), self.valued_hints()
        best, worth = hints[0] if hints else (None, MISLEADING)
        urgent = self._urgent(partner, hints)
        if urgent:
            return urgent.name
        if plays:
            alone = sight.shape.players == 2 and sight.info > 1
            if best and alone and worth >= NEW_PLAY and not self.plays(reading, partner):
                return best.name
            # Low cards first: they make others playable.
            return self._do("Play", min(plays, key=lambda serial: (self._highest_rank(serial), serial)))
        if best and worth >= GOOD_HINT:
            return best.name
        if sight.deck == 0 and sight.life > 1 and (guess := self._guess()) is not None:
            return self._do("Play", guess)
        if best and sight.info == sight.shape.most_info:
            return best.name
        if dead := self._within(reading, me, reading.useless):
            return self._do("Discard", dead[0])
        spare = sum(sight.stacks) + sight.deck + sight.shape.players - sight.shape.best
        if best and worth >= 0 and spare <= 0:
            return best.name
        doomed = reading.next_discard(me)
        if doomed is None and best and worth > HARMFUL:
            return best.name
        return self._do("Discard", self._least() if doomed is None else doomed)

    def _do(self, verb: str, serial: int) -> str:
        return f"({verb} {self.reading.hands[self.me].index(serial)})"

    def _highest_rank(self, serial: int) -> int:
        mask = self.may_be(self.reading, self.me, serial)
        return max(card % self.sight.shape.ranks for card in bits(mask))

    def _guess(self) -> int | None:
        """In the last round, the card most likely to be playable."""
        best, chance = None, 0.1
        for serial in self.reading.hands[self.me]:
            mask = self.may_be(self.reading, self.me, serial)
            fitting = sum(self.unseen[card] for card in bits(mask & self.reading.playable))
            ways = sum(self.unseen[card] for card in bits(mask))
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
        dead = self._within(reading, player, reading.useless)
        if doomed is None or plays or dead or not reading.last >> self.faces[doomed] & 1:
            return None
        for hint, worth in usable:
            saved = hint.after.next_discard(player) != doomed or self.plays(hint.after, player)
            if saved and worth > HARMFUL:
                return hint
        return None

    def _possible_hints(self) -> Iterator[Hint]:
        shape = self.sight.shape
        for offset in range(1, shape.players if self.sight.info else 1):
            player = (self.me + offset) % shape.players
            for number, kind in enumerate(("color", "rank")):
                groups: dict[int, list[int]] = {}
                for serial in self.reading.hands[player]:
                    value = divmod(self.faces[serial], shape.ranks)[number]
                    groups.setdefault(value, []).append(serial)
                for value, serials in groups.items():
                    after = self.reading.copy()
                    after.apply_hint(player, kind, value, tuple(serials))
                    yield Hint(hint_name(offset, kind, value), player, tuple(serials), after)

    def _hint_value(self, hint: Hint) -> float:
        """The cards that will be played because of it, minus what it wastes or hides; never misleading."""
        old, new, player, ranks = self.reading, hint.after, hint.player, self.sight.shape.ranks
        before, promised = set(self.plays(old, player)), set(self.plays(new, player))
        pointed_at = {face for serial, face in self.faces.items() if serial in old.clued}
        faces: set[int] = set()
        worth = 0.0
        for serial in new.hands[player]:
            face = self.faces[serial]
            bit, mask = 1 << face, self.may_be(new, player, serial)
            useful = not bit & new.useless
            if serial in promised:
                if not bit & new.playable:
                    return MISLEADING
                if serial not in before and face not in faces:
                    worth += NEW_PLAY + 0.5 * (ranks - face % ranks)
                faces.add(face)
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


@dataclass
class Strong(Bot):
    """Plays playable cards, warns before a loss, hints at playable cards, else discards its oldest card."""

    kind = "bot/strong"

    def begin(self) -> None:
        self._policy = StrongPolicy()

    def choose(self, state: HanabiState) -> str:
        return self._policy.choose(state.sight(self.seat))


@dataclass
class Glance(ReasoningBot):
    """Plays as `bot/strong` does, but knows no more than the table and the last actions show."""

    kind = "bot/glance"

    def choose(self, state: HanabiState) -> str:
        return self._policy(state).decide()

    def reasons(self, state: HanabiState, move: str) -> list[str]:
        """What it sees, the last hints to it and their meaning, what the others know of their cards, each
        hint that it may give with the card that it would be about, and the best of them."""
        policy = self._policy(state)
        sight, reading, me, hints = policy.sight, policy.reading, policy.me, policy.valued_hints()
        partners = [(me + offset) % sight.shape.players for offset in range(1, sight.shape.players)]

        def about(player: int, name: str, focus: int | None, *verdict: str) -> str:
            card = "none" if focus is None else str(reading.hands[player].index(focus))
            return " ".join([_hint_words(name), card, *verdict])

        words = {
            "heard": [about(player, name, focus) for player, name, focus in reading.pointed if player == me],
            "meant": [str(reading.hands[me].index(serial)) for serial in policy.plays(reading, me)],
            "told": [card.knowledge for player in partners for card in sight.hands[player]],
            "hints": sorted(
                about(
                    one.player,
                    one.name,
                    reading.focus(one.player, one.touched),
                    "good" if worth >= GOOD_HINT else "bad" if worth == MISLEADING else "idle",
                )
                for one, worth in hints
            ),
            "best": [_hint_words(hint.name) for hint, _ in hints[:1]],
        }
        return [*_sights(sight), *(" ".join([word, *items]) for word, items in words.items())]

    def _policy(self, state: HanabiState) -> StrongPolicy:
        sight, policy = state.sight(self.seat), StrongPolicy()
        policy.look(sight, CommonKnowledge.at_a_glance(sight))
        return policy


@dataclass
class Literal(Bot):
    """Plays what is certain, else hints at a playable card, else discards."""

    kind = "bot/literal"

    def choose(self, state: HanabiState) -> str:
        return literal(state.sight(self.seat), state.legal(self.seat), self.random)


def _sights(sight: Sight) -> list[str]:
    """Fireworks and info tokens, the others' cards and which of them fit, what is known of the own cards, and
    which of those are certainly playable or useless. `x` is an unknown colour, `0` an unknown rank."""
    shape, may_be = sight.shape, possible_cards(sight)
    tops = (f"{COLORS[color]}{top}" for color, top in enumerate(sight.stacks))
    lines = [" ".join([*tops, "info", str(sight.info)])]
    for offset in range(1, shape.players):
        hand = sight.hands[(sight.me + offset) % shape.players]
        cards = [card.face for card in hand if card.face is not None]
        fit = [shape.name(card) for card in cards if height(sight, card) == 0]
        lines += [" ".join(["other", *map(shape.name, cards)]), " ".join(["fit", *fit])]
    lines.append(" ".join(["own", *(card.knowledge for card in sight.hands[sight.me])]))
    for word, slots in (("play", _playable(sight, may_be)), ("useless", _useless(sight, may_be))):
        lines.append(" ".join([word, *map(str, slots)]))
    return lines


def _hint_words(name: str) -> str:
    """A hint in few words: `+1 color R`."""
    return name.removeprefix("(Reveal player ").removesuffix(")")


def literal(sight: Sight, legal: Sequence[str], random: Stream) -> str:
    may_be = possible_cards(sight)
    if playable := _playable(sight, may_be):
        return f"(Play {playable[0]})"
    useful = [name for name in _helpful(sight) if name in legal]
    if useful:
        return random.choice(useful)
    if sight.info == sight.shape.most_info:
        return random.choice([name for name in legal if name.startswith("(Reveal")])
    return _discard(sight, may_be)


def _playable(sight: Sight, may_be: list[list[int]]) -> list[int]:
    """The slots whose cards fit now, whatever they may be."""
    return [slot for slot, cards in enumerate(may_be) if all(height(sight, card) == 0 for card in cards)]


def _useless(sight: Sight, may_be: list[list[int]]) -> list[int]:
    """The slots whose cards will never fit, whatever they may be."""
    return [slot for slot, cards in enumerate(may_be) if all(height(sight, card) < 0 for card in cards)]


def _discard(sight: Sight, may_be: list[list[int]]) -> str:
    """Discards what is certainly useless, else the oldest card without a hint, else the oldest card."""
    if useless := _useless(sight, may_be):
        return f"(Discard {useless[0]})"
    return f"(Discard {next((slot for slot, card in enumerate(sight.hands[sight.me]) if card.unhinted), 0)})"


def height(sight: Sight, card: int) -> int:
    """A card's distance above its firework: 0 is playable, below 0 is useless."""
    color, rank = divmod(card, sight.shape.ranks)
    return rank - sight.stacks[color]


def _helpful(sight: Sight) -> list[str]:
    hints = []
    for offset in range(1, sight.shape.players):
        for card in sight.hands[(sight.me + offset) % sight.shape.players]:
            if card.face is not None and height(sight, card.face) == 0:
                color, rank = divmod(card.face, sight.shape.ranks)
                if card.colors.bit_count() > 1:
                    hints.append(hint_name(offset, "color", color))
                if card.ranks.bit_count() > 1:
                    hints.append(hint_name(offset, "rank", rank))
    return hints


SAVED = 4
"""Info tokens that it does not spend: with so few it discards, whatever the others hold."""


@dataclass
class Visible(Bot):
    """Plays what is certain or just hinted at, hints at a playable card, else discards its oldest card."""

    kind = "bot/visible"

    def policy(self, state: Any) -> dict[str, float]:
        return {self.choose(state): 1.0}

    def choose(self, state: HanabiState) -> str:
        return visible(state.sight(self.seat))


def visible(sight: Sight) -> str:
    may_be = possible_cards(sight)
    certain = _playable(sight, may_be)
    playable = certain[0] if certain else _hinted(sight, may_be)
    if playable is not None:
        return f"(Play {playable})"
    if sight.info > SAVED and (hint := _hint(sight)):
        return hint
    if sight.info == sight.shape.most_info:
        # The rank of the next player's oldest card: no hint is useful and nothing may be discarded.
        card = sight.hands[(sight.me + 1) % sight.shape.players][0].face
        assert card is not None
        return hint_name(1, "rank", card % sight.shape.ranks)
    return _discard(sight, may_be)


def _hinted(sight: Sight, may_be: list[list[int]]) -> int | None:
    """The newest card that the last action, a hint, was about, if it may be playable; never the last life."""
    if not sight.log or sight.life == 1:
        return None
    hint = sight.log[-1].move
    if not hint.offset or (sight.log[-1].player + hint.offset) % sight.shape.players != sight.me:
        return None
    hand = enumerate(sight.hands[sight.me])
    masks = {slot: card.ranks if hint.kind == "rank" else card.colors for slot, card in hand}
    hinted = [slot for slot, mask in masks.items() if mask == 1 << hint.value]
    playable = hinted and any(height(sight, card) == 0 for card in may_be[hinted[-1]])
    return hinted[-1] if playable else None


def _hint(sight: Sight) -> str:
    """The first hint, ranks before colours, whose newest card can be played and is not fully known yet."""
    shape = sight.shape
    for offset in range(1, shape.players):
        hand = sight.hands[(sight.me + offset) % shape.players]
        for kind, values in (("rank", shape.ranks), ("color", shape.colors)):
            newest: dict[int, HandCard] = {}
            for card in hand:
                if card.face is not None:
                    newest[divmod(card.face, shape.ranks)[kind == "rank"]] = card
            for value in range(values):
                if (touched := newest.get(value)) is None or touched.face is None:
                    continue
                mask = touched.ranks if kind == "rank" else touched.colors
                if height(sight, touched.face) == 0 and mask.bit_count() > 1:
                    return hint_name(offset, kind, value)
    return ""


def hint_name(offset: int, kind: str, value: int) -> str:
    return f"(Reveal player +{offset} {kind} {COLORS[value] if kind == 'color' else value + 1})"
