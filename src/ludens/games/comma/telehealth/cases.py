"""The six looks a lesion can have, and patients with charts that go with them."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.random import Stream

SIGNS = ("itches", "bleeds", "hurts", "grew", "changed", "raised")
SKIN_TYPES = ("I", "II", "III", "IV", "V", "VI")


@dataclass(frozen=True)
class RenderOptions:
    """One kind of lesion, by what can be seen; what it is called is for the manual to say."""

    name: str
    phrase: str
    """In the small language."""
    seen: str
    """What its picture shows, in words."""
    symptoms: str
    """How a manual describes it."""
    regions: tuple[str, ...]
    sizes: tuple[int, int]
    """Smallest and largest diameter, in millimetres."""
    signs: tuple[int, ...]
    """How often each of `SIGNS` is found, of ten times."""


_SUN = ("face", "scalp", "ear", "neck", "hand", "forearm")
_TRUNK = ("back", "chest", "shoulder", "abdomen")

LOOKS = {
    look.name: look
    for look in (
        RenderOptions(
            "pearl",
            "pearly bump",
            "a smooth round bump with a glossy gleam and a pale, rolled rim; thin lines branch across it.",
            "A raised bump that shines like a pearl, smooth and a little see-through, with a pale, rolled "
            "rim. Thin branching blood vessels run across it. No flakes, no crust.",
            ("nose", "face", "ear", "neck", "chest"),
            (2, 12),
            (3, 5, 2, 8, 2, 10),
        ),
        RenderOptions(
            "crust",
            "crusted nodule",
            "a raised nodule, smooth around the outside, whose middle is filled with thick broken chunks.",
            "A firm, raised nodule on inflamed skin. Its middle is covered by a thick crust that has broken "
            "into chunks; around the crust the nodule is smooth.",
            ("face", "ear", "lip", "hand", "forearm", "scalp"),
            (2, 14),
            (4, 5, 5, 9, 3, 10),
        ),
        RenderOptions(
            "scale",
            "scaly patch",
            "a flat patch without a clear border, sprinkled all over with small pale flakes.",
            "A flat patch, dry and rough, that fades into the skin without a clear border and is sprinkled "
            "with small pale flakes. Mostly where the sun reaches: head, neck, hands, forearms.",
            _SUN,
            (3, 20),
            (6, 1, 3, 3, 1, 3),
        ),
        RenderOptions(
            "wax",
            "stuck-on plaque",
            "an oval plaque with a sharp edge and a shadow; its dull surface has dark pits and pale beads.",
            "A round or oval plaque with a sharp edge, as if stuck onto the skin like wax. Its surface is "
            "dull, with dark pits and pale beads.",
            ("face", *_TRUNK),
            (4, 24),
            (5, 3, 1, 4, 2, 10),
        ),
        RenderOptions(
            "notch",
            "notched patch",
            "a flat patch of crooked shape with bites out of its border, in blotches of several shades.",
            "A flat patch whose halves do not match, with notches in its border and blotches of several "
            "colours or shades: brown, black, red, blue-grey.",
            (*_TRUNK, "thigh", "arm"),
            (5, 20),
            (3, 3, 1, 8, 9, 3),
        ),
        RenderOptions(
            "mole",
            "even mole",
            "a small spot, round or oval, with an even border and a single even shade.",
            "A small spot, round or oval, of one even shade and with an even border; perhaps with a hair, "
            "but with no flakes, crust, pits or vessels.",
            ("face", "arm", *_TRUNK),
            (2, 6),
            (1, 0, 0, 1, 0, 4),
        ),
    )
}

RELEASED_SHARES = {"pearl": 845, "scale": 730, "mole": 244, "wax": 235, "crust": 192, "notch": 52}
"""How often the released cases show each look."""

_FIRST = (
    "Ana Bruno Clara Diego Elisa Fabio Gloria Hugo Ines Joao Karina Leo Marta Nico Olga Pedro Rita Samuel "
    "Teresa Ugo Vera Walter Yara Zeno"
)
_LAST = (
    "Almeida Barbosa Cardoso Dias Esteves Ferraz Gomes Herrera Ibarra Junqueira Klein Lemos Moraes Navarro "
    "Ortega Pacheco Queiroz Ramos Salgado Tavares Uchoa Vidal Werner Zanetti"
)
_STREETS = "Acacia Beacon Cedar Dover Elm Foundry Garden Harbour Juniper Kestrel Linden Mill Orchard Willow"
_TOWNS = "Ashby Brenton Calder Dunmore Eastfield Fairwater Glenholm Harwick Kingsley Lowford Marston"


@dataclass(frozen=True)
class Patient:
    """Who is in the chair: for the Solver alone."""

    name: str
    address: str
    number: str


@dataclass(frozen=True)
class Chart:
    """What is on the card beside the picture."""

    age: int
    sex: str
    region: str
    skin_type: int
    diameters: tuple[int, int]
    signs: tuple[bool, ...]
    """In the order of `SIGNS`."""

    @property
    def widest(self) -> int:
        """The larger diameter, in millimetres."""
        return max(self.diameters)

    @property
    def irritated(self) -> bool:
        """Whether it itches or bleeds."""
        return self.signs[0] or self.signs[1]

    def lines(self) -> tuple[tuple[str, str], ...]:
        """What the card says."""
        first, second = self.diameters
        return (
            ("Age", str(self.age)),
            ("Sex", self.sex),
            ("Region", self.region),
            ("Skin type", SKIN_TYPES[self.skin_type - 1]),
            ("Size (mm)", f"{first} x {second}"),
            *(
                (sign.capitalize(), "yes" if found else "no")
                for sign, found in zip(SIGNS, self.signs, strict=True)
            ),
        )


def draw_chart(look: RenderOptions, random: Stream) -> Chart:
    """A chart that fits a look."""
    low, high = look.sizes
    first = random.between(low, high)
    return Chart(
        age=random.between(18, 60) if look.name == "mole" else random.between(38, 92),
        sex=random.choice(("female", "male")),
        region=random.choice(look.regions),
        skin_type=random.between(1, len(SKIN_TYPES)),
        diameters=(first, max(low, first - random.below(4))),
        signs=tuple(random.below(10) < often for often in look.signs),
    )


def draw_patient(random: Stream) -> Patient:
    """Somebody who does not exist."""
    first, last = random.choice(_FIRST.split()), random.choice(_LAST.split())
    street, town = random.choice(_STREETS.split()), random.choice(_TOWNS.split())
    digits = str(random.between(100_000_000, 999_999_999))
    number = f"{digits[:3]}-{digits[3:5]}-{digits[5:]}"
    return Patient(f"{first} {last}", f"{random.between(1, 199)} {street} Street, {town}", number)
