from __future__ import annotations

import pytest

from sweep.errors import UsageError
from sweep.sim.device import BLOCK_TOKENS, PRESETS, kv_blocks, preset, step_seconds

TABLE = {
    "synthetic-8b-bf16": (799_856, 5.8, 39, 336),
    "synthetic-70b-fp8": (306_992, 22.9, 167, 1400),
    "synthetic-120b-moe": (1_544_320, 3.5, 34, 302),
}


@pytest.mark.parametrize("name", PRESETS)
def test_memory_and_steps_are_those_of_the_table(name):
    kv_tokens, decode_ms, prefill_1k_ms, prefill_8k_ms = TABLE[name]
    seconds = step_seconds(preset(name))
    assert kv_blocks(preset(name)) * BLOCK_TOKENS == kv_tokens
    assert seconds(1, 1, 1024, 0.0) * 1e3 == pytest.approx(decode_ms, rel=0.02)
    assert seconds(1024, 1, 0, 1024 * 512.0) * 1e3 == pytest.approx(prefill_1k_ms, rel=0.02)
    assert seconds(8192, 1, 0, 8192 * 4096.0) * 1e3 == pytest.approx(prefill_8k_ms, rel=0.02)


def test_more_work_takes_longer():
    for device in PRESETS.values():
        seconds = step_seconds(device)
        assert seconds(1, 1, 0, 0.0) < seconds(64, 64, 0, 0.0) < seconds(64, 64, 64_000, 0.0) < seconds(1064, 65, 64_000, 5e5)


def test_an_unknown_preset_gets_the_list():
    with pytest.raises(UsageError) as caught:
        preset("h100")
    assert "synthetic-70b-fp8" in (caught.value.hint or "")
