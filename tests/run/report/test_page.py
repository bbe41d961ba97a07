"""The page is self-contained, complete, and runs nothing that a model has said."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from hashlib import sha256

import pytest
from PIL import Image

from ludens.core.episode import Episode, Move, Try
from ludens.run.cells import Cell
from ludens.run.report import page as page_module
from ludens.run.report import render
from ludens.run.report.page import MAX_STEPS, episode_page, pick_episodes, steps_to_show
from ludens.run.report.references import evidence, sentences, warnings
from ludens.run.results import Results, SuiteResults
from ludens.run.task import EpisodeResult
from tests.run.report.test_escape import Tags, parsed
from tests.support.reported import ENTRANTS, LABELS

OURS = {
    "a", "article", "b", "bdi", "body", "button", "code", "dd", "desc", "details", "div", "dl", "dt",
    "figcaption", "figure", "form", "g", "h1", "h2", "h3", "h4", "h5", "head", "header", "html", "img",
    "input", "label", "li", "line", "main", "meta", "nav", "ol", "option", "output", "p", "path", "polygon",
    "pre", "rect", "script", "section", "select", "small", "span", "style", "summary", "svg", "table",
    "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


def first_episode(cell: Cell) -> EpisodeResult:
    return cell.read(next(iter(cell.episodes)))


@pytest.fixture(scope="module")
def html(results: Results) -> str:
    return render(results, "html", episodes=3).decode()


@pytest.fixture(scope="module")
def tags(html: str) -> Tags:
    return parsed(html)


def test_the_page_needs_nothing_else(html: str, tags: Tags) -> None:
    for tag, attrs in tags.found:
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action", "xlink:href"):
                assert (value or "").startswith(("data:image/png;base64,", "#")), (tag, name, value)
    assert "@import" not in html
    assert "url(" not in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert len(html) < 5_000_000


def test_there_are_no_unknown_elements_or_event_handlers(tags: Tags) -> None:
    assert {tag for tag, _ in tags.found} <= OURS
    assert [tag for tag, _ in tags.found].count("script") == 1
    assert [
        name for _, attrs in tags.found for name, _ in attrs if name.startswith("on") or name == "style"
    ] == []


def test_the_policy_lets_only_our_script_and_style_run(html: str) -> None:
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    assert "default-src 'none'" in policy
    for kind in ("script", "style"):
        [text] = re.findall(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL)
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_markup_in_replies_is_shown_as_text(html: str, tags: Tags) -> None:
    assert "<script>alert('you')</script>" in tags.text
    assert "<script>alert(" not in html
    assert "\u202e" not in html
    assert '<span class="odd">U+202E</span>' in html
    assert "\x00" not in html


def test_the_page_has_every_section(html: str, tags: Tags, suite: SuiteResults) -> None:
    for name in ("summary", "charts", "confusion", "comparisons", "replies", "episodes", "deviations"):
        assert f'id="s0-{name}"' in html
    for line in (*sentences(suite), *warnings(suite), *evidence(suite)):
        assert line in tags.text
    assert "Boards are <small>." in tags.text
    assert "the <server> is away" in tags.text
    assert '"suite": "tests.support.reported:SUITE"' in tags.text
    assert "GPT_0 (published: Some & Body 2024)" in tags.text
    assert all(name in tags.text for name in ENTRANTS)
    svgs = re.findall(r"<svg xmlns.*?</svg>", html, re.DOTALL)
    assert len(svgs) == 3 + 1 + len(ENTRANTS)


def test_pictures_are_small_palette_pngs(html: str) -> None:
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    assert len(found) > 40
    for data in found[1:20]:
        image = Image.open(io.BytesIO(base64.b64decode(data)))
        assert (image.format, image.mode) == ("PNG", "P")
        assert max(image.size) <= 256


def test_every_episode_card_can_be_filtered(tags: Tags, suite: SuiteResults) -> None:
    cards = [dict(attrs) for tag, attrs in tags.found if tag == "details" and ("class", "episode") in attrs]
    assert len(cards) == 3 * len(ENTRANTS) * len(suite.tasks)
    for entrant in LABELS:
        for task in suite.tasks:
            kinds = [
                (card["data-kind"] or "").split()
                for card in cards
                if (card["data-entrant"], card["data-task"]) == (entrant, task)
            ]
            flat = [kind for kinds_ in kinds for kind in kinds_]
            [row] = [row for row in suite.rows if row.label == entrant]
            values = row.cells[task].values(suite.tasks[task].metrics[0]).values()
            differ = len(set(values)) > 1
            assert flat.count("best") == flat.count("worst") == differ
    rude = [
        card
        for card in cards
        if card["data-entrant"] == "rude (memory last)" and card["data-task"] == "turns"
    ]
    assert any("fallbacks" in (card["data-kind"] or "") for card in rude)


def test_replies_are_shown_with_prompts_and_verdicts(tags: Tags, html: str) -> None:
    for word in ("ok", "retried", "fallback", "unreadable", "illegal"):
        assert f'<span class="badge v-{word}">{word}</span>' in html
    assert "You play tic-tac-toe" in tags.text
    assert "That reply was not accepted" in tags.text
    assert "A blank picture was shown instead of this one." in tags.text
    assert "[blank picture]" in tags.text


def test_best_and_worst_have_the_extreme_values(suite: SuiteResults) -> None:
    for pick in pick_episodes(suite, 2):
        values = pick.cell.paired_values(pick.cell.task.metrics[0]).values()
        if "best" in pick.tags:
            assert pick.value == max(values)
        if "worst" in pick.tags:
            assert pick.value == min(values)


def test_the_number_of_episodes_is_limited(suite: SuiteResults, results: Results) -> None:
    assert len(pick_episodes(suite, 1)) == len(ENTRANTS) * len(suite.tasks)
    assert pick_episodes(suite, 0) == []
    assert 'class="gallery"' not in render(results, "html", episodes=0).decode()


def test_steps_with_rejected_replies_are_shown() -> None:
    moves = [Move(i, "x", "a", "fallback" if i in (7, 23) else "ok") for i in range(40)]
    episode = Episode("g", 1, {}, 0, {"x": "bot/random"}, moves=moves)
    steps = steps_to_show(episode, ["x"])
    assert len(steps) == MAX_STEPS
    assert {0, 7, 23, 39} <= steps
    assert steps_to_show(replace(episode, moves=moves[:3]), ["x"]) == {0, 1, 2}
    assert steps_to_show(episode, ["o"]) == set()
    all_wrong = replace(episode, moves=[replace(move, verdict="fallback") for move in moves])
    assert len(steps_to_show(all_wrong, ["x"])) == MAX_STEPS


def test_a_large_page_leaves_pictures_out_and_says_so(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_module, "REPORT_SIZE", 100_000)
    html = render(results, "html", episodes=3).decode()
    assert "picture left out to keep this page small" in html
    assert len(html) < 1_200_000


def test_an_episode_that_cannot_be_replayed_has_a_warning(suite: SuiteResults) -> None:
    episode = first_episode(suite.rows[0].cells["turns"]).episode
    html = episode_page(replace(episode, version=99), "key", 256)
    assert "Not verified: the episode was played with tic_tac_toe version 99" in html
    foreign = replace(
        episode, moves=[replace(m, pictures=["0" * 16]) if m.pictures else m for m in episode.moves]
    )
    assert "differ" in episode_page(foreign, "key", 256)


def test_the_page_of_one_episode_has_every_move(suite: SuiteResults) -> None:
    played = first_episode(suite.rows[4].cells["turns"])
    html = episode_page(played.episode, "<key>", 256)
    assert "<h1>&lt;key&gt;</h1>" in html
    assert html.count('<section class="step"') == len(played.episode.moves) + 1
    assert parsed(html).text.count("prompt") >= sum(len(m.tries) for m in played.episode.moves)


def test_long_replies_are_cut(suite: SuiteResults) -> None:
    episode = first_episode(suite.rows[4].cells["see"]).episode
    [move] = episode.moves
    long = replace(move, tries=[Try("x" * 100_000, "unreadable", "y" * 100_000) for _ in move.tries])
    html = episode_page(replace(episode, moves=[long]), "key", 256)
    assert len(html) < 300_000
    assert "96,000 more characters" in html


def test_the_page_is_the_same_every_time(results: Results) -> None:
    assert render(results, "html", episodes=1) == render(results, "html", episodes=1)


def test_reasoning_is_collapsed_and_escaped(suite: SuiteResults) -> None:
    episode = first_episode(suite.rows[4].cells["see"]).episode
    [move] = episode.moves
    tries = [Try("hm", "unreadable", reasoning="<b>I think</b>") for _ in move.tries]
    html = episode_page(replace(episode, moves=[replace(move, tries=tries)]), "key", 256)
    closed = '<details class="prompt"><summary>reasoning</summary><bdi class="words">'
    assert html.count(f"{closed}&lt;b&gt;I think&lt;/b&gt;") == len(tries)


def test_results_come_first_and_explanations_are_closed(html: str, tags: Tags, suite: SuiteResults) -> None:
    order = ["<table>", sentences(suite)[0], warnings(suite)[0], "<svg", 'class="folded legend"', "made with"]
    places = [html.index(text) for text in order]
    assert places == sorted(places)
    assert not [attrs for tag, attrs in tags.found if tag == "details" and ("open", None) in attrs]


def test_the_page_opens_with_a_picture_and_has_a_legend(html: str, tags: Tags) -> None:
    pictures = [dict(attrs) for tag, attrs in tags.found if tag == "img"]
    assert pictures[0]["alt"] == "turns: seer, seed 0, at the end"
    assert html.index("<img") < html.index('class="suite"')
    legend = html.partition('class="folded legend"')[2].partition("</details>")[0]
    for word in ("void", "fallback", "truncated", "blind", "[low, high]", "published"):
        assert f"<dt>{word}</dt>" in legend


def test_settings_are_shown_in_charts(html: str) -> None:
    assert ">memory all</text>" in html
    assert '<td class="word">guesser (memory all)</td>' in html
