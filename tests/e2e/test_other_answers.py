"""Answers of vLLM that are more than text, token by token: thoughts, guesses that come true, pictures. `make e2e-all`.

The models are tiny and made for it, see `engines/tiny.py`; scheduler, sampler, parsers and wire are the real ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from checks import as_asked, as_observed, observed, sound, sweep_of, tell
from conftest import EVERY_SERVER, started
from engines import vllm

pytestmark = EVERY_SERVER
LOADS = ("--grid", "1,2,4", "--duration", "5s")
THOUGHT = 12  # tokens, the mark of its end included


def test_a_thought_is_told_apart_from_the_answer(tmp_path: Path) -> None:
    """`delta.reasoning`, then `delta.content`; between the two times to first token lie as many steps as the thought has tokens."""
    for engine in started(vllm.tiny_running("text", *vllm.THINKING)):
        made = sweep_of(engine, tmp_path, "--profile", "64/32", *LOADS, counters=vllm.COUNTERS)
        sound(made)
        as_asked(made)
        as_observed(made)
        answered = [(row, seen) for row, seen in made.pairs() if row["osl"] > THOUGHT]
        assert answered
        for row, _ in answered:
            assert row["chunks"] < row["osl"]  # the end of the thought is a token and no text
            assert row["first_ns"] <= row["first_answer_ns"]  # equal where thought and answer were read at once
        assert any(row["first_ns"] < row["first_answer_ns"] for row, _ in answered)
        assert median(row["osl"] - row["chunks"] for row, _ in answered) == 1  # a server that lags joins tokens in a chunk
        assert median(row["first_answer_ns"] - (seen.answer_ns() or 0) for row, seen in answered) < 5e6
        for point in made.curve.points:
            whole, answer = (point.metrics[name]["p50"].value or 0.0 for name in ("ttft_s", "ttft_answer_s"))
            assert 0 < whole <= answer
        tell("vLLM `chat`, thinking", made, observed(made), "observer")


def test_guesses_that_come_true_are_one_chunk(tmp_path: Path) -> None:
    """Speculative decoding: chunks of five tokens, so that chunks are no count of tokens; usage is."""
    for engine in started(vllm.tiny_running("text", *vllm.GUESSING)):
        made = sweep_of(engine, tmp_path, "--profile", "64/96", *LOADS, counters=(*vllm.COUNTERS, vllm.ACCEPTED))
        sound(made)
        as_asked(made)
        as_observed(made)
        assert made.counted[vllm.ACCEPTED] > 0
        assert set(made.ok["token_source"]) == {"usage"}
        assert made.ok["chunks"].sum() < made.ok["osl"].sum() / 2
        tell("vLLM `chat`, guessing", made, observed(made), "observer")


def test_pictures_are_looked_at(tmp_path: Path) -> None:
    """Real PNGs through a real processor: a picture twice as wide is fewer tiles, so another number of tokens, and ISL includes them."""
    words = {}
    for engine in started(vllm.tiny_running("vision")):
        for width in (224, 448):
            profile = tmp_path / f"{width}.toml"
            pictures = f"images = {{ width = {width}, height = 224, count = 1 }}"
            profile.write_text(f'title = "pictures"\nstart = "cold"\nisl.mean = 512\nosl.mean = 16\n{pictures}\n')
            made = sweep_of(engine, tmp_path / str(width), "--profile", str(profile), *LOADS, counters=vllm.COUNTERS)
            sound(made)
            as_asked(made)
            as_observed(made)
            prompts, sent = made.counted["vllm:prompt_tokens_total"], int(made.ok["isl"].sum())
            assert sent <= prompts <= sent + 1.05 * made.cut * 512
            words[width] = sum(len(text_of(seen.request)) for seen in made.seen.values()) / len(made.seen)
            tell(f"vLLM `chat`, a picture of {width} × 224", made, observed(made), "observer")
    assert words[448] > 1.2 * words[224]


def text_of(request: bytes) -> list[str]:
    content = json.loads(request.partition(b"\r\n\r\n")[2])["messages"][0]["content"]
    return str(content[-1]["text"]).split()
