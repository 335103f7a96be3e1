"""What a request is for the scheduler: a prompt to compute and tokens to make, one a step.

Work that is not counted in tokens (vectors, documents, seconds of audio, of video) is a job: all of it is computed as a prompt,
in the same queue and the same steps as everything else, and what was asked for comes at once when that is done. A unit's
service time is so the time its tokens take.
"""

from __future__ import annotations

from dataclasses import dataclass

from sweep.dialect import Traits

TOKENS = "tokens"
TOKENS_PER_UNIT = {
    "audio seconds": 50,
    "video seconds": 1000,
}  # Whisper encodes 30 s as 1,500 positions; texts weigh themselves


@dataclass(frozen=True, slots=True)
class Work:
    """`prompt` tokens to compute, `steps` in which something is made; every one of them brings `units`."""

    prompt: int
    steps: int
    units: int


def work(traits: Traits, prompt: int, osl: int, tokens_per_unit: int | None = None) -> Work:
    """The work of `osl` units behind a text of `prompt` tokens. `tokens_per_unit` None: as the unit usually weighs."""
    if traits.unit == TOKENS:
        return Work(prompt, osl, 1)
    weight = TOKENS_PER_UNIT.get(traits.unit, 0) if tokens_per_unit is None else tokens_per_unit
    return Work(max(1, prompt + weight * osl), 1, osl)
