"""What is imitated: teachers and players, rounds of new games, several sources, stopped and resumed."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.errors import UsageError
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.train.demonstrations import FIRST_SEED, SourceChunk, chunks_of, demonstrations, processes, replies
from ludens.train.recipe import Demonstration, Recipe, SupervisedOptions

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.checks import check  # noqa: E402
from ludens.train.nano.dataset import DeviceData, ImitationData, SampleShape, rounds, vocabulary_of  # noqa: E402
from ludens.train.nano.inputs import places_like  # noqa: E402
from ludens.train.nano.policy import NanoPolicy, padding_of  # noqa: E402
from ludens.train.nano.supervised import NanoImitation, surprises  # noqa: E402
from ludens.train.nano.weights import NanoSize  # noqa: E402

COINS = Demonstration("coin_dilemma", episodes=2, theme="classic", size="256")
BOARD = Demonstration(
    "tic_tac_toe", player="bot/random", episodes=4, theme="classic contrast", size="256 512"
)
SHAPE = SampleShape(side=64, longest=48, max_tokens=8)


def test_a_teacher_labels_what_another_player_reaches() -> None:
    found = list(replies(SourceChunk(BOARD, range(FIRST_SEED, FIRST_SEED + 4))))
    said = [sample.completion for sample in found]
    done = [sample.ask.format.write(sample.move.action) for sample in found]
    assert said != done
    alone = list(replies(SourceChunk(replace(BOARD, player=""), range(FIRST_SEED, FIRST_SEED + 1))))
    assert all(s.completion == s.ask.format.write(s.move.action) for s in alone)


def test_a_player_that_looks_sees_what_it_is_asked() -> None:
    seed, game = 5, make("comma/wire")
    alone = play_sync(game, {seat: agent("nano", game) for seat in game.seats}, seed)
    source = Demonstration(
        "comma/wire", bot="bot/patient", player="nano", episodes=1, theme="classic", size="512"
    )
    found = list(replies(SourceChunk(source, range(seed, seed + 1))))
    assert [sample.move.action for sample in found] == [move.action for move in alone.moves]
    assert alone.returns["solver"] == 1


def test_games_are_made_with_a_lower_priority_than_that_of_training() -> None:
    with processes(2, 4) as run:  # `os.nice` by 0 returns the priority, without importing tests and torch
        assert set(run(os.nice, [0] * 4)) == {min(19, os.nice(0) + 10)}


def test_a_killed_process_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="a process that makes demonstrations ended"), processes(2, 4) as run:
        list(run(os._exit, [9] * 4))


def test_work_begins_before_a_result_is_read(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "abcdefgh"]
    with processes(2, 8) as run:
        results = run(Path.touch, files)
        end = monotonic() + 60
        while not all(file.exists() for file in files) and monotonic() < end:
            sleep(0.05)
        assert all(file.exists() for file in files)
        assert list(results) == [None] * 8


def test_only_the_roles_that_are_wanted() -> None:
    chunk = SourceChunk(replace(BOARD, roles="o"), range(FIRST_SEED, FIRST_SEED + 2))
    assert {sample.ask.seat for sample in replies(chunk)} == {"o"}


def test_looks_take_turns_and_no_chunk_has_two() -> None:
    source = replace(BOARD, episodes=1024, theme="classic random", size="256 512")
    looks = [chunk.render for number in (0, 1) for chunk in chunks_of([source], number)]
    assert [(look.theme.partition(":")[0], look.size) for look in looks[:4]] == [
        ("classic", 256),
        ("random", 256),
        ("classic", 512),
        ("random", 512),
    ]
    drawn = [look.theme for look in looks if look.theme != "classic"]
    assert len(set(drawn)) == len(drawn) == len(looks) / 2
    # Evaluations have looks by seeds below 500,000.
    assert all(int(theme.removeprefix("random:")) >= FIRST_SEED for theme in drawn)
    [chunk] = chunks_of([replace(source, episodes=1)], 2)
    shown = [picture for sample in replies(chunk) for picture in sample.pictures]
    assert {picture.width for picture in shown} == {512}


def test_rounds_have_their_own_seeds() -> None:
    first, second = (
        {seed for chunk in chunks_of([replace(BOARD, episodes=40)], n) for seed in chunk.seeds}
        for n in (0, 1)
    )
    assert len(first) == len(second) == 40
    assert not first & second
    assert min(first | second) == FIRST_SEED


def test_legal_moves_can_be_listed_before_the_move() -> None:
    source = Demonstration(game="tic_tac_toe", list_moves=True, episodes=2, theme="classic", size="256")
    for sample in demonstrations([source], workers=1):
        listed, said = sample.completion.split("\n")
        assert listed.split() == sorted(sample.ask.legal)
        assert said == f"Action: {sample.ask.format.read(said, sample.ask.legal)}"
        assert sample.ask.format.read(sample.completion, sample.ask.legal) in sample.ask.legal


def test_sources_are_joined() -> None:
    sources = [BOARD, COINS]
    vocabulary = vocabulary_of(sources, workers=1)
    one, two = rounds(sources, vocabulary, SHAPE, (0, 1), workers=1)
    for dataset in (one, two):
        assert len(dataset) > 100
        assert dataset.pictures.shape[1:] == (3, 64, 64)
        assert dataset.picture.max() == len(dataset.pictures) - 1
    told = [vocabulary.decode(row[row > 0]) for row in one.prompts]
    assert {text.split()[0] for text in told} == {"tic_tac_toe", "coin_dilemma"}
    answers = [vocabulary.decode(row[row > 0]) for row in one.replies]
    assert all(text.startswith("Action: ") for text in answers)
    batches = list(one.batches(32, "0"))
    assert {len(batch) for batch in batches} == {32}
    assert len({row for batch in batches for row in batch}) == len(one) // 32 * 32
    [whole] = one.batches(len(one) + 1, "0")
    assert sorted(whole) == list(range(len(one)))
    for batch in batches:
        parts = one.parts(batch)
        assert sorted(row for part in parts for row in part) == sorted(batch)
        longest = [int((one.prompt_lengths[part] + one.reply_lengths[part]).max()) for part in parts]
        assert longest == sorted(longest)
    assert not np.array_equal(one.replies[:50], two.replies[:50])
    texts = {sample.completion for sample in demonstrations([BOARD], workers=1)}
    assert texts <= set(answers)


def test_many_parts_need_few_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round has thousands of parts; systems allow a thousand open files, often fewer."""
    monkeypatch.setattr("ludens.train.demonstrations.CHUNK", 1)
    source = Demonstration("perceive?board=tic_tac_toe", episodes=100, theme="classic", size="256")
    vocabulary = vocabulary_of([source], workers=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 40, hard))
    try:
        [dataset] = rounds([source], vocabulary, SampleShape(64, 48, 24), workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(chunks_of([source])) == 100
    assert len(dataset) > 90


def dataset() -> tuple[NanoPolicy, ImitationData]:
    vocabulary = vocabulary_of([BOARD], workers=1)
    size = NanoSize(width=32, heads=2, encoder=1, decoder=1, side=64, longest=48)
    policy = NanoPolicy(size, vocabulary, max_tokens=8, device="cpu")
    [made] = rounds([BOARD], vocabulary, SHAPE, workers=1)
    return policy, made


@pytest.mark.parametrize("muon", [0.0, pytest.param(0.02, marks=pytest.mark.slow)])
def test_a_stopped_imitation_goes_on_where_it_was(tmp_path: Path, muon: float) -> None:
    options = SupervisedOptions(rounds=3, batch=4, checkpoint=1, jitter=0.2, muon=muon)
    policy, data = dataset()
    whole = NanoImitation(policy, options)
    whole.run([data] * 3)
    again, _ = dataset()
    stopped = NanoImitation(again, options, folder=tmp_path)
    stopped.run([data] * 2)
    fresh, _ = dataset()
    resumed = NanoImitation(fresh, options, folder=tmp_path)
    assert list(resumed.remaining_rounds()) == [2]
    resumed.run([data])
    assert resumed.losses == whole.losses
    assert resumed.waited == stopped.waited, "the first data set after a start does not count"
    assert np.mean(whole.losses[-3:]) < np.mean(whole.losses[:3])
    for a, b in zip(policy.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(a, b)


def test_an_imitation_stops_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()  # a clock that goes on by 10 ms whenever it is looked at, however busy the machine is
    monkeypatch.setattr("ludens.train.nano.supervised.perf_counter", lambda: next(looks) / 100)
    options = SupervisedOptions(rounds=1000, batch=16, minutes=0.02, checkpoint=1)
    policy, data = dataset()
    imitation = NanoImitation(policy, options, folder=tmp_path)
    asked = []

    def datasets() -> Iterator[ImitationData]:
        for number in imitation.remaining_rounds():
            asked.append(number)
            yield replace(data)

    imitation.run(datasets())
    assert 2 <= imitation.rounds_done == len(asked) < 1000
    last = imitation.rounds_done - 1
    assert 0.2 < imitation.progress(last, 0.0) < imitation.progress(last, 0.5) < 1
    assert imitation.progress(last, 1.0) == 1, "the rate falls to its end in the last round"
    resumed = NanoImitation(dataset()[0], options, folder=tmp_path)
    assert 0 < resumed.spent <= imitation.spent


@pytest.mark.parametrize(("minutes", "passes"), [(0.0, 2), (100.0, 5)])
def test_time_is_not_spent_waiting_for_the_next_round(minutes: float, passes: int) -> None:
    """The round goes on until the next one is there, which is asked for once before each further batch."""
    policy, data = dataset()
    imitation = NanoImitation(policy, SupervisedOptions(rounds=2, epochs=2, batch=16, minutes=minutes))
    once = len(list(data.batches(16, "")))
    answers = iter([False] * 3 * once + [True])
    found = list(imitation._batches(0, data, lambda: next(answers)))
    assert len(found) == passes * once
    nothing = replace(data, prompts=data.prompts[:0])
    assert not any(map(len, imitation._batches(0, nothing, lambda: False)))


def test_a_limit_of_time_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(Recipe.of({"play": {"samples": 2}}), supervised=SupervisedOptions(minutes=1))
    check(recipe)
    monkeypatch.setattr("ludens.train.ranks.world", lambda: (0, 2))
    with pytest.raises(UsageError, match="one process only"):
        check(recipe)


def test_padding_to_lengths_that_kernels_like_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for prompt, reply in ((3, 5), (17, 16), (16, 16), (1, 1), (200, 43)):
        assert (padding_of(prompt, reply) + prompt + reply - 1) % 16 == 0
        assert padding_of(prompt, reply) < 16
    policy, data = dataset()
    there, rows = DeviceData.of(data, policy.device), np.arange(12)
    found = []
    for aligned in (16, 1):
        monkeypatch.setattr("ludens.train.nano.policy.ALIGNED", aligned)
        found.append(surprises(policy, there, rows, SupervisedOptions(), torch.Generator()))
    assert torch.allclose(*found, atol=1e-5)


@pytest.mark.cuda
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
def test_a_step_on_a_gpu_is_launched_without_waiting_for_the_one_before() -> None:
    vocabulary = vocabulary_of([BOARD], workers=1)
    size = NanoSize(width=32, heads=2, encoder=1, decoder=1, side=64, longest=48)
    policy = NanoPolicy(size, vocabulary, max_tokens=8, device="cuda")
    [data] = rounds([BOARD], vocabulary, SHAPE, workers=1, pinned=True)
    imitation = NanoImitation(policy, SupervisedOptions(batch=16, jitter=0.1, blank=0.1, muon=0.02))
    there, jitter = DeviceData.of(data, policy.device), torch.Generator("cuda")
    first, *others = data.batches(16, "0")
    imitation._step(there, first, jitter, 0.1)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for rows in others:
            imitation._step(there, rows, jitter, 0.1)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch warns of itself when it compiles
def test_a_compiled_network_learns_the_same() -> None:
    losses = []
    for compiled in (False, True):
        policy, data = dataset()
        imitation = NanoImitation(policy, SupervisedOptions(batch=16, compile=compiled))
        imitation.run([data])
        losses.append(imitation.losses)
        assert "forward" not in vars(policy.network.encoder)
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_replies_that_cannot_be_said_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    policy, _ = dataset()
    [known] = rounds([BOARD], policy.vocabulary, SHAPE, workers=1)
    [unknown] = rounds([BOARD, COINS], policy.vocabulary, SHAPE, workers=1)
    assert known.left_out == 0
    assert len(unknown) == len(known)
    assert unknown.left_out > 20
    NanoImitation(policy, SupervisedOptions(batch=64)).run([unknown])
    assert f"round 1: {unknown.left_out} replies are left out" in caplog.text


def test_a_vocabulary_has_all_places_or_none() -> None:
    assert places_like(["Action", "12:x", " 3:"]) == set()
    places = places_like(["37:", " 04:"])
    assert len(places) == 200
    assert {"00:", "99:", " 00:", " 99:"} < places
    fine = places_like([" 0714:"])
    assert len(fine) == 400
    assert {" 0000:", " 1900:", " 0019:"} < fine


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([{"bot": "bot/best"}], "need either episodes above 0, or run, or data"),
        ([{"episodes": 2, "run": "runs/a"}], "need either episodes above 0, or run, or data"),
        ([{"episodes": 2, "size": "9"}], "must be 256 to 1024"),
        ([{"episodes": 2, "sise": "256"}], "did you mean 'size'"),
        ({"episodes": 2}, "must be an array of tables"),
    ],
)
def test_bad_demonstrations(tables: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Recipe.of({"demonstrations": tables})


def test_a_dataset_is_imitated(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'data' is not installed")
    from ludens.run.dataset import DatasetOrder, build_dataset, write
    from ludens.train.demonstrations import rows_from

    write(build_dataset("viki", DatasetOrder("trace", 2, render=RenderOptions(size=256))), tmp_path / "data")
    recipe = Recipe.of({"demonstrations": [{"data": str(tmp_path / "data"), "column": "answer"}]})
    rows = list(rows_from(recipe))
    assert len(rows) == 2
    [question], [reply] = rows[0]["prompt"], rows[0]["completion"]
    assert [part["type"] for part in question["content"]] == ["image"] * len(rows[0]["images"]) + ["text"]
    assert rows[0]["images"][0].size == (256, 256)
    assert reply["content"][0]["text"].startswith("[[")
    with pytest.raises(UsageError, match="no column 'label'"):
        list(rows_from(recipe.override({"demonstrations.column": "label"})))
    with pytest.raises(UsageError, match="no Parquet files"):
        list(rows_from(recipe.override({"demonstrations.data": str(tmp_path / "none")})))
    with pytest.raises(UsageError, match="not prompted in words"):
        check(recipe)
