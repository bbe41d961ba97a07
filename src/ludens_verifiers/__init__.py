"""The plug-in of Ludens for verifiers, which finds plug-ins by the name of a top-level package."""

from ludens.adapters.verifiers import LudensEnv, LudensHarness, LudensTask, LudensTaskset

__all__ = ["LudensEnv", "LudensHarness", "LudensTask", "LudensTaskset"]
