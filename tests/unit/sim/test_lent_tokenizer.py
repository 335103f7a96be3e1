"""`/tokenize` of the simulated endpoint: a text's ids, which as a prompt count as much as the text did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from sweep.sim.server import start

TEXT = "one two three, and averylongwordofmorethansixteenletters"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with start("synthetic-8b-bf16", time_scale=0.01) as served:
        yield served.url


def post(url: str, body: Any) -> dict[str, Any]:
    with urlopen(Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})) as answer:
        return json.loads(answer.read())


def test_a_text_and_its_ids_are_the_same_prompt(url: str) -> None:
    said = post(f"{url}/tokenize", {"model": "any", "prompt": TEXT})
    assert said["count"] == len(said["tokens"]) == 7
    assert said["tokens"] == post(f"{url}/tokenize", {"prompt": TEXT})["tokens"]
    for prompt in (TEXT, said["tokens"]):
        answer = post(f"{url}/v1/completions", {"prompt": prompt, "max_tokens": 1})
        assert answer["usage"]["prompt_tokens"] == said["count"]


@pytest.mark.parametrize("body", [{}, {"prompt": 3}, [], "text"])
def test_what_is_no_text_is_refused(url: str, body: Any) -> None:
    with pytest.raises(HTTPError) as refused:
        post(f"{url}/tokenize", body)
    with refused.value as answer:
        assert answer.code == 400
