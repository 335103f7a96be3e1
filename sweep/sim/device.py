"""How long one step of a synthetic accelerator takes, and how much KV memory it has.

    t_step = t0 + L·t_layer + B·t_seq + (mem⁴ + comp⁴)^¼ + comm + t_draft
    mem    = W(T)/(g·BW·0.73) + kv·Σctx_decode/(g·BW·0.55)
    W(T)   = W_dense + W_exp·(1 − (1 − k/E)^(0.5·T))            distinct experts read
    comp   = (2·P_act·T + 4·L·H·hd·(Σ_decode ctx + Σ_prefill n·(ctx + n/2)))/(g·F·mfu)
    comm   = 0 for g = 1, else 2L·(12 µs + T·d·2·2(g−1)/g/350 GB/s)

T new tokens, B sequences, g accelerators. Constants follow public fits of vLLM (BLIS / inference-sim) and Vidur's operators.
The presets are synthetic: they stand for no real machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sweep.errors import UsageError

BLOCK_TOKENS = 16
GIGA = 1e9

T0_S = 130e-6
T_SEQ_S = 4.4e-6
BW_B_PER_S = 4.8e12
WEIGHT_BW_SHARE = 0.73
KV_BW_SHARE = 0.55
MEMORY_B = 0.90 * 141e9 - 6e9
LINK_B_PER_S = 350e9
LINK_S = 12e-6


@dataclass(frozen=True, slots=True)
class Device:
    """A model on `accelerators` synthetic accelerators."""

    name: str
    dense_b: float
    experts_b: float
    active_params: float
    layers: int
    width: int
    heads: int
    head_dim: int
    experts: int
    experts_active: int
    kv_b_per_token: int
    flops: float
    mfu: float
    layer_s: float
    accelerators: int = 1


PRESETS = {
    device.name: device
    for device in (
        Device(
            name="synthetic-8b-bf16", dense_b=16.06 * GIGA, experts_b=0.0, active_params=8.03e9,
            layers=32, width=4096, heads=32, head_dim=128, experts=0, experts_active=0,
            kv_b_per_token=131_072, flops=989e12, mfu=0.45, layer_s=32e-6,
        ),
        Device(
            name="synthetic-70b-fp8", dense_b=70.6 * GIGA, experts_b=0.0, active_params=70.6e9,
            layers=80, width=8192, heads=64, head_dim=128, experts=0, experts_active=0,
            kv_b_per_token=163_840, flops=1979e12, mfu=0.45, layer_s=32e-6,
        ),
        Device(
            name="synthetic-120b-moe", dense_b=3.07 * GIGA, experts_b=60.9 * GIGA, active_params=5.13e9,
            layers=36, width=2880, heads=64, head_dim=64, experts=128, experts_active=4,
            kv_b_per_token=36_864, flops=989e12, mfu=0.35, layer_s=62e-6,
        ),
    )
}  # fmt: skip

DEFAULT = "synthetic-8b-bf16"


def preset(name: str) -> Device:
    """The device of a preset. UsageError names the known ones."""
    if name not in PRESETS:
        raise UsageError(f"unknown preset {name!r}", hint=f"one of: {', '.join(PRESETS)}")
    return PRESETS[name]


def kv_blocks(device: Device) -> int:
    """How many KV blocks of 16 tokens fit beside the weights."""
    free_b = device.accelerators * MEMORY_B - device.dense_b - device.experts_b
    return int(free_b // (device.kv_b_per_token * BLOCK_TOKENS))


StepSeconds = Callable[[int, int, int, float], float]


def step_seconds(device: Device) -> StepSeconds:
    """(new tokens T, sequences B, Σ ctx of the decodes, Σ n·(ctx + n/2) of the prefills) -> seconds of that step."""
    g = device.accelerators
    fixed_s = T0_S + device.layers * device.layer_s
    weight_b_per_s = g * BW_B_PER_S * WEIGHT_BW_SHARE
    kv_s_per_token = device.kv_b_per_token / (g * BW_B_PER_S * KV_BW_SHARE)
    flop_per_s = g * device.flops * device.mfu
    token_s = 2.0 * device.active_params / flop_per_s
    attention_s = 4.0 * device.layers * device.heads * device.head_dim / flop_per_s
    idle_share = 1.0 - device.experts_active / device.experts if device.experts else 0.0
    link_s_per_token = device.width * 2 * 2 * (g - 1) / g / LINK_B_PER_S

    def seconds(tokens: int, sequences: int, decode_context: int, prefill_pairs: float) -> float:
        weights_b = device.dense_b + device.experts_b * (1.0 - idle_share ** (0.5 * tokens))
        memory_s = weights_b / weight_b_per_s + kv_s_per_token * decode_context
        compute_s = token_s * tokens + attention_s * (decode_context + prefill_pairs)
        bound_s: float = (memory_s**4 + compute_s**4) ** 0.25
        comm_s = 2 * device.layers * (LINK_S + tokens * link_s_per_token) if g > 1 else 0.0
        return fixed_s + sequences * T_SEQ_S + bound_s + comm_s

    return seconds
