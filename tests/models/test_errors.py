"""Every response of a provider is classified, and none crashes the reader."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import ModelRejected
from ludens.models.chat import Answer
from ludens.models.errors import (
    ContentFiltered,
    RequestRejected,
    Secret,
    TransientError,
    classify_error,
    error_message,
    error_status,
    retry_after,
)
from ludens.models.openai_chat import read_answer

NOW = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
HUGE = b"1" + b"0" * 999

FIELDS = [
    "error",
    "choices",
    "message",
    "content",
    "text",
    "usage",
    "cost",
    "code",
    "detail",
    "refusal",
    "finish_reason",
    "metadata",
    "raw",
    "model",
    "completion_tokens_details",
    "prompt_tokens",
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"retry-after": "Sun, 01 Jun 2025 12:00:30"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_formats(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ([{"links": []}, {"retryDelay": "22s"}], 22.0),
        ([{"retryDelay": "10.5s"}], 10.5),
        ([{"retryDelay": "soon"}, "x", None], None),
        ({"retryDelay": "1s"}, None),
    ],
)
def test_retry_delay_in_the_body(details: object, seconds: float | None) -> None:
    for headers, expected in (({}, seconds), ({"retry-after": "7"}, 7.0)):
        error = classify_error(
            429, {"error": {"message": "!", "details": details}}, headers, "x", "y", Secret()
        )
        assert isinstance(error, TransientError)
        assert error.wait == expected


@given(st.text())
def test_any_header_can_be_read(value: str) -> None:
    wait = retry_after({"retry-after": value}, NOW)
    assert wait is None or wait >= 0


@given(json_values, st.integers(300, 599))
def test_every_error_is_classified(body: object, status: int) -> None:
    data = orjson.dumps(body)
    error = classify_error(status, data, {}, "vllm/tiny", "http://gpu", Secret("sk"))
    assert isinstance(error, TransientError | RequestRejected | ContentFiltered | ModelRejected)
    assert "\n" not in str(error)
    assert len(str(error)) < 500
    assert isinstance(error_message(data), str)


@given(json_values)
def test_every_body_is_an_answer_or_an_error(body: object) -> None:
    try:
        read = read_answer(orjson.dumps(body))
    except TransientError:
        return
    if isinstance(read, Answer):
        assert isinstance(read.text, str)
        assert read.usage.input_tokens >= 0
    else:
        assert 400 <= error_status(read) <= 599


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "filtered"),
        (None, "stop"),
    ],
)
def test_finish_reasons(word: str | None, finish: str) -> None:
    body = {"choices": [{"message": {"content": "a1"}, "finish_reason": word}]}
    read = read_answer(orjson.dumps(body))
    assert isinstance(read, Answer)
    assert read.finish == finish


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, (10, 5)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45}, (10, 35)),
        ({"prompt_tokens": 10, "completion_tokens": 5}, (10, 5)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 3}, (10, 5)),
        ({"prompt_tokens": None, "total_tokens": "x"}, (0, 0)),
        (None, (0, 0)),
    ],
)
def test_reasoning_tokens_count_as_output(usage: object, counted: tuple[int, int]) -> None:
    body = {"choices": [{"message": {"content": "a1"}}], "usage": usage}
    read = read_answer(orjson.dumps(body))
    assert isinstance(read, Answer)
    assert (read.usage.input_tokens, read.usage.output_tokens) == counted


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (rb'{"choices": [{"message": {"content": "Action: a1 \ud83d"}}]}', "Action: a1 ?"),
        (b'{"choices": [{"message": {"content": "Action: a1 \xf0\x9f"}}]}', "Action: a1 \ufffd"),
        (b'{"choices": [{"message": {"content": "a1"}, "logprobs": [NaN]}], "usage": {"cost": NaN}}', "a1"),
        (b'{"choices": [{"message": {"content": "a1"}}], "x": NaN, "usage": {"cost": %s}}' % HUGE, "a1"),
        (
            b'{"choices": [{"message": {"content": "a1"}}], "x": NaN, "usage": {"total_tokens": %s}}' % HUGE,
            "a1",
        ),
        (b'\xef\xbb\xbf{"choices": [{"message": {"content": "a1"}}], "usage": {"cost": -1}}', "a1"),
    ],
)
def test_answers_with_invalid_details_are_accepted(data: bytes, text: str) -> None:
    read = read_answer(data)
    assert isinstance(read, Answer)
    assert (read.text, read.usage.cost) == (text, None)
    assert orjson.loads(orjson.dumps(read))["text"] == text


@given(st.binary(max_size=200))
def test_noise_is_a_transient_error(data: bytes) -> None:
    with pytest.raises(TransientError) as caught:
        read_answer(data)
    assert caught.value.kind == "broken"


KEY = "sk-proj-Zk3fQ9x7Lm2Vw8Rt5Yb1Nc6Hd4Gs0Ja"


@pytest.mark.parametrize("part", [KEY, KEY[:-1], KEY[1:], KEY[3:20], KEY[-8:], KEY[:12] + KEY[14:], KEY * 2])
def test_parts_of_keys_are_masked(part: str) -> None:
    for masked in (Secret(KEY).mask(f"key={part}!"), Secret(KEY).redact(f"key={part}!")):
        assert masked.startswith("key=***")
        assert masked.endswith("!")
        assert not any(KEY[start : start + 8] in masked for start in range(len(KEY) - 7))


@given(key=st.text("abcABC019-_.", min_size=8), data=st.data())
def test_no_long_part_of_a_key_is_left(key: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 1))
    end = data.draw(st.integers(start, len(key)))
    masked = Secret(key).mask("<" + key[start:end] + ">" + key[:-1] + "\n" + key)
    length = min(8, len(key) - 1)
    assert not any(key[at : at + length] in masked for at in range(len(key) - length + 1))


def test_ordinary_words_are_not_masked() -> None:
    text = "The secret of the project is out: sk-proj is how keys begin."
    assert Secret(KEY).mask(text) == text


def test_keys_are_redacted() -> None:
    secret = Secret("sk-very-secret")
    assert "very" not in f"{secret} {secret!r}"
    assert secret.redact("your key\n sk-very-secret is  bad") == "your key *** is bad"
    assert len(secret.redact("x" * 9999)) == 300


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"404: Not Found", "http://gpu is not a model server; most addresses end in /v1"),
        (b'{"detail": "Not Found"}', "http://gpu is not a model server"),
        (b'{"error": {"message": "The model `x` does not exist."}}', "no such model at http://gpu"),
        (b'{"error": "model \'x\' not found"}', "no such model at http://gpu"),
    ],
)
def test_wrong_address_or_wrong_model(body: bytes, words: str) -> None:
    error = classify_error(404, body, {}, "vllm/tiny", "http://gpu", Secret())
    assert isinstance(error, ModelRejected)
    assert words in str(error)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (403, "Your input was flagged by moderation", ContentFiltered),
        (400, "content_policy_violation", ContentFiltered),
        (402, "Payment required", ModelRejected),
        (400, "The model `x` does not exist", ModelRejected),
        (408, "timeout", TransientError),
        (409, "conflict", TransientError),
        (529, "overloaded", TransientError),
        (413, "too big", RequestRejected),
        (400, "what?", RequestRejected),
    ],
)
def test_statuses(status: int, words: str, kind: type[Exception]) -> None:
    body = {"error": {"message": words}}
    assert type(classify_error(status, body, {}, "vllm/tiny", "http://gpu", Secret())) is kind
