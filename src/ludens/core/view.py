"""What a seat is shown: pictures, their text twin, rules, and the reply format."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from ludens.core.errors import BadOption
from ludens.core.forms import Choose, Form, Places, Sentence, readable
from ludens.core.game import Game
from ludens.core.random import Stream
from ludens.core.reply import ActionFormat, ReplyFormat
from ludens.core.state import State
from ludens.core.templates import TemplateOverrides, Templates, load_templates

Sees = Literal["offered", "image", "text", "both", "state", "nothing"]
"""What an agent looks at. `offered` is what the game offers the seat; `state` is for bots only; `nothing`
means that the legal actions suffice. Only what is looked at is rendered."""
UNSEEN: tuple[Sees, ...] = ("state", "nothing")
"""The values for agents that are shown nothing."""


class Picture(Protocol):
    """An image ready to be shown: see `ludens.draw`."""

    @property
    def hash(self) -> str:
        """Hash of the pixels, the same on every machine and with every encoder."""

    def matches(self, recorded: str) -> bool:
        """Whether this is the picture whose hash an episode recorded; earlier ways to hash pixels count."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    def png(self) -> bytes: ...

    def rgb(self) -> Any:
        """The pixels as an array of shape (height, width, 3)."""

    def encoded(self) -> tuple[bytes, str]:
        """An image file and its MIME type, as small as it can be had."""

    def data_uri(self) -> str: ...

    def blank(self) -> Picture:
        """A flat picture of the same size: the blind control."""


def pictures_match(pictures: Sequence[Picture], recorded: Sequence[str]) -> bool:
    """Whether these are the pictures whose hashes an episode recorded."""
    return len(pictures) == len(recorded) and all(
        picture.matches(hash) for picture, hash in zip(pictures, recorded, strict=True)
    )


@dataclass(frozen=True)
class RenderOptions:
    """Everything but the seed that determines pixels and rules texts."""

    theme: str = "classic"
    size: int = 512
    """Length of the longer side of a picture, in pixels; pictures from files are not enlarged."""
    templates: TemplateOverrides | None = None
    side: str = ""
    """The seat from whose side a person sees a board (`View.turns`). Episodes record the picture that is not
    turned: it shows the same."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one seat is shown at one moment. Holds no reference to the state."""

    images: tuple[Picture, ...] = ()
    text: str = ""
    """The text twin: what the pictures show, in words. Empty when only pictures are shown."""
    notes: str = ""
    """Text for every modality: conversation, feedback, private facts."""
    brief: str = ""
    """The notes in short, without instructions, for small models that learn a game by playing it."""
    main: int = -1
    """Which of the pictures is the position itself; others are earlier moments or further pages."""
    system: str | None = None
    """The system message of a dataset whose prompts are sent as they are: it, the pictures and the notes are
    the whole prompt."""


_NOTHING = Observation()


class View(ABC):
    """Shows the states of one game. Made once and used for many states: those of all seeds, but for the theme
    `random`. What the seed of an episode decides comes from the state, as in `notes`, never from the view."""

    templates_file: ClassVar[str] = ""
    """File of the game's texts, next to the module of the view. By default the file named like the module
    (`nim.md` next to `nim.py`), or else `templates.md`."""
    shared_templates: ClassVar[Path | None] = None
    """Templates shared by a family of games; those in a game's own file take precedence."""

    def __init__(self, game: Game, render: RenderOptions, seed: int = 0) -> None:
        self.game = game
        self.render = render
        if render.size < self.smallest:
            raise BadOption(
                f"pictures of {game.name} with these options need at least {self.smallest} pixels to be "
                f"read, not {render.size}."
            )
        self.templates: Templates = load_templates(
            self._templates_path(), game.name, render.templates, self.shared_templates
        )
        self._rules: dict[str, str] = {}

    def _templates_path(self) -> Path:
        module = Path(sys.modules[type(self).__module__].__file__ or ".")
        if self.templates_file:
            return module.parent / self.templates_file
        own = module.with_suffix(".md")
        return own if own.exists() else module.with_name("templates.md")

    @abstractmethod
    def image(self, state: Any, seat: str) -> Picture:
        """The picture shown to the seat."""

    def text(self, state: Any, seat: str) -> str:
        """The text twin: the same information as the pictures, no more. Games whose pictures cannot be put
        into words (photographs) do not override this; see `has_text`."""
        raise BadOption(f"{self.game.name} has no text twin: use --modality image.")

    @property
    def has_text(self) -> bool:
        """Whether the game has a text twin."""
        return type(self).text is not View.text

    @property
    def turns(self) -> bool:
        """Whether people see the board from their own side (`RenderOptions.side`)."""
        return False

    @property
    def smallest(self) -> int:
        """The least size at which everything in the pictures can be told apart; smaller ones are refused.

        It may depend on the options of the game only, and is asked for before the view is set up.
        """
        return 256

    @property
    def enlarges(self) -> bool:
        """Whether every picture has the requested size; those from files are kept where they are smaller."""
        return True

    def images(self, state: Any, seat: str) -> tuple[Picture, ...]:
        """All pictures shown to the seat; one unless a game shows several (recent frames, pages)."""
        return (self.image(state, seat),)

    def places(self, state: Any, seat: str) -> Places:
        """Where the seat's actions are on its main picture; empty where nothing can be clicked.

        Only legal actions of a seat that must act have places. Where the action is a text, the keys are texts
        that can be sent, as a whole or as lines of a message.
        """
        return {}

    def notes(self, state: Any, seat: str) -> str:
        """Text shown to the seat in every modality."""
        return ""

    def brief(self, state: Any, seat: str) -> str | None:
        """The notes without instructions, for small models; None where they are the notes themselves."""
        return None

    def system(self, state: Any, seat: str) -> str | None:
        """The system message that belongs to the notes where both come from a dataset and are sent as they
        are; None where prompts are ours."""
        return None

    def offers(self, seat: str) -> Literal["image", "text", "both"]:
        """What an agent with `sees = "offered"` is shown."""
        return "image"

    def modality(self, seat: str, sees: Sees) -> Sees:
        """What an agent that looks at `sees` is shown in this seat; never "offered"."""
        return self.offers(seat) if sees == "offered" else sees

    def format(self, state: Any, seat: str) -> ReplyFormat:
        """How the seat must reply now, and how the reply is read."""
        return ActionFormat()

    def form(self, state: Any, seat: str) -> Form:
        """How a person in this seat answers now: by default from a list or, where it is a text, in words."""
        legal, format, places = state.legal(seat), self.format(state, seat), self.places(state, seat)
        if legal.text_limit is not None:
            return Sentence(format, legal.text_limit, {name: self.label(name) for name in places}, places)
        return Choose(legal, {action: self.label(action) for action in legal}, places, format)

    def layout(self, seat: str) -> Literal["frames", "pages"]:
        """How several pictures are shown to a person: moments, the latest large, or pages to be read."""
        return "frames"

    def label(self, action: str) -> str:
        """The name of an action for people."""
        return readable(action)

    def rules_for_person(self, seat: str) -> str:
        """The rules text without what only models need to know: forms take its place."""
        return self.rules(seat)

    def notes_for_person(self, state: Any, seat: str) -> str:
        """The notes in the words of the form."""
        return self.notes(state, seat)

    def public_name(self, state: Any, seat: str) -> str:
        """The name by which all seats may know who acted: by default the seat, unless that would tell too
        much."""
        return seat

    def public_action(self, state: Any, seat: str, action: str) -> str:
        """What all seats may know of the seat's action, which led to this state.

        By default everything, or only that there was one in games of imperfect information: views of games
        in which actions are public nevertheless, or public in part, override this.
        """
        return action if not self.game.imperfect_information or len(self.game.seats) == 1 else "(moved)"

    def guess(self, state: Any, seat: str, random: Stream) -> str:
        """A random answer of a player that does not look; views that can name illegal ones override this."""
        action: str = state.legal(seat).sample(random)
        return action

    def values(self, seat: str) -> dict[str, object]:
        """Values for `$words` in templates, besides `$seat`: by default the options of the game."""
        return dict(self.game.options)

    def rules(self, seat: str) -> str:
        """The rules text for this seat."""
        if seat not in self._rules:
            self._rules[seat] = self.templates.fill("rules", seat=seat, **self.values(seat))
        return self._rules[seat]

    def reveal(self, state: Any) -> Sequence[tuple[str, Picture]]:
        """Pictures with captions that a replay shows besides what the seats saw, such as both of a pair."""
        return ()

    def observe(self, state: State, seat: str, sees: Sees) -> Observation:
        """What an agent that looks at `sees` is shown."""
        if sees in UNSEEN:
            return _NOTHING
        modality = self.modality(seat, sees)
        twin = modality == "text" or (modality == "both" and self.has_text)
        notes, brief = self.notes(state, seat), self.brief(state, seat)
        return Observation(
            images=self.images(state, seat) if modality in ("image", "both") else (),
            text=self.text(state, seat) if twin else "",
            notes=notes,
            brief=notes if brief is None else brief,
            main=0 if self.layout(seat) == "pages" else -1,
            system=self.system(state, seat),
        )


def view_of(game: Game, render: RenderOptions, seed: int) -> View:
    """The view of a game, cached: only the theme `random` depends on the seed."""
    return _view(game, render, seed if render.theme == "random" else 0)


@lru_cache(maxsize=128)
def _view(game: Game, render: RenderOptions, seed: int) -> View:
    return game.view(render, seed)
