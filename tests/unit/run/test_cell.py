"""A cell under way on several workers: what is known of it at any moment is known once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sweep.cli import main
from sweep.curve import artifact
from sweep.measure import stop


@pytest.mark.usefixtures("undrawn")
def test_a_request_in_flight_is_counted_once_however_many_workers_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[int]] = []
    decide = stop.decide

    def noting(cell: Any, done: Any, open: Any, *moments: Any) -> stop.Decision:
        told.append([*done["request"].tolist(), *open["request"].tolist()])
        return decide(cell, done, open, *moments)

    monkeypatch.setattr(stop, "decide", noting)
    plan = ["--profile", "64/32", "--grid", "4", "--duration", "500ms", "--workers", "2", "--no-canary"]
    main.run(["--endpoint", "sim", *plan, "--yes", "--name", "run", "--out", str(tmp_path)])
    assert len(told) > 2
    assert all(len(set(requests)) == len(requests) for requests in told)
    (point,) = artifact.load(tmp_path / "run" / "run.curve.json").points
    assert point.busy_s is not None
    assert point.busy_s < 5
