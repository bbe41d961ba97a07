"""Template files: sections, seats of their own, filled-in values, and a folder of overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.core.errors import BadFile, UnknownName
from ludens.core.templates import TemplateOverrides, Templates, load_templates
from ludens.core.view import RenderOptions, view_of
from tests.support.pebbles import Pebbles

OURS = """Anything before the first section is for the reader of the file.

# rules
You are $seat; the board has $size rows, and 5$$ is the prize.

## A heading inside stays
# rules solver
Solve it.
# hint
"""


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    file = tmp_path / "templates.md"
    file.write_text(OURS, encoding="utf-8")
    return file


@pytest.fixture
def overrides(tmp_path: Path) -> Path:
    folder = tmp_path / "overrides"
    folder.mkdir()
    return folder


def test_sections_are_filled_in(ours: Path) -> None:
    templates = load_templates(ours, "comma/wire")
    said = templates.fill("rules", seat="expert", size=3)
    assert said == "You are expert; the board has 3 rows, and 5$ is the prize.\n\n## A heading inside stays"
    assert templates.fill("rules", seat="solver", size=3) == "Solve it."
    assert templates.fill("hint") == ""


def test_a_missing_section_or_value_names_the_file(ours: Path) -> None:
    templates = load_templates(ours, "comma/wire")
    with pytest.raises(BadFile, match=r"templates.md has no section '# ending'"):
        templates.fill("ending", seat="solver")
    with pytest.raises(BadFile, match=r"'# rules' of templates.md uses an unknown word: 'size'"):
        templates.fill("rules", seat="expert")
    with pytest.raises(BadFile, match="unknown word"):
        Templates({"rules": "costs 5$ or so"}, "templates.md").fill("rules")


def test_overrides_replace_sections_and_may_be_for_one_seat(ours: Path, overrides: Path) -> None:
    (overrides / "comma.wire.md").write_text(
        "# rules\nShort.\n# rules expert\nFor $seat.\n", encoding="utf-8"
    )
    templates = load_templates(ours, "comma/wire", TemplateOverrides.read(overrides))
    assert templates.fill("rules", seat="other") == "Short."
    assert templates.fill("rules", seat="expert") == "For expert."
    assert templates.fill("rules", seat="solver") == "Solve it."
    untouched = load_templates(ours, "hanabi", TemplateOverrides.read(overrides))
    assert untouched.fill("rules", seat="x", size=1).startswith("You are x")


def test_overrides_nobody_would_read_are_refused(ours: Path, overrides: Path) -> None:
    (overrides / "hanabi.md").write_text("# ruels\nShort.\n", encoding="utf-8")
    with pytest.raises(UnknownName, match="did you mean 'rules'"):
        load_templates(ours, "hanabi", TemplateOverrides.read(overrides))
    (overrides / "kuhn_poker.md").write_text("## rules\nShort.\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"has no section: each section starts with a line '# name'"):
        TemplateOverrides.read(overrides)


def test_files_that_cannot_be_read(ours: Path, overrides: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot read the template file"):
        load_templates(tmp_path / "none.md", "hanabi")
    with pytest.raises(BadFile, match="does not exist"):
        TemplateOverrides.read(tmp_path / "nowhere")
    (overrides / "chess.md").write_bytes(b"# rules\n\xff\xfe")
    with pytest.raises(BadFile, match="cannot read the template file"):
        TemplateOverrides.read(overrides)


def test_a_look_with_words_reaches_the_rules(overrides: Path) -> None:
    (overrides / "test.pebbles.md").write_text("# rules left\nOnly for $seat, of $heap.\n", encoding="utf-8")
    view = view_of(Pebbles(), RenderOptions(templates=TemplateOverrides.read(overrides)), seed=1)
    assert view.rules("left") == "Only for left, of 9."
    assert view.rules("right").startswith("You sit at right.")
