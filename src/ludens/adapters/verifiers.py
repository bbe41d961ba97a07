"""Games and suites as environments of verifiers (v1 API), for its evaluations and for prime-rl.

The plug-in is the package `ludens_verifiers`, which exports what is here: `vf-eval ludens-verifiers`. A task
is a seed with a seating. Seats belong to `player` (the model, trainable; each seat is an agent with a trace
of its own), to `opponent` (another model, not trained), or to a spec of Ludens, such as a bot. Prompts are
Ludens' own (`history = "own"`), or the conversation of the seat with every picture (`"accumulated"`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import aiohttp
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.types import AssistantMessage, SystemMessage

from ludens.agents import agent
from ludens.agents.vlm import prompt
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import AgentFailure, BadOption, UnknownName
from ludens.core.options import configure
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.models.chat import Message
from ludens.models.settings import PromptOptions
from ludens.run.rows import count_replies
from ludens.run.task import MODEL, suite

PLAYER, OPPONENT = "player", "opponent"
MOST_SEATS = 8

__all__ = ["LudensEnv", "LudensHarness", "LudensTask", "LudensTaskset"]


class LudensHarnessConfig(vf.HarnessConfig):  # type: ignore[misc, unused-ignore]
    history: Literal["own", "accumulated"] = "own"
    """What a prompt holds: what Ludens' prompt options say, or the whole conversation of the seat."""


class LudensHarness(vf.Harness[LudensHarnessConfig]):  # type: ignore[misc, unused-ignore]
    """Calls the model from this process: no program is started for a turn."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
    ) -> Any:
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in data.prompt]}
        headers = {"Authorization": f"Bearer {secret}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(f"{endpoint}/chat/completions", json=body) as response,
        ):
            text = await response.text()
            return vf.ProgramResult(
                exit_code=0 if response.status == 200 else 1, stdout="", stderr=text[:2000]
            )

    async def resume(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,
        messages: Any,
        tool_interception_url: str | None = None,
    ) -> Any:
        if self.config.history == "accumulated":
            return await super().resume(
                ctx, trace, runtime, endpoint, secret, mcp_urls, data, messages, tool_interception_url
            )
        whole = data.model_copy(update={"prompt": messages})
        return await self.launch(ctx, trace, runtime, endpoint, secret, mcp_urls, whole)


@dataclass
class SeatAgent(Agent):
    """A seat whose replies come from an interaction of verifiers."""

    interaction: Any
    options: PromptOptions = field(default_factory=PromptOptions)
    accumulated: bool = False
    kind = "verifiers"
    waits = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees = self.options.sees

    def begin(self) -> None:
        self._turns = 0

    def history(self) -> History:
        return self.options.history()

    async def act(self, ask: Ask) -> Reply:
        messages = prompt(ask, self.options)
        if self.accumulated:
            # What was said before is in the conversation already.
            first = [m for m in messages[:1] if m.role == "system" and not self._turns]
            messages = [*first, messages[-1]]
        segment = await self.interaction.turn([_wire(message) for message in messages])
        self._turns += 1
        if segment.terminated:
            raise AgentFailure(f"the run of {self.seat} ended before the game did.")
        return Reply(segment.last_reply)


def _wire(message: Message) -> Any:
    if message.role == "system":
        return SystemMessage(content=message.text)
    if message.role == "assistant":
        return AssistantMessage(content=message.text)
    parts = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": part.data_uri()}}
        for part in message.parts
    ]
    return vf.UserMessage(content=parts)


class LudensTaskData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    game: str
    seed: int
    seating: dict[str, str]
    """Seat to `player`, `opponent` or a spec."""
    play: dict[str, Any] = {}
    """The `PlayConfig`."""


class LudensTask(vf.Task[LudensTaskData]):  # type: ignore[misc, unused-ignore]
    """An episode to be played."""


class LudensTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    suite: str = ""
    """A suite, with its seatings, seeds and retries; or else `game`."""
    tasks: list[str] = []
    """Tasks of the suite; all when empty."""
    game: str = "tic_tac_toe"
    episodes: int = 100
    """Most episodes of a task of the suite, or episodes of the game."""
    seed: int = 0
    """Added to every seed."""
    seats: dict[str, str] = {}
    """Seat to `player`, `opponent` or a spec; other seats as in the suite, or `player`."""


class LudensTaskset(vf.Taskset[LudensTask, LudensTasksetConfig]):  # type: ignore[misc, unused-ignore]
    """The episodes of a suite or of a game."""

    def load(self) -> Iterator[LudensTask]:
        config = self.config
        if not config.suite:
            game = make(config.game)
            seating = self._seated(dict.fromkeys(game.seats, PLAYER))
            for number in range(config.episodes):
                yield self._task(config.game, config.game, config.seed + number, seating, PlayConfig())
            return
        tasks_by_name = {task.name: task for task in suite(config.suite).tasks}
        for name in config.tasks or tasks_by_name:
            if name not in tasks_by_name:
                raise UnknownName(f"task of {config.suite}", name, tasks_by_name)
            task = tasks_by_name[name]
            for index in range(min(task.episodes, config.episodes)):
                seed, place = task.placed(index)
                own = {seat: PLAYER if spec == MODEL else spec for seat, spec in task.seatings[place].items()}
                yield self._task(name, task.game, config.seed + seed, self._seated(own), task.config)

    def _seated(self, seating: dict[str, str]) -> dict[str, str]:
        for seat in self.config.seats:
            if seat not in seating:
                raise UnknownName("seat", seat, seating)
        seated = {**seating, **self.config.seats}
        if PLAYER not in seated.values():
            raise BadOption("no seat is left for the player.")
        return seated

    def _task(
        self, name: str, game: str, seed: int, seating: Mapping[str, str], play: PlayConfig
    ) -> LudensTask:
        data = LudensTaskData(
            name=f"{name}:{seed}", game=game, seed=seed, seating=dict(seating), play=asdict(play)
        )
        return LudensTask(data, self.config.task)


def _own_agent() -> Any:
    """An agent that runs on this machine; the default runtime is a sandbox in a cloud."""
    return vf.AgentConfig(runtime={"type": "subprocess"})


class LudensEnvConfig(vf.EnvConfig):  # type: ignore[misc, unused-ignore]
    # One agent for each seat, in the order of the game's seats: algorithms keep a baseline for each.
    seat_1: vf.AgentConfig = _own_agent()
    seat_2: vf.AgentConfig = _own_agent()
    seat_3: vf.AgentConfig = _own_agent()
    seat_4: vf.AgentConfig = _own_agent()
    seat_5: vf.AgentConfig = _own_agent()
    seat_6: vf.AgentConfig = _own_agent()
    seat_7: vf.AgentConfig = _own_agent()
    seat_8: vf.AgentConfig = _own_agent()
    opponent: vf.AgentConfig = _own_agent()
    """A model in seats that are given to it; not trained."""
    prompt: dict[str, str] = {}
    """Prompt options of Ludens: style, memory, frames, modality, blind."""
    theme: str = "classic"
    size: int = 512


class LudensEnv(vf.Env[LudensEnvConfig]):  # type: ignore[misc, unused-ignore]
    """Plays one episode; each seat of a model is a run with its own trace and reward."""

    async def setup(self, agents: Any) -> None:
        agents.opponent.trainable = False

    async def run(self, task: Any, agents: Any) -> None:
        data, game = task.data, make(task.data.game)
        if len(game.seats) > MOST_SEATS:
            raise BadOption(
                f"{game.name} has {len(game.seats)} seats; at most {MOST_SEATS} can be played here."
            )
        options = configure(PromptOptions, self.config.prompt, "the prompt")
        async with AsyncExitStack() as stack:
            players: dict[str, Agent] = {}
            interactions: dict[str, Any] = {}
            for seat, player in data.seating.items():
                if player not in (PLAYER, OPPONENT):
                    players[seat] = agent(player, game)
                    continue
                name = OPPONENT if player == OPPONENT else f"seat_{game.seats.index(seat) + 1}"
                config = getattr(self.config, name)
                interaction = await stack.enter_async_context(getattr(agents, name).interaction(task))
                interactions[seat] = interaction
                harness = config.harness or LudensHarnessConfig()
                own = isinstance(harness, LudensHarnessConfig) and harness.history == "own"
                players[seat] = SeatAgent(interaction, options, accumulated=not own)
            episode = await play(
                game,
                players,
                data.seed,
                render=RenderOptions(self.config.theme, self.config.size),
                config=PlayConfig(**data.play),
            )
            for seat, interaction in interactions.items():
                _record(interaction.trace, seat, episode)
        if episode.status == "void":
            raise RuntimeError(f"the episode is void: {episode.error}")


def _record(trace: Any, seat: str, episode: Episode) -> None:
    trace.info["seat"], trace.info["game"] = seat, episode.game
    trace.info["status"], trace.info["returns"] = episode.status, dict(episode.returns)
    if episode.status == "void":
        return
    trace.record_reward("return", episode.returns[seat])
    counts = count_replies(move for move in episode.moves if move.seat == seat)
    trace.record_metrics({name: float(counts[name]) for name in ("moves", "retried", "fallbacks")})
