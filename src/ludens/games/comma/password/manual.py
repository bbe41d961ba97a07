"""The Password manual: a list of five-letter words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

_PUBLISHED = """
about after again below could every first found great house large learn never other place plant point
right small sound spell still study their there these thing think three water where which world would
write
"""

_STOCK = """
acorn actor album alert amber angle ankle apple apron arrow atlas bacon badge baker basil basin beach
berry bison blaze blend bloom board boost bonus brain brave bread brick bride brook broom brush cabin
cable camel candy canoe cargo carol cedar chalk charm chess chest chief choir cider cigar cliff clock
cloud clown coach coral crane cream crown cycle daisy dance delta depot diary diner ditch dizzy donor
dough draft drama dream dress drift eagle early earth easel elbow ember empty enjoy equal event exact
fable fairy fancy feast fence ferry fever field flame fleet flint flock flour fluid flute forge frame
fresh frost fruit giant glass globe glove grain grape grass green guest guide habit hatch hazel heart
hedge heron hobby honey horse hotel humor ideal index inlet ivory jewel joker jolly judge juice
kayak knife knock label lemon level light lilac linen llama lodge lucky lunar magic maple march marsh
medal melon mercy metal minor model moist money month motor mount mouse music nerve niece night noble
north novel nurse oasis ocean olive onion opera orbit organ otter owner paint panel paper parka patio
pearl pedal penny piano pilot pitch pixel plank plate plaza polar porch pound press price pride prism
proud pulse puppy quack quail quart queen quiet quilt radar radio raven relay rider rival river roast
robin robot rocky rodeo royal ruler salad salon sauce scarf scene scout shade shape sheep shelf shell
shirt shore shrub siren skate skill slate sleep slope smile smoke snack solar spade spark spice spoon
sport squad squid stamp steel stone stork storm straw sugar sunny swamp swing sword table tango tiger
toast token tonic topaz torch tower track trade trail train tribe trout truck tulip tunic tutor twist
uncle urban valve vapor vault video viola visit vivid voice wagon waltz wheat wheel whale wrist
yacht yeast yield young zebra
"""

PUBLISHED_WORDS = tuple(_PUBLISHED.split())
STOCK = tuple(_STOCK.split())


SLOTS, RING = 5, 3
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_COLUMNS = 5


@dataclass(frozen=True)
class PasswordManual(Manual):
    """The listed words in alphabetical order."""

    words: tuple[str, ...]
    any_opens: bool = True
    """Whether every word that can be spelt opens the lock; by the released rules only one does."""

    def spelt(self, slots: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Every listed word that can be spelt with one letter from each slot."""
        return tuple(
            word for word in self.words if all(a in slot for a, slot in zip(word, slots, strict=True))
        )

    def blocks(self) -> tuple[Block, ...]:
        intro = (
            f"A lock shows {SLOTS} letters. Each can be turned up and down and comes round again after "
            f"{RING} letters, which are neighbours in the alphabet (Z and A are, too). The lock opens when "
            "it shows one of the words below and is then submitted. To find out which of them can be spelt, "
            "have every slot turned until all of its letters are known. "
        ) + (
            "If several can, any of them opens the lock."
            if self.any_opens
            else "If several can, only one of them opens the lock."
        )
        words = [word.upper() for word in self.words]
        rows = tuple(tuple(words[i : i + _COLUMNS]) for i in range(0, len(words), _COLUMNS))
        head = ("Words", *[""] * (_COLUMNS - 1))
        return Heading("Password"), Paragraph(intro), Grid((head, *rows))

    def advise(self, told: Sequence[Facts]) -> Facts:
        slots: list[set[str]] = [set() for _ in range(SLOTS)]
        for facts in told:
            if "letters" in facts:
                for slot, letter in zip(slots, _letters(facts["letters"]), strict=True):
                    slot.add(letter)
        need({"letters": ""} if slots[0] else {}, _NEEDS)
        if any(len(slot) < RING for slot in slots):
            return {"turn": "up"}
        found = self.spelt([sorted(slot) for slot in slots])
        if not found:
            raise Unclear("None of my words can be spelt with these letters; tell me all of them again.")
        return {"words": ", ".join(found)}


_NEEDS: Mapping[str, str] = {"letters": "the five letters shown now, with commas"}


def _letters(told: str) -> list[str]:
    letters = [letter.strip().lower() for letter in told.split(",")]
    if len(letters) != SLOTS or any(len(letter) != 1 or letter not in ALPHABET for letter in letters):
        raise Unclear(f"A lock shows {SLOTS} letters from A to Z; not {told!r}.")
    return letters


PUBLISHED = PasswordManual(PUBLISHED_WORDS)
RELEASED = PasswordManual(PUBLISHED_WORDS, any_opens=False)


def draw_manual(random: Stream, answer: str = "", refused: Sequence[str] = ()) -> PasswordManual:
    """A random list as long as the published one: with this answer, if given, and without refused words."""
    words = [word for word in (*STOCK, *PUBLISHED_WORDS) if word not in refused and word != answer]
    chosen = random.sample(words, len(PUBLISHED_WORDS) - bool(answer))
    return PasswordManual(tuple(sorted([*chosen, answer] if answer else chosen)))
