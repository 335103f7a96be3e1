"""Prometheus text under vLLM's metric names, so that telemetry can be developed against the simulated endpoint."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence as Values

from sweep.sim.realtime import Realtime

TTFT_BUCKETS_S = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0,
    640.0, 2560.0,
)  # fmt: skip
LATENESS_QUANTILES = (0.5, 0.99, 1.0)


class Counters:
    """What only grows."""

    def __init__(self) -> None:
        self.prompt_tokens = 0
        self.generation_tokens = 0
        self.cached_tokens = 0
        self.finished = 0
        self._ttft = [0] * (len(TTFT_BUCKETS_S) + 1)
        self._ttft_sum_s = 0.0

    def first_token(self, ttft_s: float) -> None:
        self._ttft[bisect_left(TTFT_BUCKETS_S, ttft_s)] += 1
        self._ttft_sum_s += ttft_s

    def histogram(self) -> tuple[list[int], float]:
        """(cumulative counts, sum in seconds)"""
        total = 0
        counts = []
        for count in self._ttft:
            total += count
            counts.append(total)
        return counts, self._ttft_sum_s


def quantile(values: Values[int], q: float) -> float:
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(q * len(ordered)))]) if ordered else 0.0


def render(model: str, stages: list[Realtime], counters: Counters) -> bytes:
    label = f'{{model_name="{model}"}}'
    engines = [stage.engine for stage in stages]
    held, capacity = sum(e.pool.held for e in engines), sum(e.pool.capacity for e in engines)
    rows = [
        ("gauge", "vllm:num_requests_running", sum(len(e.running) for e in engines)),
        ("gauge", "vllm:num_requests_waiting", sum(len(e.waiting) for e in engines)),
        ("gauge", "vllm:kv_cache_usage_perc", held / capacity),
        ("counter", "vllm:num_preemptions_total", sum(e.preemptions for e in engines)),
        ("counter", "vllm:prompt_tokens_total", counters.prompt_tokens),
        ("counter", "vllm:generation_tokens_total", counters.generation_tokens),
        ("counter", "vllm:prefix_cache_queries_total", counters.prompt_tokens),
        ("counter", "vllm:prefix_cache_hits_total", counters.cached_tokens),
    ]
    lines = [line for kind, name, value in rows for line in (f"# TYPE {_family(name)} {kind}", f"{name}{label} {value}")]
    lines.append("# TYPE vllm:request_success counter")
    lines.append(f'vllm:request_success_total{{finished_reason="length",model_name="{model}"}} {counters.finished}')
    counts, total_s = counters.histogram()
    lines.append("# TYPE vllm:time_to_first_token_seconds histogram")
    for bound, count in zip((*map(str, TTFT_BUCKETS_S), "+Inf"), counts, strict=True):
        lines.append(f'vllm:time_to_first_token_seconds_bucket{{le="{bound}",model_name="{model}"}} {count}')
    lines.append(f"vllm:time_to_first_token_seconds_sum{label} {total_s}")
    lines.append(f"vllm:time_to_first_token_seconds_count{label} {counts[-1]}")
    lateness_ns = [late for stage in stages for late in stage.lateness_ns]
    lines.append("# TYPE sweep_sim_step_lateness_seconds gauge")
    for q in LATENESS_QUANTILES:
        late_s = quantile(lateness_ns, q) / 1e9
        lines.append(f'sweep_sim_step_lateness_seconds{{model_name="{model}",quantile="{q}"}} {late_s}')
    lines.append("# TYPE sweep_sim_slipped_seconds counter")
    lines.append(f"sweep_sim_slipped_seconds_total{label} {sum(stage.slipped_ns for stage in stages) / 1e9}")
    return ("\n".join(lines) + "\n").encode()


def _family(name: str) -> str:
    return name.removesuffix("_total")
