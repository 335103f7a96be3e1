"""The curve file: the same curve gives the same bytes, and a file that lies is refused in bounded time and memory."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest
from curve_builder import curve, point

from sweep.curve import artifact
from sweep.errors import ArtifactError, OutputError
from sweep.measure import jointcode
from sweep.model import Curve, Fact, JointTable


def signed(**changes: object) -> bytes:
    """The file of a curve with top-level keys changed and a digest that fits."""
    document = json.loads(artifact.to_json(curve())) | changes
    document["digest"] = artifact.digest_of(document)
    return json.dumps(document).encode()


def test_a_file_gives_back_the_curve_and_the_curve_the_file(tmp_path: Path) -> None:
    path = artifact.save(curve(), tmp_path)
    assert path.name == "synthetic-8b-1k-8k-20260101T000000Z.curve.json"
    loaded = artifact.load(path)
    assert isinstance(loaded, Curve)
    assert artifact.to_json(loaded) == path.read_bytes()
    assert loaded.digest == artifact.digest(loaded) == artifact.digest(curve())


def test_floats_are_kept_to_nine_digits_and_missing_stays_null() -> None:
    third = point(1, output=1 / 3, latency=None)
    document = json.loads(artifact.to_json(curve(third)))
    assert document["points"][0]["rates"]["output_tok_per_s"]["value"] == 0.333333333
    assert document["points"][0]["metrics"]["ttft_s"]["p50"]["value"] is None


def test_a_changed_fact_changes_one_line_and_the_digest() -> None:
    before = artifact.to_json(curve()).decode().splitlines()
    changed = curve(price={**curve().price, "currency": Fact(value="EUR", known="declared")})
    after = artifact.to_json(changed).decode().splitlines()
    assert len(before) == len(after)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_never_written(value: float) -> None:
    with pytest.raises(ValueError, match=r"\$\.calibration\.share is"):
        artifact.to_json(curve(calibration={"share": value}))


def test_the_digest_is_that_of_the_text_without_white_space_and_without_itself() -> None:
    text = artifact.to_json(curve(point(1, output=256.5, latency=1 / 3e7, energy_j=1e25), name="a-b")).decode()
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[^\s"]+', text)
    compact = "".join(tokens)
    said = re.search(r'"digest":"(sha256:[0-9a-f]{64})",', compact)
    rest = compact.replace(said[0], "")
    assert said[1] == "sha256:" + hashlib.sha256(rest.encode()).hexdigest()


def test_an_unwritable_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught:
        artifact.save(curve(), tmp_path / "absent")
    assert caught.value.hint


def full_of(**parts: object) -> bytes:
    """A thousand points that each unpack to as much as one may."""
    document = json.loads(artifact.to_json(curve(point(1, **parts))))
    return signed(points=document["points"] * 1000, frontiers=[])


ROWS = 1 << 17
ZEROS = base64.b64encode(zlib.compress(jointcode.HEADER.pack(1, 1, ROWS, 0) + bytes(ROWS * 8 * jointcode.COLUMNS), 9)).decode()
PLAIN = struct.pack(">IIIIQQd", 0x1C849303, 1 << 17, 0, 3, 1, 3_600_000_000, 1.0) + bytes(1 << 17)
BIG = zlib.compress(PLAIN, 9)
HISTOGRAM = base64.b64encode(struct.pack(">II", 0x1C849304, len(BIG)) + BIG).decode()

HOSTILE = {
    "a thousand tables": (full_of(joint=JointTable(kind="cells", n=1, failed=0, data=ZEROS)), "unpack to more"),
    "thousands of histograms": (full_of(histograms={f"m{i}": HISTOGRAM for i in range(8)}), "unpack to more"),
    "not JSON": (b"# Results\n", "malformed"),
    "cut short": (artifact.to_json(curve())[:500], "truncated"),
    "a list": (b"[]", "not a curve file"),
    "another format": (b'{"schema": "aiperf/2"}', "not a curve file"),
    "newer": (signed(schema="sweep.curve/2"), "newer sweep"),
    "digest": (artifact.to_json(curve()).replace(b"synthetic-8b", b"synthetic-9b"), "digest does not match"),
    "no digest": (json.dumps(json.loads(artifact.to_json(curve())) | {"digest": None}).encode(), "digest does not match"),
    "NaN": (b'{"schema": "sweep.curve/1", "x": NaN}', "NaN or Infinity"),
    "Infinity": (b'{"schema": "sweep.curve/1", "x": [-Infinity]}', "NaN or Infinity"),
    "the page beside it": (b"<!doctype html> [NaN]", "malformed"),
    "overflow": (b'{"schema": "sweep.curve/1", "x": 1e999}', "out of range"),
    "deep": (b'{"schema": "sweep.curve/1", "x":' + b"[" * 90_000 + b"]" * 90_000 + b"}", "nested"),
    "deeper": (b"[" * 10_000_000, "too big"),
    "a million points": (b'{"schema": "sweep.curve/1", "points": [' + b"{}," * 1_000_000 + b"{}]}", "too big"),
    "ten million numbers": (b'{"schema": "sweep.curve/1", "points": [' + b"1," * 10_000_000 + b"1]}", "too big"),
    "two thousand points": (
        signed(points=json.loads(artifact.to_json(curve(point(1))))["points"] * 2000, frontiers=[]),
        "2000 points",
    ),
    "large": (b'{"schema": "' + b"x" * (33 << 20) + b'"}', "too big"),
    "a long string that never ends": (b'{"schema": "' + b"\\" * (31 << 20), "truncated"),
    "a number of a million digits": (b'{"schema": "sweep.curve/1", "x": ' + b"9" * 1_000_000 + b"}", "out of range"),
    "wrong type": (signed(points=[{"load": 3}]), r"Expected `object`, got `int` - at `\$\.points\[0\]\.load`"),
    "missing": (signed(plan={}), r"\$\.plan"),
    "path in the name": (signed(name="../../etc/passwd"), "name"),
    "markup in the name": (signed(name="<script>alert(1)</script>"), "name"),
    "bytes": (b"\xff\xfe\x00", "malformed"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_in_one_line_with_a_hint(case: str) -> None:
    raw, message = HOSTILE[case]
    began = time.process_time()  # of this process: others may be at work
    with pytest.raises(ArtifactError, match=message) as caught:
        artifact.loads(raw, "x.curve.json")
    assert time.process_time() - began < 2
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300
    assert caught.value.hint
    assert caught.value.exit_code == 4


def test_the_largest_file_that_passes_the_limits_stays_small_in_memory(tmp_path: Path) -> None:
    """The heaviest content the limits allow: as many small objects and numbers as are not yet too many."""
    filler = b'{"a":1},' * (artifact.MAX_CONTAINERS - 10)
    path = tmp_path / "heavy.curve.json"
    path.write_bytes(b'{"schema":"sweep.curve/1","x":[' + filler + b"1]" + b',"y":"' + b"x" * (20 << 20) + b'"}')
    code = (
        "import resource, sys\n"
        "from sweep.curve import artifact\n"
        "from sweep.errors import ArtifactError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: artifact.load(sys.argv[1])\n"
        "except ArtifactError: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    grown = int(done.stdout) // (1024 if sys.platform != "darwin" else 1 << 20)
    assert grown < 200


def test_an_older_version_is_upgraded_on_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def upgrade(document: dict[str, object]) -> dict[str, object]:
        return document | {"name": document["title"], "schema": "sweep.curve/1"}

    old = json.loads(artifact.to_json(curve())) | {"schema": "sweep.curve/1", "title": "old"}
    del old["name"]
    old["digest"] = artifact.digest_of(old)
    monkeypatch.setattr(artifact, "VERSION", 2)
    monkeypatch.setattr(artifact, "UPGRADES", {1: upgrade})
    assert artifact.loads(json.dumps(old).encode()).name == "old"


def test_fields_of_a_later_minor_writer_are_ignored() -> None:
    assert artifact.loads(signed(weather="fine")).name == curve().name


def test_the_published_schema_is_current_and_accepts_the_file() -> None:
    import jsonschema

    text = artifact.SCHEMA_FILE.read_text()
    assert text == artifact.schema_text(), "out of date: `python -m sweep.curve.artifact` prints the current one"
    published = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(json.loads(artifact.to_json(curve())), published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(artifact.to_json(curve())) | {"points": 3}, published)
