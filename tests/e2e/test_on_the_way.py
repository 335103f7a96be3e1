"""What lies between a sweep and its endpoint: a proxy; what an endpoint remembers: a shared prefix."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from itertools import cycle
from pathlib import Path

import polars as pl
import pytest
from engines import nginx
from engines.engine import CannotRun
from listening import listening_aside
from servers import Answer, Asked, running

from sweep.cli import main
from sweep.curve import artifact, workload
from sweep.model import Curve
from sweep.sim.server import start

NAME = "endpoint.test"  # no resolver knows it; this machine itself is never asked through a proxy
PLAN = ["--grid", "2", "--duration", "1s", "--yes", "--name", "run", "--workers", "1", "--no-canary"]


def swept(url: str, out: Path, *more: str) -> Curve:
    assert main.run(["--endpoint", url, *PLAN, "--out", str(out), *more]) in (0, 4)
    return artifact.load(out / "run" / "run.curve.json")


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@contextmanager
def proxying() -> Iterator[tuple[str, list[str]]]:
    """A proxy in a thread that alone knows where `NAME` is, and the first lines of what it was asked; it opens tunnels and hands plain requests on."""
    asked: list[str] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, url, _ = head.split(b"\r\n")[0].decode().split()
        asked.append(f"{method} {url}")
        place = url if method == "CONNECT" else url.split("/")[2]
        host, _, port = place.rpartition(":")
        assert host == NAME
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", int(port))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            upstream.write(head.replace(url.encode(), b"/" + url.split("/", 3)[3].encode(), 1))
        await asyncio.gather(_relay(reader, upstream), _relay(upstream_reader, writer))

    with listening_aside(connected) as port:
        yield f"http://user:secret-word@127.0.0.1:{port}", asked


@pytest.mark.parametrize("tls", [False, True])
def test_a_sweep_through_a_proxy(tls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forward proxy for http, a tunnel for https; recorded without its password."""
    certificate = Path(__file__).parents[1] / "unit" / "load" / "localhost.pem"
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with running(tls=certificate if tls else None) as site, proxying() as (proxy, asked):
        monkeypatch.setenv("https_proxy" if tls else "http_proxy", proxy)
        place = f"{NAME}:{site.port}"
        curve = swept(f"{'https' if tls else 'http'}://{place}", tmp_path, "--profile", "64/8", "--insecure")
        served = len(site.asked)
    assert served > 10
    assert asked
    assert all(line.startswith(f"CONNECT {place}" if tls else ("GET http", "POST http")) for line in asked)
    assert curve.endpoint.proxy == proxy.replace("user:secret-word@", "")
    assert curve.endpoint.rtt_s is None
    assert curve.points[0].outcomes_all["ok"] > 5
    assert "secret-word" not in (tmp_path / "run" / "run.curve.json").read_text()


def test_fields_of_the_user_s_own_go_with_every_request(tmp_path: Path) -> None:
    """Preflight's too; the curve says which, and is compared only with curves of the same."""
    profile = tmp_path / "warm.toml"
    profile.write_text("isl.mean = 64\nosl.mean = 8\n[body]\ntemperature = 0.7\ntop_p = 0.5\n")
    given = ("--profile", str(profile), "--body", '{"top_p": 0.9}')
    with running() as site:
        warm = swept(f"http://127.0.0.1:{site.port}", tmp_path, *given)
        sent = [json.loads(asked.body) for asked in site.asked if asked.path == "/v1/chat/completions"]
        assert main.run(["probe", f"http://127.0.0.1:{site.port}", "--body", '{"top_k": 5}']) == 0
        asked = [json.loads(asked.body) for asked in site.asked if asked.path == "/v1/chat/completions"][len(sent) :]
        assert [body["top_k"] for body in asked] == [5] * len(asked)
        cold = swept(f"http://127.0.0.1:{site.port}", tmp_path / "cold", "--profile", "64/8")
    assert len(sent) > 10
    assert all((body["temperature"], body["top_p"]) == (0.7, 0.9) for body in sent)
    assert warm.profile.body == {"temperature": 0.7, "top_p": 0.9}
    assert warm.scenario["request_body"].value == warm.profile.body
    assert workload.differences(warm, cold)["request_body"] == (warm.profile.body, None)


def test_a_refusal_says_when_to_come_back(tmp_path: Path) -> None:
    """In seconds or as a date; whoever says neither is refused all the same, for how long nobody knows."""
    count = iter(range(1_000_000))
    waits = cycle([lambda: "7", lambda: formatdate(time.time() + 60, usegmt=True), lambda: "not before tea"])

    def limited(asked: Asked) -> Answer | None:
        if asked.preflight or next(count) % 4:
            return None
        return Answer(429, b"slow down", headers={"Retry-After": next(waits)()})

    with running(limited) as site:
        curve = swept(f"http://127.0.0.1:{site.port}", tmp_path, "--profile", "64/8")
    refused = pl.read_parquet(tmp_path / "run" / "run.records.parquet").filter(pl.col("outcome") == "rate_limited")
    assert len(refused) > 0
    assert all("retry after " in error for error in refused["error"])
    assert set(refused["retry_after_s"]) <= {7, 59, 60, 61, None}
    assert set(refused.filter(pl.col("retry_after_s").is_null())["error"]) == {"retry after not before tea: slow down"}
    (limit,) = (finding.data for finding in curve.points[0].findings if finding.code == "rate-limited")
    assert (limit["retry_after_min_s"], round(limit["retry_after_max_s"], -1)) == (7, 60)


@pytest.mark.parametrize("slots", ["3", "8"])
def test_a_gateway_that_takes_two_at_a_time(tmp_path: Path, slots: str) -> None:
    """nginx with a limit before the simulator: what it refuses is capacity, apart from failures; where that is most, no more is asked."""
    with start("synthetic-8b-bf16") as served:
        try:
            with nginx.running(served.url.removesuffix("/v1")) as places:
                point = swept(places["limited"], tmp_path, "--profile", "64/64", "--grid", slots).points[0]
        except CannotRun as reason:
            pytest.skip(str(reason))
    assert set(point.outcomes_all) <= {"ok", "rate_limited", "cut"}
    (limit,) = (finding.data for finding in point.findings if finding.code == "rate-limited")
    assert limit["retry_after_s"] == 1
    if slots == "3":
        assert "failures" not in {finding.code for finding in point.findings}
        assert limit["count"] == point.outcomes["rate_limited"]
        assert "<th>refused<small>%</small></th>" in (tmp_path / "run" / "run.html").read_text()
    else:
        (aborted,) = (finding.data for finding in point.findings if finding.code == "aborted")
        assert aborted == {"why": "most requests are refused as over capacity"}


def test_a_prefix_that_is_declared_may_come_from_the_cache(tmp_path: Path) -> None:
    profile = tmp_path / "half.toml"
    profile.write_text("prefix_share = 0.5\n[isl]\nmean = 800\n[osl]\nmean = 8\n")
    with start("synthetic-8b-bf16", prefix_cache=True) as served:
        shared = swept(served.url, tmp_path, "--profile", str(profile)).points[0]
        alone = swept(served.url, tmp_path / "alone", "--profile", "800/8").points[0]
    assert shared.cached_share == pytest.approx(0.5, abs=0.03)
    assert alone.cached_share == pytest.approx(0.0, abs=0.01)
    assert "cached" not in {finding.code for point in (shared, alone) for finding in point.findings}
