"""What an endpoint is, learnt from a handful of short requests before any load: the noun `Endpoint`.

A good server needs four: its models, two answers of different prompt length on one connection, its version.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sweep import dialect as dialects
from sweep.dialect import Dialect
from sweep.errors import EndpointError, ModelError
from sweep.load import refusal
from sweep.load.call import Call
from sweep.load.caller import Caller
from sweep.load.client import Target, open_session, proxy_for, without_credentials
from sweep.load.look import Reads
from sweep.load.meter import Meter
from sweep.load.wire import Wire
from sweep.model import Calibration, Endpoint, Images, Outcome
from sweep.prompt.ask import compose_ask
from sweep.prompt.tokens import calibrate

MAX_REQUESTS = 12
WORDS = (24, 280)
OSL = 8
RTT_CONNECTS = 5
GET_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 120.0  # a server may compile or load on its first request
CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")


def probe(
    target: Target, dialect: str, text: str = "prose", images: Images | None = None, osl: int | None = None, seed: int = 0
) -> Endpoint:
    """What `target` is. EndpointError, or ModelError where it is not clear which model is meant.

    Prompts carry `images`, so that the calibration knows their weight; answers have `osl` units of work, by default 8.
    """
    return asyncio.run(_Preflight(target, dialects.get(dialect), text, images, osl or OSL, seed).run())


@dataclass
class _Answer:
    """A probe that was answered: how many words, its call, what its usage says."""

    words: int
    call: Call

    @property
    def prompt_tokens(self) -> int | None:
        return self.call.meter.usage.prompt_tokens if self.call.meter.usage else None

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

    @property
    def reported_osl(self) -> int | None:
        return self.call.meter.usage.completion_tokens if self.call.meter.usage else None


@dataclass
class _Preflight:
    target: Target
    dialect: Dialect
    text: str
    images: Images | None
    osl: int
    seed: int
    requests: int = 0
    nonce: str = field(default_factory=lambda: secrets.token_hex(4))
    server: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> Endpoint:
        caller = Caller(self.target, self.dialect, f"preflight-{self.nonce}", Wire())
        async with open_session(self.target) as self._session, caller as self._caller:
            listed = await self._models()
            model, entry = self._choose(listed)
            fields, short = await self._first_answer(model)
            long = await self._long_answer(model, fields)
            version = await self._get(f"{self.target.root}/version")
            context = _context_of(entry)
            if context is None:
                context = _context_of(await self._get(f"{self.target.root}/props") or {})
            rtt_s = await self._rtt_s()
        return self._endpoint(model, fields, short, long, version, context, rtt_s)

    # --- which model -----------------------------------------------------------------------------------------

    async def _models(self) -> list[dict[str, Any]] | None:
        """The server's list of models; None where it has none to show."""
        url = f"{self.target.url}/models"
        try:
            status, kind, body = await self._fetch(url)
        except Exception as error:
            raise refusal.of_connection(error, self.target) from None
        if status in (401, 403) and self.target.model is None:
            raise refusal.of_status(status, "", self.target, url)
        if 300 <= status < 400 and self.target.model is None:
            raise refusal.of_status(status, body.decode("utf-8", "replace"), self.target, url)
        if "html" in kind and status == 200 and self.target.model is None:
            raise EndpointError(f"{url} answers with a web page, not with an API", "check the URL, its path above all")
        self.facts["models_status"] = status
        listed = _json(body) if status == 200 else None
        entries = (listed.get("data") or listed.get("models")) if isinstance(listed, dict) else listed
        if not isinstance(entries, list):
            return None
        found = [entry for entry in entries if isinstance(entry, dict) and (entry.get("id") or entry.get("name"))]
        self.facts["models"] = [_name(entry) for entry in found][:50]
        return found

    def _choose(self, listed: list[dict[str, Any]] | None) -> tuple[str, dict[str, Any]]:
        names = [_name(entry) for entry in listed or ()]
        if self.target.model is not None:
            return self.target.model, next((entry for entry in listed or () if _name(entry) == self.target.model), {})
        if len(names) == 1:
            assert listed is not None
            return names[0], listed[0]
        if not names:
            raise ModelError(f"{self.target.url}/models names no model", "say which one with --model NAME")
        shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
        raise ModelError(f"the endpoint serves {len(names)} models: {shown}", "choose one with --model NAME")

    # --- how it answers --------------------------------------------------------------------------------------

    async def _first_answer(self, model: str) -> tuple[tuple[str, ...], _Answer]:
        """The optional fields that the server accepts, and its answer with them."""
        known = self.dialect.TRAITS.optional
        fields = known
        while True:
            answer = await self._ask(model, self._words(0), fields)
            call = answer.call
            if call.outcome is Outcome.OK:
                self.facts["fields_refused"] = [name for name in known if name not in fields]
                return fields, answer
            if call.status not in (400, 422) or not fields or self.requests >= MAX_REQUESTS - 4:
                raise refusal.of_call(call, self.target, self.target.place(self.dialect), model)
            named = [name for name in fields if name in (call.error or "")]
            fields = tuple(name for name in fields if name not in (named or _suspects(fields)))

    async def _long_answer(self, model: str, fields: tuple[str, ...]) -> _Answer | None:
        """A longer prompt on the same connection; None when it fails, which costs the calibration."""
        answer = await self._ask(model, self._words(1), fields)
        if answer.call.outcome is Outcome.OK:
            return answer
        self.facts["long_probe"] = f"{answer.call.outcome}: {answer.call.error}"
        return None

    async def _ask(self, model: str, words: int, fields: tuple[str, ...]) -> _Answer:
        ask = compose_ask(
            self.text,
            self.images,
            model=model,
            words=words,
            osl=self.osl,
            fields=fields,
            seed=self.seed,
            request=self.requests,
            nonce=self.nonce,
        )
        call = Call(self.requests, words, self.osl, self.dialect.encode(ask), Meter(self.dialect, Reads()))
        call.planned_ns = monotonic_ns()
        self.requests += 1
        task = asyncio.create_task(self._caller.perform(call))
        try:
            await asyncio.wait([task], timeout=ANSWER_TIMEOUT_S)
        finally:  # also when interrupted: the connector waits for lines that are still in use
            call.stop(Outcome.TIMEOUT_IDLE, f"no whole answer within {ANSWER_TIMEOUT_S:g} s")
        await task
        call.meter.take()
        return _Answer(words, call)

    def _words(self, place: int) -> int:
        """Of the short and of the long probe: enough that every text of a batch has a few."""
        return WORDS[place] if self.dialect.TRAITS.streams else max(WORDS[place], (4, 8)[place] * self.osl)

    # --- whatever else it tells ------------------------------------------------------------------------------

    async def _fetch(self, url: str) -> tuple[int, str, bytes]:
        self.requests += 1
        async with asyncio.timeout(GET_TIMEOUT_S), self._session.get(url, allow_redirects=False) as response:
            self.server = response.headers.get("Server") or self.server
            if 300 <= response.status < 400:
                return response.status, "", response.headers.get("Location", "").partition("?")[0].encode()
            return response.status, response.content_type, await response.content.read(1 << 20)

    async def _get(self, url: str) -> dict[str, Any] | None:
        """A JSON object the server may or may not offer."""
        if self.requests >= MAX_REQUESTS:
            return None
        try:
            status, _, body = await self._fetch(url)
        except Exception:  # an extra: whatever goes wrong, it is simply not known
            return None
        said = _json(body) if status == 200 else None
        return said if isinstance(said, dict) else None

    async def _rtt_s(self) -> float | None:
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

    # --- what it comes to ------------------------------------------------------------------------------------

    def _endpoint(
        self,
        model: str,
        fields: tuple[str, ...],
        short: _Answer,
        long: _Answer | None,
        version: dict[str, Any] | None,
        context: int | None,
        rtt_s: float | None,
    ) -> Endpoint:
        answers = [short] if long is None else [short, long]
        counted = [(answer.words, answer.prompt_tokens) for answer in answers]
        lengths = [answer.reported_osl for answer in answers]
        usage = short.reported_osl is not None
        proxy = proxy_for(self.target)
        https = self.target.url.startswith("https")
        self.facts |= {
            "answer_status": short.call.status,
            "streaming": self.dialect.TRAITS.streams and (short.call.meter.chunks > 1 or short.call.meter.done),
            "done_mark": short.call.meter.done,
            "finish": short.call.meter.finish,
            "chunks": short.call.meter.chunks,
            "osl_reported": lengths,
            "first_answer_apart": short.call.meter.answer_ns != short.call.meter.first_ns,
            "cached_tokens": [answer.call.meter.usage.cached_tokens for answer in answers if answer.call.meter.usage],
        }
        return Endpoint(
            url=self.target.url,
            model=model,
            dialect=self.dialect.NAME,
            unit=self.dialect.TRAITS.unit,
            calibration=_calibration(counted),
            fields=fields,
            keep_alive=long is None or long.call.reused,  # not so when the server closed what it had promised to keep
            verified_tls=not self.target.insecure if https else None,
            insecure=self.target.insecure,
            proxy=without_credentials(proxy) if proxy else None,
            rtt_s=rtt_s,
            ttft_s=min((ttft for answer in answers if (ttft := answer.ttft_s) is not None), default=None),
            tpot_s=min((tpot for answer in answers if (tpot := answer.tpot_s) is not None), default=None),
            context_tokens=context,
            server=self.server,
            version=_version_of(version),
            osl_honoured=all(length == self.osl for length in lengths) if usage else None,
            usage_reported=usage,
            probes=self.requests,
            loopback=self.target.loopback,
            facts=self.facts,
        )


def _calibration(counted: list[tuple[int, int | None]]) -> Calibration:
    return calibrate([(words, tokens) for words, tokens in counted if tokens is not None])


def _suspects(fields: tuple[str, ...]) -> tuple[str, ...]:
    """What to leave out next when the server does not say what it minds: the least known first."""
    return tuple(name for name in fields if name != "stream_options") or fields


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("id") or entry.get("name"))


def _context_of(entry: dict[str, Any]) -> int | None:
    """Tokens of context from a model's entry or from llama.cpp's /props."""
    inner = [entry.get("meta"), entry.get("default_generation_settings")]
    figures = [entry.get(key) for key in CONTEXT_KEYS] + [part.get("n_ctx") for part in inner if isinstance(part, dict)]
    return next((figure for figure in figures if isinstance(figure, int) and figure > 0), None)


def _version_of(said: dict[str, Any] | None) -> str | None:
    version = (said or {}).get("version")
    return version[:80] if isinstance(version, str) else None


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
