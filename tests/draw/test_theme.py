from itertools import combinations

import pytest

from ludens.core.errors import UnknownName
from ludens.draw import HUES, THEMES, get_theme
from ludens.draw.palette import contrast, distance, letter_on
from ludens.draw.theme import GROUNDS, LETTERS, MIN_HUE_DISTANCE

SEEDS = range(200)


def test_unknown_theme_and_colour_name_the_nearest() -> None:
    with pytest.raises(UnknownName, match="classic"):
        get_theme("clasic")
    with pytest.raises(UnknownName, match="red"):
        get_theme("classic").colour("redd")


def test_hex_colours_are_colours() -> None:
    assert get_theme("classic").colour("#0a0B0c") == (10, 11, 12)
    for wrong in ("#12345", "#12345g", "", "#"):
        with pytest.raises(UnknownName):
            get_theme("classic").colour(wrong)


def test_one_of_the_random_looks_can_be_named() -> None:
    named, seventh = get_theme("random:7", 3), get_theme("random", 7)
    assert (named.colours, named.shapes) == (seventh.colours, seventh.shapes)
    assert named.colours != get_theme("random", 3).colours
    for wrong in ("random:", "random:x", "random:-1", "classic:1"):
        with pytest.raises(UnknownName, match="theme"):
            get_theme(wrong)


@pytest.mark.parametrize("name", THEMES)
def test_every_theme_names_the_same_colours(name: str) -> None:
    assert list(get_theme(name, 5).colours) == list(get_theme("classic").colours)


@pytest.mark.parametrize("name", ["classic", "contrast", "plain"])
def test_fixed_themes_ignore_the_seed_and_keep_text_readable(name: str) -> None:
    look = get_theme(name)
    assert get_theme(name, 9) is look
    assert all(contrast(look.colour("ink"), look.colour(ground)) >= 4.5 for ground in GROUNDS)
    assert all(contrast(look.colour("muted"), look.colour(ground)) >= 4.5 for ground in ("page", "panel"))


def test_random_themes_differ_stay_readable_and_keep_hues_apart() -> None:
    looks = [get_theme("random", seed) for seed in SEEDS]
    assert len({tuple(look.colours.values()) for look in looks}) == len(SEEDS)
    assert {look.shape("stone") for look in looks} >= {"disc", "square", "diamond", "hexagon", "octagon"}
    for look in looks:
        assert all(contrast(look.colour("ink"), look.colour(ground)) >= 4.5 for ground in GROUNDS)
        assert all(contrast(look.colour("muted"), look.colour(ground)) >= 4.5 for ground in ("page", "panel"))
        assert all(contrast(letter_on(look.colour(hue)), look.colour(hue)) >= 4.5 for hue in HUES)
        pairs = combinations([look.colour(hue) for hue in HUES], 2)
        assert all(distance(a, b) >= MIN_HUE_DISTANCE for a, b in pairs)


def test_random_hues_stay_nearest_to_their_own_name() -> None:
    base = get_theme("classic")
    for seed in SEEDS:
        look = get_theme("random", seed)
        for hue in HUES:
            nearest = min(HUES, key=lambda name: distance(base.colour(name), look.colour(hue)))
            assert nearest == hue, (seed, hue)


def test_plain_is_grey_and_letters_tell_hues_apart() -> None:
    look = get_theme("plain")
    assert look.plain
    assert look.lettered
    assert all(len(set(rgb)) == 1 for rgb in look.colours.values())
    letters = [LETTERS[hue] for hue in HUES if hue not in ("black", "white")]
    assert all(letters)
    assert len(set(letters)) == len(letters)
    assert get_theme("classic").letter("red") == ""
    assert look.letter("red") == "R"
