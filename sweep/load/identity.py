"""What a server's own documents say of it: which model, how long a prompt may be, how it was started. Pure.

Documents are /v1/models entries, /version, /props (llama.cpp), /get_server_info (SGLang), /info (TGI). Only fields named here
are kept, short and without anything that looks like a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

MAX_CHARS = 80
CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "context_len", "max_total_tokens")
INPUT_KEYS = ("max_input_tokens", "max_req_input_len", "max_input_length", "inputTokenLimit", "max_prompt_tokens")
OUTPUT_KEYS = ("max_output_tokens", "max_completion_tokens", "outputTokenLimit")
MODEL_KEYS = ("owned_by", "root", "parent", "quantization", "dtype", "n_params", "size", "n_ctx_train", "ftype")
SOFTWARE_KEYS = {
    "precision": ("dtype", "quantization", "kv_cache_dtype", "model_dtype", "model_ftype"),
    "parallelism": ("tp_size", "dp_size", "pp_size", "ep_size", "tensor_parallel_size", "num_shard"),
    "speculative_decoding": ("speculative_algorithm", "speculative_num_steps", "speculate", "speculative.types"),
    "flags": (
        "attention_backend", "schedule_policy", "chunked_prefill_size", "max_running_requests", "mem_fraction_static",
        "disable_radix_cache", "max_batch_total_tokens", "max_concurrent_requests", "total_slots",
    ),
}  # fmt: skip
VERSION_KEYS = ("version", "sglang_version", "build_info", "docker_label")
_INNER = ("meta", "default_generation_settings", "params", "top_provider", "model_info", "server_args", "details")
_KEY = re.compile(r"\b(?:sk|pk|hf|gsk|xai|ghp|nvapi)[-_][A-Za-z0-9_-]{8,}|Bearer\s+\S+|eyJ[\w-]{10,}\.[\w.-]+|[A-Fa-f0-9]{32,}")


def entries(listed: Any) -> list[dict[str, Any]] | None:
    """The models of a /v1/models answer; None when it is no such list."""
    found = (listed.get("data") or listed.get("models")) if isinstance(listed, dict) else listed
    if not isinstance(found, list):
        return None
    return [entry for entry in found if isinstance(entry, dict) and (entry.get("id") or entry.get("name"))]


def name_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("id") or entry.get("name"))


def limit(documents: Iterable[Mapping[str, Any]], keys: Iterable[str]) -> int | None:
    """The first whole number above zero under one of `keys`, in a document or just inside it."""
    wanted = tuple(keys)
    for document in documents:
        for part in _parts(document):
            for key in wanted:
                figure = part.get(key)
                if type(figure) is int and figure > 0:
                    return figure
    return None


def context_tokens(documents: Iterable[Mapping[str, Any]]) -> int | None:
    """Tokens of prompt and answer together; llama.cpp calls the context of one slot n_ctx."""
    return limit(documents, (*CONTEXT_KEYS, "n_ctx"))


def context_refused(said: str) -> int | None:
    """The context that an error names when a request was too long for it."""
    found = re.search(r"context (?:length|size|window)[^0-9]{0,40}?(\d{3,8})", said)
    return int(found[1]) if found else None


def version(documents: Iterable[Mapping[str, Any]]) -> str | None:
    for document in documents:
        for key in VERSION_KEYS:
            if isinstance(document.get(key), str) and document[key]:
                return plain(document[key])
    return None


def kept(document: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Those of `keys` that hold a text, number or truth value, as far as anything is said."""
    wanted = tuple(keys)
    found: dict[str, Any] = {}
    for part in _parts(document):
        for key in wanted:
            value = part.get(key)
            if key not in found and isinstance(value, str | int | float | bool) and value not in ("", "none"):
                found[key] = plain(value) if isinstance(value, str) else value
    return found


def software(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """How the server was started, by what the curve's software facts are called."""
    said: dict[str, dict[str, Any]] = {}
    for document in documents:
        for name, keys in SOFTWARE_KEYS.items():
            said.setdefault(name, {}).update(kept(document, keys))
    return {name: values for name, values in said.items() if values}


def plain(text: str) -> str:
    """Short, in one line, and without keys."""
    return _KEY.sub("…", " ".join(text.split()))[:MAX_CHARS]


def _parts(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A document and the objects known to stand inside it, two deep."""
    parts: list[Mapping[str, Any]] = [document]
    for part in parts[:]:
        parts += [inner for key in _INNER if isinstance(inner := part.get(key), Mapping)]
    for part in parts[1:]:
        parts += [inner for key in _INNER if isinstance(inner := part.get(key), Mapping)]
    return parts
