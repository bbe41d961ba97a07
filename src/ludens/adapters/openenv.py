"""OpenEnv: the tasks of a suite as an environment server with concurrent sessions (extra `openenv`).

    ludens openenv playground-mini --port 8000

A client resets with a split (the name of a task) and an index (an episode of it), and steps with replies as a
model would write them. Seeds, seatings, retries and fallbacks are those of `ludens eval`, so that the score
in the metadata of the last observation is the same. One agent plays all seats of the model, bots the others.
"""

from __future__ import annotations

from typing import Any

from ludens.adapters.table import Turns
from ludens.core.ask import Ask
from ludens.core.errors import BadOption, MissingExtra, UnknownName
from ludens.core.registry import make
from ludens.core.view import RenderOptions, Sees
from ludens.run.task import MODEL, EpisodeResult, Task, entrant_seats, suite

try:
    from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
    from openenv.core.env_server.types import EnvironmentMetadata
except ImportError:
    raise MissingExtra("ludens openenv", "openenv") from None

SESSIONS = 16
"""Most sessions of a server at once, by default."""


class LudensAction(Action):
    """A reply: what a model would write; the action is read from it."""

    reply: str


class LudensObservation(Observation):
    """One question to one seat."""

    seat: str = ""
    images: list[str] = []
    """Pictures as data URIs."""
    text: str = ""
    """What the pictures show, in words, where that is shown."""
    notes: str = ""
    rules: str = ""
    """Only in the first observation of a seat."""
    legal: list[str] = []
    """The legal actions, where they are shown; empty where any text may be said."""
    instruction: str = ""
    """How to reply."""
    refused: str = ""
    """Why the last reply was not an action; it may be tried again."""


class LudensEnvironment(Environment):
    """The tasks of a suite; every session plays an episode of its own.

    Args:
        name: The suite, with options: `playground-mini`.
        sees: What the agent sees: `image`, `text`, `both`, or what the game offers.
        render: Theme and size of pictures.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, name: str, sees: Sees = "offered", render: RenderOptions | None = None) -> None:
        super().__init__()
        self._suite, self._sees, self._render = suite(name), sees, render
        self._tasks = {task.name: task for task in self._suite.tasks}
        self._turns: Turns | None = None
        self._state = State()
        self._informed_seats = set[str]()

    def list_splits(self) -> list[dict[str, str]]:
        """The tasks of the suite."""
        return [{"name": name, "type": "test"} for name in self._tasks]

    def num_tasks(self, split: str) -> int:
        """The episodes of a task."""
        return self._task(split).episodes

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Game, seed and seating of an episode."""
        task = self._task(split)
        if not 0 <= index < task.episodes:
            raise IndexError(f"{split} has {task.episodes} episodes, no {index}")
        seed, seating = task.placed(index)
        return {
            "id": f"{split}-{index}",
            "index": index,
            "game": task.game,
            "seed": seed,
            "seats": dict(task.seatings[seating]),
        }

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        return self.get_task_range(split, 0, self.num_tasks(split))

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        return [self.get_task(split, index) for index in range(self.num_tasks(split))[start:stop]]

    def _task(self, split: str) -> Task:
        if split not in self._tasks:
            raise UnknownName(f"task of {self._suite.name}", split, self._tasks)
        return self._tasks[split]

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int = 0,
        **_: Any,
    ) -> LudensObservation:
        """Start an episode of a task (by default of the first); a seed replaces that of the episode."""
        task = self._task(split or next(iter(self._tasks)))
        place = self.get_task(task.name, index)
        seating = task.placed(index)[1]
        self.close()
        self._task_now, self._seed = task, place["seed"] if seed is None else seed
        opponents = {seat: spec for seat, spec in place["seats"].items() if spec != MODEL}
        game = make(task.game)
        self._turns = Turns(
            game,
            entrant_seats(task, seating),
            opponents,
            sees=self._sees,
            render=self._render,
            config=task.config,
            patient=False,
        )
        self._informed_seats.clear()
        ask = self._turns.reset(self._seed)
        self._return = self._mean_return()
        name = episode_id or f"{place['id']}-seed-{self._seed}"
        self._state = State(episode_id=name, step_count=0, task=task.name, seed=self._seed)
        return self._observed(ask)

    def step(self, action: LudensAction, timeout_s: float | None = None, **_: Any) -> LudensObservation:
        """Reply to the question of the last observation."""
        if self._turns is None or self._turns.ask is None:
            raise BadOption("the episode is over or has not begun: call reset.")
        ask = self._turns.reply(action.reply)
        self._state.step_count += 1
        observation = self._observed(ask)
        before, self._return = self._return, self._mean_return()
        observation.reward = self._return - before
        return observation

    @property
    def state(self) -> State:
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="ludens", description=self._suite.about, version="1")

    def close(self) -> None:
        if self._turns is not None:
            self._turns.close()
            self._turns = None

    def _mean_return(self) -> float:
        """The mean return of the model's seats."""
        assert self._turns is not None
        episode, seats = self._turns.episode, self._turns.seats
        returns = self._turns.state.returns if episode is None else episode.returns
        return sum(returns[seat] for seat in seats) / len(seats)

    def _observed(self, ask: Ask | None) -> LudensObservation:
        if ask is None:
            return LudensObservation(done=True, metadata=self._result())
        observation, first = ask.observation, ask.seat not in self._informed_seats
        self._informed_seats.add(ask.seat)
        return LudensObservation(
            seat=ask.seat,
            images=[picture.data_uri() for picture in observation.images],
            text=observation.text,
            notes=observation.notes,
            rules=ask.rules if first else "",
            legal=list(ask.legal) if ask.listed else [],
            instruction=ask.format.ask(ask.legal),
            refused=ask.refused[-1][1] if ask.refused else "",
        )

    def _result(self) -> dict[str, Any]:
        """How the episode ended, and the metrics of the task."""
        assert self._turns is not None
        episode = self._turns.episode
        assert episode is not None
        result = EpisodeResult(self._state.episode_id or "", episode, self._turns.seats)
        metrics = {metric.name: metric.value(result) for metric in self._task_now.metrics}
        return {"status": episode.status, "returns": episode.returns, "metrics": metrics}


def make_app(
    name: str, sees: Sees = "offered", render: RenderOptions | None = None, sessions: int = SESSIONS
) -> Any:
    """The FastAPI application that serves a suite."""
    suite(name)  # raises now for an unknown suite

    def environment() -> LudensEnvironment:
        return LudensEnvironment(name, sees, render)

    return create_fastapi_app(
        environment, LudensAction, LudensObservation, max_concurrent_envs=sessions, env_name="ludens"
    )
