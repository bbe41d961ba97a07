"""mkdocs hooks: generate one page per game and the list of conformance rules."""

from __future__ import annotations

import inspect
import re
from typing import Any

from mkdocs.structure.files import File, Files

import ludens
from ludens.core.errors import MissingExtra
from ludens.core.options import options_of
from ludens.core.view import RenderOptions
from ludens.draw import THEMES

MOVES = 6


def on_files(files: Files, config: Any) -> Files:
    """Add the page and pictures of every game."""
    listed = []
    for name in ludens.GAMES.names():
        try:
            page, pictures = _page(name)
        except MissingExtra as missing:
            page, pictures = f"# {name}\n\n{missing}\n", {}
        stem = name.replace("/", "-")
        files.append(File.generated(config, f"games/{stem}.md", content=page))
        for file, data in pictures.items():
            files.append(File.generated(config, f"games/{file}", content=data))
        summary = ludens.GAMES.get(name).__doc__.strip().splitlines()[0]
        listed.append(f"| [{name}]({stem}.md) | {summary} |")
    index = "# Games\n\n| game | |\n| --- | --- |\n" + "\n".join(listed) + "\n"
    files.append(File.generated(config, "games/index.md", content=index))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Link table rows about games to their pages, and insert the conformance rules."""
    for name in ludens.GAMES.names():
        page = f"games/{name.replace('/', '-')}.md"
        markdown = markdown.replace(f"\n| `{name}` |", f"\n| [{name}]({page}) |")
    if "<!-- rules -->" not in markdown:
        return markdown
    from ludens.testing import RULES

    lines = [f"- {(inspect.getdoc(rule) or '').splitlines()[0]}" for rule in RULES]
    return markdown.replace("<!-- rules -->", "\n".join(lines))


def _page(name: str) -> tuple[str, dict[str, bytes]]:
    game = ludens.make(name)
    text = inspect.getdoc(type(game)) or ""
    summary, _, body = text.partition("\n")
    stem = name.replace("/", "-")
    pictures: dict[str, bytes] = {}
    shown = []
    for theme in THEMES:
        for seat in _distinct_seats(game):
            file = f"{stem}-{theme}-{seat}.png"
            pictures[file] = _picture(game, theme, seat)
            shown.append(f"![{name} as {seat} sees it, theme {theme}]({file}){{ width=240 }}")
    options = options_of(type(game))
    rows = [f"| `{o.name}` | `{o.default!r}` | {o.metadata['help']} |" for o in options.values()]
    table = ["## Options", "", "| option | default | |", "| --- | --- | --- |", *rows] if rows else []
    view = game.view(RenderOptions())
    rules = [f"### {seat}\n\n> " + _lists(view.rules(seat)).replace("\n", "\n> ") for seat in game.seats]
    bots = [f"- `bot/{bot}`" for bot in game.bots]
    parts = [
        f"# {name}",
        summary,
        "\n".join(shown),
        _paragraphs(body),
        f"Version {game.version}. Show it: `ludens show {name} --moves {MOVES} --out board.png`. "
        f"Play it: `ludens play {name}`.",
        "\n".join(table),
        "## Bots\n\n" + "\n".join(bots) if bots else "",
        "## Rules shown to players",
        *rules,
    ]
    return "\n\n".join(filter(None, parts)) + "\n", pictures


def _lists(text: str) -> str:
    """Add the empty lines around lists that Markdown needs."""
    lines = text.splitlines()
    result: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if before and line and bool(_ITEM.match(before)) != bool(_ITEM.match(line)):
            result.append("")
        result.append(line)
    return "\n".join(result)


_ITEM = re.compile(r"- |\d+\. ")


def _paragraphs(body: str) -> str:
    """Turn labelled lines of a docstring (`Seats: ...`) into a list."""
    items: list[str] = []
    for line in body.strip().splitlines():
        head, colon, _ = line.partition(":")
        if colon and head.istitle() and " " not in head:
            items.append(f"- **{head}**{line[len(head) :]}")
        elif line.strip():
            items.append(("  " if items else "") + line.strip())
    return "\n".join(items)


def _distinct_seats(game: ludens.Game) -> tuple[str, ...]:
    state, view = _played(game), game.view(RenderOptions())
    seen: dict[str, str] = {}
    for seat in game.seats:
        seen.setdefault(view.image(state, seat).hash, seat)
    return tuple(seen.values())[:2]


def _picture(game: ludens.Game, theme: str, seat: str) -> bytes:
    return game.view(RenderOptions(theme), 7).image(_played(game), seat).png()


def _played(game: ludens.Game) -> ludens.State:
    state, choose = game.start(7), ludens.stream(7, "docs")
    for _ in range(MOVES):
        legal = {seat: state.legal(seat) for seat in state.to_act}
        if not legal or any(each.is_text for each in legal.values()):
            break
        state.apply({seat: each.sample(choose) for seat, each in legal.items()})
    return state
