"""The histograms of a curve file, read by another language's HdrHistogram library (npm hdr-histogram-js)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sweep.curve import artifact
from sweep.curve.stored import histogram_of
from sweep.measure import histogram

LIBRARY = "hdr-histogram-js@3.0.1"
CACHE = Path(os.environ.get("SWEEP_TEST_ENGINES", Path.home() / ".cache" / "pareto-sweep" / "engines")) / "hdr-histogram-js"
QUANTILES = (0.5, 0.9, 0.99, 1.0)
PROGRAM = """
const hdr = require("hdr-histogram-js");
const texts = JSON.parse(require("fs").readFileSync(0));
const sum = hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 3600000000, numberOfSignificantValueDigits: 3 });
const read = texts.map((text) => hdr.decodeFromCompressedBase64(text));
read.forEach((one) => sum.add(one));
const said = (one) => [one.totalCount, ...[50, 90, 99, 100].map((percent) => one.getValueAtPercentile(percent))];
console.log(JSON.stringify({ each: read.map(said), sum: said(sum) }));
"""


@pytest.fixture(scope="module")
def node() -> str:
    """Node with the library in a cache outside the repository."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        pytest.skip("no node and npm here: histograms are not read by another language's library")
    if not (CACHE / "node_modules" / "hdr-histogram-js").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([npm, "install", "--no-audit", "--no-fund", "--prefix", CACHE, LIBRARY], capture_output=True)
        if done.returncode != 0:
            pytest.skip(f"npm cannot install {LIBRARY}: {done.stderr.decode(errors='replace')[-200:]}")
    return program


def test_javascript_reads_and_adds_what_we_wrote(node: str, tmp_path: Path, sweep_command) -> None:
    sweep_command("--endpoint", "sim", "--virtual", "--profile", "demo", "--grid", "1,8", "--out", tmp_path, "--name", "a")
    curve = artifact.load(tmp_path / "a" / "a.curve.json")
    places = [(point, metric) for point in curve.points for metric in sorted(point.histograms)]
    assert len(places) > 10
    done = subprocess.run(
        [node, "-e", PROGRAM],
        input=json.dumps([point.histograms[metric] for point, metric in places]),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NODE_PATH": str(CACHE / "node_modules")},
    )
    theirs = json.loads(done.stdout)
    ours = [histogram_of(point, metric) for point, metric in places]
    assert theirs["each"] == [said(one) for one in ours]
    assert theirs["sum"] == said(histogram.add(ours))


def said(one: histogram.Histogram) -> list[int]:
    """How many, and the percentiles in µs."""
    return [one.total, *(histogram.percentile_us(one, q) or 0 for q in QUANTILES)]
