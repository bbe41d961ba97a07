"""The notebooks of examples/: small, in order, and executed again.

`jupyter execute --inplace examples/quick_start.ipynb` renews the outputs of one.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import ludens

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LARGEST = 200_000
by_name = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def python_of(notebook: Path) -> str:
    """The Python of a notebook, without commands of the shell and of IPython."""
    sources = ("".join(cell["source"]) for cell in code_cells(notebook))
    return "\n".join(source for source in sources if not source.startswith(("!", "%")))


def test_there_are_notebooks() -> None:
    assert [notebook.stem for notebook in NOTEBOOKS] == ["quick_start", "train_a_player"]


@by_name
def test_stored_outputs_are_small_and_complete(notebook: Path) -> None:
    assert notebook.stat().st_size < LARGEST
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output["output_type"] for cell in cells for output in cell["outputs"]}
    assert "error" not in kinds
    assert "display_data" in kinds, "a notebook shows pictures"
    assert not re.search(r"/(home|root|tmp|work|Users)/", json.dumps([cell["outputs"] for cell in cells]))


@by_name
def test_code_compiles_and_names_exist(notebook: Path) -> None:
    source = python_of(notebook)
    compile(source, notebook.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    used = set(re.findall(r"\bludens\.(\w+)", source))
    assert used
    assert used <= set(ludens.__all__)


@by_name
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    document = nbformat.read(notebook, as_version=4)
    nbclient.NotebookClient(document, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(
        output.get("text", "")
        for cell in document.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    assert {"quick_start": "nano (blind)", "train_a_player": "trained, blind"}[notebook.stem] in printed
