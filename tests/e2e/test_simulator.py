"""The simulated endpoint as a stranger would check it: by its truth, by its faults, and by itself in virtual time."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess, Popen

import numpy as np
import polars as pl

from sweep.load import preflight
from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.model import Cell, Length, Limits, Load, Profile
from sweep.records import Records, concat
from sweep.sim import server
from sweep.sim.virtual import Source

Sweep = Callable[..., "CompletedProcess[str]"]
Begin = Callable[..., "Popen[str]"]
PRESET = "synthetic-8b-bf16"
CHANGES = {"created_at", "started_at", "run_id", "digest", "name"}


@contextmanager
def serving(begin: Begin, *arguments: str | Path) -> Iterator[str]:
    """`sweep sim` until Ctrl-C, which must end it cleanly."""
    process = begin("sim", *arguments)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:")
    yield url
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")


def curve_in(folder: Path) -> dict:
    (path,) = folder.glob("*/*.curve.json")
    return json.loads(path.read_text())


def without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in CHANGES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


# --- `sweep sim` -----------------------------------------------------------------------------------------------------


def test_its_truth_can_be_joined_with_a_curves_records(begin_sweep: Begin, sweep_command: Sweep, tmp_path: Path) -> None:
    """Steps last four times as long, so that a busy machine does not slip."""
    log = tmp_path / "truth.jsonl"
    faults = ("--fault", "truncated=0.1", "--fault", "rate-limited=0.1")
    with serving(begin_sweep, "--truth", log, *faults, "--time-scale", "4") as url:
        sweep_command(
            "--endpoint", url, "--profile", "64/16", "--grid", "8", "--duration", "4s", "--out", tmp_path, expect=None
        )
    (parquet,) = tmp_path.glob("*/*.records.parquet")
    ours = {row["request"]: row for row in pl.read_parquet(parquet).iter_rows(named=True)}
    theirs = {}
    for line in log.read_text().splitlines():
        row = json.loads(line)
        number, _, run = (row["id"] or "").partition("-")
        if number.isdecimal() and run == curve_in(tmp_path)["run_id"]:
            theirs[int(number)] = row
    assert set(ours) == set(theirs)
    outcomes = {"truncated": "truncated", "rate_limited": "rate_limited", "ok": "ok"}
    for number, row in ours.items():
        true = theirs[number]
        if row["outcome"] in outcomes:
            assert outcomes[row["outcome"]] == true["outcome"]
        if row["first_ns"] is not None:
            assert row["sent_ns"] <= true["arrival_ns"] <= true["admitted_ns"] <= true["step_ns"][0] <= true["write_ns"][0]
            assert true["write_ns"][0] <= row["first_ns"]
    assert {"truncated", "rate_limited"} <= {row["outcome"] for row in ours.values()}


def test_what_it_cannot_be_is_said_in_a_line(sweep_command: Sweep) -> None:
    for wrong in (("--preset", "h100"), ("--fault", "nonsense"), ("--port", "70000"), ("--time-scale", "0")):
        said = sweep_command("sim", *wrong, expect=2).stderr.splitlines()
        assert [line.partition(":")[0] for line in said] == ["error", "hint"]


# --- virtual time ----------------------------------------------------------------------------------------------------


def test_virtual_sweeps_are_the_same_twice(sweep_command: Sweep, tmp_path: Path) -> None:
    for once in ("one", "two"):
        load = ("--rate", "2,4,8", "--duration", "60s", "--seed", "3")
        sweep_command(
            "run", "--endpoint", "sim", "--virtual", "--profile", "chat", *load, "--out", tmp_path / once, "--name", "x"
        )
    one, two = (without_times(curve_in(tmp_path / once)) for once in ("one", "two"))
    assert one == two
    assert [point["load"]["level"] for point in one["points"]] == [2, 4, 8]
    records = [(tmp_path / once / "x" / "x.records.parquet").read_bytes() for once in ("one", "two")]
    assert records[0] == records[1]


def test_the_frontier_of_a_big_model_takes_less_than_a_minute(sweep_command: Sweep, tmp_path: Path) -> None:
    sweep_command(
        "run", "--endpoint", "sim:synthetic-70b-fp8", "--virtual", "--profile", "8k/1k", "--grid", "1,8,64,512", "--out", tmp_path,
        timeout_s=60,
    )  # fmt: skip
    curve = curve_in(tmp_path)
    assert [point["load"]["level"] for point in curve["points"]] == [1, 8, 64, 512]
    assert not any(point["disqualified"] for point in curve["points"])


def test_arrivals_at_half_capacity_see_the_same_mean_ttft_in_both() -> None:
    """The same arrivals in both, half of what the preset takes; steps four times as long, so that a busy machine does not slip."""
    profile = Profile(name="half", title="", isl=Length(mean=1024), osl=Length(mean=64), dialect="completions")
    cell = Cell(index=0, profile=profile, load=Load(kind="poisson", level=2.5), limits=Limits(), start="cold", seed=1)
    virtual_s = ttft_s(Source(PRESET, time_scale=4.0).measure(cell), 24)
    with server.start(PRESET, time_scale=4.0) as process, Fleet(target := target_from(process.url, environ={})) as fleet:
        real_s = ttft_s(fleet.measure(cell, preflight.probe(target, "completions"), "e2e"), 24)
    half_width_s = 1.96 * real_s.std() / np.sqrt(len(real_s))
    assert min(len(real_s), len(virtual_s)) > 30
    assert abs(virtual_s.mean() - real_s.mean()) <= half_width_s + 0.03 * virtual_s.mean()


def ttft_s(running: object, seconds: float) -> np.ndarray:
    """TTFT, from the planned time, of the requests due in the first seconds."""
    parts: list[Records] = []
    end_ns = None
    for batch in running:  # type: ignore[attr-defined]
        parts.append(batch.done)
        if end_ns is None:
            end_ns = batch.at_ns + round(seconds * 1e9)
            running.finish(end_ns)  # type: ignore[attr-defined]
    records = concat(parts)
    ok = records["outcome"] == "ok"
    return (records["first_ns"] - records["planned_ns"])[ok] / 1e9


def test_prompts_have_the_length_asked_for(sweep_command: Sweep, tmp_path: Path) -> None:
    sweep_command("--endpoint", "sim", "--profile", "512/8", "--grid", "4", "--duration", "2s", "--out", tmp_path, expect=None)
    (point,) = curve_in(tmp_path)["points"]
    assert point["isl"]["min"] == point["isl"]["max"] == 512


# --- `sweep selftest` ------------------------------------------------------------------------------------------------


def test_the_selftest_says_how_wrong_the_tool_is_and_a_curve_carries_it(sweep_command: Sweep, tmp_path: Path) -> None:
    ended = sweep_command("selftest", "--quick", "--json", expect=None)
    result = json.loads(ended.stdout)
    assert ended.returncode == (0 if result["fit"] else 4)
    assert result["schema"] == "sweep.selftest/1"
    assert len(result["presets"]) == 3
    for load in (load for preset in result["presets"] for load in preset["loads"]):
        assert load["unmatched"] == load["early"] == 0
        assert load["requests"] > 0
        assert 0 <= load["ttft_error_s"]["p50"] <= load["ttft_error_s"]["p99"] <= load["ttft_error_s"]["max"]
        assert 0 <= load["beyond_s"]["p50"] < load["token_error_s"]["p50"] < 1e-3
        assert load["server_late_s"]["p50"] >= 0
        assert abs(load["figure_errors"]["output_tok_per_s"]) < 0.01
    kept = tmp_path / "selftest.json"
    kept.write_text(ended.stdout)
    sweep_command("run", "--endpoint", "sim", "--virtual", "--profile", "demo", "--calibration", kept, "--out", tmp_path)
    carried = curve_in(tmp_path)["calibration"]
    assert (carried["at"], carried["fit"], carried["client"]) == (result["at"], result["fit"], result["client"])
    assert carried.keys() == result.keys()
    sweep_command("check", next(tmp_path.glob("*/*.curve.json")))


def test_a_selftest_of_another_machine_is_refused(sweep_command: Sweep, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"schema": "sweep.selftest/1", "client": {"fingerprint": "of another"}}))
    for file, said in ((other, "another machine"), (Path(__file__), "malformed")):
        assert said in sweep_command("run", "--endpoint", "sim", "--virtual", "--calibration", file, expect=2).stderr
