"""How a scheduler is set up."""

from __future__ import annotations

from dataclasses import dataclass

BUDGET_TOKENS = 8192
MAX_SEQUENCES = 512


@dataclass(frozen=True, slots=True)
class Settings:
    """What the engine adds to the plain scheduler. `draft_tokens` K proposed per step, each accepted with `acceptance`."""

    budget_tokens: int = BUDGET_TOKENS
    max_sequences: int = MAX_SEQUENCES
    prefix_cache: bool = False
    draft_tokens: int = 0
    acceptance: float = 0.7
    draft_s: float = 0.0
    noise: float = 0.0  # sigma of a lognormal factor of mean 1 per step
    time_scale: float = 1.0
    seed: int = 0
