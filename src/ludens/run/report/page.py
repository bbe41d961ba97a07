"""The report as one self-contained HTML page, and a page for one episode with prompts and replies."""

from __future__ import annotations

import base64
import io
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import Any
from unicodedata import category

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import UsageError
from ludens.core.verify import verify
from ludens.core.view import Picture
from ludens.models.chat import Message
from ludens.rebuild import samples
from ludens.run.cells import Cell
from ludens.run.comparisons import Place
from ludens.run.replays import evenly, last_picture
from ludens.run.report import charts, tables
from ludens.run.report.curves import curve_charts
from ludens.run.report.references import evidence
from ludens.run.report.table import split
from ludens.run.report.tables import judged_table, standard_deviations
from ludens.run.results import Results, Row, SuiteResults
from ludens.run.verify import verification_text

TEMPLATES = Path(__file__).parent / "templates"
_JOINERS = "\u200c\u200d"  # Persian and emoji need them, and they do not change the order of text.


def _hidden(c: str) -> bool:
    """Whether a character is a control, a change of writing direction, half a surrogate pair or the like."""
    return not (c.isprintable() or c in "\n\t" or c in _JOINERS or category(c) == "Zs")


def _number(c: str) -> str:
    return f"U+{ord(c):04X}"


def visible(value: Any) -> Any:
    """Text with hidden characters replaced by their numbers; other values unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(f"[{_number(c)}]" if _hidden(c) else c for c in value)


def pieces(text: str, limit: int) -> Iterator[tuple[bool, str]]:
    """The first characters as pieces of plain text (False) and numbers of hidden characters (True)."""
    for hidden, group in groupby(text[:limit], _hidden):
        if hidden:
            yield from ((True, _number(c)) for c in group)
        else:
            yield False, "".join(group)


def make_environment(*folders: Path) -> Environment:
    """An environment with the templates of these folders."""
    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["pieces"] = pieces
    return made


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of reports."""
    made = make_environment(TEMPLATES)
    for kind, file in (("style", "page.css"), ("script", "page.js")):
        text = (TEMPLATES / file).read_text("utf-8")
        digest = base64.b64encode(sha256(text.encode()).digest()).decode("ascii")
        made.globals[kind] = Markup(text)
        made.globals[f"{kind}_hash"] = f"sha256-{digest}"
    return made


def render_page(template: str, **context: Any) -> str:
    """A whole page. Its policy lets no script and style run but our own, whatever a model has said."""
    return environment().get_template(template).render(**context)


@dataclass(frozen=True, slots=True)
class Turn:
    """One move of one seat."""

    move: Move
    pictures: tuple[Picture, ...]
    """What there was to see, at the size asked for; empty for steps that are not wanted."""
    blind: bool
    """Whether the seat was shown blank pictures instead."""
    exchanges: tuple[tuple[list[Message], Try], ...]
    """Each prompt with the reply to it; without prompts for bots."""


def transcript(episode: Episode, *, size: int, steps: Container[int] | None = None) -> Iterator[Turn]:
    """Every move in order.

    Args:
        episode: What was played.
        size: Of the pictures.
        steps: Where pictures are wanted; everywhere when None.
    """
    for _, replies in groupby(samples(episode, size=size), key=lambda sample: id(sample.move)):
        found = list(replies)
        first = found[0]
        move, wanted = first.move, steps is None or first.move.step in steps
        pictures = first.ask.observation.images if wanted else ()
        exchanges = [(one.messages if one.model else [], one.attempt) for one in found]
        yield Turn(move, pictures, first.options.blind, tuple(exchanges) if move.tries else ())


MAX_STEPS = 8
"""Steps of one episode that are shown with picture and prompt."""
PROMPT, EARLIER = 6_000, 400
"""Characters shown of a prompt, and of an earlier message in it."""


@dataclass(frozen=True)
class Pick:
    """An episode to show, and why."""

    row: Row
    cell: Cell
    place: Place
    tags: tuple[str, ...]
    value: float | None
    """Of the task's first metric."""

    @property
    def value_text(self) -> str:
        """The metric with its unit; empty if the episode has no value."""
        metric = self.cell.task.metrics[0]
        scale, unit = (100, "%") if metric.percent else (1, "")
        return "" if self.value is None else f"{metric.name} {scale * self.value:.4g}{unit}"


def pick_episodes(found: SuiteResults, most: int) -> list[Pick]:
    """At most so many episodes of every entrant and task, the most interesting of each first."""
    groups = [_ranked(row, cell, most) for row in found.rows for cell in row.cells.values()]
    return [pick for rank in zip_longest(*groups) for pick in rank if pick is not None]


def _ranked(row: Row, cell: Cell, most: int) -> list[Pick]:
    """The best, the worst, those with most fallbacks, then the others."""
    metric = cell.task.metrics[0]
    values = cell.paired_values(metric)
    tags: dict[Place, list[str]] = {}
    if len(set(values.values())) > 1:
        sign = 1 if metric.higher_is_better else -1
        ranked = sorted(values, key=lambda place: sign * values[place])
        tags.setdefault(ranked[-1], []).append("best")
        tags.setdefault(ranked[0], []).append("worst")
    fallbacks = cell.episodes.fallbacks()
    for place in sorted(fallbacks, key=lambda p: -fallbacks[p])[:2]:
        tags.setdefault(place, []).append("fallbacks")
    for place in islice(cell.episodes, most):
        tags.setdefault(place, [])
    return [Pick(row, cell, place, tuple(tags[place]), values.get(place)) for place in islice(tags, most)]


def steps_to_show(episode: Episode, seats: Sequence[str], most: int = MAX_STEPS) -> set[int]:
    """Steps with rejected replies, then others evenly spaced."""
    own = list(dict.fromkeys(move.step for move in episode.moves if move.seat in seats))
    wrong = {move.step for move in episode.moves if move.seat in seats and move.verdict != "ok"}
    chosen = set(evenly([step for step in own if step in wrong], most - 2))
    return chosen | set(evenly([step for step in own if step not in chosen], most - len(chosen)))


@dataclass
class SizeLimit:
    """How many more characters of pictures and prompts a page may contain."""

    left: int

    def take(self, size: int) -> bool:
        """Whether something is still shown, and if so count its size."""
        shown = self.left > 0
        self.left -= size if shown else 0
        return shown


@dataclass(frozen=True)
class ShownMessage:
    """A message of a prompt, and how many characters of it are shown."""

    role: str
    text: str
    limit: int


@dataclass(frozen=True)
class Exchange:
    """A prompt and the reply to it."""

    prompt: Sequence[ShownMessage] | None
    """Messages that the last exchange did not show; None if left out for the size of the page."""
    reply: Try


@dataclass(frozen=True)
class ShownTurn:
    """One move with what the seat was shown."""

    move: Move
    pictures: Sequence[str] | None
    """As data URIs; None if left out for the size of the page."""
    blind: bool
    exchanges: Sequence[Exchange]


@dataclass(frozen=True)
class ShownEpisode:
    """An episode for the template."""

    episode: Episode
    verified: bool = False
    error: str = ""
    """Why it could not be verified or replayed."""
    turns: Sequence[ShownTurn] = ()
    final_picture: str = ""


def show_episode(episode: Episode, *, size: int, steps: set[int] | None, limit: SizeLimit) -> ShownEpisode:
    """Replay an episode and collect what is shown of it.

    Args:
        episode: The episode.
        size: Of the pictures.
        steps: The steps to show in full; all when None.
        limit: Pictures and prompts are left out once it is used up.
    """
    error = ""
    try:
        verify(episode)
    except UsageError as mismatch:
        error = str(mismatch)
    try:
        system_prompts: dict[str, str] = {}
        turns = [
            _show_turn(turn, limit, system_prompts)
            for turn in transcript(episode, size=size, steps=steps)
            if steps is None or turn.move.step in steps
        ]
        picture = data_uri(last_picture(episode, size)) if limit.left > 0 else ""
        limit.take(len(picture))
    except UsageError as failure:
        return ShownEpisode(episode, False, error or str(failure))
    return ShownEpisode(episode, not error, error, turns, picture)


def _show_turn(turn: Turn, limit: SizeLimit, system_prompts: dict[str, str]) -> ShownTurn:
    pictures: list[str] | None = None
    if limit.left > 0 or not turn.pictures:
        pictures = [data_uri(picture) for picture in turn.pictures]
        limit.take(sum(map(len, pictures)))
    exchanges = []
    shown = 0
    for messages, reply in turn.exchanges:
        prompt = _show_prompt(turn, messages[shown:], system_prompts)
        shown = len(messages) + 1  # the next prompt repeats this one and the reply
        fits = limit.take(sum(min(len(message.text), message.limit) for message in prompt))
        limit.take(len(reply.text))
        exchanges.append(Exchange(prompt if fits else None, reply))
    return ShownTurn(turn.move, pictures, turn.blind, exchanges)


def _show_prompt(
    turn: Turn, messages: Sequence[Message], system_prompts: dict[str, str]
) -> list[ShownMessage]:
    placeholder = "[blank picture]" if turn.blind else "[picture]"
    shown = []
    for number, message in enumerate(messages, 1):
        text = "\n".join(part if isinstance(part, str) else placeholder for part in message.parts)
        whole = message.role == "system" or number == len(messages)
        if message.role == "system":
            repeated = system_prompts.get(turn.move.seat) == text
            system_prompts[turn.move.seat] = text
            text = "(as before)" if repeated else text
        shown.append(ShownMessage(message.role, text, PROMPT if whole else EARLIER))
    return shown


def data_uri(picture: Picture) -> str:
    """A picture as a small palette PNG in a data URI."""
    from PIL import Image

    from ludens.draw import Picture as Drawn

    drawn = picture if isinstance(picture, Drawn) else Drawn.from_bytes(picture.png())
    image = drawn.image()
    if image.mode != "P":
        image = image.quantize(128, method=Image.Quantize.MEDIANCUT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode("ascii")


REPORT_SIZE = 4_000_000
"""About how many characters of pictures and prompts a report contains at most."""
EPISODE_SIZE = 30_000_000
PICTURE_SIZE = 256
OPENING_SIZE = 320


def page(results: Results, metrics: Sequence[str] = (), episodes: int = 4) -> str:
    """The whole report."""
    limit = SizeLimit(REPORT_SIZE)
    suites = [_suite(found, metrics, episodes, limit) for found in results.suites]
    title = "Ludens report: " + ", ".join(found.suite.name for found in results.suites)
    runs = [(folder, plan, verification_text(folder)) for folder, plan in results.plans.items()]
    picture = _opening_picture(results)
    return render_page("report.html", title=title, runs=runs, picture=picture, suites=suites)


def episode_page(episode: Episode, key: str, size: int) -> str:
    """One episode with every picture, prompt and reply."""
    shown = show_episode(episode, size=size, steps=None, limit=SizeLimit(EPISODE_SIZE))
    return render_page("episode.html", title=key, shown=shown)


def _opening_picture(results: Results) -> dict[str, str] | None:
    """The final position of the first episode that can be replayed with a picture, and its caption."""
    for found in results.suites:
        for row in found.rows:
            for name, cell in row.cells.items():
                place = next(iter(cell.episodes), None)
                if place is None:
                    continue
                episode = cell.read(place).episode
                try:
                    picture = data_uri(last_picture(episode, OPENING_SIZE))
                except UsageError:
                    continue
                return {"src": picture, "caption": f"{name}: {row.label}, seed {episode.seed}, at the end"}
    return None


def _suite(found: SuiteResults, metrics: Sequence[str], episodes: int, limit: SizeLimit) -> dict[str, Any]:
    order = {
        (row.name, name): (i, n) for n, row in enumerate(found.rows) for i, name in enumerate(found.tasks)
    }
    cards = [_card(pick, limit) for pick in pick_episodes(found, episodes)]
    cards.sort(key=lambda card: order[card["pick"].row.name, card["pick"].cell.task.name])
    return {**sections(found, metrics), "cards": cards}


def sections(found: SuiteResults, metrics: Sequence[str] = ()) -> dict[str, Any]:
    """The tables and charts of one suite."""
    radar = charts.radar_chart(found)
    return {
        "results": found,
        "evidence": evidence(found),
        "scores": split(tables.scores(found, metrics)),
        "summaries": [
            table
            for table in (
                tables.task_scores(found),
                tables.metric_summaries(found),
                standard_deviations(found),
            )
            if table is not None
        ],
        "further": tables.further(found, metrics),
        "bars": list(charts.bar_charts(found, metrics)),
        "radars": [*([radar] if radar else []), *charts.behaviour_charts(found), *curve_charts(found)],
        "confusion": list(charts.confusion_charts(found)),
        "pairs": tables.pairs(found),
        "replies": tables.replies(found),
        "judged": judged_table(found),
    }


def _card(pick: Pick, limit: SizeLimit) -> dict[str, Any]:
    played = pick.cell.read(pick.place)
    shown = show_episode(
        played.episode,
        size=PICTURE_SIZE,
        steps=steps_to_show(played.episode, played.seats),
        limit=limit,
    )
    return {"pick": pick, "seats": played.seats, "shown": shown}
