"""What an endpoint is, learnt from a handful of short requests before any load: the noun `Endpoint`.

Before a run a good server needs four: its models, two answers of different prompt length on one connection, its version; two more
where prompts may be token ids. A `thorough` preflight (`sweep probe`) goes on asking, never more than twelve in all: whether tokens
can be counted chunk by chunk, whether the same prompt is answered from a cache, what the server says of itself and of its limits.
Whatever an endpoint does not offer is simply not known. This file asks; `conclude.py` says what the answers mean.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from sweep import dialect as dialects
from sweep.errors import EndpointError
from sweep.load import conclude, identity, prompts, refusal
from sweep.load.client import Target, proxy_for, without_credentials
from sweep.load.inquiry import RESERVE, Inquiry, Reply, json_of
from sweep.model import Calibration, Endpoint, Images, Outcome
from sweep.prompt.ids import Passage

WORDS = (24, 280)
OSL = 8
COUNTED_OSL = 32  # tokens of the answer whose chunks are counted
GET_TIMEOUT_S = 10.0
TOO_LONG = 1 << 30  # an answer's length that shows the context in the refusal
OTHER_LENGTH = "max_completion_tokens"  # what OpenAI's newer models want in place of max_tokens, and say so
ABOUT_ITSELF = ("/version", "/props", "/get_server_info", "/info")  # vLLM and others, llama.cpp, SGLang, TGI
USUAL = 2  # of them are asked before a run


def probe(target: Target, dialect: str, thorough: bool = False) -> Endpoint:
    """What `target` is to whoever sends it text. Errors as of `explore`."""
    return explore(target, dialect, thorough=thorough, may_send_ids=False)[0]


def explore(
    target: Target,
    dialect: str,
    text: str = "prose",
    images: Images | None = None,
    osl: int | None = None,
    extra: dict[str, Any] | None = None,
    seed: int = 0,
    thorough: bool = False,
    may_send_ids: bool = True,
) -> tuple[Endpoint, Passage | None]:
    """What `target` is, and where its prompts are token ids the passage they are cut from.

    Prompts carry `images`, so that the calibration knows their weight; answers have `osl` units of work, by default 8.
    `extra` are fields of the user's own for every request.
    EndpointError, or ModelError where it is not clear which model is meant.
    """
    inquiry = Inquiry(target, dialects.get(dialect), text, images, osl or OSL, seed, GET_TIMEOUT_S, extra or {})
    return asyncio.run(_Preflight(inquiry, thorough, may_send_ids).run())


@dataclass
class _Preflight:
    inquiry: Inquiry
    thorough: bool
    may_send_ids: bool
    facts: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> tuple[Endpoint, Passage | None]:
        asking = self.inquiry
        async with asking:
            asking.model, entry = conclude.model_of(asking.target, await self._models(), self.facts.get("models_status", 200))
            short = await self._first_answer()
            long = await self._long_answer()
            spoken = [reply for reply in (short, long) if reply is not None]
            await self._count_tokens(spoken)
            exact = None
            if self.may_send_ids and prompts.takes_ids(asking, spoken[-1]):
                exact = await prompts.exact(asking, spoken[-1])
                self.facts["prompt_ids"] = exact is not None
            passage, calibration = exact or (None, await prompts.calibrated(asking, spoken))
            documents = await self._documents(entry)
            context = identity.context_tokens(documents)
            if self.thorough:
                self.facts["prompt_cache"] = await self._prompt_cache(long, calibration) if long is not None else None
                if asking.tokenizes is None:
                    await asking.tokenized(asking.prompt(WORDS[0]))
                context = context or await self._refused_context()
            if asking.tokenizes is not None:
                self.facts["tokenize"] = asking.tokenizes
            self.facts |= conclude.told(asking.dialect.TRAITS, spoken, documents)
            return self._endpoint(spoken, calibration, documents, context, await asking.rtt_s()), passage

    # --- which model -----------------------------------------------------------------------------------------

    async def _models(self) -> list[dict[str, Any]] | None:
        """The server's list of models; None where it has none to show."""
        target = self.inquiry.target
        url = f"{target.url}/models"
        try:
            status, kind, body = await self.inquiry.fetch(url)
        except Exception as error:
            if target.model is not None and isinstance(error, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
                return None  # the list is not understood, nor needed
            raise refusal.of_connection(error, target) from None
        if target.model is None:
            if status in (401, 403) or 300 <= status < 400:
                raise refusal.of_status(status, body.decode("utf-8", "replace") if status < 400 else "", target, url)
            if "html" in kind and status == 200:
                raise EndpointError(f"{url} answers with a web page, not with an API", "check the URL, its path above all")
        self.facts["models_status"] = status
        found = identity.entries(json_of(body) if status == 200 else None)
        if found is not None:
            self.facts["models"] = [identity.name_of(entry) for entry in found][:50]
        return found

    # --- how it answers --------------------------------------------------------------------------------------

    async def _first_answer(self) -> Reply:
        """An answer with as many of the optional fields as the server accepts."""
        asking = self.inquiry
        known = asking.fields = asking.dialect.TRAITS.optional
        while True:
            reply = await asking.ask(self._words(0))
            call = reply.call
            if reply.ok:
                self.facts["fields_refused"] = [name for name in known if name not in asking.fields]
                return reply
            if call.status not in (400, 422) or not asking.fields or asking.left <= RESERVE:
                raise self._refused(reply)
            if OTHER_LENGTH in (call.error or "") and OTHER_LENGTH not in asking.fields:
                asking.fields += (OTHER_LENGTH,)
                continue
            refused = conclude.suspects(asking.fields, call.error or "")
            asking.fields = tuple(name for name in asking.fields if name not in refused)

    async def _long_answer(self) -> Reply | None:
        """A longer prompt on the same connection; None when it fails, which costs the calibration; an error when it is too busy."""
        reply = await self.inquiry.ask(self._words(1))
        if reply.ok:
            return reply
        if reply.turned_away:
            raise self._refused(reply)
        self.facts["long_probe"] = f"{reply.call.outcome}: {reply.call.error}"
        return None

    def _refused(self, reply: Reply) -> EndpointError:
        asking, target = self.inquiry, self.inquiry.target
        return refusal.of_call(reply.call, target, target.place(asking.dialect), asking.model)

    def _words(self, place: int) -> int:
        """Of the short and of the long probe: enough that every text of a batch has a few."""
        streams = self.inquiry.dialect.TRAITS.streams
        return WORDS[place] if streams else max(WORDS[place], (4, 8)[place] * self.inquiry.osl)

    async def _count_tokens(self, spoken: list[Reply]) -> None:
        """Whether a chunk is a token. Where only a field can tell, or nothing counts at all, that field is kept."""
        asking, usage = self.inquiry, spoken[0].completion_tokens is not None
        traits = asking.dialect.TRAITS
        is_token = self.facts["chunk_is_token"] = conclude.chunk_is_token(spoken) if traits.streams else None
        unclear = is_token is False or not usage or self.thorough
        if not unclear or "stream_options" not in traits.optional or asking.left <= RESERVE:
            return
        tried = conclude.COUNTING if "stream_options" in asking.fields else conclude.COUNTING[1:]
        self.facts |= conclude.chunks(await asking.ask(self._words(0), osl=max(asking.osl, COUNTED_OSL), more=tried))
        asking.fields += conclude.counting_fields(self.facts, usage)

    # --- whatever else it tells ------------------------------------------------------------------------------

    async def _documents(self, entry: dict[str, Any]) -> list[dict[str, Any]]:
        """In which the server describes itself, the list's `entry` first: asked for until one answers and the context is known."""
        found = [entry]
        for path in ABOUT_ITSELF if self.thorough else ABOUT_ITSELF[:USUAL]:
            if any(found[1:]) and identity.context_tokens(found) is not None:
                break
            found.append(await self.inquiry.look_up(f"{self.inquiry.target.root}{path}"))
        return found

    async def _prompt_cache(self, long: Reply, calibration: Calibration) -> str | None:
        """The long prompt once more; where the server does not say what it cached, another one twice as well."""
        asking = self.inquiry
        if asking.left <= 0:
            return None
        again = await asking.ask(long.words, prompt=long.call.number)
        said = conclude.said_from_cache(long, again, calibration) if again.ok else None
        if said is not None or asking.left < 2:
            return said
        other = await asking.ask(long.words)
        other_again = await asking.ask(long.words, prompt=other.call.number)
        return conclude.seems_from_cache([long, other], [again, other_again])

    async def _refused_context(self) -> int | None:
        """The context, from how the server refuses an answer beyond any; one that does not is stopped at its first token."""
        traits = self.inquiry.dialect.TRAITS
        if self.inquiry.left <= 0 or not traits.streams or traits.unit != "tokens":
            return None
        reply = await self.inquiry.ask(self._words(0), osl=TOO_LONG, first_only=True)
        return identity.context_refused(reply.call.error or "") if reply.call.outcome is Outcome.HTTP_ERROR else None

    # --- what it comes to ------------------------------------------------------------------------------------

    def _endpoint(
        self,
        spoken: list[Reply],
        calibration: Calibration,
        documents: list[dict[str, Any]],
        context: int | None,
        rtt_s: float | None,
    ) -> Endpoint:
        asking, target, traits = self.inquiry, self.inquiry.target, self.inquiry.dialect.TRAITS
        osl = [reply.completion_tokens for reply in spoken]
        proxy = proxy_for(target)
        server = asking.server or spoken[0].call.headers.get("server")
        return Endpoint(
            url=target.url,
            model=asking.model,
            dialect=asking.dialect.NAME,
            unit=traits.unit,
            calibration=calibration,
            fields=asking.fields,
            keep_alive=len(spoken) == 1 or spoken[1].call.reused,  # not so when the server closed what it promised to keep
            verified_tls=not target.insecure if target.url.startswith("https") else None,
            insecure=target.insecure,
            proxy=without_credentials(proxy) if proxy else None,
            rtt_s=rtt_s,
            ttft_s=conclude.least(reply.ttft_s for reply in spoken),
            tpot_s=conclude.least(reply.tpot_s for reply in spoken),
            context_tokens=context,
            server=identity.plain(server) if server else None,
            version=identity.version(documents),
            osl_honoured=conclude.keeps_length(traits, asking.fields, osl, asking.osl),
            usage_reported=osl[0] is not None,
            probes=asking.requests,
            loopback=target.loopback,
            facts=self.facts,
        )
