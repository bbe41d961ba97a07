"""Questions and replies as datasets of other tools: Hugging Face `datasets`, VLMEvalKit, lmms-eval.

Rows are the questions of a task, or the replies of a run. Each names its position (game, seed, earlier moves,
seat), so that `grade` gives a reply to it what the game itself gives.
"""

from __future__ import annotations

import base64
import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import orjson

from ludens.agents.vlm import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile, BadOption, MoveError, UnknownName
from ludens.core.files import save_file
from ludens.core.game import Game
from ludens.core.policy import Setter, make_by
from ludens.core.registry import GAMES, make
from ludens.core.replay import replay
from ludens.core.reply import read_action
from ludens.core.spec import Spec, parse_spec
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions
from ludens.rebuild import samples
from ludens.run.dataset import ColumnType, Dataset, write
from ludens.run.results import Results
from ludens.run.task import SUITES, Task, import_suite, suite

COLUMNS: dict[str, ColumnType] = {
    "index": "number",
    "images": "pictures",
    "system": "text",
    "question": "text",
    "answer": "text",
    "answers": "texts",
    "options": "texts",
    "category": "text",
    "game": "text",
    "seed": "number",
    "moves": "text",
    "seat": "text",
}
REPLY_COLUMNS: dict[str, ColumnType] = {
    **COLUMNS,
    "completion": "text",
    "verdict": "text",
    "reward": "text",
    "role": "text",
    "stage": "text",
    "player": "text",
}
"""Of the replies of a run, which also say what was replied, by whom, and what it earned."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What the game makes of a reply."""

    verdict: str
    """ok, illegal or unreadable."""
    action: str = ""
    reward: float = 0.0
    """The return of the seat after this move; 0 for a reply that is not ok."""


def grade(row: Mapping[str, Any], reply: str) -> Grade:
    """Grade a reply to the position of a row as the game does."""
    game = _game(str(row["game"]))
    state, seat = _state(game, row), str(row["seat"])
    format, legal = view_of(game, RenderOptions(), int(row["seed"])).format(state, seat), state.legal(seat)
    try:
        action = read_action(format, reply, legal)
    except MoveError as error:
        return Grade(error.verdict)
    if state.refusal(seat, action) is not None:
        return Grade("illegal")
    if state.to_act != (seat,):
        return Grade("ok", action)  # the others' moves decide too
    state.apply({seat: action})
    return Grade("ok", action, state.returns[seat])


@lru_cache(maxsize=32)
def _game(spec: str) -> Game:
    return make_by(Setter.FILE, spec)


def _state(game: Game, row: Mapping[str, Any]) -> State:
    state = game.start(int(row["seed"]))
    try:
        moves = orjson.loads(row["moves"] or b"[]")
        for actions in moves:
            state.apply(actions)
    except (orjson.JSONDecodeError, MoveError, TypeError, AttributeError) as error:
        raise BadFile(f"row {row.get('index')} names a position that cannot be reached: {error}") from None
    return state


def question_rows(
    task: Task, n: int, seed: int = 0, render: RenderOptions | None = None
) -> Iterator[dict[str, Any]]:
    """The questions of a task, as models are asked them."""
    game, render = make(task.game), render or RenderOptions()
    [seat] = game.seats
    options = PromptOptions()
    for number in range(n):
        episode_seed = task.first_seed + seed + number
        state = game.start(episode_seed)
        ask = build_ask(view_of(game, render, episode_seed), state, seat, options.sees, task.config)
        right = state.solution(seat)
        if right is None:
            raise BadOption(f"{game.name} does not know the right answer of question {episode_seed}.")
        yield {
            **_prompt_fields(number, prompt(ask, options), [] if ask.legal.is_text else list(ask.legal)),
            "answer": right,
            "answers": [right],
            "category": task.name,
            "game": str(parse_spec(task.game)),
            "seed": episode_seed,
            "moves": "[]",
            "seat": seat,
        }


def _prompt_fields(number: int, messages: Sequence[Message], options: list[str]) -> dict[str, Any]:
    """Index, pictures and words of a prompt; earlier exchanges are part of the question."""
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    marks = {"user": "", "assistant": "You replied: "}
    words = [m.text if len(rest) == 1 else marks[m.role] + m.text for m in rest]
    return {
        "index": number,
        "images": [picture for message in messages for picture in message.pictures],
        "system": system,
        "question": "\n\n".join(words),
        "options": options,
    }


def reply_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Every reply in the episodes of runs, with its exact prompt."""
    number = 0
    for suite_results in results.suites:
        for row in suite_results.rows:
            for cell in row.cells.values():
                for place in cell.episodes:
                    episode = cell.read(place).episode
                    spec = str(Spec(episode.game, None, {k: _option(v) for k, v in episode.options.items()}))
                    before = _before(episode)
                    for one in samples(episode):
                        legal = [] if one.ask.legal.is_text else list(one.ask.legal)
                        yield {
                            **_prompt_fields(number, one.messages, legal),
                            "answer": one.move.action,
                            "answers": [one.move.action],
                            "category": cell.task.name,
                            "game": spec,
                            "seed": episode.seed,
                            "moves": before[one.move.step],
                            "seat": one.move.seat,
                            "completion": one.completion,
                            "verdict": one.verdict,
                            "reward": "" if one.reward is None else repr(one.reward),
                            "role": one.role,
                            "stage": one.stage,
                            "player": episode.seats[one.move.seat],
                        }
                        number += 1


def _option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _before(episode: Any) -> dict[int, str]:
    """The joint actions before each step, as JSON."""
    actions: list[dict[str, str]] = [dict(opening) for opening in episode.opening]
    before: dict[int, str] = {}
    for step in replay(episode):
        before[step.index] = orjson.dumps(actions).decode()
        actions.append({move.seat: move.action for move in step.moves})
    return before


def question_task(name: str) -> Task:
    """A task by `SUITE/TASK`, or the task of a game that is a question."""
    first, _, rest = name.partition("/")
    is_game = parse_spec(name).name in GAMES.names()
    if rest and not is_game and parse_spec(first).name in SUITES.names():
        import_suite(first)
        tasks = {task.name: task for task in suite(first).tasks}
        if rest not in tasks:
            raise UnknownName(f"task of {first}", rest, tasks)
        task = tasks[rest]
    else:
        game = make(name)
        task = Task(game.name, name, (dict.fromkeys(game.seats, "MODEL"),), 100, config=PlayConfig())
    if not make(task.game).question:
        raise BadOption(
            f"{name} is not a question with one right answer: export the replies of a run instead."
        )
    return task


def dataset_of(
    name: str, rows: Iterable[Mapping[str, Any]], made_from: Mapping[str, Any], replies: bool
) -> Dataset:
    """Rows as what `ludens data` writes: Parquet with pictures, PNG files, a manifest."""
    about = f"Replies in the run {name}." if replies else f"Questions of the task {name}."
    return Dataset(name, about, REPLY_COLUMNS if replies else COLUMNS, rows, (), made_from)


def write_tsv(rows: Iterable[Mapping[str, Any]], file: Path) -> int:
    """A TSV file of VLMEvalKit: put it into its folder `LMUData` and name it there."""
    text, count = StringIO(), 0
    columns = ("index", "image", "question", "answer", "category", "game", "seed", "moves", "seat")
    writer = csv.DictWriter(text, columns, delimiter="\t", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        pictures = [base64.b64encode(picture.png()).decode() for picture in row["images"]]
        image = pictures[0] if len(pictures) == 1 else str(pictures) if pictures else ""
        question = "\n\n".join(filter(None, [row["system"], row["question"]]))
        writer.writerow({**row, "image": image, "question": question})
        count += 1
    save_file(file, text.getvalue().encode())
    return count


def write_lmms_task(dataset: Dataset, folder: Path) -> str:
    """A task of lmms-eval: YAML file, functions that it names, rows as Parquet; returns its name."""
    write(dataset, folder)
    name = "ludens_" + re.sub(r"[^a-z0-9]+", "_", dataset.name.lower()).strip("_")
    data = orjson.dumps(str((folder / "samples.parquet").resolve())).decode()
    lines = f"""\
        task: {name}
        dataset_path: parquet
        dataset_kwargs:
          data_files:
            test: {data}
        test_split: test
        output_type: generate_until
        doc_to_visual: !function utils.doc_to_visual
        doc_to_text: !function utils.doc_to_text
        doc_to_target: answer
        generation_kwargs:
          max_new_tokens: 1024
          temperature: 0
          do_sample: false
        process_results: !function utils.process_results
        metric_list:
          - metric: ludens_reward
            aggregation: mean
            higher_is_better: true
        metadata:
          - version: 1
        """
    functions = '''\
        """Functions that the task file names; replies are graded by the games of Ludens."""

        from ludens.adapters.datasets import grade


        def doc_to_visual(doc):
            return [image.convert("RGB") for image in doc["images"]]


        def doc_to_text(doc, lmms_eval_specific_kwargs=None):
            return "\\n\\n".join(filter(None, [doc["system"], doc["question"]]))


        def process_results(doc, results):
            return {"ludens_reward": grade(doc, results[0]).reward}
        '''
    save_file(folder / f"{name}.yaml", dedent(lines).encode())
    save_file(folder / "utils.py", dedent(functions).encode())
    return name
