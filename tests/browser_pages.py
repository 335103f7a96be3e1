"""Pages to open: curves with real joint tables, made from synthetic records."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from curve_builder import curve, measured, records

from sweep.curve.compare.nouns import Comparison
from sweep.curve.compare.together import compare
from sweep.model import Bound, Curve, Fact, Finding
from sweep.plan.slo import parse
from sweep.records import Records
from sweep.report import page

METRICS = ("ttft", "tpot", "e2e")
SLO = parse("ttft_p90<=600ms,tpot_p90<=60ms")  # kept at loads 1 and 2, broken at 4


@cache
def side(name: str, seed: int = 0, requests: tuple[int, ...] = (300, 600, 6000, 900), fail_every: int = 97) -> Curve:
    """Loads 1, 2, 4, …; the third has its table in cells, the last has failures."""
    points = []
    for place, n in enumerate(requests):
        last = place == len(requests) - 1
        own = records(2**place, cell=place, n=n, seed=1000 * seed + place, fail_every=fail_every if last else 0)
        own = slowed(own, 1 + 0.3 * place)
        points.append(msgspec.structs.replace(measured(own, 2.0**place, slos=SLO), disqualified=False))
    made = curve(*points, name=name, run_id=name, slos=SLO)
    hardware = {**made.hardware, "accelerator_count": Fact(value=2, known="declared")}
    price = {"per_accelerator_hour": Fact(value=3.0, known="declared"), "currency": Fact(value="EUR", known="declared")}
    return msgspec.structs.replace(made, hardware=hardware, price=price)


def slowed(own: Records, factor: float) -> Records:
    """Every answer takes `factor` times as long."""
    sent, rows = own["sent_ns"], own.chunk_rows()
    moved = {}
    for name in ("first_ns", "first_answer_ns", "last_ns", "end_ns"):
        some = own.present(name)
        moved[name] = own[name].copy()
        moved[name][some] = sent[some] + ((own[name][some] - sent[some]) * factor).astype(np.int64)
    chunk_ns = sent[rows] + ((own.chunk_ns - sent[rows]) * factor).astype(np.int64)
    return Records({**own.columns, **moved}, own.chunk_start, chunk_ns, own.chunk_tokens)


def metered(curve: Curve, watts: float) -> Curve:
    points = tuple(msgspec.structs.replace(each, energy_j=watts * each.window.seconds) for each in curve.points if each.window)
    return msgspec.structs.replace(curve, points=points)


def put_together(*curves: Curve, **questions: Any) -> Comparison:
    return compare(curves, slos=SLO, draws=200, **questions)


def written(folder: Path, *curves: Curve) -> Path:
    """The page of these curves."""
    path = folder / "page.html"
    if len(curves) == 1:
        page.save(curves[0], path)
    else:
        page.save_comparison(put_together(*curves), curves, path)
    return path


def evil(name: str, text: str) -> Curve:
    """A curve that says `text` wherever a stranger may say something."""
    base = side("evil", seed=5, requests=(300, 300))
    points = tuple(
        msgspec.structs.replace(
            point, findings=(Finding(code="aborted", data={"why": text}), Finding(code=text, data={text: text}))
        )
        for point in base.points
    )
    return msgspec.structs.replace(
        base,
        name=name,
        run_id=text,
        created_at=text,
        points=points,
        endpoint=msgspec.structs.replace(base.endpoint, model=text, url=text, server=text),
        profile=msgspec.structs.replace(base.profile, title=text),
        slos=tuple(msgspec.structs.replace(slo, name=text) for slo in base.slos),
        software={**base.software, "flags": Fact(value=[text], known="declared"), text: Fact(value=text, known="read")},
    )


def ask(page: Any, bounds: tuple[Bound, ...]) -> None:
    """Type the bounds into the page."""
    for metric in METRICS:
        page.locator(f"#use-{metric}").set_checked(any(bound.metric == metric for bound in bounds))
    for bound in bounds:
        page.locator(f"#share-{bound.metric}").select_option("" if bound.quantile is None else f"{bound.quantile:g}")
        page.locator(f"#limit-{bound.metric}").fill(f"{bound.limit_s * 1e3:g}")


def answers(page: Any) -> list[dict[str, Any]]:
    return [json.loads(row.get_attribute("data-numbers")) for row in page.locator("#judged tr").all()]
