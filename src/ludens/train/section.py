"""Sections of a recipe: dataclasses of options, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ludens.core.options import check_options


@dataclass(frozen=True)
class Section:
    """The options of one section; subclasses name it: `class RunOptions(Section, name="run")`."""

    title: ClassVar[str]
    """What messages call it."""

    def __init_subclass__(cls, name: str) -> None:
        cls.title = f"the recipe's section [{name}]"

    def __post_init__(self) -> None:
        check_options(self, self.title)
