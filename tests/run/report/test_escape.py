"""Whatever a player says is shown, and does nothing."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from ludens.run.report.escape import esc, said

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


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    return tags


@given(HOSTILE)
def test_text_stays_text_in_elements_and_attributes(text: str) -> None:
    html = f'<p title="{esc(text)}">{esc(text)}</p>'
    html.encode()  # a file can hold it
    found = parsed(html)
    assert [tag for tag, _ in found.found] == ["p"]
    [(_, [(name, title)])] = found.found
    assert (name, title) == ("title", found.text)


@given(HOSTILE)
def test_what_is_said_gets_no_tags_but_ours(text: str) -> None:
    html = said(text, 10_000)
    html.encode()
    assert {(tag, attrs) for tag, attrs in parsed(html).found} <= {("span", (("class", "odd"),))}


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S", "Zs", "M"])))
def test_honest_text_is_shown_letter_by_letter(text: str) -> None:
    assert unescape(esc(text)) == text
    assert unescape(said(text, len(text))) == text


@given(HOSTILE)
def test_nothing_unseen_is_left(text: str) -> None:
    for html in (esc(text), said(text, 10_000)):
        assert all(c.isprintable() or c in "\n\t\u200c\u200d" or c.isspace() for c in html)
        assert not set(html) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\x00\x1b"
        )


def test_long_text_is_cut_and_says_so() -> None:
    html = said("x" * 50, 10)
    assert html.startswith("x" * 10 + "<span")
    assert "40 more characters" in html
