"""Options and checks of the whole test suite.

- Tests marked `slow` run with `--slow` only; tests marked `torchvision` or `cuda` are deselected without it.
- A skip for a reason not in `ALLOWED_SKIPS` is named at the end. With LUDENS_NO_SKIPS=1, as in CI, it fails.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile("ludens", deadline=None, derandomize=True)
settings.load_profile("ludens")

SLOW = "slow: runs with --slow"
ALLOWED_SKIPS = {
    SLOW: "runs with `make slow`",
    "needs the extra robots": "a slow test; `make slow` installs the extra",
    "needs the extra docs": "a slow test; `make slow` installs the extra",
    "LUDENS_OVERCOOKED_PYTHON": "Overcooked-AI needs numpy below 2 and thus an environment of its own",
    "Chromium is not installed": "`.ci/run` installs it where it can",
    "LaTeX is not installed": "`.ci/run` installs it where it can",
    "`make adapters`": "adapters of packages that need an environment of their own",
    "`make vllm`": "a vLLM server needs an environment of its own and minutes to start",
    "LUDENS_OTHERS": "compares Ludens with other clients, which need an environment of their own",
}
"""What the reason of an allowed skip contains, and why it is allowed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_configure(config: pytest.Config) -> None:
    """Give every process one thread: there is a test on every core. Workers and commands inherit that.

    Take Ctrl-C: a shell starts commands in the background with it ignored, and processes inherit that.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for marker, works in (("torchvision", _torchvision_works), ("cuda", _cuda_works)):
        deselected = [item for item in items if item.get_closest_marker(marker)]
        if deselected and not works():
            config.hook.pytest_deselected(items=deselected)
            items[:] = [item for item in items if item not in deselected]
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason=SLOW))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Imports make few cycles: a garbage collection among them finds nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave modules and tests out of garbage collections, which would take half a second each."""
    gc.collect()
    gc.freeze()


def _torchvision_works() -> bool:
    """Whether torchvision can be used, also beside a torch without CUDA; without torch it cannot."""
    try:
        from ludens.models.torchvision_ops import import_torchvision

        return import_torchvision()
    except (ImportError, RuntimeError):
        return False


def _cuda_works() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> object:
    """Name the skips for reasons that are not allowed; with LUDENS_NO_SKIPS=1 fail the session."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(session.config, "workerinput"):
        strict = os.environ.get("LUDENS_NO_SKIPS") == "1"
        says = "LUDENS_NO_SKIPS=1, but tests were skipped" if strict else "CI fails where tests are skipped"
        reasons = {str(report.longrepr[2]) for report in reporter.stats.get("skipped", ())}
        refused = sorted(r for r in reasons if not any(allowed in r for allowed in ALLOWED_SKIPS))
        if refused:
            if strict:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            reporter.write_line("")
            for reason in refused:
                reporter.write_line(f"{says}: {reason}", red=strict, yellow=not strict)
    return (yield)
