"""A cell's point: what goes in, what stays out, and what is noticed."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from unit.measure.synthetic import S, answer, cell, closed, closed_rows, failure

from sweep import findings, records
from sweep.measure import histogram, joint, jointcode, point, reasons
from sweep.measure.window import place, with_phases
from sweep.model import Bound, Calibration, Endpoint, Finding, Health, Point, Slo
from sweep.plan.effort import MIDDLE

ENDPOINT = Endpoint(
    url="http://h/v1",
    model="m",
    dialect="chat",
    calibration=Calibration(tokens_per_word=1.3, template_tokens=5, source="usage"),
    osl_honoured=True,
)
QUIET = Health(stamp_source="kernel", merged_read_share=0.0, refill_delay_p99_s=1e-4, loop_lag_p99_s=1e-4, keep_alive=True)


def measured(found: records.Records, *, slots: int = 4, until_s: int = 40, one=None, reason="long enough", **more) -> Point:
    one = one or cell(level=slots, duration_s=1.0)
    window = place(one, found, until_s * S)
    given = {"slos": (), "health": QUIET, "endpoint": ENDPOINT} | more
    return point.measure(one, with_phases(found, window), window, started_at="t", ended_reason=reason, **given)


def codes(of: Point) -> set[str]:
    return {finding.code for finding in of.findings}


@pytest.fixture(scope="module")
def steady() -> records.Records:
    return closed(4, 42 * S)


def test_a_quiet_cell_is_trusted(steady):
    found = measured(steady)
    assert codes(found) == set()
    assert not found.disqualified
    assert found.window is not None
    assert found.window.end_reason == "long enough"
    assert sum(found.outcomes.values()) == found.cohort
    assert sum(found.outcomes_all.values()) == len(steady)
    assert found.concurrency.value == pytest.approx(4, rel=1e-3)
    assert found.concurrency_peak == 4
    assert msgspec.json.decode(msgspec.json.encode(found), type=Point) == found


def test_the_metrics_are_those_of_the_cohorts_answers(steady):
    found = measured(steady)
    window = found.window
    rows = (steady["sent_ns"] >= window.begin_ns) & (steady["sent_ns"] < window.end_ns)
    ttft = (steady["first_ns"] - steady["sent_ns"])[rows] / 1e9
    tpot = ((steady["last_ns"] - steady["first_ns"]) / (steady["osl"] - 1))[rows] / 1e9
    e2e = (steady["last_ns"] - steady["sent_ns"])[rows] / 1e9
    for name, values in {"ttft_s": ttft, "tpot_s": tpot, "e2e_s": e2e, "normalised_e2e_s": e2e / steady["osl"][rows]}.items():
        assert found.metrics[name]["p90"].value == pytest.approx(np.quantile(values, 0.9, method="inverted_cdf"))
        assert found.metrics[name]["p90"].n == rows.sum()
    assert found.metrics["interactivity_tok_per_s"]["p90"].value == pytest.approx(1 / found.metrics["tpot_s"]["p90"].value)
    assert found.metrics["itl_s"]["p50"].value == pytest.approx(0.01)
    assert histogram.decode(found.histograms["e2e_s"]).total == rows.sum()
    assert joint.good(jointcode.decode(found.joint), []).low == rows.sum()


@pytest.mark.parametrize(("began", "noticed"), [(None, set()), (4, set()), (3, {"queued-start"})])
def test_an_opening_that_met_a_queue_is_noticed(steady, began, noticed):
    found = measured(steady, mid_flight=began)
    assert found.mid_flight == began
    assert codes(found) == noticed
    assert not found.disqualified


def test_interactivity_turns_the_interval_round():
    found = measured(closed(4, 8 * S), until_s=6)
    tpot, pace = found.metrics["ttft_s"], point.inverse(found.metrics["ttft_s"])
    assert pace["p99"].high == pytest.approx(1 / tpot["p99"].low)
    assert tpot["p99"].high is None
    assert pace["p99"].low == 0.0
    assert pace["max"].value == pytest.approx(1 / tpot["min"].value)


def test_an_open_loop_counts_from_the_plan_and_keeps_the_service_time():
    rows = [answer(i, i * S // 10 + S // 20) | {"planned_ns": i * S // 10} for i in range(300)]
    one = cell("constant", 10.0, duration_s=5.0)
    found = measured(records.from_rows(rows), one=one, until_s=20)
    assert found.metrics["ttft_s"]["p50"].value == pytest.approx(0.15)
    assert found.metrics["ttft_service_s"]["p50"].value == pytest.approx(0.1)
    assert found.metrics["lateness_s"]["p99"].value == pytest.approx(0.05)


def test_slos_are_judged_and_their_percentiles_need_samples(steady):
    slo = Slo(name="s", bounds=(Bound(metric="ttft", limit_s=0.3, quantile=0.999),))
    found = measured(steady, slos=[slo])
    assert found.slos[0].attainment.value == 1.0
    assert codes(found) == {"few"}


def test_no_success_is_a_clean_point_of_nulls():
    rows = [failure(i, i * S // 10, i * S // 10 + S // 20) for i in range(60)]
    found = measured(records.from_rows(rows), slots=1, until_s=5, reason=reasons.NO_SUCCESS)
    assert found.disqualified
    assert "no-success" in codes(found)
    assert found.metrics["ttft_s"]["p50"].value is None
    assert found.rates["output_tok_per_s"].value is None
    assert msgspec.json.decode(msgspec.json.encode(found), type=Point) == found


def test_an_empty_cell_too():
    found = measured(records.EMPTY, reason="the workers ended")
    assert found.window is None
    assert found.disqualified
    for finding in found.findings:
        assert findings.says(finding)


def test_a_point_without_health_or_endpoint(steady):
    assert codes(measured(steady, health=None, endpoint=None)) == set()


def changed(**columns) -> records.Records:
    """A quiet closed loop with some columns of every row replaced."""
    rows, _ = closed_rows(4, 42 * S)
    return records.from_rows(
        [row | {name: value(row) if callable(value) else value for name, value in columns.items()} for row in rows]
    )


def health(**changes) -> Health:
    return msgspec.structs.replace(QUIET, **changes)


CASES = {
    "failures": {"found": lambda: closed(4, 42 * S, fail=0.05)},
    "hung": {"found": lambda: changed(outcome=lambda row: "timeout_idle" if row["request"] == 40 else "ok")},
    "rate-limited": {"found": lambda: changed(outcome=lambda row: "rate_limited" if row["request"] % 50 == 7 else "ok")},
    "aborted": {"reason": reasons.MOST_FAIL},
    "overloaded": {"reason": reasons.OVERLOAD},
    "unresolved": {"reason": reasons.CAP},
    "outdone": {"reason": reasons.OUTDONE, "one": cell(duration_s=1.0, gates=MIDDLE)},
    "concurrency": {"one": cell(level=3, duration_s=1.0)},
    "osl-short": {"found": lambda: changed(osl_asked=lambda row: row["osl"] + 2)},
    "osl-free": {"found": lambda: changed(osl_asked=lambda row: row["osl"] + 2), "endpoint": None},
    "isl-off": {"found": lambda: changed(isl=120)},
    "cached": {"found": lambda: changed(cached_tokens=20)},
    "retries": {"found": lambda: changed(retries=1)},
    "token-source": {"found": lambda: changed(token_source="chunks")},
    "usage-mismatch": {"found": lambda: changed(osl=lambda row: 2 * row["osl"], osl_asked=lambda row: 2 * row["osl"])},
    "first-chunk": {"found": lambda: changed(first_tokens=2)},
    "speculation": {
        "found": lambda: changed(
            chunk_tokens=lambda row: [1 + i % 3 for i in range(row["chunks"])],
            osl=lambda row: sum(1 + i % 3 for i in range(row["chunks"])),
            osl_asked=lambda row: sum(1 + i % 3 for i in range(row["chunks"])),
        )
    },
    "client-bound": {"found": lambda: closed(4, 42 * S, refill_ns=S // 50)},
    "coalesced": {"health": health(merged_read_share=0.2)},
    "client-busy": {"health": health(cpu_share=0.97)},
    "client-near-limit": {"health": health(calibrated_share=0.85)},
    "worker-lost": {"health": health(workers_lost=1)},
    "clock-step": {"health": health(clock_steps=1)},
    "keep-alive-off": {"health": health(keep_alive=False)},
    "user-stamps": {"health": health(stamp_source="user")},
    "few": {"until_s": 3},
}


@pytest.mark.parametrize("code", CASES)
def test_every_cause_has_its_finding_and_only_that(code):
    case = dict(CASES[code])
    found = measured(case.pop("found", lambda: closed(4, 42 * S))(), **case)
    assert codes(found) == {code}
    assert found.disqualified is (findings.TABLE[code].weight == "disqualifies")
    for finding in found.findings:
        assert findings.says(finding)
        assert findings.advice(finding)


@pytest.mark.parametrize(
    ("waits_s", "told", "words"),
    [
        ([1, 9, None, 2], (2, 1, 9), "; it asks to wait 2 s (median; 1 to 9 s)"),
        ([None], (None, None, None), "with Retry-After)"),  # unreadable
    ],
)
def test_a_refusal_says_how_long_to_stay_away(waits_s, told, words):
    """Every seventh request is refused: capacity, not failures, and so the point counts; goodput counts them as not good."""
    refused = [row for row in range(1_000) if row % 7 == 0]
    wait = {row: waits_s[place % len(waits_s)] for place, row in enumerate(refused)}
    found = measured(
        changed(
            outcome=lambda row: "rate_limited" if row["request"] in wait else "ok",
            retry_after_s=lambda row: wait.get(row["request"]),
        ),
        slos=[Slo(name="any", bounds=(Bound(metric="e2e", limit_s=1e6, quantile=0.9),))],
    )
    (limited,) = found.findings
    assert limited.code == "rate-limited"
    assert limited.data["count"] == found.outcomes["rate_limited"] == found.cohort - found.slos[0].good
    assert limited.data["share"] == pytest.approx(1 / 7, rel=0.05)
    assert tuple(limited.data[name] for name in ("retry_after_s", "retry_after_min_s", "retry_after_max_s")) == told
    assert findings.says(limited).endswith(words)
    assert not found.disqualified


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "; {count} were turned away as too much (429/503), without a Retry-After that would set them apart"),
        (500, "measured requests failed ({count} http_error(500))"),
    ],
)
def test_a_failure_says_its_status_and_whether_it_was_a_refusal_in_disguise(status, words):
    failed = changed(
        outcome=lambda row: "http_error" if row["request"] % 7 == 0 else "ok",
        status=lambda row: status if row["request"] % 7 == 0 else 200,
    )
    found = measured(failed)
    failures = next(finding for finding in found.findings if finding.code == "failures")
    count = found.outcomes["http_error"]
    assert failures.data["what"] == f"{count} http_error({status})"
    assert findings.says(failures).endswith(words.format(count=count))


def test_a_finding_of_an_older_file_says_what_it_knows():
    old = Finding(code="rate-limited", data={"count": 3, "share": 0.1})
    assert findings.says(old) == "3 requests, 10.0%, were refused as over capacity (429/503 with Retry-After)"


@pytest.mark.parametrize(
    "seen",
    [
        {"merged_read_share": 0.05, "loop_lag_p99_s": 0.02},
        {"merged_read_share": 0.05, "late_read_share": 0.02},
        {"stamp_source": "user", "loop_lag_p99_s": 0.001},
    ],
)
def test_what_makes_a_point_the_clients(seen, steady):
    assert "client-bound" in codes(measured(steady, health=health(**seen)))


def test_reads_that_the_server_filled_do_not_bind_the_client_however_late_it_was(steady):
    seen = health(merged_read_share=0.3, late_read_share=0.001, loop_lag_p99_s=0.5)
    assert codes(measured(steady, health=seen)) == {"coalesced"}


@pytest.mark.parametrize("refill_ns", [S // 500, S // 200])
def test_late_refills_that_cost_little_do_not_bind_the_client_nor_does_the_worst_of_them(refill_ns):
    """Up to 5 ms of 360: many are later than 1 % of a request, the slots are empty for less than that."""
    seen = health(refill_delay_p99_s=9.0)
    assert codes(measured(closed(4, 42 * S, refill_ns=refill_ns), health=seen)) == set()


def test_a_slot_that_waits_for_its_connection_does_not_bind_the_client():
    rows, _ = closed_rows(4, 42 * S, refill_ns=S // 50)
    rows = [row | {"connected_ns": row["sent_ns"]} for row in rows]
    assert "client-bound" not in codes(measured(records.from_rows(rows)))


def test_lateness_binds_an_open_loop_only(steady):
    rows = [answer(i, i * S // 10) for i in range(300)]
    late = health(send_lateness_p99_s=0.05, refill_delay_p99_s=9.0)
    found = measured(records.from_rows(rows), one=cell("constant", 10.0, duration_s=5.0), until_s=20, health=late)
    assert codes(found) == {"client-bound"}
    assert codes(measured(steady, health=health(send_lateness_p99_s=0.05))) == set()


def slowing(per_minute: float, minutes: float, jump: float = 0.0) -> records.Records:
    """One slot whose answers slow down steadily, or at half time."""
    rng = np.random.default_rng(8)
    rows, at_ns, until_ns = [], 0, round(60 * minutes * S)
    while at_ns < until_ns:
        slower = 1 + per_minute * at_ns / (60 * S) + (jump if at_ns > until_ns / 2 else 0)
        noise = rng.lognormal(0, 0.05)
        rows.append(answer(len(rows), at_ns, ttft_ns=int(S / 20 * slower * noise), tpot_ns=int(S / 20 * slower * noise), osl=5))
        at_ns = rows[-1]["end_ns"] + 1000
    return records.from_rows(rows)


@pytest.mark.parametrize(
    ("found", "seen"),
    [((0.05, 3.0), {"drifting"}), ((0.0, 3.0), set()), ((0.05, 1.5), set())],
)
def test_a_drift_is_seen_from_two_minutes_on(found, seen):
    noticed = codes(measured(slowing(*found), slots=1, until_s=round(60 * found[1])))
    assert {code for code in noticed if code in {"drifting", "history-dependent"}} == seen


def test_a_jump_between_the_halves_is_seen_one_way_or_the_other():
    assert codes(measured(slowing(0.0, 4.0, jump=0.15), slots=1, until_s=240)) & {"drifting", "history-dependent"}
