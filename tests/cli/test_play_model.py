"""`ludens play` with a model and a person: a real server and a real process."""

from __future__ import annotations

import asyncio
import os
import sys

from tests.support.model_server import ModelServer


async def test_a_person_and_a_model_play_a_maze() -> None:
    async with ModelServer(player=lambda prompt, digest: "Which colour is the torus?") as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-X", "dev", "-m", "ludens", "play", "comma/maze", "--seed", "3",
            "--seat", "solver=human", "--seat", f"expert=compat/some@{server.url}",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONWARNINGS": "error"},
        )  # fmt: skip
        typed = b"Where do I go?\nmove_left\\\ncheck_position\ncheck_position\ncheck_position\n"
        out, err = (said.decode() for said in await process.communicate(typed))
    assert process.returncode == 0, err
    assert "   2. expert Which colour is the torus?" in out
    assert "Finished after 7 steps" in out
    assert "Warning" not in err, "the connection was not closed"
    seen = "The torus is yellow"
    assert seen in err
    [first, *_] = server.requests
    told = str(first["messages"])
    assert "Where do I go?" in told
    assert seen not in told
