"""An Expert of COMMA that needs nobody to tell it anything, for tests with people as Solvers."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@dataclass
class ScriptedExpert(Agent):
    """Knows the panel of `comma/wire`, and tells which wire to cut, with markup that must not run."""

    kind = "bot/scripted"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        panel = ask.state.puzzle  # type: ignore[attr-defined]
        right = panel.manual.right(panel.wires, panel.serial)
        return Reply(action=f"Cut wire {right}, please. {MARKUP}")
