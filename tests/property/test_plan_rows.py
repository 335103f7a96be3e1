"""A file's pairs of lengths: they stay together, whoever draws them."""

from __future__ import annotations

import base64
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import ProfileError
from sweep.model import Calibration, Endpoint, Length, Profile
from sweep.plan import budget, lengths, rows, scenario
from sweep.plan.profile import load_profile
from sweep.plan.start import equilibrium

PAIRS = st.lists(st.tuples(st.integers(1, 30_000), st.integers(1, 30_000)), min_size=1, max_size=60)
SEEDS = st.integers(-(2**63), 2**63 - 1)


def profile_of(pairs: list[tuple[int, int]]) -> Profile:
    isl, osl = (Length(mean=round(np.mean(column))) for column in zip(*pairs, strict=True))
    return Profile(name="file", title="", isl=isl, osl=osl, rows=rows.encode(pairs))


def correlation(isl, osl) -> float:
    return float(np.corrcoef(isl, osl)[0, 1])


@given(PAIRS)
def test_what_is_encoded_comes_back(pairs: list[tuple[int, int]]) -> None:
    assert [tuple(row) for row in rows.decode(rows.encode(pairs)).tolist()] == pairs


@settings(max_examples=25)
@given(PAIRS, SEEDS)
def test_a_request_draws_a_row_and_the_plan_knows_their_means(pairs: list[tuple[int, int]], seed: int) -> None:
    profile = profile_of(pairs)
    isl, osl = lengths.pairs(profile, seed, np.arange(20_000))
    assert set(zip(isl.tolist(), osl.tolist(), strict=True)) <= set(pairs)
    for drawn, mean in zip((isl, osl), lengths.means(profile), strict=True):
        assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / 20_000**0.5 + 1e-6)
    assert lengths.most_tokens(profile) == max(map(sum, pairs))


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.9])
def test_the_correlation_is_that_of_the_file_at_the_start_too(rho: float) -> None:
    """The start's pairs are weighted by OSL: theirs is the correlation of the rows so weighted."""
    normal = np.random.default_rng(1).multivariate_normal([6.5, 5], [[0.25, rho * 0.2], [rho * 0.2, 0.16]], 3_000)
    table = np.exp(normal).astype(int) + 1
    profile = profile_of([(int(isl), int(osl)) for isl, osl in table])
    asked = correlation(table[:, 0], table[:, 1])
    isl, osl = lengths.pairs(profile, 7, np.arange(40_000))
    assert correlation(isl, osl) == pytest.approx(asked, abs=0.02)
    weighted = np.cov(table.T, aweights=table[:, 1])
    slots = 20_000
    first_isl, left = equilibrium(profile, slots, 7, np.arange(slots))
    # what is sent and what is left add up to a whole pair: its variance is that of ISL + OSL among the weighted rows
    assert np.var(first_isl + left) == pytest.approx(weighted.sum(), rel=0.06)
    assert np.mean(first_isl + left) == pytest.approx(np.average(table.sum(axis=1), weights=table[:, 1]), rel=0.01)


def test_a_plan_counts_the_tokens_of_the_rows() -> None:
    """Of a column's summary it would count those of a log-normal."""
    pairs = [(100, 10)] * 9 + [(10_000, 1_000)]
    calibration = Calibration(tokens_per_word=1.0, template_tokens=0.0, source="usage")
    known = Endpoint(url="u", model="m", dialect="chat", calibration=calibration, ttft_s=0.1, tpot_s=0.01)
    plan = scenario.make_plan(profile_of(pairs), slos=[], seed=0, grid=(4.0,), start="cold")
    expected = budget.expected(plan, known)
    assert expected.input_tokens == pytest.approx(1090 * expected.requests, rel=0.01)
    assert expected.output_tokens == pytest.approx(109 * (expected.requests - 2), rel=0.01)  # the last of four slots are cut


def test_long_files_are_thinned_over_their_whole_length() -> None:
    pairs = [(n + 1, 1) for n in range(25_001)]
    kept = rows.thinned(pairs)
    assert len(kept) == rows.MOST
    assert {after - before for (before, _), (after, _) in pairwise(kept)} == {2, 3}
    assert rows.thinned(pairs[:5]) == pairs[:5]


HOSTILE = {
    "no base64": "?",
    "no zlib": base64.b64encode(b"abc").decode(),
    "nothing": base64.b64encode(zlib.compress(b"")).decode(),
    "half a row": base64.b64encode(zlib.compress(bytes(12))).decode(),
    "zeros": base64.b64encode(zlib.compress(bytes(16))).decode(),
    "a bomb": base64.b64encode(zlib.compress(b"\1" * (1 << 24))).decode(),
    "cut short": base64.b64encode(zlib.compress(np.arange(1, 999, dtype="<i4").tobytes())[:-9]).decode(),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_rows_that_are_none_are_refused(what: str, tmp_path) -> None:
    with pytest.raises(ValueError, match=r"rows of lengths|length below 1"):
        rows.decode(HOSTILE[what])
    path = tmp_path / "mine.toml"
    path.write_text(f'isl.mean = 9\nosl.mean = 9\nrows = "{HOSTILE[what]}"\n')
    with pytest.raises(ProfileError, match=r"\$\.rows"):
        load_profile(str(path))
