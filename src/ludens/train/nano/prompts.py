"""The prompts of small models."""

from __future__ import annotations

from ludens.core.ask import Ask


def short_prompt(game: str, ask: Ask) -> str:
    """What a small model is told: game, role or seat, stage and the notes in short. Rules are learnt."""
    parts = [part for part in (game, ask.role or ask.seat, ask.stage) if part]
    return f"{' '.join(parts)}\n{ask.observation.brief}\n"
