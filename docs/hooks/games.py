"""mkdocs hook: a page for every game, a gallery of all, and their place in the navigation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from mkdocs.structure.files import File, Files
from PIL import Image

import ludens
from ludens.core.errors import MissingExtra
from ludens.core.options import options_of
from ludens.core.view import RenderOptions
from ludens.draw import THEMES
from ludens.web.home import GROUPS, MORE, group_of

MOVES = 6
CARD = 256
"""Pixels of the pictures of the gallery."""
INDEX = "games/index.md"


def on_config(config: Any) -> Any:
    """Put the pages of games below the gallery, in the groups of the browser app."""
    pages = [{title: [{name: _file(name)} for name in names]} for title, _, names in _groups()]
    _replace(config.nav, INDEX, [INDEX, *pages])
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the page and pictures of every game, and the gallery."""
    cards = {}
    for name in ludens.GAMES.names():
        try:
            page, pictures = _page(name)
        except MissingExtra as missing:
            page, pictures = f"# {name}\n\n{missing}\n", {}
        files.append(File.generated(config, _file(name), content=page))
        for file, data in pictures.items():
            files.append(File.generated(config, f"games/{file}", content=data))
        if pictures:
            small = _small(next(iter(pictures.values())))
            files.append(File.generated(config, f"games/cards/{_stem(name)}.png", content=small))
        cards[name] = _card(name, bool(pictures))
    files.append(File.generated(config, INDEX, content=_gallery(cards)))
    return files


def _gallery(cards: dict[str, str]) -> str:
    parts = [
        "---\nhide:\n  - toc\n---\n\n# Games",
        f"{len(cards)} games. Every picture is what a player is shown after a few moves. "
        "`ludens play NAME` plays one in the terminal, `ludens web` all of them in the browser.",
    ]
    for title, about, names in _groups():
        listed = "\n\n".join(cards[name] for name in names)
        parts.append(
            f'## {title}\n\n{about}\n\n<div class="grid cards games" markdown>\n\n{listed}\n\n</div>'
        )
    return "\n\n".join(parts) + "\n"


def _card(name: str, drawn: bool) -> str:
    summary = (inspect.getdoc(ludens.GAMES.get(name)) or "").splitlines()[0]
    page, words = f"{_stem(name)}.md", f"[{name}]({_stem(name)}.md)\n\n    {summary}"
    if not drawn:
        return f"-   {words}"
    picture = f"![](cards/{_stem(name)}.png){{ loading=lazy width={CARD} height={CARD} }}"
    return f"-   [{picture}]({page}){{ tabindex=-1 aria-hidden=true }}\n\n    {words}"


def _small(png: bytes) -> bytes:
    """The picture in the size of the gallery, in few colours."""
    picture, data = Image.open(BytesIO(png)).convert("RGB"), BytesIO()
    picture.thumbnail((CARD, CARD), Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", (CARD, CARD), "white")
    sheet.paste(picture, ((CARD - picture.width) // 2, (CARD - picture.height) // 2))
    sheet.quantize(64).save(data, "PNG", optimize=True)
    return data.getvalue()


def _groups() -> Iterator[tuple[str, str, list[str]]]:
    """Title, description and games of every group that has games."""
    for title, about in (*((title, about) for title, about, _ in GROUPS), (MORE, "")):
        if names := [name for name in ludens.GAMES.names() if group_of(name) == title]:
            yield title, about, names


def _replace(nav: list[Any], page: str, pages: list[Any]) -> None:
    """Replace a page in the navigation by a section of pages."""
    for item in nav:
        for title, below in item.items() if isinstance(item, dict) else ():
            if below == page:
                item[title] = pages
            elif isinstance(below, list):
                _replace(below, page, pages)


def _stem(name: str) -> str:
    return name.replace("/", "-")


def _file(name: str) -> str:
    return f"games/{_stem(name)}.md"


def _page(name: str) -> tuple[str, dict[str, bytes]]:
    game = ludens.make(name)
    text = inspect.getdoc(type(game)) or ""
    summary, _, body = text.partition("\n")
    stem = _stem(name)
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
