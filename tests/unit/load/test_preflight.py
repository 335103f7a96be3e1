"""What preflight learns, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import Iterator

import msgspec
import pytest
from listening import listening_aside

from sweep import dialect as dialects
from sweep.errors import EndpointError, ModelError
from sweep.load import call, inquiry, preflight, prompts
from sweep.load.client import target_from
from sweep.load.inquiry import MAX_REQUESTS
from sweep.load.preflight import explore, probe
from sweep.model import Calibration
from sweep.report import endpoint as page
from sweep.sim.server import start


def test_a_good_server_is_known_after_four_requests(serve, server) -> None:
    endpoint = probe(target_from(serve(server), environ={}), "chat")
    assert (endpoint.model, endpoint.server, endpoint.version, endpoint.context_tokens) == ("m", "toy", "1.2.3", 4096)
    assert endpoint.calibration.tokens_per_word == pytest.approx(2)
    assert endpoint.calibration.template_tokens == pytest.approx(10)
    assert endpoint.fields == ("stream_options", "ignore_eos", "min_tokens")
    assert (endpoint.osl_honoured, endpoint.usage_reported, endpoint.keep_alive) == (True, True, True)
    assert endpoint.loopback
    assert endpoint.verified_tls is None
    assert endpoint.rtt_s is not None
    assert endpoint.ttft_s is not None
    assert endpoint.tpot_s is not None
    assert endpoint.rtt_s < endpoint.ttft_s
    assert endpoint.probes == len(server.asked) == 4


@pytest.mark.parametrize("names", [True, False])
def test_refused_fields_are_left_out(serve, server, names: bool) -> None:
    server.refuses, server.names_refused = ("ignore_eos", "min_tokens"), names
    endpoint = probe(target_from(serve(server), environ={}), "completions")
    assert endpoint.fields == ("stream_options",)
    assert endpoint.facts["fields_refused"] == ["ignore_eos", "min_tokens"]
    assert endpoint.usage_reported
    assert endpoint.osl_honoured is False  # nothing demands it, though the probes were as long as asked
    assert len(server.asked) <= MAX_REQUESTS


def test_a_server_that_wants_the_length_under_its_newer_name(serve, server) -> None:
    server.refuses = ('"max_tokens"',)
    url = serve(server)
    with pytest.raises(EndpointError, match="max_tokens"):
        probe(target_from(url, environ={}), "chat")
    server.advises = "use 'max_completion_tokens' instead"
    endpoint = probe(target_from(url, environ={}), "chat")
    assert endpoint.fields == ("stream_options", "ignore_eos", "min_tokens", "max_completion_tokens")
    assert (endpoint.osl_honoured, endpoint.facts["fields_refused"]) == (True, [])


def test_a_server_that_takes_no_field_at_all(serve, server) -> None:
    server.refuses, server.names_refused = ("stream_options", "ignore_eos", "min_tokens"), False
    endpoint = probe(target_from(serve(server), environ={}), "completions")
    assert endpoint.fields == ()
    assert (endpoint.usage_reported, endpoint.osl_honoured, endpoint.calibration.source) == (False, None, "assumed")


def test_a_server_that_answers_at_its_own_length(serve, server) -> None:
    server.length = 5
    assert probe(target_from(serve(server), environ={}), "chat").osl_honoured is False


def test_a_promise_to_keep_the_connection_that_is_broken(serve, server) -> None:
    server.closes = True
    endpoint = probe(target_from(serve(server), environ={}), "chat")
    assert endpoint.calibration.source == "usage"
    assert endpoint.keep_alive is False


def test_complete_answers_whose_body_stays_open_are_answers(serve, server, monkeypatch) -> None:
    monkeypatch.setattr(call, "COMPLETE_GRACE_NS", 50_000_000)
    server.never_ends = True
    endpoint = probe(target_from(serve(server), environ={}), "chat")
    assert endpoint.calibration.source == "usage"
    assert endpoint.keep_alive is False


def test_a_list_that_cannot_be_read_is_not_needed_where_the_model_is_named(serve, server) -> None:
    class Odd(type(server)):
        def _get(self, path: str, writer: asyncio.StreamWriter) -> None:
            self._plain(writer, "200 OK\r\nContent-Encoding: br", b"\x0b\x02\x80", "application/json")

    url = serve(Odd())
    assert probe(target_from(url, model="x", environ={}), "chat").model == "x"
    with pytest.raises(EndpointError):
        probe(target_from(url, environ={}), "chat")


def test_no_model_several_models_and_a_named_one(serve, server) -> None:
    url = serve(server)
    server.models = [{"id": "a"}, {"id": "b"}]
    with pytest.raises(ModelError, match="2 models: a, b") as error:
        probe(target_from(url, environ={}), "chat")
    assert "--model" in (error.value.hint or "")
    server.models = None
    with pytest.raises(ModelError, match="names no model"):
        probe(target_from(url, environ={}), "chat")
    assert probe(target_from(url, model="x", environ={}), "chat").model == "x"


@pytest.fixture
def no_pause(monkeypatch) -> None:
    monkeypatch.setattr(inquiry, "PAUSE_S", 0.001)


@pytest.mark.parametrize("busy", [{1: ""}, {2: ""}, {2: "\r\nRetry-After: 0", 3: ""}])
def test_a_server_too_busy_for_a_question_is_asked_again(serve, server, no_pause: None, busy: dict[int, str]) -> None:
    server.turns_away = busy
    endpoint = probe(target_from(serve(server), environ={}), "chat")
    assert endpoint.calibration.source == "usage"
    assert endpoint.calibration.tokens_per_word == pytest.approx(2)
    assert endpoint.probes == len(server.asked) == 4 + len(busy)


@pytest.mark.parametrize("busy", [dict.fromkeys(range(2, 20), ""), {2: "\r\nRetry-After: 3600"}])
def test_a_server_that_stays_too_busy_is_not_known_by_half(serve, server, no_pause: None, busy: dict[int, str]) -> None:
    server.turns_away = busy
    with pytest.raises(EndpointError, match=r"takes no requests now \(HTTP 429\).*slow down"):
        probe(target_from(serve(server), environ={}), "chat")
    assert len(server.asked) <= MAX_REQUESTS


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        ("401 Unauthorized", b'{"error":{"message":"bad key sk-12345678"}}', EndpointError, "refuses the key"),
        ("404 Not Found", b"nothing", EndpointError, "is not there"),
        ("404 Not Found", b'{"error":{"message":"The model `m` does not exist"}}', ModelError, "does not serve 'm'"),
        ("429 Too Many Requests", b"busy", EndpointError, r"takes no requests now \(HTTP 429\): busy"),
        ("302 Found", b"", EndpointError, "redirects"),
        ("500 Internal Server Error", b"<html><title>Oops</title></html>", EndpointError, "HTTP 500: Oops"),
    ],
)
def test_refusals_say_what_to_do(
    serve, server, no_pause: None, status: str, body: bytes, kind: type[Exception], says: str
) -> None:
    server.status = (status, body)
    with pytest.raises(kind, match=says) as error:
        probe(target_from(serve(server), headers=["Authorization: Bearer sk-12345678"], environ={}), "chat")
    assert "sk-12345678" not in str(error.value)
    assert error.value.hint


def test_nobody_there() -> None:
    with pytest.raises(EndpointError, match=r"nothing answers at 127\.0\.0\.1:9"):
        probe(target_from("http://127.0.0.1:9", environ={}), "chat")
    with pytest.raises(EndpointError, match=r"no host called nowhere\.invalid"):
        probe(target_from("http://nowhere.invalid", environ={}), "chat")


def test_tls_verified_or_not_at_all(serve, server) -> None:
    url = serve(server, tls=True)
    with pytest.raises(EndpointError, match="not trusted: self") as error:
        probe(target_from(url, environ={}), "chat")
    assert "--insecure" in (error.value.hint or "")
    endpoint = probe(target_from(url, insecure=True, environ={}), "chat")
    assert (endpoint.verified_tls, endpoint.insecure) == (False, True)


@pytest.mark.parametrize(("scheme", "other"), [("https", "http://"), ("http", "https://")])
def test_a_server_that_closes_what_it_does_not_understand(scheme: str, other: str) -> None:
    """As many a server does with a TLS handshake: there is no reason to be had, only the fact."""

    async def shut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.close()

    with listening_aside(shut) as port, pytest.raises(EndpointError, match=rf":{port} closed the connection") as error:
        probe(target_from(f"{scheme}://127.0.0.1:{port}", environ={}), "chat")
    assert other in (error.value.hint or "")


def test_a_list_of_models_that_is_a_bomb(serve, server) -> None:
    """A hundred megabytes of nothing in a hundred kilobytes: read no further than anyone's list of models would be."""
    bomb = gzip.compress(b" " * 100_000_000)

    class Bomber(type(server)):
        def _get(self, path: str, writer: asyncio.StreamWriter) -> None:
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
            writer.write(f"{head}Content-Length: {len(bomb)}\r\n\r\n".encode() + bomb)

    url = serve(Bomber())
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="names no model"):
            probe(target_from(url, environ={}), "chat")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 << 20


def test_a_server_that_says_nothing(serve, server, monkeypatch) -> None:
    """As one without TLS does when asked for it."""
    monkeypatch.setattr(preflight, "GET_TIMEOUT_S", 0.2)
    with pytest.raises(EndpointError, match="does not answer"):
        probe(target_from(serve(server).replace("http:", "https:"), environ={}), "chat")


def test_a_thorough_look_at_a_simulated_server_learns_the_rest() -> None:
    with start("synthetic-8b-bf16", prefix_cache=True, draft_tokens=4, acceptance=0.6, reasoning=0.5) as served:
        target = target_from(served.url, environ={})
        quick, endpoint = probe(target, "chat"), probe(target, "chat", thorough=True)
    facts = endpoint.facts
    assert (facts["continuous_usage"], facts["token_ids"], facts["chunk_is_token"]) == (True, True, False)
    assert facts["tokens_per_chunk"] > 1.5
    assert (facts["prompt_cache"], facts["speculation"], facts["reasoning"]) == ("on", "suspected", True)
    assert facts["tokenize"] is True
    assert endpoint.calibration.template_tokens == pytest.approx(7)
    assert "continuous_usage" in endpoint.fields
    assert "continuous_usage" in quick.fields, "a run needs it as well where chunks hide tokens"
    assert quick.probes < endpoint.probes <= MAX_REQUESTS


@pytest.mark.parametrize("before", [0, 1])
def test_prompts_are_ids_where_they_are_counted_as_they_are(serve, server, before: int) -> None:
    server.before_prompts = before
    endpoint, passage = explore(target_from(serve(server), environ={}), "completions")
    assert passage is not None
    assert endpoint.calibration == Calibration(tokens_per_word=1.0, template_tokens=before, source="ids")
    assert dict(page.rows(endpoint))["prompt"].startswith("exact: token ids")
    assert len(server.asked) == endpoint.probes == 6
    assert str(passage.ids[:3])[1:-1] not in str(endpoint), "the passage is not part of what is known"


def test_prompts_are_text_where_ids_are_counted_otherwise(serve, server) -> None:
    server.before_prompts = 2
    endpoint, passage = explore(target_from(serve(server), environ={}), "completions")
    assert (passage, endpoint.takes_ids, endpoint.facts["prompt_ids"]) == (None, False, False)
    assert endpoint.calibration.tokens_per_word == pytest.approx(1.0)
    assert endpoint.calibration.source == "usage"


def test_a_tokenizer_given_makes_ids_only_where_it_counts_as_the_server_does(serve, server, monkeypatch) -> None:
    monkeypatch.setattr(prompts, "encoder", lambda path: lambda text: [len(word) for word in text.split()])
    target = msgspec.structs.replace(target_from(serve(server), environ={}), tokenizer="tokenizer.json")
    _, passage = explore(target, "completions")
    assert passage is None, "the server counts two tokens a word"
    assert sum(path == "/v1/completions" for path, _, _ in server.asked) == 2, "ids of another tokenizer are never sent"


def test_a_chat_takes_no_ids(serve, server) -> None:
    server.before_prompts = 0
    assert explore(target_from(serve(server), environ={}), "chat")[1] is None


@pytest.mark.parametrize(("again_s", "said"), [(0.002, "suspected"), (None, "no sign of it")])
def test_a_prompt_cache_shows_by_time_where_the_server_does_not_say(serve, server, again_s: float | None, said: str) -> None:
    server.ttft_s, server.remembers_s = 0.06, again_s
    endpoint = probe(target_from(serve(server), environ={}), "chat", thorough=True)
    assert endpoint.facts["prompt_cache"] == said
    assert len(server.asked) == endpoint.probes <= MAX_REQUESTS


@pytest.fixture(scope="module")
def simulated() -> Iterator[str]:
    with start("synthetic-8b-bf16") as served:
        yield served.url


def test_a_thorough_look_at_a_plain_server(simulated: str) -> None:
    endpoint = probe(target_from(simulated, environ={}), "chat", thorough=True)
    facts = endpoint.facts
    assert (facts["chunk_is_token"], facts["speculation"], facts["reasoning"]) == (True, "no sign of it", False)
    assert facts["prompt_cache"] in ("off", None)
    assert endpoint.fields == ("stream_options", "ignore_eos", "min_tokens")


@pytest.mark.parametrize("dialect", [name for name in dialects.names() if name != "transcription"])
def test_every_dialect_can_be_looked_at(dialect: str, simulated: str) -> None:
    endpoint, _ = explore(target_from(simulated, environ={}), dialect, thorough=True)
    assert endpoint.probes <= MAX_REQUESTS
    assert dict(page.rows(endpoint))["model"] == "synthetic-8b-bf16"


def test_a_thorough_look_stays_below_its_limit_at_a_server_that_minds_everything(serve, server) -> None:
    server.refuses, server.names_refused = ("stream_options", "ignore_eos", "min_tokens"), True
    server.models = [{"id": "m"}]
    endpoint, _ = explore(target_from(serve(server), environ={}), "completions", thorough=True)
    assert len(server.asked) == endpoint.probes <= MAX_REQUESTS
    assert dict(page.rows(endpoint))["token counts"] == "none: chunks are counted"
