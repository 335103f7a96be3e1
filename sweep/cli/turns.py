"""Several endpoints on one command line: which header, model and key is meant for which of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sweep.errors import UsageError

if TYPE_CHECKING:
    from sweep.run import Settings

_OWN = re.compile(r"([A-Z])=(.+)", re.DOTALL)


def taking_turns(settings: Settings, endpoints: Sequence[str]) -> list[Settings]:
    """One Settings an endpoint, called A, B, …. `A=NAME: VALUE` is a header for A, `A=ID,B=ID` are models.

    A header or a key of the environment goes to all only when all are on one host: it is a secret of one of them.
    """
    import secrets

    if len(endpoints) > len(ascii_uppercase):
        raise UsageError(f"{len(endpoints)} endpoints are too many to take turns", "give two")
    places = ascii_uppercase[: len(endpoints)]
    one_host = len({urlsplit(endpoint).netloc or endpoint for endpoint in endpoints}) == 1
    common = [text for text in settings.headers if not _OWN.fullmatch(text)]
    if common and not one_host:
        raise UsageError(
            "--header: which endpoint is it for?", "write --header 'A=NAME: VALUE' for the first, B= for the second"
        )
    named = settings.model or ""
    models = dict(part.partition("=")[::2] for part in named.split(",")) if "=" in named else None
    group = secrets.token_hex(4)
    return [
        replace(
            settings,
            endpoint=endpoint,
            model=models.get(place) if models is not None else settings.model,
            headers=(*common, *(own[2] for text in settings.headers if (own := _OWN.fullmatch(text)) and own[1] == place)),
            interleaved={"group": group, "place": place, "order": "ABBA"},
            keys_from_environment=one_host,
        )
        for place, endpoint in zip(places, endpoints, strict=True)
    ]


def first(endpoints: Sequence[str] | None, interleave: bool) -> str:
    """The only endpoint, or the first to be measured. Raises UsageError where their number and the wish do not fit."""
    if interleave and len(endpoints or ()) < 2:
        raise UsageError("--interleave needs two endpoints", "give --endpoint twice")
    if not endpoints:
        raise UsageError("which endpoint?", "give --endpoint URL, or --endpoint sim for the embedded one")
    if len(endpoints) > 1 and not interleave:
        raise UsageError("several endpoints", "add --interleave to measure them in alternation")
    return endpoints[0]
