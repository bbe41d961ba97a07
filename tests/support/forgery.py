"""Packs as a forger would change them: any line is edited, and the hash chain computed again."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

Line = dict[str, Any]


class Forgery:
    """The lines of a pack without their links; `write` makes a new chain."""

    def __init__(self, file: Path) -> None:
        self.lines: list[Line] = [orjson.loads(line) for line in file.read_bytes().splitlines()]

    @property
    def head(self) -> Line:
        return self.lines[0]

    @property
    def plan(self) -> Line:
        plan: Line = self.head["plan"]
        return plan

    @property
    def episodes(self) -> list[Line]:
        return [line for line in self.lines if "record" in line]

    @property
    def results(self) -> list[Line]:
        [seal] = [line for line in self.lines if "results" in line]
        results: list[Line] = seal["results"]
        return results

    def record(self, key: str) -> Line:
        """The record of an episode that is not void."""
        record: Line = self.lines[self.place(key)]["record"]
        return record

    def place(self, key: str) -> int:
        [place] = [
            number
            for number, line in enumerate(self.lines)
            if "record" in line and line["record"]["key"] == key and not line["record"]["void"]
        ]
        return place

    def write(self, file: Path, sign: Callable[[bytes], bytes] | None = None) -> Path:
        domain = b"ludens pack 1\n"
        chain, out = sha256(domain).digest(), []
        self.head["episodes"] = len(self.episodes)
        for line in self.lines:
            if "signature" in line:
                continue
            rest = orjson.dumps({name: value for name, value in line.items() if name != "chain"})[1:]
            chain = sha256(chain + rest).digest()
            out.append(b'{"chain":"%s",%s\n' % (chain.hex().encode(), rest))
        if sign is not None:
            out.append(b'{"signature":"%s"}\n' % sign(domain + chain).hex().encode())
        file.write_bytes(b"".join(out))
        return file
