"""The grammar of names: what is written is what is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import BadOption
from ludens.core.spec import Spec, parse_spec

NAME = st.from_regex(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.:-]+){0,3}", fullmatch=True)
ADDRESS = st.none() | st.from_regex(r"https?://[a-z0-9.]+(:[0-9]{1,5})?(/[a-z0-9]+)*", fullmatch=True)
OPTIONS = st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]*", fullmatch=True), st.text(), max_size=4)


@given(NAME, ADDRESS, OPTIONS)
def test_a_spec_survives_being_written(name: str, address: str | None, options: dict[str, str]) -> None:
    spec = Spec(name, address, options)
    assert parse_spec(str(spec)) == spec


@given(st.text())
def test_any_text_is_a_spec_or_a_clear_error(text: str) -> None:
    try:
        spec = parse_spec(text)
    except BadOption:
        return
    assert spec.name
    assert "=" not in "".join(spec.options)


def test_the_parts_of_a_spec() -> None:
    spec = parse_spec(" vllm/Qwen/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1?temperature=0.5&stop=a%26b+c ")
    assert spec.name == "vllm/Qwen/Qwen2.5-VL-7B"
    assert (spec.kind, spec.rest) == ("vllm", "Qwen/Qwen2.5-VL-7B")
    assert spec.address == "http://127.0.0.1:8000/v1"
    assert spec.options == {"temperature": "0.5", "stop": "a&b+c"}
    assert (parse_spec("human").kind, parse_spec("human").rest) == ("human", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no name"),
        ("?players=3", "has no name"),
        ("@host", "has no name"),
        ("hanabi?players", "'players' in 'hanabi[?]players' is not option=value"),
        ("hanabi?=3", "'=3' in 'hanabi[?]=3' is not option=value"),
        ("hanabi?players=3&players=4", "'players' given more than once"),
    ],
)
def test_a_malformed_spec_is_quoted(text: str, told: str) -> None:
    with pytest.raises(BadOption, match=told):
        parse_spec(text)
