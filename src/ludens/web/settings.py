"""What `ludens web` was told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ludens.run.budget import Budget
from ludens.suites.people.file import StudyFile
from ludens.web.security import Access


@dataclass(frozen=True)
class Settings:
    """What `ludens web` was told."""

    runs: Path = Path("runs")
    """The folder whose runs are shown."""
    access: Access = field(default_factory=Access)
    study: StudyFile | None = None
    """The study to conduct."""
    budget: Budget = field(default_factory=Budget)
    """What models may cost."""
