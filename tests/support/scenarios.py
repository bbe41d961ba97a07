"""Every way a model server can answer, well or badly, by name: what `ModelServer` is told to do on cue."""

from __future__ import annotations

import asyncio
import struct
from base64 import b64decode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from aiohttp import web


@dataclass
class Item:
    """One request and the reply it would get on a good day."""

    request: web.Request
    body: dict[str, Any]
    reply: Callable[[], str]


Scenario = Callable[[Item], Awaitable[web.StreamResponse]]

SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def keep(function: Scenario) -> Scenario:
        SCENARIOS[name] = function
        return function

    return keep


def completion(asked: Item, message: dict[str, Any], finish: str = "stop", **more: Any) -> web.Response:
    text = message.get("content") or ""
    thought = 7 if message.get("reasoning_content") else 0
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": len(text.split()) + thought,
        "total_tokens": 100 + len(text.split()) + thought,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    head = {"id": "x", "object": "chat.completion", "created": 0, "model": f"{asked.body['model']}-2025"}
    return web.json_response({**head, "choices": [choice], "usage": usage, **more})


def error(
    status: int, message: str, code: str | None = None, param: str | None = None, headers: Any = None
) -> web.Response:
    detail = {"message": message, "type": "error", "code": code, "param": param}
    return web.json_response({"error": detail}, status=status, headers=headers)


@scenario("ok")
async def ok(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": asked.reply()})


@scenario("reasoning")
async def reasoning(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": asked.reply(), "reasoning_content": "Let me see."})


@scenario("parts")
async def parts(asked: Item) -> web.StreamResponse:
    content = [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there"}]
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return web.json_response({"choices": [choice]})


@scenario("priced")
async def priced(asked: Item) -> web.StreamResponse:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.25}
    return completion(asked, {"content": asked.reply(), "reasoning": "Hm."}, usage=usage)


@scenario("length")
async def length(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": "I think that"}, "length")


@scenario("filtered")
async def filtered(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": None}, "content_filter")


@scenario("filtered_400")
async def filtered_400(asked: Item) -> web.StreamResponse:
    return error(400, "The prompt triggered the content management policy.", "content_filter")


@scenario("refused")
async def refused(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": None, "refusal": "I would rather not."})


for status in (409, 500, 501, 502, 503, 504):

    @scenario(str(status))
    async def broken_server(asked: Item, status: int = status) -> web.StreamResponse:
        return web.Response(status=status, text=f"<html>error {status}</html>")


@scenario("429")
async def too_many(asked: Item) -> web.StreamResponse:
    return error(429, "Rate limit reached.", "rate_limit_exceeded")


@scenario("429_seconds")
async def too_many_seconds(asked: Item) -> web.StreamResponse:
    return error(429, "Rate limit reached.", headers={"Retry-After": "0.3"})


@scenario("429_date")
async def too_many_date(asked: Item) -> web.StreamResponse:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)
    return error(429, "Rate limit reached.", headers={"Retry-After": date})


@scenario("429_hour")
async def too_many_hour(asked: Item) -> web.StreamResponse:
    return error(429, "Come back later.", headers={"Retry-After": "3600"})


@scenario("429_minute")
async def too_many_minute(asked: Item) -> web.StreamResponse:
    return error(429, "Come back later.", headers={"Retry-After": "60"})


@scenario("429_forever")
async def too_many_forever(asked: Item) -> web.StreamResponse:
    return error(429, "Come back later.", headers={"Retry-After": "1e308"})


@scenario("no_credit")
async def no_credit(asked: Item) -> web.StreamResponse:
    return error(429, "You exceeded your current quota.", "insufficient_quota")


@scenario("reset")
async def reset(asked: Item) -> web.StreamResponse:
    assert asked.request.transport is not None
    # Zero linger makes the close a reset, not a polite goodbye.
    sock = asked.request.transport.get_extra_info("socket")
    sock.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    asked.request.transport.abort()
    return web.Response()


@scenario("half")
async def half(asked: Item) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "500", "Content-Type": "application/json"})
    await response.prepare(asked.request)
    await response.write(b'{"choices": [{"message": {"content": "Act')
    assert asked.request.transport is not None
    asked.request.transport.close()
    return response


@scenario("hang")
async def hang(asked: Item) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


@scenario("wrong_json")
async def wrong_json(asked: Item) -> web.StreamResponse:
    return web.Response(text='{"choices": [{"message"', content_type="application/json")


@scenario("html")
async def html(asked: Item) -> web.StreamResponse:
    return web.Response(text="<html>Login</html>", content_type="text/html")


@scenario("array")
async def array(asked: Item) -> web.StreamResponse:
    return web.json_response([1, 2, 3])


@scenario("empty_choices")
async def empty_choices(asked: Item) -> web.StreamResponse:
    return web.json_response({"choices": []})


@scenario("no_message")
async def no_message(asked: Item) -> web.StreamResponse:
    return web.json_response({"choices": [{"message": None}]})


@scenario("choice_error")
async def choice_error(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": "Act"}, "error")


@scenario("abort")
async def abort(asked: Item) -> web.StreamResponse:
    return completion(asked, {"content": "Act"}, "abort")


@scenario("error_200")
async def error_200(asked: Item) -> web.StreamResponse:
    return web.json_response({"error": {"message": "Provider returned error", "code": 503}})


@scenario("unknown_model")
async def unknown_model(asked: Item) -> web.StreamResponse:
    return error(404, f"The model `{asked.body['model']}` does not exist.", "model_not_found")


@scenario("bad_key")
async def bad_key(asked: Item) -> web.StreamResponse:
    said = asked.request.headers.get("Authorization", "no key")
    return error(401, f"Incorrect API key provided: {said}", "invalid_api_key")


@scenario("forbidden")
async def forbidden(asked: Item) -> web.StreamResponse:
    said = asked.request.headers.get("Authorization", "no key")
    return error(403, f"Not allowed with {said}")


@scenario("echo_500")
async def echo_500(asked: Item) -> web.StreamResponse:
    return error(500, f"Crashed while reading headers {dict(asked.request.headers)}")


@scenario("echo_ok")
async def echo_ok(asked: Item) -> web.StreamResponse:
    key = asked.request.headers.get("Authorization", "no key")
    message = {"content": f"{asked.reply()} ({key})", "reasoning_content": f"The key is {key}."}
    return completion(asked, message, model=f"tiny {key}")


@scenario("filtered_echo")
async def filtered_echo(asked: Item) -> web.StreamResponse:
    key = asked.request.headers.get("Authorization", "no key")
    return error(400, f"The content filter blocked {key}.", "content_filter")


@scenario("endless")
async def endless(asked: Item) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(asked.request)
    for _ in range(1024):
        await response.write(b" " * 2**20)
    return response


@scenario("no_pictures")
async def no_pictures(asked: Item) -> web.StreamResponse:
    """What llama.cpp answers to a picture without a projector."""
    if "image_url" in str(asked.body["messages"]):
        return error(500, "image input is not supported - hint: you may need to provide the mmproj")
    return await ok(asked)


@scenario("echo_html")
async def echo_html(asked: Item) -> web.StreamResponse:
    return web.Response(text=f"<html>{dict(asked.request.headers)}</html>", content_type="text/html")


@scenario("too_long")
async def too_long(asked: Item) -> web.StreamResponse:
    return error(400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded")


@scenario("small_context")
async def small_context(asked: Item) -> web.StreamResponse:
    """Has room for one picture of 256 pixels."""
    parts = [part for message in asked.body["messages"] for part in message["content"] if "image_url" in part]
    pictures = [b64decode(part["image_url"]["url"].partition(",")[2]) for part in parts]
    if len(pictures) > 1 or any(int.from_bytes(picture[16:20]) > 256 for picture in pictures):
        return await too_long(asked)
    return await ok(asked)


@scenario("bad_request")
async def bad_request(asked: Item) -> web.StreamResponse:
    return error(400, "Invalid image.", "invalid_image")


@scenario("moved")
async def moved(asked: Item) -> web.StreamResponse:
    return web.Response(status=301, headers={"Location": "https://example.com/"})


@scenario("unwanted_max_tokens")
async def unwanted_max_tokens(asked: Item) -> web.StreamResponse:
    said = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return error(400, f"Unsupported parameter: {said}", "unsupported_parameter", "max_tokens")


@scenario("unwanted_max_completion_tokens")
async def unwanted_max_completion_tokens(asked: Item) -> web.StreamResponse:
    return error(422, "[{'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]")


@scenario("unwanted_temperature")
async def unwanted_temperature(asked: Item) -> web.StreamResponse:
    said = "'temperature' does not support 0 with this model. Only the default (1) value is supported."
    return error(400, f"Unsupported value: {said}", "unsupported_value", "temperature")


@scenario("unwanted_top_p")
async def unwanted_top_p(asked: Item) -> web.StreamResponse:
    return error(400, "Unsupported parameter: 'top_p' is not supported with this model.")
