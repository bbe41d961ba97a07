"""The six looks of a lesion, and generated patients and charts."""

from __future__ import annotations

from typing import NamedTuple

from ludens.core.random import Stream

SIGNS = ("itches", "bleeds", "hurts", "grew", "changed", "raised")
SKIN_TYPES = ("I", "II", "III", "IV", "V", "VI")


class Look(NamedTuple):
    """The appearance of a lesion; the manual assigns the diagnosis. Oracle agents call it by its `phrase`."""

    name: str
    phrase: str
    regions: tuple[str, ...]
    sizes: tuple[int, int]
    """Smallest and largest diameter in millimetres."""
    signs: tuple[int, ...]
    """How many of ten charts have each of `SIGNS`."""
    seen: str
    """What the picture shows, for the text observation."""
    symptoms: str
    """The description in the manual."""


_TRUNK = ("back", "chest", "shoulder", "abdomen")
_LOOKS = (
    Look("pearl", "pearly bump", ("nose", "face", "ear", "neck", "chest"), (2, 12), (3, 5, 2, 8, 2, 10),
         "a smooth round bump with a glossy gleam and a pale, rolled rim; thin lines branch across it.",
         "A raised bump that shines like a pearl, smooth and a little see-through, with a pale, rolled rim. "
         "Thin branching blood vessels run across it. No flakes, no crust."),
    Look("crust", "crusted nodule", ("face", "ear", "lip", "hand", "forearm", "scalp"), (2, 14),
         (4, 5, 5, 9, 3, 10),
         "a raised nodule, smooth around the outside, whose middle is filled with thick broken chunks.",
         "A firm, raised nodule on inflamed skin. Its middle is covered by a thick crust that has broken "
         "into chunks; around the crust the nodule is smooth."),
    Look("scale", "scaly patch", ("face", "scalp", "ear", "neck", "hand", "forearm"), (3, 20),
         (6, 1, 3, 3, 1, 3),
         "a flat patch without a clear border, sprinkled all over with small pale flakes.",
         "A flat patch, dry and rough, that fades into the skin without a clear border and is sprinkled with "
         "small pale flakes. Mostly where the sun reaches: head, neck, hands, forearms."),
    Look("wax", "stuck-on plaque", ("face", *_TRUNK), (4, 24), (5, 3, 1, 4, 2, 10),
         "an oval plaque with a sharp edge and a shadow; its dull surface has dark pits and pale beads.",
         "A round or oval plaque with a sharp edge, as if stuck onto the skin like wax. Its surface is dull, "
         "with dark pits and pale beads."),
    Look("notch", "notched patch", (*_TRUNK, "thigh", "arm"), (5, 20), (3, 3, 1, 8, 9, 3),
         "a flat patch of crooked shape with bites out of its border, in blotches of several shades.",
         "A flat patch whose halves do not match, with notches in its border and blotches of several colours "
         "or shades: brown, black, red, blue-grey."),
    Look("mole", "even mole", ("face", "arm", *_TRUNK), (2, 6), (1, 0, 0, 1, 0, 4),
         "a small spot, round or oval, with an even border and a single even shade.",
         "A small spot, round or oval, of one even shade and with an even border; perhaps with a hair, but "
         "with no flakes, crust, pits or vessels."),
)  # fmt: skip
LOOKS = {look.name: look for look in _LOOKS}

RELEASED_COUNTS = {"pearl": 845, "scale": 730, "mole": 244, "wax": 235, "crust": 192, "notch": 52}
"""Cases of each look in the released set."""

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


class Patient(NamedTuple):
    """The patient's identity: known to the Solver only, and private."""

    name: str
    address: str
    number: str


class Chart(NamedTuple):
    """The chart beside the picture. `signs` are in the order of `SIGNS`."""

    age: int
    sex: str
    region: str
    skin_type: int
    diameters: tuple[int, int]
    signs: tuple[bool, ...]

    @property
    def widest(self) -> int:
        """The larger diameter, in millimetres."""
        return max(self.diameters)

    @property
    def irritated(self) -> bool:
        """Whether it itches or bleeds."""
        return self.signs[0] or self.signs[1]

    def lines(self) -> list[tuple[str, str]]:
        """Labels and values, as shown."""
        size, skin = "{} x {}".format(*self.diameters), SKIN_TYPES[self.skin_type - 1]
        person = [("Age", str(self.age)), ("Sex", self.sex), ("Region", self.region)]
        signs = [
            (name.capitalize(), "yes" if sign else "no") for name, sign in zip(SIGNS, self.signs, strict=True)
        ]
        return [*person, ("Skin type", skin), ("Size (mm)", size), *signs]


def draw_chart(look: Look, random: Stream) -> Chart:
    """A random chart that fits a look."""
    low, high = look.sizes
    first = random.between(low, high)
    return Chart(
        random.between(18, 60) if look.name == "mole" else random.between(38, 92),
        random.choice(("female", "male")),
        random.choice(look.regions),
        random.between(1, len(SKIN_TYPES)),
        (first, max(low, first - random.below(4))),
        tuple(random.below(10) < count for count in look.signs),
    )


def draw_patient(random: Stream) -> Patient:
    """A random fictional patient."""
    pools = (_FIRST, _LAST, _STREETS, _TOWNS)
    first, last, street, town = (random.choice(pool.split()) for pool in pools)
    digits = str(random.between(100_000_000, 999_999_999))
    number = f"{digits[:3]}-{digits[3:5]}-{digits[5:]}"
    return Patient(f"{first} {last}", f"{random.between(1, 199)} {street} Street, {town}", number)
