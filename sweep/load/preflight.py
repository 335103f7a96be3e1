"""What an endpoint is, learnt from a handful of short requests before any load: the noun `Endpoint`.

Before a run a good server needs four: its models, two answers of different prompt length on one connection, its version.
A `thorough` preflight (`sweep probe`) goes on asking, never more than twelve in all: whether tokens can be counted chunk by
chunk, whether the same prompt is answered from a cache, what the server says of itself and of its limits. Whatever an endpoint
does not offer is simply not known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Any

import msgspec

from sweep import dialect as dialects
from sweep.errors import EndpointError, ModelError
from sweep.load import identity, refusal, tokenize
from sweep.load.client import Target, proxy_for, without_credentials
from sweep.load.inquiry import Inquiry, Reply, json_of
from sweep.load.tokenizer import encoder
from sweep.model import Calibration, Endpoint, Images, Outcome, TokenSource
from sweep.prompt.text import compose
from sweep.prompt.tokens import calibrate

WORDS = (24, 280)
OSL = 8
COUNTED_OSL = 32  # tokens of the answer whose chunks are counted
GET_TIMEOUT_S = 10.0
TOO_LONG = 1 << 30  # an answer's length that shows the context in the refusal
SEVERAL = 1.2  # tokens a chunk from which on more than one is meant
HIDDEN = 0.1  # share of an answer's tokens without a chunk of their own from which on they are counted otherwise
COUNTING = ("continuous_usage", "return_token_ids")  # fields of the chat and completions dialects
RETRIES = 4  # requests that must be left for the rest when optional fields are refused


def probe(
    target: Target,
    dialect: str,
    text: str = "prose",
    images: Images | None = None,
    osl: int | None = None,
    seed: int = 0,
    thorough: bool = False,
) -> Endpoint:
    """What `target` is. EndpointError, or ModelError where it is not clear which model is meant.

    Prompts carry `images`, so that the calibration knows their weight; answers have `osl` units of work, by default 8.
    """
    inquiry = Inquiry(target, dialects.get(dialect), text, images, seed, GET_TIMEOUT_S)
    return asyncio.run(_Preflight(inquiry, osl or OSL, thorough).run())


@dataclass
class _Preflight:
    inquiry: Inquiry
    osl: int
    thorough: bool
    model: str = ""
    fields: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> Endpoint:
        asking, target = self.inquiry, self.inquiry.target
        async with asking:
            self.model, entry = self._choose(await self._models())
            short = await self._first_answer()
            long = await self._long_answer()
            spoken = [reply for reply in (short, long) if reply is not None]
            await self._count_tokens(spoken)
            calibration = await self._calibration(spoken)
            documents = [entry, await asking.look_up(f"{target.root}/version")]
            if identity.context_tokens(documents) is None or self.thorough:
                documents.append(await asking.look_up(f"{target.root}/props"))
            if self.thorough:
                documents += await self._ask_on(long, calibration)
            context = identity.context_tokens(documents)
            if self.thorough and context is None:
                context = await self._refused_context()
            self._tell_apart(spoken, documents)
            return self._endpoint(spoken, calibration, documents, context, await asking.rtt_s())

    # --- which model -----------------------------------------------------------------------------------------

    async def _models(self) -> list[dict[str, Any]] | None:
        """The server's list of models; None where it has none to show."""
        target = self.inquiry.target
        url = f"{target.url}/models"
        try:
            status, kind, body = await self.inquiry.fetch(url)
        except Exception as error:
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

    def _choose(self, listed: list[dict[str, Any]] | None) -> tuple[str, dict[str, Any]]:
        named, target = {identity.name_of(entry): entry for entry in listed or ()}, self.inquiry.target
        if target.model is not None:
            return target.model, named.get(target.model, {})
        if len(named) == 1:
            return next(iter(named.items()))
        if not named:
            raise ModelError(f"{target.url}/models names no model", "say which one with --model NAME")
        shown = ", ".join(list(named)[:20]) + (", …" if len(named) > 20 else "")
        raise ModelError(f"the endpoint serves {len(named)} models: {shown}", "choose one with --model NAME")

    # --- how it answers --------------------------------------------------------------------------------------

    async def _first_answer(self) -> Reply:
        """An answer with as many of the optional fields as the server accepts."""
        dialect, target = self.inquiry.dialect, self.inquiry.target
        known = self.fields = dialect.TRAITS.optional
        while True:
            reply = await self._ask(self._words(0), self.fields)
            call = reply.call
            if reply.ok:
                self.facts["fields_refused"] = [name for name in known if name not in self.fields]
                return reply
            if call.status not in (400, 422) or not self.fields or self.inquiry.left <= RETRIES:
                raise refusal.of_call(call, target, target.place(dialect), self.model)
            named = [name for name in self.fields if name in (call.error or "")]
            self.fields = tuple(name for name in self.fields if name not in (named or _suspects(self.fields)))

    async def _long_answer(self) -> Reply | None:
        """A longer prompt on the same connection; None when it fails, which costs the calibration."""
        reply = await self._ask(self._words(1), self.fields)
        if reply.ok:
            return reply
        self.facts["long_probe"] = f"{reply.call.outcome}: {reply.call.error}"
        return None

    async def _ask(self, words: int, fields: tuple[str, ...], osl: int | None = None, prompt: int | None = None) -> Reply:
        return await self.inquiry.ask(self.model, words, osl or self.osl, fields, prompt)

    def _keeps_length(self, lengths: list[int | None]) -> bool:
        """Whether this server can be made to answer with as many tokens as asked: it did, and takes a field that demands it.

        Without one a longer answer may end where the model likes, even if the probes' short ones were as long as allowed.
        """
        traits = self.inquiry.dialect.TRAITS
        demands = {"ignore_eos", "min_tokens"} & {*self.fields} if not traits.skips_unknown else set()
        return (traits.unit != "tokens" or bool(demands)) and all(length == self.osl for length in lengths)

    def _words(self, place: int) -> int:
        """Of the short and of the long probe: enough that every text of a batch has a few."""
        streams = self.inquiry.dialect.TRAITS.streams
        return WORDS[place] if streams else max(WORDS[place], (4, 8)[place] * self.osl)

    async def _calibration(self, spoken: list[Reply]) -> Calibration:
        """From the usage of the answers; without usage from the server's tokenizer, where it lends that."""
        counted = [(reply.words, reply.prompt_tokens) for reply in spoken if reply.prompt_tokens is not None]
        if counted:
            return calibrate(counted)
        lent = [(reply.words, await self._tokenized(reply.words)) for reply in spoken]
        found = calibrate([(words, tokens) for words, tokens in lent if tokens is not None])
        return found if found.source == "assumed" else msgspec.structs.replace(found, source="tokenizer")

    async def _tokenized(self, words: int) -> int | None:
        """Tokens of such a prompt by /tokenize, else by the tokenizer given. A chat template is not counted."""
        asking = self.inquiry
        if "text" not in asking.dialect.TRAITS.inputs or not asking.dialect.TRAITS.streams:
            return None
        prompt = compose(asking.text, words, asking.seed, asking.requests, asking.nonce)
        said = await asking.look_up(f"{asking.target.root}{tokenize.PATH}", tokenize.question(self.model, prompt))
        count = tokenize.count_of(said)
        self.facts["tokenize"] = count is not None
        if count is None and asking.target.tokenizer is not None:
            return len(encoder(asking.target.tokenizer)(prompt))
        return count

    # --- what is in a chunk ----------------------------------------------------------------------------------

    async def _count_tokens(self, spoken: list[Reply]) -> None:
        """Whether a chunk is a token; where not, the fields are kept by which the server says what it is."""
        streams = self.inquiry.dialect.TRAITS.streams
        answers = [reply for reply in spoken if streams and reply.completion_tokens and reply.call.meter.chunks]
        hides = any(_hidden(reply) > max(1, HIDDEN * (reply.completion_tokens or 0)) for reply in answers)
        self.facts["chunk_is_token"] = not hides if answers else None
        if not (hides or self.thorough) or "stream_options" not in self.fields or self.inquiry.left <= 0:
            return
        fields = (*self.fields, *COUNTING)
        reply = await self._ask(self._words(0), fields, max(self.osl, COUNTED_OSL))
        meter = reply.call.meter
        self.facts["continuous_usage"] = reply.ok and meter.source is TokenSource.CONTINUOUS_USAGE
        self.facts["token_ids"] = reply.ok and meter.ids > 0
        if not reply.ok or not reply.completion_tokens:
            return
        tokens, chunks = reply.completion_tokens, meter.chunks
        self.facts["tokens_per_chunk"] = round(tokens / chunks, 3) if chunks else None
        self.facts["chunk_is_token"] = tokens - chunks <= max(1, HIDDEN * tokens)
        if not self.facts["chunk_is_token"]:
            offered = zip(COUNTING, (self.facts["continuous_usage"], self.facts["token_ids"]), strict=True)
            self.fields += tuple(name for name, works in offered if works)[:1]
        if meter.source is not TokenSource.CHUNKS:
            varies = _varies(reply.chunk_tokens[:-1])
        else:
            varies = tokens > SEVERAL * max(1, chunks)
        self.facts["speculation"] = "suspected" if varies else "no sign of it"

    # --- whatever else it tells ------------------------------------------------------------------------------

    async def _ask_on(self, long: Reply | None, calibration: Calibration) -> list[dict[str, Any]]:
        """What a run can do without; documents in which the server describes itself."""
        asking = self.inquiry
        if long is not None and asking.left > 0:
            again = await self._ask(long.words, self.fields, prompt=long.call.number)
            self.facts["prompt_cache"] = _from_cache(long, again, calibration) if again.ok else None
        found = [await asking.look_up(f"{asking.target.root}{path}") for path in ("/get_server_info", "/info")]
        if "tokenize" not in self.facts and asking.left > 0:
            await self._tokenized(WORDS[0])
        return found

    async def _refused_context(self) -> int | None:
        """The context, from how the server refuses an answer beyond any; one that does not is stopped at its first token."""
        if self.inquiry.left <= 0 or not self.inquiry.dialect.TRAITS.streams or self.inquiry.dialect.TRAITS.unit != "tokens":
            return None
        reply = await self.inquiry.ask(self.model, self._words(0), TOO_LONG, self.fields, first_only=True)
        return identity.context_refused(reply.call.error or "") if reply.call.outcome is Outcome.HTTP_ERROR else None

    def _tell_apart(self, spoken: list[Reply], documents: list[dict[str, Any]]) -> None:
        """What the answers and documents at hand say without being asked."""
        call = spoken[0].call
        meter, headers = call.meter, call.headers
        reasoning = [reply.call.meter.usage.reasoning_tokens for reply in spoken if reply.call.meter.usage]
        self.facts |= {
            "answer_status": call.status,
            "streaming": self.inquiry.dialect.TRAITS.streams and (meter.chunks > 1 or meter.done),
            "done_mark": meter.done,
            "finish": meter.finish,
            "chunks": meter.chunks,
            "osl_reported": [reply.completion_tokens for reply in spoken],
            "empty_delta_first": meter.prelude_ns is not None,
            "first_answer_apart": meter.answer_ns != meter.first_ns,
            "reasoning": meter.answer_ns != meter.first_ns or any(reasoning),
            "cached_tokens": [reply.cached_tokens for reply in spoken if reply.call.meter.usage],
            "compression": headers.get("content-encoding", "identity")[:20],
            **identity.software(documents),
        }
        about = identity.kept(documents[0], identity.MODEL_KEYS)
        said = {name: identity.limit(documents, keys) for name, keys in LIMITS.items()}
        self.facts |= {"about_model": about} if about else {}
        self.facts |= {name: found for name, found in said.items() if found is not None}
        if "via" in headers:
            self.facts["via"] = identity.plain(headers["via"])

    # --- what it comes to ------------------------------------------------------------------------------------

    def _endpoint(
        self,
        spoken: list[Reply],
        calibration: Calibration,
        documents: list[dict[str, Any]],
        context: int | None,
        rtt_s: float | None,
    ) -> Endpoint:
        target, traits = self.inquiry.target, self.inquiry.dialect.TRAITS
        lengths = [reply.completion_tokens for reply in spoken]
        usage = lengths[0] is not None
        proxy = proxy_for(target)
        server = self.inquiry.server or spoken[0].call.headers.get("server")
        return Endpoint(
            url=target.url,
            model=self.model,
            dialect=self.inquiry.dialect.NAME,
            unit=traits.unit,
            calibration=calibration,
            fields=self.fields,
            keep_alive=len(spoken) == 1 or spoken[1].call.reused,  # not so when the server closed what it promised to keep
            verified_tls=not target.insecure if target.url.startswith("https") else None,
            insecure=target.insecure,
            proxy=without_credentials(proxy) if proxy else None,
            rtt_s=rtt_s,
            ttft_s=min((ttft for reply in spoken if (ttft := reply.ttft_s) is not None), default=None),
            tpot_s=min((tpot for reply in spoken if (tpot := reply.tpot_s) is not None), default=None),
            context_tokens=context,
            server=identity.plain(server) if server else None,
            version=identity.version(documents),
            osl_honoured=self._keeps_length(lengths) if usage else None,
            usage_reported=usage,
            probes=self.inquiry.requests,
            loopback=target.loopback,
            facts=self.facts,
        )


LIMITS = {"input_tokens_limit": identity.INPUT_KEYS, "output_tokens_limit": identity.OUTPUT_KEYS}


def _suspects(fields: tuple[str, ...]) -> tuple[str, ...]:
    """What to leave out next when the server does not say what it minds: the least known first."""
    return tuple(name for name in fields if name != "stream_options") or fields


def _hidden(reply: Reply) -> int:
    """Tokens of an answer that came without a chunk of their own."""
    return (reply.completion_tokens or 0) - reply.call.meter.chunks


def _varies(chunk_tokens: Sequence[int]) -> bool:
    """Several tokens a chunk, now more, now fewer; the last chunk, which holds what is left, is not among them."""
    return bool(chunk_tokens) and fmean(chunk_tokens) > 1.05 and pstdev(chunk_tokens) > 0.1 * fmean(chunk_tokens)


def _from_cache(first: Reply, again: Reply, calibration: Calibration) -> str | None:
    """Whether the same prompt cost less the second time: `on`, `off`, or `suspected` where only the time says so."""
    if again.cached_tokens is not None:
        return "on" if again.cached_tokens > max(calibration.template_tokens, first.cached_tokens or 0) + 1 else "off"
    if first.ttft_s is None or again.ttft_s is None:
        return None
    return "suspected" if again.ttft_s < first.ttft_s / 2 and first.ttft_s - again.ttft_s > 0.005 else None
