"""Whole games: replays of the best bot, hill-climbed scripts, tables of moves that branch on words, brute
force, copied messages, and imitation of the best bot by its words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log
from statistics import fmean
from typing import Any

from ludens.core.agent import Agent, Ask
from ludens.core.errors import UsageError
from ludens.core.random import Stream, stream
from ludens.run.baselines.words import Answerer, Example, Words
from ludens.run.search.models import MODELS, fit, validated
from ludens.run.search.players import (
    COPY_MODES,
    Based,
    BruteForce,
    Copycat,
    Definition,
    Key,
    Mixture,
    MoveTable,
    Script,
    SeatKnowledge,
    WordPlayer,
    action_of,
    part_of,
)
from ludens.run.search.training import Training, ordered
from ludens.run.task import Task

REPLAYS = 16
"""Games of the best bot that are tried as scripts."""
SEEDS = 6
"""Episodes in which two scripts are compared."""
LUCKY = 4
"""As many times more, where scores differ between seeds."""
MOST_CANDIDATES = 120
MOST_CONSTANTS = 10
LONGEST_RESERVE = 40


@dataclass(frozen=True)
class BotMove:
    """What was known and what the best bot did."""

    knowledge: SeatKnowledge
    action: str


@dataclass
class Demonstrator(WordPlayer):
    """A bot, whose moves are recorded with what a blind player knew."""

    bot: Agent | None = None
    decisions: list[BotMove] = field(default_factory=list)
    kind = "demonstrator"

    def begin(self) -> None:
        super().begin()
        assert self.bot is not None
        self.bot = self.bot.sit(self.game, self.seat, self.random)

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        assert self.bot is not None
        action = action_of(self.bot, ask)
        self.decisions.append(BotMove(knowledge, action))
        return action


@dataclass(frozen=True)
class BotEpisode:
    """One episode of a bot in the seats of the entrant."""

    value: float
    decisions: Sequence[BotMove]

    @property
    def actions(self) -> dict[str, list[str]]:
        """What was done in each seat."""
        by_seat: dict[str, list[str]] = {}
        for one in self.decisions:
            by_seat.setdefault(one.knowledge.seat, []).append(one.action)
        return by_seat


def demonstrations(training: Training, count: int) -> list[BotEpisode]:
    """Episodes of the guides in turn, or of random play where there are none."""
    episodes, guides = [], training.guides or ("bot/random",)
    for number in range(count):
        spec = guides[number % len(guides)]
        bot = training.guide(spec, training.game.seats[0], stream(number, "demonstration"))
        player = Demonstrator(training.task.config, bot)
        try:
            value = training.value(training.play(player, number))
        except UsageError:  # the bot cannot play here
            break
        episodes.append(BotEpisode(value, list(player.decisions)))
    return episodes


class ActionCounts:
    """The actions that were seen, by seat: how often the best bot played them, and all that were listed."""

    def __init__(self, episodes: Sequence[BotEpisode]) -> None:
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.listed: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.stages: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for episode in episodes:
            for one in episode.decisions:
                self.counts[one.knowledge.seat][one.action] += 1
                self.listed[one.knowledge.seat].update(one.knowledge.legal)
                self.stages[one.knowledge.stage][one.action] += 1

    def of(self, seat: str) -> list[str]:
        """The actions of a seat, the most frequent first."""
        frequent = ordered(self.counts[seat])
        rest = [action for action in ordered(self.listed[seat]) if action not in self.counts[seat]]
        return [*frequent, *rest][:MOST_CANDIDATES]

    def reserves(self) -> dict[str, list[str]]:
        return {seat: self.of(seat)[:LONGEST_RESERVE] for seat in self.counts}

    def talks(self, stage: str) -> bool:
        """Whether the actions of a stage are sentences."""
        counts = self.stages[stage]
        return sum(n for action, n in counts.items() if len(action.split()) > 2) > counts.total() / 2


def replayed(training: Training, episodes: Sequence[BotEpisode], words: ActionCounts) -> Script | None:
    """The moves of a bot in one episode, played in all others."""
    best = sorted(episodes, key=lambda one: -one.value)[:REPLAYS]
    scripts = [Script(training.task.config, one.actions, words.reserves()) for one in best]
    return training.best_of(scripts, range(100, 100 + SEEDS)) if scripts else None


def constant(training: Training, episodes: Sequence[BotEpisode], words: ActionCounts) -> Script | None:
    """One action or sentence in all seats and moves, which copies of a player can agree on."""
    length = max((len(own) for one in episodes for own in one.actions.values()), default=0)
    total = Counter[str]()
    for seat in words.counts:
        total.update(words.counts[seat])
        total.update(dict.fromkeys(words.listed[seat], 0))
    scripts, reserves = [], words.reserves()
    for action in ordered(total)[:MOST_CONSTANTS]:
        actions = {seat: [action] * length for seat in words.counts}
        reserve = {seat: [action, *reserves[seat]] for seat in reserves}
        scripts.append(Script(training.task.config, actions, reserve))
    return training.best_of(scripts, range(100, 100 + SEEDS)) if scripts else None


def climbed(training: Training, starts: Sequence[Script], words: ActionCounts, episodes: int) -> Script:
    """A script that is changed at random places and keeps every change that is no loss; from each of these
    scripts, and with a large budget from a random one too."""
    dice = stream(training.budget, "climb")
    starts = [*starts, *([_random_script(starts[0], words, dice)] if episodes >= 40 * SEEDS else ())]
    climbed: list[Script] = []
    for current in starts:
        values = training.values(current, range(200, 200 + SEEDS))
        # Where luck matters, few episodes would reward it.
        count = SEEDS if max(values) - min(values) < 1e-9 else LUCKY * SEEDS
        values += training.values(current, range(200 + SEEDS, 200 + count))
        value = fmean(values)
        for _ in range(max(0, episodes // len(starts) - count) // count):
            changed = _mutated(current, words, dice)
            reached = _at_least(training, changed, value, count)
            if reached is not None:
                current, value = changed, reached
        climbed.append(current)
    return training.best_of([*climbed, *starts], range(700, 700 + LUCKY * SEEDS))


def _at_least(training: Training, script: Script, least: float, count: int) -> float | None:
    """The mean value of a script; None as soon as some episodes show that it is far from what is needed."""
    values: list[float] = []
    for number in range(200, 200 + count):
        values += training.values(script, [number])
        if len(values) >= 2 and fmean(values) < least - abs(least):
            return None
    mean = fmean(values)
    return mean if mean >= least else None


def _random_script(start: Script, words: ActionCounts, dice: Stream) -> Script:
    actions = {
        seat: [dice.choice(words.of(seat) or [""]) for _ in own] for seat, own in start.actions.items()
    }
    return Script(start.config, actions, start.reserve)


def _mutated(script: Script, words: ActionCounts, dice: Stream) -> Script:
    actions = {seat: list(own) for seat, own in script.actions.items()}
    seat = dice.choice(sorted(actions))
    own, choices = actions[seat], words.of(seat) or [""]
    for _ in range(1 + dice.below(3)):
        place = dice.below(len(own) + 1)
        change = dice.below(5)
        if change == 0 or place == len(own):
            own.insert(place, dice.choice(choices))
        elif change == 1 and len(own) > 1:
            del own[place]
        elif change == 2 and place:
            own[place - 1], own[place] = own[place], own[place - 1]
        elif change == 3:
            length = 1 + dice.below(6)
            own[place : place + length] = own[max(0, place - length) : place]
        else:
            own[place] = dice.choice(choices)
    actions[seat] = own or [dice.choice(choices)]
    return Script(script.config, actions, script.reserve)


@dataclass
class _Node:
    """An entry of a table while it is learned: how often each action was tried, and what it earned."""

    visits: int = 0
    base: str | None = None
    """What the player would do from which the search starts."""
    tried: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Learner(Based):
    """Learns a table of moves: tries actions where it knows the same, and prefers those that earned more.

    Actions are proposed by bots that see the state, by the player it starts from, or at random; it chooses
    among them by what it knows alone.
    """

    by: Key = "words"
    training: Training | None = None
    nodes: dict[str, _Node] = field(default_factory=dict)
    path: list[tuple[_Node, str]] = field(default_factory=list)
    range: list[float] = field(default_factory=lambda: [inf, -inf])
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """The number of episodes, and what they earned together."""
    guides: dict[str, Agent] = field(default_factory=dict)
    kind = "learner"

    def begin(self) -> None:
        super().begin()
        self.guides = {}
        self._follows = self.random.below(2) == 0

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        node = self.nodes.setdefault(knowledge.key(self.by), _Node())
        if node.base is None:
            node.base = self._usual(knowledge, ask)
        choices = {action: sums for action, sums in node.tried.items() if knowledge.allows(action)}
        if self._follows and node.base not in (None, *node.tried):
            action = str(node.base)
        elif not choices or len(node.tried) < 1 + 0.4 * node.visits**0.5:
            action = self._proposal(knowledge, ask)
        else:
            action = max(choices, key=lambda one: self._promise(node, one))
        node.tried.setdefault(action, [0.0, 0.0])
        self.path.append((node, action))
        return action

    def _promise(self, node: _Node, action: str) -> float:
        count, total = node.tried[action]
        if not count:
            return inf
        low, high = self.range
        mean = (total / count - low) / max(high - low, 1e-9)
        return float(mean + 0.35 * (log(node.visits + 1) / count) ** 0.5)

    def _proposal(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        """An action that may be good or is at least legal here."""
        assert self.training is not None
        if self.training.guides and self.random.below(5):
            action = self._guided(ask)
            if knowledge.allows(action):
                return action
        legal = [action for action in ask.legal if knowledge.allows(action)]
        if legal:
            return self.random.choice(legal)
        return self._usual(knowledge, ask) or ask.legal.first

    def _usual(self, knowledge: SeatKnowledge, ask: Ask) -> str | None:
        action = None if self.base is None else self.base.choose(knowledge, ask)
        return action if action is not None and knowledge.allows(action) else None

    def _guided(self, ask: Ask) -> str:
        assert self.training is not None
        names = self.training.guides
        name = names[-1] if self.random.below(4) else names[0]
        if name not in self.guides:
            self.guides[name] = self.training.guide(name, self.seat, self.random.fork(name))
        return action_of(self.guides[name], ask)

    def learn(self, value: float) -> None:
        """Count what the episode earned for all that was done in it."""
        self.range[:] = [min(self.range[0], value), max(self.range[1], value)]
        self.sums[:] = [self.sums[0] + 1, self.sums[1] + value]
        for node, action in self.path:
            node.visits += 1
            node.tried[action][0] += 1
            node.tried[action][1] += value
        self.path.clear()

    def table(self) -> dict[str, str]:
        """The action of every place: the one with the highest mean, less what few trials make uncertain.

        Where the player it started from (or the mean of all episodes, where that was never tried) is not
        clearly worse, there is no entry.
        """
        low, high = self.range
        table = {}
        for key, node in self.nodes.items():
            worth = {
                action: total / count - 0.5 * (high - low) / count**0.5
                for action, (count, total) in node.tried.items()
                if count
            }
            if not worth:
                continue
            best = max(worth, key=lambda action: worth[action])
            count, total = node.tried.get(node.base or "", (0.0, 0.0))
            usual = total / count if count else self.sums[1] / max(self.sums[0], 1)
            if self.base is None or worth[best] > usual:
                table[key] = best
        return table


class _Visited(dict[str, str]):
    """A table that remembers which of its entries were used."""

    def __init__(self, table: Mapping[str, str]) -> None:
        super().__init__(table)
        self.visits: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.visits.add(key)
        return super().get(key, default)


def learned(training: Training, by: Key, base: WordPlayer | None, episodes: int) -> MoveTable:
    """A table of moves, learned in as many episodes; only entries that it uses itself are kept."""
    learner = Learner(training.task.config, by, training, base=base)
    for number in range(episodes):
        learner.learn(training.value(training.play(learner, 1000 + number)))
    table = _Visited(learner.table())
    player = MoveTable(training.task.config, by, table, base=base)
    for number in range(max(1, min(episodes, 40))):
        training.play(player, 1000 + number)
    entries = {key: action for key, action in table.items() if key in table.visits}
    return MoveTable(training.task.config, by, entries, base=base)


def brute(training: Training, episodes: Sequence[BotEpisode], words: ActionCounts) -> Iterator[BruteForce]:
    """Tries what the best bot did elsewhere, the most frequent first: whole actions, lines of messages, all
    lines at once."""
    config = training.task.config
    whole = {seat: words.of(seat) for seat in words.counts}
    yield BruteForce(config, whole)
    yield BruteForce(config, whole, again=True)
    lines = {seat: _lines(words.counts[seat]) for seat in words.counts}
    if lines != {seat: ordered(words.counts[seat]) for seat in words.counts}:
        yield BruteForce(config, lines)
        yield BruteForce(config, {seat: ["\n".join(some), *some] for seat, some in lines.items()})
    last = {
        seat: ordered(Counter(one.actions[seat][-1] for one in episodes if seat in one.actions))
        for seat in words.counts
    }
    yield BruteForce(config, last)


def _lines(counts: Mapping[str, int]) -> list[str]:
    """The lines of messages that recur, the most frequent first."""
    lines = Counter[str]()
    for text, n in counts.items():
        lines.update(dict.fromkeys(text.splitlines(), n))
    return [line for line in ordered(lines) if lines[line] > 1][:MOST_CANDIDATES]


@dataclass
class Imitator(WordPlayer):
    """Does what a model over words expects the best bot to do."""

    model: Answerer | None = None
    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By stage, where they are not listed."""
    episodes: int = 0
    """Of the best bot that the model was fitted to."""
    kind = "imitation"

    @property
    def memory(self) -> bool:
        return False

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        assert self.model is not None
        words = words_of(knowledge, self.answers)
        return self.model.answer(words) if words.answers else ""

    @property
    def definition(self) -> Definition:
        return {"kind": self.kind, "model": self.model_name, "episodes": self.episodes}

    @property
    def model_name(self) -> str:
        return self.model.name if self.model else ""


def words_of(knowledge: SeatKnowledge, answers: Mapping[str, Sequence[str]]) -> Words:
    offered = knowledge.legal or tuple(answers.get(f"{knowledge.seat}/{knowledge.stage}", ()))
    barred = {reply for reply, _ in knowledge.refused}
    rest = tuple(action for action in offered if action not in barred) or offered
    return Words(knowledge.words, rest, bool(knowledge.legal))


MOST_EXAMPLES, MOST_ANSWERS = 300, 24


def examples_of(episodes: Sequence[BotEpisode]) -> tuple[list[Example], dict[str, list[str]]]:
    """Decisions as questions, and the answers where none are listed."""
    decisions = [one for episode in episodes for one in episode.decisions if not one.knowledge.refused]
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in decisions:
        counts[f"{one.knowledge.seat}/{one.knowledge.stage}"][one.action] += 1
    answers = {place: [a for a, _ in some.most_common(MOST_ANSWERS)] for place, some in counts.items()}
    examples = []
    for one in decisions[:: max(1, len(decisions) // MOST_EXAMPLES)]:
        words = words_of(one.knowledge, answers)
        if len(words.answers) > 1 and one.action in words.answers:
            examples.append(Example(words, {answer: float(answer == one.action) for answer in words.answers}))
    return examples, answers


def imitators(training: Training, episodes: Sequence[BotEpisode]) -> Imitator | None:
    """The best model of what the best bot does, by decisions that it was not fitted to."""
    examples, answers = examples_of(episodes)
    if len(examples) < 16:
        return None
    scores = {name: validated(name, examples, 1) for name in MODELS}
    name = max(scores, key=lambda one: scores[one])
    return Imitator(training.task.config, fit(name, examples), answers, len(episodes))


def rebuilt_imitator(task: Task, definition: Definition) -> Imitator:
    """The imitator of a definition: its model is fitted again, to the same episodes."""
    episodes = demonstrations(Training(task, 0), int(definition["episodes"]))
    examples, answers = examples_of(episodes)
    return Imitator(task.config, fit(str(definition["model"]), examples), answers, len(episodes))


def copycats(training: Training, words: ActionCounts, bases: Sequence[WordPlayer]) -> Iterator[Copycat]:
    """Copies messages in stages of talk, and mentioned actions where actions are listed."""
    talk = [stage for stage in words.stages if words.talks(stage)]
    for mode in COPY_MODES if talk else COPY_MODES[:1]:
        for base in bases[:2] if talk else bases[:1]:
            yield Copycat(training.task.config, mode, talk or list(words.stages), base=base)


def mixed(
    training: Training, demonstrations: Sequence[BotEpisode], players: Sequence[WordPlayer], episodes: int
) -> Mixture | None:
    """Another player for each part of the game, exchanged one after the other as long as that is better."""
    parts = sorted({part_of(one.knowledge) for episode in demonstrations for one in episode.decisions})
    if len(parts) < 2 or len(players) < 2:
        return None
    each = max(2 * len(training.task.seatings), episodes // (len(parts) * len(players) + len(players)))
    numbers = range(400, 400 + each)
    values = [fmean(training.values(player, numbers)) for player in players]
    reached = max(values)
    base = players[values.index(reached)]
    best = Mixture(training.task.config, base=base)
    for part in parts:
        for player in players:
            if player is base:
                continue
            changed = Mixture(training.task.config, {**best.parts, part: player}, base=base)
            value = fmean(training.values(changed, numbers))
            if value > reached:
                best, reached = changed, value
    return best if best.parts else None
