"""What servers say of themselves, in the shapes that real ones use."""

from __future__ import annotations

import pytest

from sweep.load import identity

VLLM = {"id": "m", "object": "model", "owned_by": "vllm", "root": "org/m", "max_model_len": 16384, "permission": [{"id": "x"}]}
LLAMA_CPP = {
    "default_generation_settings": {"params": {"speculative.types": "none"}, "n_ctx": 2048},
    "total_slots": 4,
    "model_ftype": "Q4_1",
    "build_info": "b0-unknown",
}
SGLANG = {"version": "0.5", "api_key": "sk-abcdefgh1234", "tp_size": 8, "max_req_input_len": 8186, "dtype": "bfloat16"}
TGI = {"version": "3.0", "max_input_tokens": 1024, "max_total_tokens": 2048, "model_dtype": "float16", "sha": "0" * 40}


@pytest.mark.parametrize(("document", "context"), [(VLLM, 16384), (LLAMA_CPP, 2048), (SGLANG, None), (TGI, 2048), ({}, None)])
def test_the_context(document: dict, context: int | None) -> None:
    assert identity.context_tokens([{}, document]) == context


def test_limits_of_the_input_and_versions() -> None:
    assert [identity.limit([each], identity.INPUT_KEYS) for each in (VLLM, SGLANG, TGI)] == [None, 8186, 1024]
    assert [identity.version([{}, each]) for each in (VLLM, LLAMA_CPP, SGLANG)] == [None, "b0-unknown", "0.5"]
    assert (
        identity.limit([{"max_input_tokens": True}, {"max_input_tokens": "9"}, {"max_input_tokens": -1}], identity.INPUT_KEYS)
        is None
    )


def test_software_by_the_names_a_curve_uses_and_never_a_key() -> None:
    said = identity.software([VLLM, LLAMA_CPP, SGLANG, TGI])
    assert said["parallelism"] == {"tp_size": 8}
    assert said["precision"] == {"model_ftype": "Q4_1", "dtype": "bfloat16", "model_dtype": "float16"}
    assert "speculative_decoding" not in said
    assert "sk-abcdefgh1234" not in repr(said)


def test_what_looks_like_a_key_is_dropped_and_long_text_cut() -> None:
    for secret in ("sk-proj-abcdefgh12345678", "hf_abcdefghijklmnop", "Bearer abc.def", "0123456789abcdef" * 2):
        assert secret not in identity.plain(f"x {secret} y")
    assert len(identity.plain("word " * 99)) == identity.MAX_CHARS


def test_the_context_that_a_refusal_names() -> None:
    said = "max_tokens is too large: 1073741824. This model's maximum context length is 4096 tokens and your request has 12"
    assert identity.context_refused(said) == 4096
    assert identity.context_refused("the request exceeds the available context size (2048 tokens)") == 2048
    assert identity.context_refused("max_tokens is too large: 1073741824") is None


def test_lists_of_models() -> None:
    assert identity.entries({"data": [VLLM, {"nothing": 1}, 3]}) == [VLLM]
    assert identity.entries([{"name": "n"}]) == [{"name": "n"}]
    assert [identity.entries(each) for each in (None, {}, "x", {"data": {}})] == [None] * 4
