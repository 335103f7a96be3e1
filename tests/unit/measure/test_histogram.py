"""Our bulk recording is HdrHistogram's own, byte for byte, and a hostile encoding is refused cheaply."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from sweep.measure import histogram


def one_by_one(us) -> HdrHistogram:
    hdr = HdrHistogram(1, 3_600_000_000, 3)
    for value in us:
        assert hdr.record_value(int(value))
    return hdr


@pytest.mark.parametrize("seed", range(6))
def test_bulk_is_the_loop(seed):
    us = np.exp(np.random.default_rng(seed).uniform(0, np.log(3.6e9), 400)).astype(np.int64)
    us = np.concatenate([us, [0, 1, 2047, 2048, 4095, 4096, 3_600_000_000][: seed + 1]])
    assert histogram.encode(histogram.record(us * 1000)) == one_by_one(us).encode().decode()


def test_an_empty_histogram_too():
    assert histogram.encode(histogram.record(np.empty(0))) == one_by_one([]).encode().decode()


def test_ours_is_read_by_the_library_and_the_librarys_by_us():
    us = np.random.default_rng(1).integers(1, 10**8, 3000)
    mine = histogram.record(us * 1000)
    theirs = HdrHistogram.decode(histogram.encode(mine).encode())
    assert theirs.get_total_count() == 3000
    back = histogram.decode(one_by_one(us).encode().decode())
    assert (back.counts == mine.counts).all()
    for q in (0.5, 0.9, 0.99, 1.0):
        assert histogram.percentile_us(mine, q) == theirs.get_value_at_percentile(100 * q)
        exact = np.quantile(us, q, method="inverted_cdf")
        assert exact <= histogram.percentile_us(mine, q) <= exact * 1.001


def test_out_of_range_is_counted_apart():
    found = histogram.record(np.array([-5000.0, 1000.0, 3.7e12]))
    assert (found.total, found.lost) == (1, 2)


def test_adding_is_recording_together():
    us = np.random.default_rng(2).integers(1, 10**7, (3, 500))
    parts = [histogram.record(part * 1000) for part in us]
    assert histogram.encode(histogram.add(parts)) == histogram.encode(histogram.record(us.ravel() * 1000))


def encoded(plain: bytes) -> str:
    packed = zlib.compress(plain, 9)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def header(payload: bytes, digits: int = 3, highest: int = 3_600_000_000) -> bytes:
    return struct.pack(">IIIIQQd", 0x1C849313, len(payload), 0, digits, 1, highest, 1.0) + payload


@pytest.mark.parametrize(
    "text",
    [
        "", "not base64!", "AAAA", "A" * (2 << 20),
        encoded(bytes(50 << 20)),  # a bomb
        encoded(header(b"\x02", digits=5)), encoded(header(b"\x02", highest=10**12)),
        encoded(header(b"\x80")), encoded(header(b"\xff" * 9)), encoded(header(b"\xff\xff\xff\x7f\x02")),
        encoded(header(b"\x02" * 60_000)), encoded(b"short"),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_not_a_histogram_of_ours_is_refused(text):
    with pytest.raises(ValueError, match="histogram"):
        histogram.decode(text)
