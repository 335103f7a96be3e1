"""Single questions to an endpoint, beside any load: each bounded in time and size, all of them counted."""

from __future__ import annotations

import asyncio
import secrets
import socket
from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sweep.dialect import Dialect
from sweep.load import tokenize
from sweep.load.call import Call
from sweep.load.caller import Caller
from sweep.load.client import Target, body_of, open_session, proxy_for
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.load.refusal import BUSY
from sweep.load.wire import Wire
from sweep.model import Images, Outcome, TokenSource
from sweep.prompt.ask import compose_ask
from sweep.prompt.ids import Passage
from sweep.prompt.text import compose

MAX_REQUESTS = 12
RESERVE = 4  # of them must be left for the rest when one is tried that is optional, or once more
AGAIN = 3  # times an endpoint is asked once more that says it is too busy
PAUSE_S, LONGEST_PAUSE_S = 1.0, 5.0  # before that, where it does not say how long; what is waited for if it does
MAX_BYTES = 2 << 20  # a market place's list of models is one megabyte
RTT_CONNECTS = 5
ANSWER_TIMEOUT_S = 120.0  # a server may compile or load on its first request
GLANCE_S = 0.01  # how often to look whether enough of an answer came


@dataclass(frozen=True)
class Reply:
    """An answer to a prompt: how many words that had, how the call went, the tokens of each chunk."""

    words: int
    call: Call
    chunk_tokens: tuple[int, ...]

    @property
    def ok(self) -> bool:
        return self.call.outcome is Outcome.OK

    @property
    def turned_away(self) -> bool:
        """Nothing is wrong with what was asked: the endpoint was too busy for it."""
        return not self.ok and self.call.status in BUSY

    @property
    def prompt_tokens(self) -> int | None:
        return self.call.meter.usage.prompt_tokens if self.call.meter.usage else None

    @property
    def completion_tokens(self) -> int | None:
        tokens, source = self.call.meter.tokens()
        return tokens if source is TokenSource.USAGE else None

    @property
    def cached_tokens(self) -> int | None:
        return self.call.meter.usage.cached_tokens if self.call.meter.usage else None

    @property
    def ttft_s(self) -> float | None:
        meter, sent_ns = self.call.meter, self.call.sent_ns
        return (meter.first_ns - sent_ns) / 1e9 if meter.first_ns and sent_ns else None

    @property
    def tpot_s(self) -> float | None:
        meter, (tokens, _) = self.call.meter, self.call.meter.tokens()
        if meter.first_ns is None or meter.last_ns is None or not tokens or tokens < 2 or meter.last_ns == meter.first_ns:
            return None
        return (meter.last_ns - meter.first_ns) / 1e9 / (tokens - 1)


@dataclass
class Inquiry:
    """As an async context manager. Answers are asked to have `osl` units of work; `patience_s` is for what are not prompts."""

    target: Target
    dialect: Dialect
    text: str
    images: Images | None
    osl: int
    seed: int
    patience_s: float
    extra: dict[str, Any] = field(default_factory=dict)  # fields of the user's own in every prompt's request
    model: str = ""
    fields: tuple[str, ...] = ()  # the optional ones that every prompt is sent with
    requests: int = 0
    nonce: str = field(default_factory=lambda: secrets.token_hex(4))
    server: str | None = None  # as the header of that name says
    tokenizes: bool | None = None  # its /tokenize tells the tokens of a text; None: it was not asked

    async def __aenter__(self) -> Inquiry:
        self._session = await open_session(self.target).__aenter__()
        self._caller = await Caller(self.target, self.dialect, f"preflight-{self.nonce}", Wire()).__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._caller.__aexit__(kind, error, trace)
        await self._session.__aexit__(kind, error, trace)

    @property
    def left(self) -> int:
        return MAX_REQUESTS - self.requests

    async def ask(
        self,
        words: int,
        *,
        osl: int | None = None,
        more: tuple[str, ...] = (),
        prompt: int | None = None,
        first_only: bool = False,
        passage: Passage | None = None,
    ) -> Reply:
        """The answer to prompt number `prompt`, by default to one never sent before; `more` are further optional fields.

        `first_only`: no more of it than its first token. With a `passage` the prompt is so many of its token ids. An endpoint
        that is too busy is asked again a few times, unless it wants to be left alone for long.
        """
        once = partial(self._ask, words, osl, more, prompt, first_only, passage)
        reply = await once()
        for _ in range(AGAIN):
            asked_for_s = reply.call.retry_after_s
            pause_s = PAUSE_S if asked_for_s is None else asked_for_s
            if not reply.turned_away or self.left <= RESERVE or pause_s > LONGEST_PAUSE_S:
                break
            await asyncio.sleep(pause_s)
            reply = await once()
        return reply

    async def _ask(
        self,
        words: int,
        osl: int | None,
        more: tuple[str, ...],
        prompt: int | None,
        first_only: bool,
        passage: Passage | None,
    ) -> Reply:
        ask = compose_ask(
            self.text,
            self.images,
            model=self.model,
            words=words,
            osl=osl or self.osl,
            fields=self.fields + more,
            seed=self.seed,
            request=self.requests if prompt is None else prompt,
            nonce=self.nonce,
            passage=passage,
            extra=self.extra,
        )
        call = Call(self.requests, words, ask.osl, self.dialect.encode(ask), Meter(self.dialect, Reads()))
        call.planned_ns = monotonic_ns()
        self.requests += 1
        task = asyncio.create_task(self._caller.perform(call))
        try:
            within_ns = (self.patience_s if first_only else ANSWER_TIMEOUT_S) * 1e9
            while not task.done() and call.age_ns(monotonic_ns()) < within_ns:
                if first_only and call.meter.begun_ns is not None:
                    call.stop(Outcome.CUT, "the first token is enough")
                elif call.lingers(monotonic_ns()):
                    call.stop(call.meter.outcome())
                await asyncio.wait([task], timeout=GLANCE_S)
        finally:  # also when interrupted: the connector waits for lines that are still in use
            call.stop(Outcome.TIMEOUT_IDLE, f"no whole answer within {ANSWER_TIMEOUT_S:g} s")
        await task
        _, tokens = call.meter.take()
        return Reply(words, call, tuple(tokens))

    async def fetch(self, url: str, post: dict[str, Any] | None = None) -> tuple[int, str, bytes]:
        """(status, content type, body) of a GET, or of a POST of `post`. A redirect's body is where it leads."""
        self.requests += 1
        asked = self._session.request("GET" if post is None else "POST", url, json=post, allow_redirects=False)
        async with asyncio.timeout(self.patience_s), asked as response:
            self.server = response.headers.get("Server") or self.server
            if 300 <= response.status < 400:
                return response.status, "", response.headers.get("Location", "").partition("?")[0].encode()
            return response.status, response.content_type, await body_of(response, MAX_BYTES) or b""

    async def look_up(self, url: str, post: dict[str, Any] | None = None) -> dict[str, Any]:
        """A JSON object the server may or may not offer; empty when it does not, or when enough was asked."""
        if self.left <= 0:
            return {}
        try:
            status, _, body = await self.fetch(url, post)
        except Exception:  # an extra: whatever goes wrong, it is simply not known
            return {}
        said = json_of(body) if status == 200 else None
        return said if isinstance(said, dict) else {}

    def prompt(self, words: int, number: int | None = None) -> str:
        """The text of prompt `number`, by default of the next one."""
        return compose(self.text, words, self.seed, self.requests if number is None else number, self.nonce)

    async def tokenized(self, text: str) -> dict[str, Any]:
        """What /tokenize says of a text; empty where it is not offered, or where prompts and answers are no text."""
        if "text" not in self.dialect.TRAITS.inputs or not self.dialect.TRAITS.streams or self.left <= 0:
            return {}
        said = await self.look_up(f"{self.target.root}{tokenize.PATH}", tokenize.question(self.model, text))
        self.tokenizes = tokenize.count_of(said) is not None
        return said

    async def rtt_s(self) -> float | None:
        """The quickest of a few TCP connects: a round trip. None behind a proxy, whose trip it would be."""
        parts = urlsplit(self.target.url)
        if proxy_for(self.target) is not None:
            return None
        loop, best = asyncio.get_running_loop(), None
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            family, kind, proto, _, address = (await loop.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM))[0]
            for _ in range(RTT_CONNECTS):
                with socket.socket(family, kind, proto) as sock:
                    sock.setblocking(False)
                    began_ns = monotonic_ns()
                    await asyncio.wait_for(loop.sock_connect(sock, address), 2)
                    taken_s = (monotonic_ns() - began_ns) / 1e9
                best = taken_s if best is None else min(best, taken_s)
        except OSError:
            return best
        return best


def json_of(body: bytes) -> Any:
    """What JSON says; None when it is none."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
