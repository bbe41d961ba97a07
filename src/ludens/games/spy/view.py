"""The view of the spy game: the seat's own picture, and what it is told in each stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ludens.core.forms import Choose, Form, Sentence
from ludens.core.random import Stream
from ludens.core.reply import ReplyFormat
from ludens.core.view import Picture, RenderOptions, View
from ludens.draw import Picture as Drawn
from ludens.games.spy.clues import STOCK_CLUES, THERE_IS, joined_names
from ludens.games.spy.flat import Floor
from ludens.games.spy.game import ABSTAIN, CLUE, DECISION, SPY, ClueFormat, Spy, SpyState, VoteFormat, quoted
from ludens.games.spy.pairs import BLANK, FLAT, IDENTICAL, StoredPair, described, kind_of, set_of
from ludens.games.spy.scene import ATTRIBUTES, FLOOR, Scene

_STYLES = ("direct", "cot", "explain")
_SEEN = ("original", "modified")
_GUESSES = 20
"""How many invented clues are tried until one is accepted."""
_DRAWN, _STORED = 512, 256
"""Pictures kept, of each kind: the two of a game are shown many times, and one that is not encoded yet holds
its pixels (0.25 and 0.5 MB)."""


class SpyView(View):
    """Shows the spy the modified picture and everyone else the original."""

    game: Spy

    @property
    def smallest(self) -> int:
        return 192

    def __init__(self, game: Spy, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._kind = kind_of(game.source)
        self._drawn = lru_cache(maxsize=_DRAWN)(Floor(render.theme, render.size, seed).draw)
        self._stored = lru_cache(maxsize=_STORED)(self._resized)
        clue, vote = (
            (self.templates.fill(f"reply {stage}"), {s: self.templates.fill(f"{s} {stage}") for s in _STYLES})
            for stage in (CLUE, DECISION)
        )
        self._clue, self._vote = ClueFormat(*clue), VoteFormat(*vote)

    def values(self, seat: str) -> dict[str, object]:
        look = f" {self.templates.fill('look flat')}" if self.game.source == FLAT else ""
        return {
            "players": len(self.game.players),
            "change": self.templates.fill(f"change {self._kind}"),
            "look": look,
            "clues_rule": self._clues_rule(),
        }

    def _clues_rule(self) -> str:
        if self.game.clue == "free":
            return ""
        return f" {self.templates.fill('informative', least=round(100 * self.game.least))}"

    def image(self, state: SpyState, seat: str) -> Picture:
        pair, role = state.pair, _SEEN[seat == SPY]
        return self._stored(pair, role) if isinstance(pair, StoredPair) else self._drawn(getattr(pair, role))

    def reveal(self, state: SpyState) -> Sequence[tuple[str, Picture]]:
        """Both pictures, and where they differ."""
        seats = next(seat for seat in self.game.seats if seat != SPY), SPY
        original, modified = (self.image(state, seat) for seat in seats)
        pictures = [("what everybody but the spy saw", original), ("what the spy saw", modified)]
        if (original.width, original.height) == (modified.width, modified.height):
            pictures.append((self._changes(state), _difference(original, modified)))
        return pictures

    def _changes(self, state: SpyState) -> str:
        pair = described(state.pair)
        if pair is None:
            return "what differs"
        names = [(pair.original.objects[i].name, pair.modified.objects[i].name) for i in pair.changed]
        changes = [f"the {old} is a {new}" if old != new else f"the {old} has moved" for old, new in names]
        return f"what differs: {'; '.join(changes)}" if changes else "nothing differs"

    def _resized(self, pair: StoredPair, role: str) -> Picture:
        """The picture of a file, which is kept as it is unless it is larger than asked for."""
        role = _SEEN[role == "original"] if pair.exchanged else role
        source = "original" if pair.noise == IDENTICAL else role
        picture = set_of(pair.source).picture(pair.entry, source)
        if pair.noise == BLANK and role == "modified":
            picture = picture.blank()
        small = max(picture.width, picture.height) <= self.render.size
        return picture if small else picture.resized(self.render.size)

    @property
    def has_text(self) -> bool:
        return self._kind == "scenes"

    @property
    def enlarges(self) -> bool:
        return self.game.source == FLAT

    def text(self, state: SpyState, seat: str) -> str:
        pair = described(state.pair)
        if pair is None:
            return super().text(state, seat)
        scene: Scene = getattr(pair, _SEEN[seat == SPY])
        lines = [self.templates.fill("scene", count=len(scene.objects))]
        for thing in sorted(scene.objects, key=lambda each: each.x):
            right, behind = (round((value + FLOOR) * 50 / FLOOR) for value in (thing.x, thing.y))
            lines.append(self.templates.fill("object", name=thing.name, right=right, behind=behind))
        return "\n".join(lines)

    def notes(self, state: SpyState, seat: str) -> str:
        fill, clues = self.templates.fill, self._clues(state)
        if state.over:
            tally = Counter(state.votes.values())
            votes = ", ".join(f"{count} for {vote}" for vote, count in sorted(tally.items()))
            winner = fill(f"won {state.winner}")
            return fill("over", spy=state.spy + 1, votes=votes, winner=winner, clues=clues)
        if state.stage == DECISION or seat not in state.table:
            return fill("decision" if seat in self.game.voters else "waiting", clues=clues)
        role = state.role(seat)
        return fill(
            "clue",
            number=state.table.index(seat) + 1,
            players=len(state.table),
            round=len(state.clues) // len(state.table) + 1,
            rounds=self.game.rounds,
            role=fill(f"role {role}"),
            strategy=fill(f"strategy {role}"),
            clues=clues,
        )

    def brief(self, state: SpyState, seat: str) -> str:
        """The number of the player and the clues, each with the number of its player."""
        own = f"{state.table.index(seat) + 1}\n" if state.stage == CLUE and seat in state.table else ""
        return own + "".join(
            f"{state.speaker(index) + 1} {joined_names(clue)}\n" for index, clue in enumerate(state.clues)
        )

    def _clues(self, state: SpyState) -> str:
        fill, players = self.templates.fill, len(state.table)
        if not state.clues:
            return fill("no clues")
        lines = [fill("clues")]
        for index, clue in enumerate(state.clues):
            words = quoted(clue) if clue else fill("silent")
            number = state.speaker(index) + 1
            lines.append(fill("line", round=index // players + 1, number=number, clue=words))
        return "\n".join(lines)

    def format(self, state: SpyState, seat: str) -> ReplyFormat:
        return self._clue if state.stage == CLUE else self._vote

    def form(self, state: SpyState, seat: str) -> Form:
        legal = state.legal(seat)
        if legal.text_limit is not None:
            prompt, help = self.templates.fill("person clue"), self.templates.fill("person clue help")
            return Sentence(self._clue, legal.text_limit, prompt=prompt, help=help)
        labels = {vote: self.label(vote) for vote in legal}
        return Choose(legal, labels, format=self._vote, prompt=self.templates.fill("person decision"))

    def label(self, action: str) -> str:
        return (
            self.templates.fill("abstain")
            if action == ABSTAIN
            else f"Player {action}"
            if action.isdigit()
            else action
        )

    def public_name(self, state: SpyState, seat: str) -> str:
        return f"player {state.table.index(seat) + 1}" if seat in state.table else seat

    def public_action(self, state: SpyState, seat: str, action: str) -> str:
        """The clue with the number of its player, which does not tell the seat; votes stay secret."""
        if seat in state.votes:
            return "(voted)"
        clue = state.clues[-1]
        return quoted(clue) if clue else self.templates.fill("silent")

    def guess(self, state: SpyState, seat: str, random: Stream) -> str:
        if state.stage != CLUE:
            return state.legal(seat).sample(random)
        if self.game.clue == "free":
            return random.choice(STOCK_CLUES)
        clues = [THERE_IS + " ".join(map(random.choice, ATTRIBUTES.values())) for _ in range(_GUESSES)]
        return next((clue for clue in clues if state.emptiness(clue) is None), clues[0])


_NOTICEABLE = 24
"""Difference of a colour, of 255, from which a pixel counts as changed: less is noise of a photograph."""


def _difference(original: Picture, modified: Picture) -> Picture:
    """The modified picture, pale where both are alike."""
    images = (Drawn.from_bytes(each.png()).image().convert("RGB") for each in (original, modified))
    before, after = (np.asarray(image, np.int16) for image in images)
    changed = np.abs(after - before).max(axis=2, keepdims=True) > _NOTICEABLE
    pale = 255 - (255 - after.mean(axis=2, keepdims=True)) // 4
    return Drawn(np.where(changed, after, pale).astype(np.uint8))
