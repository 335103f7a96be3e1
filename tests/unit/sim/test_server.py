"""The endpoint over real sockets, in the test's own loop."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from itertools import pairwise
from urllib.request import urlopen

import msgspec
import pytest
import sim_driving as driving

from sweep import dialect as dialects
from sweep.dialect import sse
from sweep.errors import EndpointError
from sweep.model import Ask, Event
from sweep.prompt import media
from sweep.sim.app import BASE, App
from sweep.sim.device import preset
from sweep.sim.engine import Engine
from sweep.sim.loop import precise_loop
from sweep.sim.options import Options
from sweep.sim.sequence import Sequence
from sweep.sim.server import serve, start

FIELDS = ("stream_options", "ignore_eos")


def request(method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def asked(
    osl: int = 6, *, prompt: str = "hello", stream: bool = True, spoken: str = "chat", fields=FIELDS, **headers: str
) -> bytes:
    dialect = dialects.get(spoken)
    audio = media.sound("speech", osl, 0, "n") if "audio" in dialect.TRAITS.inputs else None
    body = dialect.encode(Ask(model=Options().preset, prompt=prompt, osl=osl, stream=stream, fields=fields, audio=audio))
    return request("POST", dialect.PATH if dialect.TRAITS.at_root else BASE + dialect.PATH, body, **headers)


async def exchange(port: int, raw: bytes) -> bytes:
    """Everything that comes back, also when the connection is reset."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    answer = b""
    try:
        while piece := await reader.read(65536):
            answer += piece
    except ConnectionResetError:
        answer += b"<reset>"
    writer.close()
    return answer


async def served(options: Options, *raws: bytes, then: Callable[[App, int], object] | None = None) -> tuple[App, list[bytes]]:
    """The answers to requests sent one after the other."""
    app = App(options)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(app.connect, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        answers = [await asyncio.wait_for(exchange(port, raw), 10) for raw in raws]
        if then:
            answers.append(await then(app, port))  # type: ignore[misc]
    app.close()
    await asyncio.sleep(0)
    return app, answers


def answers(options: Options, *raws: bytes, then=None) -> tuple[App, list[bytes]]:
    loop = precise_loop()
    try:
        return loop.run_until_complete(served(options, *raws, then=then))
    finally:
        loop.close()


def parted(raw: bytes) -> tuple[bytes, bytes]:
    """(head, body with its chunks joined)"""
    head, _, rest = raw.partition(b"\r\n\r\n")
    if b"chunked" not in head:
        return head, rest
    body = b""
    while rest and not rest.startswith(b"<reset>"):
        size, _, rest = rest.partition(b"\r\n")
        body += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return head, body


def events(raw: bytes, spoken: str = "chat") -> list[Event]:
    return [dialects.get(spoken).decode(data) for data in sse.Splitter().feed(parted(raw)[1])]


def tokens(raw: bytes, spoken: str = "chat") -> int:
    return sum(event.token for event in events(raw, spoken))


# --- answers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spoken", dialects.names())
def test_every_dialect_is_served_to_its_end(spoken):
    traits = dialects.get(spoken).TRAITS
    _, (raw,) = answers(Options(), asked(spoken=spoken))
    said = events(raw, spoken) if traits.streams else [dialects.get(spoken).decode_whole(parted(raw)[1])]
    usage = next(event.usage for event in reversed(said) if event.usage)
    assert parted(raw)[0].startswith(b"HTTP/1.1 200 OK")
    assert usage.completion_tokens == 6
    assert sum(event.token for event in said) == (6 if traits.streams else 1)
    assert {event.finish for event in said if event.finish} == {"length" if traits.streams else "stop"}
    if traits.streams:
        assert said[-1].done == traits.ends_with_done
        assert usage.prompt_tokens == {"chat": 8}.get(spoken, 1)


def test_a_picture_weighs_its_patches():
    pictures = (media.picture(280, 56, 0, "n"), media.picture(29, 28, 0, "n"))
    body = dialects.get("chat").encode(Ask(model=Options().preset, prompt="hello", osl=1, images=pictures))
    _, (raw,) = answers(Options(), request("POST", BASE + "/chat/completions", body.replace(b"true", b"false", 1)))
    assert dialects.get("chat").decode_whole(parted(raw)[1]).usage.prompt_tokens == 8 + 20 + 2


def test_an_answer_that_is_not_streamed_comes_whole():
    _, (raw,) = answers(Options(), asked(stream=False))
    event = dialects.get("chat").decode_whole(parted(raw)[1])
    assert event.usage.completion_tokens == 6
    assert event.finish == "length"


def test_an_interval_puts_several_tokens_in_a_chunk():
    _, (raw,) = answers(Options(stream_interval=4), asked(10))
    texts = [msgspec.json.decode(data)["choices"] for data in sse.Splitter().feed(parted(raw)[1])[:-1]]
    sizes = [len(choice[0]["delta"].get("content", "")) // 4 for choice in texts if choice]
    assert [size for size in sizes if size] == [1, 4, 4, 1]


def test_reasoning_comes_in_its_own_channel():
    _, (raw,) = answers(Options(reasoning=0.5), asked(10))
    carrying = [event for event in events(raw) if event.token]
    assert [event.answer for event in carrying] == [False] * 5 + [True] * 5
    assert events(raw)[-2].usage.reasoning_tokens == 5


def test_drafts_that_are_accepted_share_a_chunk():
    app, (raw,) = answers(Options(draft_tokens=3, acceptance=1.0), asked(9))
    assert list(app.log.rows[0].step_tokens) == [1, 4, 4]
    assert tokens(raw) == 3


def test_a_prefix_seen_before_is_cached():
    _, raws = answers(Options(prefix_cache=True), *[asked(prompt="x " * 1000)] * 2)
    assert [events(raw)[-2].usage.cached_tokens for raw in raws] == [0, 992]


def test_prefill_and_decode_may_be_apart():
    app, (raw,) = answers(Options(disaggregated=True, link_gb_per_s=1.0), asked(prompt="x " * 1000))
    row = app.log.rows[0]
    assert tokens(raw) == 6
    assert (row.step_ns[1] - row.step_ns[0]) / 1e9 > 1007 * 131_072 / 1e9


# --- truth ---------------------------------------------------------------------------------------------------------------


STEADY = 8.0  # steps so long that a busy machine does not slip


def test_the_truth_is_the_schedulers(tmp_path):
    path = tmp_path / "truth.jsonl"
    before_ns = time.monotonic_ns()
    app, raws = answers(
        Options(truth=str(path), time_scale=STEADY),
        asked(X_Request_Id="7-run"),
        asked(X_Request_Id="8-run"),
        request("GET", "/truth"),
    )
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == [json.loads(line) for line in parted(raws[-1])[1].splitlines()]
    assert [row["id"] for row in rows] == ["7-run", "8-run"]
    engine = Engine(preset(Options().preset), Options(time_scale=STEADY).settings)
    alone = Sequence(0, rows[0]["prompt_tokens"], 6, 0)
    lengths = [step.end_ns - step.start_ns for step in driving.play(engine, [alone])]
    for row in rows:
        assert before_ns < row["arrival_ns"] <= row["admitted_ns"] < row["first_ns"] < row["last_ns"] < time.monotonic_ns()
        ends = [row["admitted_ns"], *row["step_ns"]]
        took = [end - begin for begin, end in pairwise(ends)]
        assert all(seen >= known for seen, known in zip(took, lengths, strict=True))
        assert took == lengths or app.backend.stages[0].slipped_ns  # on a machine that is too busy, and then it says so
        assert all(
            step <= write <= written
            for step, write, written in zip(row["step_ns"], row["write_ns"], row["written_ns"], strict=True)
        )
        assert sum(row["write_tokens"]) == sum(row["step_tokens"]) == row["osl"] == 6


def test_the_truth_can_be_cleared():
    _, raws = answers(Options(), asked(), request("DELETE", "/truth"), request("GET", "/truth"))
    assert raws[1].startswith(b"HTTP/1.1 204")
    assert parted(raws[2])[1] == b""


def test_a_client_that_leaves_frees_its_place():
    async def leave(app: App, port: int) -> bytes:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked(5000))
        while not app.counters.generation_tokens:
            await asyncio.sleep(0.005)
        writer.close()
        while app.backend.stages[0].engine.pool.held:
            await asyncio.sleep(0.005)
        return b""

    app, _ = answers(Options(), then=leave)
    assert app.log.rows[0].outcome == "left"
    assert not app.backend.stages[0].engine.running


def test_metrics_carry_vllms_names():
    _, raws = answers(Options(), asked(), asked(), request("GET", "/metrics"))
    lines = parted(raws[-1])[1].decode().splitlines()
    values = {line.rpartition(" ")[0].partition("{")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}
    assert values["vllm:generation_tokens_total"] == 12
    assert values["vllm:prompt_tokens_total"] == 16
    assert values["vllm:request_success_total"] == values["vllm:time_to_first_token_seconds_count"] == 2
    assert values["vllm:num_requests_running"] == values["vllm:num_requests_waiting"] == values["vllm:kv_cache_usage_perc"] == 0
    assert 0 < values["vllm:time_to_first_token_seconds_sum"] < 1
    assert "sweep_sim_step_lateness_seconds" in values


# --- refusals ------------------------------------------------------------------------------------------------------------


def test_what_an_operator_asks():
    _, raws = answers(Options(), *(request("GET", path) for path in ("/v1/models", "/version", "/health", "/nowhere")))
    assert json.loads(parted(raws[0])[1])["data"][0] | {"max_model_len": 0} == {
        "id": "synthetic-8b-bf16", "object": "model", "created": 0, "owned_by": "sweep", "max_model_len": 0,
    }  # fmt: skip
    assert "version" in json.loads(parted(raws[1])[1])
    assert [raw.split()[1] for raw in raws] == [b"200", b"200", b"200", b"404"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"nonsense", b"400"),
        (b'{"model":"other","messages":[{"content":"hi"}]}', b"404"),
        (b'{"messages":[{"content":"hi"}],"max_tokens":200000}', b"400"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(body, status):
    _, (raw,) = answers(Options(), request("POST", "/v1/chat/completions", body))
    assert raw.split()[1] == status
    assert json.loads(parted(raw)[1])["error"]["message"]


def test_without_the_key_nobody_is_served():
    options = Options(api_key="secret")
    _, raws = answers(
        options, asked(), asked(Authorization="Bearer secret"), request("GET", "/v1/models"), request("GET", "/health")
    )
    assert [raw.split()[1] for raw in raws] == [b"401", b"200", b"401", b"200"]


# --- faults --------------------------------------------------------------------------------------------------------------


def done(raw: bytes) -> bool:
    return events(raw)[-1].done


FAULTY: dict[str, Callable[[bytes], bool]] = {
    "stall": done,
    "rate_limited": lambda raw: raw.startswith(b"HTTP/1.1 429") and b"\r\nRetry-After: 1\r\n" in raw,
    "unavailable": lambda raw: raw.startswith(b"HTTP/1.1 503"),
    "error_event": lambda raw: bool(events(raw)[-1].error) and 0 < tokens(raw) < 6 and raw.endswith(b"0\r\n\r\n"),
    "truncated": lambda raw: 0 < tokens(raw) < 6 and not done(raw) and raw.endswith(b"0\r\n\r\n"),
    "reset": lambda raw: raw.endswith(b"<reset>"),
    "crlf": lambda raw: done(raw) and parted(raw)[1].endswith(b"[DONE]\r\n\r\n"),
    "no_space": lambda raw: done(raw) and b"data: " not in parted(raw)[1],
    "comments": lambda raw: done(raw) and b"\n\n: keep-alive\n\n" in parted(raw)[1],
    "role_only": lambda raw: done(raw) and tokens(raw) == 6,
    "empty_deltas": lambda raw: done(raw) and len(events(raw)) == 3 + 1 + 2 * 6,
    "no_usage": lambda raw: done(raw) and not any(event.usage for event in events(raw)),
    "usage_in_finish": lambda raw: events(raw)[-2].usage is not None and events(raw)[-2].finish == "length",
    "multi_token": lambda raw: done(raw) and tokens(raw) == 3,
    "split": lambda raw: done(raw) and tokens(raw) == 6,
    "slow_headers": lambda raw: done(raw) and tokens(raw) == 6,
    "early_stop": lambda raw: 0 < events(raw)[-2].usage.completion_tokens < 6 and events(raw)[-3].finish == "stop",
    "hung": lambda raw: tokens(raw) == 0,
    "wrong_type": lambda raw: done(raw) and b"Content-Type: text/html" in raw,
    "huge_event": lambda raw: done(raw) and 1 << 20 < len(raw) < 1 << 21 and tokens(raw) == 6,
    "gzip": lambda raw: gzip.decompress(parted(raw)[1]).endswith(b"[DONE]\n\n"),
    "deflate": lambda raw: zlib.decompress(parted(raw)[1]).endswith(b"[DONE]\n\n"),
}
SLOW = {"stall": 0.2, "slow_headers": 0.5}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_is_what_it_says(fault):
    raw_request = asked()
    options = Options(faults=(fault,), stall_s=0.2)
    if fault == "hung":

        async def wait_a_little(app: App, port: int) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(raw_request)
            head = await reader.readuntil(b"\r\n\r\n")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.2)
            writer.close()
            await asyncio.sleep(0.01)
            return head

        app, (raw,) = answers(options, then=wait_a_little)
    else:
        began = time.monotonic()
        app, (raw,) = answers(options, raw_request)
        assert time.monotonic() - began > SLOW.get(fault, 0)
    assert FAULTY[fault](raw)
    assert app.log.rows[0].faults == [fault]
    assert not app.backend.stages[0].engine.pool.held


def test_a_fault_belongs_to_the_number_the_client_gave():
    options = Options(faults=("rate_limited=0.5",), seed=4)
    app, raws = answers(options, *(asked(1, X_Request_Id=f"{n}-run") for n in range(12)))
    _, swar = answers(options, *(asked(1, X_Request_Id=f"{n}-run") for n in reversed(range(12))))
    assert [raw.split()[1] for raw in raws] == [raw.split()[1] for raw in reversed(swar)]
    assert 0 < sum(row.outcome == "rate_limited" for row in app.log.rows) < 12


def test_a_role_comes_before_the_first_token_only_as_a_fault():
    async def first(app: App, port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked(prompt="x " * 4000))
        await reader.readuntil(b"\r\n\r\n")
        began = time.monotonic()
        await reader.readuntil(b"\n\n")
        writer.close()
        return f"{time.monotonic() - began}".encode()

    _, (early,) = answers(Options(faults=("role_only",)), then=first)
    _, (usual,) = answers(Options(), then=first)
    assert float(early) < float(usual)
    assert float(usual) > 0.1


def test_faults_can_be_combined():
    faults = ("crlf", "comments", "split", "multi_token", "empty_deltas", "stall", "huge_event")
    _, (raw,) = answers(Options(faults=faults, stall_s=0.05), asked(50))
    assert done(raw)
    assert events(raw)[-2].usage.completion_tokens == 50


# --- a process of its own ------------------------------------------------------------------------------------------------


def test_it_starts_and_stops():
    with start("synthetic-8b-bf16", time_scale=0.5) as process:
        assert process.url.startswith("http://127.0.0.1:")
    assert process.popen.returncode == 0


def test_it_ends_with_the_process_that_started_it():
    code = "from sweep.sim.server import start; print(start('synthetic-8b-bf16').popen.pid, flush=True); import os; os._exit(1)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(ended.stdout)
    until = time.monotonic() + 60
    while time.monotonic() < until and _lives(pid):
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    except ProcessLookupError:
        return False
    return not state.startswith("Z")


def test_a_port_in_use_is_a_clean_error():
    with start("synthetic-8b-bf16") as process, pytest.raises(EndpointError, match="cannot listen"):
        serve(Options(port=int(process.url.rpartition(":")[2])), print)


def test_the_url_of_an_ipv6_address_is_a_url() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with start("synthetic-8b-bf16", host="::1") as process, urlopen(f"{process.url}/v1/models", timeout=10) as answer:
        assert process.url.startswith("http://[::1]:")
        assert answer.status == 200
