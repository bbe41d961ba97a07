"""`ludens demo`: bots play a little of everything; a table, the episodes and pictures stay behind."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.given import Whole
from ludens.cli.out import aside, table
from ludens.core.errors import BadFile

if TYPE_CHECKING:
    from ludens.demo import Result


def demo(
    *,
    out: Annotated[Path, Parameter(help="Folder for episodes and pictures.")] = Path("demo-output"),
    seed: Annotated[Whole, Parameter(help="The first game's seed; the next ones count up.")] = 0,
) -> None:
    """Let bots play a little of everything, with no key; leave a table, the episodes and pictures."""
    from ludens.demo import picture_files, play_all

    started = perf_counter()
    try:
        out.mkdir(parents=True, exist_ok=True)
        results = []
        for result in play_all(seed):
            aside(f"{len(result.episodes)} games of {result.match.game}: {', '.join(result.match.players)}")
            results.append(result)
        lines = [episode.to_json() + b"\n" for result in results for episode in result.episodes]
        (out / "episodes.jsonl").write_bytes(b"".join(lines))
        first = {result.match.game: result.episodes[0] for result in reversed(results)}
        pictures = [file for game in sorted(first) for file in picture_files(first[game], out)]
    except OSError as error:
        raise BadFile(f"cannot write into {str(out)!r}: {(error.strerror or str(error)).lower()}.") from None
    played = sum(len(result.episodes) for result in results)
    table(f"{played} games in {perf_counter() - started:.0f} s", _COLUMNS, _rows(results), _NUMBERS)
    print(f"Every move is in {out / 'episodes.jsonl'}; look at the first game of each kind:")
    for file in pictures:
        print(f"  {file}")


_COLUMNS = ("game", "player", "games", "won", "mean return", "void")
_NUMBERS = ("games", "won", "mean return", "void")


def _rows(results: list[Result]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for result in results:
        alone = len(result.match.players) == 1 or not result.match.swap
        for index, player in enumerate(result.match.players):
            won = "" if alone else str(result.won(index))
            void = str(result.void)
            game = "" if index else result.match.game
            rows.append((game, player, str(len(result.episodes)), won, f"{result.mean(index):+.2f}", void))
    return rows
