"""How a simulated endpoint is set up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sweep.errors import UsageError
from sweep.sim.device import DEFAULT, preset
from sweep.sim.faults import parse
from sweep.sim.settings import BUDGET_TOKENS, MAX_SEQUENCES, Settings

MAX_MODEL_TOKENS = 131_072
BOUNDS: dict[str, tuple[float, float]] = {
    "port": (0, 65_535),
    "time_scale": (1e-3, 1e6),
    "stream_interval": (1, math.inf),
    "max_num_seqs": (1, math.inf),
    "max_batched_tokens": (1, math.inf),
    "draft_tokens": (0, 1024),
    "acceptance": (0, 1),
    "draft_ms": (0, 1e6),
    "link_gb_per_s": (1e-6, 1e9),
    "noise": (0, 3),
    "reasoning": (0, 1),
    "unit_tokens": (0, 1e6),
    "stall_s": (0, 1e6),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Every option has the name of its flag. `faults` are `kind=share`; port 0 takes a free one."""

    preset: str = DEFAULT
    host: str = "127.0.0.1"
    port: int = 0
    faults: tuple[str, ...] = ()
    api_key: str | None = None
    time_scale: float = 1.0  # above 1: every step takes that much longer
    stream_interval: int = 1  # tokens in a chunk
    truth: str | None = None  # file that receives the truth log, one JSON a line
    seed: int = 0
    max_num_seqs: int = MAX_SEQUENCES
    max_batched_tokens: int = BUDGET_TOKENS
    prefix_cache: bool = False
    draft_tokens: int = 0  # speculative decoding: drafts per step …
    acceptance: float = 0.7  # … and the probability that one is accepted
    draft_ms: float = 0.0  # … and what proposing them costs per step
    disaggregated: bool = False  # a prefill and a decode engine
    link_gb_per_s: float = 50.0  # … and the link the KV cache travels between them
    noise: float = 0.0  # sigma of a lognormal factor on every step
    reasoning: float = 0.0  # share of an answer's tokens that are reasoning
    unit_tokens: int | None = None  # what a unit of work that is no token weighs; None: as usual for its kind
    stall_s: float = 2.0  # how long the fault `stall` pauses

    @property
    def settings(self) -> Settings:
        return Settings(
            budget_tokens=self.max_batched_tokens,
            max_sequences=self.max_num_seqs,
            prefix_cache=self.prefix_cache,
            draft_tokens=self.draft_tokens,
            acceptance=self.acceptance,
            draft_s=self.draft_ms / 1e3,
            noise=self.noise,
            time_scale=self.time_scale,
            seed=self.seed,
        )

    @property
    def link_b_per_s(self) -> float | None:
        """Of the link between the engines; None: one engine does both."""
        return self.link_gb_per_s * 1e9 if self.disaggregated else None

    def check(self) -> None:
        """UsageError for a preset, fault or number that makes no sense."""
        preset(self.preset)
        parse(self.faults, self.seed)
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                flag = f"--{name.replace('_', '-')}"
                end = f"and at most {most:g}" if most < math.inf else "and finite"
                raise UsageError(f"{flag}: {value:g} cannot be", f"give at least {least:g} {end}")
