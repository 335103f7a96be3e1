"""What the APIs share whose answer comes in one piece: no stream, and work that is counted in items of the request."""

from __future__ import annotations

from itertools import pairwise

from sweep.dialect import Frame


def split(prompt: str, count: int) -> list[str]:
    """`prompt` cut into `count` texts of much the same number of words; where it has fewer words, some stand in several."""
    words = prompt.split()
    cuts = [len(words) * place // count for place in range(count + 1)] if count > 0 else []
    texts = [" ".join(words[begin:end]) for begin, end in pairwise(cuts)]
    return [text or words[place % len(words)] if words else "" for place, text in enumerate(texts)]


def opening(reply_id: str, model: str) -> list[Frame]:
    return []


def closing(reply_id: str, model: str, finish: str, usage: object) -> list[Frame]:
    return []
