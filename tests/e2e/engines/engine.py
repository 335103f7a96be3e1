"""What starting any engine takes: an environment of its own, a free port, a process that is ready, and its end.

Everything lives in `$SWEEP_TEST_ENGINES` (default `~/.cache/pareto-sweep/engines`), never in the repository. Models come as
packages; nothing is fetched from a model hub.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("SWEEP_TEST_ENGINES", Path.home() / ".cache" / "pareto-sweep" / "engines"))
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}


class CannotRun(Exception):
    """This engine cannot be had on this machine, and why."""


@dataclass(frozen=True)
class Engine:
    url: str

    def counter(self, name: str) -> float:
        """The sum over all labels of a counter of the server's own Prometheus page."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        found = [float(line.split()[-1]) for line in lines if re.match(rf"{re.escape(name)}[ {{]", line)]
        if not found:
            raise LookupError(name)
        return sum(found)


def environment(name: str, *requirements: str, mend: Callable[[Path], None] | None = None) -> Path:
    """The interpreter of an environment with these requirements, made once; `mend` may repair it. CannotRun.

    All they need in turn has the version of `locks/NAME.txt`, where there is one.
    """
    folder, lock = CACHE / f"venv-{name}", Path(__file__).parent / "locks" / f"{name}.txt"
    pins = lock.read_text() if lock.exists() else ""
    python, stamp, wanted = folder / "bin" / "python", folder / ".ready", "\n".join([*requirements, pins])
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    command([sys.executable, "-m", "venv", folder])
    pip(python, "install", *requirements, *(["--constraint", lock] if pins else []))
    if mend is not None:
        mend(python)
    stamp.write_text(wanted)
    return python


def pip(python: Path, *arguments: str | Path) -> None:
    command([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments])


def command(words: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
    """CannotRun, with the end of what it said, when the command fails."""
    ended = subprocess.run(list(map(str, words)), capture_output=True, text=True, env={**os.environ, **(env or {})})
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        raise CannotRun(f"{Path(str(words[0])).name} … failed: {' | '.join(said[-3:])[:300]}")


def unpacked(python: Path, wheel: str, inside: str, target: Path) -> Path:
    """What a wheel carries under `inside`, a file or a folder, put at `target` once."""
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        pip(python, "download", "--no-deps", "--dest", folder, wheel)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            archive.extractall(folder)
        found = sorted(Path(folder).glob(inside))
        if not found:
            raise CannotRun(f"{wheel} holds no {inside}")
        found[0].replace(target)
    return target


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    name: str, words: Sequence[str | Path], url: str, ready: str, *, within_s: float = 60, env: Mapping[str, str] | None = None
) -> Iterator[Engine]:
    """The engine while its process, and whatever that starts, runs in a session of its own. RuntimeError if it never answers."""
    log = CACHE / f"{name}.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            list(map(str, words)),
            stdout=sink,
            stderr=sink,
            env={**os.environ, **OFFLINE, **(env or {})},
            start_new_session=True,
        )
        try:
            _wait(url + ready, process, log, within_s)
            yield Engine(url)
        finally:
            _end(process)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path, within_s: float) -> None:
    limit = time.monotonic() + within_s
    while time.monotonic() < limit and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"it did not start: {log.read_text(errors='replace')[-2000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign, grace_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
