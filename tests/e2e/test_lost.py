"""An endpoint that changes in the middle of a sweep: it loads again, serves another model, takes connections only slowly."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from servers import CHAT, MODEL, Answer, Asked, Site, running

from sweep.cli import main
from sweep.curve import artifact
from sweep.dialect.sse import frame
from sweep.load import inquiry
from sweep.model import Curve, SimChunk, Usage

CERTIFICATE = Path(__file__).parents[1] / "unit" / "load" / "localhost.pem"
PLAN = ["--profile", "64/8", "--duration", "500ms", "--yes", "--name", "run", "--no-canary", "--workers", "1"]
GRID = ("--grid", "1,4,2")
SOON = 40  # requests of cells until an endpoint changes


def swept(site: Site, out: Path, code: tuple[int, ...], *more: str, scheme: str = "http") -> Curve:
    assert main.run(["--endpoint", f"{scheme}://127.0.0.1:{site.port}", *PLAN, "--out", str(out), *more]) in code
    return artifact.load(out / "run" / "run.curve.json")


def loaded(site: Site) -> bool:
    return sum(not asked.preflight for asked in site.asked) > SOON


def test_an_endpoint_that_loads_again_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes connections and refuses everything meanwhile, as llama.cpp's does: here for longer than one preflight is patient."""
    monkeypatch.setattr(inquiry, "PAUSE_S", 0.01)
    asked_meanwhile: list[Asked] = []

    def loading(asked: Asked) -> Answer | None:
        if not loaded(site) or len(asked_meanwhile) == 6:
            return None
        asked_meanwhile.extend([asked] * asked.preflight)
        return Answer(503, b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}')

    with running(loading) as site:
        curve = swept(site, tmp_path, (0, 4), *GRID)
    assert [point.load.level for point in curve.points] == [1.0, 4.0, 2.0]
    assert all(set(point.outcomes) == {"ok"} for point in curve.points)
    assert [finding.data for finding in curve.findings if finding.code == "endpoint-lost"] == [{"count": 1}]


@pytest.mark.parametrize("says_so", [True, False])
def test_an_endpoint_that_serves_another_model_ends_the_sweep(
    says_so: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whether it refuses the old one by name, or stumbles and then answers whatever model is asked for."""

    def turning(asked: Asked) -> Answer | None:
        if not loaded(site):
            return None
        site.models = ({"id": "other"},)
        if asked.method == "POST" and says_so:
            return Answer(404, b'{"error":{"message":"The model `toy` does not exist."}}')
        return None if asked.preflight else Answer(500, b"try later")

    with running(turning) as site:
        curve = swept(site, tmp_path, (3,), *GRID)
    assert not curve.complete
    assert all(set(point.outcomes) == {"ok"} for point in curve.points)
    error, hint = capfd.readouterr().err.splitlines()[-2:]
    told = f"does not serve '{MODEL}'" if says_so else f"no longer serves {MODEL}, but other"
    assert error.startswith(f"error: the endpoint {told}")
    assert hint == f"hint: sweep resume {tmp_path / 'run'} goes on"


STREAM = b"".join(
    frame(*each)
    for each in [CHAT.chunk("r", MODEL, SimChunk(text=" tok"))] * 8
    + CHAT.closing("r", MODEL, "length", Usage(prompt_tokens=64, completion_tokens=8))
)


class Late(Site):
    """Takes a connection every tenth of a second; until then nobody answers the client's TLS, whose connection is not made."""

    def get_request(self) -> Any:
        time.sleep(0.1)
        return super().get_request()


def test_what_still_waits_for_a_connection_when_the_cell_ends_is_no_failure(tmp_path: Path) -> None:
    def once(asked: Asked) -> Answer | None:
        closing = {"Connection": "close"}
        return Answer(body=STREAM, kind="text/event-stream", headers=closing) if asked.method == "POST" else None

    with running(once, kind=Late, tls=CERTIFICATE) as site:
        options = ("--grid", "6", "--duration", "2s", "--cold-start", "--insecure")
        (point,) = swept(site, tmp_path, (4,), *options, scheme="https").points
    assert set(point.outcomes) == {"ok"}
    assert point.outcomes_all["unsent"] > 0
    assert "concurrency" in {finding.code for finding in point.findings}, "it never held so many"
