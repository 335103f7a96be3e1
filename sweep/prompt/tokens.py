"""How many words make a prompt of a wanted token count, learnt from two probes.

    prompt_tokens ≈ template_tokens + tokens_per_word · words

The probes are composed as every prompt is, so the nonce word's own tokens are part of `template_tokens`, and every later
prompt, nonce included, lies on the same line.
"""

from __future__ import annotations

from collections.abc import Sequence

from sweep.model import Calibration

# Common English words with a full stop every dozen words, behind a chat template of the usual kind and the nonce.
ASSUMED = Calibration(tokens_per_word=1.1, template_tokens=24.0, source="assumed")


def calibrate(probes: Sequence[tuple[int, int]]) -> Calibration:
    """Least squares through (words, prompt_tokens). Fewer than two lengths, or tokens that do not grow with words: `ASSUMED`."""
    n = len(probes)
    mean_words = sum(words for words, _ in probes) / max(n, 1)
    mean_tokens = sum(tokens for _, tokens in probes) / max(n, 1)
    spread = sum((words - mean_words) ** 2 for words, _ in probes)
    together = sum((words - mean_words) * (tokens - mean_tokens) for words, tokens in probes)
    if spread == 0 or together <= 0:
        return ASSUMED
    slope = together / spread
    return Calibration(tokens_per_word=slope, template_tokens=mean_tokens - slope * mean_words, source="usage")


def words_for(isl: int, calibration: Calibration) -> int:
    """Words, nonce included, whose prompt comes nearest to `isl` tokens; 1 where the template alone exceeds it."""
    return max(1, round((isl - calibration.template_tokens) / calibration.tokens_per_word))
