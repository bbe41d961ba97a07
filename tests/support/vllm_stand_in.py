"""A stand-in for a vLLM server: models and samples of transformers behind the endpoints that training uses.

    with VllmStandIn(folder) as server:
        ...                                 # server.url; requests and pushes are counted

    python -m tests.support.vllm_stand_in FOLDER            # until interrupted; prints its address

It answers in the format of vLLM (`vllm/entrypoints/openai/chat_completion/protocol.py`). Like vLLM it keeps
prefixes in a cache, by model, salt and prompt: a prompt that was seen before is answered with the weights of
that time. After a reload it gives no answer until its cache of features is reset: vLLM dies then when it is
shown a picture that it knows. Faults can be switched on at any time.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import io
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from ludens.models.torchvision_ops import import_torchvision

BASE = "base"


class VllmStandIn:
    """Serves the model in a folder.

    Args:
        folder: Weights, tokenizer and processor.
        faults: What is wrong with it: `raw` (log-probabilities without temperature), `no_ids` (a version that
            does not know return_token_ids), `no_lora` and `no_dev` (endpoints that are switched off), `deaf`
            (pushes are acknowledged and ignored), `template` (another chat template), `down` (hangs up).
    """

    def __init__(self, folder: Path, *faults: str) -> None:
        import_torchvision()
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.faults = set(faults)
        self.counts: Counter[str] = Counter()
        """Requests by path."""
        self.bodies: list[dict[str, Any]] = []
        """Of the requests for completions."""
        self._processor = AutoProcessor.from_pretrained(folder)
        self._models = {BASE: AutoModelForImageTextToText.from_pretrained(folder).eval()}
        self._prefixes: dict[tuple[Any, ...], Any] = {}
        self._features_lost = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    @property
    def adapters(self) -> list[str]:
        """The names of the loaded adapters."""
        return [name for name in self._models if name != BASE]

    async def _start(self) -> None:
        app = web.Application(client_max_size=2**26, middlewares=[self._met])
        app.router.add_get("/v1/models", self._list)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/load_lora_adapter", self._load)
        app.router.add_post("/v1/unload_lora_adapter", self._unload)
        app.router.add_post("/collective_rpc", self._reload)
        app.router.add_post("/reset_encoder_cache", self._reset)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @web.middleware
    async def _met(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.counts[request.path] += 1
        played = request.path.endswith("/completions") and "down during play" in self.faults
        if "down" in self.faults or played:
            assert request.transport is not None
            request.transport.abort()
        lora, dev = "lora" in request.path, not request.path.startswith("/v1/")
        if (lora and "no_lora" in self.faults) or (dev and "no_dev" in self.faults):
            return web.json_response({"detail": "Not Found"}, status=404)
        response: web.StreamResponse = await handler(request)
        return response

    async def _list(self, request: web.Request) -> web.Response:
        cards = [
            {"id": name, "object": "model", "owned_by": "vllm", "parent": None if name == BASE else BASE}
            for name in self._models
        ]
        return web.json_response({"object": "list", "data": cards})

    async def _load(self, request: web.Request) -> web.Response:
        from peft import PeftModel

        body = await request.json()
        name, path = body["lora_name"], Path(body["lora_path"])
        if name in self._models:
            return _refused(400, f"The lora adapter '{name}' has already been loaded.")
        if not (path / "adapter_config.json").is_file():
            return _refused(404, f"Loading lora {name} failed: No adapter found for {path}")
        base = copy.deepcopy(self._models[BASE])
        deaf = "deaf" in self.faults and self.adapters
        self._models[name] = (
            self._models[self.adapters[-1]] if deaf else PeftModel.from_pretrained(base, path).eval()
        )
        return web.Response(text=f"Success: LoRA adapter '{name}' added successfully.")

    async def _unload(self, request: web.Request) -> web.Response:
        name = (await request.json())["lora_name"]
        if name not in self.adapters:
            return _refused(404, f"The lora adapter '{name}' cannot be found.")
        del self._models[name]
        return web.Response(text=f"Success: LoRA adapter '{name}' removed successfully.")

    async def _reload(self, request: web.Request) -> web.Response:
        from transformers import AutoModelForImageTextToText

        body = await request.json()
        assert body["method"] == "reload_weights"
        if "deaf" not in self.faults:
            path = body["kwargs"]["weights_path"]
            self._models[BASE] = AutoModelForImageTextToText.from_pretrained(path).eval()
        self._features_lost = True
        return web.json_response({"results": [None]})

    async def _reset(self, request: web.Request) -> web.Response:
        self._features_lost = False
        return web.Response()

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        if body["model"] not in self._models:
            return _refused(404, f"The model `{body['model']}` does not exist.")
        if self._features_lost:
            return _refused(500, "EngineCore encountered an issue.")
        inputs = self._inputs(body["messages"])
        prompt = inputs["input_ids"][0].tolist()
        seen = body["model"], body.get("cache_salt"), tuple(prompt)
        model = self._prefixes.setdefault(seen, self._models[body["model"]])
        drawn, values = self._draw(model, inputs, body)
        ended = drawn[-1] in body["stop_token_ids"]
        tokenizer = self._processor.tokenizer
        known = "no_ids" not in self.faults
        content = [
            {"token": tokenizer.decode([token]), "logprob": value, "bytes": None, "top_logprobs": []}
            for token, value in zip(drawn, values, strict=True)
        ]
        return web.json_response(
            {
                "id": "chatcmpl-0",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": {
                            "role": "assistant",
                            "content": tokenizer.decode(drawn, skip_special_tokens=True),
                            "refusal": None,
                            "reasoning": None,
                        },
                        "logprobs": {"content": content},
                        "finish_reason": "stop" if ended else "length",
                        "stop_reason": None,
                        **({"token_ids": drawn} if known else {}),
                    }
                ],
                "usage": {
                    "prompt_tokens": len(prompt),
                    "total_tokens": len(prompt) + len(drawn),
                    "completion_tokens": len(drawn),
                },
                **({"prompt_token_ids": prompt} if known else {}),
            }
        )

    def _inputs(self, messages: Sequence[dict[str, Any]]) -> Any:
        conversation = [{"role": m["role"], "content": _parts(m["content"])} for m in messages]
        if "template" in self.faults:
            conversation.insert(0, {"role": "system", "content": [{"type": "text", "text": "Be brief."}]})
        return self._processor.apply_chat_template(
            [conversation], add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )

    def _draw(self, model: Any, inputs: Any, body: dict[str, Any]) -> tuple[list[int], list[float]]:
        """Ids and log-probabilities, by `generate` of transformers."""
        import torch

        assert body["logprobs"] is True
        assert body["return_token_ids"] is True
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(body["seed"])
            out = model.generate(
                **inputs,
                do_sample=True,
                temperature=body["temperature"],
                top_p=body["top_p"],
                top_k=max(0, body["top_k"]),
                repetition_penalty=body["repetition_penalty"],
                sequence_bias={(int(token),): bias for token, bias in body["logit_bias"].items()},
                max_new_tokens=body["max_tokens"],
                eos_token_id=body["stop_token_ids"],
                return_dict_in_generate=True,
                output_scores=True,
                output_logits=True,
            )
        drawn = out.sequences[0, inputs["input_ids"].shape[1] :].tolist()
        scores = torch.stack(out.logits if "raw" in self.faults else out.scores, 1)[0].float().log_softmax(-1)
        return drawn, [float(row[token]) for row, token in zip(scores, drawn, strict=True)]


def _parts(content: str | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    from PIL import Image

    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts: list[dict[str, Any]] = []
    for part in content:
        if part["type"] == "image_url":
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            parts.append({"type": "image", "image": Image.open(io.BytesIO(data)).convert("RGB")})
        else:
            parts.append(part)
    return parts


def _refused(status: int, message: str) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": "BadRequest", "code": status}}, status=status
    )


if __name__ == "__main__":
    with VllmStandIn(Path(sys.argv[1])) as running:
        print(running.url, flush=True)
        threading.Event().wait()
