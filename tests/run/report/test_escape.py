"""Text of players is shown and cannot become markup."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ludens.run.report.page import environment, with_code

HOSTILE = st.one_of(
    st.text(),
    st.text(alphabet="<>&\"'/=` scriptonload\u202e\u2066\u200b\x00\x1b\ud800"),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "</title></style></script><img src=x onerror=alert(1)>",
            "<!-- --><svg/onload=alert(1)>",
            "\" onmouseover='alert(1)' x=\"",
            "&lt;script&gt;",
            "a\u202egnp.exe",
            "\ud800 half",
            "javascript:alert(1)",
        ]
    ),
)


class Tags(HTMLParser):
    """Collects every element and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def said(text: str, limit: int = 10_000) -> str:
    macros: Any = environment().get_template("macros.html").module
    return str(macros.said(text, limit))


def escaped(text: str) -> str:
    return environment().from_string("{{ text }}").render(text=text)


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    return tags


@given(HOSTILE)
def test_text_stays_text_in_elements_and_attributes(text: str) -> None:
    html = environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    html.encode()  # a file can hold it
    found = parsed(html)
    assert [tag for tag, _ in found.found] == ["p"]
    [(_, [(name, title)])] = found.found
    assert (name, title) == ("title", found.text)


@given(HOSTILE)
def test_said_adds_no_tags_but_for_hidden_characters(text: str) -> None:
    html = said(text)
    html.encode()
    assert {(tag, attrs) for tag, attrs in parsed(html).found} <= {("span", (("class", "odd"),))}


@given(HOSTILE)
def test_what_stands_between_backticks_is_code_and_nothing_else(text: str) -> None:
    html = with_code(text)
    html.encode()
    assert set(parsed(html).found) <= {("code", ())}
    quoted = text.replace("`", "")
    assert with_code(f"a `{quoted}` b").count("<code>") == 1


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs", "M"])))
def test_visible_text_is_not_changed(text: str) -> None:
    assert unescape(escaped(text)) == text
    assert unescape(said(text)) == text


@given(HOSTILE)
def test_no_hidden_character_is_left(text: str) -> None:
    for html in (escaped(text), said(text)):
        assert all(c.isprintable() or c in "\n\t\u200c\u200d" or c.isspace() for c in html)
        assert not set(html) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\x00\x1b"
        )


def test_long_text_is_cut_with_a_note() -> None:
    html = said("x" * 50, 10)
    assert html.startswith("x" * 10 + "<span")
    assert "40 more characters" in html
