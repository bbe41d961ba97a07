"""Results of runs: episodes, voids, reply statistics, blind controls, comparisons."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Move
from ludens.core.errors import BadFile, BadOption
from ludens.run.cells import Cell, ReplyStats
from ludens.run.comparisons import compare
from ludens.run.lines import read_records
from ludens.run.report.references import warnings
from ludens.run.report.tables import scores
from ludens.run.results import (
    Row,
    RunReader,
    SuiteResults,
    load_results,
    results_of,
    summarise,
    summarise_published,
)
from ludens.run.rows import EPISODES
from ludens.run.stats import games_needed, macro_average, normalised, rate
from ludens.run.task import RETURN, SUITES, WON, Summary
from tests.support.reported import ENTRANTS, NAME, SUITE, make_run


def row(suite: SuiteResults, name: str) -> Row:
    return next(row for row in suite.rows if row.name == name)


def own_moves(cell: Cell) -> list[Move]:
    episodes = [cell.read(place) for place in cell.episodes]
    return [move for one in episodes for move in one.episode.moves if move.seat in one.seats]


def test_every_entrant_and_task_has_a_cell_with_all_its_episodes(suite: SuiteResults) -> None:
    assert [one.name for one in suite.rows] == list(ENTRANTS)
    assert list(suite.tasks) == ["turns", "see", "duel"]
    for one in suite.rows:
        blind = "blind" in one.name
        assert list(one.cells) == ["turns", "see", "duel"]
        assert one.blind == blind
        for name, planned in {"turns": 8, "see": 8, "duel": 4}.items():
            cell = one.cells[name]
            assert len(cell.episodes) == cell.planned == planned
            assert list(cell.episodes) == sorted(cell.episodes)


def test_a_void_episode_that_was_played_again_counts_once(suite: SuiteResults, folder: Path) -> None:
    cell = row(suite, "seer").cells["turns"]
    assert cell.voids == {"the <server> is away": 1}
    lost = [r for r in read_records(folder) if r.episode.status == "void"]
    assert len(lost) == 1
    [void] = lost
    place = (void.episode.seed, void.seating, 0)
    assert cell.episodes[place].status == "done"
    # The calls before the failure were paid for: they are in the usage, not in the moves.
    paid = sum(move.seat == void.episode.culprit for move in void.episode.moves)
    assert paid > 0
    assert cell.usage.calls == cell.reply_stats.moves + paid


def test_metrics_and_normalised_scores(suite: SuiteResults) -> None:
    assert row(suite, "seer").cells["see"].metrics == {"exact": rate(8, 8)}
    assert row(suite, "guesser").cells["see"].metrics == {"exact": rate(0, 8)}
    duel = row(suite, "random").cells["duel"]
    assert duel.normalised == normalised(duel.metrics["return"], -1.0, 1.0)
    assert duel.table_estimate() == duel.normalised
    assert row(suite, "seer").cells["see"].table_estimate().mean == 100.0


def test_overall_is_computed_from_what_tables_show(suite: SuiteResults) -> None:
    for one in suite.rows:
        shown = {name: cell.table_estimate() for name, cell in one.cells.items()}
        assert one.overall == macro_average(shown)


def test_reply_statistics_are_of_the_entrants_seats(suite: SuiteResults) -> None:
    rude, random = row(suite, "rude").cells["turns"], row(suite, "random").cells["turns"]
    own = own_moves(rude)
    reply_stats = rude.reply_stats
    assert reply_stats.moves == len(own)
    assert reply_stats.fallbacks == sum(move.verdict == "fallback" for move in own) > 0
    assert reply_stats.retried == sum(move.verdict == "retried" for move in own) > 0
    assert reply_stats.unreadable > 0 < reply_stats.illegal
    assert reply_stats.fallback_rate == reply_stats.fallbacks / reply_stats.moves
    assert random.reply_stats == ReplyStats(moves=random.reply_stats.moves)
    assert random.reply_stats.moves == len(own_moves(random))


def test_a_model_that_guesses_is_not_better_than_its_blind_control(suite: SuiteResults) -> None:
    sees, guesses = (row(suite, name).cells["see"].blind for name in ("seer", "guesser"))
    assert sees is not None
    assert guesses is not None
    assert (sees.name, sees.sees, sees.estimate) == ("seer, blind", True, rate(0, 8))
    assert "is above 0.0% blind (0/8) on the 8 shared episodes" in sees.sentence
    assert sees.sentence.startswith("exact ")
    assert (guesses.name, guesses.sees) == ("guesser, blind", False)
    assert "not distinguishable" in guesses.sentence
    assert warnings(suite) == [
        "guesser (memory all): not significantly better with pictures than blind on see."
    ]


def test_there_is_no_control_without_the_same_spec_or_where_pictures_do_not_matter(
    suite: SuiteResults,
) -> None:
    assert all(cell.blind is None for cell in row(suite, "rude").cells.values())
    assert row(suite, "seer").cells["duel"].blind is None
    assert all(cell.blind is None for cell in row(suite, "seer, blind").cells.values())


def test_pairs_count_seeds_and_the_episodes_still_needed(suite: SuiteResults) -> None:
    pairs = {(p.task, p.a, p.b): p for p in suite.pairs}
    assert not any("blind" in name for _, *names in pairs for name in names)
    clear = pairs["see", "seer", "guesser"]
    assert (clear.verdict, clear.missing_episodes) == ("a", 0)
    assert (clear.difference.mean, clear.difference.n) == (1.0, 8)
    # Eight episodes of `turns` are four seeds in two seatings.
    open_ = pairs["turns", "seer", "random"]
    assert (open_.verdict, open_.difference.n) == ("open", 4)
    assert open_.missing_episodes is not None
    assert open_.missing_episodes > 0 == open_.missing_episodes % 2
    assert open_.missing_episodes >= 2 * (games_needed(open_.difference, 0.0) or 0)
    same = pairs["see", "guesser", "rude"]
    assert (same.verdict, same.missing_episodes) == ("open", None)


def test_the_control_may_be_in_another_run(tmp_path: Path) -> None:
    seen = make_run(tmp_path / "seen", {"a": "fake/seer"}, tasks=("see",))
    blind = make_run(tmp_path / "blind", {"b": "fake/seer?blind=yes"}, tasks=("see",))
    [found] = load_results([seen, blind]).suites
    control = row(found, "a").cells["see"].blind
    assert control is not None
    assert (control.name, control.sees) == ("b", True)


def test_runs_of_one_entrant_at_different_tasks_become_one_row(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", {"r": "bot/random"}, tasks=("see",))
    two = make_run(tmp_path / "two", {"r": "bot/random"}, tasks=("turns", "duel"))
    three = make_run(tmp_path / "three", {"r": "bot/random"}, tasks=("see",))
    [found] = load_results([one, two]).suites
    [row_] = found.rows
    assert (row_.name, row_.folders, set(row_.cells)) == ("r", (one, two), {"see", "turns", "duel"})
    assert row_.overall is not None
    [again] = load_results([one, three]).suites
    assert [(r.name, r.overall) for r in again.rows] == [("r (one)", None), ("r (three)", None)]
    assert again.pairs[0].difference.mean == 0.0


def test_folders_with_the_same_name_are_distinguished_by_their_path(tmp_path: Path) -> None:
    one = make_run(tmp_path / "a" / "run", {"r": "bot/random"}, tasks=("see",))
    two = make_run(tmp_path / "b" / "run", {"r": "bot/random"}, tasks=("see",))
    [found] = load_results([one, two]).suites
    assert [r.name for r in found.rows] == [f"r ({one})", f"r ({two})"]


def test_seeds_that_are_not_shared_are_not_compared(tmp_path: Path) -> None:
    one = make_run(tmp_path / "one", {"r": "bot/random"}, tasks=("see",))
    two = make_run(tmp_path / "two", {"s": "bot/random"}, tasks=("see",), seed=1000)
    [found] = load_results([one, two]).suites
    [pair] = found.pairs
    assert (pair.verdict, pair.missing_episodes, pair.difference.n) == ("unpaired", None, 0)


def test_an_unfinished_run_and_an_empty_one_can_be_read(folder: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    copytree(folder, part)
    lines = (part / EPISODES).read_bytes().splitlines(keepends=True)
    (part / EPISODES).write_bytes(b"".join(lines[:6]) + lines[6][:50])
    [found] = load_results([part]).suites
    assert sum(len(cell.episodes) for r in found.rows for cell in r.cells.values()) == 6 - sum(
        cell.void for r in found.rows for cell in r.cells.values()
    )
    assert all(r.overall is None for r in found.rows)
    (part / EPISODES).unlink()
    [empty] = load_results([part]).suites
    assert all(not cell.episodes for r in empty.rows for cell in r.cells.values())
    assert empty.pairs == ()


def test_invalid_folders_are_errors(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"no run\.json"):
        load_results([tmp_path])
    with pytest.raises(BadOption, match="more than once"):
        load_results([folder, folder])
    alien = tmp_path / "alien"
    copytree(folder, alien)
    line = (alien / EPISODES).read_bytes().splitlines()[0]
    (alien / EPISODES).write_bytes(line.replace(b'"task":"turns"', b'"task":"tuns"') + b"\n")
    with pytest.raises(BadFile, match=r"was edited: 'seer:turns:0:0' has a key that does not match"):
        load_results([alien])


def test_with_many_entrants_each_is_compared_with_the_best_only(suite: SuiteResults) -> None:
    rows = [replace(r, name=f"{r.name}{i}") for i in range(3) for r in suite.rows if not r.blind]
    many = replace(suite, rows=tuple(rows), tasks={"see": suite.tasks["see"]})
    assert len(many.pairs) == len(rows) - 1
    assert {pair.a for pair in many.pairs} == {"seer0"}


def test_a_task_that_has_changed_since_the_run_has_a_caution(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_results([folder]).suites[0].cautions == ()
    changed = replace(SUITE.tasks[0], config=PlayConfig(horizon=999))
    monkeypatch.setitem(SUITES._added, NAME, replace(SUITE, tasks=(changed, *SUITE.tasks[1:])))
    [found] = load_results([folder]).suites
    [caution] = found.cautions
    assert "task 'turns'" in caution
    assert "has changed since" in caution
    assert caution in scores(found).notes


def test_whole_episodes_are_not_kept(folder: Path) -> None:
    def count() -> int:
        gc.collect()
        return sum(type(one) is Episode for one in gc.get_objects())

    before = count()
    results = load_results([folder])
    assert count() == before
    assert results.suites[0].rows[0].cells["turns"].episodes


def test_summaries_need_their_tasks_unless_they_take_what_was_played(suite: SuiteResults) -> None:
    cells = dict(suite.rows[0].cells)
    del cells["duel"]
    summaries = (
        Summary("all", macro_average),
        Summary("two", macro_average, ("see", "turns")),
        Summary("played", macro_average, complete=False),
        Summary("won", macro_average, ("turns",), metric=WON),
        Summary("pooled", tasks=("turns",), metric=RETURN),
    )
    found = summarise(replace(suite.suite, summaries=summaries), cells)
    both = macro_average({name: cell.table_estimate() for name, cell in cells.items()})
    assert list(found) == ["two", "played", "won", "pooled"]
    assert found["two"] == found["played"] == both
    assert found["won"].mean == 100 * cells["turns"].metrics["won"].mean
    assert found["pooled"] == cells["turns"].metrics["return"]
    published = {"see": 10.0, "turns": 30.0}
    made = summarise_published(replace(suite.suite, summaries=summaries), published)
    assert {name: estimate.mean for name, estimate in made.items()} == {"two": 20.0}


def test_several_samples_of_a_seed_are_averaged() -> None:
    ours = {(0, 0, 0): 1.0, (0, 0, 1): 0.0, (0, 1, 0): 1.0, (0, 1, 1): 1.0, (1, 0, 0): 1.0}
    theirs = {(0, 0, 0): 0.0, (0, 1, 0): 0.0}
    pair = compare(WON, ours, theirs, 2)
    assert (pair.difference.n, pair.difference.mean) == (1, 0.75)


def test_a_reader_continues_while_the_run_is_played(tmp_path: Path) -> None:
    make_run(tmp_path / "whole")
    whole = (tmp_path / "whole" / EPISODES).read_bytes()
    lines = whole.splitlines(keepends=True)
    part = tmp_path / "part"
    part.mkdir()
    (part / "run.json").write_bytes((tmp_path / "whole" / "run.json").read_bytes())
    reader = RunReader(part)
    assert reader.read()
    assert sum(len(cell.episodes) for row in reader.rows() for cell in row.cells.values()) == 0
    # The third line is only half written.
    (part / EPISODES).write_bytes(b"".join(lines[:2]) + lines[2][:100])
    assert reader.read()
    assert reader.lines.end == len(lines[0]) + len(lines[1])
    (part / EPISODES).write_bytes(whole)
    while not reader.read(seconds=0):
        pass
    [ours], [theirs] = results_of([reader]).suites, load_results([tmp_path / "whole"]).suites
    assert [row.summaries for row in ours.rows] == [row.summaries for row in theirs.rows]
    for mine, other in zip(ours.rows, theirs.rows, strict=True):
        assert {name: cell.metrics for name, cell in mine.cells.items()} == {
            name: cell.metrics for name, cell in other.cells.items()
        }
        assert {name: cell.usage for name, cell in mine.cells.items()} == {
            name: cell.usage for name, cell in other.cells.items()
        }
