"""How long an endpoint's prompts are in its own tokens: exact where it takes ids, else learnt from answers or a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sweep.load import tokenize
from sweep.load.conclude import added_to_ids
from sweep.load.inquiry import Inquiry, Reply
from sweep.load.tokenizer import encoder
from sweep.model import Calibration
from sweep.prompt import text
from sweep.prompt.ids import Passage, passage_of
from sweep.prompt.tokens import calibrate

IDS = 48  # of the prompt that shows whether ids are taken


def takes_ids(asking: Inquiry, known: Reply) -> bool:
    """Whether it is worth trying: the dialect knows them, and the server counts prompts."""
    return "ids" in asking.dialect.TRAITS.inputs and known.prompt_tokens is not None


async def exact(asking: Inquiry, known: Reply) -> tuple[Passage, Calibration] | None:
    """A passage to cut prompts of token ids from; None where the server does not take those and count them as they are."""
    ids = await _ids(asking, text.passage(asking.text), known)
    passage = passage_of(ids) if ids else None
    if passage is None or asking.left <= 0:
        return None
    added = added_to_ids(IDS, await asking.ask(IDS, passage=passage))
    if added is None:
        return None
    return passage, Calibration(tokens_per_word=1.0, template_tokens=float(added), source="ids")


async def _ids(asking: Inquiry, material: str, known: Reply) -> list[int] | None:
    """Of a text, by the server; else by the tokenizer given, if that counts a prompt as the server did."""
    ids = tokenize.ids_of(await asking.tokenized(material))
    if ids is not None or asking.target.tokenizer is None:
        return ids
    encode = encoder(asking.target.tokenizer)
    counted = len(encode(asking.prompt(known.words, known.call.number)))
    return encode(material) if known.prompt_tokens in (counted, counted + 1) else None


async def calibrated(asking: Inquiry, spoken: Sequence[Reply]) -> Calibration:
    """From the usage of the answers; without usage from the server's tokenizer, or else from the one given."""
    counted = [(reply.words, reply.prompt_tokens) for reply in spoken if reply.prompt_tokens is not None]
    if counted or "text" not in asking.dialect.TRAITS.inputs:
        return calibrate(counted)
    lent = [(reply.words, await _count(asking, asking.prompt(reply.words))) for reply in spoken]
    found = calibrate([(words, tokens) for words, tokens in lent if tokens is not None])
    return found if found.source == "assumed" else msgspec.structs.replace(found, source="tokenizer")


async def _count(asking: Inquiry, prompt: str) -> int | None:
    """Tokens of a text, the chat template not counted."""
    count, given = tokenize.count_of(await asking.tokenized(prompt)), asking.target.tokenizer
    return len(encoder(given)(prompt)) if count is None and given is not None else count
