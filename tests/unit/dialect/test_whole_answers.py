"""APIs that answer in one piece, and the native ones of SGLang and TGI: shapes as servers send them, beyond the common contract."""

from __future__ import annotations

import json

import pytest

from sweep.dialect import embeddings, multipart, pieces, rerank, sglang, tgi, transcription
from sweep.model import Ask, Usage


def test_a_prompt_is_cut_into_texts_of_much_the_same_length() -> None:
    words = [str(n) for n in range(23)]
    texts = pieces.split(" ".join(words), 4)
    assert " ".join(texts).split() == words
    assert {len(text.split()) for text in texts} == {5, 6}
    assert pieces.split("a b", 5) == ["a", "b", "a", "b", "b"]  # too few words: none is left empty
    assert pieces.split("", 2) == ["", ""]
    assert pieces.split("a b", 0) == []


def test_vectors_are_counted_not_read() -> None:
    """vLLM, `encoding_format` base64; the shape of OpenAI's."""
    vector = {"index": 0, "object": "embedding", "embedding": "Z8EDPSm5ST1DfYI7"}
    body = {"object": "list", "model": "m", "data": [vector, {**vector, "index": 1}], "usage": {"prompt_tokens": 15}}
    event = embeddings.decode_whole(json.dumps(body).encode())
    assert event.usage == Usage(prompt_tokens=15, completion_tokens=2)
    assert json.loads(embeddings.encode(Ask(model="m", prompt="a b c d", osl=2, fields=("encoding_format",)))) == {
        "model": "m",
        "input": ["a b", "c d"],
        "encoding_format": "base64",
    }
    assert embeddings.read(b'{"input": "one text"}').osl == 1


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": 40, "total_tokens": 40}, {"total_tokens": 40}], ids=["llama.cpp and vLLM", "Jina"]
)
def test_documents_are_counted(usage: dict[str, int]) -> None:
    results = [{"index": 1, "relevance_score": 0.9, "document": {"text": "x"}}, {"index": 0, "relevance_score": 0.1}]
    event = rerank.decode_whole(json.dumps({"model": "m", "results": results, "usage": usage}).encode())
    assert event.usage == Usage(prompt_tokens=40, completion_tokens=2)


def test_a_reranker_gets_a_query_and_documents() -> None:
    prompt = " ".join(f"w{n}" for n in range(12 + 40))
    body = json.loads(rerank.encode(Ask(model="m", prompt=prompt, osl=4)))
    assert len(body["query"].split()) == 12
    assert [len(document.split()) for document in body["documents"]] == [10] * 4


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({"task": "transcribe", "language": "en", "duration": 10.5755, "text": " Hi.", "segments": []}, 11),
        ({"text": "Hi.", "duration": "29.98"}, 30),
        ({"text": "Hi.", "usage": {"type": "duration", "seconds": 7}}, 7),
        ({"text": "Hi."}, None),
    ],
    ids=["faster-whisper", "duration as text", "vLLM", "nothing"],
)
def test_seconds_of_audio_as_servers_tell_them(said: dict[str, object], seconds: int | None) -> None:
    event = transcription.decode_whole(json.dumps(said).encode())
    assert event.token
    assert (event.usage.completion_tokens if event.usage else None) == seconds


def test_what_is_no_sound_is_refused() -> None:
    for file in (b"", b"ID3 an mp3", b"RIFF\x24\0\0\0WAVEfmt ", b"RIFF\x24\0\0\0WAVEdata\0\0\0\0"):
        with pytest.raises(ValueError, match="file"):
            transcription.wav_s(file)
    with pytest.raises(ValueError, match="audio"):
        transcription.encode(Ask(model="m", prompt="", osl=1))


def test_forms_of_other_clients_are_read() -> None:
    body = (
        b'--x1\r\nContent-Disposition: form-data; name="model"\r\n\r\ntiny\r\n'
        b'--x1\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: audio/wav\r\n\r\n\r\n\0--x\r\n\r\n'
        b"--x1--\r\n"
    )
    assert multipart.decode(body) == {"model": b"tiny", "file": b"\r\n\0--x\r\n"}
    for broken in (b"", b"--\r\n", b"--x\r\nno name\r\n\r\n1\r\n--x--"):
        with pytest.raises(ValueError, match="not understood"):
            multipart.decode(broken)


def test_sglang_repeats_the_text_and_counts() -> None:
    meta = {"id": "7", "finish_reason": None, "prompt_tokens": 5, "completion_tokens": 1, "cached_tokens": 0}
    first = sglang.decode(json.dumps({"text": " Paris", "meta_info": meta}).encode())
    assert (first.token, first.usage) == (True, Usage(prompt_tokens=5, completion_tokens=1, cached_tokens=0))
    end = {**meta, "completion_tokens": 2, "finish_reason": {"type": "length", "length": 2}}
    last = sglang.decode(json.dumps({"text": " Paris.", "meta_info": end}).encode())
    assert (last.token, last.finish, last.usage and last.usage.completion_tokens) == (True, "length", 2)
    aborted = {**meta, "finish_reason": {"type": "abort", "message": "out of memory"}}
    assert sglang.decode(json.dumps({"text": "", "meta_info": aborted}).encode()).error == "out of memory"
    assert json.loads(sglang.encode(Ask(model="m", prompt="hi", osl=9, fields=("ignore_eos", "min_tokens"))))[
        "sampling_params"
    ] == {"max_new_tokens": 9, "ignore_eos": True, "min_new_tokens": 9}


def test_tgi_tells_its_counts_with_the_last_token() -> None:
    token = {"index": 1, "token": {"id": 49, "text": " a", "logprob": -1.2, "special": False}, "generated_text": None}
    assert tgi.decode(json.dumps({**token, "details": None}).encode()).token
    details = {"finish_reason": "eos_token", "generated_tokens": 20, "seed": None, "input_length": 4}
    last = tgi.decode(json.dumps({**token, "generated_text": " a a", "details": details}).encode())
    assert (last.token, last.finish, last.usage) == (True, "stop", Usage(prompt_tokens=4, completion_tokens=20))
    failed = tgi.decode(b'{"error":"Model is overloaded","error_type":"overloaded"}')
    assert failed.error == "overloaded: Model is overloaded"
