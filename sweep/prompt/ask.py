"""One request of a profile, before a dialect encodes it."""

from __future__ import annotations

from sweep.model import Ask, Profile
from sweep.prompt import media
from sweep.prompt.text import compose


def compose_ask(
    profile: Profile, *, model: str, words: int, osl: int, fields: tuple[str, ...], seed: int, request: int, nonce: str
) -> Ask:
    """A text of `words` words with the profile's pictures, or `osl` seconds of sound where its text is a kind of sound.

    A function of its arguments alone; UsageError for an unknown kind of text.
    """
    if profile.text in media.KINDS:
        audio = media.sound(profile.text, osl, request, nonce)
        return Ask(model=model, prompt="", osl=osl, fields=fields, audio=audio)
    shown = profile.images
    pictures = range(shown.count) if shown is not None else ()
    return Ask(
        model=model,
        prompt=compose(profile.text, words, seed, request, nonce),
        osl=osl,
        fields=fields,
        images=tuple(media.picture(shown.width, shown.height, request, nonce, place) for place in pictures if shown),
    )
