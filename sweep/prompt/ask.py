"""One request, before a dialect encodes it."""

from __future__ import annotations

from typing import Any

from sweep.model import Ask, Images
from sweep.prompt import media
from sweep.prompt.ids import Passage, compose_ids
from sweep.prompt.text import compose


def compose_ask(
    kind: str,
    images: Images | None,
    *,
    model: str,
    words: int,
    osl: int,
    fields: tuple[str, ...],
    seed: int,
    request: int,
    nonce: str,
    prefix_share: float = 0.0,
    passage: Passage | None = None,
    extra: dict[str, Any] | None = None,
) -> Ask:
    """A text of `words` words with pictures, or `osl` seconds of sound where `kind` is a kind of sound.

    With a `passage` of that kind, which is for endpoints that take ids, it is so many token ids instead of words.

    All texts of a seed have `prefix_share` of their words in common, from the first one on.

    A function of its arguments alone; UsageError for an unknown kind of text.
    """
    if kind in media.KINDS:
        audio = media.sound(kind, osl, request, nonce)
        return Ask(model=model, prompt="", osl=osl, fields=fields, audio=audio, extra=extra or {})
    shared = min(round(prefix_share * words), words - 1)
    if passage is not None:
        ids = compose_ids(passage, words, seed, request, nonce, shared)
        return Ask(model=model, prompt="", osl=osl, fields=fields, ids=ids, extra=extra or {})
    places = range(images.count) if images is not None else ()
    return Ask(
        model=model,
        prompt=compose(kind, words, seed, request, nonce, shared),
        osl=osl,
        fields=fields,
        images=tuple(media.picture(images.width, images.height, request, nonce, place) for place in places if images),
        extra=extra or {},
    )
