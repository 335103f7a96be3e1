"""Hugging Face `transformers serve` with continuous batching, in vLLM's environment: it is the same transformers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engines import vllm
from engines.engine import Engine, free_port, serving


def model() -> Path:
    """Requests name the folder."""
    return vllm.generator()


@contextmanager
def running() -> Iterator[Engine]:
    port = free_port()
    program = vllm.install().with_name("transformers")
    cache = ["--cb-block-size", "32", "--cb-num-blocks", "256"]  # else it takes most of the machine's memory
    words = [program, "serve", model(), "--continuous-batching", *cache, "--device", "cpu", "--dtype", "bfloat16"]
    place = ["--host", "127.0.0.1", "--port", str(port)]
    env = {"OMP_NUM_THREADS": "1"}
    url = f"http://127.0.0.1:{port}"
    with serving("transformers", [*words, *place], url, "/health", within_s=120, env=env) as engine:
        _load(url)
        yield engine


def _load(url: str) -> None:
    """The model is loaded by the first request, which waits for it longer than a sweep's preflight would, if it is not dropped."""
    body = {"model": str(model()), "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    ask = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    for _ in range(3):
        with suppress(OSError), urllib.request.urlopen(ask, timeout=120) as answer:
            answer.read()
            return
