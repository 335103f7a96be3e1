"""Every way to hold it wrong: one line, one hint, the right exit code, nothing written."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Sweep = Callable[..., "CompletedProcess[str]"]
Answer = tuple[int, dict[str, str], bytes]
CERTIFICATE = Path(__file__).parents[1] / "unit" / "load" / "localhost.pem"
JSON, HTML = {"content-type": "application/json"}, {"content-type": "text/html"}
SECRET = "sk-very-secret"


@contextmanager
def serving(answer: Answer, *, tls: bool = False) -> Iterator[tuple[str, list[str]]]:
    """A server that gives every request the same answer, and the Authorization headers it saw."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("authorization", ""))
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, headers, body = answer
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def said(ended: CompletedProcess[str]) -> tuple[str, str]:
    """The error and the hint, which are all there is."""
    error, hint = ended.stderr.strip().splitlines()[-2:]
    assert ended.stdout == ""
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    assert SECRET not in ended.stderr
    return error, hint


@pytest.mark.parametrize(
    ("answer", "code", "error", "hint"),
    [
        ((401, JSON, b'{"error":{"message":"no such key sk-very-secret"}}'), 3, "refuses the key (HTTP 401)", "SWEEP_API_KEY"),
        ((404, JSON, b"{}"), 2, "names no model", "--model"),
        ((500, HTML, b"boom"), 2, "names no model", "--model"),
        ((200, HTML, b"<!doctype html><title>hi</title>"), 3, "a web page, not with an API", "URL"),
        ((302, {"location": "http://127.0.0.2:9/v1/models"}, b""), 3, "redirects", "redirects are not followed"),
        ((200, JSON, b'{"data":[{"id":"a"},{"id":"b"}]}'), 2, "serves 2 models: a, b", "--model"),
    ],
    ids=["401", "404", "500", "html", "redirect", "two-models"],
)
def test_answers(answer: Answer, code: int, error: str, hint: str, sweep_command: Sweep, tmp_path: Path) -> None:
    with serving(answer) as (url, seen):
        header = f"Authorization: Bearer {SECRET}"
        ended = sweep_command("--endpoint", url, "--header", header, "--out", tmp_path / "out", expect=code)
    assert error in said(ended)[0]
    assert hint in said(ended)[1]
    assert set(seen) == {f"Bearer {SECRET}"}
    assert not list(tmp_path.rglob("*.json"))


def test_a_certificate_that_does_not_hold(sweep_command: Sweep, tmp_path: Path) -> None:
    with serving((404, JSON, b"{}"), tls=True) as (url, seen):
        ended = sweep_command("--endpoint", url, "--out", tmp_path, expect=3)
    assert "certificate" in said(ended)[0]
    assert "--insecure" in said(ended)[1]
    assert seen == []


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        (["--endpoint", "http://127.0.0.1:9"], 3, "nothing answers at 127.0.0.1:9", "is the server up"),
        (["--endpoint", "http://no-such-host.invalid"], 3, "no host called no-such-host.invalid", "endpoint's name"),
        (["--endpoint", "ftp://host"], 2, "http or https", "http://localhost:8000"),
        (["--endpoint", "sim:nope"], 2, "unknown preset 'nope'", "synthetic-8b-bf16"),
        (["--endpoint", "sim", "--profile", "nope"], 2, "unknown profile 'nope'", "1k-8k"),
        (["--endpoint", "sim", "--profile", "PROFILE"], 2, '$.osl.mean: expected int, got "8k"', "whole tokens"),
        (["--endpoint", "sim", "--profile", "2000k/1k"], 2, "holds 131072", "these fit: 1k-1k"),
        (["--endpoint", "sim", "--slo", "ttfx<=1s"], 2, "ttfx", "known metrics: ttft, tpot, e2e"),
        (["--endpoint", "sim", "--slo", "ttft<=1"], 2, "ttft<=1", "ms"),
        (["--endpoint", "sim", "--grid", "0,4"], 2, "grid", "--grid 1,2,4,8"),
        (["--endpoint", "sim", "--grid", "4", "--rate", "1"], 2, "exclude each other", "--rate"),
        (["--endpoint", "sim", "--header", "nonsense"], 2, "'Name: value'", "Authorization"),
        (["--endpoint", "sim", "--set", "gpus=8"], 2, "section.key=value", "hardware."),
        (["--endpoint", "sim", "--describe", "/nowhere.toml"], 2, "/nowhere.toml", "TOML"),
        (["--endpoint", "sim", "--out", "/proc/nowhere"], 2, "/proc/nowhere", "--out"),
        (["--endpoint", "http://127.0.0.1:9", "--virtual"], 2, "--virtual", "--endpoint sim"),
        (["resume", "/nowhere"], 4, "/nowhere", "folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_arguments(arguments: list[str], code: int, error: str, hint: str, sweep_command: Sweep, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('title = "x"\nisl.mean = 1\nosl.mean = "8k"\n')
    out = [] if "--out" in arguments or arguments[0] == "resume" else ["--out", tmp_path / "out"]
    ended = sweep_command(*[str(bad) if each == "PROFILE" else each for each in arguments], *out, expect=code)
    assert error in said(ended)[0]
    assert hint in said(ended)[1]
    assert not list(tmp_path.rglob("*.json"))
