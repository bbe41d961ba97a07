import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.draw.fonts import fit, mask, width, wrap


def test_missing_glyphs_show_as_a_box() -> None:
    box = mask("漢", 20)
    assert (box > 100).sum() > 20
    assert np.array_equal(box, mask("\U0001f600", 20))
    assert not np.array_equal(box, mask("♥", 20))


@given(st.text("abc wxyz\n-é", max_size=300), st.integers(20, 200))
@settings(deadline=None)
def test_wrapping_loses_nothing_and_fits(string: str, room: int) -> None:
    lines = wrap(string, room, 12)
    assert "".join("".join(lines).split()) == "".join(string.split())
    assert all(width(line, 12) <= room for line in lines)


def test_fit_cuts_with_an_ellipsis() -> None:
    assert fit("short", 100, 12) == "short"
    cut = fit("a rather long sentence", 60, 12)
    assert cut.endswith("…")
    assert width(cut, 12) <= 60
