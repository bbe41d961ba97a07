"""The oracles' small language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.games.comma.dialogue import need, read, write
from ludens.games.comma.puzzle import Unclear

WORDS = st.text("abcdefghij ,0123456789", min_size=1).map(lambda s: " ".join(s.split())).filter(bool)


@given(st.dictionaries(WORDS, WORDS))
def test_what_is_written_can_be_read(facts: dict[str, str]) -> None:
    assert read(write(facts)) == facts


def test_other_lines_are_ignored() -> None:
    assert read("Hello.\nSERIAL  = 12 34\n = x\nwires =\ncut = <number>\nserial = 5") == {"serial": "5"}


def test_missing_facts_are_asked_for() -> None:
    with pytest.raises(Unclear, match="a = <first>\nb = <second>"):
        need([{"a": "1"}], {"a": "first", "b": "second"})
    assert need([{"b": "2", "a": "1"}], {"a": "", "b": ""}) == ["1", "2"]
