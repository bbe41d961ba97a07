"""`ludens check`: installed packages, missing ones, and how to install them."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

from ludens import __version__
from ludens.cli.arguments import Json
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import json_out, table
from ludens.core.processes import cores

CORE = (
    "aiohttp", "cyclopts", "Jinja2", "numpy", "open_spiel", "orjson", "Pillow", "rich", "scipy",
    "threadpoolctl",
)  # fmt: skip
"""Required packages; a test compares this and `EXTRAS` with pyproject.toml."""

EXTRAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fast": ("PNG encoding two to three times as fast, faster moves of nano", ("isal", "onnxruntime")),
    "data": ("results, datasets and picture sets as Parquet", ("pyarrow",)),
    "atari": ("Pong (GPL)", ("ale-py",)),
    "anthropic": ("Anthropic's own API format", ("anthropic",)),
    "google": ("Google's own API format", ("google-genai",)),
    "train": (
        "local models (hf/...)",
        ("accelerate", "datasets", "peft", "torch", "torchvision", "transformers", "trl"),
    ),
    "scenes": ("rendered scenes", ("mitsuba",)),
    "charts": ("charts", ("matplotlib",)),
    "photos": ("edited photographs", ("opencv-python-headless",)),
    "robots": ("kitchens of robots through cameras", ("gymnasium-robotics", "mujoco", "robosuite-models")),
    "ray": ("clusters", ("ray",)),
    "paper": ("papers of runs as PDF", ("typst",)),
    "sign": ("signatures of packs", ("cryptography",)),
    "verifiers": ("environments of verifiers and prime-rl", ("verifiers",)),
    "track": ("trackers of experiments", ("tensorboard", "trackio", "wandb")),
    "inspect": ("tasks, models and logs of Inspect", ("inspect-ai", "openai")),
    "gym": ("Gymnasium and PettingZoo environments", ("gymnasium", "pettingzoo")),
    "mcp": ("games for coding agents (ludens mcp)", ("mcp",)),
    "openenv": ("suites as OpenEnv environments; not beside mcp", ("openenv",)),
}
"""Name to purpose and packages."""


def check(*, json: Json = False) -> int:
    """Show installed packages and how to install missing ones."""
    info = report()
    if json:
        json_out(info)
    else:
        _print(info)
    return FAILED if any(version is None for version in info["core"].values()) else DONE


def report() -> dict[str, Any]:
    extras = {
        name: {"for": purpose, "packages": {package: _version(package) for package in packages}}
        for name, (purpose, packages) in EXTRAS.items()
    }
    for name, extra in extras.items():
        absent_packages = [package for package, version in extra["packages"].items() if version is None]  # type: ignore[attr-defined]
        extra["install"] = f"pip install 'ludens[{name}]'" if absent_packages else ""
    return {
        "ludens": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": cores(),
        "core": {package: _version(package) for package in CORE},
        "extras": extras,
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _print(info: dict[str, Any]) -> None:
    print(f"Ludens {info['ludens']}, Python {info['python']}, {info['platform']}, {info['cores']} cores")
    core = [(package, version or "missing: pip install ludens") for package, version in info["core"].items()]
    table("\nRequired", ("package", "version"), core)
    rows = []
    for name, extra in info["extras"].items():
        packages = ", ".join(f"{package} {version or '-'}" for package, version in extra["packages"].items())
        rows.append((name, extra["for"], packages, extra["install"] or "installed"))
    table("Extras", ("extra", "for", "packages", "install with"), rows, spare=("packages", "for"))
