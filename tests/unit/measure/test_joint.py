"""The joint table: the records' own answers, sizes, and hostile text."""

from __future__ import annotations

import base64
import random
import zlib

import msgspec
import numpy as np
import pytest
from unit.measure.synthetic import S, answer, closed, failure

from sweep import records
from sweep.measure import goodput, joint, jointcode
from sweep.model import Bound


def shape(n: int, seed: int, spread: float = 0.3, fixed: bool = True):
    """TTFT, TPOT and E2E in µs, and tokens, of answers of about 1,024 tokens under a queue."""
    rng = np.random.default_rng(seed)
    ttft = np.ceil(3e5 * np.exp(spread * rng.standard_normal(n)))
    tpot = np.ceil(2e4 * np.exp(spread / 5 * rng.standard_normal(n)))
    steps = 1023 if fixed else rng.integers(818, 1024, n)
    return tuple(x.astype(np.int64) for x in (ttft, tpot, ttft + tpot * steps, steps + np.ones(n)))


def table(n: int, seed: int, **how) -> joint.Joint:
    ttft, tpot, e2e, tokens = shape(n, seed, **how)
    return joint.from_columns(ttft, tpot + 1, e2e, tokens, seed)


def same(a: joint.Joint, b: joint.Joint) -> bool:
    axes = all(np.array_equal(getattr(a, axis), getattr(b, axis)) for axis in ("ttft", "tpot", "e2e", "counts", "tokens"))
    return axes and (a.failed, a.shift) == (b.failed, b.shift)


def test_columns_give_the_records_own_answer():
    found = closed(8, 30 * S, fail=0.1, seed=4)
    held = joint.build(found, "sent_ns")
    rng = random.Random(1)
    for _ in range(50):
        bounds = [
            Bound(metric="ttft", limit_s=rng.randrange(50_000, 200_000) / 1e6),
            Bound(metric="tpot", limit_s=rng.randrange(9_000, 11_000) / 1e6),
            Bound(metric="e2e", limit_s=rng.randrange(100_000, 600_000) / 1e6),
        ]
        good = np.logical_and.reduce([goodput.within(found, bound, "sent_ns") for bound in bounds])
        n, tokens = good.sum(), found["osl"][good].sum()
        assert joint.good(held, bounds) == joint.Bracket(n, n, tokens, tokens)
    assert held.n + held.failed == len(found)


def test_a_limit_between_two_microseconds_is_bracketed():
    held = joint.build(records.from_rows([answer(0, 0, ttft_ns=1500, osl=1)]), "sent_ns")
    assert joint.good(held, [Bound(metric="ttft", limit_s=1.2e-6)]) == joint.Bracket(0, 1, 0, 1)
    assert joint.good(held, [Bound(metric="ttft", limit_s=1e-6)]) == joint.Bracket(0, 0, 0, 0)
    assert joint.good(held, [Bound(metric="ttft", limit_s=2e-6)]) == joint.Bracket(1, 1, 1, 1)


def test_one_token_keeps_any_tpot_bound_and_nothing_is_nothing():
    held = joint.build(records.from_rows([answer(0, 0, osl=1), failure(1, 0, 5)]), "sent_ns")
    assert joint.good(held, [Bound(metric="tpot", limit_s=0.0)]) == joint.Bracket(1, 1, 1, 1)
    assert held.failed == 1
    empty = joint.build(records.EMPTY, "sent_ns")
    assert same(jointcode.decode(jointcode.encode(empty)), empty)


@pytest.mark.parametrize("n", [1, 5000, 5001, 60_000])
@pytest.mark.parametrize("fixed", [True, False])
def test_text_and_back(n, fixed):
    held = table(n, 3, fixed=fixed)
    stored = jointcode.encode(held)
    assert same(jointcode.decode(stored), held)
    assert stored.kind == ("columns" if n <= 5000 else "cells")
    assert (stored.n, stored.failed) == (n, 3)
    assert stored.relative_width <= 0.001


@pytest.mark.parametrize("n", [5001, 60_000])
def test_cells_bracket_the_truth_closely(n):
    ttft, tpot, e2e, tokens = shape(n, 5, fixed=False)
    held = joint.from_columns(ttft, tpot + 1, e2e, tokens, 0)
    for q in (0.3, 0.7, 0.95):
        limits = [int(np.quantile(x, q)) for x in (ttft, tpot, e2e)]
        keeps = (ttft <= limits[0]) & (tpot <= limits[1]) & (e2e <= limits[2])
        bounds = [Bound(metric=m, limit_s=us / 1e6) for m, us in zip(("ttft", "tpot", "e2e"), limits, strict=True)]
        found = joint.good(held, bounds)
        assert found.low <= keeps.sum() <= found.high
        assert found.tokens_low <= tokens[keeps].sum() <= found.tokens_high
        assert found.high - found.low < 0.02 * n


@pytest.mark.parametrize("limit", [1 << 17, 3000])
def test_merging_shards_in_any_order_is_measuring_together(limit, monkeypatch):
    monkeypatch.setattr(joint, "MAX_CELLS", limit)
    parts = [table(n, seed) for seed, n in enumerate((4000, 3000, 9000, 10))]
    ttft, tpot, e2e, tokens = (
        np.concatenate(axis) for axis in zip(*(shape(n, s) for s, n in enumerate((4000, 3000, 9000, 10))), strict=True)
    )
    whole = joint.from_columns(ttft, tpot + 1, e2e, tokens, sum(range(4)))
    a, b, c, d = parts
    assert same(joint.merge(parts), whole)
    assert same(joint.merge([d, joint.merge([c, a]), b]), whole)
    assert same(joint.merge([joint.merge([a, b]), joint.merge([c, d])]), whole)
    assert same(joint.merge([a, d]), joint.merge([d, a]))
    assert whole.shift == 0 if limit > 3000 else whole.shift > 0


def test_twelve_points_of_five_thousand_requests_are_small():
    sizes = [len(jointcode.encode(table(5000, seed, spread=1.0, fixed=False)).data) for seed in range(3)]
    assert 12 * max(sizes) < 700_000


@pytest.mark.parametrize(("spread", "fixed", "width"), [(0.05, True, 0.001), (1.0, False, 0.04)])
def test_twelve_points_of_a_million_requests_are_small(spread, fixed, width):
    stored = jointcode.encode(table(1_000_000, 1, spread=spread, fixed=fixed))
    assert 12 * len(stored.data) < 4_000_000
    assert stored.relative_width <= width


@pytest.mark.parametrize("seed", range(3))
def test_hostile_text_is_refused(seed):
    good = jointcode.encode(table(2000 + 4000 * seed, seed))
    rng = random.Random(seed)
    raw = bytearray(zlib.decompress(base64.b64decode(good.data)))

    def stored(plain: bytes, **changes) -> object:
        return msgspec.structs.replace(good, data=base64.b64encode(zlib.compress(plain)).decode(), **changes)

    bad = [
        msgspec.structs.replace(good, data=""),
        msgspec.structs.replace(good, data="?"),
        msgspec.structs.replace(good, data=good.data[:-8]),
        msgspec.structs.replace(good, n=good.n + 1),
        msgspec.structs.replace(good, failed=-1),
        msgspec.structs.replace(good, kind="cells" if good.kind == "columns" else "columns"),
        stored(bytes(raw[:5])),
        stored(bytes(raw) + b"x"),
        stored(b"\x09" + bytes(raw[1:])),
        stored(raw[:2] + b"\xff\xff\xff\x7f" + raw[6:]),
        stored(raw[:14] + b"\xff" * (len(raw) - 14)),
        stored(bytes(100 << 20)),
    ]
    for one in bad:
        with pytest.raises(ValueError, match="joint table"):
            jointcode.decode(one)
    for _ in range(50):  # whatever is flipped: refused, or a table in range
        spoilt = bytearray(raw)
        for _ in range(3):
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
        try:
            found = jointcode.decode(stored(bytes(spoilt)))
        except ValueError:
            continue
        assert found.n == good.n
        assert min(found.ttft.min(), found.tpot.min(), found.e2e.min()) >= 0
