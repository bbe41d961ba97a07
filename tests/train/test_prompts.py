"""Prompts of small models: legal moves, refused replies, and what is left out."""

from __future__ import annotations

import numpy as np

from ludens.core.ask import Ask, build_ask
from ludens.core.config import PlayConfig
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of
from ludens.games.boards import grouped
from ludens.train.demonstrations import FIRST_SEED, SourceChunk, replies
from ludens.train.nano.inputs import HEAD, clipped, last_line, main_picture, overlaid, short_prompt
from ludens.train.recipe import Demonstration


def asked(spec: str, seat: str, listed: bool = True) -> Ask:
    game = make(spec)
    view = view_of(game, RenderOptions(size=256), 0)
    return build_ask(view, game.start(0), seat, "image", PlayConfig(listed=listed))


def test_moves_from_one_cell_are_told_together() -> None:
    assert grouped(["b6c4", "e1d1", "b6a4"]) == "b6: a4 c4, e1: d1"
    assert grouped(["C4", "A3"]) == "A3, C4"


def test_legal_moves_are_told_where_a_player_is_shown_them() -> None:
    assert "a7: a6 b6" in short_prompt("breakthrough", asked("breakthrough", "black"))
    assert "a7" not in short_prompt("breakthrough", asked("breakthrough", "black", listed=False))
    assert short_prompt("tic_tac_toe", asked("tic_tac_toe", "x")) == "tic_tac_toe x\n\n"


def test_edges_that_no_picture_shows_are_told() -> None:
    assert short_prompt("coin_dilemma", asked("coin_dilemma", "red")) == "coin_dilemma red\n\n"
    assert (
        short_prompt("coin_dilemma", asked("coin_dilemma?edges=torus", "red")) == "coin_dilemma red\ntorus\n"
    )


def test_an_older_model_is_asked_as_it_was_trained() -> None:
    ask = asked("breakthrough", "black").again("Action: a7a5", "no such move")
    assert short_prompt("breakthrough", ask, 1) == "breakthrough black\n\n"


def test_the_picture_of_a_panel_is_seen_and_not_the_page_of_its_manual() -> None:
    panel = asked("comma/panel?puzzle=keypad", "solver")
    first, *_ = panel.observation.images
    assert (
        main_picture("comma/panel", panel, panel.observation.images) == (first,) != panel.observation.images
    )


def test_successive_screens_are_seen_as_one() -> None:
    ask = asked("pong", "player")
    *earlier, last = ask.observation.images
    shown = (last, *earlier, last)
    assert main_picture("pong", ask, shown, 2) == (last,)
    [trace] = main_picture("pong", ask, shown)
    assert trace.hash not in {screen.hash for screen in shown}
    pixels, now = trace.rgb().astype(int), last.rgb().astype(int)
    changed = [np.any(screen.rgb() != last.rgb(), axis=-1) for screen in earlier]
    same = ~np.any(changed, axis=0)
    assert np.array_equal(pixels[same], now[same])
    assert changed[0].any()
    assert (pixels != now).any(axis=-1)[changed[0]].all()
    assert main_picture("pong", ask, ()) == ()
    later = asked("pong?decisions=40", "player")
    assert short_prompt("pong", ask) == short_prompt("pong", later)
    assert short_prompt("pong", ask, 2) != short_prompt("pong", later, 2)
    assert overlaid([last.blank()] * 3).hash == overlaid([last.blank()] * 2).hash


def test_refused_replies_are_told() -> None:
    ask = asked("tic_tac_toe", "x").again("a1 is free\nAction: A1", "taken").again("", "no reply")
    assert short_prompt("tic_tac_toe", ask) == "tic_tac_toe x\n\nnot A1\nnot \n"
    assert len(last_line("x" * 1000)) < 100


def test_a_puzzle_is_told_without_what_is_always_the_same() -> None:
    source = Demonstration("comma/wire", episodes=1, theme="classic", size="256")
    told = [
        short_prompt(s.game, s.ask) for s in replies(SourceChunk(source, range(FIRST_SEED, FIRST_SEED + 1)))
    ]
    assert len(told) == 3
    assert not any("cut_wire" in text or "Please answer" in text for text in told)
    assert "serial = " in told[1]
    assert "Expert:\ncut = " in told[2]


def test_a_long_prompt_keeps_its_beginning_and_its_end() -> None:
    assert clipped([1, 2, 3], 3) == [1, 2, 3]
    long = list(range(100))
    short = clipped(long, 20)
    assert short == [*long[:HEAD], *long[-(20 - HEAD) :]]


def test_a_reply_after_a_refusal_differs_from_the_refused_ones() -> None:
    source = Demonstration(
        "breakthrough?rows=6&columns=5",
        bot="bot/alphabeta?depth=1",
        episodes=1,
        refused=1.0,
        listed=False,
        list_moves=True,
        theme="classic",
        size="256",
    )
    samples = list(replies(SourceChunk(source, range(FIRST_SEED, FIRST_SEED + 1))))
    again = [sample for sample in samples if sample.ask.refused]
    assert len(again) == sum(len(s.ask.legal) > 2 for s in samples if not s.ask.refused) > 20
    best = {(s.ask.seat, s.ask.step, s.pictures[-1].hash): s.completion for s in samples if not s.ask.refused}
    others = 0
    for sample in again:
        refused = [text for text, _ in sample.ask.refused]
        move = last_line(sample.completion)
        assert move in sample.ask.legal
        assert move not in refused
        kept = last_line(best[sample.ask.seat, sample.ask.step, sample.pictures[-1].hash])
        assert (kept in refused) == (move != kept)
        others += move != kept
        listed = sample.completion.splitlines()[0]
        assert not any(f"{text[:2]}:" in listed and text[2:] in listed for text in refused)
    assert 0.3 < others / len(again) < 0.7
