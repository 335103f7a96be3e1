"""What preflight learned of an endpoint."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from sweep.model.asked import DialectName
from sweep.model.noun import Noun

SHORT_UNITS = {"tokens": "tok", "documents": "docs", "audio seconds": "audio s"}


class Calibration(Noun, frozen=True, kw_only=True):
    """Prompt tokens ≈ template_tokens + tokens_per_word · words, from the server's own usage figures.

    `tokenizer`: from a tokenizer, which knows nothing of the chat template. `ids`: exact, prompts are token ids, which stand
    for words here; `template_tokens` is what the server puts before them.
    """

    tokens_per_word: float
    template_tokens: float
    source: Literal["usage", "tokenizer", "assumed", "ids"]


class Endpoint(Noun, frozen=True, kw_only=True):
    """What preflight learned. `url` ends before the dialect's path and holds no credentials."""

    url: str
    model: str
    dialect: DialectName
    unit: str = "tokens"  # of work: what answers are counted in, wherever a name says tok
    calibration: Calibration
    fields: tuple[str, ...] = ()  # optional request fields this server accepts: ignore_eos, min_tokens, stream_options
    keep_alive: bool = True
    verified_tls: bool | None = None
    insecure: bool = False
    proxy: str | None = None
    rtt_s: float | None = None
    ttft_s: float | None = None
    tpot_s: float | None = None
    context_tokens: int | None = None
    server: str | None = None
    version: str | None = None
    osl_honoured: bool | None = None
    usage_reported: bool | None = None
    probes: int = 0
    loopback: bool = False
    simulated: str | None = None  # preset of the embedded endpoint
    facts: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def takes_ids(self) -> bool:
        """Prompts are token ids: their length is exact."""
        return self.calibration.source == "ids"

    @property
    def lends_tokenizer(self) -> bool:
        """Its `/tokenize` tells the tokens of a text."""
        return self.facts.get("tokenize") is True

    @property
    def rate_unit(self) -> str:
        """Of throughput, for people: `tok/s`, `vectors/s`."""
        return f"{SHORT_UNITS.get(self.unit, self.unit)}/s"
