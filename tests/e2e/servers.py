"""Little real servers in threads: they answer as a test says and remember what they were asked."""

from __future__ import annotations

import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from sweep import dialect
from sweep.dialect.sse import frame
from sweep.model import SimChunk, Usage

MODEL = "toy"
CHAT = dialect.get("chat")


@dataclass(frozen=True)
class Asked:
    method: str
    path: str  # without host, also where the server is asked as a proxy
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def preflight(self) -> bool:
        return self.method == "GET" or "preflight" in self.headers["x-request-id"]


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


Behaviour = Callable[[Asked], Answer | None]  # None: answer as a model does


class Site(ThreadingHTTPServer):
    """`models` are what it says it serves; whatever `behaviour` leaves open is answered as an OpenAI-like server would."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behaviour: Behaviour, models: tuple[dict[str, Any], ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.models = models
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.answering = 0  # requests whose answer has begun and not ended

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave in the middle are no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site
    timeout: ClassVar[float] = 30.0
    disable_nagle_algorithm: ClassVar[bool] = True

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            self.server.answering += 1
        try:
            self._answer(body)
        finally:
            with self.server.lock:
                self.server.answering -= 1

    def _answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, urlsplit(self.path).path, headers, body)
        self.server.asked.append(asked)
        answer = self.server.behaviour(asked)
        if answer is not None:
            self._plain(answer)
        elif asked.path == "/v1/models":
            self._plain(Answer(body=msgspec.json.encode({"data": self.server.models})))
        elif asked.path == "/v1/chat/completions":
            self._stream(body)
        else:
            self._plain(Answer(404, b'{"error":{"message":"nothing here"}}'))

    def _plain(self, answer: Answer) -> None:
        self.send_response(answer.status)
        headers = {"Content-Type": answer.kind, "Content-Length": str(len(answer.body))} | answer.headers
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def _stream(self, body: bytes) -> None:
        ask = CHAT.read(body)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(ask.osl):
            time.sleep(0.002)
            self._frames([CHAT.chunk("r", MODEL, SimChunk(text=" tok"))])
        usage = Usage(prompt_tokens=10 + 2 * len(ask.prompt.split()), completion_tokens=ask.osl)
        self._frames(CHAT.closing("r", MODEL, "length", usage))
        self.wfile.write(b"0\r\n\r\n")

    def _frames(self, frames: list[tuple[str | None, bytes]]) -> None:
        data = b"".join(frame(*each) for each in frames)
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, format: str, *args: Any) -> None:
        """Tests look at `asked`."""


def as_a_model(asked: Asked) -> Answer | None:
    return None


def always(answer: Answer) -> Behaviour:
    return lambda asked: answer


@contextmanager
def running(
    behaviour: Behaviour = as_a_model,
    *,
    models: tuple[dict[str, Any], ...] = ({"id": MODEL},),
    tls: Path | None = None,
    kind: type[Site] = Site,
) -> Iterator[Site]:
    """A site until the block ends. `tls` is a file with a certificate and its key."""
    site = kind(behaviour, models)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        site.socket = context.wrap_socket(site.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        thread.join()
        site.server_close()


@dataclass(frozen=True)
class Certificates:
    """Files with a certificate and its key each; `authority` signed all but the last."""

    authority: Path
    good: Path
    expired: Path
    other_host: Path
    self_signed: Path


def certificates(folder: Path) -> Certificates:
    """Made with the `openssl` command."""

    def openssl(*arguments: str | Path) -> None:
        subprocess.run(["openssl", *map(str, arguments)], cwd=folder, check=True, capture_output=True)

    def signed(name: str, host: str, days: int) -> Path:
        (folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{host}")
        openssl("req", "-new", "-key", "key.pem", "-subj", f"/CN={host}", "-out", f"{name}.csr")
        issuer = ["-CA", "authority.pem", "-CAkey", "key.pem", "-CAcreateserial"]
        openssl(
            "x509", "-req", "-in", f"{name}.csr", *issuer, "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.crt"
        )
        return with_key(name)

    def with_key(name: str) -> Path:
        whole = folder / f"{name}.whole.pem"
        whole.write_text((folder / f"{name}.crt").read_text() + (folder / "key.pem").read_text())
        return whole

    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem")
    openssl("req", "-x509", "-key", "key.pem", "-subj", "/CN=authority of a test", "-days", "2", "-out", "authority.pem")
    alone = ["-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    openssl("req", "-x509", "-key", "key.pem", "-subj", "/CN=localhost", *alone, "-out", "self_signed.crt")
    return Certificates(
        authority=folder / "authority.pem",
        good=signed("good", "localhost", 2),
        expired=signed("expired", "localhost", -1),
        other_host=signed("other_host", "elsewhere.test", 2),
        self_signed=with_key("self_signed"),
    )
