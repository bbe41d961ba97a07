"""Perceive: positions, grading, and a reader that takes matrices as people and models write them."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ludens
from ludens.core.errors import Ambiguous, BadOption, MoveError, Unreadable
from ludens.core.game import Game
from ludens.core.state import Legal
from ludens.games.perceive import MatrixFormat, Perceive, canonical
from ludens.loop import play

SQUARE = MatrixFormat(2, 2)
matrices = st.lists(st.lists(st.integers(-6, 9), min_size=3, max_size=3), min_size=3, max_size=3)


def read(text: str, rows: int = 2, columns: int = 2) -> list[list[int]]:
    result: list[list[int]] = json.loads(MatrixFormat(rows, columns).read(text, Legal.text()))
    return result


@pytest.mark.parametrize(
    "text",
    [
        "[[0, 1], [2, -1]]",
        "The board is:\n```json\n[[0,1],\n [2,-1]]\n```\nDone.",
        r"\begin{bmatrix} 0 & 1 \\ 2 & -1 \end{bmatrix}",
        r"$$\begin{array}{cc} 0 & 1 \\ 2 & -1 \\ \end{array}$$",
        "0 1\n2 -1",
        "Here it is:\n0, 1\n2, -1\nI hope it helps.",
        "<think>[[9, 9], [9, 9]]</think>[[0, 1], [2, -1]]",
        "[[0, 1], [2, -1]] and once more [[0, 1], [2, -1]]",
        "| 0 | 1 |\n| 2 | -1 |",
        "| 0 | 1 |\n|---|:-:|\n| 2 | -1 |",
        "| 7 | 8 |\n|---|---|\n| 0 | 1 |\n| 2 | -1 |",
        "0 | 1\n--+---\n2 | -1",
        "[[0, 1],  # row A\n [2, -1]]  # row B",
        "[[0, 1], // top\n // second row\n [2, -1]] // bottom",
        "0 1 # row A\n2 -1 # row B",
        '[["0", "1"], ["2", "-1"]]',
        "[['0', '1'], ['2', '-1']]",
        "[[0, 1], [2, −1]]",
        "0 1\n2 −1",
        "[\n  [0, 1,],\n  [2, -1,],\n]",
        "[[0 1]\n [2 -1]]",
        r"\begin{bmatrix} \text{0} & 1 \\ \hline 2 & -1 \end{bmatrix}",
    ],
)
def test_accepted_matrix_notations(text: str) -> None:
    assert read(text) == [[0, 1], [2, -1]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no idea",
        "[[0, 1]]",
        "[[0,1,2],[3,4,5]]",
        "[[0.5, 1], [2, 3]]",
        "<think>[[0,1],[2,3]]",
        "[[a,b],[c,d]]",
        "[[0, 1]] # and [2, -1]",
        r"\begin{bmatrix} 0.5 & 1 \\ 2 & 3 \end{bmatrix}",
        "0 1\n\n2 3",
    ],
)
def test_invalid_matrices(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


def test_two_different_matrices_are_ambiguous() -> None:
    for text in ("[[0, 1], [2, 3]] or [[1, 1], [2, 3]]", "[[0, 1], [2, 3]] # or [[1, 1], [2, 3]]"):
        with pytest.raises(Ambiguous):
            read(text)


@given(matrices)
def test_every_form_reads_back(matrix: list[list[int]]) -> None:
    latex = r" \\ ".join(" & ".join(map(str, row)) for row in matrix)
    assert read(json.dumps(matrix), 3, 3) == matrix
    assert read(rf"\begin{{pmatrix}} {latex} \end{{pmatrix}}", 3, 3) == matrix
    assert read("\n".join(" ".join(map(str, row)) for row in matrix), 3, 3) == matrix


@given(st.text(max_size=300) | st.text("[]0123456789,- \n&\\", max_size=300))
def test_junk_never_breaks_the_reader(text: str) -> None:
    with suppress(MoveError):
        read(text)


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 500_000,
        "[0," * 300_000,
        "1 " * 500_000,
        r"\begin{matrix}" * 50_000,
        " " * 1_000_000,
        "[" + " " * 1_000_000,
        r"\begin{matrix}" * 50_000 + r"\end{matrix}",
        "]#" * 400_000 + "[",
    ],
)
def test_a_megabyte_is_read_in_linear_time(hostile: str) -> None:
    with pytest.raises(MoveError):
        read(hostile)


def test_positions_vary_in_density_and_repeat_by_seed() -> None:
    game = ludens.make("perceive", board="breakthrough")
    counts = [game.start(seed).facts["pieces"] for seed in range(300)]
    assert counts == [game.start(seed).facts["pieces"] for seed in range(300)]
    assert min(counts) < 5
    assert max(counts) > 59
    assert 28 < sum(counts) / len(counts) < 36


def test_every_cell_counts() -> None:
    game = ludens.make("perceive")
    state = game.start(4)
    truth = [list(row) for row in state.matrix]  # type: ignore[attr-defined]
    truth[2][1] = 0 if truth[2][1] != 0 else 1
    state.apply({"viewer": json.dumps(truth)})
    assert state.returns == {"viewer": pytest.approx(8 / 9)}
    assert state.facts["right"] == 8
    assert not state.facts["exact"]


def test_an_empty_answer_earns_nothing() -> None:
    state = ludens.make("perceive").start(0)
    state.apply({"viewer": ""})
    assert state.over
    assert state.returns == {"viewer": 0.0}


async def test_guessing_earns_one_in_k() -> None:
    game = ludens.make("perceive", board="breakthrough")
    guess, oracle = ludens.agent("bot/random", game), ludens.agent("bot/oracle", game)
    scores = [(await play(game, {"viewer": guess}, seed)).returns["viewer"] for seed in range(150)]
    assert sum(scores) / len(scores) == pytest.approx(1 / 3, abs=0.03)
    assert (await play(game, {"viewer": oracle}, 1)).returns == {"viewer": 1.0}


@pytest.mark.parametrize("board", ["coin_dilemma", "perceive", "perceive?board=tic_tac_toe"])
def test_only_boards_can_be_perceived(board: str) -> None:
    with pytest.raises(BadOption):
        ludens.make("perceive", board=board)


def test_the_reason_is_short() -> None:
    rows = "\n".join("1 " * width for width in range(1, 300))
    with pytest.raises(Unreadable, match="299 rows of 1 to 299") as rejected:
        read(rows)
    assert len(str(rejected.value)) < 200


def test_random_codes_are_stated_in_the_prompt() -> None:
    """The same positions as ever; what is right depends on the numbers of the prompt."""
    game, usual = Perceive(codes="random"), Perceive()
    legends, fixed = set[str](), []
    for seed in range(8):
        state = game.start(seed)
        episode = ludens.play_sync(game, {"viewer": ludens.agent("bot/best", game)}, seed)
        [sample] = ludens.samples(episode)
        prompt = " ".join(part for m in sample.messages for part in m.parts if isinstance(part, str))
        said = dict(re.findall(r"(?:Write |, )(\d+) for (\w+)", prompt))
        assert {said.get(str(number)) for number in state.numbers.values()} == {"empty", "X", "O"}
        assert state.matrix == usual.start(seed).matrix
        legends.add(str(said))
        answer = state.solution("viewer")
        assert answer is not None
        fixed.append(earned(game, seed, canonical(state.matrix)))
        assert earned(game, seed, answer) == 1.0
        written = [[said[str(number)] for number in row] for row in json.loads(answer)]
        names = {-1: "empty", 1: "X", 0: "O"}
        assert written == [[names[code] for code in row] for row in state.matrix]
    assert len(legends) > 4
    assert sum(fixed) < 4  # those who do not read the prompt


def earned(game: Game, seed: int, answer: str) -> float:
    state = game.start(seed)
    state.apply({"viewer": answer})
    return state.returns["viewer"]
