"""Gives a running vLLM server new weights: LoRA adapters, or all weights in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import UsageError
from ludens.models.errors import Secret, TransientError, error_message
from ludens.models.transport import Transport, check_address

AGAIN = "repeat the command: the run goes on from its last checkpoint"


class VllmServer:
    """The endpoints of a server that change what it serves.

    An adapter gets a new name with every push. Loaded in place under its old name it would meet prefixes in
    the cache that older weights computed, and be read from disk at every step.

    Args:
        url: Its address, with or without `/v1`.
        timeout: Seconds until a request fails.
        secret: Its API key, where it has one.
    """

    def __init__(self, url: str, timeout: float, secret: Secret) -> None:
        self.root = check_address(url).removesuffix("/v1")
        self._timeout, self._secret = timeout, secret

    async def base_model(self) -> str:
        """The name of the model that was loaded at the start."""
        status, data = await self._request("/v1/models")
        try:
            models = [model["id"] for model in orjson.loads(data)["data"] if not model.get("parent")]
        except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
            models = []
        if status != 200 or not models or not isinstance(models[0], str):
            raise UsageError(f"{self.root} does not list its models (HTTP {status}): it is no vLLM server.")
        return models[0]

    async def load_adapter(self, name: str, folder: Path, rank: int) -> None:
        """Serve an adapter under a name that was not used before."""
        hint = (
            f"it needs VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, --enable-lora, --max-lora-rank {rank} or more, "
            f"and access to {folder}"
        )
        await self._push("/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(folder)}, hint)

    async def unload_adapter(self, name: str) -> None:
        """Forget an adapter."""
        await self._push("/v1/unload_lora_adapter", {"lora_name": name}, "restart the server")

    async def reload(self, folder: Path, vision: bool) -> None:
        """Replace all weights.

        Args:
            folder: With safetensors files.
            vision: Whether those that look at pictures changed too: then cached features are dropped.
        """
        hint = (
            "it needs VLLM_SERVER_DEV_MODE=1, a version whose reload_weights takes weights_path, "
            f"and access to {folder}"
        )
        call = {"method": "reload_weights", "kwargs": {"weights_path": str(folder)}}
        await self._push("/collective_rpc", call, hint)
        if vision:
            await self._push("/reset_encoder_cache", {}, hint)

    async def _push(self, path: str, body: dict[str, Any], hint: str) -> None:
        status, data = await self._request(path, body)
        if status != 200:
            reason = self._secret.redact(error_message(data))
            raise UsageError(
                f"the vLLM server at {self.root} did not take the new weights "
                f"({path}, HTTP {status}: {reason}): {hint}; then {AGAIN}."
            )

    async def _request(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        key = self._secret.value
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = Transport(self.root + path, headers, self._timeout, self._secret)
        try:
            status, _, data = await (transport.get() if body is None else transport.post(orjson.dumps(body)))
        except TransientError as error:
            raise UsageError(f"the vLLM server does not answer ({error}): start it and {AGAIN}.") from None
        finally:
            await transport.close()
        return status, data
