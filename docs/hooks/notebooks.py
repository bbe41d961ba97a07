"""mkdocs hook: the notebooks of `examples/` as pages, with their stored outputs."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

EXAMPLES = Path(__file__).parents[2] / "examples"
PICTURES = {"image/png": "png", "image/gif": "gif"}
MOST = 40
"""Lines of an output that are shown."""


def on_files(files: Files, config: Any) -> Files:
    for notebook in sorted(EXAMPLES.glob("*.ipynb")):
        page, pictures = page_of(notebook)
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page))
        for name, data in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=data))
    return files


def page_of(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and its pictures by file name."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_linked(source))
            continue
        parts.append(f"```{_language(source)}\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if kind := next((kind for kind in PICTURES if kind in data), None):
                name = f"{notebook.stem}-{len(pictures)}.{PICTURES[kind]}"
                pictures[name] = b64decode("".join(data[kind]))
                parts.append(f"![Output of the cell above]({name})")
            elif text := "".join(output.get("text", data.get("text/plain", ""))).rstrip():
                parts.append(f"```text\n{_shortened(text)}\n```")
    where = f"This page is the notebook `examples/{notebook.name}` of the repository."
    return "\n\n".join([parts[0], where, *parts[1:]]) + "\n", pictures


def _language(source: str) -> str:
    if source.startswith("%%writefile"):
        return "toml"
    return "sh" if source.startswith("!") else "python"


def _shortened(text: str) -> str:
    """The first and last lines of a long text."""
    lines = text.splitlines()
    if len(lines) <= MOST:
        return text
    return "\n".join([*lines[: MOST // 2], "...", *lines[-MOST // 2 :]])


def _linked(source: str) -> str:
    """Links of a notebook as the site needs them."""
    return re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.md)", source.replace("](../docs/", "](../"))
