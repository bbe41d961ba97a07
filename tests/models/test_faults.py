"""Whatever a provider sends is understood as something, and nothing it sends can crash the reader."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludens.core.errors import ModelRejected
from ludens.models.chat import Answer
from ludens.models.faults import Fault, Filtered, Refused, Secret, error_status, judge, retry_after, sentence
from ludens.models.openai_answer import read_answer

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
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
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
def test_how_long_to_wait_may_stand_in_the_body(details: object, seconds: float | None) -> None:
    for headers, expected in (({}, seconds), ({"retry-after": "7"}, 7.0)):
        meant = judge(429, {"error": {"message": "!", "details": details}}, headers, "x", "y", Secret())
        assert isinstance(meant, Fault)
        assert meant.wait == expected


@given(st.text())
def test_no_header_can_crash_the_reader(value: str) -> None:
    wait = retry_after({"retry-after": value}, NOW)
    assert wait is None or wait >= 0


@given(json_values, st.integers(300, 599))
def test_every_error_means_something(body: object, status: int) -> None:
    data = orjson.dumps(body)
    meant = judge(status, data, {}, "vllm/tiny", "http://gpu", Secret("sk"))
    assert isinstance(meant, Fault | Refused | Filtered | ModelRejected)
    assert "\n" not in str(meant)
    assert len(str(meant)) < 500
    assert isinstance(sentence(data), str)


@given(json_values)
def test_every_body_is_an_answer_an_error_or_a_fault(body: object) -> None:
    try:
        read = read_answer(orjson.dumps(body))
    except Fault:
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
def test_ends_go_by_several_names(word: str | None, finish: str) -> None:
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
def test_what_was_thought_counts_as_written_wherever_it_stands(
    usage: object, counted: tuple[int, int]
) -> None:
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
def test_an_answer_that_is_whole_but_for_a_blemish_is_not_paid_for_twice(data: bytes, text: str) -> None:
    read = read_answer(data)
    assert isinstance(read, Answer)
    assert (read.text, read.usage.cost) == (text, None)
    assert orjson.loads(orjson.dumps(read))["text"] == text


@given(st.binary(max_size=200))
def test_noise_is_a_fault(data: bytes) -> None:
    with pytest.raises(Fault) as caught:
        read_answer(data)
    assert caught.value.kind == "broken"


def test_a_key_is_shown_to_nobody() -> None:
    secret = Secret("sk-very-secret")
    assert "very" not in f"{secret} {secret!r}"
    assert secret.hide("your key\n sk-very-secret is  bad") == "your key *** is bad"
    assert len(secret.hide("x" * 9999)) == 300


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"404: Not Found", "nothing answers at http://gpu; many addresses end in /v1"),
        (b'{"detail": "Not Found"}', "nothing answers at http://gpu"),
        (b'{"error": {"message": "The model `x` does not exist."}}', "there is no such model at http://gpu"),
        (b'{"error": "model \'x\' not found"}', "there is no such model at http://gpu"),
    ],
)
def test_a_wrong_address_is_told_from_a_wrong_name(body: bytes, words: str) -> None:
    meant = judge(404, body, {}, "vllm/tiny", "http://gpu", Secret())
    assert isinstance(meant, ModelRejected)
    assert words in str(meant)


@pytest.mark.parametrize(
    ("status", "words", "meant"),
    [
        (403, "Your input was flagged by moderation", Filtered),
        (400, "content_policy_violation", Filtered),
        (402, "Payment required", ModelRejected),
        (400, "The model `x` does not exist", ModelRejected),
        (408, "timeout", Fault),
        (529, "overloaded", Fault),
        (413, "too big", Refused),
        (400, "what?", Refused),
    ],
)
def test_statuses_mean_what_providers_mean_by_them(status: int, words: str, meant: type[Exception]) -> None:
    body = {"error": {"message": words}}
    assert type(judge(status, body, {}, "vllm/tiny", "http://gpu", Secret())) is meant
