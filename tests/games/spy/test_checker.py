"""The clue checker: accuracy on written clues, and agreement with scenes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.random import stream
from ludens.games.spy.checker import check, informativeness
from ludens.games.spy.scene import MATERIALS, SHAPES, Object, Scene, make_scene

LABELS = {"t": True, "f": False, "u": None}


def _written(file: str) -> list[tuple[Scene, str, bool | None]]:
    found, scene = list[tuple[Scene, str, bool | None]](), Scene(())
    for line in (Path(__file__).parent / file).read_text().splitlines():
        if line.isdigit():
            scene = make_scene(stream(int(line), "written"))
        elif not line.startswith("#"):
            found.append((scene, line[2:], LABELS[line[0]]))
    return found


@pytest.mark.parametrize(
    ("file", "right", "undecided"),
    [("clues.txt", 199, 1), ("more_clues.txt", 52, 8), ("other_clues.txt", 89, 11)],
)
def test_written_clues(file: str, right: int, undecided: int) -> None:
    results = Counter[str]()
    for scene, clue, label in _written(file):
        said = check(clue, scene)
        results["right" if said is label else "undecided" if said is None else f"wrong: {clue}"] += 1
    assert results == {"right": right, "undecided": undecided}


def _scene(*objects: str) -> Scene:
    """Objects such as `small red metal cube`, from left to right and from front to back."""
    things = []
    for place, words in enumerate(objects):
        size, color, material, shape = words.split()
        things.append(Object(shape, size, material, color, place - 2.0, place - 2.0))
    return Scene(tuple(things))


@pytest.mark.parametrize(
    ("clue", "truth"),
    [
        ("Exactly half of the objects are red", True),
        ("At least half of the objects are large", False),
        ("More than half of the objects are small", True),
        ("The cubes are red and blue", True),
        ("The cubes are red and green", False),
        ("The cubes are red, blue and green", False),
        ("There are not more than four objects", True),
        ("There are not more than three objects", False),
        ("There are not two cubes", False),
        ("The two cubes have the same material", True),
        ("The two cubes have the same color", False),
        ("The three cubes have the same material", False),
        ("The cube has the same color as the sphere", None),
        ("The sphere is made of the same material as the cylinder", False),
        ("The sphere has the same color as the red cube", True),
        ("A cube has the same color as the sphere", None),
        ("There is one sphere, and it is red", True),
        ("There is one sphere, and it is made of metal", False),
        ("There are two cubes, all of them small", True),
        ("To the left of the sphere there is a blue cube", True),
        ("In the back I see a red cube", False),
        ("The red cube is metal, the other two are rubber", None),
    ],
)
def test_readings(clue: str, truth: bool | None) -> None:
    scene = _scene(
        "small red metal cube",
        "small blue metal cube",
        "small red rubber sphere",
        "large gray metal cylinder",
    )
    assert check(clue, scene) is truth


def test_counts_and_existence_agree_with_the_scene() -> None:
    for seed in range(60):
        scene = make_scene(stream(seed, "checked"))
        for value in (*SHAPES, *MATERIALS):
            name = "shape" if value in SHAPES else "material"
            count = sum(getattr(thing, name) == value for thing in scene.objects)
            noun = f"{value}s" if value in SHAPES else f"{value} objects"
            single = value if value in SHAPES else f"{value} object"
            assert check(f"There is a {single}", scene) is (count > 0)
            assert check(f"There are no {noun}", scene) is (count == 0)
            for number in range(2, 7):
                assert check(f"There are {number} {noun}", scene) is (count == number)
                assert check(f"I see at least {number} {noun}.", scene) is (count >= number)


def test_relations_agree_with_the_scene() -> None:
    for seed in range(40):
        scene = make_scene(stream(seed, "checked"))
        for a in scene.objects:
            for b in scene.objects:
                if [a.name, b.name] != sorted({a.name, b.name}, key=[a.name, b.name].index):
                    continue
                names = [thing.name for thing in scene.objects]
                if names.count(a.name) > 1 or names.count(b.name) > 1:
                    continue
                assert check(f"The {a.name} is to the left of the {b.name}", scene) is (a.x < b.x)
                assert check(f"The {a.name} is behind the {b.name}", scene) is (a.y > b.y)


def test_unknown_words_are_never_guessed() -> None:
    scene = make_scene(stream(0, "checked"))
    for clue in ("", "There is a cube wearing a hat", "a b c", "cube", "x" * 1000, "🙂", "The the the"):
        assert check(clue, scene) is None


_VOCABULARY = (
    "the", "a", "two", "1", "red", "cube", "cubes", "objects", "is", "are", "left of", "and", "not", "all",
    "both", "between", "there is", "or", "leftmost", "one", "other", "more", "than", ",", "no", "only",
    "behind", "on the left", "half", "at least", "number of", "i see",
)  # fmt: skip


@given(st.lists(st.sampled_from(_VOCABULARY), max_size=40))
def test_any_words_are_handled(words: list[str]) -> None:
    assert check(" ".join(words), make_scene(stream(1, "checked"))) in (True, False, None)


def test_informativeness_orders_clues() -> None:
    vague, fair, exact = (
        informativeness(clue)
        for clue in (
            "There are several objects",
            "There is a red object",
            "There is a large red metal cube and a small cyan rubber sphere",
        )
    )
    assert vague == 0.0
    assert 0.3 < fair < 0.7  # none of about five objects is red: (7/8)^5
    assert exact > 0.95
    assert informativeness("What a nice picture") == 0.0


def test_words_in_any_order_are_judged() -> None:
    """A model in training says anything; a clue that cannot be understood is undecided, never an error."""
    said = "there is are a the two three of and only exactly both all no half several cube cubes red"
    words = said.split()
    written = [clue.split() for _, clue, _ in _written("clues.txt")]
    scene, random = make_scene(stream(0, "order")), stream(1, "order")
    for _ in range(1500):
        mixed = [random.choice(words) for _ in range(random.between(2, 9))]
        first, second = random.choice(written), random.choice(written)
        joined = first[: random.below(len(first))] + second[random.below(len(second)) :]
        for clue in (mixed, joined):
            assert check(" ".join(clue), scene) in (True, False, None)


def test_counted_objects_with_an_article() -> None:
    scene = _scene("small red metal cube", "large red metal cube", "small blue rubber sphere")
    assert check("There are the two red cubes", scene) is True
    assert check("There are the three red cubes", scene) is False
