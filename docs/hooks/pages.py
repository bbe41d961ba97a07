"""mkdocs hook: what pages contain that is not typed into them.

- `<!-- results -->`: what players reach that never look, from the reference scores in the package;
- `<!-- rules -->`: the rules that games are checked against;
- `--8<-- "FILE"`: a file of the repository, with links as the site needs them;
- notes below commands that need something, and links from tables to the pages of games.
"""

from __future__ import annotations

import inspect
import re
from math import isnan
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import Any

ROOT = Path(__file__).parents[2]
NEEDS = {
    "extra": "an extra of Ludens",
    "files": "files of your own",
    "gpu": "a GPU",
    "key": "an API key",
    "minutes": "minutes, or more",
    "network": "the network",
    "person": "a person",
    "program": "another program",
    "server": "a model server",
}
"""What the commands of a block can need, as in ```` ```sh needs=key,minutes ````, and how pages say it."""
FENCE = re.compile(
    r"^```(?P<language>\w+) needs=(?P<needs>[\w,]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
INCLUDE = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)
BENCHMARKS = (
    ("VS-Bench", "vs-bench", "vs-bench.md"),
    ("LVLM-Playground", "playground", "playground.md"),
    ("COMMA", "comma", "comma.md"),
    ("Vision-Zero", "vision-zero", "vision-zero.md"),
    ("VIKI", "viki", "viki.md"),
)
"""Title, suite and page; the suite in twin worlds is called NAME-sight."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)
    markdown = INCLUDE.sub(lambda match: _included(match[1]), markdown)
    markdown = FENCE.sub(_with_note, markdown)
    if "<!-- results -->" in markdown:
        markdown = markdown.replace("<!-- results -->", results())
    if "<!-- rules -->" in markdown:
        markdown = markdown.replace("<!-- rules -->", _rules())
    return _linked(markdown, up)


def results() -> str:
    """How far a player that never looks comes in each benchmark, as a table."""
    rows = [
        "| benchmark | tasks | as published | at most | in twin worlds |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for title, name, page in BENCHMARKS:
        published, twins = _shares(name), _shares(f"{name}-sight")
        task, most = max(published.items(), key=lambda item: item[1])
        rows.append(
            f"| [{title}]({page}) | {len(published)} | {_percent(fmean(published.values()))} "
            f"| {_percent(most)} in `{task}` | {_percent(fmean(twins.values()))} |"
        )
    return "\n".join(rows)


def _shares(name: str) -> dict[str, float]:
    from ludens.run.references import references_of
    from ludens.run.task import suite

    whole = suite(name)
    references = references_of(whole, whole.tasks)
    shares = {
        t.name: references[t.name].blind_share(t.metrics[0]) for t in whole.tasks if t.name in references
    }
    return {task: share for task, share in shares.items() if not isnan(share)}


def _percent(share: float) -> str:
    return f"{abs(round(100 * share)):d}%" if share > -0.005 else f"{round(100 * share):d}%"


def _rules() -> str:
    from ludens.testing import RULES

    return "\n".join(f"- {(inspect.getdoc(rule) or '').splitlines()[0]}" for rule in RULES)


def _included(name: str) -> str:
    """A file of the repository; its links to `docs/` are links to pages."""
    return re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8"))


def _with_note(match: re.Match[str]) -> str:
    words = [NEEDS[need] for need in match["needs"].split(",")]
    needed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return f'```{match["language"]}\n{match["body"]}```\n\n<p class="needs">Needs {needed}.</p>'


def _linked(markdown: str, up: str) -> str:
    """Link table rows about games to their pages."""
    import ludens

    for name in ludens.GAMES.names():
        link = f"{up}games/{name.replace('/', '-')}.md"
        markdown = markdown.replace(f"\n| `{name}` |", f"\n| [{name}]({link}) |")
    return markdown
