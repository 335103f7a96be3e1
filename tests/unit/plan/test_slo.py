from __future__ import annotations

import pytest

from sweep.errors import SloError
from sweep.model import Bound, Slo
from sweep.plan.slo import parse, presets


def test_percentile_bounds() -> None:
    (slo,) = parse("ttft_p99<=450ms, tpot_p99.9 <= 40ms")
    assert slo == Slo(
        name="ttft_p99<=450ms,tpot_p99.9<=40ms",
        bounds=(Bound(metric="ttft", limit_s=0.45, quantile=0.99), Bound(metric="tpot", limit_s=0.04, quantile=0.999)),
    )


def test_request_bounds_and_units() -> None:
    (slo,) = parse("ttft<=0.5s,e2e<=10S,tpot<=25000us")
    assert [(bound.metric, bound.limit_s, bound.quantile) for bound in slo.bounds] == [
        ("ttft", 0.5, None),
        ("e2e", 10.0, None),
        ("tpot", 0.025, None),
    ]
    assert parse("e2e≤1e3ms")[0].bounds[0].limit_s == 1.0


def test_presets_stand_beside_terms() -> None:
    names = [slo.name for slo in parse("mlperf-llama2-70b-server,ttft<=1s,MLPERF-llama2-70b-interactive,e2e<=9s")]
    assert names == ["mlperf-llama2-70b-server", "mlperf-llama2-70b-interactive", "ttft<=1s,e2e<=9s"]


@pytest.mark.parametrize(
    ("name", "ttft_ms", "tpot_ms"),
    [
        ("llama2-70b-server", 2000, 200),
        ("llama2-70b-interactive", 450, 40),
        ("llama3.1-8b-server", 2000, 100),
        ("llama3.1-8b-interactive", 500, 30),
        ("llama3.1-405b-server", 6000, 175),
        ("llama3.1-405b-interactive", 4500, 80),
        ("mixtral-8x7b-server", 2000, 200),
        ("deepseek-r1-server", 2000, 80),
        ("deepseek-r1-interactive", 1500, 15),
        ("gpt-oss-120b-server", 3000, 80),
        ("gpt-oss-120b-interactive", 2000, 20),
    ],
)
def test_the_mlperf_presets(name: str, ttft_ms: float, tpot_ms: float) -> None:
    slo = presets()[f"mlperf-{name}"]
    assert {bound.metric: bound.limit_s * 1e3 for bound in slo.bounds} == pytest.approx({"ttft": ttft_ms, "tpot": tpot_ms})
    assert {bound.quantile for bound in slo.bounds} == {0.99}


def test_every_preset_names_its_source() -> None:
    assert all(slo.source and slo.source.startswith("MLPerf Inference v") for slo in presets().values())


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("ttft<=0.5", "the unit is missing", "write 0.5ms or 0.5s"),
        ("ttft<=5min", "unknown unit 'min'", "known: s, ms, us"),
        ("itl<=1s", "unknown metric 'itl'", "known metrics: ttft, tpot, e2e"),
        ("tpt_p99<=1s", "unknown metric 'tpt'", "did you mean tpot"),
        ("mlperf-llama2-70b-interactiv", "unknown SLO", "did you mean mlperf-llama2-70b-interactive"),
        ("fast", "unknown SLO 'fast'", "presets: mlperf-"),
        ("ttft<1s", "upper and inclusive", "ttft<=0.5s"),
        ("ttft>=1s", "upper and inclusive", "ttft<=0.5s"),
        ("ttft<=fast", "'fast' is not a number", "ttft<=0.5s"),
        ("ttft<=-1s", "above 0", "ttft<=0.5s"),
        ("ttft<=infs", "'infs' is not a number", "ttft<=0.5s"),
        ("ttft<=1e999s", "finite", "ttft<=0.5s"),
        ("ttft<=", "the limit is missing", "ttft<=0.5s"),
        ("ttft_p0<=1s", "p0 is no percentile", "p99"),
        ("ttft_p100<=1s", "p100 is no percentile", "p99"),
        ("ttft<=1s,,e2e<=2s", "a term is missing", "known metrics"),
        ("", "a term is missing", "known metrics"),
        ("ttft<=1s,ttft<=2s", "bounds the same thing twice", "once"),
        ("mlperf-whisper", "sets no latency bound", "ttft<=0.5s"),
    ],
)
def test_what_is_not_understood_gets_one_line_and_a_hint(text: str, says: str, hint: str) -> None:
    with pytest.raises(SloError) as caught:
        parse(text)
    assert says in caught.value.message
    assert hint in (caught.value.hint or "")
    assert "\n" not in caught.value.message + (caught.value.hint or "")


def test_three_digits_are_nines() -> None:
    assert [parse(f"ttft_p{p}<=1s")[0].bounds[0].quantile for p in ("50", "995", "999", "9999", "99.5")] == [
        0.5,
        0.995,
        0.999,
        0.9999,
        0.995,
    ]
