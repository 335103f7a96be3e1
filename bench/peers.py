"""AIPerf beside us on the same server: requests/s at OSL 1, tokens/s at OSL 256, 64 streams.

python -m bench.peers [--realtime]     with an `aiperf` on PATH or named by SWEEP_BENCH_AIPERF (pip install aiperf, in a venv of its own)

The server has core 0, the client all others; with --realtime at a real-time priority on a machine that is not idle. AIPerf counts from its own export; we count what ended in the second half.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from bench import stand
from bench.client import keep
from sweep.model import Load
from sweep.records import concat

STREAMS = 64
SECONDS = 6.0
LEAST = {1: 5.0, 256: 3.0}  # how many times AIPerf's pace we promise
REQUESTS = {1: 4000, 256: 600}  # for AIPerf: some ten seconds
# A tokenizer of letters: AIPerf needs one, and none may be downloaded.
TOKENIZER = """
import sys
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
vocabulary = {chr(code): code - 31 for code in range(32, 127)} | {"<unk>": 0}
made = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", eos_token="<unk>", pad_token="<unk>").save_pretrained(sys.argv[1])
"""


class Pace(msgspec.Struct, frozen=True):
    """Of one client."""

    requests_per_s: float
    tokens_per_s: float


class Beside(msgspec.Struct, frozen=True):
    osl: int
    ours: Pace
    aiperf: Pace | None
    ratio: float | None  # of requests/s


def aiperf() -> Path | None:
    named = os.environ.get("SWEEP_BENCH_AIPERF") or shutil.which("aiperf")
    return None if named is None else Path(named)


def ours(osl: int, realtime: bool) -> Pace:
    with stand.reference((), realtime=realtime) as port:
        did = stand.drive(port, Load(kind="closed", level=STREAMS), osl, SECONDS, realtime=realtime)
    done = concat([batch.done for batch in did.batches])
    seconds = (did.end.at_ns - did.half.at_ns) / 1e9
    inside = (done["end_ns"] >= did.half.at_ns) & (done["end_ns"] < did.end.at_ns) & (done["outcome"] == "ok")
    chunks = (done.chunk_ns >= did.half.at_ns) & (done.chunk_ns < did.end.at_ns)
    return Pace(float(inside.sum()) / seconds, float(chunks.sum()) / seconds)


def theirs(command: Path, osl: int, realtime: bool) -> Pace:
    """RuntimeError with its last words when it fails."""
    with tempfile.TemporaryDirectory() as folder, stand.reference((), realtime=realtime) as port:
        stand.pin(*stand.other_cores())
        tokenizer, out = Path(folder, "tokenizer"), Path(folder, "out")
        subprocess.run(
            [command.with_name("python"), "-c", TOKENIZER, tokenizer],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        asked = {
            "--model": "reference", "--url": f"http://127.0.0.1:{port}", "--endpoint-type": "completions",
            "--concurrency": STREAMS, "--request-count": REQUESTS[osl], "--isl": 32, "--osl": osl,
            "--tokenizer": tokenizer, "--ui": "none", "--artifact-dir": out,
        }  # fmt: skip
        words = [str(word) for pair in asked.items() for word in pair]
        with subprocess.Popen([command, "profile", "--streaming", *words], stdout=subprocess.PIPE, text=True) as running:
            if realtime:
                stand.above_all(running.pid)  # what it starts inherits that
            said, _ = running.communicate()
        stand.pin(0)
        exported = next(out.rglob("profile_export_aiperf.json"), None)
        if exported is None:
            raise RuntimeError(said[-800:])
        pace = float(json.loads(exported.read_bytes())["request_throughput"]["avg"])
        return Pace(pace, pace * osl)


def main() -> int:
    realtime = stand.REALTIME in sys.argv[1:]
    command = aiperf()
    if command is None:
        print("no aiperf on PATH or in SWEEP_BENCH_AIPERF: only our own pace")
    print(f"{'osl':>5}{'client':>10}{'req/s':>10}{'tokens/s':>11}{'ratio':>8}{'promised':>10}")
    results = []
    for osl, least in LEAST.items():
        own = ours(osl, realtime)
        print(f"{osl:5}{'sweep':>10}{own.requests_per_s:10.0f}{own.tokens_per_s:11.0f}", flush=True)
        peer = None
        if command is not None:  # many processes above all may hinder each other: the better way counts
            peer = max((theirs(command, osl, way) for way in {False, realtime}), key=lambda pace: pace.requests_per_s)
        ratio = None if peer is None else own.requests_per_s / peer.requests_per_s
        if peer is not None:
            print(
                f"{osl:5}{'aiperf':>10}{peer.requests_per_s:10.0f}{peer.tokens_per_s:11.0f}{ratio:7.1f}×{least:9.0f}×",
                flush=True,
            )
        results.append(Beside(osl, own, peer, ratio))
    version = None
    if command is not None:
        version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.strip() or None
        keep("peers", {"aiperf": version, "realtime": realtime, "streams": STREAMS, "beside": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
