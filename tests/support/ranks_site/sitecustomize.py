"""For the ranks of `torchrun`, on the path of tests alone: collectives come late, and weights are recorded.

`LUDENS_TEST_RANKS` names a folder. Every rank writes its process id there, and a digest of the weights after
each step of the optimiser. Before each collective it waits for a random time, up to `LUDENS_TEST_DELAY`
seconds, and ten times as long after it has joined the group. `LUDENS_TEST_HOLD` names a path: a rank stops
for good before the first step of the optimiser after it exists. `LUDENS_TEST_DISTURB` is a rank whose first
weight differs after each step.
"""

from __future__ import annotations

import os
import random
import time
from hashlib import blake2b
from pathlib import Path
from typing import Any

COLLECTIVES = "all_gather_object", "all_reduce", "barrier", "broadcast", "broadcast_object_list"


def _install(folder: Path, rank: int) -> None:
    import torch
    from torch import distributed

    delays = random.Random(f"{os.environ.get('LUDENS_TEST_SEED', 0)} {rank}")
    longest = float(os.environ.get("LUDENS_TEST_DELAY", "0"))
    hold, disturbed = os.environ.get("LUDENS_TEST_HOLD"), os.environ.get("LUDENS_TEST_DISTURB")
    (folder / f"pid-{rank}").write_text(str(os.getpid()))

    def delayed(call: Any) -> Any:
        def run(*arguments: Any, **named: Any) -> Any:
            time.sleep(delays.uniform(0, longest))
            return call(*arguments, **named)

        return run

    for name in COLLECTIVES:
        setattr(distributed, name, delayed(getattr(distributed, name)))

    join = distributed.init_process_group

    def joined(*arguments: Any, **named: Any) -> None:
        join(*arguments, **named)
        time.sleep(delays.uniform(0, 10 * longest))

    distributed.init_process_group = joined

    step = torch.optim.AdamW.step

    def recorded(self: Any, *arguments: Any, **named: Any) -> Any:
        while hold and Path(hold).exists():
            time.sleep(1)
        result = step(self, *arguments, **named)
        weights = [parameter for group in self.param_groups for parameter in group["params"]]
        if disturbed == str(rank):
            weights[0].data.view(-1)[0] += 1e-3
        values = [w.full_tensor() if hasattr(w, "full_tensor") else w for w in weights]
        digest = blake2b(b"".join(w.detach().cpu().numpy().tobytes() for w in values)).hexdigest()
        with (folder / f"weights-{rank}").open("a") as file:
            file.write(f"{digest}\n")
        return result

    torch.optim.AdamW.step = recorded  # type: ignore[method-assign]


if "LUDENS_TEST_RANKS" in os.environ and "RANK" in os.environ:
    _install(Path(os.environ["LUDENS_TEST_RANKS"]), int(os.environ["RANK"]))
