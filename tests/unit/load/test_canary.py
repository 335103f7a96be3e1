"""Fixed prompts, asked of an endpoint that answers, of one that is gone, and of one whose answers have no text."""

from __future__ import annotations

from sweep.load import canary
from sweep.load.canary import PROMPTS
from sweep.load.client import target_from
from sweep.load.preflight import probe
from sweep.sim.server import start


def test_every_prompt_is_answered_the_same_twice_and_not_at_all_by_a_server_that_is_gone() -> None:
    with start("synthetic-8b-bf16") as served:
        target = target_from(served.url, environ={})
        bird = canary.canary(target, probe(target, "chat"), "run")
        assert bird is not None
        answers = bird.ask()
        assert len(answers) == len(PROMPTS)
        assert None not in answers
        assert answers == bird.ask()
    assert bird.ask() == [None] * len(PROMPTS)


def test_only_dialects_with_text_are_asked() -> None:
    with start("synthetic-8b-bf16") as served:
        target = target_from(served.url, environ={})
        assert canary.canary(target, probe(target, "embeddings"), "run") is None
