"""Cells on real worker processes: counts conserved, ends as told, workers that die."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from time import monotonic_ns

import msgspec
import numpy as np
import pytest

from sweep.errors import UsageError
from sweep.load.client import target_from
from sweep.load.fleet import Fleet
from sweep.load.process import Worker
from sweep.model import Calibration, Cell, Endpoint, Length, Limits, Load, Profile
from sweep.plan.start import first_asked
from sweep.prompt.ids import passage_of
from sweep.records import Batch, Records, concat

PROFILE = Profile(name="t", title="t", isl=Length(mean=30), osl=Length(mean=6), dialect="chat")


@pytest.fixture
def server(fleets):
    shared = fleets[0]
    shared.reset()
    return shared


@pytest.fixture
def workers():
    return 1


@pytest.fixture
def fleet(fleets, workers):
    return fleets[1][workers]


IDS = Calibration(tokens_per_word=1.0, template_tokens=0.0, source="ids")


@pytest.fixture
def known(fleets):
    """The endpoint that the fleets measure, as preflight would describe it."""
    url = f"http://localhost:{fleets[0].port}"
    return lambda **traits: endpoint(url, **traits)


def cell(kind: str = "closed", level: float = 3, first: int = 0, **limits: float) -> Cell:
    load = Load(kind=kind, level=level)
    return Cell(index=0, profile=PROFILE, load=load, limits=Limits(**limits), start="cold", seed=7, first_request=first)


def endpoint(url: str, **traits: object) -> Endpoint:
    known = {"calibration": Calibration(tokens_per_word=2, template_tokens=10, source="usage"), "fields": ("stream_options",)}
    return Endpoint(url=target_from(url).url, model="m", **{"dialect": "chat", **known, **traits})


def drive(
    running, *, seconds: float, end: str = "finish", until: Callable[[], bool] = lambda: True
) -> tuple[list[Batch], Records, int]:
    """All batches, all done requests, and the end that was told after `seconds` and once `until` holds."""
    told: list[int] = []

    def tell() -> None:
        patience = time.monotonic() + 20
        while not until() and time.monotonic() < patience:
            time.sleep(0.01)
        told.append(monotonic_ns())
        running.finish(told[0]) if end == "finish" else running.abort()

    timer = threading.Timer(seconds, tell)
    timer.start()
    batches = list(running)
    timer.join()
    return batches, concat([batch.done for batch in batches]), told[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_closed_loop_keeps_its_slots_busy_and_loses_nothing(server, fleet, known, workers: int) -> None:
    running = fleet.measure(cell(first=100), known(), "run")
    batches, done, told = drive(running, seconds=0.3, until=lambda: server.answers > 20)
    outcomes = Counter(done["outcome"].tolist())
    assert set(outcomes) <= {"ok", "cut", "unsent"}
    assert outcomes["ok"] > 10
    requests = done["request"]
    assert len(np.unique(requests)) == len(requests)
    assert requests.min() >= 100
    assert np.all((requests - 100) % workers == done["worker"])
    assert [batch.last for batch in batches] == [False] * (len(batches) - 1) + [True]
    assert len(batches[-1].open) == 0
    sent_before = done["sent_ns"] < told
    assert np.all((done["outcome"] == "ok")[sent_before & done.present("sent_ns")])
    started, ended = done["sent_ns"][done["outcome"] == "ok"], done["end_ns"][done["outcome"] == "ok"]
    edges = sorted([(at, 1) for at in started] + [(at, -1) for at in ended])
    assert max(np.cumsum([step for _, step in edges])) <= 3
    health = batches[-1].health
    assert health is not None
    assert health.workers == workers
    assert health.connections == 3
    assert health.stamp_source == "kernel"


def test_rows_say_what_happened(server, fleet, known) -> None:
    batches, done, _ = drive(fleet.measure(cell(), known(), "run7"), seconds=0.2)
    ok = done.where(done["outcome"] == "ok")
    assert np.all(ok["isl"] == ok["isl_asked"])
    assert np.all(ok["osl"] == 6)
    assert np.all(ok["chunks"] == np.diff(ok.chunk_start))
    for row in range(len(ok)):
        times = ok.chunk_ns[slice(*ok.chunk_start[row : row + 2])]
        assert (times[0], times[-1]) == (ok["first_ns"][row], ok["last_ns"][row])
        assert ok["max_gap_ns"][row] == np.diff(times).max()
        assert ok["planned_ns"][row] <= ok["sent_ns"][row] <= times[0]
        assert times[-1] <= ok["end_ns"][row]
    numbers = [headers["x-request-id"] for _, headers, _ in server.asked]
    assert set(numbers) >= {f"{request}-run7" for request in ok["request"]}
    assert all(len(batch.open) <= 3 for batch in batches)
    assert all(outcome is None for batch in batches for outcome in batch.open["outcome"])


def test_open_snapshots_hold_the_chunks_so_far(server, fleet, known) -> None:
    server.itl_s = 0.2
    batches, done, _ = drive(fleet.measure(cell(level=1), known(), "run"), seconds=0.8, end="abort")
    seen = [int(batch.open["chunks"][0]) for batch in batches if len(batch.open)]
    assert seen == sorted(seen)
    assert max(seen) >= 2
    assert all(len(batch.open.chunk_ns) == batch.open["chunks"].sum() for batch in batches if len(batch.open))
    assert done["outcome"].tolist() == ["cut"]
    assert done["chunks"][0] == len(done.chunk_ns) >= max(seen)


def test_abort_and_leaving_are_quick(serve, server) -> None:
    silent = type(server)()
    silent.hangs_after = 0
    url = serve(silent)
    with Fleet(target_from(url, environ={})) as fleet:
        running = fleet.measure(cell(), endpoint(url), "run")
        next(iter(running))
        began = time.monotonic()
        running.close()
        assert time.monotonic() - began < 10  # the server would be silent for 30
        fleet.measure(cell(), endpoint(url), "run")
        began = time.monotonic()
    assert time.monotonic() - began < 10


def test_cells_follow_one_another_on_the_same_workers(server, fleet, known) -> None:
    one = fleet.measure(cell(), known(), "run")
    first = drive(one, seconds=0.15)[1]
    other = fleet.measure(cell(level=2, first=1000), known(), "run")
    second = drive(other, seconds=0.15)[1]
    assert other.workers == one.workers
    assert first["request"].max() < 1000 <= second["request"].min()


def test_a_silent_server_times_out_and_the_load_goes_on(server, fleet, known) -> None:
    server.hangs_after = 4
    _, done, _ = drive(fleet.measure(cell(idle_timeout_s=0.2), known(), "run"), seconds=0.5)
    outcomes = Counter(done["outcome"].tolist())
    assert outcomes["ok"] == 4
    assert outcomes["timeout_idle"] >= 3


def test_a_slow_drip_ends_at_its_deadline(server, fleet, known) -> None:
    server.itl_s = 0.2
    _, done, _ = drive(fleet.measure(cell(deadline_s=0.3), known(), "run"), seconds=0.4)
    assert Counter(done["outcome"].tolist())["timeout_deadline"] >= 3


def test_a_server_that_refuses_everything_is_not_hammered(server, fleet, known) -> None:
    server.fails_every = 1
    _, done, _ = drive(fleet.measure(cell(level=2), known(), "run"), seconds=0.5)
    assert set(done["outcome"]) == {"http_error"}
    assert len(done) <= 2 * 7  # 10, 20, … 320 ms apart


def test_an_answer_of_another_length_is_wrong_only_where_lengths_are_kept(server, fleet, known) -> None:
    server.length = 4
    strict = drive(fleet.measure(cell(), known(osl_honoured=True), "run"), seconds=0.15)[1]
    free = drive(fleet.measure(cell(), known(osl_honoured=False), "run"), seconds=0.15)[1]
    assert "wrong_length" in strict["outcome"]
    assert "ok" not in strict["outcome"]
    assert "ok" in free["outcome"]
    assert "wrong_length" not in free["outcome"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_open_loop_sends_when_planned(fleet, known, workers: int) -> None:
    _, done, told = drive(fleet.measure(cell("constant", 100), known(), "run"), seconds=0.5)
    done = done.where(np.argsort(done["request"]))
    planned = done["planned_ns"][done["worker"] == 0]
    assert np.allclose(np.diff(planned), workers * 1e7, atol=2)
    before = done["planned_ns"] < told
    assert set(done["outcome"][before]) == {"ok"}
    assert done["request"][before].tolist() == list(range(before.sum()))
    assert not done.present("connected_ns")[before.sum() // 2 :].any(), "an arrival waited for its connection"


def die_before_it_reports(worker: Worker) -> None:
    """Unless it reports first, kills it when it has begun requests that no report knows."""
    while not worker.connection.poll(0.005):
        worker.process.send_signal(signal.SIGSTOP)  # what it has begun stays unreported
        if len(worker.roll.after(worker.ended + len(worker.open))) > 2 and not worker.connection.poll():
            worker.process.kill()
            worker.process.wait()
            return
        worker.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("workers", [2])
def test_a_worker_that_dies_fails_its_requests_and_the_sweep_goes_on(server, fleet, known, workers: int) -> None:
    server.itl_s = 0
    running = fleet.measure(cell(level=4), known(), "run")
    worker = running.workers[0]
    batches: list[Batch] = []
    for batch in running:
        batches.append(batch)
        if worker.process.poll() is not None:
            running.abort()
        elif len(batches) > workers:
            die_before_it_reports(worker)
    done = concat([batch.done for batch in batches])
    dead = done.where(done["worker"] == 0)
    assert sorted(dead["request"]) == list(range(0, 2 * len(dead), 2))
    seen = {int(headers["x-request-id"].partition("-")[0]) for _, headers, _ in server.asked if "x-request-id" in headers}
    assert seen <= set(done["request"].tolist())
    given_up = dead.where(dead["error"] == "the worker died")
    assert len(given_up) > 2
    assert set(given_up["outcome"]) == {"cut"}
    assert np.all(dead.present("planned_ns"))
    health = batches[-1].health
    assert health is not None
    assert (health.workers, health.workers_lost) == (1, 1)
    _, after, _ = drive(fleet.measure(cell(level=4, first=50), known(), "run"), seconds=0.15)
    assert set(after["worker"]) == {0, 1}


def test_tls_and_no_keep_alive(serve, server) -> None:
    secure = type(server)()
    url = serve(secure, tls=True)
    with Fleet(target_from(url, insecure=True, environ={})) as fleet:
        running = fleet.measure(cell(), endpoint(url, keep_alive=False), "run")
        batches, done, _ = drive(running, seconds=0.1, until=lambda: secure.answers > 10)
    ok = done.where(done["outcome"] == "ok")
    assert len(ok) > 5
    assert np.all(ok.present("connected_ns"))
    assert np.all(ok["connected_ns"] <= ok["sent_ns"])
    assert np.all(ok["planned_ns"] <= ok["connected_ns"])
    health = batches[-1].health
    assert health is not None
    assert health.stamped_share == 1.0
    assert health.connections is not None
    assert health.connections >= len(ok)


def test_loads_that_cannot_be_driven(server, fleet, known) -> None:
    for bad in (cell("trace", 1), cell(level=0), cell(level=2.5), cell(level=10_000_000)):
        with pytest.raises(UsageError):
            fleet.measure(bad, known(), "run")
    with pytest.raises(UsageError, match="token ids"):
        fleet.measure(cell(), known(calibration=IDS), "run")


@pytest.mark.parametrize("workers", [1, 2])
def test_prompts_of_ids_are_as_long_as_asked_and_all_different(server, fleet, known, workers: int) -> None:
    server.before_prompts = 0
    passage = passage_of([(37 * place * place) % 5003 for place in range(4096)])
    running = fleet.measure(cell(), known(dialect="completions", calibration=IDS), "run", passage)
    _, found, _ = drive(running, seconds=0.4)
    ok = found.where(found["outcome"] == "ok")
    assert len(ok) > 5
    assert (ok["isl"] == ok["isl_asked"]).all()
    prompts = [tuple(json.loads(body)["prompt"]) for path, _, body in server.asked if path.endswith("completions")]
    assert len({prompt[:4] for prompt in prompts}) == len(prompts) > 5


@pytest.mark.parametrize("workers", [1, 2])
def test_slots_open_in_mid_flight_whoever_owns_them(server, fleet, known, workers):
    """Slot s asks first what request first + s is; later requests are whole."""
    begun = msgspec.structs.replace(cell(level=5, first=40), start="equilibrium")
    _, found, _ = drive(fleet.measure(begun, known(), "r"), seconds=0.5)
    numbers, isl, osl = first_asked(begun)
    first = found.where(found["request"] < 45)
    first = first.where(np.argsort(first["request"]))
    assert first["request"].tolist() == numbers.tolist()
    assert first["osl_asked"].tolist() == osl.tolist()
    assert first["isl_asked"].tolist() == isl.tolist()
    later = found.where(found["request"] >= 45)
    assert len(later) > 5
    assert set(later["osl_asked"].tolist()) == {6}
    assert len(set(found["request"].tolist())) == len(found)
