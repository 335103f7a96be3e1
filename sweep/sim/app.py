"""The simulated endpoint's routes: every dialect of the project, and what an operator asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic_ns
from weakref import WeakSet

import msgspec

import sweep
from sweep import dialect as dialects
from sweep.dialect import Dialect
from sweep.model import SimAsk, Usage
from sweep.sim import faults, http, metrics, tokens
from sweep.sim.device import preset
from sweep.sim.engine import Step
from sweep.sim.options import MAX_MODEL_TOKENS, Options
from sweep.sim.realtime import Backend
from sweep.sim.reply import Manner, Reply
from sweep.sim.sequence import Sequence
from sweep.sim.truth import Log, Row
from sweep.sim.work import work

BASE = "/v1"
REFUSALS = {"rate_limited": (429, {"Retry_After": str(faults.RETRY_AFTER_S)}), "unavailable": (503, {})}


class Text(msgspec.Struct):
    """What `/tokenize` is asked."""

    prompt: str


class Whole:
    """An answer that is sent in one piece when it is complete."""

    def __init__(self, row: Row, send: Callable[[], None], ended: Callable[[Whole], None], drop: Callable[[], None]) -> None:
        self.row = row
        self.finished = False
        self._send = send
        self._ended = ended
        self._drop = drop

    def emit(self, tokens: int, last: bool) -> None:
        if last and not self.finished:
            self.finished = True
            self._send()
            self._ended(self)

    def leave(self) -> None:
        if not self.finished:
            self.finished = True
            self.row.outcome = "left"
            self._drop()
            self._ended(self)


class App:
    """One simulated endpoint. Made inside the running loop."""

    def __init__(self, options: Options) -> None:
        device = preset(options.preset)
        self.options = options
        self.model = options.preset
        self.backend = Backend(device, options.settings, self._emit, options.link_b_per_s)
        self.log = Log(options.truth)
        self.counters = metrics.Counters()
        self.max_tokens = min(MAX_MODEL_TOKENS, self.backend.stages[0].engine.max_tokens)
        self._faults = faults.parse(options.faults, options.seed)
        self._manner = Manner(self.model, options.stream_interval, options.reasoning, options.stall_s, self._faults)
        self._dialects = {_path(spoken): spoken for spoken in map(dialects.get, dialects.names())}
        self._open: dict[int, Reply | Whole] = {}
        self._requests = 0
        self._connections: WeakSet[http.Connection] = WeakSet()

    def connect(self) -> http.Connection:
        """A client's connection, for the server that accepted it."""
        connection = http.Connection(self.handle)
        self._connections.add(connection)
        return connection

    def close(self) -> None:
        """Ends every connection; the loop needs one more round for it."""
        for connection in self._connections:
            connection.abort()
        self.log.close()

    # --- routes ---------------------------------------------------------------------------------------------------

    def handle(self, connection: http.Connection, request: http.Request) -> None:
        path = request.path.partition("?")[0]
        if (request.method, path) == ("GET", "/health"):
            return _answer(connection, 200, b"")
        if not self._welcome(request, path):
            return _answer(connection, 401, b'{"error":{"message":"Unauthorized","type":"invalid_request_error","code":401}}')
        if request.method == "POST" and path in self._dialects:
            return self._generate(connection, request, self._dialects[path])
        asked = (request.method, path)
        if asked == ("POST", "/tokenize"):
            return self._tokenize(connection, request)
        if asked == ("GET", BASE + "/models"):
            return _answer(connection, 200, msgspec.json.encode(self._models()))
        if asked == ("GET", "/version"):
            return _answer(connection, 200, msgspec.json.encode({"version": sweep.__version__}))
        if asked == ("GET", "/metrics"):
            text = metrics.render(self.model, self.backend.stages, self.counters)
            return _answer(connection, 200, text, "text/plain; version=0.0.4")
        if asked == ("GET", "/truth"):
            return _answer(connection, 200, self.log.lines(), "application/x-ndjson")
        if asked == ("DELETE", "/truth"):
            self.log.clear()
            return _answer(connection, 204, b"")
        return _answer(connection, 404, b'{"error":{"message":"Not Found","type":"invalid_request_error","code":404}}')

    def _welcome(self, request: http.Request, path: str) -> bool:
        key = self.options.api_key
        return not key or not path.startswith(BASE) or request.headers.get("authorization") == f"Bearer {key}"

    def _models(self) -> dict[str, object]:
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "sweep", "max_model_len": self.max_tokens}
        return {"object": "list", "data": [model]}

    def _tokenize(self, connection: http.Connection, request: http.Request) -> None:
        try:
            text = msgspec.json.decode(request.body, type=Text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _answer(connection, 400, msgspec.json.encode({"error": {"message": str(error), "code": 400}}))
        ids = tokens.ids(text.prompt.encode())
        return _answer(
            connection, 200, msgspec.json.encode({"count": len(ids), "max_model_len": self.max_tokens, "tokens": ids})
        )

    # --- generation -----------------------------------------------------------------------------------------------

    def _generate(self, connection: http.Connection, request: http.Request, spoken: Dialect) -> None:
        try:
            ask = spoken.read(request.body)
        except ValueError as error:
            return _answer(connection, 400, spoken.failure(str(error), 400))
        if ask.model not in (None, self.model):
            return _answer(connection, 404, spoken.failure(f"The model `{ask.model}` does not exist.", 404))
        prompt = ask.prompt.encode()
        count = tokens.count(prompt, spoken.NAME) + ask.media_tokens
        asked = work(spoken.TRAITS, count, ask.osl, self.options.unit_tokens)
        if asked.prompt + asked.steps > self.max_tokens:
            message = f"maximum context length is {self.max_tokens} tokens, got {asked.prompt} + {asked.steps}"
            return _answer(connection, 400, spoken.failure(message, 400))
        number = self._requests
        self._requests += 1
        identity = request.headers.get("x-request-id")
        key = _key(identity, number)
        sorts = self._faults.of(key)
        osl = max(1, self._faults.place(key, ask.osl)) if "early_stop" in sorts else ask.osl
        row = Row(identity, number, key, spoken.NAME, count, osl, request.arrival_ns, sorted(sorts))
        refusal = next((kind for kind in REFUSALS if kind in sorts), None)
        if refusal:
            status, extra = REFUSALS[refusal]
            row.outcome = refusal
            self.log.add(row)
            return _answer(connection, status, spoken.failure(f"simulated {refusal}", status), **extra)
        chain = tokens.chain(prompt, count) if self.options.prefix_cache else ()
        sequence = Sequence(number, asked.prompt, min(asked.steps, osl), request.arrival_ns, chain)
        self._open[number] = reply = self._reply(connection, spoken, ask, row, sequence)
        connection.gone = reply.leave
        self.backend.submit(sequence)
        return None

    def _reply(self, connection: http.Connection, spoken: Dialect, ask: SimAsk, row: Row, sequence: Sequence) -> Reply | Whole:
        drop = partial(self.backend.drop, sequence)
        if ask.stream:
            return Reply(connection, spoken, ask, row, self._manner, self._ended, drop)

        def send() -> None:
            usage = Usage(prompt_tokens=row.prompt_tokens, completion_tokens=row.osl, cached_tokens=row.cached_tokens)
            finish = "stop" if "early_stop" in row.faults else "length"
            text = tokens.TOKEN_TEXT * row.osl
            answer = spoken.whole(f"sim-{row.request}", self.model, text, finish, usage)
            began_ns = monotonic_ns()
            _answer(connection, 200, answer)
            row.wrote(began_ns, monotonic_ns(), row.osl)

        return Whole(row, send, self._ended, drop)

    def _emit(self, sequence: Sequence, count: int, step: Step, last: bool) -> None:
        self.counters.generation_tokens += count
        reply = self._open.get(sequence.request)
        if reply is None:
            return
        row = reply.row
        if not row.step_ns:
            row.admitted_ns = max(sequence.admitted_ns or 0, row.arrival_ns)  # a late step is scheduled before it begins
            row.cached_tokens = sequence.cached
            self.counters.prompt_tokens += sequence.prompt
            self.counters.cached_tokens += sequence.cached
            self.counters.first_token((step.end_ns - sequence.arrival_ns) / 1e9)
        row.step_ns.append(step.end_ns)
        row.step_tokens.append(count)
        row.preemptions = sequence.preemptions
        if last:
            self.counters.finished += 1
        reply.emit(count, last)

    def _ended(self, reply: Reply | Whole) -> None:
        self._open.pop(reply.row.request, None)
        self.log.add(reply.row)


def _path(spoken: Dialect) -> str:
    return spoken.PATH if spoken.TRAITS.at_root else BASE + spoken.PATH


def _key(identity: str | None, number: int) -> int:
    """What a request's faults are drawn by: the number its client gave it (`7-run`), so that they do not depend on the order
    of arrival; else its turn."""
    given = (identity or "").partition("-")[0]
    return int(given) if given.isdecimal() and len(given) < 12 else number


def _answer(
    connection: http.Connection, status: int, body: bytes, content_type: str = "application/json", **extra: str
) -> None:
    connection.write(http.whole(status, body, content_type, **extra))
    connection.done()
