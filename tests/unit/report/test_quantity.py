from __future__ import annotations

import msgspec
import pytest
import sample_curves
from hypothesis import given
from hypothesis import strategies as st

from sweep.model import Estimate, Load
from sweep.report import quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1692.3, "1,692"),
        (43.21, "43.2"),
        (0.00123, "0.00123"),
        (9.996, "10.0"),
        (0, "0"),
        (99.96, "100"),
        (-4.2, "-4.20"),
        (None, "–"),
    ],
)
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert quantity.significant(value) == text


@given(st.floats(1e-6, 1e9))
def test_what_is_written_is_the_value(value: float) -> None:
    assert float(quantity.significant(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("value", "text"), [(2.3e-4, "230 µs"), (0.0452, "45.2 ms"), (1.4, "1.40 s"), (95, "95.0 s"), (None, "–")]
)
def test_latencies_carry_their_unit(value: float | None, text: str) -> None:
    assert quantity.seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.2, "1 s"), (89, "89 s"), (100, "2 min"), (4800, "1 h 20 min"), (None, "–")])
def test_waiting_times(value: float | None, text: str) -> None:
    assert quantity.duration(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100 %"), (0.99999, "99.9 %"), (0.00001, "0.1 %"), (0.0, "0 %"), (0.123, "12.3 %")]
)
def test_a_share_is_never_rounded_to_all_or_none(share: float, text: str) -> None:
    assert quantity.percent(share) == text


def test_interactivity_turns_the_interval_over() -> None:
    point = sample_curves.point(1, 0)
    tpot = {"p50": Estimate(value=0.02, low=0.01, high=None, n=9, few=True)}
    turned = quantity.interactivity(msgspec.structs.replace(point, metrics={"tpot_s": tpot}))
    assert turned == Estimate(value=50.0, low=None, high=100.0, n=9, few=True)


@pytest.mark.parametrize("tpot", [None, 0.0])
def test_no_interactivity_without_a_time_per_token(tpot: float | None) -> None:
    point = msgspec.structs.replace(sample_curves.point(1, 0), metrics={"tpot_s": {"p50": Estimate(value=tpot)}})
    assert quantity.interactivity(point) is None


def test_a_load_in_words_fits_its_number() -> None:
    assert quantity.level_in_words(Load(kind="poisson", level=1)) == "1 request/s"
    assert quantity.level_in_words(Load(kind="poisson", level=0.5)) == "0.5 requests/s"
    assert quantity.level_in_words(Load(kind="closed", level=1)) == "concurrency 1"
