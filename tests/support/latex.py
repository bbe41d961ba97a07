"""Compiles what reports write as LaTeX."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def compiled(tables: str, folder: Path) -> None:
    """Compile tables in a document; warnings about wide boxes do not matter, errors do."""
    if which("pdflatex") is None:
        pytest.skip("LaTeX is not installed: apt-get install texlive-latex-recommended")
    (folder / "tables.tex").write_text(DOCUMENT % tables, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tables.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2_000:]
